// Logs with hardly any spare, or of segments of two grains, of which a test knows what lies where.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "testbench/tests/log_structured/rig.h"

namespace tlmssd::log_structured_tests {

using drive_tests::in_child;
using drive_tests::make_loads;
using drive_tests::mixed_load;
using drive_tests::read_all;
using drive_tests::script;
using drive_tests::Seen;
using drive_tests::Step;

/// As little spare as is allowed.
inline RigOptions tight(std::uint64_t segments, std::uint32_t low_water) {
  RigOptions options = small_log();
  options.segments = segments;
  options.log_structured.low_water = low_water;
  options.log_structured.spare = (low_water + 2.0) / static_cast<double>(segments) + 1e-9;
  return options;
}

inline Step write(Bytes grain, Bytes grains = 1) {
  return {HostOpcode::write, grain * 4_KiB, grains * 4_KiB};
}

/// Eight segments of two grains, for loads of seven grains.
inline RigOptions segments_of_two() {
  RigOptions options = tight(8, 2);
  options.log_structured.segment = 8_KiB;
  return options;
}

/// Fills six of these segments and leaves two free, as many as low water: the next write has the
/// first one cleaned. They hold grains 1, 3, 5, 6, 4, and 2 and 0; cleaning empties them in the
/// order 0, 1, 2, 4, 3. From then on a read takes a millisecond and a write a microsecond.
inline void fill_to_low_water(Rig& rig) {
  std::vector<Step> steps;
  for (const Bytes grain : {0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 2, 0}) steps.push_back(write(grain));
  rig.run(script(steps, rig.size()));
  REQUIRE(rig.log_structured.log().free_segments() == 2);
  REQUIRE(rig.log_structured.statistics().segments_cleaned == 0);
  rig.drive.time = [](const HostCommand& command) {
    return command.opcode == HostOpcode::read ? 1_ms : 1_us;
  };
}

/// Runs `steps` `depth` at a time; returns what the host saw of them, in the order of completion.
inline std::vector<Seen> seen_of(Rig& rig, const std::vector<Step>& steps, std::uint32_t depth) {
  std::vector<Seen> seen;
  rig.driver.set_completion_hook([&](const Completed& done) {
    seen.push_back({done.opcode, done.status, done.completed - done.submitted, *done.ledger});
  });
  rig.run(script(steps, rig.size(), depth));
  rig.driver.set_completion_hook(nullptr);
  return seen;
}

}  // namespace tlmssd::log_structured_tests
