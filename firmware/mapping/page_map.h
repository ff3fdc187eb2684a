// Page-level mapping: one 32-bit entry per logical unit, all of it in DRAM (Ban 1995; every drive
// with 1 GB of DRAM per TB).
#pragma once

#include "firmware/mapping/mapping.h"
#include "firmware/mapping/sequential_places.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class PageMap final : public MappingScheme {
 public:
  static constexpr std::string_view k_name = "page";
  static constexpr std::string_view k_summary = "one entry per mapping page, the whole table in DRAM";
  using Config = NoParameters;

  PageMap(const Config& /*config*/, const Layout& layout)
      : entries_(layout.logical_units + layout.feature_units, SequentialPlaces(layout)) {}

  // An entry holds the physical unit plus one, so that untouched memory means unmapped.
  [[nodiscard]] Ppn lookup(Lpn unit) const override { return Ppn::of_entry(entries_.read(unit)); }
  void update(Lpn unit, Ppn where) override { entries_.write(unit) = where.entry(); }
  void prefetch(Lpn unit) const override { entries_.prefetch(unit); }
  bool fill(std::uint32_t rounds) override {
    entries_.rule().fill(rounds);
    return true;
  }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override {
    return entries_.next_touched(unit, end);
  }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override {
    return {k_entry_bytes * first, k_entry_bytes * count};
  }
  [[nodiscard]] Bytes dram_bytes() const override { return k_entry_bytes * entries_.size(); }
  void archive(Archive& archive) override { archive(entries_); }

 private:
  SparseArray<std::uint32_t, SequentialPlaces> entries_;
};

}  // namespace tlmssd::firmware
