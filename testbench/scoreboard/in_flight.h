// Which commands are in flight, and on which tracking units.
//
// The units lie in regions of a few. A command has a claim in each region that it touches; the
// claims of a region hang together in the order in which the commands began. A command over very
// many regions has none: it stands in a list of wide ones, which are compared one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/mixing.h"
#include "models/base/prefetch.h"
#include "testbench/scoreboard/tracking_units.h"

namespace tlmssd {

class InFlight;

/// One command, or one range of a trim, from its begin to its end. Lives with its command; must not
/// move in between.
class ScoreTicket {
 public:
  enum class Kind : std::uint8_t { idle, read, write, zeroes };
  ScoreTicket() = default;
  ScoreTicket(const ScoreTicket&) = delete;
  ScoreTicket& operator=(const ScoreTicket&) = delete;
  [[nodiscard]] bool active() const { return claim_.kind != Kind::idle; }
  [[nodiscard]] Kind kind() const { return claim_.kind; }
  [[nodiscard]] std::uint64_t lba() const { return lba_; }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t end() const { return lba_ + blocks_; }
  /// The tick at which it began.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }

 private:
  friend class InFlight;
  struct Region;
  /// Presence of a command in one region of the address space, or among the wide ones.
  struct Claim {
    ScoreTicket* ticket = nullptr;
    Region* region = nullptr;  ///< null: among the wide ones
    Claim* older = nullptr;    ///< neighbours in the region
    Claim* newer = nullptr;
    Claim* of_ticket = nullptr;  ///< the ticket's next claim
    std::uint32_t place = 0;     ///< of a wide one, among those
    std::uint8_t units = 0;      ///< of the region, a bit each
    Kind kind = Kind::idle;      ///< of the command
  };
  static constexpr std::uint64_t k_region_units = 8;  ///< at most as many as Claim::units has bits
  /// A region with commands in flight, in the chain of its bucket.
  struct Region {
    std::uint64_t number = 0;
    Region* next = nullptr;  ///< in the bucket, or free
    Claim* oldest = nullptr;
    Claim* newest = nullptr;
    std::uint32_t reads[k_region_units] = {};    ///< in flight on each unit
    std::uint32_t changes[k_region_units] = {};  ///< writes, trims and write zeroes
  };
  std::uint64_t lba_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t begin_ = 0;
  Claim claim_;  ///< the first, or only one
};

class InFlight {
 public:
  using Ticket = ScoreTicket;
  using Kind = ScoreTicket::Kind;
  static constexpr std::uint64_t k_no_read = ~std::uint64_t{0};

  explicit InFlight(const TrackingUnits& units) : units_(units), buckets_(1024, nullptr) {}
  InFlight(const InFlight&) = delete;

  /// A command begins at tick `begin`. Calls `shared(unit)` for the units that it shares with
  /// commands in flight, unless both only read; it is not in flight itself until that is done.
  template <class Shared>
  void enter(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks, std::uint64_t begin,
             Shared&& shared) {
    start(ticket, kind, lba, blocks, begin);
    if (blocks == 0) return;
    for_each_shared(ticket, shared);
    claim(ticket);
  }
  /// A command that begins on this unit will enter soon.
  void prefetch(std::uint64_t unit) const { prefetch_line(&buckets_[bucket_of(unit / k_region_units)]); }
  /// The command will leave soon.
  void prefetch(const Ticket& ticket) const {
    prefetch_lines<sizeof(Region)>(ticket.claim_.region);
    prefetch(first_unit(ticket));
  }
  /// The command, which is of this kind, has ended.
  void leave(Ticket& ticket, Kind kind);

  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  /// Units that a command of one block or more begins and ends in.
  [[nodiscard]] std::uint64_t first_unit(const Ticket& ticket) const { return units_.unit_of(ticket.lba_); }
  [[nodiscard]] std::uint64_t last_unit(const Ticket& ticket) const {
    return units_.unit_of(ticket.end() - 1);
  }
  /// A write, trim or write zeroes is in flight on the unit.
  [[nodiscard]] bool is_changing(std::uint64_t unit) const;
  /// Some change in flight on the unit; null: there is none.
  [[nodiscard]] const Ticket* change_of(std::uint64_t unit) const;
  /// Begin of the oldest read in flight on the unit; k_no_read: there is none.
  [[nodiscard]] std::uint64_t oldest_read(std::uint64_t unit) const;

