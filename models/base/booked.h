// Time for which a resource is booked ahead: what of it lies in the time that is measured.
//
// A booking counts as a whole when it is made, though it may lie ahead of that. Nothing is added to
// the making of bookings: what lies beyond an edge of the time measured is worked out at that edge,
// from when the resource will be free. A report leaves it out, and after a reset it is what has
// been booked so far.
#pragma once

#include <algorithm>
#include <limits>

#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd {

/// What lies beyond `now` of the bookings of a resource that is free from `free` on, in
/// picoseconds. Exact where every booking begins when it is made or when the one before it ends:
/// then there is no gap between now and `free`.
[[nodiscard]] constexpr Picoseconds booked_ahead(Picoseconds free, Picoseconds now) {
  return std::max<Picoseconds>(free - now, 0);
}

/// Of a feed that is never what is waited for.
inline constexpr BytesPerSecond k_no_limit = std::numeric_limits<BytesPerSecond>::max();

/// The same of a memory that is fed at `feed`: one that is faster than that rests between bookings
/// that wait for their data, and is busy for feed / rate of the time. An estimate then, by at most
/// the time of one access; and beyond it too high, where what feeds it serves others in between.
[[nodiscard]] inline Picoseconds booked_ahead(Picoseconds free, Picoseconds now, BytesPerSecond feed,
                                              BytesPerSecond rate) {
  const Picoseconds ahead = booked_ahead(free, now);
  if (feed >= rate) return ahead;
  return static_cast<Picoseconds>(static_cast<double>(ahead) *
                                  ratio(static_cast<double>(feed), static_cast<double>(rate)));
}

/// The part of `booked` that lies in a `span`, where `ahead` lies beyond it. Within 0 and the span
/// even where `ahead` is an estimate.
[[nodiscard]] constexpr Picoseconds busy_within(Picoseconds span, Picoseconds booked, Picoseconds ahead) {
  return std::clamp<Picoseconds>(booked - ahead, 0, std::max<Picoseconds>(span, 0));
}

/// The same as a share of the span, 0 to 1; 0 of an empty one.
[[nodiscard]] inline double share_within(Picoseconds span, Picoseconds booked, Picoseconds ahead) {
  return ratio(static_cast<double>(busy_within(span, booked, ahead)), static_cast<double>(span));
}

}  // namespace tlmssd
