// exit() while the program is at work: one line, its own exit code, nothing left under
// construction.
#include "testbench/process/exit_watch.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "testbench/process/staging.h"

namespace tlmssd {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int code = 0;
  std::string said;
};

/// What becomes of a process that does `work`.
Ended ended(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    work();
    _exit(77);
  }
  close(ends[1]);
  Ended result;
  std::array<char, 256> some{};
  for (ssize_t size = 0; (size = read(ends[0], some.data(), some.size())) > 0;)
    result.said.append(some.data(), static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string acme() {
  return "plug-in acme 1.0";
}

std::string unknown() {
  return {};
}

}  // namespace

TEST_CASE("exit() under an ExitWatch is an error") {
  const Ended named = ended([] {
    const ExitWatch watch(&acme, 2);
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  });
  CHECK(named.code == 2);
  CHECK(named.said ==
        "tlmssd: plug-in acme 1.0: called exit(0) before the program was done; no results were written\n");
  const Ended unnamed = ended([] {
    const ExitWatch watch(&unknown, 2);
    std::quick_exit(3);
  });
  CHECK(unnamed.code == 2);
  CHECK(unnamed.said ==
        "tlmssd: something called quick_exit() before the program was done; no results were written\n");
}

TEST_CASE("exit() is left alone behind an ExitWatch, and in a child of what it watches") {
  const Ended behind = ended([] {
    { const ExitWatch watch(&acme, 2); }
    std::exit(5);  // NOLINT(concurrency-mt-unsafe)
  });
  CHECK(behind.code == 5);
  CHECK(behind.said.empty());
  const Ended parent = ended([] {
    const ExitWatch watch(&acme, 2);
    const pid_t child = fork();
    if (child == 0) std::exit(6);  // NOLINT(concurrency-mt-unsafe)
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
  });
  CHECK(parent.code == 6);
  CHECK(parent.said.empty());
}

TEST_CASE("exit() leaves nothing under construction") {
  std::string name = (fs::temp_directory_path() / "tlmssd_exit_XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const Ended result = ended([&] {
    const ExitWatch watch(&acme, 2);
    { const Staging gone(name, Staging::Kind::file); }
    const Staging file(name, Staging::Kind::file);
    const Staging folder(name, Staging::Kind::folder);
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  });
  CHECK(result.code == 2);
  CHECK(fs::is_empty(name));
  fs::remove_all(name);
}

}  // namespace tlmssd
