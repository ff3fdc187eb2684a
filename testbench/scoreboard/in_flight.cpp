#include "testbench/scoreboard/in_flight.h"

#include <stdexcept>
#include <utility>

#include "models/base/slab.h"

namespace tlmssd {

void InFlight::start(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks,
                     std::uint64_t begin) {
  if (ticket.active()) throw std::logic_error("scoreboard: the ticket is in use");
  if (blocks > units_.blocks() || lba > units_.blocks() - blocks)
    throw std::out_of_range("scoreboard: blocks beyond the drive");
  ticket.lba_ = lba;
  ticket.blocks_ = blocks;
  ticket.begin_ = begin;
  ticket.claim_.kind = kind;
  ++commands_;
}

void InFlight::leave(Ticket& ticket, Kind kind) {
  if (ticket.claim_.kind != kind) throw std::logic_error("scoreboard: a command ends that has not begun");
  --commands_;
  ticket.claim_.kind = Kind::idle;
  if (ticket.blocks_ == 0) return;
  if (ticket.claim_.region == nullptr) {
    wide_.back()->claim_.place = ticket.claim_.place;
    wide_[ticket.claim_.place] = wide_.back();
    wide_.pop_back();
    return;
  }
  for (Claim* claim = &ticket.claim_; claim != nullptr;) {
    Region& region = *claim->region;
    (claim->older == nullptr ? region.oldest : claim->older->newer) = claim->newer;
    (claim->newer == nullptr ? region.newest : claim->newer->older) = claim->older;
    auto& counts = kind == Kind::read ? region.reads : region.changes;
    for_each_unit(claim->units, [&](unsigned n) { --counts[n]; });
    if (region.oldest == nullptr) drop_region(region);
    Claim* following = claim->of_ticket;
    if (claim != &ticket.claim_) claim->of_ticket = std::exchange(free_claims_, claim);
    claim = following;
  }
}

/// The units of a region that a command touches, a bit each.
std::uint8_t InFlight::units_in(const Ticket& ticket, std::uint64_t region) const {
  const std::uint64_t start = region * k_region_units;
  const std::uint64_t first = std::max(first_unit(ticket), start) - start;
  const std::uint64_t last = std::min(last_unit(ticket) - start, k_region_units - 1);
  return static_cast<std::uint8_t>((2U << last) - (1U << first));
}

void InFlight::claim(Ticket& ticket) {
  const std::uint64_t first = first_unit(ticket) / k_region_units;
  const std::uint64_t last = last_unit(ticket) / k_region_units;
  if (last - first >= k_wide_regions) {
    ticket.claim_.region = nullptr;
    ticket.claim_.place = static_cast<std::uint32_t>(wide_.size());
    wide_.push_back(&ticket);
    return;
  }
  Claim* claim = &ticket.claim_;
  const Kind kind = claim->kind;
  for (std::uint64_t number = first;; ++number) {
    Region* const known = find_region(number);
    Region& region = known != nullptr ? *known : make_region(number);
    claim->ticket = &ticket;
    claim->region = &region;
    claim->units = units_in(ticket, number);
    claim->kind = kind;
    claim->older = std::exchange(region.newest, claim);
    claim->newer = nullptr;
    (claim->older == nullptr ? region.oldest : claim->older->newer) = claim;
    auto& counts = kind == Kind::read ? region.reads : region.changes;
    for_each_unit(claim->units, [&](unsigned n) { ++counts[n]; });
    claim->of_ticket =
        number == last ? nullptr : &take_from_slabs<k_slab>(free_claims_, claim_slabs_, &Claim::of_ticket);
    if (number == last) return;
    claim = claim->of_ticket;
  }
}

InFlight::Region* InFlight::find_region(std::uint64_t number) const {
  Region* region = buckets_[bucket_of(number)];
  while (region != nullptr && region->number != number) region = region->next;
  return region;
}

InFlight::Region& InFlight::make_region(std::uint64_t number) {
  if (++regions_ * 4 > buckets_.size()) grow_buckets();
  Region& region = take_from_slabs<k_slab>(free_regions_, region_slabs_, &Region::next);
  Region*& bucket = buckets_[bucket_of(number)];
  region.number = number;
  region.next = std::exchange(bucket, &region);
  return region;
}

void InFlight::drop_region(Region& region) {
  Region** link = &buckets_[bucket_of(region.number)];
  while (*link != &region) link = &(*link)->next;
  *link = region.next;
  region.next = std::exchange(free_regions_, &region);
  --regions_;
}

void InFlight::grow_buckets() {
  const std::vector<Region*> old = std::exchange(buckets_, std::vector<Region*>(buckets_.size() * 4));
  bucket_shift_ -= 2;
  for (Region* region : old) {
    while (region != nullptr) {
      Region* const next = region->next;
      region->next = std::exchange(buckets_[bucket_of(region->number)], region);
      region = next;
    }
  }
}

bool InFlight::is_changing(std::uint64_t unit) const {
  const auto here = [&](const Ticket* ticket) {
    return ticket->kind() != Kind::read && touches(*ticket, unit);
  };
  if (std::any_of(wide_.begin(), wide_.end(), here)) return true;
  const Region* const region = find_region(unit / k_region_units);
  return region != nullptr && region->changes[unit % k_region_units] > 0;
}

const InFlight::Ticket* InFlight::change_of(std::uint64_t unit) const {
  for (const Ticket* ticket : wide_) {
    if (ticket->kind() != Kind::read && touches(*ticket, unit)) return ticket;
  }
  const Region* const region = find_region(unit / k_region_units);
  const std::uint64_t n = unit % k_region_units;
  if (region == nullptr || region->changes[n] == 0) return nullptr;
  const Claim* claim = region->oldest;
  while (claim->kind == Kind::read || (claim->units >> n & 1U) == 0) claim = claim->newer;
  return claim->ticket;
}

std::uint64_t InFlight::oldest_read(std::uint64_t unit) const {
  std::uint64_t begin = k_no_read;
  for (const Ticket* ticket : wide_) {
    if (ticket->kind() == Kind::read && touches(*ticket, unit)) begin = std::min(begin, ticket->begin());
  }
  const Region* const region = find_region(unit / k_region_units);
  const std::uint64_t n = unit % k_region_units;
  if (region == nullptr || region->reads[n] == 0) return begin;
  const Claim* claim = region->oldest;
  while (claim->kind != Kind::read || (claim->units >> n & 1U) == 0) claim = claim->newer;
  return std::min(begin, claim->ticket->begin());
}

}  // namespace tlmssd
