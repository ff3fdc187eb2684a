// Why a command took as long as it did: a ledger that adds up to its latency exactly.
//
// A ledger has a mark, the instant up to which time has been charged; every wait charges from the
// mark to its own end to one cause. Work that forks carries a ledger per branch; at the join the
// parent adopts the branch that finished last (the critical path), so the causes still add up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "models/base/types.h"

namespace tlmssd {

enum class Cause : std::uint8_t {
  load_limit,       ///< from when a request is due until its load lets it go: own queue depth, pauses
  submission,       ///< host queue: from then until the controller fetches the entry
  host_software,    ///< software before the drive: its processor, earlier commands, a free segment
  network,          ///< a file of the network on its way, and its turn
  link,             ///< command fetch, payload, completion on the host link, interrupt
  interrupt_wait,   ///< completion held back to share its interrupt with others (coalescing)
  firmware,         ///< controller core executing a stage for this command
  core_wait,        ///< waiting for a busy controller core
  map_fetch,        ///< mapping table access in DRAM, host memory or flash
  memory,           ///< DRAM or SCM access (with its bus) for data
  buffer_wait,      ///< waiting for room in the write buffer
  cache_wait,       ///< waiting for room in the cache in SCM or DRAM
  space_wait,       ///< waiting for garbage collection to free blocks
  lba_hazard_wait,  ///< waiting for an earlier command on the same logical units
  read_ahead,       ///< waiting for data that are being read ahead
  batch_wait,       ///< waiting for batches of reads that were issued before
  bus_wait,         ///< flash channel occupied by other transfers
  die_read,         ///< die busy with another read of the host
  die_program,      ///< die busy with a program of host data
  die_erase,        ///< die busy with an erase outside garbage collection
  die_gc,           ///< die busy with garbage collection
  die_wear,         ///< die busy with wear levelling
  die_migration,    ///< die busy with migration
  die_refresh,      ///< die busy with refresh
  die_map,          ///< die busy with mapping-table traffic
  suspend,          ///< a die that stops its program or erase for a read, and its going on with that
  flash_command,    ///< command, address and status cycles on the channel
  sense,            ///< own array read
  power_budget,     ///< what that takes longer as other dies have spent the power budget
  transfer,         ///< own data on the channel
  program,          ///< own array program
  erase,            ///< own array erase
  decoder_wait,     ///< waiting for a busy decoder
  decode,           ///< error correction
  retry,            ///< reading again, by whatever means, after a decoding failure
  count
};
inline constexpr std::size_t k_causes = static_cast<std::size_t>(Cause::count);

/// Whom a command stood behind, in more detail than the cause. Who kept a die busy: the reads of
/// each load, and what collection does. In the host's queue: the commands of each load that SATA
/// runs alone.
inline constexpr std::size_t k_owners = 8;  ///< loads that are told apart; the last stands for all others
inline constexpr std::size_t k_behind_gc_read = k_owners;
inline constexpr std::size_t k_behind_gc_program = k_owners + 1;
inline constexpr std::size_t k_behind_gc_erase = k_owners + 2;
inline constexpr std::size_t k_die_blockers = k_owners + 3;
inline constexpr std::size_t k_behind_alone = k_die_blockers;  ///< and owners behind it: runs alone
inline constexpr std::size_t k_blockers = k_behind_alone + k_owners;

/// Name of a cause as it appears in reports, e.g. "die busy: gc".
std::string_view name_of(Cause cause);

/// Few causes come together in one command, so their parts are kept as a short list; the list's
/// first entries and the mark share a cache line.
class Ledger {
 public:
  static constexpr std::size_t k_keys = k_causes + k_blockers;  ///< of parts: causes, then blockers
  using Parts = std::array<Picoseconds, k_keys>;

  /// `owner`: number of the load whose command it is; `command`: the command's own.
  explicit Ledger(Picoseconds start = 0, std::size_t owner = 0, std::uint32_t command = 0)
      : mark_(start),
        command_(command),
        owner_(static_cast<std::uint8_t>(owner < k_owners ? owner : k_owners - 1)) {}
  Ledger(const Ledger& other) { copy(other); }
  Ledger& operator=(const Ledger& other) {
    if (this != &other) copy(other);
    return *this;
  }
  ~Ledger() = default;
  /// As Ledger(start, owner, command), in place.
  void restart(Picoseconds start, std::size_t owner, std::uint32_t command) {
    known_ = 0;
    listed_ = 0;
    owner_ = static_cast<std::uint8_t>(owner < k_owners ? owner : k_owners - 1);
    command_ = command;
    mark_ = start;
  }

