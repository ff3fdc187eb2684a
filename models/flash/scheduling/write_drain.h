// write-drain: as read-first, but programs and erases that were ordered while a write of the host
// waited for room in the write buffer are not suspended. Reads still overtake what waits in the
// queue. So reads are as fast as with read-first while the drive takes its writes at once; when it
// is saturated, a read waits for what is left of the program on its die, and programs lose no time
// to suspends. (Named after the write drain mode of DRAM controllers, which serves writes first
// once their queue is full: Stuecheli et al., ISCA 2010. That enterprise drives do so is a
// conclusion from their read latencies, docs/results/real.md.)
#pragma once

#include "models/flash/scheduling/read_first.h"

namespace tlmssd {

class WriteDrainScheduler final : public ReadFirstScheduler {
 public:
  static constexpr std::string_view k_name = "write-drain";
  static constexpr std::string_view k_summary =
      "as read-first, but nothing is suspended that was ordered while a write waited for room in the write "
      "buffer";
  using ReadFirstScheduler::ReadFirstScheduler;

  [[nodiscard]] bool suspends(const FlashOp& running) const override { return !running.writes_wait; }
};

}  // namespace tlmssd
