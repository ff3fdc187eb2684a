// Error correction in the whole drive: what it costs an unloaded read to the picosecond, what
// becomes of data that cannot be decoded, and what refresh does in a year.
#include <systemc>

#include <catch2/catch.hpp>
#include <cmath>

#include "testbench/tests/drive/errors.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::drive_tests {
namespace {

/// Pages of one mapping page, so that a read of the host is one read of flash.
SsdConfig whole_pages() {
  SsdConfig config = drive("pcie3x4", 4096);
  config.firmware.mapping.unit = config.part.page_size;
  return config;
}

/// Random reads of whole units.
Load unit_reads(const DriveSize& size, Bytes unit, std::uint64_t count, std::uint32_t depth) {
  auto random = std::make_shared<RandomStream>(5, "unit reads");
  auto left = std::make_shared<std::uint64_t>(count);
  return make_load(
      [=](Request& request) {
        if (*left == 0) return false;
        --*left;
        request = {};
        request.opcode = HostOpcode::read;
        request.offset = random->below(size.bytes / unit) * unit;
        request.bytes = unit;
        return true;
      },
      size, depth);
}

}  // namespace

TEST_CASE("an unloaded read that is decoded takes the decoder's time more", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  config.firmware.ecc.policy = "fixed";
  Check check(config);
  check.fill(128_KiB);
  const auto decoded = [&](Parts parts, std::uint32_t units) {
    parts.add(Cause::decode, decode_time(config, EccCode::bch, units));
    return parts;
  };
  check.step(
      "one unit of page 0", {HostOpcode::read, 4096, 4096},
      decoded(
          check.parts().fetch().command().translate(1).map(1).flash(1).sense(PageId{0}, 1, 1).complete(4096),
          1));
  check.step("a whole page", {HostOpcode::read, 16_KiB, 16_KiB},
             decoded(check.parts()
                         .fetch()
                         .command()
                         .translate(4)
                         .map(4)
                         .flash(1)
                         .sense(PageId{0}, 0, 4)
                         .complete(16_KiB),
                     4));
  check.step("a unit that was never written", {HostOpcode::read, 1_MiB, 4096},
             check.parts().fetch().command().translate(1).map(1).complete(4096));
}

TEST_CASE("retries of an unloaded read take their times, one after another", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  // Best at step 10: cycles x ln(1 + days) / 100 = 10.
  config.errors = {"binomial", 0, 0, 0, {}, 0.01, 0.02, 1};
  config.retention.least_retention = (std::numbers::e - 1) * 86'400;
  with_rber(config, [](const ArrayOperation& stress) {
    return stress.cycles < 1000 ? 0 : 0.05 * std::log1p(stress.age_days);
  });
  config.firmware.ecc.policy = "retry-only";
  Check check(config);
  check.fill(128_KiB);
  check.simulation().ssd().age(1000, 0, 40, false);
  // Steps that the unit's four frames need, by the oracle: unit 1 lies on die 0, block 0, page 0.
  const auto oracle = bit_errors_of(config);
  std::uint32_t retries = 0;
  for (bool bears = false; !bears; ++retries) {
    REQUIRE(retries <= 40);
    const BitErrors::Place place{DieId{0}, PlaneId{0}, BlockId{0}, PageId{0}, 0};
    std::array<std::uint32_t, 4> wrong{};
    oracle->draw(
        place,
        oracle->rber(place, {.cycles = 1000, .age_days = std::numbers::e - 1, .reads_per_page = 1}, retries),
        4, 4, wrong.data());
    bears = *std::max_element(wrong.begin(), wrong.end()) <= config.ecc.of(EccCode::bch).correctable;
  }
  --retries;
  REQUIRE(retries > 2);
  Parts parts =
      check.parts().fetch().command().translate(1).map(1).flash(1).sense(PageId{0}, 1, 1).complete(4096);
  const BusTiming bus(config.part, config.flash.bus_rate(), 4096);
  const Picoseconds decode = decode_time(config, EccCode::bch, 1);
  const Picoseconds again = cycle_time(config.cpu.cycles.flash, config.cpu.clock) + bus.read_command(1) +
                            config.part.read_time(PageId{0}) + bus.data_out(1, 1).total() + decode;
  parts.add(Cause::decode, decode);
  parts.add(Cause::retry, retries * again);
  check.step("one unit of page 0", {HostOpcode::read, 4096, 4096}, parts);
  const firmware::FtlStatistics& s = check.simulation().ssd().ftl().statistics();
  CHECK(s.retried_reads == 1);
  CHECK(s.retries == retries);
  CHECK(s.lost_reads == 0);
}

