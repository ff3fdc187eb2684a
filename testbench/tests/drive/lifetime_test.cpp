// How much can be written until the flash is worn out, against closed forms.
//
// A block of N bytes that bears E cycles takes N E bytes. Of F bytes of flash, with write
// amplification WA, loads can write F E / WA. With a pSLC of which every byte is folded once, a
// cycle in SLC mode takes N / b bytes and counts for r = E / E(SLC) native ones: F E / (WA(native)
// + r b WA(SLC)).
#include <systemc>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "firmware/blocks/block_pool.h"
#include "testbench/report/json_sink.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

using Json = nlohmann::ordered_json;

SsdConfig lasting_drive() {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.dram.capacity = 64_MiB;
  config.flash.channels = 2;
  config.flash.ways = 1;
  config.part.planes = 2;
  config.part.page_size = 4096;
  config.part.pages_per_block = 32;
  config.part.blocks_per_plane = 80;
  config.part.endurance = 1500;
  config.capacity.over_provisioning = 0.3;
  config.firmware.allocation.multi_plane = true;
  config.firmware.buffer.capacity = 1_MiB;
  return config;
}

SsdConfig lasting_pslc_drive() {
  SsdConfig config = lasting_drive();
  config.part.cell = "qlc";
  config.part.slc_read_latency = 28_us;
  config.part.slc_program_latency = 200_us;
  config.part.slc_erase_latency = 5_ms;
  config.part.slc_endurance = 15'000;
  config.capacity.over_provisioning = 0.4;
  config.firmware.pslc.policy = "all";
  config.firmware.pslc.static_share = 0.02;
  return config;
}

Json statistics_of(const Simulation& simulation) {
  JsonSink sink;
  simulation.report(sink);
  return sink.take();
}

/// Statistics of this load, untimed.
Json statistics_of_load(Simulation& simulation, const Words& words, std::uint64_t seed = 1) {
  std::vector<Load> loads = make_loads(words, simulation.drive_size(), seed);
  simulation.run_untimed_together(loads);
  return statistics_of(simulation);
}

/// Writes the drive once, and then `amount` more of it, of which statistics are.
Json overwritten_drive(Simulation& simulation, const char* rw, Bytes bs, double amount) {
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB});
  const Bytes user = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = rw, .bs = bs, .amount = 3 * user});
  const auto bytes = static_cast<Bytes>(amount * static_cast<double>(user)) / bs * bs;
  return statistics_of_load(simulation, {.rw = rw, .bs = bs, .amount = bytes}, 2);
}

double figure(const Json& group, const char* name) {
  INFO(name);
  REQUIRE(group[name]["value"].is_number());
  return group[name]["value"].get<double>();
}

double flash_bytes(const Simulation& simulation) {
  return static_cast<double>(const_cast<Simulation&>(simulation).ssd().shape().geometry.bytes());
}

void check_parts(Simulation& simulation, const Json& lifetime) {
  const double written = figure(lifetime, "written");
  const double writes = written / static_cast<double>(simulation.ssd().user_bytes());
  CHECK(figure(lifetime, "drive_writes") == Approx(writes));
  CHECK(figure(lifetime, "drive_writes_per_day") == Approx(writes / 1825));
  CHECK(figure(lifetime, "cycles_per_drive_write") ==
        Approx(simulation.ssd().config().part.endurance / writes));
  // What the dies know of each block's wear.
  const Geometry& geometry = simulation.ssd().shape().geometry;
  double sum = 0;
  double most = 0;
  for (std::uint32_t die = 0; die < geometry.dies(); ++die) {
    for (std::uint32_t plane = 0; plane < geometry.planes; ++plane) {
      for (std::uint32_t block = 0; block < geometry.blocks; ++block) {
        const double wear =
            simulation.ssd().flash().die(DieId{die}).state().wear(PlaneId{plane}, BlockId{block});
        sum += wear;
        most = std::max(most, wear);
      }
    }
  }
  const double evenness = sum / (geometry.dies() * geometry.planes * geometry.blocks) / most;
  CHECK(evenness < 1);
  // With fewer than ten cycles it is chance which block has one more.
  if (most * simulation.ssd().config().part.endurance >= 10) {
    CHECK(figure(lifetime, "evenness") == Approx(evenness));
    CHECK(figure(lifetime, "written_first_block") == Approx(written * evenness));
  } else {
    CHECK(lifetime["evenness"]["value"].is_null());
    CHECK(lifetime["written_first_block"]["value"].is_null());
  }
}

