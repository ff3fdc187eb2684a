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

double valid_share(const BlockPool& pool, const BlockInfo& block) {
  const std::uint32_t units =
      block.mode == BlockMode::slc ? pool.layout().slc_units() : pool.layout().block_units;
  return units == 0 ? 0 : static_cast<double>(block.valid) / units;
}

void count(BlockCensus& census, const BlockPool& pool, firmware::BlockNumber block) {
  const BlockInfo& info = pool.info(block);
  ++census.by_erases[info.erases];
  if (info.state == BlockState::free || !pool.used(block)) {
    ++census.free;
  } else if (info.state == BlockState::retired) {
    ++census.retired;
  } else {
    const auto bin = static_cast<std::size_t>(valid_share(pool, info) * BlockCensus::k_valid_bins);
    ++census.by_valid[std::min(bin, BlockCensus::k_valid_bins - 1)];
  }
}

}  // namespace

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
  for (std::size_t p = 0; p < k_purposes; ++p)
    sample.programmed += (s.units_programmed[p] + s.units_padded[p]) * unit;
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
  std::vector<std::vector<std::uint32_t>> counted(census.lines.size(), std::vector<std::uint32_t>(columns));
  for (std::uint32_t pu = 0; pu < layout.pus; ++pu) {
    for (std::uint32_t n = 0; n < layout.blocks; ++n) {
      const firmware::BlockNumber block(pu * layout.blocks + n);
      count(census, pool, block);
      const std::uint32_t line = pu / census.parallel_units_per_line;
      const std::uint32_t column = n / census.blocks_per_column;
      ++counted[line][column];
      census.lines[line][column].erases += pool.info(block).erases;
      census.lines[line][column].valid += valid_share(pool, pool.info(block));
    }
  }
  for (std::size_t line = 0; line < census.lines.size(); ++line) {
    for (std::size_t column = 0; column < columns; ++column) {
      census.lines[line][column].erases /= counted[line][column];
      census.lines[line][column].valid /= counted[line][column];
    }
  }
  return census;
}

}  // namespace tlmssd
