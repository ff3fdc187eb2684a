#include "firmware/gc/space_lines.h"

#include <algorithm>

namespace tlmssd::firmware {

void charge_collection(Ledger& waiting, const Ledger& operation) {
  if (operation.mark() <= waiting.mark()) return;
  const Picoseconds total = operation.total();
  const Picoseconds start = operation.mark() - total;
  if (start > waiting.mark()) waiting.charge(Cause::space_wait, start);
  // It stood behind others before it did anything itself, and may have begun before the wait.
  const Picoseconds programs = operation.spent(Cause::die_program);
  const Picoseconds reads = operation.spent(Cause::die_read);
  const Picoseconds own = total - programs - reads;
  const Picoseconds left = operation.mark() - waiting.mark() - own;
  const Picoseconds behind_reads = std::clamp<Picoseconds>(left, 0, reads);
  const Picoseconds behind_programs = std::clamp<Picoseconds>(left - behind_reads, 0, programs);
  waiting.charge(Cause::die_program, waiting.mark() + behind_programs);
  waiting.charge(Cause::die_read, waiting.mark() + behind_reads);
  for (std::size_t owner = 0; behind_reads > 0 && owner < k_owners; ++owner) {
    const auto part = static_cast<__int128>(operation.behind(owner)) * behind_reads / reads;
    waiting.stood_behind(owner, static_cast<Picoseconds>(part));
  }
  waiting.charge(Cause::space_wait, operation.mark());
}

}  // namespace tlmssd::firmware
