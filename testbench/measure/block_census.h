// How worn and how full the drive's blocks are at the end of a run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tlmssd {

/// A block here is the block of a parallel unit.
struct BlockCensus {
  static constexpr std::size_t k_valid_bins = 20;
  std::map<std::uint32_t, std::uint64_t> by_erases;    ///< number of blocks by erase count
  std::array<std::uint64_t, k_valid_bins> by_valid{};  ///< written blocks by valid share: 5 % each
  std::uint64_t free = 0;                              ///< blocks that hold nothing
  std::uint64_t retired = 0;                           ///< out of use
  /// A map of at most k_most_columns x k_most_cells / columns cells, each the mean of as many
  /// neighbouring blocks: a line for each parallel unit, or for several.
  static constexpr std::uint32_t k_most_columns = 64;
  static constexpr std::uint32_t k_most_lines = 64;
  struct Cell {
    double erases = 0;
    double valid = 0;  ///< share of units that are valid
  };
  std::uint32_t parallel_units_per_line = 1;
  std::uint32_t blocks_per_column = 1;
  std::vector<std::vector<Cell>> lines;
};

}  // namespace tlmssd
