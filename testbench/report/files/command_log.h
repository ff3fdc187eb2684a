// Optional log of every command: one CSV line each, with the time charged to each cause, compressed
// by the file's suffix.
#pragma once

#include "testbench/measure/measurement.h"
#include "testbench/report/files/output_file.h"

namespace tlmssd {

class CommandLog {
 public:
  /// `path` may end in .gz or .zst. Throws InputError when it cannot be written.
  explicit CommandLog(const std::string& path);
  void record(const Completed& command);
  /// Writes the rest. Throws InputError when not everything could be written.
  void close() { file_.close(); }

 private:
  OutputFile file_;
  std::string line_;
};

}  // namespace tlmssd
