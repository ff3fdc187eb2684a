// Write pacing on a whole drive that has been filled in order and is then written at random: no
// command stands still, bandwidth does not swing, and nothing of it is lost.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "testbench/tests/drive/support.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::drive_tests {
namespace {

SsdConfig paced_drive(const std::string& policy, std::uint32_t blocks) {
  SsdConfig config;
  config.dram.capacity = 64_MiB;
  config.flash.channels = 4;
  config.flash.ways = 4;
  config.part.planes = 2;
  config.part.blocks_per_plane = blocks;
  config.part.pages_per_block = 256;
  config.part.page_size = 8192;
  config.capacity.over_provisioning = 0.125;
  config.firmware.buffer.capacity = 2_MiB;
  choose(config.firmware, "firmware.pacing", policy);
  return config;
}

struct PacingOutcome {
  double longest = 0;    ///< latency, in milliseconds
  double variation = 0;  ///< standard deviation of bandwidth over windows, by its mean
  double sustained = 0;  ///< bandwidth of the second half, in MB/s
};

/// Random writes over the drive, filled in order, as many times its size.
PacingOutcome overwrite(const std::string& policy, std::uint32_t blocks, double times) {
  constexpr Picoseconds k_window = 50'000'000'000;
  Simulation simulation(paced_drive(policy, blocks));
  const Bytes all = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = "write", .bs = 131072});
  PacingOutcome outcome;
  std::map<std::int64_t, double> windows;
  const Picoseconds start = simulation.ssd().event_queue().now();
  simulation.driver().set_completion_hook([&](const Completed& command) {
    outcome.longest =
        std::max(outcome.longest, static_cast<double>(command.completed - command.submitted) * 1e-9);
    windows[(command.completed - start) / k_window] += 4096;
  });
  std::vector<Load> loads =
      make_loads({.rw = "randwrite",
                  .depth = 32,
                  .amount = static_cast<Bytes>(times * static_cast<double>(all)) / 4096 * 4096},
                 simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  simulation.driver().set_completion_hook(nullptr);
  const std::int64_t count = windows.rbegin()->first;
  // Collection begins within the first sixth, when the free blocks have run out.
  double sum = 0;
  double squares = 0;
  std::int64_t counted = 0;
  for (std::int64_t n = count / 6; n < count; ++n, ++counted) {
    sum += windows[n];
    squares += windows[n] * windows[n];
    if (n >= count / 2) outcome.sustained += windows[n];
  }
  const double mean = sum / static_cast<double>(counted);
  outcome.variation = std::sqrt(squares / static_cast<double>(counted) - mean * mean) / mean;
  outcome.sustained /= static_cast<double>(count - count / 2) * static_cast<double>(k_window) * 1e-6;
  return outcome;
}

}  // namespace

TEST_CASE("a paced drive goes over into steady state without standing still", "[drive][figure]") {
  if (!has_feature("firmware.pacing")) return;
  // With few blocks what is kept free is a larger part of what is spare.
  const std::uint32_t blocks = GENERATE(144U, 72U);
  const double least = blocks == 144 ? 0.97 : 0.94;
  const auto outcome_of = [&](const char* policy) {
    return in_child<PacingOutcome>([&] { return overwrite(policy, blocks, 0.4); });
  };
  const PacingOutcome plain = outcome_of("none");
  INFO("blocks " << blocks << ", unpaced: longest " << plain.longest << " ms, variation " << plain.variation
                 << ", " << plain.sustained << " MB/s");
  CHECK(plain.longest > 50);
  for (const char* const policy : {"credit", "proportional"}) {
    const PacingOutcome paced = outcome_of(policy);
    INFO(policy << ": longest " << paced.longest << " ms, variation " << paced.variation << ", "
                << paced.sustained << " MB/s");
    CHECK(paced.longest < 50);
    CHECK(paced.variation < 0.2);
    CHECK(paced.sustained > least * plain.sustained);
  }
}

}  // namespace tlmssd::drive_tests
