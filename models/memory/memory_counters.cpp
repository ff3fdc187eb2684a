#include "models/memory/memory_counters.h"

#include "models/base/booked.h"

namespace tlmssd {

void MemoryCounters::report(StatisticsSink& sink, Picoseconds now, Picoseconds ahead) const {
  const std::uint64_t accesses = reads + writes;
  sink.value("utilisation", share_within(now - since, busy, ahead), "",
             "share of time its interface was occupied");
  sink.value("busy", static_cast<double>(busy_within(now - since, busy, ahead)) * 1e-12, "s",
             "time its interface was occupied");
  sink.value("reads", reads, "accesses", "read accesses");
  sink.value("writes", writes, "accesses", "write accesses");
  sink.value("bytes read", read_bytes, "B", "bytes read");
  sink.value("bytes written", written_bytes, "B", "bytes written");
  sink.value("mean wait",
             accesses > 0 ? static_cast<double>(waiting) * 1e-12 / static_cast<double>(accesses) : 0.0, "s",
             "mean time an access waited for earlier ones");
}

void MemoryCounters::tell_busy(BusySink& sink, std::string_view label, Picoseconds now,
                               Picoseconds ahead) const {
  sink.busy(label, busy_within(now - since, busy, ahead), 1);
}

void MemoryCounters::restart(Picoseconds now, Picoseconds ahead) {
  *this = {};
  busy = ahead;
  since = now;
}

}  // namespace tlmssd