 private:
  using Claim = ScoreTicket::Claim;
  using Region = ScoreTicket::Region;
  static constexpr std::uint64_t k_region_units = ScoreTicket::k_region_units;
  static constexpr std::uint64_t k_wide_regions = 2048;
  static constexpr std::size_t k_slab = 256;

  void start(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks, std::uint64_t begin);
  void claim(Ticket& ticket);
  template <class Shared>
  void for_each_shared(const Ticket& ticket, Shared& shared) const;
  template <class Shared>
  void for_each_shared(const Ticket& ticket, const Ticket& other, std::uint64_t first_unit,
                       std::uint64_t last_unit, Shared& shared) const;
  [[nodiscard]] bool touches(const Ticket& ticket, std::uint64_t unit) const {
    return ticket.blocks_ != 0 && unit >= first_unit(ticket) && unit <= last_unit(ticket);
  }
  [[nodiscard]] std::uint8_t units_in(const Ticket& ticket, std::uint64_t region) const;
  /// `f(n)` for each bit of them.
  template <class F>
  static void for_each_unit(std::uint8_t units, F&& f) {
    for (unsigned left = units; left != 0; left &= left - 1) f(static_cast<unsigned>(std::countr_zero(left)));
  }
  [[nodiscard]] Region* find_region(std::uint64_t number) const;
  Region& make_region(std::uint64_t number);
  void drop_region(Region& region);
  void grow_buckets();
  [[nodiscard]] std::size_t bucket_of(std::uint64_t region) const {
    return static_cast<std::size_t>((region * k_golden) >> bucket_shift_);
  }

  TrackingUnits units_;
  std::vector<Region*> buckets_;  // four for each region, so that they are mostly empty, or its own
  unsigned bucket_shift_ = 54;
  std::size_t regions_ = 0;
  std::vector<std::unique_ptr<Region[]>> region_slabs_;
  Region* free_regions_ = nullptr;
  std::vector<std::unique_ptr<Claim[]>> claim_slabs_;
  Claim* free_claims_ = nullptr;
  std::vector<Ticket*> wide_;
  std::uint64_t commands_ = 0;
};

template <class Shared>
void InFlight::for_each_shared(const Ticket& ticket, Shared& shared) const {
  const std::uint64_t first = first_unit(ticket);
  const std::uint64_t last = last_unit(ticket);
  for (const Ticket* other : wide_) for_each_shared(ticket, *other, first, last, shared);
  const std::uint64_t first_region = first / k_region_units;
  const std::uint64_t last_region = last / k_region_units;
  if (last_region - first_region >= k_wide_regions) {
    for (const Region* region : buckets_) {
      for (; region != nullptr; region = region->next) {
        const std::uint64_t start = region->number * k_region_units;
        for (const Claim* claim = region->oldest; claim != nullptr; claim = claim->newer) {
          for_each_shared(ticket, *claim->ticket, std::max(first, start),
                          std::min(last, start + k_region_units - 1), shared);
        }
      }
    }
    return;
  }
  const bool reads = ticket.kind() == Kind::read;
  for (std::uint64_t number = first_region; number <= last_region; ++number) {
    const Region* const region = find_region(number);
    if (region == nullptr) continue;
    for_each_unit(units_in(ticket, number), [&](unsigned n) {
      if (region->changes[n] > 0 || (!reads && region->reads[n] > 0)) shared(number * k_region_units + n);
    });
  }
}

template <class Shared>
void InFlight::for_each_shared(const Ticket& ticket, const Ticket& other, std::uint64_t first,
                               std::uint64_t last, Shared& shared) const {
  if (ticket.kind() == Kind::read && other.kind() == Kind::read) return;
  const std::uint64_t from = std::max(first, first_unit(other));
  const std::uint64_t until = std::min(last, last_unit(other));
  for (std::uint64_t unit = from; unit <= until && from <= until; ++unit) shared(unit);
}

}  // namespace tlmssd
