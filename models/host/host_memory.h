// The host memory buffer: memory of the host that the drive uses over the PCIe link (NVM Express
// Base Specification 1.2 and later, host memory buffer feature), as a window of the controller's
// system bus.
//
// Modelled: an access takes the bus as one of DRAM does and then the link, as
// Link::read_host_memory() and write_host_memory() have it: a read ends when its data are there, a
// write is posted and ends when it has left. On the link it is booked when it is asked for; what
// the bus adds shifts its end. The host's memory itself is never busy. Left out: how the host gives
// the buffer (Set Features) and takes it back, its list of chunks (one read or write may cross them
// unseen), checks of what the host may have changed, and what is kept or lost when the host goes to
// sleep.
#pragma once

#include "models/host/link.h"
#include "models/memory/memory_target.h"

namespace tlmssd {

class HostMemory final : public MemoryTarget {
 public:
  /// `capacity` bytes at k_host_memory_base behind `link`, which outlives it.
  HostMemory(const sc_core::sc_module_name& name, Bytes capacity, Link& link, EventQueue& event_queue);

  void report(StatisticsSink& sink) const;
  void reset_statistics();

  Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) override;
  bool access_untimed(std::uint64_t address, Bytes bytes, bool /*write*/) override {
    return holds(address, bytes);
  }

 private:
  Link& link_;
  Picoseconds reading_ = 0;
};

}  // namespace tlmssd
