// A drive with pSLC against closed forms: where sequential writing falls off the cliff, how fast it
// goes on while folding, what reads of fresh and of folded data take.
//
// Die times per row of SLC mode (B bytes: one page in every plane), with C read command, O data out, W data in, S status:
//   write  s = W + S + tPROG(SLC)          plus its share of the block's erase
//   fold   through the controller: r = C + tR(SLC) + O, and q = (n W + S + n tPROG) / n for its part of a native program unit of n pages;
//          on the die: (n C + n tR + P + S + n tPROG) / n
//   sustained rate = dies * B / (s + (1 + d) (r + q)), where d is what a byte written takes away from a pSLC that shrinks with the valid data
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>

#include "firmware/cache/cache.h"
#include "models/nand/bus_timing.h"
#include "testbench/report/json_sink.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint32_t k_dies = 2;

SsdConfig pslc_drive(std::uint32_t fixed, std::uint32_t dynamic) {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.host.link = "pcie6x16";
  config.cpu.cores = 16;
  config.cpu.clock = 2'000_MHz;
  config.dram.capacity = 256_MiB;
  config.dram.bandwidth = 50'000_MBps;
  config.bus.width = 1024;
  config.flash.channels = 1;
  config.flash.ways = k_dies;
  config.flash.bus = 1'000'000'000;
  config.part.cell = "qlc";
  config.part.program_unit = "word-line";
  config.part.planes = 2;
  config.part.page_size = 16384;
  config.part.pages_per_block = 256;
  config.part.blocks_per_plane = 200;
  config.part.read_latency = {static_cast<std::int64_t>(98_us)};
  config.part.program_latency = {static_cast<std::int64_t>(2185_us)};
  config.part.erase_latency = 10_ms;
  config.part.slc_read_latency = 28_us;
  config.part.slc_program_latency = 200_us;
  config.part.slc_erase_latency = 5_ms;
  config.capacity.over_provisioning = 0.25;
  config.firmware.allocation.multi_plane = true;
  config.firmware.buffer.capacity = 4_MiB;
  config.firmware.gc.idle_after = 1000_s;  // only when a test says so
  const Bytes blocks =
      k_dies * config.part.planes * config.part.page_size * (config.part.pages_per_block / 4);
  config.firmware.pslc.policy = fixed + dynamic > 0 ? "all" : "none";
  config.firmware.pslc.static_bytes = fixed * blocks;
  config.firmware.pslc.dynamic_bytes = dynamic * blocks;
  config.firmware.pslc.fold_below = 0;  // not before it is full
  return config;
}

struct DieTimes {
  double write;   ///< of a row in SLC mode, its share of the erase included, seconds
  double fold;    ///< of a row of it into native mode
  double native;  ///< of a row written to native mode
  Bytes row;
};

DieTimes die_times(const SsdConfig& config) {
  const NandPart& part = config.part;
  const BusTiming bus(part, config.flash.bus_rate(), config.firmware.mapping.unit);
  const std::uint32_t n = part.pages_per_program();
  const std::uint32_t slots =
      part.planes * static_cast<std::uint32_t>(part.page_size / config.firmware.mapping.unit);
  const auto seconds = [](Picoseconds time) { return static_cast<double>(time) * 1e-12; };
  const Picoseconds program = n * part.program_latency[0];
  const double native = seconds(bus.data_in(n * part.planes).total() + bus.status() + program) / n;
  DieTimes times{};
  times.row = part.planes * part.page_size;
  times.write = seconds(bus.data_in(part.planes).total() + bus.status() + part.slc_program_latency) +
                seconds(part.slc_erase_latency) / part.slc_pages_per_block();
  times.native = native;
  times.fold =
      seconds(bus.read_command(part.planes) + part.slc_read_latency + bus.data_out(0, slots).total()) +
      native;
  if (config.firmware.pslc.fold_by == "copyback") {
    times.fold = seconds(n * (bus.read_command(part.planes) + part.slc_read_latency) +
                         bus.copyback_program(n * part.planes) + bus.status() + program) /
                 n;
  }
  return times;
}

/// Bytes written by the end of each of so many equal steps of a sequential write.
struct Course {
  std::array<double, 400> seconds;
  double step;           ///< bytes
  double cliff_bytes;    ///< as the firmware has noted it; 0: never
  double cliff_seconds;  ///< since writing began
  double folding_bytes;  ///< the same of when folding began
  double folding_seconds;
};

