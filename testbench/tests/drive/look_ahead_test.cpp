// Requests that an untimed run takes from its loads before their turn: the same ones in the same
// order, and none beyond what the load is to give.
#include "testbench/host/look_ahead.h"

#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "firmware/mapping/mapping.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

const DriveSize k_drive{64_MiB, 4096};

/// Writes of one block each, from block `first` up to `end`. May be asked once what comes then.
Load numbered(std::uint64_t first, std::uint64_t end) {
  return make_load(
      [at = first, end, ended = false](Request& request) mutable {
        if (std::exchange(ended, ended || at == end)) throw std::logic_error("asked behind its end");
        if (ended) return false;
        request = {};
        request.opcode = HostOpcode::write;
        request.offset = at++ * 4096;
        request.bytes = 4096;
        return true;
      },
      k_drive, 1);
}

/// Blocks of all requests that are left.
std::vector<std::uint64_t> rest(LookAhead& ahead) {
  std::vector<std::uint64_t> blocks;
  for (PlacedRequest request; ahead.next(request);) blocks.push_back(request.lba);
  return blocks;
}

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> blocks(end - first);
  std::iota(blocks.begin(), blocks.end(), first);
  return blocks;
}

}  // namespace

TEST_CASE("looking ahead gives all requests of a load in their order") {
  const Scoreboard scoreboard(k_drive.bytes / 4096, 1);
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 4U, 5U, 9U, 100U}) {
    Load load = numbered(0, count);
    LookAhead ahead(load, scoreboard);
    CHECK(rest(ahead) == from_to(0, count));
    CHECK(rest(ahead).empty());
  }
}

TEST_CASE("looking ahead takes no more from a load than it is to give") {
  const Scoreboard scoreboard(k_drive.bytes / 4096, 1);
  for (const std::uint64_t given : {1U, 2U, 3U, 4U, 5U, 50U}) {
    Load load = numbered(0, 100);
    load.requests = given;
    LookAhead ahead(load, scoreboard);
    CHECK(rest(ahead) == from_to(0, given));
    // What was carried out untimed is gone; the rest of the load goes on behind it.
    load.requests = 0;
    LookAhead behind(load, scoreboard);
    CHECK(rest(behind) == from_to(given, 100));
  }
}

TEST_CASE("requests of the loads of an untimed run are carried out in the order of each") {
  SsdConfig config = small_drive();
  config.host.lba_size = 4096;
  config.part.page_size = 4096;  // each write is a program of its own
  Simulation simulation(config);
  std::vector<Load> loads;
  loads.push_back(numbered(0, 3));
  loads.push_back(numbered(100, 107));
  simulation.run_untimed_together(loads);
  // The two dies take programs in turn.
  const firmware::DriveShape& shape = simulation.ssd().shape();
  const std::uint32_t of_die = shape.geometry.blocks * shape.geometry.pages;
  std::map<std::uint32_t, std::uint64_t> by_turn;
  for (const std::uint64_t unit : {0U, 1U, 2U, 100U, 101U, 102U, 103U, 104U, 105U, 106U}) {
    const firmware::Ppn where = simulation.ssd().ftl().map().lookup(static_cast<Lpn>(unit));
    by_turn[where.number() % of_die * 2 + where.number() / of_die] = unit;
  }
  std::vector<std::uint64_t> order;
  for (const auto& [turn, unit] : by_turn) order.push_back(unit);
  REQUIRE(order.size() == 10);
  const auto of_second =
      std::stable_partition(order.begin(), order.end(), [](auto unit) { return unit < 100; });
  CHECK(of_second - order.begin() == 3);
  CHECK(std::is_sorted(order.begin(), of_second));
  CHECK(std::is_sorted(of_second, order.end()));
}

}  // namespace tlmssd::drive_tests