void check_none(const Json& lifetime) {
  for (const char* name :
       {"written", "drive_writes", "drive_writes_per_day", "cycles_per_drive_write", "written_first_block"}) {
    INFO(name);
    CHECK(lifetime[name]["value"].is_null());
  }
}

}  // namespace

TEST_CASE("of a drive that is written in order the host can write flash x endurance", "[drive]") {
  const SsdConfig config = lasting_drive();
  Simulation simulation(config);
  const Json statistics = overwritten_drive(simulation, "write", 128_KiB, 4);
  CHECK(figure(statistics["firmware"]["write_amplification"], "total") == Approx(1).epsilon(0.01));
  CHECK(figure(statistics["lifetime"], "written") ==
        Approx(flash_bytes(simulation) * config.part.endurance).epsilon(0.01));
  check_parts(simulation, statistics["lifetime"]);
}

TEST_CASE("of a drive that collects the host can write flash x endurance / write amplification", "[drive]") {
  const SsdConfig config = lasting_drive();
  Simulation simulation(config);
  const Json statistics = overwritten_drive(simulation, "randwrite", 4_KiB, 6);
  const double amplification = figure(statistics["firmware"]["write_amplification"], "total");
  CHECK(amplification > 1.5);
  CHECK(figure(statistics["lifetime"], "written") ==
        Approx(flash_bytes(simulation) * config.part.endurance / amplification).epsilon(0.01));
  check_parts(simulation, statistics["lifetime"]);
}

// Both write amplifications: that of the layer, of what loads wrote, and that of the drive.
TEST_CASE("behind a log-structured host layer loads can write flash x endurance / both amplifications",
          "[drive]") {
  const SsdConfig config = lasting_drive();
  SimulationConfig layer;
  layer.log_structured.emplace();
  layer.log_structured->segment = 256_KiB;
  layer.log_structured->spare = 0.2;
  Simulation simulation(config, layer);
  const Json statistics = overwritten_drive(simulation, "randwrite", 4_KiB, 6);
  const double of_layer = figure(statistics["log_structured"], "write_amplification");
  const double of_drive = figure(statistics["firmware"]["write_amplification"], "total");
  CHECK(of_layer > 1.5);
  CHECK(figure(statistics["lifetime"], "written") ==
        Approx(flash_bytes(simulation) * config.part.endurance / (of_layer * of_drive)).epsilon(0.01));
  check_parts(simulation, statistics["lifetime"]);
}

