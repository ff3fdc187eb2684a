// What a memory, or the bus in front of it, counts of the accesses that it serves.
#pragma once

#include <string_view>

#include "models/base/busy_sink.h"
#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd {

struct MemoryCounters {
  Picoseconds busy = 0;  ///< interface occupied, by all that is booked
  __int128 waiting = 0;  ///< of accesses for earlier ones, many of them at once: in all it may be years
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  Bytes read_bytes = 0;
  Bytes written_bytes = 0;
  Picoseconds since = 0;  ///< when counting started
  void count(Bytes bytes, bool write, Picoseconds occupancy, Picoseconds wait) {
    ++(write ? writes : reads);
    (write ? written_bytes : read_bytes) += bytes;
    busy += occupancy;
    waiting += wait;
  }
  /// `ahead`: of what is booked, what lies beyond `now`.
  void report(StatisticsSink& sink, Picoseconds now, Picoseconds ahead) const;
  /// The same of its being busy, under this label.
  void tell_busy(BusySink& sink, std::string_view label, Picoseconds now, Picoseconds ahead) const;
  /// Counts from `now` on, beginning with what lies ahead.
  void restart(Picoseconds now, Picoseconds ahead);
};

}  // namespace tlmssd
