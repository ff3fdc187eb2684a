// Loads that share a host queue which holds less than they want: as for the tags of a Linux block
// device, those that wait have turns.
#include <systemc>

#include <catch2/catch.hpp>
#include <iterator>
#include <numeric>
#include <vector>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

SsdConfig one_queue(std::uint32_t depth) {
  SsdConfig config = small_drive();
  config.host.queues = 1;
  config.host.queue_depth = depth;
  config.host.max_transfer = 16384;
  return config;
}

/// Requests of each load that completed before `most` of all had.
std::vector<std::uint64_t> run_shared(Simulation& simulation, std::vector<Load> loads, std::uint64_t most) {
  std::vector<std::uint64_t> seen(loads.size());
  HostDriver& driver = simulation.driver();
  driver.set_completion_hook([&](const Completed& command) {
    ++seen[command.load];
    if (std::accumulate(seen.begin(), seen.end(), std::uint64_t{0}) == most) driver.stop_loads();
  });
  Measurement measurement(std::vector<std::string>(loads.size(), "load"));
  simulation.run(loads, measurement);
  driver.set_completion_hook(nullptr);
  return seen;
}

std::vector<Load> readers(const Simulation& simulation, const std::vector<std::uint32_t>& depths) {
  std::vector<Load> loads;
  for (const std::uint32_t depth : depths) {
    std::vector<Load> one = make_loads({.depth = depth, .amount = 20000 * Bytes{4096}},
                                       simulation.drive_size(), loads.size() + 1);
    loads.push_back(std::move(one.front()));
  }
  return loads;
}

}  // namespace

TEST_CASE("loads of one depth get equal shares of a queue that one of them would fill", "[drive]") {
  Simulation simulation(one_queue(8));
  run_untimed(simulation, {.rw = "write"});
  constexpr std::uint64_t k_all = 4000;
  for (const std::uint32_t depth : {4U, 8U, 64U}) {
    INFO("depth " << depth);
    const auto seen = run_shared(simulation, readers(simulation, {depth, depth, depth, depth}), k_all);
    for (const std::uint64_t one : seen) CHECK(static_cast<double>(one) == Approx(k_all / 4).margin(16));
  }
}

TEST_CASE("a load that wants little of a full queue has it, wherever it is listed", "[drive]") {
  Simulation simulation(one_queue(8));
  run_untimed(simulation, {.rw = "write"});
  constexpr std::uint64_t k_all = 4000;
  const auto last = run_shared(simulation, readers(simulation, {32, 2}), k_all);
  CHECK(static_cast<double>(last[1]) / k_all > 0.18);  // it has 2 of 8 places, but for its turns
  CHECK(static_cast<double>(last[1]) / k_all <= 0.26);
  const auto first = run_shared(simulation, readers(simulation, {2, 32}), k_all);
  CHECK(static_cast<double>(first[0]) == Approx(static_cast<double>(last[1])).epsilon(0.03));
}

TEST_CASE("loads that pause, keep times, are split and end, come to their end in a full queue", "[drive]") {
  Simulation simulation(one_queue(3));
  run_untimed(simulation, {.rw = "write"});
  std::vector<Load> loads = readers(simulation, {8, 8, 8, 8});
  constexpr std::uint64_t k_requests = 500;
  for (Load& load : loads) load.requests = k_requests;
  loads[0].think_time = 200_us;
  loads[0].think_blocks = 5;
  loads[1].pacing = Pacing::open_loop;
  loads[1].queue_depth = 0;
  loads[2].source = std::move(
      make_loads({.bs = 65536, .amount = 20000 * Bytes{65536}}, simulation.drive_size(), 9).front().source);
  loads[3].start = 1_ms;
  loads[3].runtime = 2_ms;
  const auto seen = run_shared(simulation, std::move(loads), 0);
  CHECK(seen[0] == k_requests);
  CHECK(seen[1] == k_requests);
  CHECK(seen[2] == 4 * k_requests);
  CHECK(seen[3] > 0);
  CHECK(seen[3] < k_requests);
}

}  // namespace tlmssd::drive_tests
