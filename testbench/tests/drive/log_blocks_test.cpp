// What merges and rewrites of block-mapped regions cost in time: a forced write on a drive at rest
// takes exactly the sum of its parts and of those of the merges that it has to wait for.
#include <systemc>

#include <catch2/catch.hpp>

#include "firmware/logblocks/log_scheme.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint32_t k_pages = 16;  // of a block, of one mapping page each: U
constexpr Bytes k_unit = 4096;
constexpr PageId k_page{0};

/// One die of pages of one unit; one copy at a time.
SsdConfig one_die(const std::string& scheme, const Given& map) {
  SsdConfig config = drive("pcie3x4", 4096);
  config.flash.channels = 1;
  config.part.cell = "slc";
  config.part.blocks_per_plane = 40;
  config.part.pages_per_block = k_pages;
  config.part.page_size = k_unit;
  config.part.spare_size = 128;
  config.part.read_latency = {25'000'001};
  config.part.program_latency = {200'000'003};
  config.firmware.gc.parallel_copies = 1;
  config.firmware.mapping.scheme = scheme;
  config.firmware.mapping_policy = borrowed(map);
  return config;
}

class Timed {
 public:
  explicit Timed(const SsdConfig& config) : config_(config), simulation_(config) {
    run_untimed(simulation_, {.rw = "write", .bs = k_unit});
  }
  [[nodiscard]] Parts parts() const { return Parts(config_); }
  /// Latency of a forced write of `units` units.
  Picoseconds write(std::uint64_t unit, std::uint64_t units = 1) {
    const auto seen = run_unloaded(simulation_, {{HostOpcode::write, unit * k_unit, units * k_unit, true}});
    REQUIRE(seen.front().status == HostStatus::success);
    return seen.front().latency;
  }
  /// Of the last write.
  [[nodiscard]] const firmware::MergeCounts& merges() {
    return simulation_.ssd().ftl().map().log_scheme()->counts();
  }

  /// A forced write of one unit that finds room.
  [[nodiscard]] Picoseconds plain() const {
    return parts().fetch(k_unit, true).command().buffer(1).flash(1).program(k_page).complete().total();
  }
  /// `units` copied one after the other: the read of one follows the program of the one before, on
  /// the same die; the stages before the read pass meanwhile, but for the first.
  [[nodiscard]] Picoseconds copies(std::uint32_t units) const {
    if (units == 0) return 0;
    const Picoseconds each = parts().sense(k_page, 0, 1).flash(1).program(k_page).total();
    return parts().stage(config_.cpu.cycles.gc).flash(1).total() + units * each;
  }

 private:
  SsdConfig config_;
  Simulation simulation_;
};

}  // namespace

TEST_CASE("BAST in time: switch, partial and full merges", "[drive]") {
  const Given one_log({{"log_blocks", whole(1)}});
  Timed timed(one_die("bast", one_log));
  const auto block = [&](std::uint64_t number) {  // in order to its end
    for (std::uint64_t n = 0; n < k_pages; ++n) timed.write(number * k_pages + n);
  };
  block(0);
  // The erase that a switch costs begins behind the program that has asked for the log.
  CHECK(timed.write(k_pages) == timed.plain());
  CHECK(timed.merges().switches == 1);
  CHECK(timed.write(k_pages + 1) == timed.plain());
  // Block 1 has k pages in order in the log: U - k are copied.
  CHECK(timed.write(2 * k_pages) == timed.plain() + timed.copies(k_pages - 2));
  CHECK(timed.merges().partials == 1);
  for (std::uint64_t n = 1; n < 11; ++n) CHECK(timed.write(2 * k_pages + n) == timed.plain());
  CHECK(timed.write(3 * k_pages + 5) == timed.plain() + timed.copies(k_pages - 11));
  CHECK(timed.merges().partials == 1);
  // Block 3 was not written from its start.
  CHECK(timed.write(4 * k_pages + 5) == timed.plain() + timed.copies(k_pages));
  CHECK(timed.merges().fulls == 1);
}

