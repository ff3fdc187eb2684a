// Log-block mapping: block-mapped regions of which a few have log blocks that take what is written,
// page by page; the interface of the schemes (BAST, FAST, superblock) that decide which log block a
// write goes to and how logs become data blocks again.
//
// A block-mapped region is a block of the parallel unit (spread over dies by
// firmware.allocation.stripe); it and all that belongs to it stay in one parallel unit, its home,
// so that parallel units work independently of each other, each under a lock of its own.
//
// Tables: the emulator itself keeps the place of every unit. What the drive that is modelled would
// keep in DRAM (an entry per block-mapped region and page tables for the logs) is what dram_bytes()
// counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "firmware/base/program_job.h"
#include "firmware/blocks/block_pool.h"
#include "firmware/mapping/mapping.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class LogBlocks;

/// How often logs became data blocks in which way.
struct MergeCounts {
  std::uint64_t switches = 0;       ///< a log written in order took the place of its data block: one erase
  std::uint64_t partials = 0;       ///< the rest was copied behind a log written in order so far: one erase
  std::uint64_t fulls = 0;          ///< everything was gathered in a fresh block
  std::uint64_t dead = 0;           ///< blocks erased without any copy, because nothing in them was valid
  std::uint64_t partial_units = 0;  ///< units copied by partial merges
  std::uint64_t full_units = 0;     ///< by full merges; of superblocks, out of any block
};

class LogScheme : public MappingScheme {
 public:
  static constexpr bool k_log_blocks = true;
  /// `adjacent`: block-mapped regions that share their logs; `logs`: log blocks per parallel unit;
  /// `copyback`: merges copy pages on their die where source and destination allow it.
  LogScheme(const Layout& layout, std::uint32_t adjacent, std::uint32_t logs, bool copyback);
  using MappingScheme::attach;
  void attach(LogBlocks& blocks) { blocks_ = &blocks; }

  // ---- the map
  [[nodiscard]] Ppn lookup(Lpn unit) const final { return Ppn::of_entry(entries_.read(unit)); }
  void update(Lpn unit, Ppn where) final { entries_.write(unit) = where.entry(); }
  void prefetch(Lpn unit) const final { entries_.prefetch(unit); }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const final {
    return entries_.next_touched(unit, end);
  }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const final;
  [[nodiscard]] LogScheme* log_scheme() final { return this; }
  [[nodiscard]] bool copies_on_die() const final { return copyback_; }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counts_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const MergeCounts& counts() const { return counts_; }

  // ---- where things belong
  [[nodiscard]] std::uint32_t block_of(Lpn unit) const { return by_block_.divide(unit); }
  [[nodiscard]] Lpn first_of(std::uint32_t block) const { return block * layout_.block_units; }
  [[nodiscard]] std::uint32_t home(Lpn unit) const {
    return layout_.sequence()[by_adjacent_.divide(block_of(unit)) % layout_.pus];
  }

  // ---- capacity
  /// Blocks per parallel unit beside those for data.
  [[nodiscard]] std::uint32_t set_aside() const final { return logs_ + least_extra(); }
  /// Blocks that a parallel unit needs at least to be of any use.
  [[nodiscard]] std::uint32_t least_blocks() const { return set_aside() + adjacent_; }
  /// Log blocks that the parallel units of this drive have room for beside its data; 0: none.
  [[nodiscard]] std::uint32_t most_logs() const;
  [[nodiscard]] std::uint32_t logs() const { return logs_; }
  /// The most units that a drive of this shape can offer.
  [[nodiscard]] std::uint64_t most_units(const Layout& layout) const;
  /// Whether every parallel unit still has blocks enough to keep all its data and one log.
  [[nodiscard]] bool fits(const BlockPool& pool) const final;
  /// Log blocks that a parallel unit may have, now that some of its blocks may have failed; at
  /// least one.
  [[nodiscard]] std::uint32_t allowed(std::uint32_t pu) const;

  // ---- what a scheme decides; the caller holds the parallel unit's lock
  /// Whether `unit` may share a program unit with what `job` holds so far.
  [[nodiscard]] virtual bool together(const ProgramJob& job, Lpn unit) const = 0;
  /// The open block that `job` is to be programmed into; merges until there is one. k_no_block:
  /// there will be none.
  virtual Task<BlockNumber> place(const ProgramJob& job) = 0;
  /// `job` has been given its place.
  virtual void claimed(const ProgramJob& job) = 0;
  /// Moves everything out of a block, into the most worn free ones if asked to; false: it could
  /// not.
  virtual Task<bool> evacuate(BlockNumber block, bool to_worn) = 0;
  /// Brings one log back to its data block while the host is idle; false: there is none.
  virtual Task<bool> tidy(std::uint32_t pu) = 0;

