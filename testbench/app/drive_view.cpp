#include "testbench/app/drive_view.h"

#include <algorithm>

#include "firmware/blocks/block_pool.h"

namespace tlmssd {
namespace {

using firmware::BlockInfo;
using firmware::BlockPool;
using firmware::BlockState;

std::uint32_t divided_up(std::uint32_t n, std::uint32_t by) {
  return (n + by - 1) / by;
}

/// How many of `all` are in group `n` of groups of `size`, of which the last may be smaller.
std::uint32_t part(std::uint32_t all, std::uint32_t size, std::uint32_t n) {
  return std::min(size, all - n * size);
}

double valid_share(const BlockPool& pool, const BlockInfo& block) {
  const std::uint32_t units = pool.layout().units_of_block(block.mode);
  return units == 0 ? 0 : static_cast<double>(block.valid) / units;
}

/// Of a block that has been used.
void count(BlockCensus& census, const BlockPool& pool, firmware::BlockNumber block) {
  const BlockInfo& info = pool.info(block);
  ++census.by_erases[info.erases];
  if (info.state == BlockState::free) {
    ++census.free;
  } else if (info.state == BlockState::retired) {
    ++census.retired;
  } else {
    const auto bin = static_cast<std::size_t>(valid_share(pool, info) * BlockCensus::k_valid_bins);
    ++census.by_valid[std::min(bin, BlockCensus::k_valid_bins - 1)];
  }
}

}  // namespace

firmware::Layout layout_of(const Ssd& ssd) {
  return ssd.own_ftl() != nullptr ? ssd.own_ftl()->blocks().layout() : firmware::Layout(ssd.shape(), {});
}

DriveSample sample(const Ssd& ssd, Picoseconds now) {
  const firmware::FtlStatistics& s = ssd.firmware_statistics();
  const Bytes unit = ssd.shape().mapping_page_bytes;
  DriveSample sample;
  sample.when = now;
  if (const firmware::Ftl* const ftl = ssd.own_ftl()) {
    const BlockPool& pool = ftl->blocks();
    for (std::uint32_t pu = 0; pu < pool.layout().pus; ++pu) sample.free_blocks += pool.pu(pu).free;
    sample.buffered = ftl->buffered_units();
  } else {
    sample.inside_known = false;
  }
  sample.written = s.host_blocks_written * ssd.shape().lba_bytes;
  sample.programmed = s.slots_programmed() * unit;
  sample.collected = s.units_programmed[static_cast<std::size_t>(Purpose::gc)] * unit;
  sample.erases = s.erases;
  return sample;
}

BlockCensus census(const Ssd& ssd) {
  const BlockPool& pool = ssd.ftl().blocks();
  const firmware::Layout& layout = pool.layout();
  BlockCensus census;
  census.parallel_units_per_line = divided_up(layout.pus, BlockCensus::k_most_lines);
  census.blocks_per_column = divided_up(layout.blocks, BlockCensus::k_most_columns);
  const std::uint32_t columns = divided_up(layout.blocks, census.blocks_per_column);
  census.lines.assign(divided_up(layout.pus, census.parallel_units_per_line),
                      std::vector<BlockCensus::Cell>(columns));
  for (std::uint32_t pu = 0; pu < layout.pus; ++pu) {
    // What was never used is not looked at: on a large drive that alone would take a quarter of a
    // short run.
    const std::uint32_t used = pool.pu(pu).never_used;
    if (used < layout.blocks) census.by_erases[0] += layout.blocks - used;
    census.free += layout.blocks - used;
    std::vector<BlockCensus::Cell>& line = census.lines[pu / census.parallel_units_per_line];
    for (std::uint32_t n = 0; n < used; ++n) {
      const firmware::BlockNumber block(pu * layout.blocks + n);
      count(census, pool, block);
      BlockCensus::Cell& cell = line[n / census.blocks_per_column];
      cell.erases += pool.info(block).erases;
      cell.valid += valid_share(pool, pool.info(block));
    }
  }
  for (std::uint32_t line = 0; line < census.lines.size(); ++line) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint32_t counted = part(layout.pus, census.parallel_units_per_line, line) *
                                    part(layout.blocks, census.blocks_per_column, column);
      census.lines[line][column].erases /= counted;
      census.lines[line][column].valid /= counted;
    }
  }
  return census;
}

}  // namespace tlmssd
