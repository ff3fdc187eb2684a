// Tells a crash of foreign firmware, or of a plug-in, from one of the emulator's: the program then
// ends with its name and exit code 2.
#pragma once

namespace tlmssd::firmware::foreign {

/// Installs the signal handlers; once is enough, more does no harm.
void watch_for_crashes();

/// What the program knows and does of a crash; both in a signal handler.
struct CrashHooks {
  const char* (*culprit)() noexcept = nullptr;  ///< "plug-in acme 1.0"; null: the emulator
  void (*clean_up)() = nullptr;                 ///< before the process ends
};
void on_crash(const CrashHooks& hooks);

/// As after a crash, with this line.
[[noreturn]] void end_at_once(const char* what);

/// `name` (null: the emulator) runs until this goes. The name must last as long.
class Running {
 public:
  explicit Running(const char* name);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  const volatile char* before_;
};

}  // namespace tlmssd::firmware::foreign
