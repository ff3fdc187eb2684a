// Think time as fio has it (handle_thinktime() in its backend.c): when so many requests have
// completed, nothing more is issued until all have; then the load pauses.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

struct Lifetime {
  Picoseconds submitted;
  Picoseconds completed;
};

std::vector<Lifetime> run_pausing(Simulation& simulation, std::uint32_t depth, std::uint32_t blocks,
                                  std::uint64_t requests, Bytes bytes) {
  std::vector<Load> loads = make_loads({.bs = bytes, .depth = depth, .amount = requests * bytes},
                                       simulation.drive_size(), depth + blocks);
  loads.front().think_time = 1_ms;
  loads.front().think_blocks = blocks;
  std::vector<Lifetime> seen;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    seen.push_back({command.submitted, command.completed});
  });
  Measurement measurement({"load"});
  measurement.reset(simulation.ssd().event_queue().now());
  simulation.run(loads, measurement);
  simulation.driver().set_completion_hook(nullptr);
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Lifetime& a, const Lifetime& b) { return a.submitted < b.submitted; });
  return seen;
}

}  // namespace

TEST_CASE("a load pauses from its last completion on, when nothing is outstanding", "[drive]") {
  Simulation simulation(small_drive());
  run_untimed(simulation, {.rw = "write"});
  struct Case {
    std::uint32_t depth;
    std::uint32_t blocks;
  };
  constexpr std::uint64_t k_requests = 200;
  for (const auto& [depth, blocks] : std::vector<Case>{{1, 1}, {1, 3}, {4, 1}, {4, 6}, {16, 5}}) {
    INFO("depth " << depth << ", " << blocks << " blocks");
    const std::vector<Lifetime> seen = run_pausing(simulation, depth, blocks, k_requests, 4096);
    REQUIRE(seen.size() == k_requests);
    // Bursts are what is submitted with less than a pause between.
    std::size_t first = 0;
    std::size_t bursts = 0;
    while (first < seen.size()) {
      std::vector<Picoseconds> ends;
      std::size_t next = first;
      const auto completed_by = [&](Picoseconds when) {
        return static_cast<std::uint32_t>(
            std::count_if(ends.begin(), ends.end(), [when](Picoseconds end) { return end <= when; }));
      };
      for (; next < seen.size(); ++next) {
        const Picoseconds last = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
        if (next > first && seen[next].submitted >= last + 1_ms) break;
        // The first `depth` at once, each further one for one that has completed, until enough
        // have.
        const auto in_burst = static_cast<std::uint32_t>(next - first);
        const std::uint32_t completed = completed_by(seen[next].submitted);
        CHECK(in_burst - completed < depth);
        CHECK(completed < blocks);
        ends.push_back(seen[next].completed);
      }
      ++bursts;
      const Picoseconds end = *std::max_element(ends.begin(), ends.end());
      if (next < seen.size()) {
        CHECK(next - first == depth + blocks - 1);
        CHECK(seen[next].submitted == end + 1_ms);
      }
      first = next;
    }
    CHECK(bursts == (k_requests + depth + blocks - 2) / (depth + blocks - 1));
  }
}

}  // namespace tlmssd::drive_tests
