// Block-mapped regions: runs of neighbouring mapping pages that are placed, found and rewritten as
// a whole.
//
// One entry for each block of 4 KiB to several MiB, as early drives had it to keep the table small
// (Ban 1995; Ryu & Park 2009, section 3.1). A write that covers a block in part has the rest copied
// from the old place; a write across two blocks pays twice. Every unit lies at its own offset
// (placement by address), spread over the dies of a stripe (firmware.allocation.stripe), so that
// reads stay as parallel as on the first day. With placement `log` the pages of a block are filled
// in the order of writing, whatever their address: nothing is copied when data are written, but the
// table has an entry for every unit again and neighbours end up anywhere; the block remains what is
// erased and cleaned at a time (the log-structured way of Rosenblum & Ousterhout 1992). Whether a
// unit of a block was ever written and not trimmed is taken to stand in the spare area and costs no
// DRAM.
#pragma once

#include "firmware/mapping/mapping.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

/// Places of whole blocks.
class BlockPlaces {
 public:
  BlockPlaces(std::uint64_t logical_units, std::uint32_t block_units);

  [[nodiscard]] std::uint32_t units() const { return units_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(bases_.size()); }
  [[nodiscard]] std::uint32_t block_of(Lpn unit) const { return by_units_.divide(unit); }
  [[nodiscard]] Lpn first_of(std::uint32_t block) const { return block * units_; }
  /// First physical unit of a block; k_nowhere when none of it is mapped.
  [[nodiscard]] Ppn base(std::uint32_t block) const { return Ppn::of_entry(bases_.read(block)); }
  [[nodiscard]] bool mapped(Lpn unit) const { return (mapped_.read(unit / 64) >> (unit % 64) & 1U) != 0; }
  [[nodiscard]] Ppn lookup(Lpn unit) const {
    if (!mapped(unit)) return k_nowhere;
    const std::uint32_t block = block_of(unit);
    return base(block) + (unit - first_of(block));
  }
  void map(Lpn unit) { mapped_.write(unit / 64) |= std::uint64_t{1} << (unit % 64); }
  void deallocate(Lpn unit) { mapped_.write(unit / 64) &= ~(std::uint64_t{1} << (unit % 64)); }
  /// Whether any unit of the block is mapped.
  [[nodiscard]] bool any(std::uint32_t block) const;
  void place(std::uint32_t block, Ppn base) { bases_.write(block) = base.entry(); }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const;
  void prefetch(Lpn unit) const { bases_.prefetch(block_of(unit)); }
  void archive(Archive& a) {
    a(bases_);
    a(mapped_);
  }

 private:
  std::uint32_t units_;
  Reciprocal by_units_;
  SparseArray<std::uint32_t> bases_;   ///< plus one; 0: nowhere
  SparseArray<std::uint64_t> mapped_;  ///< a bit per unit
};

class BlockMap final : public MappingScheme {
 public:
  static constexpr std::string_view k_name = "block-mapped";
  static constexpr std::string_view k_summary =
      "one entry per block-mapped region, which is rewritten as a whole (or, placed as a log, erased as a "
      "whole)";
  struct Config {
    Bytes block = 0;
    std::string placement = "address";
    bool copyback = false;
    static const ParameterTable<Config>& parameters();
  };

  /// Throws InputError when the block does not go with the shape of the drive.
  BlockMap(const Config& config, const Layout& layout);

  [[nodiscard]] Ppn lookup(Lpn unit) const override {
    return by_address_ ? places_.lookup(unit) : Ppn::of_entry(entries_.read(unit));
  }
  void update(Lpn unit, Ppn where) override;
  void prefetch(Lpn unit) const override { by_address_ ? places_.prefetch(unit) : entries_.prefetch(unit); }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override;
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override;
  [[nodiscard]] Bytes dram_bytes() const override;
  [[nodiscard]] BlockPlaces* places() override { return by_address_ ? &places_ : nullptr; }
  [[nodiscard]] std::uint32_t block_units() const override { return by_address_ ? places_.units() : 0; }
  [[nodiscard]] bool copies_on_die() const override { return copies_on_die_; }
  void report(StatisticsSink& sink) const override;
  void archive(Archive& archive) override;

 private:
  static std::uint32_t checked_units(const Config& config, const Layout& layout, bool by_address);

  bool by_address_;
  bool copies_on_die_;
  Bytes block_bytes_;
  std::uint64_t flash_units_;
  BlockPlaces places_;                  ///< by address
  SparseArray<std::uint32_t> entries_;  ///< as a log: the place of every unit plus one
};

}  // namespace tlmssd::firmware