TEMPLATE_TEST_CASE_SIG("whatever cannot be decoded is a media error for the host, once for each read",
                       "[drive]", ((int Policy), Policy), 0, 1, 2, 3) {
  SsdConfig config = whole_pages();
  constexpr std::array k_policies = {"fixed", "conventional", "aoa-ecc", "retry-only"};
  config.firmware.ecc.policy = k_policies[Policy];
  const Given few({{"steps", whole(3)}});
  config.firmware.ecc_policy = borrowed(few);
  for (CodeConfig& code : config.ecc.codes) code.correctable = 60;
  with_rber(config, [](const ArrayOperation&) {
    return 0.0038;
  });  // 34 of 60 on average; a frame in hundreds has more
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  CHECK(simulation.driver().failed() == 0);
  std::vector<Load> loads = one(unit_reads(simulation.drive_size(), 16_KiB, 3000, 8));
  Measurement measurement({"reads"});
  simulation.run(loads, measurement);
  const firmware::FtlStatistics& s = simulation.ssd().ftl().statistics();
  const auto& seen = measurement.load(0).operation(HostOpcode::read);
  INFO(config.firmware.ecc.policy << ": " << s.lost_reads << " of " << seen.count() << " lost");
  CHECK(seen.count() == 3000);
  CHECK(s.lost_reads > 30);
  CHECK(s.lost_reads < 1500);
  CHECK(seen.with_status(HostStatus::media_error) == s.lost_reads);
  CHECK(seen.errors() == s.lost_reads);
  CHECK(simulation.driver().failed() == s.lost_reads);
  CHECK(s.uncorrectable_units == s.lost_reads);
  std::uint64_t failed_pages = 0;
  for (std::size_t c = 1; c < k_ecc_codes; ++c)
    failed_pages += simulation.ssd().flash().controller().ecc().counts(static_cast<EccCode>(c)).failed_pages;
  CHECK(failed_pages == s.lost_reads + s.retries);
}

TEST_CASE("of reads of more than 64 mapping pages the host loses what the decoders could not decode",
          "[drive]") {
  SsdConfig config = drive("pcie3x4", 512);
  config.part.page_size = 64_KiB;
  config.part.spare_size = 8_KiB;
  config.firmware.mapping.unit = 512;
  config.firmware.allocation.multi_plane = true;
  config.firmware.ecc.policy = "fixed";
  config.ecc.frame = 512;
  config.ecc.parity = 64;
  config.ecc.codes[static_cast<std::size_t>(EccCode::bch)].correctable = 20;
  with_rber(config, [](const ArrayOperation&) { return 0.0021; });
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::vector<Load> loads = one(unit_reads(simulation.drive_size(), 128_KiB, 200, 1));
  Measurement measurement({"reads"});
  simulation.run(loads, measurement);
  const firmware::FtlStatistics& s = simulation.ssd().ftl().statistics();
  const EccEngines::Counts& decoders = simulation.ssd().flash().controller().ecc().counts(EccCode::bch);
  // Each read is made once, and a frame is a mapping page.
  CHECK(decoders.frames == 200 * 256);
  CHECK(decoders.failed_frames > 20);
  CHECK(s.lost_frames == decoders.failed_frames);
  CHECK(s.host_lost_frames == decoders.failed_frames);
  CHECK(s.host_units_lost == decoders.failed_frames);
  CHECK(s.uncorrectable_units == decoders.failed_frames);
}

