// Victim policies against brute force, under random inserts, invalidations, removals and choices.
#include "firmware/victims/victim_policy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/core/core.h"
#include "firmware/mapping/mapping.h"
#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/model_host.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_pu_blocks = 300;
constexpr std::uint32_t k_units_per_block = 70;
constexpr std::uint32_t k_window = 16;

struct Mirror {
  std::uint32_t valid;
  std::uint64_t inserted;
  std::uint64_t touched;
};

class WindowValue final : public ParameterValues {
 public:
  [[nodiscard]] const Value* find(std::string_view name) const override {
    return name == "window" ? &value_ : nullptr;
  }

 private:
  Value value_ = std::int64_t{k_window};
};

/// Chooses one block for ever.
class Stubborn final : public VictimPolicy {
 public:
  explicit Stubborn(BlockNumber block) : block_(block) {}
  void insert(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void invalidated(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void remove(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  BlockNumber select(std::uint32_t /*pu*/) override { return block_; }
  void archive(Archive& /*archive*/) override {}

 private:
  BlockNumber block_;
};

double score(const Mirror& m, std::uint64_t now) {
  return (k_units_per_block - m.valid) / (2.0 * (m.valid == 0 ? 1e-9 : m.valid)) *
         static_cast<double>(now - m.touched + 1);
}

/// Whether a policy may choose `block`, by looking at all of them.
bool right_choice(const std::string& name, const std::map<BlockNumber, Mirror>& blocks, BlockNumber block,
                  std::uint64_t now) {
  const Mirror& chosen = blocks.at(block);
  std::vector<Mirror> all;
  for (const auto& [number, mirror] : blocks) all.push_back(mirror);
  if (name == "greedy") {
    return std::all_of(all.begin(), all.end(), [&](const Mirror& m) { return m.valid >= chosen.valid; }) &&
           chosen.valid < k_units_per_block;
  }
  if (name == "fifo")
    return std::all_of(all.begin(), all.end(),
                       [&](const Mirror& m) { return m.inserted >= chosen.inserted; });
  if (name == "cost-benefit") {
    return std::all_of(all.begin(), all.end(),
                       [&](const Mirror& m) { return score(m, now) <= score(chosen, now) * (1 + 1e-12); });
  }
  if (name == "windowed-greedy") {
    std::sort(all.begin(), all.end(),
              [](const Mirror& a, const Mirror& b) { return a.inserted < b.inserted; });
    if (all.size() > k_window) all.resize(k_window);
    const bool inside =
        std::any_of(all.begin(), all.end(), [&](const Mirror& m) { return m.inserted == chosen.inserted; });
    return inside &&
           std::all_of(all.begin(), all.end(), [&](const Mirror& m) { return m.valid >= chosen.valid; });
  }
  return true;  // by chance
}

}  // namespace

TEST_CASE("victim policies choose what brute force would, and survive a snapshot") {
  const WindowValue values;
  const VictimContext context{3, k_pu_blocks, k_units_per_block, 5};
  for (const PolicyInfo& info : victim_family().infos()) {
    INFO(info.name);
    auto policy = victim_family().make(info.name, values, context);
    RandomStream random(11, info.name);
    std::map<BlockNumber, Mirror> pus[3];
    std::uint64_t clock[3] = {};
    std::uint64_t order = 0;
    for (int step = 0; step < 60'000; ++step) {
      const auto g = static_cast<std::uint32_t>(random.below(3));
      auto& blocks = pus[g];
      const auto block = static_cast<BlockNumber>(g * k_pu_blocks + random.below(k_pu_blocks));
      const auto found = blocks.find(block);
      const std::uint64_t dice = random.below(100);
      if (found == blocks.end()) {
        const auto valid = static_cast<std::uint32_t>(
            random.below(4) == 0 ? random.below(k_units_per_block + 1) : k_units_per_block);
        policy->insert(g, block, valid);
        blocks[block] = {valid, ++order, ++clock[g]};
      } else if (dice < 85) {
        if (found->second.valid == 0) continue;
        policy->invalidated(g, block, --found->second.valid);
        found->second.touched = ++clock[g];
      } else if (dice < 88) {
        policy->remove(g, block, found->second.valid);
        blocks.erase(found);
      } else {
        const BlockNumber chosen = policy->select(g);
        if (chosen == k_no_block) {
          REQUIRE(std::all_of(blocks.begin(), blocks.end(),
                              [](const auto& b) { return b.second.valid == k_units_per_block; }));
          continue;
        }
        REQUIRE(blocks.contains(chosen));
        REQUIRE(right_choice(info.name, blocks, chosen, clock[g]));
        blocks.erase(chosen);
      }
      if (step % 20'000 == 10'000) {  // carry on with a restored copy
        MemoryArchive saved;
        policy->archive(saved);
        MemoryArchive load(saved.content());
        auto copy = victim_family().make(info.name, values, context);
        copy->archive(load);
        policy = std::move(copy);
      }
    }
  }
}

TEST_CASE("random chooses every block alike") {
  const NoValues values;
  const VictimContext context{1, 50, 8, 3};
  auto policy = victim_family().make("random", values, context);
  std::vector<int> chosen(50, 0);
  for (BlockNumber b(0); b < 50; ++b) policy->insert(0, b, 4);
  for (int n = 0; n < 50'000; ++n) {
    const BlockNumber b = policy->select(0);
    ++chosen[b];
    policy->insert(0, b, 4);
  }
  for (const int count : chosen) REQUIRE(std::abs(count - 1000) < 160);  // five standard deviations
}

TEST_CASE("policy families name everything that is promised") {
  const auto names = [](const auto& family) {
    std::vector<std::string> result;
    for (const PolicyInfo& info : family.infos()) {
      REQUIRE(!info.summary.empty());
      result.push_back(info.name);
    }
    return result;
  };
  REQUIRE(names(victim_family()) == std::vector<std::string>{"greedy", "cost-benefit", "fifo", "random",
                                                             "d-choices", "windowed-greedy"});
  REQUIRE(names(wear_family()) == std::vector<std::string>{"none", "dynamic", "static"});
  REQUIRE(names(mapping_family()) ==
          std::vector<std::string>{"page", "dftl", "block-mapped", "bast", "fast", "superblock"});
}

TEST_CASE("reciprocals divide exactly") {
  RandomStream random(1, "reciprocal");
  for (int i = 0; i < 200'000; ++i) {
    const auto divisor =
        static_cast<std::uint32_t>(1 + random.below(random.below(2) == 0 ? 5000 : 0xFFFFFFFFU));
    const Reciprocal reciprocal(divisor);
    const auto n = static_cast<std::uint32_t>(random());
    const std::uint32_t multiple = n / divisor * divisor;
    for (const std::uint32_t value : {n, multiple, multiple - (multiple > 0 ? 1U : 0U), 0xFFFFFFFFU, 0U}) {
      if (reciprocal.divide(value) != value / divisor) FAIL(value << " / " << divisor);
    }
  }
}

TEST_CASE("a victim that may not be chosen is refused with the policy's name") {
  DriveShape shape;
  shape.geometry = {1, 1, 2, 1, 8, 4, 4096, 0};
  shape.logical_blocks = 64;
  const Layout layout = make_layout(shape, FirmwareConfig{});
  const auto wear = wear_family().make("none", NoValues{}, {layout.pus, 1});
  REQUIRE(wear != nullptr);
  for (const std::uint32_t block : {3U, 8U, 1U << 20U}) {  // free, of the other parallel unit, nowhere
    BlockPool pool(layout, {.victims = "stubborn"});
    Stubborn victims{BlockNumber{block}};
    pool.attach(victims, *wear);
    CHECK_THROWS_WITH(pool.take_victim(0), "firmware.gc.policy: stubborn chose block " +
                                               std::to_string(block) +
                                               " of parallel unit 0, which is none of those that may be "
                                               "chosen there");
    CHECK_THROWS_AS(pool.take_victim(0), InputError);
  }
}
