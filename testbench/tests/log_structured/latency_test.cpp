// Unloaded commands of a real drive, with and without a log-structured host layer in front of it:
// where the log-structured host layer has nothing to add, each cause takes the same time to the
// picosecond, and the processor's time is all that it adds.
#include <systemc>

#include <array>
#include <catch2/catch.hpp>

#include "testbench/tests/drive/latency_parts.h"

namespace tlmssd::log_structured_tests {
namespace {

using namespace literals;
using drive_tests::in_child;
using drive_tests::Seen;
using drive_tests::Step;

constexpr Bytes k_segment = 256_KiB;

/// Addresses in the order in which a log grows, so that data lie at the same place with and without
/// it.
const std::vector<Step>& steps() {
  static const std::vector<Step> steps = {
      {HostOpcode::write, 0, 4_KiB},            // stays in the buffer
      {HostOpcode::write, 4_KiB, 4_KiB, true},  // force unit access
      {HostOpcode::write, 8_KiB, 64_KiB},       // several pages
      {HostOpcode::flush, 0, 0},                //
      {HostOpcode::read, 4_KiB, 4_KiB},         // from flash
      {HostOpcode::read, 4_KiB, 512},           //
      {HostOpcode::read, 8_KiB, 64_KiB},        //
      {HostOpcode::write, 72_KiB, 120_KiB},     //
      {HostOpcode::read, 180_KiB, 8_KiB},       // from the buffer, or not
      {HostOpcode::flush, 0, 0},
  };
  return steps;
}
constexpr std::size_t k_steps = 10;
using Answers = std::array<Seen, k_steps>;

Answers answers(const SsdConfig& config, bool converted, Picoseconds cost) {
  SimulationConfig simulation_config;
  if (converted) {
    simulation_config.log_structured.emplace();
    simulation_config.log_structured->segment = k_segment;
    simulation_config.log_structured->spare = 0.4;
    simulation_config.log_structured->cost = cost;
  }
  Simulation simulation(config, simulation_config);
  const std::vector<Seen> seen = drive_tests::run_unloaded(simulation, steps());
  Answers result;
  std::copy_n(seen.begin(), k_steps, result.begin());
  return result;
}

void adds_nothing(const SsdConfig& config) {
  const auto run = [&](bool converted, Picoseconds cost) {
    return in_child<Answers>([&] { return answers(config, converted, cost); });
  };
  const Answers plain = run(false, 0);
  for (const Picoseconds cost : {Picoseconds{0}, Picoseconds{5'000'001}}) {
    const Answers converted = run(true, cost);
    for (std::size_t i = 0; i < k_steps; ++i) {
      INFO("step " << i << ", cost " << cost);
      CHECK(plain[i].latency > 0);
      CHECK(converted[i].status == HostStatus::success);
      CHECK(converted[i].latency == plain[i].latency + cost);
      for (std::size_t c = 0; c < k_causes; ++c) {
        const auto cause = static_cast<Cause>(c);
        INFO(name_of(cause));
        CHECK(converted[i].ledger.spent(cause) ==
              plain[i].ledger.spent(cause) + (cause == Cause::host_software ? cost : 0));
      }
    }
  }
}

}  // namespace

TEST_CASE("a log-structured host layer that has nothing to do adds its processor's time, NVMe") {
  adds_nothing(drive_tests::drive("pcie3x4", 512));
}
TEST_CASE("a log-structured host layer that has nothing to do adds its processor's time, SATA") {
  adds_nothing(drive_tests::drive("sata3", 512));
}
TEST_CASE("a log-structured host layer that has nothing to do adds its processor's time, write-through") {
  SsdConfig config = drive_tests::drive("pcie3x4", 512);
  config.firmware.buffer.mode = "write-through";
  adds_nothing(config);
}

// What it does add, in the drive's own latencies: an overwritten part of a grain costs a read
// before the write, and a read of two places takes as long as the slower of two commands.
TEST_CASE("the edge of a write costs a read, which the ledger has") {
  const SsdConfig config = drive_tests::drive("pcie3x4", 512);
  SimulationConfig simulation_config;
  simulation_config.log_structured.emplace();
  simulation_config.log_structured->segment = k_segment;
  simulation_config.log_structured->spare = 0.4;
  Simulation simulation(config, simulation_config);
  const std::vector<Seen> seen = drive_tests::run_unloaded(simulation, {{HostOpcode::write, 0, 4_KiB, true},
                                                                        {HostOpcode::read, 0, 4_KiB},
                                                                        {HostOpcode::write, 4_KiB, 4_KiB},
                                                                        {HostOpcode::write, 512, 512},
                                                                        {HostOpcode::trim, 0, 8_KiB},
                                                                        {HostOpcode::read, 0, 8_KiB}});
  CHECK(seen[3].latency == seen[1].latency + seen[2].latency);
  for (std::size_t c = 0; c < k_causes; ++c) {
    const auto cause = static_cast<Cause>(c);
    CHECK(seen[3].ledger.spent(cause) == seen[1].ledger.spent(cause) + seen[2].ledger.spent(cause));
  }
  CHECK(seen[4].latency == 0);
  CHECK(seen[5].latency == 0);
}

}  // namespace tlmssd::log_structured_tests
