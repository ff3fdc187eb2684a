// Which parallel unit the next program of the write buffer goes to: they take turns in allocation
// order. One that has as many programs under way as it may have is passed over; so is one that
// features keep the program away from.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class PuTurns {
 public:
  explicit PuTurns(Core& core)
      : core_(core),
        sequence_(core.layout.sequence()),
        place_(sequence_.size()),
        under_way_(sequence_.size()),
        may_take_((sequence_.size() + 63) / 64, ~std::uint64_t{0}) {
    for (std::uint32_t i = 0; i < sequence_.size(); ++i) place_[sequence_[i]] = i;
  }

  static constexpr std::uint32_t k_none = 0xFFFFFFFFU;

  /// The next parallel unit in turn of which `fits(pu)` holds; k_none when there is none.
  template <class Fits>
  std::uint32_t next(Fits&& fits) {
    const auto count = static_cast<std::uint32_t>(sequence_.size());
    for (std::uint32_t tried = 0; tried < count;) {
      const std::uint64_t word = may_take_[position_ / 64] >> (position_ % 64);
      const std::uint32_t skip =
          word != 0 ? static_cast<std::uint32_t>(std::countr_zero(word)) : 64 - position_ % 64;
      if (skip > 0) {
        tried += skip;
        position_ += skip;
        if (position_ >= count) position_ = 0;
        continue;
      }
      const std::uint32_t pu = sequence_[position_];
      ++tried;
      if (++position_ == count) position_ = 0;
      if (!kept_away(pu) && fits(pu)) return pu;
    }
    passed_over_ = all_busy();
    return k_none;
  }
  /// All were busy when the next was last asked for, and are: there is none, nor would asking again
  /// change whose turn it is.
  [[nodiscard]] bool passed_over() const { return passed_over_; }
  /// The one in whose turn the `n`-th thing belongs.
  [[nodiscard]] std::uint32_t nth(std::uint32_t n) const { return sequence_[n % sequence_.size()]; }
  [[nodiscard]] std::uint32_t position() const { return position_; }
  void go_back(std::uint32_t position) { position_ = position; }

  // ---- programs under way
  /// A program goes there, and has a program unit promised.
  void occupy(std::uint32_t pu) {
    core_.pool.promise(pu);
    if (++under_way_[pu] != most()) return;
    if (++busy_ == sequence_.size()) full_since_ = core_.hw.event_queue.now();
    may_take_[place_[pu] / 64] &= ~(std::uint64_t{1} << (place_[pu] % 64));
  }
  void vacate(std::uint32_t pu) {
    core_.pool.unpromise(pu);
    if (under_way_[pu]-- != most()) return;
    if (busy_-- == sequence_.size()) full_ += core_.hw.event_queue.now() - full_since_;
    passed_over_ = false;
    may_take_[place_[pu] / 64] |= std::uint64_t{1} << (place_[pu] % 64);
  }
  /// The parallel unit has as many as it may have.
  [[nodiscard]] bool busy(std::uint32_t pu) const { return under_way_[pu] >= most(); }
  [[nodiscard]] bool all_busy() const { return busy_ == sequence_.size(); }
  /// Share of the time measured in which all were busy.
  [[nodiscard]] double share_all_busy() const {
    const Picoseconds now = core_.hw.event_queue.now();
    const Picoseconds full = full_ + (all_busy() ? now - full_since_ : 0);
    return ratio(static_cast<double>(full), static_cast<double>(now - measured_from_));
  }
  void reset_statistics() {
    full_ = 0;
    measured_from_ = full_since_ = core_.hw.event_queue.now();
  }
  /// Some parallel unit that has one would do, if it were not busy.
  template <class Fits>
  [[nodiscard]] bool any_under_way(Fits&& fits) const {
    return std::any_of(sequence_.begin(), sequence_.end(),
                       [&](std::uint32_t pu) { return under_way_[pu] > 0 && !kept_away(pu) && fits(pu); });
  }

  // ---- features
  /// Asks for the next program whether some parallel units are to be kept from it.
  void ask_placement() {
    restricted_ = false;
    for (Feature* const feature : core_.hooks.restricts_writes)
      restricted_ = feature->restricts_writes() || restricted_;
  }
  /// The program may go where it was kept from. False: it was not kept from anywhere.
  bool lift_placement() { return std::exchange(restricted_, false); }
  [[nodiscard]] bool restricted() const { return restricted_; }

  void archive(Archive& a) { a(position_); }

 private:
  [[nodiscard]] std::uint32_t most() const { return core_.config.allocation.programs_per_pu; }
  [[nodiscard]] bool kept_away(std::uint32_t pu) const {
    const Hooks::List& restricts_writes = core_.hooks.restricts_writes;
    return restricted_ && !std::all_of(restricts_writes.begin(), restricts_writes.end(),
                                       [pu](const Feature* feature) { return feature->allows_write(pu); });
  }

  Core& core_;
  std::vector<std::uint32_t> sequence_;  ///< parallel units in allocation order
  std::uint32_t position_ = 0;
  std::vector<std::uint32_t> place_;      ///< position of each parallel unit in sequence_
  std::vector<std::uint32_t> under_way_;  ///< programs of each parallel unit
  std::vector<std::uint64_t> may_take_;   ///< a bit per position: the parallel unit may take another program
  std::uint32_t busy_ = 0;                ///< parallel units that may not
  bool passed_over_ = false;              ///< see passed_over()
  Picoseconds full_since_ = 0;            ///< all are busy, if they are
  Picoseconds full_ = 0;                  ///< time in which they were, until then
  Picoseconds measured_from_ = 0;         ///< statistics
  bool restricted_ = false;               ///< features keep the present program from some parallel units
};

}  // namespace tlmssd::firmware
