#include "testbench/conform/in_child.h"

#include <array>
#include <cerrno>
#include <sys/wait.h>
#include <unistd.h>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

/// In the child: nothing of the parent's is ended there.
[[noreturn]] void answer(int to, const std::function<std::uint64_t()>& work) {
  try {
    const std::uint64_t result = work();
    _exit(write(to, &result, sizeof result) == sizeof result ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

}  // namespace

std::optional<std::uint64_t> in_child(const std::function<std::uint64_t()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw InputError("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) answer(ends[1], work);
  close(ends[1]);
  std::uint64_t result = 0;
  const bool told = child > 0 && read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return told ? std::optional(result) : std::nullopt;
}

}  // namespace tlmssd
