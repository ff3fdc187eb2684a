// Feeds the timeline with what dies, channels, cores and the link do, with collection, with the
// commands on each host queue and their ways through the drive, and with counts of what the drive
// holds.
//
// Arrows follow a read that takes one flash operation, which is charged to the command's own
// ledger, by that; not yet one that takes several. Data that waited in the write buffer are
// followed by their LPN from the command that wrote them to the program that brings them to flash.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/ssd.h"
#include "testbench/measure/measurement.h"
#include "testbench/report/timeline.h"

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
  void command(const Completed& command, const std::string& load);
  void close() { timeline_.close(); }
  [[nodiscard]] bool incomplete() const { return timeline_.incomplete(); }

 private:
  /// A block that is being emptied.
  struct Victim {
    Picoseconds since = 0;
    std::uint64_t reads = 0;
    std::uint64_t units = 0;
  };
  [[nodiscard]] bool outside(Picoseconds start, Picoseconds end) const {
    return !timeline_.wants(start, end);
  }
  [[nodiscard]] std::uint32_t pu_of(const FlashOp& op) const;
  [[nodiscard]] std::uint64_t ppn_of(const FlashOp& op) const;
  void add_place(const FlashOp& op, TraceSlice& slice) const;
  void add_command(const FlashOp& op, TraceSlice& slice);
  void add_flows(const FlashOp& op, TraceSlice& slice);
  /// Of the command whose ledger this is, while it is under way.
  std::uint64_t number_of(const Ledger& ledger);
  void collect(const FlashOp& op, Picoseconds start, Picoseconds end);
  void count(Picoseconds now);
  void count(const char* name, Picoseconds now, std::int64_t value);

  Timeline timeline_;
  const Ssd& ssd_;
  std::function<std::uint64_t()> outstanding_;
  std::unordered_map<std::uint64_t, std::uint64_t> written_by_;  ///< LPN in the buffer: flow of its command
  std::map<std::pair<std::uint32_t, std::uint32_t>, Victim> victims_;  ///< by parallel unit and block
  std::map<std::string, std::int64_t> counted_;
  std::unordered_map<const Ledger*, std::uint64_t> numbers_;
  std::uint64_t last_number_ = 0;
};

}  // namespace tlmssd
