#include "models/host/host_memory.h"

#include "models/memory/address_map.h"

namespace tlmssd {

HostMemory::HostMemory(const sc_core::sc_module_name& name, Bytes capacity, Link& link,
                       EventQueue& event_queue)
    : MemoryTarget(name, event_queue, k_host_memory_base, capacity), link_(link) {}

Picoseconds HostMemory::access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) {
  if (!holds(address, bytes)) return k_never;
  // The link is booked now: an arrival behind a busy bus would leave a hole in what it carries.
  const Picoseconds taken =
      (write ? link_.write_host_memory(now(), bytes) : link_.read_host_memory(now(), bytes)) - now();
  const Picoseconds end = arrival + taken;
  count(arrival, arrival, end, bytes, write);
  if (!write) reading_ += taken;
  return end;
}

void HostMemory::report(StatisticsSink& sink) const {
  const MemoryCounters& c = counters();
  sink.open("host memory", "the host memory buffer, over the link");
  sink.value("reads", c.reads, "accesses", "read accesses");
  sink.value("writes", c.writes, "accesses", "write accesses, which are posted");
  sink.value("bytes read", c.read_bytes, "B", "bytes read");
  sink.value("bytes written", c.written_bytes, "B", "bytes written");
  sink.value("mean read",
             c.reads > 0 ? static_cast<double>(reading_) * 1e-12 / static_cast<double>(c.reads) : 0.0, "s",
             "mean time of a read on the link and in the host's memory");
  sink.close();
}

void HostMemory::reset_statistics() {
  restart_counters(0);
  reading_ = 0;
}

}  // namespace tlmssd
