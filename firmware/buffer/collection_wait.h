// What of a wait for room in the write buffer was a wait for garbage collection.
#pragma once

#include "models/base/ledger.h"

namespace tlmssd::firmware {

/// What a program spent on collection, waiting for a free block or behind it on the die, of all
/// that it took. Who waited for the room that it made waited for that in proportion.
struct CollectionWait {
  CollectionWait() = default;
  explicit CollectionWait(const Ledger& program)
      : waited(program.spent(Cause::space_wait) + program.spent(Cause::die_gc)), took(program.total()) {}
  [[nodiscard]] Picoseconds share_of(Picoseconds wait) const {
    return took == 0 ? 0 : static_cast<Picoseconds>(static_cast<__int128>(wait) * waited / took);
  }
  Picoseconds waited = 0;
  Picoseconds took = 0;
};

/// Charges a wait for room that ends now: what the program that made the room had spent on
/// collection counts as such.
inline void charge_full_wait(Ledger& ledger, const CollectionWait& of_program, Picoseconds now) {
  ledger.charge(Cause::space_wait, ledger.mark() + of_program.share_of(now - ledger.mark()));
  ledger.charge(Cause::buffer_wait, now);
}

}  // namespace tlmssd::firmware
