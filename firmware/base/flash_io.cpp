#include "firmware/base/flash_io.h"

#include <array>

namespace tlmssd::firmware {

void charge_branch(Ledger& ledger, const Ledger& branch, Cause before) {
  if (branch.mark() <= ledger.mark()) return;
  const Picoseconds start = branch.mark() - branch.total();
  if (start >= ledger.mark()) {
    if (start > ledger.mark()) ledger.charge(before, start);
    ledger.adopt(branch);
    return;
  }
  // The branch was already under way: of its causes, those that come last in an operation fill the
  // time since the mark.
  static constexpr std::array k_backwards = {
      Cause::program,     Cause::erase,         Cause::retry,   Cause::decode,    Cause::decoder_wait,
      Cause::transfer,    Cause::flash_command, Cause::suspend, Cause::bus_wait,  Cause::die_read,
      Cause::die_program, Cause::die_erase,     Cause::die_gc,  Cause::die_wear,  Cause::die_migration,
      Cause::die_refresh, Cause::die_map,       Cause::sense,   Cause::space_wait};
  for (const Cause cause : k_backwards) {
    const Picoseconds part = std::min(branch.spent(cause), branch.mark() - ledger.mark());
    if (part > 0) ledger.charge(cause, ledger.mark() + part);
  }
  if (branch.mark() > ledger.mark()) ledger.charge(before, branch.mark());
}

}  // namespace tlmssd::firmware
