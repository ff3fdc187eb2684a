#include "firmware/layout.h"

#include <fmt/format.h>

#include "models/common/input_error.h"

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
    throw InputError(fmt::format("ssd.host.lba_size: {} B is not a logical block size; nearest valid: {} B",
                                 shape.lba_bytes, shape.lba_bytes < 2304 ? 512 : 4096));
  }
  const Bytes unit = shape.mapping_unit_bytes;
  if (unit == 0 || unit % shape.lba_bytes != 0 || g.page_bytes % unit != 0 ||
      unit / shape.lba_bytes > k_most_sectors) {
    if (g.page_bytes % shape.lba_bytes != 0) {
      throw InputError(fmt::format("ssd.flash: a page of {} B is not a multiple of the logical block of {} B",
                                   g.page_bytes, shape.lba_bytes));
    }
    std::uint64_t nearest = nearest_divisor(g.page_bytes / shape.lba_bytes, unit / shape.lba_bytes);
    while (nearest > k_most_sectors) nearest = nearest_divisor(nearest, nearest / 2);
    throw InputError(
        fmt::format("firmware.mapping.unit: {} B does not divide the page of {} B into whole logical blocks "
                    "of {} B; nearest valid: {} B",
                    unit, g.page_bytes, shape.lba_bytes, nearest * shape.lba_bytes));
  }
  if (shape.program_unit == 0 || g.pages % shape.program_unit != 0) {
    throw InputError(fmt::format(
        "ssd.flash: a block of {} pages is not made of whole program units of {} pages; nearest valid: {}",
        g.pages, shape.program_unit, nearest_divisor(g.pages, shape.program_unit)));
  }
}

}  // namespace

Layout::Layout(const DriveShape& shape, bool multi_plane) {
  check(shape);
  const Geometry& g = shape.geometry;
  if (multi_plane && !shape.multi_plane_allowed && g.planes > 1) {
    throw InputError(
        "firmware.allocation.multi_plane: the flash part has no multi-plane operations; nearest valid: "
        "false");
  }
  planes = multi_plane ? g.planes : 1;
  groups_per_die = multi_plane ? 1 : g.planes;
  const std::uint64_t all_units = std::uint64_t{g.channels} * g.ways * g.dies_per_way * g.planes * g.blocks;
  unit_bytes = static_cast<std::uint32_t>(shape.mapping_unit_bytes);
  units_per_page = g.page_bytes / unit_bytes;
  const auto total = static_cast<unsigned __int128>(all_units) * g.pages * units_per_page;
  if (all_units > k_nowhere || total > k_nowhere - 1) {
    throw InputError(fmt::format(
        "firmware.mapping.unit: the drive has more than {} mapping units of {} B, the most that 32-bit "
        "addresses reach; nearest valid: {} B",
        k_nowhere - 1, unit_bytes, unit_bytes * 2));
  }
  groups = g.dies() * groups_per_die;
  blocks = g.blocks;
  pages = g.pages;
  sectors = unit_bytes / shape.lba_bytes;
  row_units = planes * units_per_page;
  block_units = pages * row_units;
  program_pages = shape.program_unit;
  program_units = program_pages * row_units;
  programs_per_block = pages / program_pages;
  logical_units = (shape.logical_blocks + sectors - 1) / sectors;
  by_row_ = Reciprocal(row_units);
  by_pages_ = Reciprocal(pages);
  by_block_ = Reciprocal(block_units);
  by_blocks_ = Reciprocal(blocks);
  by_group_ = Reciprocal(groups_per_die);
}

}  // namespace tlmssd::firmware
