// Physical addresses: how a 32-bit physical unit number maps onto the flash array, for any
// geometry.
//
// A parallel unit is one plane, or all planes of a die operated together, or a stripe of these
// over several dies. Within a parallel unit, units are numbered block by block, page by
// page, plane by plane, unit by unit, so that consecutive units first fill a page across the planes
// (a multi-plane page), and what a die programs at once is a contiguous run of multi-plane pages.
// In a stripe these runs go round its dies. A block in SLC mode has fewer pages: it keeps its
// numbers and uses the first of them, a program unit being one multi-plane page. Division is by
// precomputed reciprocals (Lemire, Kaser & Kurz 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/base/config.h"
#include "firmware/base/drive_shape.h"
#include "firmware/base/ppn.h"
#include "models/base/flash_op.h"
#include "models/base/number_or_none.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

/// Block of a parallel unit, numbered over the whole drive: parallel unit * blocks per parallel
/// unit + block.
using BlockNumber = NumberOrNone<struct BlockOfDrive>;
inline constexpr BlockNumber k_no_block;
static_assert(sizeof(BlockNumber) == sizeof(std::uint32_t));

/// Exact division of 32-bit numbers by a divisor that is known only at run time, without a divide
/// instruction.
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

/// All values of firmware.allocation.stripe, sorted: none, or letters of the allocation order
/// without the planes.
const std::vector<std::string>& stripes();

class Layout {
 public:
  /// Throws InputError when the shape is impossible.
  Layout(const DriveShape& shape, const AllocationConfig& allocation);

  std::uint32_t stripe_dies;     ///< dies that a parallel unit spans
  std::uint32_t planes;          ///< per die
  std::uint32_t pus;             ///< parallel units of the drive
  std::uint32_t pus_per_die;     ///< parallel units that share a die: 1 with multi-plane, else planes
  std::uint32_t blocks;          ///< per parallel unit
  std::uint32_t pages;           ///< per block of a die
  std::uint32_t units_per_page;  ///< mapping pages of a page of one plane
  std::uint32_t sectors;         ///< logical blocks per unit
  std::uint32_t mp_page_units;   ///< units of one page across the planes of a die
  std::uint32_t block_mp_pages;  ///< multi-plane pages of one block of the parallel unit: pages x dies
  std::uint32_t block_units;     ///< units of one block of the parallel unit
  std::uint32_t program_pages;   ///< pages that a die programs at once
  std::uint32_t die_units;       ///< mapping pages that a die programs at once
  std::uint32_t operations = 1;  ///< program operations of a program unit
  std::uint32_t program_units;   ///< mapping pages of a program unit, the grain of every frontier
  std::uint32_t programs_per_block;
  std::uint32_t
      slc_mp_pages;  ///< multi-plane pages of a block in SLC mode, each a program unit; 0: there is no such mode
  std::uint32_t unit_bytes;
  std::uint64_t logical_units;
  std::uint64_t map_units =
      0;  ///< units of the map itself that lie in flash, numbered after the logical ones

  std::uint64_t feature_units = 0;  ///< units of features' own, numbered after those of the map

  /// Makes a program unit of so many mapping pages, instead of what a die programs at once. They
  /// must be a multiple of that and divide the block.
  void set_program_units(std::uint32_t units);

  /// Units that flash has to keep: as they are programmed, the last ones may hold nothing.
  [[nodiscard]] std::uint64_t kept_units() const {
    const std::uint64_t units = logical_units + map_units + feature_units;
    return operations == 1 ? units : (units + program_units - 1) / program_units * program_units;
  }
  /// Mapping pages of a program unit in this mode.
  [[nodiscard]] std::uint32_t units_of_program(BlockMode mode) const {
    return mode == BlockMode::slc ? mp_page_units : program_units;
  }
  /// Mapping pages of a block in SLC mode.
  [[nodiscard]] std::uint32_t slc_units() const { return slc_mp_pages * mp_page_units; }
  /// Mapping pages of a block in this mode.
  [[nodiscard]] std::uint32_t units_of_block(BlockMode mode) const {
    return mode == BlockMode::slc ? slc_units() : block_units;
  }
  [[nodiscard]] bool is_map(Lpn unit) const { return unit >= logical_units && unit < first_feature_unit(); }
  /// Number of the first unit of a feature's own.
  [[nodiscard]] std::uint64_t first_feature_unit() const { return logical_units + map_units; }
  [[nodiscard]] std::uint32_t total_blocks() const { return pus * blocks; }
  [[nodiscard]] std::uint64_t total_units() const { return std::uint64_t{total_blocks()} * block_units; }

