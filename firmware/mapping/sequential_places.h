// Where units lie that were written one after another to a drive that had never been written: as
// they come from the write buffer, program unit by program unit round the parallel units in
// allocation order, block number by block number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "firmware/base/layout.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

/// As entries of a map: the rule of a SparseArray.
class SequentialPlaces {
 public:
  static constexpr bool k_fixed = false;
  explicit SequentialPlaces(const Layout& layout)
      : sequence_(layout.sequence()),
        blocks_(layout.blocks),
        block_units_(layout.block_units),
        by_program_(layout.program_units),
        by_pus_(layout.pus),
        by_programs_(layout.programs_per_block) {}

  /// Units of a round: a block in each parallel unit.
  [[nodiscard]] std::uint64_t round() const { return std::uint64_t{block_units_} * by_pus_.divisor(); }
  /// The units of so many rounds are written.
  void fill(std::uint32_t rounds) { filled_ = rounds * round(); }

  [[nodiscard]] std::uint64_t upto() const { return filled_; }
  [[nodiscard, gnu::noinline]] std::uint32_t operator()(std::uint64_t unit) const {
    return unit < filled_ ? Place(*this, static_cast<std::uint32_t>(unit)).entry() : Ppn().entry();
  }
  /// Entries of `count` units from `unit` on; those that are not filled are left as they are.
  void write(std::uint64_t unit, std::uint32_t* entries, std::size_t count) const {
    const std::uint64_t end = std::min<std::uint64_t>(unit + count, filled_);
    if (unit >= end) return;
    Place place(*this, static_cast<std::uint32_t>(unit));
    for (auto left = static_cast<std::uint32_t>(end - unit);;) {
      const std::uint32_t run = std::min(left, by_program_.divisor() - place.in_program);
      std::iota(entries, entries + run, place.entry());
      entries += run;
      left -= run;
      if (left == 0) return;
      place.next_program();
    }
  }
  void archive(Archive& a) {
    a(filled_);
    if (filled_ % round() != 0) throw ArchiveError("snapshot is damaged: a fill that is not whole");
  }

 private:
  /// A unit's place on its way from program unit to program unit.
  struct Place {
    Place(const SequentialPlaces& owner, std::uint32_t unit) : places(owner) {
      const std::uint32_t program = places.by_program_.divide(unit);
      const std::uint32_t before = places.by_pus_.divide(program);
      in_program = unit - program * places.by_program_.divisor();
      turn = program - before * places.by_pus_.divisor();
      block = places.by_programs_.divide(before);
      program_in_block = before - block * places.by_programs_.divisor();
    }
    void next_program() {
      in_program = 0;
      if (++turn < places.by_pus_.divisor()) return;
      turn = 0;
      if (++program_in_block < places.by_programs_.divisor()) return;
      program_in_block = 0;
      ++block;
    }
    [[nodiscard]] std::uint32_t entry() const {
      const BlockNumber number(places.sequence_[turn] * places.blocks_ + block);
      return (Ppn(number * places.block_units_) +
              (program_in_block * places.by_program_.divisor() + in_program))
          .entry();
    }
    const SequentialPlaces& places;
    std::uint32_t in_program;
    std::uint32_t turn;  ///< of the parallel unit
    std::uint32_t program_in_block;
    std::uint32_t block;  ///< of the parallel unit
  };

  std::vector<std::uint32_t> sequence_;
  std::uint32_t blocks_;
  std::uint32_t block_units_;
  Reciprocal by_program_;
  Reciprocal by_pus_;
  Reciprocal by_programs_;
  std::uint64_t filled_ = 0;
};

}  // namespace tlmssd::firmware
