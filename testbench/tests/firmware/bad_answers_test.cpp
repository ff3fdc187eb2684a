// Answers of policies that cannot be: refused where the kernel takes them, with the scenario's key
// and the policy's name.
#include <catch2/catch.hpp>
#include <vector>

#include "firmware/cache/lru_policy.h"
#include "firmware/core/core.h"
#include "firmware/mapping/mapping.h"
#include "models/base/input_error.h"
#include "testbench/tests/firmware/cache_rig.h"
#include "testbench/tests/firmware/refresh_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

/// What a mapping scheme says once, when it was asked so many times before; below 0: never.
struct Spoilt {
  int lookups_left = -1;
  int entries_left = -1;
  Ppn place{};
  MappingScheme::Span span{};
  bool steps_back = false;
};
Spoilt spoilt;

class SpoiltMap final : public MappingScheme {
 public:
  static constexpr std::string_view k_name = "spoilt-map";
  static constexpr std::string_view k_summary = "page mapping that goes wrong";
  using Config = NoParameters;
  SpoiltMap(const Config& /*config*/, const Layout& layout)
      : entries_(layout.logical_units + layout.feature_units) {}
  [[nodiscard]] Ppn lookup(Lpn unit) const override {
    return spoilt.lookups_left-- == 0 ? spoilt.place : Ppn::of_entry(entries_[unit]);
  }
  void update(Lpn unit, Ppn where) override { entries_[unit] = where.entry(); }
  [[nodiscard]] Span entries(Lpn first, std::uint64_t count) const override {
    return spoilt.entries_left-- == 0 ? spoilt.span : Span{4 * std::uint64_t{first}, 4 * count};
  }
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const override {
    return spoilt.steps_back && unit > 8 ? unit - 1 : std::min(unit, end);
  }
  [[nodiscard]] Bytes dram_bytes() const override { return 4 * entries_.size(); }
  void archive(Archive& archive) override { archive(entries_); }

 private:
  std::vector<std::uint32_t> entries_;
};

/// A wear-levelling policy that has one block for ever.
class OneBlock final : public WearPolicy {
 public:
  explicit OneBlock(BlockNumber block) : block_(block) {}
  [[nodiscard]] bool least_worn_first() const override { return false; }
  [[nodiscard]] bool moves_data() const override { return true; }
  BlockNumber due(std::uint32_t /*pu*/, const BlockPool& /*pool*/) override { return block_; }
  void archive(Archive& /*archive*/) override {}

 private:
  BlockNumber block_;
};

/// What a line is wrong by.
LruPolicy::Index (*spoilt_line)(LruPolicy::Index, const LineStore&) = nullptr;

class SpoiltCache final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "spoilt-cache";
  static constexpr std::string_view k_summary = "chooses what is no line";
  using Config = NoParameters;
  SpoiltCache(const Config& /*config*/, const CacheContext& context)
      : LruPolicy(context, {}), store_(context.store) {}
  Index victim() override { return spoilt_line(LruPolicy::victim(), store_); }

 private:
  const LineStore& store_;
};

/// A victim policy that chooses nothing.
class IdleVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "idle-victims";
  static constexpr std::string_view k_summary = "chooses nothing";
  using Config = NoParameters;
  IdleVictims(const Config& /*config*/, const VictimContext& /*context*/) {}
  void insert(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void invalidated(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void remove(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  BlockNumber select(std::uint32_t /*pu*/) override { return k_no_block; }
  void archive(Archive& /*archive*/) override {}
};

/// A filled drive with it.
struct MapRig : RefreshRig {
  explicit MapRig(bool timed)
      : RefreshRig(timed, 0.5, [](FirmwareConfig& chosen) {
          spoilt = {};
          chosen.mapping.scheme = "spoilt-map";
        }) {
    fill();
  }
};

template <class Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing is refused";
}

}  // namespace

TEST_CASE("a mapping scheme that has a unit beyond flash is refused by its name") {
  mapping_family().add<SpoiltMap>("acme 1.0");
  for (const bool timed : {false, true}) {
    for (const bool just_beyond : {false, true}) {
      MapRig rig(timed);
      const std::uint64_t units = make_layout(rig.shape, rig.config).total_units();
      const Ppn place{just_beyond ? static_cast<std::uint32_t>(units) : Ppn::k_most};
      spoilt = {.lookups_left = 3, .place = place};
      rig.read(0, 3);
      CHECK(
          refusal([&] { rig.read(7); }) ==
          fmt::format(
              "firmware.mapping.scheme: spoilt-map has logical unit 7 at physical unit {}, but there are {}",
              place.number(), units));
    }
  }
}

