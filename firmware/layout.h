// Physical addresses: how a 32-bit physical unit number maps onto the flash array, for any geometry.
//
// An allocation group is one plane, or all planes of a die operated together. Within a group, units are numbered block by
// block, page by page, plane by plane, unit by unit, so that consecutive units first fill a page across the planes (a row),
// and a program unit is a contiguous run of rows. Division is by precomputed reciprocals (Lemire, Kaser & Kurz 2019).
#pragma once

#include <cstdint>

#include "firmware/drive_shape.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

/// Physical mapping unit number.
using PhysicalUnit = std::uint32_t;
inline constexpr PhysicalUnit k_nowhere = 0xFFFFFFFFU;
/// Block of an allocation group, numbered over the whole drive: group * blocks per group + block.
using BlockNumber = std::uint32_t;
inline constexpr BlockNumber k_no_block = 0xFFFFFFFFU;

/// Exact division of 32-bit numbers by a divisor that is known only at run time, without a divide instruction.
class Reciprocal {
 public:
  explicit Reciprocal(std::uint32_t divisor) : divisor_(divisor), magic_(~std::uint64_t{0} / divisor + 1) {}
  [[nodiscard]] std::uint32_t divide(std::uint32_t n) const {
    if (divisor_ == 1) return n;
    return static_cast<std::uint32_t>((static_cast<unsigned __int128>(magic_) * n) >> 64U);
  }
  [[nodiscard]] std::uint32_t divisor() const { return divisor_; }

 private:
  std::uint32_t divisor_;
  std::uint64_t magic_;
};

class Layout {
 public:
  /// Throws InputError when the shape is impossible. `multi_plane`: groups span the planes of a die.
  Layout(const DriveShape& shape, bool multi_plane);

  std::uint32_t planes;          ///< per group
  std::uint32_t groups;          ///< allocation groups of the drive
  std::uint32_t groups_per_die;  ///< 1 with multi-plane, else planes
  std::uint32_t blocks;          ///< per group
  std::uint32_t pages;           ///< per block
  std::uint32_t units_per_page;  ///<
  std::uint32_t sectors;         ///< logical blocks per unit
  std::uint32_t row_units;       ///< units of one page across the planes of the group
  std::uint32_t block_units;     ///< units of one block of the group
  std::uint32_t program_pages;   ///< pages of a program unit
  std::uint32_t program_units;   ///< mapping units of a program unit, the grain of every frontier
  std::uint32_t programs_per_block;
  std::uint32_t unit_bytes;
  std::uint64_t logical_units;
  std::uint64_t map_units =
      0;  ///< units of the map itself that lie in flash, numbered after the logical ones

  /// Units that flash has to keep.
  [[nodiscard]] std::uint64_t kept_units() const { return logical_units + map_units; }
  [[nodiscard]] bool is_map(LogicalUnit unit) const { return unit >= logical_units; }
  [[nodiscard]] std::uint32_t total_blocks() const { return groups * blocks; }
  [[nodiscard]] std::uint64_t total_units() const { return std::uint64_t{total_blocks()} * block_units; }

  /// Those logical blocks of `unit` that lie in [lba, end), which must touch it, as a mask.
  [[nodiscard]] std::uint64_t sectors_of(std::uint64_t unit, std::uint64_t lba, std::uint64_t end) const {
    const std::uint64_t start = unit * sectors;
    const std::uint64_t from = start < lba ? lba - start : 0;
    const std::uint64_t to = end - start < sectors ? end - start : sectors;
    return (to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1) & (~std::uint64_t{0} << from);
  }

  [[nodiscard]] std::uint32_t row_of(PhysicalUnit unit) const { return by_row_.divide(unit); }
  [[nodiscard]] BlockNumber block_of_row(std::uint32_t row) const { return by_pages_.divide(row); }
  [[nodiscard]] BlockNumber block_of(PhysicalUnit unit) const { return by_block_.divide(unit); }
  [[nodiscard]] std::uint32_t group_of(BlockNumber block) const { return by_blocks_.divide(block); }
  [[nodiscard]] PhysicalUnit first_unit(BlockNumber block) const { return block * block_units; }
  [[nodiscard]] DieId die_of(std::uint32_t group) const {
    return static_cast<DieId>(by_group_.divide(group));
  }
  [[nodiscard]] PlaneId plane_of(std::uint32_t group) const {
    return static_cast<PlaneId>(group - by_group_.divide(group) * groups_per_die);
  }
  /// Index within a program operation (FlashOp's plane-by-plane order) of the program unit's `n`-th unit.
  [[nodiscard]] std::uint32_t program_slot(std::uint32_t n) const {
    if (program_pages == 1 || planes == 1) return n;
    const std::uint32_t page = n / row_units;
    const std::uint32_t in_row = n - page * row_units;
    const std::uint32_t plane = in_row / units_per_page;
    return (plane * program_pages + page) * units_per_page + in_row - plane * units_per_page;
  }

 private:
  Reciprocal by_row_{1};
  Reciprocal by_pages_{1};
  Reciprocal by_block_{1};
  Reciprocal by_blocks_{1};
  Reciprocal by_group_{1};
};

}  // namespace tlmssd::firmware
