// SIGINT, SIGTERM and SIGHUP: noted when they come, obeyed where the work can be given up in order.
//
// While an InterruptGuard lives, the first signal only sets a flag. What works for long calls
// check_interrupt() now and then (the event loop between batches of events, readers and writers
// between blocks), which throws Interrupted: the stack unwinds, and what was under construction is
// removed by its owner. A second signal ends the process at once. Signals that follow the first
// within k_same_signal are the same wish: timeout(1), for one, sends each signal twice. Work that
// does not ask within a time of grace, as that of a plug-in which has lost its way, is given up:
// the process ends with a line that says so, and what is under construction is removed.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <optional>
#include <string>

namespace tlmssd {

/// The user has asked for the end.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return signal_; }
  [[nodiscard]] const char* what() const noexcept override {
    return text_.c_str();
  }  ///< "interrupted by SIGINT"

 private:
  int signal_;
  std::string text_;
};

/// The signals' handlers; those before are put back in the end.
class SignalHandlers {
 public:
  static constexpr std::array k_signals = {SIGINT, SIGTERM, SIGHUP};
  /// The three signals do not interrupt `handler`. One that is ignored stays so.
  explicit SignalHandlers(void (*handler)(int));
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  std::array<struct sigaction, k_signals.size()> before_{};
};

/// Handles the signals as long as it lives. One at a time. A signal that was ignored (nohup) stays
/// ignored.
class InterruptGuard {
 public:
  /// Whose code runs, such as "plug-in acme 1.0"; null: unknown. Asked in a signal handler.
  using Culprit = const char* (*)() noexcept;
  static constexpr unsigned k_grace = 5;  ///< seconds
  explicit InterruptGuard(Culprit culprit = nullptr, unsigned grace = k_grace);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction alarm_before_ {};
  std::optional<SignalHandlers> handlers_;  ///< set last
};

/// While it lives, a signal ends the process at once, as without it, and a line says whose code it
/// has interrupted, where that is another's. For work without an InterruptGuard; one that comes
/// within has its way as long as it lives.
class InterruptNotice {
 public:
  explicit InterruptNotice(InterruptGuard::Culprit whose);
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  SignalHandlers handlers_;
};

/// While it lives, nothing is given up: what is put in place must not be left half way.
class UninterruptedWork {
 public:
  UninterruptedWork();
  ~UninterruptedWork();
  UninterruptedWork(const UninterruptedWork&) = delete;
  UninterruptedWork& operator=(const UninterruptedWork&) = delete;
};

namespace interrupt {
/// The signal that has come and has not been thrown yet; 0: none.
[[gnu::visibility("default")]] inline std::atomic<int> pending{0};  // one for the program and its plug-ins
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");
[[noreturn]] void raise_pending();
}  // namespace interrupt

/// Throws Interrupted when a signal has come: once for each guard, so that the work can still be
/// wound up. Costs one load.
inline void check_interrupt() {
  if (interrupt::pending.load(std::memory_order_relaxed) != 0) interrupt::raise_pending();
}

}  // namespace tlmssd
