// What an operation that keeps a die busy means to others who wait for the die: a cause in their
// ledgers.
#pragma once

#include "models/base/flash_op.h"

namespace tlmssd {

/// die_read to die_map; a die that is being suspended is Cause::suspend. These nine follow one
/// another in Cause.
constexpr Cause busy_cause(const FlashOp& op) {
  switch (op.purpose) {
    case Purpose::gc:
      return Cause::die_gc;
    case Purpose::wear:
      return Cause::die_wear;
    case Purpose::refresh:
      return Cause::die_refresh;
    case Purpose::migration:
      return Cause::die_migration;
    case Purpose::map:
      return Cause::die_map;
    default:
      break;
  }
  if (op.command == FlashCommand::read) return Cause::die_read;
  return op.command == FlashCommand::erase ? Cause::die_erase : Cause::die_program;
}

/// The same in more detail; k_die_blockers: there is none.
constexpr std::size_t blocker_of(const FlashOp& op) {
  if (op.purpose == Purpose::gc) {
    if (op.command == FlashCommand::read) return k_behind_gc_read;
    return op.command == FlashCommand::erase ? k_behind_gc_erase : k_behind_gc_program;
  }
  const bool known = op.purpose == Purpose::host && op.command == FlashCommand::read && op.ledger != nullptr;
  return known ? op.ledger->owner() : k_die_blockers;
}

inline constexpr std::size_t k_first_busy = static_cast<std::size_t>(Cause::die_read);
inline constexpr std::size_t k_busy_causes = static_cast<std::size_t>(Cause::suspend) - k_first_busy + 1;
static_assert(k_busy_causes == 9);

}  // namespace tlmssd