/// Writes the bytes from `from` up to `end` one after the other.
void write(Simulation& simulation, Bytes from, Bytes end, const char* block, std::uint32_t depth) {
  LoadConfig words;
  words.kind.name = "write";
  words.generator.rw = "write";
  words.generator.bs = block;
  words.generator.iodepth = depth;
  words.generator.offset = std::to_string(from);
  words.generator.size = std::to_string(end - from);
  std::vector<Load> loads = tlmssd::make_loads(words, simulation.drive_size(), 1);
  Measurement measurement({"write"});
  simulation.run(loads, measurement);
}

/// Writes on from `fill` of the user capacity until `end`.
Course write_on(const SsdConfig& config, double fill, double end) {
  Simulation simulation(config);
  const Bytes user = simulation.drive_size().bytes;
  const auto at = [user](double share) {
    return static_cast<Bytes>(share * static_cast<double>(user)) / 1_MiB * 1_MiB;
  };
  if (fill > 0) run_untimed(simulation, {.rw = "write", .bs = 1_MiB, .size = at(fill)});
  simulation.idle();
  Course course{};
  course.step = static_cast<double>(at(end) - at(fill)) / static_cast<double>(course.seconds.size());
  Bytes done = 0;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    done += command.bytes;
    const auto steps = static_cast<std::size_t>(static_cast<double>(done) / course.step);
    for (std::size_t n = 0; n < std::min(steps, course.seconds.size()); ++n) {
      if (course.seconds[n] == 0) course.seconds[n] = static_cast<double>(command.completed) * 1e-12;
    }
  });
  write(simulation, at(fill), at(end), "128k", 8);
  simulation.driver().set_completion_hook(nullptr);
  JsonSink sink;
  simulation.report(sink);
  nlohmann::ordered_json firmware = sink.take()["firmware"];
  if (!firmware.contains("pslc")) return course;
  const nlohmann::ordered_json noted = firmware["pslc"]["cliff"];
  const auto number = [&](const char* name) {
    return noted[name]["value"].is_null() ? 0 : noted[name]["value"].get<double>();
  };
  course.cliff_bytes = number("written");
  course.cliff_seconds = number("time");
  course.folding_bytes = number("folding_written");
  course.folding_seconds = number("folding_time");
  return course;
}

/// Bytes per second between two points of the course, given as shares of it.
double rate(const Course& course, double from, double until) {
  const auto at = [&](double share) {
    return static_cast<std::size_t>(share * static_cast<double>(course.seconds.size() - 1));
  };
  return static_cast<double>(at(until) - at(from)) * course.step /
         (course.seconds[at(until)] - course.seconds[at(from)]);
}

/// Bytes after which writing falls behind the rate at which it went until half of `expected` bytes,
/// by a tenth of a second.
double cliff(const Course& course, double expected) {
  const auto step = [&](double bytes) { return static_cast<std::size_t>(bytes / course.step); };
  const std::size_t early = step(0.2 * expected);
  const std::size_t middle = step(0.5 * expected);
  const double pace = (course.seconds[middle] - course.seconds[early]) / static_cast<double>(middle - early);
  std::size_t n = middle;
  while (n < course.seconds.size() &&
         course.seconds[n] < course.seconds[middle] + static_cast<double>(n - middle) * pace + 0.1)
    ++n;
  return static_cast<double>(n) * course.step;
}

/// Bytes that fit into the pSLC of a drive that is filled to `fill` and goes on being filled by
/// them.
double room(const SsdConfig& config, double fill, Bytes user) {
  const firmware::PslcConfig& c = config.firmware.pslc;
  double low = 0;
  double high = static_cast<double>(c.static_bytes + c.dynamic_bytes);
  for (int n = 0; n < 60; ++n) {
    const double written = (low + high) / 2;
    const double full = fill + written / static_cast<double>(user);
    const double share = std::clamp((c.gone_at - full) / (c.gone_at - c.full_until), 0.0, 1.0);
    const bool fits =
        written <= static_cast<double>(c.static_bytes) + share * static_cast<double>(c.dynamic_bytes);
    (fits ? low : high) = written;
  }
  return low;
}

Bytes user_bytes(const SsdConfig& config) {
  return in_child<Bytes>([&] { return Simulation(config).drive_size().bytes; });
}

