// A synthetic load in fio's own words, as a scenario or a fio job file gives it.
//
// Texts keep fio's syntax ("4k,8k", "4k/60:64k/40", "zipf:1.1"); generator.h resolves them for a
// given drive.
#pragma once

#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

struct GeneratorConfig {
  std::string rw = "randread";
  std::int32_t rwmixread = 50;
  std::int32_t rwmixwrite = -1;
  std::string bs = "4k";
  std::string bsrange;
  std::string bssplit;
  std::string blockalign;
  std::uint32_t iodepth = 1;
  std::uint32_t numjobs = 1;
  std::string offset = "0";
  std::string offset_increment = "0";
  std::string size = "100%";
  std::string io_size;
  std::uint64_t number_ios = 0;
  bool time_based = false;
  std::uint64_t loops = 1;
  std::string rate_iops;
  std::string rate;
  std::string rate_process = "linear";
  Picoseconds thinktime = 0;
  std::uint32_t thinktime_blocks = 1;
  std::string random_distribution = "random";
  std::uint64_t hot_set = 0;
  bool norandommap = true;
  std::uint64_t randseed = 0;
  std::string percentage_random = "100";
  std::uint64_t fsync = 0;
  std::uint64_t fdatasync = 0;     ///< of job files, counts beside fsync
  bool force_unit_access = false;  ///< of job files (sync=1)
  bool end_fsync = false;
  /// Gaps between requests of a limited rate are drawn.
  [[nodiscard]] bool is_poisson() const { return rate_process == "poisson"; }
  [[nodiscard]] bool is_random() const { return rw.starts_with("rand"); }
  /// `rw` is a pattern of reads and writes.
  [[nodiscard]] bool asks_for_mix() const;
  /// The direction of each request is drawn, or decided by the rates: there are both, as fio has
  /// it.
  [[nodiscard]] bool mixes_reads_and_writes() const {
    return asks_for_mix() && read_percent() > 0 && read_percent() < 100;
  }
  /// Of the requests of a mix, in per cent.
  [[nodiscard]] std::int64_t read_percent() const { return rwmixwrite >= 0 ? 100 - rwmixwrite : rwmixread; }
  [[nodiscard]] bool writes() const;
  static const ParameterTable<GeneratorConfig>& parameters();
};

}  // namespace tlmssd
