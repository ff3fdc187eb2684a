// Program units on their way to flash: pooled, with what is to be programmed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "firmware/base/layout.h"
#include "firmware/base/write_target.h"
#include "models/base/flash_transaction.h"
#include "models/base/ledger.h"
#include "models/base/slab.h"

namespace tlmssd::firmware {

class Program;

/// What one die does of a program unit.
struct ProgramPart {
  FlashTransaction op;
  Ledger ledger;               ///< of the operation, where several run at once
  Ppn copy_from = k_nowhere;   ///< copied on the die from there (copyback) instead of being sent
  Program* program = nullptr;  ///< that it has been started in
};

/// What is known of a program unit, and set anew for each.
struct ProgramPlan {
  BlockMode mode = BlockMode::native;  ///< of the block that it goes to
  WriteTarget target = WriteTarget::host;
  std::uint32_t live = 0;           ///< slots that have been filled; the rest is padding
  std::uint32_t partial = 0;        ///< units that still lack sectors
  std::uint32_t map_units = 0;      ///< units of the map among the live ones (programs of the write buffer)
  std::uint32_t copies = 0;         ///< units of a block-mapped region that come from its old place
  std::uint32_t holes = 0;          ///< slots of a block-mapped region that hold no unit
  std::uint32_t folded = 0;         ///< units of garbage collection that come from a block in SLC mode
  bool scattered = false;           ///< units of the write buffer that do not follow one another
  bool evicted = false;             ///< behind a cache: nothing of it came from the host past that
  bool awaited = false;             ///< collection makes it while host programs wait for space
  bool reserved = false;            ///< has been promised a multi-plane page in SLC mode
  bool from_static = false;         ///< some come from a block that never leaves that mode
  bool on_die = false;              ///< units of a block-mapped region were left to be copied on their dies
  Ppn base = k_nowhere;             ///< first physical unit, once claimed
  BlockNumber pinned = k_no_block;  ///< block that is copied from on the die
};

/// One program unit on its way to flash.
struct ProgramJob : ProgramPlan {
  // Values of `source` in programs of the write buffer that rewrite a block-mapped region.
  static constexpr std::uint32_t k_copied = 0xFFFFFFFEU;  ///< the unit comes from the block's old place
  static constexpr std::uint32_t k_hole = 0xFFFFFFFFU;    ///< no unit
  Ledger ledger;
  Purpose purpose = Purpose::host;
  bool charged = false;  ///< it has a ledger
  std::uint32_t pu = 0;
  std::uint32_t entry = 0;  ///< first entry of the write buffer that goes into it
  Lpn unit = 0;             ///< first unit of the block-mapped region that it rewrites
  BlockNumber block = k_no_block;
  std::uint64_t number = 0;  ///< in the order of dispatch
  ProgramJob* previous = nullptr;
  ProgramJob* next = nullptr;
  std::uint32_t operations = 1;
  std::unique_ptr<ProgramPart[]> parts;
  // In the order of physical units: where each unit comes from (write buffer entry, or physical
  // unit).
  std::unique_ptr<std::uint32_t[]> source;
  /// Where the n-th unit comes from, if that is a place on flash.
  [[nodiscard]] Ppn source_unit(std::uint32_t n) const { return Ppn(source[n]); }
  // In the order of FlashOp slots, operation by operation:
  std::unique_ptr<Lpn[]> spare;
  std::unique_ptr<Stamp[]> stamps;
  const Layout* layout = nullptr;

  /// The n-th unit: its slot, its logical number, its sectors.
  [[nodiscard]] std::uint32_t slot(std::uint32_t n) const { return layout->program_slot(n, mode); }
  [[nodiscard]] Lpn& lpn(std::uint32_t n) const { return spare[slot(n)]; }
  [[nodiscard]] Stamp* content(std::uint32_t n) const {
    return &stamps[std::size_t{slot(n)} * layout->sectors];
  }
  void set_content(std::uint32_t n, const Stamp* of) const { copy_stamps(of, layout->sectors, content(n)); }
  /// Fills the next slot.
  void put(Lpn lpn_of_it, std::uint32_t from, const Stamp* content_of_it) {
    const std::uint32_t to = slot(live);
    spare[to] = lpn_of_it;
    copy_stamps(content_of_it, layout->sectors, &stamps[std::size_t{to} * layout->sectors]);
    source[live++] = from;
  }
  /// Leaves the next slot of a block-mapped region without a unit.
  void put_hole() {
    clear(live);
    source[live++] = k_hole;
    ++holes;
  }
  /// Marks the slots that carry nothing.
  void pad() const {
    for (std::uint32_t n = live; n < layout->units_of_program(mode); ++n) clear(n);
  }
  void clear(std::uint32_t n) const {
    lpn(n) = k_no_unit;
    std::fill_n(content(n), layout->sectors, k_zeros);
  }
  /// Some operation of it has failed.
  [[nodiscard]] bool failed() const {
    return std::any_of(parts.get(), parts.get() + operations,
                       [](const ProgramPart& part) { return part.op.status != FlashStatus::ok; });
  }
};

class JobPool {
 public:
  /// The layout outlives the pool.
  explicit JobPool(const Layout& layout) : layout_(layout) {}
  ProgramJob& take() {
    ProgramJob& job = pool_.take([this] { return make(); });
    static_cast<ProgramPlan&>(job) = {};
    for (std::uint32_t n = 0; n < job.operations; ++n) job.parts[n].copy_from = k_nowhere;
    return job;
  }
  void give(ProgramJob& job) { pool_.give(job); }

 private:
  [[nodiscard]] std::unique_ptr<ProgramJob> make() const {
    auto made = std::make_unique<ProgramJob>();
    ProgramJob& job = *made;
    job.layout = &layout_;
    job.operations = layout_.operations;
    job.parts = std::make_unique<ProgramPart[]>(job.operations);
    job.source = std::make_unique<std::uint32_t[]>(layout_.program_units);
    job.spare = std::make_unique<Lpn[]>(layout_.program_units);
    job.stamps = std::make_unique<Stamp[]>(std::size_t{layout_.program_units} * layout_.sectors);
    return made;
  }
  const Layout& layout_;
  Pool<ProgramJob> pool_;
};

}  // namespace tlmssd::firmware
