// Runs the program as its users do: a process with arguments, of which the exit code and what it printed are kept.
#pragma once

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace tlmssd::program_tests {

namespace fs = std::filesystem;

/// A folder of the test's own, gone when the test ends.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tlmssd_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + name);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  int code = 0;  ///< exit code; 256 and the signal when it was killed
  std::string out;
  std::string err;
};

/// Runs `program` with `arguments` and `input` on standard input, its output going through files in `folder`.
inline Outcome run_program(const Folder& folder, const std::string& program,
                           const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = folder / ".stdout";
  const std::string err = folder / ".stderr";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string in = folder.write(".stdin", input);
  posix_spawn_file_actions_addopen(&files, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0].c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  outcome.out = read_file(out);
  outcome.err = read_file(err);
  fs::remove(in);
  fs::remove(out);
  fs::remove(err);
  return outcome;
}

/// Runs the program of this build.
inline Outcome run(const Folder& folder, const std::vector<std::string>& arguments,
                   const std::string& input = {}) {
  return run_program(folder, TLMSSD_PROGRAM, arguments, input);
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("test: '" + what + "' is not in the text");
  return text.replace(at, what.size(), by);
}

inline std::string replaced_all(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// A scenario that runs in a hundredth of a second; garbage collection is at work.
inline const std::string k_small = R"(title: small
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    ways: 1
    over_provisioning: 40 %
    part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}
firmware:
  buffer: {capacity: 256 KiB}
load: {rw: randrw, number_ios: 500}
)";

}  // namespace tlmssd::program_tests
