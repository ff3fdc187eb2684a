// Utilisations of short runs: shares of the time measured, whatever the drive has booked beyond it.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/report/json_sink.h"
#include "testbench/report/statistics_view.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

/// A drive whose memories, bus, link or cores are slow, so that they are what is booked ahead.
SsdConfig slow_drive(RandomStream& random) {
  SsdConfig config;
  config.part.blocks_per_plane = 64;
  config.part.pages_per_block = 64;
  config.host.lba_size = 512;
  config.host.link = pick(random, {"sata1.5", "pcie1x1", "pcie3x4"});
  config.host.protocol = config.host.link.starts_with("sata") ? "sata" : "nvme";
  config.dram.bandwidth = pick<BytesPerSecond>(random, {100_MBps, 800_MBps, 25'600_MBps});
  config.bus.width = pick<std::uint32_t>(random, {8, 128});
  config.bus.clock = pick<Hertz>(random, {100_MHz, 800_MHz});
  config.cpu.clock = pick<Hertz>(random, {20_MHz, 500_MHz});
  config.firmware.buffer.mode = pick<const char*>(random, {"write-back", "write-through"});
  config.firmware.gc.background_start = 0;
  return config;
}

Words short_load(RandomStream& random) {
  Words words;
  words.rw = pick<const char*>(random, {"randwrite", "randwrite", "randrw", "randread", "randtrim"});
  words.bs = pick<Bytes>(random, {4_KiB, 64_KiB, 256_KiB});
  words.depth = pick<std::uint32_t>(random, {1, 8, 32});
  words.amount = words.bs * pick<Bytes>(random, {1, 8, 100});
  return words;
}

void check_shares(Simulation& simulation) {
  JsonSink sink;
  simulation.report(sink);
  for (const Utilisation& use : utilisations(sink.take())) {
    INFO(use.label);
    for (const double share : use.shares) {
      CHECK(share >= 0);
      CHECK(share <= 1);
    }
  }
}

/// Listens to how busy everything has been, and asks that reports say the same.
class Listener final : public BusySink {
 public:
  Listener(std::vector<Utilisation> reported, Picoseconds span)
      : reported_(std::move(reported)), span_(span) {}
  void busy(std::string_view label, Picoseconds time, std::size_t parts) override {
    INFO(label);
    const double share = static_cast<double>(time) / static_cast<double>(span_) / static_cast<double>(parts);
    if (label.starts_with("dies: ")) {
      of_dies_ += share;
      return;
    }
    const auto found = std::find_if(reported_.begin(), reported_.end(),
                                    [&](const Utilisation& use) { return use.label == label; });
    REQUIRE(found != reported_.end());
    CHECK((found->shares.size() == parts || found->shares.size() == 1));  // or all of them in one figure
    CHECK(share == Approx(found->mean()).margin(1e-9));
    if (label == "dies") dies_ = share;
    ++told_;
  }
  void end() const {
    CHECK(told_ == reported_.size());
    CHECK(of_dies_ == Approx(dies_).margin(1e-9));
  }

 private:
  std::vector<Utilisation> reported_;
  Picoseconds span_;
  std::size_t told_ = 0;
  double dies_ = 0;
  double of_dies_ = 0;
};

void check_busy(Simulation& simulation, const Measurement& measurement) {
  JsonSink sink;
  simulation.report(sink);
  std::vector<Utilisation> reported = plain_utilisations(sink.take());
  // Of a link whose directions take turns only both together are told.
  const bool half_duplex = std::any_of(reported.begin(), reported.end(),
                                       [](const Utilisation& use) { return use.label == "link"; });
  if (half_duplex) {
    std::erase_if(reported,
                  [](const Utilisation& use) { return use.label == "link in" || use.label == "link out"; });
  }
  Listener listener(std::move(reported), simulation.ssd().event_queue().now() - measurement.started());
  simulation.ssd().tell_busy(listener);
  listener.end();
}

}  // namespace

TEST_CASE("what is told of a resource's work is what reports say of it", "[drive]") {
  SsdConfig config;
  config.part.blocks_per_plane = 64;
  config.part.pages_per_block = 64;
  config.host.lba_size = 512;
  config.scm = ScmConfig{};
  config.firmware.cache.policy = "lru";
  config.firmware.cache.capacity = 4_MiB;
  config.firmware.ecc.policy = "fixed";
  config.flash.channels = 4;
  config.flash.organisation = "shared-control-gang";
  config.flash.gang = 2;
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 256_KiB, .size = 16_MiB});
  for (const char* rw : {"randread", "randrw"}) {
    std::vector<Load> loads = make_loads(
        {.rw = rw, .bs = 8_KiB, .depth = 16, .size = 16_MiB, .amount = 8_MiB}, simulation.drive_size(), 3);
    Measurement measurement({"load"});
    simulation.run(loads, measurement);
    check_busy(simulation, measurement);
  }
}

TEMPLATE_TEST_CASE_SIG("utilisations of short runs lie within 0 and 1", "[drive]", ((int Number), Number), 0,
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) {
  RandomStream random(Number, "utilisations");
  Simulation simulation(slow_drive(random));
  run_untimed(simulation, {.rw = "write", .bs = 256_KiB, .size = 16_MiB});
  // The later runs begin while what the earlier ones have booked is under way.
  for (int run = 0; run < 4; ++run) {
    std::vector<Load> loads = make_loads(short_load(random), simulation.drive_size(), Number);
    Measurement measurement({"load"});
    simulation.run(loads, measurement);
    check_shares(simulation);
    check_busy(simulation, measurement);
  }
}

}  // namespace tlmssd::drive_tests
