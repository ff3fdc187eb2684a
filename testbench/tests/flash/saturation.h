// Closed-loop load on some dies of a flash array, and the bandwidth it reaches in steady state.
#pragma once

#include <algorithm>
#include <numeric>

#include "testbench/tests/flash/flash_fixture.h"

namespace tlmssd::test {

inline std::vector<std::uint32_t> first_dies(std::uint32_t count) {
  std::vector<std::uint32_t> dies(count);
  std::iota(dies.begin(), dies.end(), 0U);
  return dies;
}

/// Keeps `depth` operations per die going, `rounds` of them on each of the dies `on`.
struct Saturation {
  Bench& bench;
  FlashCommand command;
  std::vector<std::uint32_t> on;
  std::uint32_t planes;
  std::uint32_t rounds = 60;
  std::uint32_t depth = 4;
  std::vector<std::uint32_t>& cursor;  // next page of each die, over all blocks
  std::vector<Picoseconds> ends{};
  std::vector<std::unique_ptr<Operation>> operations{};
  std::vector<std::uint32_t> left{};

  void aim(Operation& o) {
    const std::uint32_t die = index(o.op.die);
    const std::uint32_t page = cursor[die]++;
    const std::uint32_t pages = bench.array.part().pages_per_block;
    o.op.block = BlockId{page / pages};
    o.op.page = PageId{page % pages};
    --left[die];
  }
  /// Bytes per second without spare area, from the end of round 10 to the end of round 50.
  double run() {
    left.assign(cursor.size(), rounds);
    for (std::uint32_t d = 0; d < depth; ++d) {
      for (const std::uint32_t die : on) {
        operations.push_back(std::make_unique<Operation>(make(bench, command, die, 0, 0, planes)));
        Operation& o = *operations.back();
        o.then = [this](Operation& self) { ended(self); };
        aim(o);
        submit(o);
      }
    }
    bench.run();
    REQUIRE(ends.size() == on.size() * rounds);
    const std::size_t first = 10 * on.size();
    const std::size_t last = 50 * on.size();
    return static_cast<double>((last - first) * planes * bench.array.part().page_size) /
           (static_cast<double>(ends[last] - ends[first]) * 1e-12);
  }
  void ended(Operation& o) {
    ends.push_back(o.done);
    REQUIRE(o.ledger.total() == o.latency());
    REQUIRE(o.ledger.mark() == o.done);
    if (left[index(o.op.die)] == 0) return;
    aim(o);
    submit(o);
  }
};

}  // namespace tlmssd::test
