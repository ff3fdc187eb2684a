#include "testbench/process/interrupt.h"

#include <ctime>

namespace tlmssd {
namespace {

constexpr long k_same_signal = 200'000'000;  // ns

std::atomic<long> first_at{0};  ///< when the first signal came, in ns; 0: none has
static_assert(std::atomic<long>::is_always_lock_free);

long now_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe
  return static_cast<long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Calls nothing but async-signal-safe functions. The three signals do not interrupt it.
void on_signal(int signal) {
  const long now = now_nanoseconds();
  long none = 0;
  if (first_at.compare_exchange_strong(none, now)) {
    interrupt::pending.store(signal, std::memory_order_relaxed);
    return;
  }
  if (now - first_at.load() < k_same_signal) return;
  struct sigaction obey {};
  obey.sa_handler = SIG_DFL;
  sigaction(signal, &obey, nullptr);
  raise(signal);  // delivered when this handler returns
}

std::string name_of_signal(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace

Interrupted::Interrupted(int signal) : signal_(signal), text_("interrupted by " + name_of_signal(signal)) {}

InterruptGuard::InterruptGuard() {
  first_at = 0;
  interrupt::pending = 0;
  struct sigaction note {};
  note.sa_handler = on_signal;
  note.sa_flags = SA_RESTART;
  for (const int signal : k_signals) sigaddset(&note.sa_mask, signal);
  for (std::size_t i = 0; i < k_signals.size(); ++i) {
    sigaction(k_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(k_signals[i], &note, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < k_signals.size(); ++i) sigaction(k_signals[i], &before_[i], nullptr);
}

void interrupt::raise_pending() {
  throw Interrupted(pending.exchange(0));
}

}  // namespace tlmssd