/// The firmware has noted the cliff at `expected` bytes, and when that was.
void check_noted(const Course& course, double expected, double tolerance) {
  CHECK(course.cliff_bytes == Approx(expected).epsilon(tolerance));
  // What is written has been taken; of that the last few commands have not ended.
  const auto step = static_cast<std::size_t>(course.cliff_bytes / course.step);
  const auto open = static_cast<std::size_t>(static_cast<double>(2_MiB) / course.step) + 2;
  REQUIRE(step > open);
  REQUIRE(step < course.seconds.size());
  CHECK(course.cliff_seconds >= course.seconds[step - open]);
  CHECK(course.cliff_seconds <= course.seconds[step]);
}

}  // namespace

TEST_CASE("the cliff of a sequential write lies where the pSLC of that fill is full", "[drive][figure]") {
  const SsdConfig config = pslc_drive(6, 80);
  const Bytes user = user_bytes(config);
  double before = 1e18;
  for (const double fill : {0.1, 0.25, 0.4, 0.5, 0.65}) {
    const double expected = room(config, fill, user);
    const double end = std::min(1.0, fill + 2.5 * expected / static_cast<double>(user));
    const Course course = in_child<Course>([&] { return write_on(config, fill, end); });
    INFO("filled to " << fill);
    // What lies in the write buffer has been taken, too.
    const double found = cliff(course, expected);
    CHECK(found == Approx(expected + static_cast<double>(config.firmware.buffer.capacity)).epsilon(0.05));
    CHECK(found < before);
    before = found;
    check_noted(course, expected + static_cast<double>(config.firmware.buffer.capacity), 0.05);
  }
}

TEST_CASE("a pSLC that nothing but the free space limits takes what that has room for", "[drive]") {
  constexpr std::uint32_t k_set_aside = 4;
  SsdConfig config = pslc_drive(0, 200);
  config.firmware.pslc.full_until = config.firmware.pslc.gone_at = 1;
  const NandPart& part = config.part;
  const double native = static_cast<double>(part.blocks_per_plane - k_set_aside) * k_dies * part.planes *
                        part.pages_per_block * static_cast<double>(part.page_size);
  const auto user = static_cast<double>(user_bytes(config));
  for (const double share : {0.5, 0.75, 1.0, 4.0 / 3}) {
    config.firmware.pslc.of_free_space = share;
    const double expected = share * native / (part.bits() + share);
    const Course course = in_child<Course>([&] { return write_on(config, 0, 1.8 * expected / user); });
    INFO("of the free space " << share);
    CHECK(cliff(course, expected) ==
          Approx(expected + static_cast<double>(config.firmware.buffer.capacity)).epsilon(0.03));
    check_noted(course, expected + static_cast<double>(config.firmware.buffer.capacity), 0.03);
  }
}

TEST_CASE("the cliff is noted where writes that find no room go to native blocks, and not before it",
          "[drive]") {
  SsdConfig config = pslc_drive(30, 0);
  config.firmware.pslc.when_full = "bypass";
  const auto size = static_cast<double>(config.firmware.pslc.static_bytes);
  const auto user = static_cast<double>(user_bytes(config));
  const Course course = in_child<Course>([&] { return write_on(config, 0, 2 * size / user); });
  check_noted(course, size + static_cast<double>(config.firmware.buffer.capacity), 0.03);
  const Course short_of_it = in_child<Course>([&] { return write_on(config, 0, 0.9 * size / user); });
  CHECK(short_of_it.cliff_bytes == 0);
  CHECK(short_of_it.cliff_seconds == 0);
  CHECK(short_of_it.folding_bytes == 0);
  CHECK(short_of_it.folding_seconds == 0);
}

TEST_CASE("folding begins, and is noted, when fold_below of the pSLC is left", "[drive]") {
  SsdConfig config = pslc_drive(30, 0);
  config.firmware.pslc.fold_until = 0.6;
  const auto user = static_cast<double>(user_bytes(config));
  const auto size = static_cast<double>(config.firmware.pslc.static_bytes);
  for (const double below : {0.2, 0.5}) {
    INFO("below " << below);
    config.firmware.pslc.fold_below = below;
    const Course course = in_child<Course>([&] { return write_on(config, 0, 1.5 * size / user); });
    // Of 30 blocks a group has one more in use when less than that is free.
    const double begins = (1 - below + 1.0 / 30) * size;
    CHECK(course.folding_bytes == Approx(begins).epsilon(0.08));
    CHECK(course.folding_seconds > 0);
    CHECK((course.cliff_bytes == 0 || course.cliff_bytes > 1.1 * course.folding_bytes));
  }
}

