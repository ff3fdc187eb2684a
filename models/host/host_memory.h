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
#include "models/memory/address_map.h"
#include "models/memory/memory_target.h"

namespace tlmssd {

class HostMemory final : public MemoryTarget {
 public:
  /// `capacity` bytes at k_host_memory_base behind `link`, which outlives it.
  HostMemory(const sc_core::sc_module_name& name, Bytes capacity, Link& link, EventQueue& event_queue)
      : MemoryTarget(name, event_queue, k_host_memory_base, capacity), link_(link) {}

  Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) override {
    if (!holds(address, bytes)) return k_never;
    // The link is booked now: an arrival behind a busy bus would leave a hole in what it carries.
    const Picoseconds taken =
        (write ? link_.write_host_memory(now(), bytes) : link_.read_host_memory(now(), bytes)) - now();
    count(arrival, arrival, arrival + taken, bytes, write);
    if (!write) reading_ += taken;
    return arrival + taken;
  }
  bool access_untimed(std::uint64_t address, Bytes bytes, bool /*write*/) override {
    return holds(address, bytes);
  }

  void report(StatisticsSink& sink) const {
    const MemoryCounters& c = counters();
    sink.open("host memory", "the host memory buffer, over the link");
    sink.value("reads", c.reads, "accesses", "read accesses");
    sink.value("writes", c.writes, "accesses", "write accesses, which are posted");
    sink.value("bytes read", c.read_bytes, "B", "bytes read");
    sink.value("bytes written", c.written_bytes, "B", "bytes written");
    sink.value("mean read", ratio(static_cast<double>(reading_) * 1e-12, static_cast<double>(c.reads)), "s",
               "mean time of a read on the link and in the host's memory");
    sink.close();
  }
  void reset_statistics() {
    restart_counters(0);
    reading_ = 0;
  }

 private:
  Link& link_;
  Picoseconds reading_ = 0;
};

}  // namespace tlmssd
