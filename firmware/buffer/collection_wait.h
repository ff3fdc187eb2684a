// What of a wait for room in the write buffer was a wait for garbage collection.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/ledger.h"

namespace tlmssd::firmware {

/// Of the programs that have ended, how many there are and the sum of the shares of their time that
/// they spent on collection: waiting for a free block, or behind it on the die. Who waited for room
/// waited for collection by the mean share of those that ended meanwhile, each of which made as
/// much room. By their times instead, the few that wait longest would speak for all. Whole numbers,
/// so that what is told of a wait does not depend on what was before it.
class CollectionWait {
 public:
  void add(const Ledger& program) {
    const Picoseconds waited = program.spent(Cause::space_wait) + program.spent(Cause::die_gc);
    if (waited > 0)
      shares_ += static_cast<std::uint64_t>(k_one * static_cast<double>(waited) /
                                            static_cast<double>(program.total()));
    ++programs_;
  }
  /// Since the sums were `before`.
  [[nodiscard]] CollectionWait since(const CollectionWait& before) const {
    CollectionWait meanwhile;
    meanwhile.shares_ = shares_ - before.shares_;
    meanwhile.programs_ = programs_ - before.programs_;
    return meanwhile;
  }
  [[nodiscard]] Picoseconds share_of(Picoseconds wait) const {
    if (programs_ == 0) return 0;
    const double share = static_cast<double>(shares_) / k_one / static_cast<double>(programs_);
    return static_cast<Picoseconds>(static_cast<double>(wait) * std::min(share, 1.0));
  }

 private:
  static constexpr double k_one = 1U << 31U;
  std::uint64_t shares_ = 0;  ///< sum, in parts of k_one
  std::uint64_t programs_ = 0;
};

/// Charges a wait for room, of which `cause` says where, that ends now: what the programs that have
/// ended meanwhile spent on collection counts as such.
inline void charge_full_wait(Ledger& ledger, Cause cause, const CollectionWait& meanwhile, Picoseconds now) {
  ledger.charge(Cause::space_wait, ledger.mark() + meanwhile.share_of(now - ledger.mark()));
  ledger.charge(cause, now);
}

}  // namespace tlmssd::firmware
