// fio job files, read directly.
//
// Sections, [global] (which holds for the jobs below it), comments, and the options that a
// GeneratorConfig has, with fio's own defaults and units. Options about the host's side of things
// (direct, filename, logging, ...) have no effect here and are noted. Every other option is an
// InputError "file:line: ..." that names the nearest one understood: better no run than one that
// does something else than asked.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/loads/config/load_config.h"
#include "testbench/loads/generator/generator_config.h"
#include "testbench/loads/text/fio_units.h"

namespace tlmssd {

struct FioJob {
  std::string name;
  std::uint64_t line = 0;  ///< of the section's head
  GeneratorConfig generator;
  RunConfig run;
  FioUnits units = FioUnits::job_1024;
  std::string ioengine = "psync";              ///< fio's default
  bool create_only = false;                    ///< lays out files and runs nothing
  bool fsync_on_close = false;                 ///< here the same as end_fsync
  std::string file_size;                       ///< filesize, which matters where there is no size
  bool stonewall = false;                      ///< starts when everything above has ended
  std::map<std::string, std::uint64_t> lines;  ///< where each option was given
  /// The ioengine waits for each request: in fio its queue depth is 1, whatever iodepth says.
  [[nodiscard]] bool synchronous() const;
  /// Throws InputError "option: what is wrong" of a job that does something else than reading and
  /// writing a drive.
  void check_runs() const;
  /// Throws InputError "filesize: ..." where it would say which part of the drive is used.
  void check_file_size() const;
  [[nodiscard]] std::uint64_t line_of(const std::string& option) const {
    const auto found = lines.find(option);
    return found == lines.end() ? line : found->second;
  }
};

struct FioJobFile {
  std::string file;
  std::vector<FioJob> jobs;
  std::vector<std::string> warnings;  ///< "file:line: option ... has no effect here", or the like
};

/// Whether job files may have it.
bool is_fio_option(std::string_view name);
FioJobFile read_fio_jobs(const std::string& path);
/// From memory; `name` stands for the file in messages.
FioJobFile parse_fio_jobs(const std::string& name, std::string_view text);

}  // namespace tlmssd