TEST_CASE("FAST in time: a log that is given up costs a full merge for each of its block-mapped regions",
          "[drive]") {
  const Given one_log({{"log_blocks", whole(1)}});
  const SsdConfig config = one_die("fast", one_log);
  Timed timed(config);
  timed.write(20 * k_pages);  // ends the run that the fill left
  constexpr std::uint64_t k_owners = 4;
  for (std::uint64_t n = 0; n < k_pages; ++n)
    CHECK(timed.write(n % k_owners * k_pages + 1 + n / k_owners) == timed.plain());
  // Every merge but the first finds the die erasing the data block of the one before.
  const Picoseconds expected =
      timed.plain() + k_owners * timed.copies(k_pages) + (k_owners - 1) * config.part.erase_latency;
  CHECK(static_cast<double>(timed.write(1)) == Approx(static_cast<double>(expected)).epsilon(0.001));
  CHECK(timed.merges().fulls == k_owners);
}

TEST_CASE("superblock in time: making room in one copies what is valid in its emptiest blocks", "[drive]") {
  const Given pair({{"log_blocks", whole(1)}, {"adjacent", whole(2)}, {"update_blocks", whole(1)}});
  Timed timed(one_die("superblock", pair));
  // The update block takes one block's worth of pages; then the block has no valid page left and
  // costs nothing but its erase, which comes behind the program.
  for (std::uint64_t n = 0; n < k_pages; ++n) CHECK(timed.write(n) == timed.plain());
  CHECK(timed.write(0) == timed.plain());
  // Now every page of blocks 0 and 1 in turn: the victim has half of its pages left.
  for (std::uint64_t n = 1; n < k_pages; ++n) CHECK(timed.write(n % 2 * k_pages + n) == timed.plain());
  const Picoseconds latency = timed.write(2);
  const auto copied = static_cast<std::uint32_t>(timed.merges().full_units);
  CHECK(copied > 0);
  CHECK(latency == timed.plain() + timed.copies(copied));
}

TEST_CASE("full merges of blocks over several dies take as much less time", "[drive]") {
  const Given one_log({{"log_blocks", whole(1)}});
  SsdConfig config = one_die("bast", one_log);
  config.flash.channels = 4;
  config.firmware.allocation.stripe = "C";
  config.firmware.gc.parallel_copies = 4;
  Timed timed(config);
  timed.write(5);
  const Picoseconds wait = timed.write(4 * k_pages + 5) - timed.plain();
  CHECK(timed.merges().fulls == 1);
  // 4 U units in batches of four: each die does what one die did for U of them, and the controller
  // the fourfold.
  const Picoseconds more = 3 * timed.parts().flash(1).total() * k_pages;
  CHECK(static_cast<double>(wait) == Approx(static_cast<double>(timed.copies(k_pages) + more)).epsilon(0.02));
}

TEST_CASE("a block-mapped region in time: read the rest, program all of it", "[drive]") {
  const Given whole_block({{"block", whole(k_pages * k_unit)}});
  Timed timed(one_die("block-mapped", whole_block));
  const auto program = timed.parts().program(k_page).total();
  const auto sense = timed.parts().sense(k_page, 0, 1).total();
  const Picoseconds rest =
      timed.parts().fetch(k_unit, true).command().buffer(1).flash(k_pages).complete().total();
  CHECK(static_cast<double>(timed.write(3)) ==
        Approx(static_cast<double>(rest + (k_pages - 1) * sense + k_pages * program)).epsilon(0.01));
  // All of it is written without a read; across two blocks both are read in part, and written.
  CHECK(static_cast<double>(timed.write(2 * k_pages, k_pages)) ==
        Approx(static_cast<double>(rest + k_pages * program)).epsilon(0.01));
  CHECK(static_cast<double>(timed.write(4 * k_pages + 8, k_pages)) ==
        Approx(static_cast<double>(rest + k_pages * sense + 2 * k_pages * program)).epsilon(0.03));
}

}  // namespace tlmssd::drive_tests
