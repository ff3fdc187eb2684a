// FAST, fully associative sector translation (Lee, Park, Chung, Lee, Park & Song, ACM TECS 6(3),
// 2007): one log block of a parallel unit takes writes that run through a block-mapped region from
// its start, the others whatever comes, in the order of writing.
//
// The sequential log is ended by the start of another run, or by a write to its block-mapped region
// that does not go on where it stands: switch or partial merge. When the random logs are full, the
// oldest is given up: every block-mapped region that still has a valid unit in it is merged in
// full, from wherever its newest units lie, so that one random log can cost as many merges as it
// has pages.
#pragma once

#include <deque>
#include <vector>

#include "firmware/logblocks/log_scheme.h"

namespace tlmssd::firmware {

class Fast final : public LogScheme {
 public:
  static constexpr std::string_view k_name = "fast";
  static constexpr std::string_view k_summary =
      "block-mapped regions with page-mapped log blocks for any data, and one for sequential writes";
  struct Config {
    std::uint32_t log_blocks = 8;
    bool copyback = false;
    static const ParameterTable<Config>& parameters();
  };
  Fast(const Config& config, const Layout& layout);

  /// The region's entry, and every slot of the logs for any data.
  [[nodiscard]] std::uint32_t looked_at(Lpn unit) const override;
  [[nodiscard]] Bytes dram_bytes() const override;
  [[nodiscard]] bool together(const ProgramJob& job, Lpn unit) const override;
  Task<BlockNumber> place(const ProgramJob& job) override;
  void claimed(const ProgramJob& job) override;
  Task<bool> evacuate(BlockNumber block, bool to_worn) override;
  Task<bool> tidy(std::uint32_t pu) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  void archive(Archive& archive) override;

 protected:
  [[nodiscard]] std::uint32_t least_extra() const override { return 2; }  // the sequential log

 private:
  /// A log for any data, with the unit of each slot.
  struct RandomLog {
    BlockNumber block = k_no_block;
    std::uint32_t written = 0;  ///< program units
    std::vector<Lpn> slots;
  };
  struct ParallelUnit {
    Log sequential;
    std::deque<RandomLog> random;  ///< oldest first
  };
  /// Whether `job` begins a run through a block-mapped region, or goes on with the present one.
  [[nodiscard]] bool begins_run(const ProgramJob& job) const { return runs_from(job, 0); }
  [[nodiscard]] bool goes_on(const ParallelUnit& pu, const ProgramJob& job) const;
  Task<bool> end_run(ParallelUnit& pu, bool fresh, bool to_worn = false);
  Task<bool> merge_owner(ParallelUnit& pu, std::uint32_t owner, bool to_worn);
  Task<bool> empty_log(ParallelUnit& pu, std::size_t log, bool to_worn = false);

  std::vector<ParallelUnit> state_;
  std::uint64_t emptied_ = 0;
  std::uint64_t owners_merged_ = 0;
};

}  // namespace tlmssd::firmware