  /// Charges everything since the mark to `cause` and moves the mark to `until`. `until` must not
  /// lie before the mark. InputError when there is no such cause, as from a plug-in.
  void charge(Cause cause, Picoseconds until) {
    if (cause >= Cause::count) refuse(cause);
    add(static_cast<std::uint8_t>(cause), until - mark_);
    mark_ = until;
  }
  /// Of what is charged to a busy die or to submission, `part` was spent behind this blocker.
  void stood_behind(std::size_t blocker, Picoseconds part) {
    add(static_cast<std::uint8_t>(k_causes + blocker), part);
  }
  /// Takes over a finished branch that was forked at this ledger's mark.
  void adopt(const Ledger& branch) {
    branch.each([this](std::uint8_t key, Picoseconds part) { add(key, part); });
    mark_ = branch.mark_;
  }
  /// An empty ledger for a branch that starts at this one's mark.
  [[nodiscard]] Ledger fork() const { return Ledger(mark_, owner_, command_); }
  [[nodiscard]] Picoseconds mark() const { return mark_; }
  [[nodiscard]] Picoseconds spent(Cause cause) const { return part(static_cast<std::uint8_t>(cause)); }
  [[nodiscard]] Picoseconds behind(std::size_t blocker) const {
    return part(static_cast<std::uint8_t>(k_causes + blocker));
  }
  /// Adds all parts to `sums`. Returns what the causes add up to; -1 when some part is negative.
  Picoseconds add_to(Parts& sums) const {
    Picoseconds sum = 0;
    Picoseconds signs = 0;
    each([&](std::uint8_t key, Picoseconds part) {
      sums[key] += part;
      signs |= part;
      if (key < k_causes) sum += part;
    });
    return signs < 0 ? -1 : sum;
  }
  [[nodiscard]] Parts parts() const {
    Parts all{};
    add_to(all);
    return all;
  }
  /// Whether some part is negative: `until` lay before a mark.
  [[nodiscard]] bool owes() const {
    Picoseconds signs = 0;
    each([&signs](std::uint8_t /*key*/, Picoseconds part) { signs |= part; });
    return signs < 0;
  }
  [[nodiscard]] std::size_t owner() const { return owner_; }
  /// Commands of the host are numbered from 1 on (modulo 2^32); 0: it is no command's.
  [[nodiscard]] std::uint32_t command() const { return command_; }
  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum = 0;
    each([&sum](std::uint8_t key, Picoseconds part) {
      if (key < k_causes) sum += part;
    });
    return sum;
  }

 private:
  static constexpr std::size_t k_listed = 13;

  static constexpr std::uint64_t k_rest = std::uint64_t{1} << 63;  ///< in known_: rest_ holds some of them
  static_assert(k_keys < 63);

  [[nodiscard]] bool knows(std::uint8_t key) const { return (known_ >> key & 1U) != 0; }
  /// Where a key is in the list that is known to be there.
  [[nodiscard]] std::size_t place_of(std::uint8_t key) const {
    std::size_t at = 0;
    while (keys_[at] != key) ++at;
    return at;
  }
  void add(std::uint8_t key, Picoseconds part) {
    if (part == 0) return;
    if (knows(key)) {
      parts_[place_of(key)] += part;
    } else if (listed_ < k_listed) {
      known_ |= std::uint64_t{1} << key;
      keys_[listed_] = key;
      parts_[listed_++] = part;
    } else {
      add_to_rest(key, part);
    }
  }
  [[nodiscard]] Picoseconds part(std::uint8_t key) const {
    if (knows(key)) return parts_[place_of(key)];
    return (known_ & k_rest) != 0 ? (*rest_)[key] : 0;
  }
  /// Calls use(key, part) for every part.
  template <class Use>
  void each(Use use) const {
    for (std::size_t at = 0; at < listed_; ++at) use(keys_[at], parts_[at]);
    if ((known_ & k_rest) == 0) return;
    for (std::size_t key = 0; key < k_keys; ++key) use(static_cast<std::uint8_t>(key), (*rest_)[key]);
  }
  void copy(const Ledger& other) {
    std::copy_n(other.keys_.begin(), other.listed_, keys_.begin());
    std::copy_n(other.parts_.begin(), other.listed_, parts_.begin());
    known_ = other.known_;
    listed_ = other.listed_;
    owner_ = other.owner_;
    command_ = other.command_;
    mark_ = other.mark_;
    if ((known_ & k_rest) != 0) take_rest(*other.rest_);
  }
  [[noreturn, gnu::cold]] static void refuse(Cause cause);
  void add_to_rest(std::uint8_t key, Picoseconds part);
  void take_rest(const Parts& rest);

  std::uint64_t known_ = 0;  ///< keys in the list, a bit each, and k_rest
  Picoseconds mark_ = 0;
  std::uint32_t command_ = 0;
  std::uint8_t owner_ = 0;
  std::uint8_t listed_ = 0;
  std::array<std::uint8_t, k_listed> keys_;  ///< the first `listed_`
  std::unique_ptr<Parts> rest_{};            ///< for what the list has no room for; kept for the next time
  std::array<Picoseconds, k_listed> parts_;
};
static_assert(sizeof(Ledger) <= 152);

/// Charges to `ledger` what a branch cost that may have begun before or after the ledger's mark.
/// Begun later: the time in between goes to `before`. Begun earlier: only what ended after the mark
/// is charged, the last steps of the branch first.
void charge_branch(Ledger& ledger, const Ledger& branch, Cause before);

}  // namespace tlmssd
