// BAST, block-associative sector translation (Kim, Kim, Noh, Min & Cho, IEEE Trans. Consumer
// Electronics 48(2), 2002): a log block belongs to one data block. When none is free for another
// block-mapped region, the one written to least recently is merged: for nothing if it was written
// in order to its end (switch), by copying the rest if in order so far (partial), else in full.
// Random writes over more block-mapped regions than there are logs merge at every write
// (thrashing).
#pragma once

#include <list>
#include <unordered_map>
#include <vector>

#include "firmware/logblocks/log_scheme.h"

namespace tlmssd::firmware {

class Bast final : public LogScheme {
 public:
  static constexpr std::string_view k_name = "bast";
  static constexpr std::string_view k_summary =
      "block-mapped regions with page-mapped log blocks, each of one data block";
  struct Config {
    std::uint32_t log_blocks = 8;
    bool copyback = false;
    static const ParameterTable<Config>& parameters();
  };
  Bast(const Config& config, const Layout& layout);

  [[nodiscard]] Bytes dram_bytes() const override;
  [[nodiscard]] bool together(const ProgramJob& job, Lpn unit) const override;
  Task<BlockNumber> place(const ProgramJob& job) override;
  void claimed(const ProgramJob& job) override;
  Task<bool> evacuate(BlockNumber block, bool to_worn) override;
  Task<bool> tidy(std::uint32_t pu) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  void archive(Archive& archive) override;

 private:
  using Logs = std::list<Log>;  ///< least recently written first
  Task<bool> end_log(std::uint32_t pu, Logs::iterator log, bool fresh, bool to_worn = false);

  std::vector<Logs> logs_of_;                                  ///< by parallel unit
  std::unordered_map<std::uint32_t, Logs::iterator> log_for_;  ///< by block-mapped region
  std::uint64_t evicted_ = 0;
};

}  // namespace tlmssd::firmware
