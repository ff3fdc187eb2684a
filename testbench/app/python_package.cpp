#include "testbench/app/python_package.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

namespace fs = std::filesystem;

/// Beside an installed program: what `pip install` makes the package of; empty elsewhere.
fs::path installed_sources(const fs::path& program) {
  const fs::path folder = program.parent_path().parent_path() / "share" / "tlmssd" / "python";
  std::error_code error;
  return fs::exists(folder / "pyproject.toml", error) ? folder : fs::path();
}

/// -P: a folder named tlmssd where the user happens to be is not the package.
constexpr const char* k_isolated = "-P";
constexpr const char* k_has_package =
    "import importlib.util as u, sys; s = u.find_spec('tlmssd'); sys.exit(not (s and s.origin))";

fs::path running_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

std::vector<std::string> candidates(const fs::path& program) {
  std::vector<std::string> found;
  const fs::path folder = program.parent_path();
  for (const fs::path& python : {folder / "python3", folder.parent_path() / "explore" / "bin" / "python3"}) {
    if (access(python.c_str(), X_OK) == 0) found.push_back(python.string());
  }
  found.emplace_back("python3");
  return found;
}

bool has_package(const std::string& python) {
  std::vector<std::string> words = {python, k_isolated, "-c", k_has_package};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, python.c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool is_python_command(std::string_view name) {
  return std::any_of(k_python_commands.begin(), k_python_commands.end(),
                     [&](const PythonCommand& command) { return command.name == name; });
}

void hand_over_to_python(char* argv[]) {
  const fs::path program = running_program();
  const std::vector<std::string> pythons = candidates(program);
  const auto python = std::find_if(pythons.begin(), pythons.end(), has_package);
  if (python == pythons.end()) {
    const fs::path sources = installed_sources(program);
    const std::string how = sources.empty()
                                ? "run scripts/explore once in the source tree, or 'pip install scripts/'"
                                : "run 'pip install " + sources.string() + "'";
    throw InputError(std::string(argv[1]) + " needs the Python package tlmssd: " + how +
                     " in the Python 3.11 (or newer) environment in use");
  }
  if (!program.empty()) setenv("TLMSSD_PROGRAM", program.c_str(), 0);
  std::vector<std::string> words = {*python, k_isolated, "-m", "tlmssd"};
  for (char** word = argv + 1; *word != nullptr; ++word) words.emplace_back(*word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(python->c_str(), pointers.data());
  throw InputError("cannot start " + *python + ": " + std::strerror(errno));
}

}  // namespace tlmssd
