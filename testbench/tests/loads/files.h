// Files that the tests of the loads make for themselves, and where the real traces are.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "models/base/input_error.h"
#include "testbench/loads/traces/trace_reader.h"

namespace tlmssd::test {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tlmssd-loads-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::string path_;
};

/// All requests of a text; `format` as in a scenario.
inline std::vector<Request> read_text(const std::string& text, const std::string& format = "auto",
                                      TraceFile file = {}) {
  file.config.format = format;
  TraceReader reader(file, "t", text);
  std::vector<Request> requests;
  Request request;
  while (reader.next(request)) requests.push_back(request);
  return requests;
}

/// What an InputError says, or nothing when none is thrown.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Path of a real trace, empty when the folder is not there.
inline std::string real_trace(const std::string& name) {
  const char* folder = std::getenv("TLMSSD_TRACES");
  const std::string path =
      (folder != nullptr ? std::string(folder) : TLMSSD_SOURCE_DIR "/../shared/traces") + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace tlmssd::test
