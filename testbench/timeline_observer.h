// Feeds the timeline with what dies, channels, cores and the link do, and with the commands on each host queue.
#pragma once

#include "models/cpu/controller_cpu.h"
#include "models/host/link.h"
#include "models/nand/flash_observer.h"
#include "testbench/measure/measurement.h"
#include "testbench/measure/timeline.h"

namespace tlmssd {

class TimelineObserver final : public FlashObserver, public CpuObserver, public LinkObserver {
 public:
  /// Keeps what touches [from, until) of simulated time.
  TimelineObserver(const std::string& path, Picoseconds from, Picoseconds until)
      : writer_(path, from, until) {}

  void bus(ChannelId channel, DieId die, const FlashOp& op, Picoseconds start, Picoseconds end,
           BusUse use) override;
  void array(DieId die, const FlashOp& op, Picoseconds start, Picoseconds end) override;
  void ran(std::uint32_t core, Stage stage, Picoseconds start, Picoseconds end) override;
  void transferred(LinkDirection direction, Picoseconds start, Picoseconds end, Bytes payload) override;
  void command(const Completed& command);
  void close() { writer_.close(); }

 private:
  [[nodiscard]] bool outside(Picoseconds start, Picoseconds end) const { return !writer_.wants(start, end); }
  TimelineWriter writer_;
};

}  // namespace tlmssd
