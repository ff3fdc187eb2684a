#include "firmware/base/layout.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "firmware/base/allocation_order.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr std::uint32_t k_most_sectors = 64;  // a unit's sectors are a 64-bit mask

/// The divisor of `whole` that is closest to `wanted`.
std::uint64_t nearest_divisor(std::uint64_t whole, std::uint64_t wanted) {
  std::uint64_t best = 1;
  const auto distance = [wanted](std::uint64_t x) { return x > wanted ? x - wanted : wanted - x; };
  for (std::uint64_t d = 1; d <= whole; ++d) {
    if (whole % d == 0 && distance(d) < distance(best)) best = d;
  }
  return best;
}

void check(const DriveShape& shape) {
  const Geometry& g = shape.geometry;
  if (g.channels == 0 || g.ways == 0 || g.dies_per_way == 0 || g.planes == 0 || g.blocks == 0 ||
      g.pages == 0 || g.page_bytes == 0) {
    throw InputError("ssd.flash: every count of the geometry must be at least 1");
  }
  if (shape.lba_bytes != 512 && shape.lba_bytes != 4096) {
    throw refusal("ssd.host.lba_size", fmt::format("{} B is not a logical block size", shape.lba_bytes),
                  fmt::format("{} B", shape.lba_bytes < 2304 ? 512 : 4096));
  }
  const Bytes unit = shape.mapping_page_bytes;
  if (unit == 0 || unit % shape.lba_bytes != 0 || g.page_bytes % unit != 0 ||
      unit / shape.lba_bytes > k_most_sectors) {
    if (g.page_bytes % shape.lba_bytes != 0) {
      const Bytes whole = std::max<Bytes>((g.page_bytes + shape.lba_bytes / 2) / shape.lba_bytes, 1);
      throw refusal("ssd.flash.part.page_size",
                    fmt::format("a page of {} B is not a multiple of the logical block of {} B", g.page_bytes,
                                shape.lba_bytes),
                    fmt::format("{} B", whole * shape.lba_bytes));
    }
    std::uint64_t nearest = nearest_divisor(g.page_bytes / shape.lba_bytes, unit / shape.lba_bytes);
    while (nearest > k_most_sectors) nearest = nearest_divisor(nearest, nearest / 2);
    throw refusal("firmware.mapping.unit",
                  fmt::format("{} B does not divide the page of {} B into whole logical blocks of {} B", unit,
                              g.page_bytes, shape.lba_bytes),
                  fmt::format("{} B", nearest * shape.lba_bytes));
  }
  if (shape.program_unit == 0 || g.pages % shape.program_unit != 0) {
    throw refusal(
        "ssd.flash.part.pages_per_block",
        fmt::format("a block of {} pages is not made of whole program units of {} pages", g.pages,
                    shape.program_unit),
        std::to_string(std::max((g.pages + shape.program_unit / 2) / std::max(shape.program_unit, 1U), 1U) *
                       shape.program_unit));
  }
}

}  // namespace

const std::vector<std::string>& stripes() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{"none"};
    for (const std::string letters : {"C", "D", "W", "CD", "CW", "DW", "CDW"}) {
      std::string order = letters;
      do found.push_back(order);
      while (std::next_permutation(order.begin(), order.end()));
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  return all;
}

