// Why a command took as long as it did: a ledger that adds up to its latency exactly.
//
// A ledger has a mark, the instant up to which time has been charged; every wait charges from the
// mark to its own end to one cause. Work that forks carries a ledger per branch; at the join the
// parent adopts the branch that finished last (the critical path), so the causes still add up.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/types.h"

namespace tlmssd {

enum class Cause : std::uint8_t {
  submission,       ///< host queue: from submission until the controller fetches the entry
  log_structured,   ///< host software before the drive: its processor, earlier commands, a free segment
  network,          ///< a file of the network on its way, and its turn
  link,             ///< command fetch, payload, completion on the host link, interrupt
  firmware,         ///< controller core executing a stage for this command
  core_wait,        ///< waiting for a busy controller core
  map_fetch,        ///< mapping table access in DRAM or flash
  memory,           ///< DRAM or SCM access (with its bus) for data
  buffer_wait,      ///< waiting for room in the write buffer or cache
  space_wait,       ///< waiting for garbage collection to free blocks
  lba_hazard_wait,  ///< waiting for an earlier command on the same logical units
  bus_wait,         ///< flash channel occupied by other transfers
  die_read,         ///< die busy with another read of the host
  die_program,      ///< die busy with a program of host data
  die_erase,        ///< die busy with an erase outside garbage collection
  die_gc,           ///< die busy with garbage collection
  die_wear,         ///< die busy with wear levelling
  die_migration,    ///< die busy with migration
  die_refresh,      ///< die busy with refresh
  die_map,          ///< die busy with mapping-table traffic
  suspend,          ///< suspending a program or erase in favour of this command, or being suspended
  flash_command,    ///< command, address and status cycles on the channel
  sense,            ///< own array read
  transfer,         ///< own data on the channel
  program,          ///< own array program
  erase,            ///< own array erase
  decoder_wait,     ///< waiting for a busy decoder
  decode,           ///< error correction
  retry,            ///< reading again, by whatever means, after a decoding failure
  count
};
inline constexpr std::size_t k_causes = static_cast<std::size_t>(Cause::count);

/// Who kept a die busy, in more detail than the cause: the reads of each load, and what collection
/// does.
inline constexpr std::size_t k_owners = 8;  ///< loads that are told apart; the last stands for all others
inline constexpr std::size_t k_behind_gc_read = k_owners;
inline constexpr std::size_t k_behind_gc_program = k_owners + 1;
inline constexpr std::size_t k_behind_gc_erase = k_owners + 2;
inline constexpr std::size_t k_blockers = k_owners + 3;

/// Name of a cause as it appears in reports, e.g. "die busy: gc".
std::string_view name_of(Cause cause);

class Ledger {
 public:
  /// `owner`: number of the load whose command it is; `command`: the command's own.
  explicit Ledger(Picoseconds start = 0, std::size_t owner = 0, std::uint32_t command = 0)
      : mark_(start),
        owner_(static_cast<std::uint32_t>(owner < k_owners ? owner : k_owners - 1)),
        command_(command) {}
  /// Charges everything since the mark to `cause` and moves the mark to `until`. `until` must not
  /// lie before the mark.
  void charge(Cause cause, Picoseconds until) {
    spent_[static_cast<std::size_t>(cause)] += until - mark_;
    mark_ = until;
  }
  /// Of what has been charged to a busy die, `part` was spent behind this blocker.
  void stood_behind(std::size_t blocker, Picoseconds part) { behind_[blocker] += part; }
  /// Takes over a finished branch that was forked at this ledger's mark.
  void adopt(const Ledger& branch) {
    for (std::size_t i = 0; i < k_causes; ++i) spent_[i] += branch.spent_[i];
    for (std::size_t i = 0; i < k_blockers; ++i) behind_[i] += branch.behind_[i];
    mark_ = branch.mark_;
  }
  /// An empty ledger for a branch that starts at this one's mark.
  [[nodiscard]] Ledger fork() const { return Ledger(mark_, owner_, command_); }
  [[nodiscard]] Picoseconds mark() const { return mark_; }
  [[nodiscard]] Picoseconds spent(Cause cause) const { return spent_[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] Picoseconds behind(std::size_t blocker) const { return behind_[blocker]; }
  [[nodiscard]] std::size_t owner() const { return owner_; }
  /// Commands of the host are numbered from 1 on (modulo 2^32); 0: it is no command's.
  [[nodiscard]] std::uint32_t command() const { return command_; }
  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum = 0;
    for (const Picoseconds part : spent_) sum += part;
    return sum;
  }

 private:
  std::array<Picoseconds, k_causes> spent_{};
  std::array<Picoseconds, k_blockers> behind_{};
  Picoseconds mark_;
  std::uint32_t owner_;
  std::uint32_t command_;
};

/// Charges to `ledger` what a branch cost that may have begun before or after the ledger's mark.
/// Begun later: the time in between goes to `before`. Begun earlier: only what ended after the mark
/// is charged, the last steps of the branch first.
void charge_branch(Ledger& ledger, const Ledger& branch, Cause before);

}  // namespace tlmssd
