// What superblocks copy and erase, and which of them are packed, against their policy: Kang et al.
// 2006.
#include <algorithm>
#include <numeric>
#include <set>

#include "testbench/tests/firmware/log_rig.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

/// The policy of one superblock alone, in a few lines: pages go to the newest of N + e blocks; when
/// that is full and there may be no more, the emptiest ones that give at least a page when packed
/// together are copied to a new one.
class SuperModel {
 public:
  SuperModel(std::uint32_t blocks, std::uint32_t pages) : most_(blocks), pages_(pages) {}
  void write(std::uint64_t unit) {
    while (blocks_.empty() || blocks_.back().size() == pages_) make_room();
    put(unit);
  }
  std::uint64_t copies = 0;
  std::uint64_t erases = 0;
  std::uint64_t collections = 0;
  std::uint64_t dead = 0;  ///< of these, erased without a copy

 private:
  using Block = std::vector<std::uint64_t>;
  void put(std::uint64_t unit) {
    for (Block& block : blocks_) std::replace(block.begin(), block.end(), unit, k_stale);
    blocks_.back().push_back(unit);
  }
  static std::uint64_t valid(const Block& block) {
    return static_cast<std::uint64_t>(
        std::count_if(block.begin(), block.end(), [](auto u) { return u != k_stale; }));
  }
  void make_room() {
    if (blocks_.size() < most_) {
      blocks_.emplace_back();
      return;
    }
    std::vector<std::size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return valid(blocks_[a]) < valid(blocks_[b]); });
    std::uint64_t sum = 0;
    std::size_t count = 0;
    do sum += valid(blocks_[order[count++]]);
    while (sum + 1 > count * pages_);
    std::set<std::size_t> victims(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::uint64_t> moved;
    std::vector<Block> left;
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      if (!victims.contains(n)) {
        left.push_back(blocks_[n]);
        continue;
      }
      std::copy_if(blocks_[n].begin(), blocks_[n].end(), std::back_inserter(moved),
                   [](auto u) { return u != k_stale; });
    }
    blocks_ = left;
    ++collections;
    if (moved.empty()) ++dead;
    erases += count;
    copies += moved.size();
    for (const std::uint64_t unit : moved) {
      if (blocks_.back().size() == pages_) blocks_.emplace_back();
      blocks_.back().push_back(unit);
    }
  }
  static constexpr std::uint64_t k_stale = ~std::uint64_t{0};
  std::size_t most_;
  std::size_t pages_;
  std::vector<Block> blocks_;
};

/// Superblocks of four block-mapped regions.
struct SuperSetup : LogSetup {
  explicit SuperSetup(std::int64_t log_blocks = 4) : LogSetup("superblock", 60) {
    adjacent = 4;
    logs = log_blocks;
  }
};

}  // namespace

TEST_CASE("superblock: copies and erases are those of its policy, write by write") {
  for (const std::int64_t adjacent : {1, 3, 4}) {
    for (const std::int64_t updates : {1, 2, 5}) {
      INFO(adjacent << " block-mapped regions, " << updates << " update blocks");
      LogSetup setup("superblock");
      setup.adjacent = adjacent;
      setup.update_blocks = updates;
      setup.logs = updates;
      LogRig rig(setup);
      SuperModel model(static_cast<std::uint32_t>(adjacent + updates), 16);
      const std::uint64_t span = static_cast<std::uint64_t>(adjacent) * rig.units;
      for (std::uint64_t n = 0; n < 40 * span; ++n) {
        const std::uint64_t unit = n < span ? n : rig.host.random.below(span);
        rig.write_unit(unit);
        model.write(unit);
        REQUIRE(rig.copies() == model.copies);
        REQUIRE(rig.statistics().erases == model.erases);
      }
      const auto numbers = test::statistics_of(rig.ftl);
      CHECK(numbers.at("firmware/mapping/collections") == static_cast<double>(model.collections));
      CHECK(numbers.at("firmware/mapping/dead") == static_cast<double>(model.dead));
      CHECK(numbers.at("firmware/mapping/packings") == 0);
      rig.host.verify_all();
    }
  }
}

