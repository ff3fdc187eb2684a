// Reads in batches on a whole drive: what waits for a batch is charged to that.
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/support.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint64_t k_batched_reads = 500;

struct Waits {
  std::uint64_t commands = 0;
  std::uint64_t wrong_sums = 0;  ///< ledgers that do not add up
  Picoseconds in_batch_wait = 0;
  Picoseconds behind_reads = 0;  ///< of the dies
  double held = 0;               ///< as the policy counts
  double mean_wait = 0;          ///< the same, us
};

Waits waits_of(const std::string& policy) {
  return in_child<Waits>([=] {
    SsdConfig config = small_drive();
    config.part.read_latency = {1};
    if (policy == "batches") choose(config.firmware, "firmware.parallel_issue", policy, {});
    Simulation simulation(config);
    run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
    std::vector<Load> loads =
        make_loads({.depth = 16, .amount = k_batched_reads * 4096}, simulation.drive_size());
    simulation.ssd().reset_statistics();
    Measurement measurement({"load"});
    Waits waits;
    simulation.driver().set_completion_hook([&](const Completed& command) {
      const Ledger& ledger = *command.ledger;
      ++waits.commands;
      if (ledger.total() != command.completed - command.submitted) ++waits.wrong_sums;
      waits.in_batch_wait += ledger.spent(Cause::batch_wait);
      waits.behind_reads += ledger.spent(Cause::die_read);
    });
    simulation.run(loads, measurement);
    simulation.driver().set_completion_hook(nullptr);
    for (const auto& [name, value] : test::statistics_of(simulation.ssd())) {
      if (name == "firmware/parallel_issue/held") waits.held = value;
      if (name == "firmware/parallel_issue/mean wait") waits.mean_wait = value;
    }
    return waits;
  });
}

}  // namespace

TEST_CASE("waits for earlier batches are charged as the policy counts them, and nothing else is", "[drive]") {
  const Waits with = waits_of("batches");
  CHECK(with.commands == k_batched_reads);
  CHECK(with.wrong_sums == 0);
  CHECK(with.held > 0.8 * k_batched_reads);
  CHECK(static_cast<double>(with.in_batch_wait) == Approx(with.held * with.mean_wait * 1e6));
  CHECK(with.behind_reads == 0);  // those of a batch meet on no die
  const Waits without = waits_of("none");
  CHECK(without.wrong_sums == 0);
  CHECK(without.in_batch_wait == 0);
  CHECK(without.behind_reads > 0);
}

}  // namespace tlmssd::drive_tests
