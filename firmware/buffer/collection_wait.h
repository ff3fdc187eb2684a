// What of a wait for room in the write buffer was a wait for garbage collection.
#pragma once

#include <cstdint>

#include "models/base/ledger.h"

namespace tlmssd::firmware {

/// What the programs that have ended took, all of them together, and what of that they spent on
/// collection: waiting for a free block, or behind it on the die. Who waited for room waited for
/// collection in the proportion that these had meanwhile. Sums may wrap around; their differences
/// do not.
class CollectionWait {
 public:
  void add(const Ledger& program) {
    waited_ += static_cast<std::uint64_t>(program.spent(Cause::space_wait) + program.spent(Cause::die_gc));
    took_ += static_cast<std::uint64_t>(program.total());
  }
  /// Since the sums were `before`.
  [[nodiscard]] CollectionWait since(const CollectionWait& before) const {
    CollectionWait meanwhile;
    meanwhile.waited_ = waited_ - before.waited_;
    meanwhile.took_ = took_ - before.took_;
    return meanwhile;
  }
  [[nodiscard]] Picoseconds share_of(Picoseconds wait) const {
    return took_ == 0 ? 0 : static_cast<Picoseconds>(static_cast<unsigned __int128>(wait) * waited_ / took_);
  }

 private:
  std::uint64_t waited_ = 0;  ///< ps
  std::uint64_t took_ = 0;    ///< ps
};

/// Charges a wait for room that ends now: what the programs that have ended meanwhile spent on
/// collection counts as such.
inline void charge_full_wait(Ledger& ledger, const CollectionWait& meanwhile, Picoseconds now) {
  ledger.charge(Cause::space_wait, ledger.mark() + meanwhile.share_of(now - ledger.mark()));
  ledger.charge(Cause::buffer_wait, now);
}

}  // namespace tlmssd::firmware