  /// Those logical blocks of `unit` that lie in [lba, end), which must touch it, as a mask.
  [[nodiscard]] std::uint64_t sectors_of(std::uint64_t unit, std::uint64_t lba, std::uint64_t end) const {
    const std::uint64_t start = unit * sectors;
    const std::uint64_t from = start < lba ? lba - start : 0;
    const std::uint64_t to = end - start < sectors ? end - start : sectors;
    return (to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1) & (~std::uint64_t{0} << from);
  }

  /// The mask of a whole unit.
  [[nodiscard]] std::uint64_t all_sectors() const {
    return sectors == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sectors) - 1;
  }

  [[nodiscard]] std::uint32_t mp_page_of(Ppn unit) const { return by_mp_page_.divide(unit.number()); }
  [[nodiscard]] BlockNumber block_of_mp_page(std::uint32_t mp_page) const {
    return BlockNumber(by_pages_.divide(mp_page));
  }
  [[nodiscard]] BlockNumber block_of(Ppn unit) const { return BlockNumber(by_block_.divide(unit.number())); }
  [[nodiscard]] std::uint32_t pu_of(BlockNumber block) const { return by_blocks_.divide(block); }
  /// Nowhere for k_no_block.
  [[nodiscard]] Ppn first_unit(BlockNumber block) const {
    return block.none() ? Ppn() : Ppn(block * block_units);
  }
  /// First unit of a multi-plane page, and where in its multi-plane page a unit lies.
  [[nodiscard]] Ppn ppn_of_mp_page(std::uint32_t mp_page) const { return Ppn(mp_page * mp_page_units); }
  [[nodiscard]] std::uint32_t in_mp_page(Ppn unit, std::uint32_t mp_page) const {
    return unit - ppn_of_mp_page(mp_page);
  }
  /// One of the dies of a parallel unit, of which there are stripe_dies.
  [[nodiscard]] DieId die_of(std::uint32_t pu, std::uint32_t stripe_die) const {
    return dies_[std::size_t{pu} * stripe_dies + stripe_die];
  }
  /// First plane of a parallel unit, the same in all of its dies.
  [[nodiscard]] PlaneId plane_of(std::uint32_t pu) const {
    return static_cast<PlaneId>(pu - by_pu_.divide(pu) * pus_per_die);
  }
  /// Parallel unit numbers in the allocation order.
  [[nodiscard]] const std::vector<std::uint32_t>& sequence() const { return sequence_; }
  [[nodiscard]] std::uint32_t pu_at(DieId die, std::uint32_t plane_pu) const {
    return pus_at_[std::size_t{index(die)} * pus_per_die + plane_pu];
  }
  /// Where a multi-plane page of a block lies.
  struct Place {
    std::uint32_t stripe_die;
    std::uint32_t page;
  };
  [[nodiscard]] Place place_of(std::uint32_t mp_page_in_block) const {
    if (stripe_dies == 1) return {0, mp_page_in_block};
    const std::uint32_t run = by_program_pages_.divide(mp_page_in_block);
    const std::uint32_t stripe = by_stripe_dies_.divide(run);
    return {run - stripe * stripe_dies, stripe * program_pages + mp_page_in_block - run * program_pages};
  }
  /// The same of a multi-plane page by its number in the drive.
  [[nodiscard]] Place place_of(BlockNumber block, std::uint32_t mp_page) const {
    return place_of(mp_page - block * block_mp_pages);
  }
  /// Index among the slots of a program unit (its operations one after another, each in FlashOp's
  /// plane-by-plane order) of the program unit's `n`-th unit.
  [[nodiscard]] std::uint32_t program_slot(std::uint32_t n) const {
    if (program_pages == 1 || planes == 1) return n;
    const std::uint32_t first = n / die_units * die_units;
    const std::uint32_t page = (n - first) / mp_page_units;
    const std::uint32_t in_mp_page = n - first - page * mp_page_units;
    const std::uint32_t plane = in_mp_page / units_per_page;
    return first + (plane * program_pages + page) * units_per_page + in_mp_page - plane * units_per_page;
  }
  /// The same for a program unit in this mode.
  [[nodiscard]] std::uint32_t program_slot(std::uint32_t n, BlockMode mode) const {
    return mode == BlockMode::slc ? n : program_slot(n);
  }

 private:
  void make_groups(const Geometry& geometry, const std::string& stripe);

  Reciprocal by_mp_page_{1};
  Reciprocal by_pages_{1};
  Reciprocal by_block_{1};
  Reciprocal by_blocks_{1};
  Reciprocal by_pu_{1};
  Reciprocal by_program_pages_{1};
  Reciprocal by_stripe_dies_{1};
  std::vector<DieId> dies_;            ///< of every parallel unit, as the stripe goes round them
  std::vector<std::uint32_t> pus_at_;  ///< of every die, plane by plane
  std::vector<std::uint32_t> sequence_;
};

}  // namespace tlmssd::firmware
