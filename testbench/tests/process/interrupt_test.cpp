// Signals: noted, thrown once, and at once the second time.
#include "testbench/process/interrupt.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "testbench/process/staging.h"

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

namespace {

const char* stuck_plugin() noexcept {
  return "plug-in acme 1.0";
}

/// What a process says that does `stuck`.
std::string said_when_stuck(const std::function<void()>& stuck, int code) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const auto begun = std::chrono::steady_clock::now();
  CHECK(end_of([&] {
          dup2(ends[1], STDERR_FILENO);
          stuck();
        }) == code);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
  close(ends[1]);
  std::array<char, 512> said{};
  const ssize_t size = read(ends[0], said.data(), said.size());
  close(ends[0]);
  return {said.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

void run_for_ever() {
  while (true) sleep_for(0.01);
}

}  // namespace

TEST_CASE("work that never asks is given up after a time of grace") {
  std::string folder = (std::filesystem::temp_directory_path() / "tlmssd-stuck-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const auto stuck = [&](InterruptGuard::Culprit culprit) {
    const InterruptGuard guard(culprit, 1);
    const Staging results(folder, Staging::Kind::folder);
    for (int i = 0; i < 300; ++i) std::ofstream(results.path() / ("file " + std::to_string(i))) << "half";
    const Staging snapshot(folder, Staging::Kind::file);
    std::raise(SIGTERM);
    run_for_ever();
  };
  CHECK(said_when_stuck([&] { stuck(&stuck_plugin); }, 128 + SIGTERM) ==
        "tlmssd: interrupted by SIGTERM, but plug-in acme 1.0 is stuck; given up after 1 s\n");
  CHECK(said_when_stuck([&] { stuck(nullptr); }, 128 + SIGTERM) ==
        "tlmssd: interrupted by SIGTERM, but the work under way is stuck; given up after 1 s\n");
  CHECK(std::filesystem::is_empty(folder));
  // Whose it is cannot be found out.
  const InterruptGuard::Culprit for_ever = []() noexcept -> const char* {
    run_for_ever();
    return nullptr;
  };
  CHECK(said_when_stuck([&] { stuck(for_ever); }, 128 + SIGTERM) ==
        "tlmssd: interrupted by SIGTERM, but the work under way is stuck; given up after 1 s\n");
  std::filesystem::remove_all(folder);
}

TEST_CASE("work that has asked, or must not be left half way, is not given up") {
  CHECK(end_of([] {
          const InterruptGuard guard(nullptr, 1);
          std::raise(SIGTERM);
          try {
            check_interrupt();
          } catch (const Interrupted&) {
            sleep_for(1.5);  // winding up
          }
        }) == 0);
  CHECK(end_of([] {
          const InterruptGuard guard(nullptr, 1);
          const UninterruptedWork work;
          std::raise(SIGTERM);
          sleep_for(2.5);
        }) == 0);
}

TEST_CASE("without a guard it is said whose work a signal has ended") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
    CHECK(said_when_stuck(
              [signal] {
                const InterruptNotice notice(&stuck_plugin);
                std::raise(signal);
                run_for_ever();
              },
              256 + signal) == "tlmssd: interrupted by " + name + " in the midst of plug-in acme 1.0\n");
  }
  const InterruptGuard::Culprit unknown = []() noexcept -> const char* { return nullptr; };
  CHECK(said_when_stuck(
            [&] {
              const InterruptNotice notice(unknown);
              std::raise(SIGTERM);
            },
            256 + SIGTERM)
            .empty());
  // Within a guard it has no part, and after it it has again.
  CHECK(said_when_stuck(
            [] {
              const InterruptNotice notice(&stuck_plugin);
              {
                const InterruptGuard guard(&stuck_plugin);
                std::raise(SIGTERM);
                CHECK_THROWS_AS(check_interrupt(), Interrupted);
              }
              std::raise(SIGHUP);
            },
            256 + SIGHUP) == "tlmssd: interrupted by SIGHUP in the midst of plug-in acme 1.0\n");
  // Whose it is cannot be found out.
  CHECK(said_when_stuck(
            [] {
              const InterruptNotice notice([]() noexcept -> const char* {
                run_for_ever();
                return nullptr;
              });
              std::raise(SIGTERM);
            },
            256 + SIGALRM)
            .empty());
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
