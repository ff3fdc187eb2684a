// Write streams: the host says by a placement handle which of its data belong together, and data of
// a handle get blocks of their own, as in NVMe Flexible Data Placement (FDP).
//
// Reclaim units. Every handle has an open block of its own in each parallel unit; that block, in
// all planes and dies that the parallel unit spans, is the reclaim unit: it is written by one
// handle and erased as one. In the write buffer data wait in a line for each handle, and a program
// unit takes entries of one line. A write over data that still wait there stays in their line. A
// command without a handle uses handle 0; so do map pages, and one whose handle does not exist,
// which is counted.
//
// What collection moves. Initially isolated: data of all handles are moved into one open block,
// where they mix. Persistently isolated: what is moved of a handle goes to an open block of that
// handle's moved data (what the host writes and what is moved are two blocks unless
// firmware.allocation.streams is shared). Victims are chosen among all blocks, whatever their
// handle, so spare area goes to where it saves most.
//
// Room. Every handle's open blocks are set aside: data of other handles cannot use what is free in
// them. Where data stay apart, collection may open a block for each handle before the first victim
// is free, so that its reserve grows with the number of handles (PuWorker::run).
//
// Source: NVM Express, TP4146 (Flexible Data Placement) and NVM Command Set specification 1.1, for
// the handles, both kinds of isolation, the statistics and the events. Left out: several reclaim
// groups to choose from, handles named by the host through namespaces, the time limit of a reclaim
// unit, the host's reclaim unit handle update.
#pragma once

#include <string>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"

namespace tlmssd::firmware {

struct StreamsConfig {
  std::uint32_t handles = 8;
  static const ParameterTable<StreamsConfig>& parameters();
};

class Streams final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.streams";
  static constexpr const char* k_doc = "placement handles, whose data get blocks of their own";
  static constexpr const char* k_choice_doc = "where collection puts what it moves of a handle's data";
  using Config = StreamsConfig;
  static std::vector<PolicyInfo> policies();
  static Handles handles(const FeatureChoice& choice);
  struct Counters {
    std::uint64_t erased = 0;   ///< blocks
    std::uint64_t moved = 0;    ///< victims in which something was valid
    std::uint64_t invalid = 0;  ///< write commands with a handle that there is not
  };

  explicit Streams(const FeatureContext& context);

  void on_host_command(const HostCommand& command) override;
  void on_program(const ProgramJob& job, bool kept_away) override;
  void on_fill(std::uint64_t units, std::uint64_t /*programs*/) override { written_[0] += units; }
  [[nodiscard]] bool knows_fill() const override { return true; }  // it is of handle 0
  void on_victim(std::uint32_t pu, BlockNumber block) override;
  void on_erased(std::uint32_t /*pu*/) override { ++counters_.erased; }
  [[nodiscard]] std::uint8_t write_line(Lpn /*unit*/, const HostCommand& command) override {
    return exists(command) ? static_cast<std::uint8_t>(command.placement_handle) : 0;
  }

  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Mapping pages that the host has written with a handle, as they went to flash.
  [[nodiscard]] std::uint64_t units_written(std::uint8_t handle) const { return written_[handle]; }
  [[nodiscard]] const BlockPool::HandleUse& use(std::uint8_t handle) const { return core_.pool.use(handle); }

 private:
  [[nodiscard]] bool exists(const HostCommand& command) const {
    return command.placement_handle < written_.size();
  }
  void report_handles(StatisticsSink& sink) const;

  Core& core_;
  std::string policy_name_;
  std::vector<std::uint64_t> written_;  ///< units, by handle
  Counters counters_;
};

}  // namespace tlmssd::firmware