Layout::Layout(const DriveShape& shape, const AllocationConfig& allocation) {
  check(shape);
  const Geometry& g = shape.geometry;
  const bool multi_plane = allocation.multi_plane;
  if (multi_plane && !shape.multi_plane_allowed && g.planes > 1) {
    throw refusal("firmware.allocation.multi_plane", "the flash part has no multi-plane operations", "false");
  }
  planes = multi_plane ? g.planes : 1;
  pus_per_die = multi_plane ? 1 : g.planes;
  const std::uint64_t all_blocks = std::uint64_t{g.channels} * g.ways * g.dies_per_way * g.planes * g.blocks;
  unit_bytes = static_cast<std::uint32_t>(shape.mapping_page_bytes);
  units_per_page = g.page_bytes / unit_bytes;
  const auto total = static_cast<unsigned __int128>(all_blocks) * g.pages * units_per_page;
  if (all_blocks > Ppn::k_most || total > Ppn::k_most) {
    throw refusal(
        "firmware.mapping.unit",
        fmt::format("the drive has more than {} mapping pages of {} B, the most that 32-bit addresses reach",
                    Ppn::k_most, unit_bytes),
        fmt::format("{} B", unit_bytes * 2));
  }
  make_groups(g, allocation.stripe);
  sequence_ = allocation_sequence(allocation.order, g, *this);
  blocks = g.blocks;
  pages = g.pages;
  sectors = unit_bytes / shape.lba_bytes;
  mp_page_units = planes * units_per_page;
  block_mp_pages = pages * stripe_dies;
  block_units = block_mp_pages * mp_page_units;
  slc_mp_pages = shape.slc_pages * stripe_dies;
  program_pages = shape.program_unit;
  die_units = program_pages * mp_page_units;
  set_program_units(die_units);
  logical_units = (shape.logical_blocks + sectors - 1) / sectors;
  by_mp_page_ = Reciprocal(mp_page_units);
  by_pages_ = Reciprocal(block_mp_pages);
  by_block_ = Reciprocal(block_units);
  by_blocks_ = Reciprocal(blocks);
  by_pu_ = Reciprocal(pus_per_die);
  by_program_pages_ = Reciprocal(program_pages);
  by_stripe_dies_ = Reciprocal(stripe_dies);
}

// Dies that differ only in the letters of the stripe hold stripes of the same parallel units, the
// first letter varying fastest.
void Layout::make_groups(const Geometry& g, const std::string& stripe) {
  const auto& known = stripes();
  if (!std::binary_search(known.begin(), known.end(), stripe)) {
    throw refusal(
        "firmware.allocation.stripe",
        fmt::format("'{}' is neither none nor made of the letters C, W and D, each at most once", stripe),
        "none");
  }
  const std::string letters = stripe == "none" ? "" : stripe;
  const auto count_of = [&](char letter) {
    return letter == 'C' ? g.channels : letter == 'W' ? g.ways : g.dies_per_way;
  };
  stripe_dies = 1;
  for (const char letter : letters) stripe_dies *= count_of(letter);
  pus = g.dies() / stripe_dies * pus_per_die;
  dies_.reserve(std::size_t{pus} * stripe_dies);
  pus_at_.resize(std::size_t{g.dies()} * pus_per_die);
  for (std::uint32_t die = 0; die < g.dies(); ++die) {
    const std::array<std::uint32_t, 3> at{die / g.dies_per_channel(), die / g.dies_per_way % g.ways,
                                          die % g.dies_per_way};
    const auto striped = [&](char letter) { return letters.find(letter) != std::string::npos; };
    const bool first =
        !(striped('C') && at[0] > 0) && !(striped('W') && at[1] > 0) && !(striped('D') && at[2] > 0);
    if (!first) continue;
    for (std::uint32_t plane = 0; plane < pus_per_die; ++plane) {
      const auto pu = static_cast<std::uint32_t>(dies_.size() / stripe_dies);
      for (std::uint32_t stripe_die = 0; stripe_die < stripe_dies; ++stripe_die) {
        std::array<std::uint32_t, 3> of = at;
        std::uint32_t rest = stripe_die;
        for (const char letter : letters) {
          of[letter == 'C' ? 0 : letter == 'W' ? 1 : 2] = rest % count_of(letter);
          rest /= count_of(letter);
        }
        const std::uint32_t number = (of[0] * g.ways + of[1]) * g.dies_per_way + of[2];
        dies_.push_back(static_cast<DieId>(number));
        pus_at_[std::size_t{number} * pus_per_die + plane] = pu;
      }
    }
  }
}

void Layout::set_program_units(std::uint32_t units) {
  operations = units / die_units;
  program_units = units;
  programs_per_block = block_units / units;
}

}  // namespace tlmssd::firmware
