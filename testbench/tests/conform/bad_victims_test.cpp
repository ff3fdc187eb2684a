// The conformance kit against victim policies: the program's own pass, planted faults are found.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "testbench/conform/conform_victims.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

enum class VictimFault {
  none,
  forgets_nothing,
  keeps_one,
  by_chance,
  forgets_archive,
  other_pu,
  all_blocks,
  ignores_removal,
  no_such_block
};

/// FIFO with a fault.
class FaultyFifo final : public VictimPolicy {
 public:
  FaultyFifo(VictimFault fault, const VictimContext& context)
      : fault_(fault), blocks_(context.pus * context.blocks), lines_(context.pus) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    // As a policy does that keeps something of every block, but without the crash.
    if (block >= blocks_) throw std::logic_error("insert of a block that there is not");
    lines_[pu].push_back({block, valid});
  }
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    if (fault_ != VictimFault::all_blocks) return;
    for (Entry& entry : lines_[pu])
      if (entry.block == block) entry.valid = valid;
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    if (fault_ == VictimFault::ignores_removal) return;
    std::erase_if(lines_[pu], [&](const Entry& entry) { return entry.block == block; });
  }
  BlockNumber select(std::uint32_t pu) override {
    if (fault_ == VictimFault::no_such_block) return BlockNumber{1U << 20U};
    if (fault_ == VictimFault::other_pu) pu = (pu + 1) % static_cast<std::uint32_t>(lines_.size());
    auto& line = lines_[pu];
    if (line.size() <= (fault_ == VictimFault::keeps_one ? 1U : 0U)) return k_no_block;
    std::size_t at = 0;
    if (fault_ == VictimFault::by_chance) at = static_cast<std::size_t>(std::rand()) % line.size();
    if (fault_ == VictimFault::all_blocks) {
      for (int pass = 0; pass < 20; ++pass)
        at = static_cast<std::size_t>(
            std::min_element(line.begin(), line.end(),
                             [](const Entry& a, const Entry& b) { return a.valid < b.valid; }) -
            line.begin());
    }
    const BlockNumber block = line[at].block;
    if (fault_ != VictimFault::forgets_nothing) line.erase(line.begin() + static_cast<std::ptrdiff_t>(at));
    return block;
  }
  void archive(Archive& a) override {
    if (fault_ == VictimFault::forgets_archive) return;
    for (auto& line : lines_) a(line);
  }

 private:
  struct Entry {
    BlockNumber block;
    std::uint32_t valid;
  };
  VictimFault fault_;
  std::uint32_t blocks_;
  std::vector<std::deque<Entry>> lines_;
};

Conformance of(VictimFault fault) {
  return conform_victims(
      [=](const VictimContext& context) { return std::make_unique<FaultyFifo>(fault, context); });
}

}  // namespace

TEST_CASE("every victim policy of the program conforms") {
  const NoValues values;
  for (const PolicyInfo& info : victim_family().infos()) {
    const Conformance found = conform_victims(
        [&](const VictimContext& context) { return victim_family().make(info.name, values, context); });
    INFO(info.name << "\n" << found.text());
    CHECK(found.passed());
  }
}

TEST_CASE("planted faults of victim policies are found") {
  CHECK(of(VictimFault::none).passed());
  CHECK(of(VictimFault::forgets_nothing).failed("chooses only blocks that may be chosen"));
  CHECK(of(VictimFault::ignores_removal).failed("chooses only blocks that may be chosen"));
  CHECK(of(VictimFault::other_pu).failed("chooses only blocks that may be chosen"));
  const Conformance beyond = of(VictimFault::no_such_block);
  CHECK(beyond.failed("chooses only blocks that may be chosen"));
  CHECK(beyond.findings().back().wrong ==
        "threw: chooses block 1048576 of parallel unit 0, which may not be chosen");
  CHECK(of(VictimFault::keeps_one).failed("in the end chooses every block, then none"));
  CHECK(of(VictimFault::by_chance).failed("the same seed makes the same choices"));
  CHECK(of(VictimFault::forgets_archive).failed("a snapshot in the middle changes no choice"));
  CHECK(of(VictimFault::all_blocks).failed("a choice among 20000 blocks takes at most 20 us"));
}
