// new-name: page mapping, whose table in DRAM has entries of a size of one's own: wider ones, as
// for a drive that keeps more than the place of a unit, take more of the DRAM and of its time.
#pragma once

#include "firmware/mapping/mapping.h"
#include "models/base/sparse_array.h"

class NewTypeMap final : public tlmssd::firmware::MappingScheme {
 public:
  using Lpn = tlmssd::Lpn;
  using Ppn = tlmssd::firmware::Ppn;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "page mapping with entries of any size";

  // Keys beside firmware.mapping.scheme.
  struct Config {
    tlmssd::Bytes entry_size = 8;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.bytes(
          "entry_size", &Config::entry_size, {4, 64}, "DRAM that the entry of a mapping page takes");
      return table;
    }
  };

  // Logical units are numbered from 0; behind those of the host come those of replicas.
  NewTypeMap(const Config& config, const tlmssd::firmware::Layout& layout)
      : entry_size_(config.entry_size), entries_(layout.logical_units + layout.feature_units) {}

  [[nodiscard]] Ppn lookup(Lpn unit) const override { return Ppn::of_entry(entries_.read(unit)); }
  void update(Lpn unit, Ppn where) override { entries_.write(unit) = where.entry(); }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override {
    return entries_.next_touched(unit, end);
  }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override {
    return {entry_size_ * first, entry_size_ * count};
  }
  [[nodiscard]] tlmssd::Bytes dram_bytes() const override { return entry_size_ * entries_.size(); }
  // What must survive a snapshot, one function for both directions.
  void archive(tlmssd::Archive& archive) override { archive(entries_); }
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("entry size", entry_size_, "B", "DRAM that the entry of a mapping page takes");
  }

 private:
  tlmssd::Bytes entry_size_;
  tlmssd::SparseArray<std::uint32_t> entries_;  // 0, as untouched memory is: nowhere
};
