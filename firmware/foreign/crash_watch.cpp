#include "firmware/foreign/crash_watch.h"

#include <array>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace tlmssd::firmware::foreign {

namespace {

/// Whose code runs; null: that of the emulator.
const volatile char* volatile running = nullptr;

CrashHooks crash_hooks;

/// Only what is safe in a signal handler.
void say(const char* text) {
  static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
}

[[noreturn]] void clean_up_and_end() {
  if (crash_hooks.clean_up != nullptr) crash_hooks.clean_up();
  _exit(2);
}

void crashed(int signal) {
  const char* const culprit =
      running == nullptr && crash_hooks.culprit != nullptr ? crash_hooks.culprit() : nullptr;
  if (running == nullptr && culprit == nullptr) {
    std::signal(signal, SIG_DFL);
    return;  // and again, this time for good
  }
  say(culprit == nullptr ? "tlmssd: firmware " : "tlmssd: ");
  say(culprit == nullptr ? const_cast<const char*>(running) : culprit);
  say(": crashed (");
  say(sigabbrev_np(signal));
  say(")\n");
  clean_up_and_end();
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

void on_crash(const CrashHooks& hooks) {
  crash_hooks = hooks;
}

void end_at_once(const char* what) {
  say("tlmssd: ");
  say(what);
  say("\n");
  clean_up_and_end();
}

Running::Running(const char* name) : before_(running) {
  running = name;
}

Running::~Running() {
  running = before_;
}

}  // namespace tlmssd::firmware::foreign
