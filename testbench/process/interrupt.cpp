#include "testbench/process/interrupt.h"

#include <charconv>
#include <ctime>
#include <unistd.h>

#include "testbench/process/staging.h"

namespace tlmssd {
namespace {

constexpr long k_same_signal = 200'000'000;  // ns
constexpr int k_exit_signal = 128;           // and the signal

std::atomic<long> first_at{0};  ///< when the first signal came, in ns; 0: none has
static_assert(std::atomic<long>::is_always_lock_free);

long now_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe
  return static_cast<long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

InterruptGuard::Culprit culprit = nullptr;
unsigned grace = 0;                  ///< seconds
std::atomic<int> uninterrupted = 0;  ///< UninterruptedWork alive

const char* name_or_null(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return nullptr;
  }
}

/// A line for standard error. Like all that follows, safe in a signal handler.
class SignalLine {
 public:
  /// "tlmssd: interrupted by SIGINT"
  explicit SignalLine(int signal) {
    const char* const name = name_or_null(signal);
    add("tlmssd: interrupted by ").add(name == nullptr ? "a signal" : name);
  }
  SignalLine& add(const char* text) {
    for (; *text != 0 && length_ < line_.size(); ++text) line_[length_++] = *text;
    return *this;
  }
  void write_out() { static_cast<void>(!write(STDERR_FILENO, line_.data(), length_)); }

 private:
  std::array<char, 512> line_{};
  std::size_t length_ = 0;
};

[[noreturn]] void end_stuck(int signal, const char* who) {
  std::array<char, 16> seconds{};
  std::to_chars(seconds.data(), seconds.data() + seconds.size() - 1, grace);
  SignalLine line(signal);
  line.add(", but ").add(who == nullptr ? "the work under way" : who);
  line.add(" is stuck; given up after ").add(seconds.data()).add(" s\n");
  line.write_out();
  _exit(k_exit_signal + signal);
}

/// What the signal does by default, when the handler returns.
void obey(int signal) {
  struct sigaction obey {};
  obey.sa_handler = SIG_DFL;
  sigaction(signal, &obey, nullptr);
  raise(signal);
}

InterruptGuard::Culprit noticed = nullptr;

void on_noticed(int signal) {
  std::signal(SIGALRM, SIG_DFL);
  alarm(1);  // to look at the stack may take for ever
  if (const char* const who = noticed == nullptr ? nullptr : noticed()) {
    SignalLine line(signal);
    line.add(" in the midst of ").add(who).add("\n");
    line.write_out();
  }
  obey(signal);
}

/// To remove files, or to look at the stack, has taken too long as well.
void on_still_stuck(int /*signal*/) {
  end_stuck(interrupt::pending.load(), nullptr);
}

void on_grace_over(int /*signal*/) {
  const int signal = interrupt::pending.load();
  if (signal == 0) return;  // it has been thrown
  if (uninterrupted.load() > 0) {
    alarm(grace);
    return;
  }
  struct sigaction last {};
  last.sa_handler = on_still_stuck;
  last.sa_flags = SA_NODEFER;
  sigaction(SIGALRM, &last, nullptr);
  alarm(1);
  Staging::remove_all();
  end_stuck(signal, culprit == nullptr ? nullptr : culprit());
}

/// Calls nothing but async-signal-safe functions. The three signals do not interrupt it.
void on_signal(int signal) {
  const long now = now_nanoseconds();
  long none = 0;
  if (first_at.compare_exchange_strong(none, now)) {
    interrupt::pending.store(signal, std::memory_order_relaxed);
    alarm(grace);
    return;
  }
  if (now - first_at.load() < k_same_signal) return;
  obey(signal);
}

std::string name_of_signal(int signal) {
  const char* const name = name_or_null(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : name;
}

}  // namespace

Interrupted::Interrupted(int signal) : signal_(signal), text_("interrupted by " + name_of_signal(signal)) {}

SignalHandlers::SignalHandlers(void (*handler)(int)) {
  struct sigaction note {};
  note.sa_handler = handler;
  note.sa_flags = SA_RESTART;
  for (const int signal : k_signals) sigaddset(&note.sa_mask, signal);
  for (std::size_t i = 0; i < k_signals.size(); ++i) {
    sigaction(k_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(k_signals[i], &note, nullptr);
  }
}

SignalHandlers::~SignalHandlers() {
  for (std::size_t i = 0; i < k_signals.size(); ++i) sigaction(k_signals[i], &before_[i], nullptr);
}

InterruptGuard::InterruptGuard(Culprit whose, unsigned seconds) {
  culprit = whose;
  grace = seconds;
  first_at = 0;
  interrupt::pending = 0;
  struct sigaction over {};
  over.sa_handler = on_grace_over;
  over.sa_flags = SA_RESTART | SA_NODEFER;  // on_still_stuck interrupts it
  sigaction(SIGALRM, &over, &alarm_before_);
  handlers_.emplace(&on_signal);
}

InterruptGuard::~InterruptGuard() {
  alarm(0);
  sigaction(SIGALRM, &alarm_before_, nullptr);
  handlers_.reset();
}

InterruptNotice::InterruptNotice(InterruptGuard::Culprit whose) : handlers_((noticed = whose, &on_noticed)) {}

InterruptNotice::~InterruptNotice() {
  noticed = nullptr;
}

UninterruptedWork::UninterruptedWork() {
  ++uninterrupted;
}

UninterruptedWork::~UninterruptedWork() {
  --uninterrupted;
}

void interrupt::raise_pending() {
  alarm(0);
  throw Interrupted(pending.exchange(0));
}

}  // namespace tlmssd
