// Data are hot when they have been read so many times while they were on a list of what was read
// last: what policies for read-hot data have in common that judge in this way, each with a source,
// defaults and words of its own.
#pragma once

#include "firmware/base/access_history.h"
#include "firmware/base/read_hot_policy.h"

namespace tlmssd::firmware {

struct CountedReadsConfig {
  Bytes list = Bytes{256} << 20U;
  std::uint32_t reads = 2;
};

/// Parameters of a Config derived from that. `which_reads`, `which_list`: for the docs.
template <class Config>
ParameterTable<Config> counted_reads_parameters(
    const char* which_reads, const char* which_list = "data that the list of what was read last remembers") {
  Bytes Config::*const list = &Config::list;  // as members of Config, not of what it is derived from
  std::uint32_t Config::*const reads = &Config::reads;
  return ParameterTable<Config>{}
      .bytes("list", list, {512, Bytes{1} << 44U}, which_list)
      .integer("reads", reads, {1, 1'000'000}, which_reads);
}

class CountedReads : public ReadHotPolicy {
 public:
  CountedReads(const CountedReadsConfig& config, const ReadHotContext& context)
      : reads_(config.reads), history_(config.list / context.unit_bytes) {}

  bool read(Lpn unit) override { return enough(count(unit)); }
  void rewritten(Lpn unit) override { history_.forget(unit); }
  void archive(Archive& a) override { history_.archive(a); }

 protected:
  /// Counts one more, and returns how many there are.
  std::uint32_t count(Lpn unit) { return history_.access(unit); }
  [[nodiscard]] std::uint32_t counted(Lpn unit) const { return history_.count(unit); }
  [[nodiscard]] bool enough(std::uint32_t reads) const { return reads >= reads_; }

 private:
  std::uint32_t reads_;
  AccessHistory history_;
};

}  // namespace tlmssd::firmware