TEST_CASE("a mapping scheme whose entries are not in its DRAM is refused by its name") {
  mapping_family().add<SpoiltMap>("acme 1.0");
  for (const bool timed : {false, true}) {
    const Bytes bytes = 4 * MapRig(timed).units();
    const MappingScheme::Span wrong[] = {
        {std::uint64_t{1} << 50U, 64}, {0, 0}, {bytes - 4, 8}, {0, bytes + 1}, {~std::uint64_t{0} - 3, 4}};
    for (const MappingScheme::Span& span : wrong) {
      MapRig rig(timed);
      spoilt = {.entries_left = 0, .span = span};
      CHECK(refusal([&] { rig.read(7); }) ==
            fmt::format("firmware.mapping.scheme: spoilt-map has the entries of logical units 7 to 7 in {} B "
                        "from address {} on, which are not within the {} B that it takes",
                        span.bytes, span.address, bytes));
    }
    MapRig rig(timed);
    spoilt = {.entries_left = 0, .span = {bytes - 4, 4}};
    CHECK(refusal([&] { rig.read(7); }) == "nothing is refused");
  }
}

TEST_CASE("a mapping scheme that steps back among its entries is refused by its name") {
  mapping_family().add<SpoiltMap>("acme 1.0");
  for (const bool timed : {false, true}) {
    MapRig rig(timed);
    spoilt.steps_back = true;
    CHECK(refusal([&] {
            rig.host.trim({{0, 16 * k_unit}});
            rig.host.wait_below(1);
          }) ==
          "firmware.mapping.scheme: spoilt-map names logical unit 8 as the first that may be mapped at or "
          "after 9");
  }
}

TEST_CASE("a drive knows what a victim policy that chooses nothing leaves") {
  victim_family().add<IdleVictims>("acme 1.0");
  for (const bool idle : {false, true}) {
    RefreshRig rig(true, 0.5, [&](FirmwareConfig& chosen) {
      if (idle) chosen.gc.policy = "idle-victims";
    });
    for (int round = 0; round < 3; ++round) rig.fill();
    CHECK(rig.ftl.read_only() == idle);
    CHECK((rig.ftl.blocks().left_by_policy() > 0) == idle);
  }
}

TEST_CASE("a block that wear levelling may not choose is refused with the policy's name") {
  DriveShape shape;
  shape.geometry = {1, 1, 2, 1, 8, 4, 4096, 0};
  shape.logical_blocks = 64;
  const Layout layout = make_layout(shape, FirmwareConfig{});
  const auto victims =
      victim_family().make("greedy", NoValues{}, {layout.pus, layout.blocks, layout.block_units, 1});
  REQUIRE(victims != nullptr);
  for (const std::uint32_t block : {3U, 8U, 1U << 20U}) {  // free, of the other parallel unit, nowhere
    BlockPool pool(layout, {.wear_stream = true, .wear = "stubborn"});
    OneBlock wear{BlockNumber{block}};
    pool.attach(*victims, wear);
    CHECK(refusal([&] { static_cast<void>(pool.due_for_wear(0)); }) ==
          "firmware.wear.policy: stubborn chose block " + std::to_string(block) +
              " of parallel unit 0, which is none of those that may be chosen there");
  }
  BlockPool pool(layout, {.wear_stream = true, .wear = "stubborn"});
  OneBlock none{k_no_block};
  pool.attach(*victims, none);
  CHECK(pool.due_for_wear(0) == k_no_block);
}

TEST_CASE("a line that may not be given up is refused with the cache policy's name") {
  cache_family().add<SpoiltCache>("acme 1.0");
  using Index = LruPolicy::Index;
  for (const auto spoil : {+[](Index, const LineStore&) { return Index{100'000'000}; },
                           +[](Index, const LineStore& store) { return store.used(); },
                           // One that was given up already and is on its way to flash.
                           +[](Index, const LineStore& store) {
                             for (Index i = 0; i < store.used(); ++i) {
                               if (store.line(i).state != LineStore::State::resident) return i;
                             }
                             return store.used();
                           }}) {
    spoilt_line = +[](Index line, const LineStore&) { return line; };
    CacheCase c;
    c.policy = "spoilt-cache";
    FakeOptions options;
    options.timed = true;
    CacheRig rig(c, options, 1);
    const auto fill = [&] {
      for (std::uint64_t lba = 0; lba + 32 <= rig.shape.logical_blocks; lba += 32) {
        rig.host.write(lba, 32);
        rig.host.wait_below(8);
      }
    };
    fill();
    spoilt_line = spoil;
    const std::string said = refusal(fill);
    CHECK_THAT(said, Catch::StartsWith("firmware.cache.policy: spoilt-cache chose line "));
    CHECK_THAT(said, Catch::EndsWith(" as a victim, which is none of those that may be chosen"));
  }
}

TEST_CASE("a cache policy that names no victim though commands wait for room is refused by its name") {
  cache_family().add<SpoiltCache>("acme 1.0");
  spoilt_line = +[](LruPolicy::Index, const LineStore&) { return LineStore::k_none; };
  for (const bool timed : {false, true}) {
    CacheCase c;
    c.policy = "spoilt-cache";
    FakeOptions options;
    options.timed = timed;
    CacheRig rig(c, options, 1);
    const std::string said = refusal([&] {
      for (std::uint64_t lba = 0; lba + 32 <= rig.shape.logical_blocks; lba += 32) {
        rig.host.write(lba, 32);
        rig.host.wait_below(8);
      }
    });
    CHECK_THAT(said, Catch::StartsWith("firmware.cache.policy: spoilt-cache names no victim, but "));
    CHECK_THAT(said, Catch::EndsWith(" lines may be chosen, and commands wait for room"));
  }
}
