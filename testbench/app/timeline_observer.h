// Feeds the timeline with what dies, channels, cores and the link do, with collection, with the
// commands on each host queue and their ways through the drive, and with counts of what the drive
// holds.
//
// Arrows lead from a command to each flash operation that is charged to its ledger, which has the
// command's number, and back. Data that waited in the write buffer are followed by their LPN from
// the command that wrote them to the programs that bring them to flash.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "firmware/base/layout.h"
#include "platform/ssd.h"
#include "testbench/measure/measurement.h"
#include "testbench/report/files/timeline.h"

namespace tlmssd {

class TimelineObserver final : public FlashObserver, public CpuObserver, public LinkObserver {
 public:
  /// `outstanding`: commands of the host under way.
  TimelineObserver(const std::string& path, const TimelineWindow& window, const Ssd& ssd,
                   std::function<std::uint64_t()> outstanding);

  void bus(ChannelId channel, DieId die, const FlashOp& op, Picoseconds start, Picoseconds end,
           BusUse use) override;
  void array(DieId die, const FlashOp& op, Picoseconds start, Picoseconds end) override;
  void ran(std::uint32_t core, Stage stage, Picoseconds start, Picoseconds end) override;
  void transferred(LinkDirection direction, Picoseconds start, Picoseconds end, Bytes payload) override;
  /// A command has completed. Those that are not `measured`, of a ramp, are shown as well, but are
  /// none of the slowest.
  void command(const Completed& command, const std::string& load, bool measured);
  /// One more command of the host is outstanding, or one less.
  void outstanding_changed(Picoseconds now);
  void close() { timeline_.close(); }
  [[nodiscard]] bool incomplete() const { return timeline_.incomplete(); }

 private:
  /// A block that is being emptied.
  struct Victim {
    Picoseconds since = 0;
    std::uint64_t reads = 0;
    std::uint64_t units = 0;
  };
  /// An operation that a command waits for.
  struct Way {
    std::uint32_t command = 0;
    std::uint64_t place = 0;
    std::uint64_t flow = 0;
  };
  /// An operation that programs data of the host.
  struct Program {
    std::uint64_t place = ~std::uint64_t{0};
    std::vector<std::uint64_t> flows;
  };
  /// A unit in the write buffer.
  struct Written {
    std::uint32_t command = 0;
    std::uint64_t flow = 0;
  };
  /// A unit on flash whose command has not completed.
  struct Programmed {
    std::uint64_t flow = 0;
    Picoseconds start = 0;
  };
  [[nodiscard]] bool outside(Picoseconds start, Picoseconds end) const {
    return !timeline_.wants(start, end);
  }
  [[nodiscard]] std::uint32_t pu_of(const FlashOp& op) const;
  [[nodiscard]] std::uint64_t ppn_of(const FlashOp& op) const;
  [[nodiscard]] Lpn first_unit(const FlashOp& op) const;
  void add_place(const FlashOp& op, TraceSlice& slice) const;
  static std::uint64_t place_of(const FlashOp& op);
  const Way* way_of(const FlashOp& op);
  void add_command(const FlashOp& op, TraceSlice& slice);
  void add_flows(const FlashOp& op, TraceSlice& slice);
  std::vector<std::uint64_t> writers_of(const FlashOp& op, Picoseconds start);
  void add_programs(const Completed& command, TraceSlice& slice);
  void collect(const FlashOp& op, Picoseconds start, Picoseconds end);
  void count(Picoseconds now);
  void count(const char* name, Picoseconds now, std::int64_t value);

  Timeline timeline_;
  const Ssd& ssd_;
  firmware::Layout layout_;  ///< of another firmware than our own: by the default allocation
  std::function<std::uint64_t()> outstanding_;
  std::unordered_map<const FlashOp*, Way> ways_;                            ///< the last of each object
  std::unordered_map<const FlashOp*, Program> programs_;                    ///< the last of each object
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> flows_of_;  ///< by command under way
  std::unordered_map<std::uint64_t, Written> written_by_;                   ///< by LPN
  std::unordered_map<std::uint64_t, Programmed> programmed_;                ///< by LPN
  std::map<std::pair<std::uint32_t, std::uint32_t>, Victim> victims_;       ///< by parallel unit and block
  std::map<std::string, std::int64_t> counted_;
  std::uint64_t last_flow_ = 0;
};

}  // namespace tlmssd
