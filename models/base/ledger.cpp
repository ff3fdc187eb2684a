#include "models/base/ledger.h"

#include <algorithm>
#include <string>

#include "models/base/input_error.h"

namespace tlmssd {

std::string_view name_of(Cause cause) {
  static constexpr std::array<std::string_view, k_causes> k_names = {"load limit",
                                                                     "submission",
                                                                     "host software",
                                                                     "network",
                                                                     "link",
                                                                     "interrupt wait",
                                                                     "firmware",
                                                                     "core wait",
                                                                     "map fetch",
                                                                     "memory",
                                                                     "buffer wait",
                                                                     "cache wait",
                                                                     "space wait",
                                                                     "LBA hazard wait",
                                                                     "read ahead",
                                                                     "batch wait",
                                                                     "bus wait",
                                                                     "die busy: read",
                                                                     "die busy: program",
                                                                     "die busy: erase",
                                                                     "die busy: gc",
                                                                     "die busy: wear",
                                                                     "die busy: migration",
                                                                     "die busy: refresh",
                                                                     "die busy: map",
                                                                     "suspend",
                                                                     "flash command",
                                                                     "sense",
                                                                     "power budget",
                                                                     "transfer",
                                                                     "program",
                                                                     "erase",
                                                                     "decoder wait",
                                                                     "decode",
                                                                     "retry"};
  return k_names[static_cast<std::size_t>(cause)];
}

void Ledger::refuse(Cause cause) {
  throw InputError("charges the time of a command to cause " + std::to_string(static_cast<unsigned>(cause)) +
                   ", which there is not; valid: 0 to " + std::to_string(k_causes - 1));
}

void Ledger::add_to_rest(std::uint8_t key, Picoseconds part) {
  if ((known_ & k_rest) == 0) take_rest({});
  (*rest_)[key] += part;
}

void Ledger::take_rest(const Parts& rest) {
  if (rest_ == nullptr) rest_ = std::make_unique<Parts>();
  *rest_ = rest;
  known_ |= k_rest;
}

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
      Cause::program,     Cause::erase,         Cause::retry,        Cause::decode,   Cause::decoder_wait,
      Cause::transfer,    Cause::flash_command, Cause::suspend,      Cause::bus_wait, Cause::die_read,
      Cause::die_program, Cause::die_erase,     Cause::die_gc,       Cause::die_wear, Cause::die_migration,
      Cause::die_refresh, Cause::die_map,       Cause::power_budget, Cause::sense,    Cause::space_wait};
  for (const Cause cause : k_backwards) {
    const Picoseconds part = std::min(branch.spent(cause), branch.mark() - ledger.mark());
    if (part > 0) ledger.charge(cause, ledger.mark() + part);
  }
  if (branch.mark() > ledger.mark()) ledger.charge(before, branch.mark());
}

}  // namespace tlmssd
