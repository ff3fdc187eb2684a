// journal-map: page mapping that gathers changes which stay within a parallel unit, as those of
// garbage collection do, in a small journal before it touches its table. It has a planted fault
// (see update()), which the walk-through in docs/debugging-firmware.md finds.
#pragma once

#include <cstddef>
#include <vector>

#include "firmware/mapping/mapping.h"
#include "models/base/sparse_array.h"

class JournalMap final : public tlmssd::firmware::MappingScheme {
 public:
  using Lpn = tlmssd::Lpn;
  using Ppn = tlmssd::firmware::Ppn;
  static constexpr std::string_view k_name = "journal-map";
  static constexpr std::string_view k_summary = "page mapping behind a journal, with a planted fault";
  struct Config {
    std::uint32_t journal = 32;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.integer(
          "journal", &Config::journal, {1, 4096}, "updates that are gathered");
      return table;
    }
  };

  JournalMap(const Config& config, const tlmssd::firmware::Layout& layout)
      : most_(config.journal), layout_(layout), table_(layout.logical_units + layout.feature_units) {}

  [[nodiscard]] Ppn lookup(Lpn unit) const override {
    for (std::size_t i = journal_.size(); i-- > 0;) {
      if (journal_[i].unit == unit) return Ppn::of_entry(journal_[i].place);
    }
    return Ppn::of_entry(table_.read(unit));
  }
  void update(Lpn unit, Ppn where) override {
    if (stays(lookup(unit), where)) {
      journal_.push_back({unit, where.entry()});
      if (journal_.size() == most_) apply();
      return;
    }
    // The fault: what the journal still holds of the unit should go.
    table_.write(unit) = where.entry();
  }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override {
    return {k_entry_bytes * first, k_entry_bytes * count};
  }
  [[nodiscard]] tlmssd::Bytes dram_bytes() const override { return k_entry_bytes * table_.size(); }
  void archive(tlmssd::Archive& archive) override {
    archive(table_);
    archive(journal_);
  }

 private:
  /// Whether a unit stays in its parallel unit.
  [[nodiscard]] bool stays(Ppn from, Ppn to) const {
    return from.valid() && to.valid() &&
           layout_.pu_of(layout_.block_of(from)) == layout_.pu_of(layout_.block_of(to));
  }
  void apply() {
    for (const Update& one : journal_) table_.write(one.unit) = one.place;
    journal_.clear();
  }

  struct Update {
    Lpn unit;
    std::uint32_t place;  // plus one
  };
  std::uint32_t most_;
  tlmssd::firmware::Layout layout_;
  tlmssd::SparseArray<std::uint32_t> table_;  // place plus one
  std::vector<Update> journal_;
};