TEST_CASE("beyond the cliff writing goes on at the rate of writing, reading and folding in turn",
          "[drive][figure]") {
  for (const char* by : {"controller", "copyback"}) {
    SsdConfig config = pslc_drive(30, 0);
    config.firmware.pslc.fold_by = by;
    const DieTimes t = die_times(config);
    const Course course = in_child<Course>([&] { return write_on(config, 0, 0.8); });
    const double expected = k_dies * static_cast<double>(t.row) / (t.write + t.fold);
    INFO("folding by " << by);
    CHECK(rate(course, 0.5, 1) == Approx(expected).epsilon(0.05));
    // Before it at the rate of SLC mode, and afterwards slower than a drive without pSLC.
    CHECK(rate(course, 0.03, 0.05) == Approx(k_dies * static_cast<double>(t.row) / t.write).epsilon(0.05));
    const Course plain = in_child<Course>([&] { return write_on(pslc_drive(0, 0), 0, 0.8); });
    CHECK(rate(plain, 0.5, 1) == Approx(k_dies * static_cast<double>(t.row) / t.native).epsilon(0.02));
    CHECK(rate(course, 0.5, 1) < rate(plain, 0.5, 1));
  }
}

TEST_CASE("a pSLC that shrinks while it is written to has that much more to fold", "[drive]") {
  const SsdConfig config = pslc_drive(4, 60);
  const Bytes user = user_bytes(config);
  const DieTimes t = die_times(config);
  const auto& c = config.firmware.pslc;
  const double lost =
      static_cast<double>(c.dynamic_bytes) / ((c.gone_at - c.full_until) * static_cast<double>(user));
  const Course course = in_child<Course>([&] { return write_on(config, 0.3, 0.7); });
  const double expected = k_dies * static_cast<double>(t.row) / (t.write + (1 + lost) * t.fold);
  CHECK(rate(course, 0.5, 1) == Approx(expected).epsilon(0.05));
}

// Where the host is faster than the pSLC; where it is slower: tests/program/life_test.cpp.
TEST_CASE("a cache before a pSLC evicts what it needs room for, and one program more", "[drive]") {
  for (const char* const when_full : {"wait", "bypass"}) {
    SsdConfig config = pslc_drive(0, 6);
    config.firmware.pslc.when_full = when_full;
    config.firmware.cache.policy = "nv-wb";
    config.firmware.cache.medium = "dram";
    config.firmware.cache.capacity = 16_MiB;
    const Bytes all = 96_MiB;  // several times what the pSLC holds
    const auto evictions = in_child<std::uint64_t>([&]() -> std::uint64_t {
      Simulation simulation(config);
      write(simulation, 0, all, "4k", 32);
      const firmware::Ftl& ftl = simulation.ssd().ftl();
      return ftl.statistics().slc_units > 0 ? ftl.cache()->statistics().evictions : 0;
    });
    const Bytes unit = config.firmware.mapping.unit;
    const std::uint64_t kept_free = config.firmware.cache.capacity / unit / 5;  // evict_below_free
    const std::uint64_t needed = (all - config.firmware.cache.capacity) / unit + kept_free;
    const std::uint64_t program =
        config.part.planes * config.part.pages_per_program() * config.part.page_size / unit;
    INFO("when full: " << when_full);
    CHECK(evictions + program >= needed);
    CHECK(evictions <= needed + program);
  }
}

TEST_CASE("reads take the latency of the mode that their data are in", "[drive]") {
  SsdConfig config = pslc_drive(8, 0);
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 1_MiB, .size = 24_MiB});
  const std::vector<Step> steps{{HostOpcode::read, 1_MiB, 4096}, {HostOpcode::read, 5_MiB, 4096}};
  const std::vector<Seen> fresh = run_unloaded(simulation, steps);
  simulation.drain();
  simulation.idle();
  const std::vector<Seen> folded = run_unloaded(simulation, steps);
  for (std::size_t n = 0; n < steps.size(); ++n)
    CHECK(folded[n].latency - fresh[n].latency == config.part.read_latency[0] - config.part.slc_read_latency);
}

}  // namespace tlmssd::drive_tests