TEST_CASE("superblock: writes within one touch no block of another") {
  SuperSetup setup;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  const std::uint64_t span = 4 * rig.units;
  std::set<std::uint32_t> own;
  bool filled = false;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::program) {
      REQUIRE(op.spare[0] / span == 2);
      own.insert(index(op.block));
    } else if (op.command == FlashCommand::erase && filled) {
      REQUIRE(own.contains(index(op.block)));
    }
  };
  for (std::uint64_t n = 0; n < 200 * span; ++n) {
    filled = n > 2 * span;  // by then the blocks that the fill wrote are gone
    rig.write_unit(2 * span + rig.host.random.below(span));
  }
  CHECK(rig.merges().full_units > 0);
  rig.hw.flash.watch = nullptr;
  rig.host.verify_all();
}

TEST_CASE("superblock: update blocks go to the writer, and others are packed for them") {
  SuperSetup setup(2);
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  rig.start_counting();
  const std::uint64_t span = 4 * rig.units;
  const std::uint64_t supers = rig.blocks / 4;
  // One page in each superblock in turn: every one wants an update block, of which there are two.
  for (std::uint64_t n = 0; n < 5 * supers; ++n)
    rig.write_unit(n % supers * span + 1 + rig.host.random.below(span - 1));
  const std::uint64_t packed = 5 * supers - 2;
  // Packing N blocks and one page more moves one block's units to what is left of the update block.
  CHECK(rig.statistics().erases == packed);
  CHECK(rig.copies() == packed * (rig.units - 1));
  const auto numbers = test::statistics_of(rig.ftl);
  CHECK(numbers.at("firmware/mapping/packings") == static_cast<double>(packed));
  CHECK(numbers.at("firmware/mapping/collections") == 0);
  CHECK(numbers.at("firmware/mapping/dead") == 0);
  rig.host.verify_all();
}

TEST_CASE("superblock: the one that was written to least recently is packed for another") {
  SuperSetup setup(2);
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  const std::uint64_t span = 4 * rig.units;
  rig.write_unit(1);
  rig.write_unit(span + 1);
  rig.write_unit(2);  // so that the second has waited longer than the first
  std::set<std::uint64_t> packed;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::program && op.purpose == Purpose::gc) packed.insert(op.spare[0] / span);
  };
  rig.write_unit(2 * span + 1);
  CHECK(packed == std::set<std::uint64_t>{1});
  rig.hw.flash.watch = nullptr;
}

TEST_CASE("superblock: idle time packs all, the one that was written to least recently first") {
  SuperSetup setup(3);
  setup.options.timed = true;
  setup.config.gc.idle_after = 1'000'000'000'000;
  LogRig rig(setup);
  const auto write = [&](std::uint64_t unit) {
    rig.write_unit(unit);
    rig.host.wait_below(1);
  };
  for (std::uint64_t unit = 0; unit < rig.blocks * rig.units; ++unit) write(unit);
  rig.host.flush();
  rig.host.wait_below(1);
  rig.start_counting();
  const std::uint64_t span = 4 * rig.units;
  for (const std::uint64_t super : {0, 1, 2}) write(super * span + 1);
  write(2);
  std::vector<std::uint64_t> packed;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command != FlashCommand::program || op.purpose != Purpose::gc) return;
    const std::uint64_t super = op.spare[0] / span;
    if (packed.empty() || packed.back() != super) packed.push_back(super);
  };
  rig.host.let_end();
  CHECK(packed == std::vector<std::uint64_t>{1, 2, 0});
  CHECK(test::statistics_of(rig.ftl).at("firmware/mapping/packings") == 3);
  rig.hw.flash.watch = nullptr;
}

TEST_CASE("superblock: units that were copied are counted without the padding behind them") {
  SuperSetup setup;
  setup.shape.geometry.page_bytes = 4 * 4096;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  rig.host.flush();
  rig.start_counting();
  for (int n = 0; n < 2000; ++n) rig.host.write(rig.host.random.below(4 * rig.units) * 8, 8, true);
  CHECK(rig.copies() > 0);
  CHECK(rig.merges().full_units == rig.copies());
}

TEST_CASE("superblock: of blocks overwritten in order none is copied, and all that are erased were dead") {
  SuperSetup setup;
  setup.update_blocks = 4;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  rig.start_counting();
  for (int round = 0; round < 2; ++round) rig.write_blocks(0, rig.blocks);
  CHECK(rig.copies() == 0);
  CHECK(rig.statistics().erases > rig.blocks);
  CHECK(rig.merges().dead == rig.statistics().erases);
  rig.host.verify_all();
}
