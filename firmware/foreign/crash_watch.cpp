#include "firmware/foreign/crash_watch.h"

#include <array>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace tlmssd::firmware::foreign {

namespace {

/// Whose code runs; null: that of the emulator.
const volatile char* volatile running = nullptr;

/// Only what is safe in a signal handler.
void say(const char* text) {
  static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
}

void crashed(int signal) {
  if (running == nullptr) {
    std::signal(signal, SIG_DFL);
    return;  // and again, this time for good
  }
  say("tlmssd: firmware ");
  say(const_cast<const char*>(running));
  say(": crashed (");
  say(sigabbrev_np(signal));
  say(")\n");
  _exit(2);
}

}  // namespace

void watch_for_crashes() {
  static const bool once = [] {
    static std::array<char, 64U << 10U> stack;
    const stack_t place{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    sigaltstack(&place, nullptr);
    struct sigaction action {};
    action.sa_handler = &crashed;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
    return true;
  }();
  static_cast<void>(once);
}

Running::Running(const char* name) : before_(running) {
  running = name;
}

Running::~Running() {
  running = before_;
}

}  // namespace tlmssd::firmware::foreign
