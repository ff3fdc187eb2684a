// A synthetic load in fio's words: the requests of one job.
//
// Like fio: reads, writes and trims of a sequential job each keep a position of their own; a mixed
// job draws the direction for every request; randtrimwrite trims a random block and then writes it.
// The job ends after io_size bytes (default: size), after number_ios requests, or never when
// time_based; of trimwrite that many are trimmed, and as many written. Unlike fio: random positions
// may repeat unless norandommap is false (a job file's default); a size range is drawn evenly over
// the multiples of its lower bound.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testbench/loads/generator/generator_config.h"
#include "testbench/loads/requests/app_files.h"
#include "testbench/loads/requests/distribution.h"
#include "testbench/loads/requests/placement.h"
#include "testbench/loads/requests/request.h"
#include "testbench/loads/text/fio_units.h"

namespace tlmssd {

/// A GeneratorConfig understood: sizes in bytes, shares as numbers, for a given drive.
struct GeneratorPlan {
  enum class Mix : std::uint8_t { one, read_write, trim_write };
  struct SizeShare {
    Bytes bytes = 0;
    std::uint32_t percent = 0;
  };
  Mix mix = Mix::one;
  unsigned direction = 0;  ///< of a job of one direction: 0 read, 1 write, 2 trim
  bool random = true;
  std::uint32_t read_percent = 50;
  std::array<std::vector<SizeShare>, 3> sizes;  ///< per direction; adds up to 100 per cent
  std::array<Bytes, 3> range_low{};             ///< bsrange: used when sizes is empty
  std::array<Bytes, 3> range_high{};
  std::array<Bytes, 3> align{};     ///< random positions are multiples of this
  std::array<Bytes, 3> smallest{};  ///< smallest request per direction
  std::array<std::uint32_t, 3> random_percent{};
  Bytes offset = 0;
  Bytes size = 0;
  Bytes io_bytes = 0;                        ///< 0: endless
  std::uint64_t number_ios = 0;              ///< 0: no such limit
  std::array<std::uint64_t, 3> rate_iops{};  ///< 0: not limited
  std::array<std::uint64_t, 3> rate_bytes{};
  bool poisson = false;
  DistributionSpec distribution;
  bool repeats = true;
  std::uint64_t fsync = 0;
  std::uint64_t fdatasync = 0;     ///< counts beside fsync
  bool force_unit_access = false;  ///< of writes
  std::shared_ptr<const AppFiles>
      apps;  ///< lives of their files, in place of all about directions and places
  [[nodiscard]] bool paced() const;
  [[nodiscard]] bool flushes() const { return fsync != 0 || fdatasync != 0; }
  /// Once where both counts are full.
  [[nodiscard]] bool flushes_after(std::uint64_t writes) const;
  /// All requests that number_ios lets through; 0: no such limit.
  [[nodiscard]] std::uint64_t most_requests() const;
  /// Bytes of a request of this direction, on average.
  [[nodiscard]] double request_bytes(unsigned of) const;
  /// None: it does not write.
  [[nodiscard]] std::optional<WritePattern> writes() const;
  /// What a range of sizes names and never draws; empty: nothing.
  [[nodiscard]] std::string range_notice() const;
  /// Options that have it ask for flushes and trims; `at_end`: it flushes when it has ended.
  [[nodiscard]] std::vector<std::string> alone_options(bool at_end) const;
  /// What it may ask for; nothing: that is up to the lives of files.
  [[nodiscard]] std::optional<std::vector<HostOpcode>> operations() const;
};

/// Job `job` (from 0) of `config.numjobs` on `drive`. Throws InputError "option: what is wrong".
GeneratorPlan plan_generator(const GeneratorConfig& config, const DriveSize& drive, FioUnits units,
                             std::uint32_t job);

class Generator final : public RequestSource {
 public:
  Generator(const GeneratorPlan& plan, std::uint64_t seed);
  bool next(Request& request) override;
  [[nodiscard]] std::uint64_t expected() const override;
  [[nodiscard]] SequentialRun sequential_writes() const override;
  void skip(std::uint64_t requests) override;

 private:
  bool next_of_life(Request& request);
  unsigned choose_direction();
  Bytes choose_size(unsigned direction, Bytes room);
  void choose_place(unsigned direction, Request& request);
  Picoseconds pace(unsigned direction, Bytes bytes);
  [[nodiscard]] Picoseconds due(unsigned direction) const { return due_[direction]; }

  GeneratorPlan plan_;
  RandomStream mix_random_;
  RandomStream size_random_;
  RandomStream order_random_;
  RandomStream pace_random_;
  std::optional<FileLives> lives_;
  std::array<Positions, 3>
      positions_;  ///< the random map is shared by the directions that have the same blocks
  bool shared_map_;
  std::array<Bytes, 3> cursor_{};  ///< sequential position within the region
  std::array<unsigned __int128, 3> paced_amount_{};
  std::array<Picoseconds, 3> due_{};
  Picoseconds last_time_ = 0;
  Bytes done_ = 0;
  std::uint64_t issued_ = 0;  ///< as number_ios counts
  std::uint64_t written_ = 0;
  bool flush_next_ = false;
  bool write_back_ = false;  ///< trimwrite: the next request writes what was trimmed
  Request trimmed_;
};

}  // namespace tlmssd
