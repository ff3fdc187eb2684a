// The conformance kit against mapping schemes: the program's own pass, planted faults are found.
#include <catch2/catch.hpp>

#include "testbench/conform/conform_mapping.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

enum class MappingFault {
  none,
  loses_some,
  narrow_entries,
  mixes_up,
  keeps_deallocated,
  forgets_archive,
  half_an_archive,
  skips,
  beyond_dram,
  loses_at_power_loss,
  shared,
  begins_mapped,
  slow
};

/// A table with a fault.
class FaultyMap final : public MappingScheme {
 public:
  FaultyMap(MappingFault fault, const Layout& layout) : fault_(fault), own_(layout.logical_units) {
    if (fault_ == MappingFault::begins_mapped) own_[5] = 7;
  }

  [[nodiscard]] Ppn lookup(Lpn unit) const override {
    if (fault_ == MappingFault::slow) {
      volatile std::uint64_t sum = 0;
      for (const std::uint32_t entry : own_) sum = sum + entry;
    }
    return Ppn::of_entry(table()[place(unit)]);
  }
  void update(Lpn unit, Ppn where) override {
    if (fault_ == MappingFault::loses_some && ++updates_ % 5000 == 0) return;
    if (fault_ == MappingFault::keeps_deallocated && !where.valid()) return;
    table()[place(unit)] =
        fault_ == MappingFault::narrow_entries && where.valid() ? where.entry() & 0xFFFFFFU : where.entry();
  }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override {
    return fault_ == MappingFault::skips ? std::min((unit + 7) / 8 * 8, end) : std::min(unit, end);
  }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override {
    return {(fault_ == MappingFault::beyond_dram ? 8U : 4U) * std::uint64_t{first}, 4 * count};
  }
  [[nodiscard]] Bytes dram_bytes() const override { return 4 * own_.size(); }
  void archive(Archive& a) override {
    if (fault_ == MappingFault::forgets_archive) return;
    if (fault_ != MappingFault::half_an_archive) return a(own_);
    for (std::size_t i = 0; i < own_.size() / 2; ++i) a(own_[i]);
  }
  void power_lost() override {
    if (fault_ == MappingFault::loses_at_power_loss) own_[own_.size() / 3] = 0, own_[own_.size() / 3 + 1] = 0;
  }

 private:
  [[nodiscard]] std::size_t place(Lpn unit) const {
    return fault_ == MappingFault::mixes_up && unit == 4097 ? unit - 1 : unit;
  }
  [[nodiscard]] std::vector<std::uint32_t>& table() {
    static std::vector<std::uint32_t> one(1U << 16U);
    return fault_ == MappingFault::shared ? one : own_;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& table() const {
    return const_cast<FaultyMap*>(this)->table();
  }

  MappingFault fault_;
  std::vector<std::uint32_t> own_;
  std::uint64_t updates_ = 0;
};

Conformance of(MappingFault fault) {
  return conform_mapping([=](const Layout& layout) { return std::make_unique<FaultyMap>(fault, layout); });
}

}  // namespace

TEST_CASE("every mapping scheme of the program conforms") {
  const NoValues values;
  for (const PolicyInfo& info : mapping_family().infos()) {
    const Conformance found = conform_mapping(
        [&](const Layout& layout) { return mapping_family().make(info.name, values, layout); });
    INFO(info.name << "\n" << found.text());
    CHECK(found.passed());
  }
}

TEST_CASE("planted faults of mapping schemes are found") {
  const char* const finds = "finds each unit where it was put last";
  const char* const snapshot = "a snapshot holds all of it";
  const Conformance sound = of(MappingFault::none);
  INFO(sound.text());
  CHECK(sound.passed());
  CHECK(of(MappingFault::loses_some).failed(finds));
  CHECK(of(MappingFault::narrow_entries).failed(finds));
  CHECK(of(MappingFault::mixes_up).failed(finds));
  CHECK(of(MappingFault::keeps_deallocated).failed(finds));
  CHECK(of(MappingFault::forgets_archive).failed(snapshot));
  CHECK(of(MappingFault::half_an_archive).failed(snapshot));
  CHECK(of(MappingFault::skips).failed("next_touched() passes over nothing that is mapped"));
  CHECK(of(MappingFault::beyond_dram).failed("keeps its table within the DRAM that it says it takes"));
  CHECK(of(MappingFault::loses_at_power_loss).failed("nothing is lost with the power"));
  CHECK(of(MappingFault::shared).failed("a second one knows nothing of the first"));
  CHECK(of(MappingFault::begins_mapped).failed("a fresh one holds nothing"));
  CHECK(of(MappingFault::slow).failed("a look-up takes at most 1 us"));
}
