// Tells a crash of foreign firmware from one of the emulator's: the program then ends with the
// firmware's name and exit code 2.
#pragma once

namespace tlmssd::firmware::foreign {

/// Installs the signal handlers; once is enough, more does no harm.
void watch_for_crashes();

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
