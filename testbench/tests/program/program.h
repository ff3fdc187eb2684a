// Runs the program as its users do: a process with arguments, of which the exit code and what it
// printed are kept.
#pragma once

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
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

/// A process that has been started, its output going through files in `folder`.
class Running {
 public:
  Running(const Folder& folder, std::vector<std::string> words, const std::string& input = {}) {
    static int number = 0;
    in_ = folder.write(".stdin." + std::to_string(number), input);
    out_ = folder / (".stdout." + std::to_string(++number));
    err_ = folder / (".stderr." + std::to_string(number));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in_.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int failed = posix_spawn(&child_, words[0].c_str(), &files, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
  }
  ~Running() {
    if (child_ == 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void signal(int number) const { kill(child_, number); }
  /// Waits for its end.
  Outcome wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    outcome.out = read_file(out_);
    outcome.err = read_file(err_);
    fs::remove(in_);
    fs::remove(out_);
    fs::remove(err_);
    return outcome;
  }

 private:
  std::string in_;
  std::string out_;
  std::string err_;
  pid_t child_ = 0;
};

/// Starts the program with `arguments`.
inline std::unique_ptr<Running> start(const Folder& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {TLMSSD_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return std::make_unique<Running>(folder, words);
}

/// Runs `program` with `arguments` and `input` on standard input.
inline Outcome run_program(const Folder& folder, const std::string& program,
                           const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(folder, words, input).wait();
}

/// Runs a line of shell, in which $tlmssd is the program.
inline Outcome run_shell(const Folder& folder, const std::string& line) {
  return Running(folder, {"/bin/bash", "-c", "tlmssd='" TLMSSD_PROGRAM "'\n" + line}).wait();
}

/// Runs the program of this build.
inline Outcome run(const Folder& folder, const std::vector<std::string>& arguments,
                   const std::string& input = {}) {
  return run_program(folder, TLMSSD_PROGRAM, arguments, input);
}

/// The options that set these parameters, each as KEY=VALUE.
inline std::vector<std::string> set_options(const std::vector<std::string>& settings) {
  std::vector<std::string> options;
  for (const std::string& setting : settings) options.insert(options.end(), {"--set", setting});
  return options;
}

inline std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
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
inline constexpr const char* k_small_part =
    "{planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}";
inline constexpr const char* k_small_load = "{rw: randrw, number_ios: 500}";

}  // namespace tlmssd::program_tests