TEST_CASE("a cycle in SLC mode takes less of the lifetime, and holds less", "[drive]") {
  for (const std::uint32_t slc_endurance : {0U, 15'000U}) {
    INFO(slc_endurance);
    in_child<int>([&] {
      SsdConfig config = lasting_pslc_drive();
      config.part.slc_endurance = slc_endurance;
      Simulation simulation(config);
      const Json statistics = overwritten_drive(simulation, "write", 128_KiB, 4);
      const Json& modes = statistics["firmware"]["write_amplification"]["by_mode"];
      const double in_slc =
          slc_endurance == 0 ? 4 : 4 * 1500.0 / 15'000;  // native cycles of a full native block's worth
      const double expected = flash_bytes(simulation) * config.part.endurance / (1 + in_slc);
      const double found = figure(statistics["lifetime"], "written");
      const bool good =
          figure(modes, "slc") == Approx(1).epsilon(0.02) &&
          figure(modes, "native") == Approx(1).epsilon(0.02) && found == Approx(expected).epsilon(0.02) &&
          figure(statistics["lifetime"], "wear_in_slc_mode") == Approx(in_slc / (1 + in_slc)).epsilon(0.02);
      if (!good)
        throw std::runtime_error(statistics["lifetime"].dump() + modes.dump() + std::to_string(expected));
      return 0;
    });
  }
  Simulation simulation(lasting_pslc_drive());
  check_parts(simulation, overwritten_drive(simulation, "randwrite", 16_KiB, 2)["lifetime"]);
}

TEST_CASE("what is programmed in each mode adds up to the write amplification", "[drive]") {
  // With write-through each program is padded.
  for (const auto& [when_full, mode] :
       {std::pair{"wait", "write-back"}, {"bypass", "write-back"}, {"wait", "write-through"}}) {
    INFO(when_full << ", " << mode);
    in_child<int>([&, when_full = when_full, mode = mode] {
      SsdConfig config = lasting_pslc_drive();
      config.firmware.pslc.when_full = when_full;
      config.firmware.buffer.mode = mode;
      Simulation simulation(config);
      const Json statistics = overwritten_drive(simulation, "randwrite", 4_KiB, 2);
      const Json& amplification = statistics["firmware"]["write_amplification"];
      const double slc = figure(amplification["by_mode"], "slc");
      const double native = figure(amplification["by_mode"], "native");
      std::uint64_t programs = 0;
      std::uint64_t in_slc = 0;  // pages, as the dies count them
      for (std::uint32_t die = 0; die < 2; ++die) {
        const DieState::Counts& counts = simulation.ssd().flash().die(DieId{die}).state().counts();
        programs += counts.programs;
        in_slc += counts.slc_programs;
      }
      const double pages = statistics["firmware"]["host_units_written_net"]["value"].get<double>();
      const bool good = slc > 0 && native > 0 && slc + native == Approx(figure(amplification, "total")) &&
                        slc == Approx(static_cast<double>(in_slc) / pages) &&
                        native == Approx(static_cast<double>(programs - in_slc) / pages);
      if (!good) throw std::runtime_error(amplification.dump());
      return 0;
    });
  }
  const Json plain = [&] {
    Simulation simulation(lasting_drive());
    return overwritten_drive(simulation, "write", 128_KiB, 1);
  }();
  CHECK_FALSE(plain["firmware"]["write_amplification"].contains("by_mode"));
}

TEST_CASE("there is no lifetime where nothing was written", "[drive]") {
  Simulation simulation(lasting_drive());
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB});
  run_untimed(simulation, {.rw = "randwrite", .amount = 3 * simulation.drive_size().bytes});
  const Json lifetime = statistics_of_load(simulation, {.amount = 1_MiB})["lifetime"];
  check_none(lifetime);
}

TEST_CASE("what the host can write is what the cycles of age have left of it", "[drive]") {
  static constexpr std::array k_names = {
      "written", "drive_writes", "drive_writes_per_day", "written_first_block", "cycles_per_drive_write",
      "evenness"};
  const auto lifetime_after = [](std::uint32_t cycles) {
    return in_child<std::array<double, k_names.size()>>([&] {
      Simulation simulation(lasting_drive());
      simulation.ssd().age(cycles, 0, 40, false);
      run_untimed(simulation, {.rw = "write", .bs = 128_KiB});
      const Bytes amount = 16 * simulation.drive_size().bytes;
      const Json lifetime =
          statistics_of_load(simulation, {.rw = "write", .bs = 128_KiB, .amount = amount})["lifetime"];
      if (lifetime.contains("cycles_before") != (cycles > 0)) throw std::runtime_error(lifetime.dump());
      std::array<double, k_names.size()> values{};
      for (std::size_t i = 0; i < k_names.size(); ++i) values.at(i) = figure(lifetime, k_names.at(i));
      return values;
    });
  };
  const double endurance = lasting_drive().part.endurance;
  const auto fresh = lifetime_after(0);
  const auto aged = lifetime_after(1350);
  for (std::size_t i = 0; i < k_names.size(); ++i) {
    INFO(k_names.at(i));
    CHECK(aged.at(i) == Approx(i < 4 ? (endurance - 1350) / endurance * fresh.at(i) : fresh.at(i)));
  }
}

