#include "firmware/gc/space_lines.h"

#include <algorithm>

namespace tlmssd::firmware {

DoneByCollection::DoneByCollection(const Ledger& ledger, Picoseconds start)
    : ledger_(ledger),
      start_(start),
      reads_(ledger.spent(Cause::die_read)),
      programs_(ledger.spent(Cause::die_program)) {}

void DoneByCollection::charge(Ledger& waiting) const {
  const Picoseconds end = ledger_.mark();
  if (end <= waiting.mark()) return;
  if (start_ > waiting.mark()) waiting.charge(Cause::space_wait, start_);
  if (reads_ + programs_ > 0) charge_behind(waiting);
  waiting.charge(Cause::space_wait, end);
}

// It stood behind others before it did anything itself, and may have begun before the wait.
void DoneByCollection::charge_behind(Ledger& waiting) const {
  const Picoseconds own = ledger_.mark() - start_ - programs_ - reads_;
  const Picoseconds left = ledger_.mark() - waiting.mark() - own;
  const Picoseconds behind_reads = std::clamp<Picoseconds>(left, 0, reads_);
  const Picoseconds behind_programs = std::clamp<Picoseconds>(left - behind_reads, 0, programs_);
  waiting.charge(Cause::die_program, waiting.mark() + behind_programs);
  waiting.charge(Cause::die_read, waiting.mark() + behind_reads);
  for (std::size_t owner = 0; behind_reads > 0 && owner < k_owners; ++owner) {
    const auto part = static_cast<__int128>(ledger_.behind(owner)) * behind_reads / reads_;
    waiting.stood_behind(owner, static_cast<Picoseconds>(part));
  }
}

}  // namespace tlmssd::firmware
