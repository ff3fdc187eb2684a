// Read-ahead on whole drives: rates against what dies and link can do, drives that it must not
// change, data under mixed loads.
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint32_t k_channels = 2;

/// The drive of the latency tests, with slow dies, and this much read ahead; 0: nothing.
SsdConfig ahead(Bytes window) {
  SsdConfig config = drive("pcie3x4", 4096);
  config.cpu.clock *= 4;
  config.part.read_latency = {200'000'001, 360'000'007};
  config.flash.channels = k_channels;
  if (window > 0) {
    choose(config.firmware, "firmware.read_ahead", "sequential",
           {{"window", whole(static_cast<std::int64_t>(window))}});
  }
  return config;
}

struct Outcome {
  Picoseconds took = 0;
  double fetched = 0;
  double used = 0;
};

Outcome run(Simulation& simulation, std::vector<Load> loads) {
  simulation.ssd().reset_statistics();
  Measurement measurement({"load"});
  const Picoseconds start = simulation.ssd().event_queue().now();
  Outcome outcome;
  Picoseconds last = start;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    last = command.completed;
    if (command.ledger->total() != command.completed - command.submitted)
      throw std::logic_error("the ledger does not sum up");
  });
  simulation.run(loads, measurement);
  simulation.driver().set_completion_hook(nullptr);
  if (simulation.driver().failed() != 0) throw std::logic_error("a command failed");
  outcome.took = last - start;
  for (const auto& [name, value] : test::statistics_of(simulation.ssd())) {
    if (name == "firmware/read ahead/units fetched") outcome.fetched = value;
    if (name == "firmware/read ahead/units used") outcome.used = value;
  }
  return outcome;
}

Outcome run(Bytes window, const Words& words) {
  return in_child<Outcome>([=] {
    Simulation simulation(ahead(window));
    run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
    return run(simulation, make_loads(words, simulation.drive_size()));
  });
}

}  // namespace

// Every die always has a page to read, so that the drive does what its dies can: a page every C +
// tR + O.
TEST_CASE("reads in order one at a time are as fast as the dies, with read-ahead", "[drive]") {
  const auto bs = GENERATE(Bytes{4096}, Bytes{16_KiB}, Bytes{64_KiB});
  constexpr Bytes k_size = 4_MiB;
  constexpr Bytes k_page = 16_KiB;
  const Outcome with = run(512_KiB, {.rw = "read", .bs = bs, .size = k_size});
  const Outcome without = run(0, {.rw = "read", .bs = bs, .size = k_size});
  Picoseconds both_pages = 0;
  for (const PageId page : {k_page0, k_page1}) {
    Parts parts(ahead(0));
    parts.sense(page, 0, 4);
    both_pages += parts.of(Cause::flash_command) + parts.of(Cause::sense) + parts.of(Cause::transfer);
  }
  const double pages_of_a_die = static_cast<double>(k_size / k_page) / k_channels;
  const double least = static_cast<double>(both_pages) / 2 * pages_of_a_die;
  // Three commands before it begins; a page that is read again, dies that do not end together.
  const double alone = static_cast<double>(without.took) / static_cast<double>(k_size / bs);
  const double most = least + 3 * alone + static_cast<double>(both_pages);
  CHECK(static_cast<double>(with.took) >= least);
  CHECK(static_cast<double>(with.took) <= most);
  // Without it a command's pages at the most are read at a time.
  if (bs <= k_page) CHECK(static_cast<double>(without.took) > 1.9 * static_cast<double>(with.took));
  CHECK(with.used >= static_cast<double>((k_size - 4 * bs) / 4096));
}

// Reads that meet the end of another by chance would be taken for a stream: here none does.
TEST_CASE("reads at random are the same with read-ahead", "[drive]") {
  const auto read_at_random = [](Bytes window) {
    return in_child<Outcome>([=] {
      Simulation simulation(ahead(window));
      run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
      const DriveSize size = simulation.drive_size();
      auto random = std::make_shared<RandomStream>(7, "places");
      auto left = std::make_shared<int>(1000);
      const auto even_units = [=](Request& request) {
        request = {};
        request.offset = random->below(size.bytes / 8192) * 8192;
        request.bytes = 4096;
        return --*left >= 0;
      };
      return run(simulation, one(make_load(even_units, size, 4)));
    });
  };
  const Outcome with = read_at_random(512_KiB);
  const Outcome without = read_at_random(0);
  CHECK(with.took == without.took);
  CHECK(with.fetched == 0);
}

TEST_CASE("all that is read ahead is true, whatever the host does meanwhile", "[drive]") {
  struct Sums {
    double fetched, used, unused, outdated, lost;
  };
  const auto seed = GENERATE(1U, 2U, 3U);
  const auto sums = in_child<Sums>([=] {
    Simulation simulation(ahead(64_KiB));
    run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
    const DriveSize size = simulation.drive_size();
    std::vector<Load> loads;
    loads.push_back(mixed_load({.requests = 4000, .depth = 6, .reads = 30}, size, seed));
    loads.push_back(read_all(size, 1));
    loads.push_back(read_all(size, 3));
    simulation.ssd().reset_statistics();
    Measurement measurement({"mixed", "in order", "at depth"});
    simulation.run(loads, measurement);  // the scoreboard compares every block
    simulation.drain();
    if (simulation.driver().failed() != 0) throw std::logic_error("a command failed");
    const auto numbers = test::statistics_of(simulation.ssd());
    const auto of = [&](const char* name) {
      return numbers.at(std::string("firmware/read ahead/units ") + name);
    };
    return Sums{of("fetched"), of("used"), of("unused"), of("outdated"), of("lost")};
  });
  CHECK(sums.used > 500);
  CHECK(sums.outdated > 0);
  CHECK(sums.fetched == sums.used + sums.unused + sums.outdated + sums.lost);
}

}  // namespace tlmssd::drive_tests
