// Signals: noted, thrown once, and at once the second time.
#include "testbench/process/interrupt.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

namespace tlmssd {
namespace {

void sleep_for(double seconds) {
  timespec time{static_cast<time_t>(seconds),
                static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  while (nanosleep(&time, &time) != 0) {
  }
}

/// How a process ends that does `body`: 256 and the signal that killed it, or its exit code.
template <class Body>
int end_of(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      std::signal(signal, SIG_DFL);  // not the test program's
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a signal is thrown where the work asks, once") {
  const InterruptGuard guard;
  CHECK_NOTHROW(check_interrupt());
  std::raise(SIGINT);
  try {
    check_interrupt();
    FAIL("nothing was thrown");
  } catch (const Interrupted& interrupted) {
    CHECK(interrupted.signal() == SIGINT);
    CHECK(std::string(interrupted.what()) == "interrupted by SIGINT");
  }
  CHECK_NOTHROW(check_interrupt());
}

TEST_CASE("the second signal kills, unless it is the first one's echo") {
  for (const int second : {SIGINT, SIGTERM, SIGHUP}) {
    CHECK(end_of([second] {
            const InterruptGuard guard;
            std::raise(SIGTERM);
            sleep_for(0.3);
            std::raise(second);
          }) == 256 + second);
  }
  CHECK(end_of([] {
          const InterruptGuard guard;
          std::raise(SIGTERM);
          std::raise(SIGTERM);
        }) == 0);
}

TEST_CASE("without a guard signals do what they did") {
  CHECK(end_of([] {
          { const InterruptGuard guard; }
          std::raise(SIGTERM);
        }) == 256 + SIGTERM);
  CHECK(end_of([] {
          std::signal(SIGHUP, SIG_IGN);  // as nohup does
          const InterruptGuard guard;
          std::raise(SIGHUP);
          check_interrupt();
        }) == 0);
}

}  // namespace tlmssd
