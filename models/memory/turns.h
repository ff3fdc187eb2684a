// When a resource that moves one access at a time has moved an access.
//
// in-order: start = max(free, arrival), end = start + time.
//
// round-robin: accesses take turns, burst by burst, so that a short one does not wait for the whole of a
// long one. In the time that it takes to serve one of length s among others, each of these gets as much
// as is left of it, at most s:
//     end = arrival + s + sum of min(left_i, s),
// which is processor sharing among the accesses that are there when it comes (Kleinrock 1967: time slices
// that go to zero). All that has been booked is served before anything that comes when it is done, so the
// rate in saturation is that of in-order. Left out: what comes later does not change an end that has been
// told; it delays those that come after it instead. What is left of each is taken from the order of
// arrival, and of accesses of one octave of lengths as min(sum, number x s).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <string>

#include "models/base/archive.h"
#include "models/base/types.h"

namespace tlmssd {

/// What the key `arbitration` of the bus and of the DRAM may be.
inline constexpr const char* k_in_order = "in-order";
inline constexpr const char* k_round_robin = "round-robin";

class Turns {
 public:
  /// What they mean, for the parameter's sentence, where each `one` ("access") is served.
  static std::string meaning(const std::string& one);
  explicit Turns(const std::string& arbitration) : shared_(arbitration == k_round_robin) {}
  struct Span {
    Picoseconds start;  ///< its own time begins, if it were served in one piece at the end of its wait
    Picoseconds end;
    Picoseconds booked;  ///< end of the work booked, this included; it fills the time before that
  };
  /// `time`: that it takes alone.
  Span take(Picoseconds arrival, Picoseconds time) {
    if (shared_) [[unlikely]]
      return take_turns(arrival, time);
    const Picoseconds start = std::max(free_, arrival);
    free_ = start + time;
    return {start, free_, free_};
  }
  /// All that is booked is done.
  [[nodiscard]] Picoseconds free() const { return free_; }
  void archive(Archive& a) {
    a(free_);
    a(booked_);
    a(left_);
    a(number_);
    a(known_);
  }

 private:
  struct Booked {
    Picoseconds end = 0;  ///< in the order of arrival
    Picoseconds time = 0;
  };
  static constexpr std::size_t k_octaves = 64;
  static std::size_t octave_of(Picoseconds time) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(time)));
  }
  Span take_turns(Picoseconds arrival, Picoseconds time);
  Picoseconds wait(Picoseconds arrival, Picoseconds time);
  void enter(Picoseconds time);
  void leave(const Booked& booked);

  bool shared_;
  Picoseconds free_ = 0;
  // Round-robin only: what is booked, and the same by octaves of its length.
  std::deque<Booked> booked_;
  std::array<Picoseconds, k_octaves> left_{};
  std::array<std::uint32_t, k_octaves> number_{};
  std::uint64_t known_ = 0;  ///< a bit for each octave of which there are some
};

}  // namespace tlmssd