 protected:
  /// Blocks per parallel unit that the scheme needs beside data and logs.
  [[nodiscard]] virtual std::uint32_t least_extra() const { return 1; }

  // ---- tools of the schemes
  static constexpr const char* k_copyback_help =
      "merges copy pages on their die where whole program units stay on theirs, instead of through the "
      "controller";
  /// A log of a block-mapped region, or of several.
  struct Log {
    BlockNumber block = k_no_block;
    std::uint32_t owner = 0;    ///< block-mapped region
    std::uint32_t written = 0;  ///< program units
    bool in_order = true;       ///< every unit lies at its own offset
    std::uint8_t unused[3]{};
  };
  /// Block-mapped regions of the drive.
  [[nodiscard]] std::size_t regions() const { return data_.size(); }
  // Throw ArchiveError where what was restored lies beyond the drive.
  void check_log(const Log& log) const;
  void check_block(BlockNumber block, std::uint32_t written) const;
  void check_slots(const std::vector<Lpn>& slots, std::uint32_t written) const;
  [[nodiscard]] bool full(const Log& log) const { return log.written == layout_.programs_per_block; }
  /// Books a program unit of one block-mapped region that goes into its log.
  void note(Log& log, const ProgramJob& job) const;
  /// The `n`-th unit of a job.
  [[nodiscard]] Lpn unit_of(const ProgramJob& job, std::uint32_t n) const { return job.lpn(n); }
  /// Whether the units of `job` are neighbours that begin at offset `from` of a block-mapped
  /// region.
  [[nodiscard]] bool runs_from(const ProgramJob& job, std::uint32_t from) const;
  /// Data block of a block-mapped region; k_no_block when there is none.
  [[nodiscard]] BlockNumber data(std::uint32_t block) const {
    return BlockNumber::of_entry(data_.read(block));
  }
  /// The block-mapped region whose data block `block` is.
  [[nodiscard]] std::optional<std::uint32_t> owner_of(BlockNumber block) const;
  void set_data(std::uint32_t owner, BlockNumber block);
  /// For schemes without data blocks: `block` belongs to a parallel unit of block-mapped regions,
  /// which owner_of() then names.
  void own(BlockNumber block, std::uint32_t owner) { owners_.write(block) = owner + 1; }
  void disown(BlockNumber block) { owners_.write(block) = 0; }
  /// Makes `log` the data block of its owner, in the cheapest way, or in a fresh block when
  /// `fresh`. False: it could not.
  Task<bool> merge(Log& log, bool fresh, bool to_worn = false);
  /// Gathers the newest units of a block-mapped region in a fresh data block. What lay elsewhere is
  /// left to the caller.
  Task<bool> gather(std::uint32_t owner, bool to_worn);

  /// The part of report() that is of any scheme.
  void report_blocks(StatisticsSink& sink) const;

  LogBlocks* blocks_ = nullptr;
  MergeCounts counts_;
  Layout layout_;
  std::uint32_t adjacent_;
  std::uint32_t logs_;  ///< per parallel unit
  bool copyback_;

 private:
  /// Whether the log, with what is behind it, can take the place of the data block.
  [[nodiscard]] bool can_switch(const Log& log) const;
  /// Units of a block-mapped region from offset `from` to the last that is mapped; those that are
  /// not mapped as k_no_unit.
  [[nodiscard]] std::vector<Lpn> units_of(std::uint32_t owner, std::uint32_t from) const;
  /// Of what units_of() gave, how many are mapped: only these are copied.
  [[nodiscard]] static std::uint64_t mapped_among(const std::vector<Lpn>& units);
  [[nodiscard]] std::uint32_t data_blocks_per_pu() const;

  Reciprocal by_block_;
  Reciprocal by_adjacent_;
  SparseArray<std::uint32_t> entries_;  ///< place of every unit plus one
  SparseArray<std::uint32_t> data_;     ///< data block of every block-mapped region plus one
  SparseArray<std::uint32_t> owners_;   ///< of every data block plus one
};

}  // namespace tlmssd::firmware