TEST_CASE("random commands under errors near the limit leave the data that are not lost as they were",
          "[drive]") {
  SsdConfig config = drive("pcie3x4", 512);
  config.check_protocol = true;
  config.firmware.ecc.policy = "conventional";
  with_rber(config, [](const ArrayOperation& s) { return 0.0085 + 1e-5 * s.reads_per_page; });
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::uint64_t media_errors = 0;
  std::uint64_t others = 0;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    media_errors += command.status == HostStatus::media_error ? 1 : 0;
    others += command.status != HostStatus::media_error && command.status != HostStatus::success ? 1 : 0;
  });
  const std::uint64_t failed = simulation.driver().failed();
  std::vector<Load> loads = one(
      mixed_load({.requests = 6000, .depth = 16, .hot_blocks = 1'000'000'000}, simulation.drive_size(), 3));
  Measurement measurement({"mixed"});
  simulation.run(loads, measurement);
  const firmware::FtlStatistics& s = simulation.ssd().ftl().statistics();
  CHECK(s.retried_reads > 100);
  CHECK(s.gc_victims > 10);
  CHECK(others == 0);
  CHECK(simulation.driver().failed() - failed == media_errors);
  CHECK(simulation.scoreboard().mismatches() == 0);
  simulation.drain();
  simulation.ssd().finish_checks();
}

namespace {

constexpr double k_reach = 0.0034;  // raw bit error rate that BCH bears at a frame failure rate of 1e-6

/// Data that age past the code's reach in 33 days, and a drive that looks after them or not.
struct Year {
  explicit Year(bool refresh) : config(whole_pages()) {
    with_rber(config, [](const ArrayOperation& stress) { return 1e-4 * (1 + stress.age_days); });
    config.errors = {"binomial", 0, 0, 0, {}, 0, 0, 1};
    config.firmware.ecc.policy = "fixed";
    if (!refresh) return;
    choose(config.firmware, "firmware.refresh", "limits",
           {{"retention", Value(20 * k_day)}, {"reads", whole(0)}, {"patrol", Value(k_day)}});
  }
  static double worst(Simulation& simulation) {
    double result = 0;
    const Geometry& g = simulation.ssd().shape().geometry;
    for (std::uint32_t d = 0; d < g.dies(); ++d) {
      const DieState& die = simulation.ssd().flash().die(DieId{d}).state();
      for (std::uint32_t plane = 0; plane < g.planes; ++plane) {
        for (std::uint32_t block = 0; block < g.blocks; ++block) {
          const DieState::Block& state = die.block(PlaneId{plane}, BlockId{block});
          if (state.next_page == 0) continue;
          result = std::max(result, die.rber(PlaneId{plane}, BlockId{block}, PageId{0}, 0,
                                             simulation.ssd().event_queue().now()));
        }
      }
    }
    return result;
  }
  static std::uint64_t media_errors(Simulation& simulation) {
    std::vector<Load> all = one(read_all(simulation.drive_size(), 8));
    Measurement measurement({"all"});
    simulation.run(all, measurement);
    return measurement.load(0).operation(HostOpcode::read).errors();
  }
  SsdConfig config;
};

}  // namespace

TEST_CASE("in a year without refresh data age beyond what the code bears", "[drive]") {
  Year year(false);
  Simulation simulation(year.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  simulation.rest({.retention = 365 * k_day, .powered = true});
  CHECK(Year::worst(simulation) == Approx(1e-4 * 366));
  CHECK(Year::media_errors(simulation) > 0);
}

TEST_CASE("refresh keeps a year's data within what the code bears, and says what it wrote", "[drive]") {
  if (!has_feature("firmware.refresh")) return;
  Year year(true);
  Simulation simulation(year.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  const std::uint64_t units = simulation.drive_size().bytes / 16_KiB;
  simulation.rest({.retention = 365 * k_day, .powered = true});
  const firmware::FtlStatistics& s = simulation.ssd().ftl().statistics();
  CHECK(Year::worst(simulation) < 1e-4 * 22);
  CHECK(Year::worst(simulation) < k_reach);
  // At every twentieth of the daily patrols all data are moved.
  CHECK(s.units_programmed[static_cast<std::size_t>(Purpose::refresh)] == 18 * units);
  CHECK(simulation.ssd().ftl().write_amplification() >= 19);
  CHECK(s.units_programmed[static_cast<std::size_t>(Purpose::gc)] == 0);
  CHECK(Year::media_errors(simulation) == 0);
}

TEST_CASE("refresh keeps the data of a drive in the middle of its life, too", "[drive]") {
  if (!has_feature("firmware.refresh")) return;
  Year year(true);
  Simulation simulation(year.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  run_untimed(simulation, {.rw = "randwrite", .bs = 16_KiB, .amount = 3 * simulation.drive_size().bytes});
  simulation.rest({.retention = 365 * k_day, .powered = true});
  CHECK(simulation.ssd().ftl().statistics().feature_moves() > 0);
  CHECK(Year::media_errors(simulation) == 0);
}

}  // namespace tlmssd::drive_tests