TEST_CASE("a new drive lasts no longer because its blocks need no erase yet", "[drive]") {
  const SsdConfig config = lasting_drive();
  Simulation simulation(config);
  const Json statistics = statistics_of_load(simulation, {.rw = "write", .bs = 128_KiB});
  CHECK(statistics["firmware"]["flash"]["erases"]["value"] == 0);
  const Json& lifetime = statistics["lifetime"];
  CHECK(figure(lifetime, "written") == Approx(flash_bytes(simulation) * config.part.endurance).epsilon(0.02));
  CHECK(lifetime["evenness"]["value"].is_null());
}

TEST_CASE("data that lie in SLC mode at the end count as if they were folded, older ones as they were",
          "[drive]") {
  // Far less than its pSLC holds, a little less, more, and all of the drive; then the same again,
  // but for the first, of which nothing would be folded: it is overwritten where it lies in SLC
  // mode.
  for (const double share : {0.02, 0.1, 0.3, 1.0}) {
    INFO(share);
    in_child<int>([&] {
      const SsdConfig config = lasting_pslc_drive();
      Simulation simulation(config);
      const Geometry& geometry = simulation.ssd().shape().geometry;
      const double block = static_cast<double>(config.part.pages_per_block * config.part.page_size);
      const double in_slc = 1500.0 / 15'000;  // of a native cycle, one in SLC mode
      const auto bytes =
          static_cast<Bytes>(share * static_cast<double>(simulation.drive_size().bytes)) / 128_KiB * 128_KiB;
      for (int run = 0; run < (share < 0.1 ? 1 : 2); ++run) {
        const double found = figure(
            statistics_of_load(simulation, {.rw = "write", .bs = 128_KiB, .amount = bytes})["lifetime"],
            "written");
        // Every byte once in each mode; and of each plane a block in SLC mode is erased and not
        // full.
        const double cycles = static_cast<double>(bytes) / block * (1 + 4 * in_slc);
        const double open = geometry.dies() * geometry.planes * in_slc;
        const auto lasts = [&](double all_cycles) {
          return static_cast<double>(bytes) * flash_bytes(simulation) / block * config.part.endurance /
                 all_cycles;
        };
        if (found > 1.05 * lasts(cycles) || found < 0.95 * lasts(cycles + open))
          throw std::runtime_error(std::to_string(found / lasts(cycles)));
        if (share >= 0.1 && std::abs(found / lasts(cycles) - 1) > 0.05)
          throw std::runtime_error(std::to_string(found / lasts(cycles)));
      }
      return 0;
    });
  }
}

TEST_CASE("a new drive with a pSLC lasts as long as one in use", "[drive]") {
  const SsdConfig config = lasting_pslc_drive();
  Simulation simulation(config);
  const Json statistics = statistics_of_load(simulation, {.rw = "write", .bs = 128_KiB});
  const Json& modes = statistics["firmware"]["write_amplification"]["by_mode"];
  const double native = figure(modes, "native") + figure(modes, "slc") * 4 * 1500.0 / 15'000;
  CHECK(figure(statistics["lifetime"], "written") ==
        Approx(flash_bytes(simulation) * config.part.endurance / native).epsilon(0.03));
}

TEST_CASE("there is no lifetime where blocks bear any number of cycles", "[drive]") {
  SsdConfig config = lasting_drive();
  config.part.endurance = 0;
  Simulation simulation(config);
  const Json statistics = overwritten_drive(simulation, "randwrite", 4_KiB, 2);
  CHECK(statistics["firmware"]["flash"]["erases"]["value"] > 0);
  check_none(statistics["lifetime"]);
}

}  // namespace tlmssd::drive_tests
