// Findings: what limits the drive is named where it is planted, and so is what the slowest commands
// wait for.
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {

TEST_CASE("what suspending costs is up to where programs stop for it", "[program]") {
  const Json report = run_with(
      {"load.iodepth=1", "load.rwmixread=95", "load.ramp_requests=2000", "load.number_ios=8000",
       "ssd.flash.suspend=program", "ssd.flash.scheduling={policy: read-first, starvation_bound: 10 s}",
       "ssd.flash.part.program_latency=[3 ms]", "ssd.flash.part.program_suspend_latency=1 ms",
       "ssd.flash.part.erase_latency=200 us", "ssd.flash.part.max_suspends=1000"});
  REQUIRE(report["findings"].size() == 1);
  CHECK(report["findings"][0]["cause"] == "suspend");
  CHECK(report["findings"][0]["look_at"] == "ssd.flash.part.program_suspend_latency");
}

TEST_CASE("a write whose program stands suspended is told that it is for reads, and what ends that",
          "[program][figure]") {
  const Settings settings = {
      "load=[{name: reader, rw: randread, bs: 4k, iodepth: 16, loops: 100, number_ios: 30000}, {name: "
      "writer, "
      "rw: randwrite, bs: 4k, iodepth: 64, rate_iops: 50, loops: 100, number_ios: 300}]",
      "firmware.buffer.mode=write-through",
      "ssd.flash.suspend=both",
      "ssd.flash.scheduling={policy: read-first, starvation_bound: 10 s}",
      "ssd.flash.part.program_latency=[2 ms]",
      "ssd.flash.part.max_suspends=1000"};
  const auto writes = [](const Json& report) {
    return report["results"]["loads"][1]["operations"]["write"]["latency"]["p99.9"].get<double>();
  };
  const Json report = run_with(settings);
  CHECK(told(report, "p99.9 of writer write") == "being suspended for reads");
  CHECK(told(report, "p99.9 of writer write", "look_at") ==
        "ssd.flash.suspend, ssd.flash.part.max_suspends or ssd.flash.scheduling");
  for (const char* remedy : {"ssd.flash.suspend=none", "ssd.flash.part.max_suspends=4",
                             "ssd.flash.scheduling.starvation_bound=5 ms"}) {
    Settings changed = settings;
    changed.emplace_back(remedy);
    INFO(remedy);
    CHECK(writes(run_with(changed)) < writes(report) / 2);
  }
}

TEST_CASE("where stages are pinned to cores, the busiest limits, however many there are",
          "[program][figure]") {
  for (const std::string cores : {"2", "8"}) {
    const Json report =
        run_with({"load.rw=randread", "load.iodepth=32",
                  "ssd.cpu={cores: " + cores +
                      ", clock: 2 MHz, cycles: {command: 150, complete: 100, translate: 50, flash: 180}, "
                      "assignment: {command: [0], complete: [0], translate: [1], buffer: [1], flash: [1], "
                      "gc: [1]}}"});
    INFO(report["findings"].dump());
    const Json limit = finding(report, "one of the cores, core 0: ");
    REQUIRE_FALSE(limit.empty());
    CHECK(limit["look_at"] == "ssd.cpu.clock or ssd.cpu.assignment");
    CHECK_THAT(limit["text"].get<std::string>(), Catch::Contains("bounds the rate at 1.00 times"));
    CHECK(told(report, "p99.9 of read", "look_at") == "ssd.cpu.clock or ssd.cpu.assignment");
  }
}

TEST_CASE("bus and memory behind it that are as busy as each other are named together", "[program][figure]") {
  const auto mean = [](const Json& report) {
    return report["results"]["loads"][0]["operations"]["read"]["latency"]["mean"].get<double>();
  };
  const auto run_at = [](const std::string& clock, const std::string& bandwidth) {
    return run_with({"load.rw=randread", "load.iodepth=32", "ssd.bus.clock=" + clock, "ssd.bus.width=8",
                     "ssd.dram.bandwidth=" + bandwidth});
  };
  const Json both = run_at("20 MHz", "20 MB/s");
  CHECK(told(both, "p99.9 of read") == "the system bus and the DRAM");
  CHECK(told(both, "p99.9 of read", "look_at") ==
        "ssd.bus.clock or ssd.bus.width together with ssd.dram.bandwidth");
  const Json bus = run_at("20 MHz", "40 MB/s");
  CHECK(told(bus, "p99.9 of read") == "the system bus");
  CHECK(mean(bus) > 0.9 * mean(both));
  const Json dram = run_at("40 MHz", "20 MB/s");
  CHECK(told(dram, "p99.9 of read") == "the DRAM");
  CHECK(mean(dram) > 0.9 * mean(both));
  CHECK(mean(run_at("40 MHz", "40 MB/s")) < 0.6 * mean(both));
}

TEST_CASE("suspending is not named where it is at work", "[program][figure]") {
  const auto look_at = [](const Settings& more) {
    Settings settings = {"load.iodepth=1",
                         "load.rwmixread=95",
                         "load.ramp_requests=2000",
                         "load.number_ios=8000",
                         "ssd.flash.scheduling={policy: read-first, starvation_bound: 10 s}",
                         "ssd.flash.part.program_latency=[3 ms]",
                         "ssd.flash.part.max_suspends=1000"};
    settings.insert(settings.end(), more.begin(), more.end());
    const Json report = run_with(settings);
    for (const Json& one : report["findings"]) {
      if (one["text"].get<std::string>().starts_with("p99.9 of read"))
        return one["look_at"].get<std::string>();
    }
    return std::string("no such finding");
  };
  CHECK(look_at({}) == "ssd.flash.spare_factor, ssd.flash.suspend or firmware.gc");
  CHECK(look_at({"ssd.flash.suspend=both", "ssd.flash.part.max_suspends=0"}) ==
        "ssd.flash.spare_factor, ssd.flash.part.max_suspends or firmware.gc");
  // Each program is one pulse, to whose end a read waits.
  CHECK(look_at({"ssd.flash.suspend=both", "ssd.flash.part.suspend_point=next"}) ==
        "ssd.flash.part.suspend_point or ssd.flash.ways");
  CHECK(look_at({"ssd.flash.suspend=erase"}) == "ssd.flash.suspend or ssd.flash.ways");
}

TEST_CASE("suspending is named to reads alone", "[program][figure]") {
  const std::string suspend = "ssd.flash.suspend";
  bool named = false;
  const Json mixed = run_with({"load.rwmixread=30"});
  for (const Json& one : mixed["findings"]) {
    const bool names = one["look_at"].get<std::string>().find(suspend) != std::string::npos;
    named |= names;
    CHECK(names == one["text"].get<std::string>().starts_with("p99.9 of read"));
  }
  CHECK(named);
  const Json writes = run_with({"load.rw=randwrite"});
  REQUIRE(writes["findings"][0]["cause"] == "collection");
  for (const Json& one : writes["findings"]) CHECK(one["look_at"] == "ssd.flash.spare_factor or firmware.gc");
}

TEST_CASE("the first finding names what was planted, and so does p99.9", "[program][figure]") {
  const auto first = [](const Json& report) { return report["findings"][0]["cause"].get<std::string>(); };
  // Behind what is said of the dies.
  const auto of_load = [](const Json& report) { return told(report, "p99.9 of oltp read"); };
  const auto share = [](const Json& report, const char* load, const std::vector<std::string>& causes) {
    for (const Json& one : report["results"]["loads"]) {
      if (one["name"] != load) continue;
      const Json& told = one["operations"]["read"]["percentiles"]["p99.9"];
      double sum = 0;
      double total = 0;
      for (const auto& [cause, part] : told["ledger"].items()) {
        total += part["ns"].get<double>();
        if (std::find(causes.begin(), causes.end(), cause) != causes.end())
          sum += part["share"].get<double>();
      }
      CHECK(total == Approx(told["latency_ns"].get<double>()));
      CHECK(told["latency_ns"] == one["operations"]["read"]["latency"]["p99.9"]);
      return sum;
    }
    return 0.0;
  };
  // Dies that do nothing but read: without that the channels limit.
  const Json reads = run_with({"load.rw=randread", "load.iodepth=32"});
  INFO(reads["findings"][0].dump());
  const double bound = most_times(reads["findings"][0]);
  CHECK(bound > 1);
  for (const char* channel : {"channel_0", "channel_1"}) {
    const Json& bus = reads["statistics"]["flash"][channel]["bus_utilisation"]["value"];
    CHECK(bound <= 1.05 / bus.get<double>());
  }

  const Json collection = run_with({"load.iodepth=4", "load.rwmixread=30"});
  CHECK(first(collection) == "collection");
  CHECK(share(collection, "load", {"die busy: gc"}) > 0.5);

  const Json neighbour = run_with(
      {"load.0.rw=randread", "load.0.iodepth=1", "load.0.ramp_requests=0", "load.0.number_ios=20000"},
      with_neighbour("name: backup, rw: read, bs: 1m, iodepth: 4, number_ios: 3000, loops: 1000"));
  CHECK(of_load(neighbour) == "reads of backup");
  CHECK(share(neighbour, "oltp", {"die busy: read"}) > 0.5);

  const Json writer = run_with(
      {"load.0.rw=randread", "load.0.iodepth=1", "load.0.ramp_requests=0", "load.0.number_ios=20000"},
      replaced(with_neighbour("name: backup, rw: write, bs: 1m, iodepth: 4, loops: 1000, runtime: 1s"),
               ", {overwrite: 3x, order: random}", ""));
  CHECK(first(writer) == "writes of backup");
  CHECK(share(writer, "oltp", {"die busy: program"}) > 0.5);

  // A neighbour whose writes make collection work.
  const Json used = run_with(
      {"load.0.rw=randread", "load.0.iodepth=1", "load.0.ramp_requests=0", "load.0.number_ios=20000"},
      with_neighbour("name: backup, rw: randwrite, bs: 16k, iodepth: 4, loops: 1000, runtime: 1s"));
  CHECK(first(used) == "collection for writes of backup");
  CHECK(share(used, "oltp", {"die busy: gc"}) > 0.5);

  // At any depth, also where reads wait for earlier writes of their blocks, which wait for room.
  for (const std::string depth : {"2", "16", "64"}) {
    for (const std::string seed : {"7", "8", "9"}) {
      INFO("depth " << depth << ", seed " << seed);
      const Json deep = run_with({"load.iodepth=" + depth, "seed=" + seed});
      CHECK(first(deep) == "collection");
      CHECK(share(deep, "load", {"die busy: gc", "space wait", "buffer wait"}) > 0.9);
      CHECK(share(deep, "load", {"die busy: gc", "space wait"}) > 0.2);
      for (const Json& found : deep["findings"]) CHECK(found["cause"] == "collection");
    }
  }

  const Json channels = run_with({"load.rw=randread", "load.bs=16k", "load.iodepth=16",
                                  "load.ramp_requests=0", "load.number_ios=5000", "ssd.flash.channels=4",
                                  "ssd.flash.part.cell=slc", "ssd.flash.bus=66 MT/s"});
  CHECK(first(channels) == "the flash channels");

  // Collection, too, is as slow as the bus that its data take.
  for (const std::string seed : {"1", "2", "3"}) {
    const Json narrow = run_with({"seed=" + seed, "load.rwmixread=30", "load.bs=16k", "load.iodepth=32",
                                  "ssd.flash.channels=1", "ssd.flash.ways=4", "ssd.flash.bus=10 MT/s",
                                  "ssd.flash.part.cell=tlc", "load.number_ios=30000"});
    CHECK(first(narrow) == "the flash channels");
    const Json memory = run_with({"seed=" + seed, "load.rw=randwrite", "load.number_ios=30000",
                                  "ssd.bus.clock=10 MHz", "ssd.bus.width=8"});
    CHECK(first(memory) == "the system bus");
  }

  const Json bus =
      run_with({"load.rw=randread", "load.iodepth=32", "ssd.bus.clock=20 MHz", "ssd.bus.width=8"});
  CHECK(first(bus) == "the system bus");
  CHECK(share(bus, "load", {"memory", "map fetch"}) > 0.5);

  const Json link =
      run_with({"load.rw=read", "load.bs=64k", "load.iodepth=32", "ssd.host.link=pcie1x1",
                "ssd.flash.channels=8", "ssd.flash.ways=4", "load.ramp_requests=0", "load.number_ios=5000"});
  CHECK(first(link) == "the host link");
  CHECK(share(link, "load", {"link"}) > 0.5);
}

TEST_CASE("what limits is named where it is none of link, cores, memory, channels and dies",
          "[program][figure]") {
  struct Case {
    std::string cause;
    std::string look_at;
    std::string text;
    Settings settings = {};
  };
  const std::string small =
      flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB");
  const std::string reads = drive_with(small, k_fill + "load: {rw: randread, bs: 4k, number_ios: 4000}\n");
  const std::string folding = R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, user_capacity: 1 GiB, over_provisioning: 40 %, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  pslc: {policy: all, static: 5 %, dynamic: 10 %, when_full: wait}
load: {rw: write, bs: 128k, iodepth: 8, size: 700m}
)";
  const std::string limit = "the limit of commands under way";
  const std::string own_limit = "the load's own limit of commands under way";
  const std::vector<Case> cases = {
      {"the SCM", "ssd.scm.banks or ssd.scm.read_latency or ssd.scm.program_latency",
       replaced(
           drive_with(flash_of("channels: 2, ways: 2, user_capacity: 256 MiB, over_provisioning: 50 %",
                               "planes: 1, page_size: 16 KiB"),
                      "firmware: {mapping: {unit: 16 KiB}, cache: {policy: nv-wb, grain: 4 KiB}}\n" + k_fill +
                          "load: {rw: randwrite, bs: 4k, iodepth: 16, size: 32m, number_ios: 4000}\n"),
           "  dram:", "  scm: {capacity: 64 MiB, program_latency: 50 us}\n  dram:")},
      {"folding", "firmware.pslc", folding},
      {"merges of log blocks", "firmware.mapping.log_blocks",
       drive_with("channels: 1, ways: 2, over_provisioning: 40 %, part: {cell: slc, planes: 1, "
                  "blocks_per_plane: 120, pages_per_block: 24, page_size: 4 KiB}",
                  "firmware: {buffer: {capacity: 64 KiB}, mapping: {scheme: fast, log_blocks: 4}}\n" +
                      k_fill + "load: {rw: randwrite, bs: 4k, number_ios: 2000}\n")},
      {"pages of the map",
       "firmware.mapping.cache",
       reads,
       {"firmware.mapping={scheme: dftl, cache: 16 KiB}"}},
      {"room in the write buffer", "firmware.buffer.capacity",
       drive_with(flash_of("channels: 4, ways: 4, user_capacity: 256 MiB", "planes: 1, page_size: 16 KiB"),
                  "firmware: {mapping: {unit: 4 KiB}, buffer: {capacity: 32 KiB}}\n"
                  "load: {rw: write, bs: 16k, iodepth: 32, number_ios: 4000}\n")},
      {limit, "ssd.host.outstanding_limit", reads, {"ssd.host.outstanding_limit=1", "load.iodepth=32"}},
      {limit,
       "ssd.host.queue_depth",
       reads,
       {"ssd.host.queue_depth=1", "ssd.host.queues=1", "load.iodepth=64", "load.rate_iops=40000"}},
      {own_limit, "load.iodepth", reads, {"load.iodepth=1", "load.rate_iops=40000"}},
      {own_limit,
       "load.iodepth",
       reads,
       {"load.iodepth=1", "load.rate_iops=40000", "load.thinktime=1 us", "load.thinktime_blocks=100"}},
      {"thinktime",
       "load.thinktime",
       reads,
       {"load.iodepth=4", "load.rate_iops=2000", "load.thinktime=4 ms", "load.thinktime_blocks=16"}},
      {"interrupt coalescing",
       "ssd.host.coalesce_time or ssd.host.coalesce_count",
       reads,
       {"ssd.host.coalesce_count=8"}},
      {"the BCH decoders", "ssd.flash.ecc.engines or ssd.flash.ecc.bch.throughput",
       drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                           "planes: 1, page_size: 16 KiB, spare_size: 1680 B") +
                      ", reliability: {model: power-law}, ecc: {bch: {throughput: 20 MB/s}}",
                  "firmware: {ecc: {policy: retry-only, code: bch}}\n" + k_fill +
                      "load: {rw: randread, bs: 16k, iodepth: 16, number_ios: 2000}\n")},
      {"the lines that channels share", "ssd.flash.gang or ssd.flash.bus",
       drive_with(
           flash_of("channels: 2, ways: 2, user_capacity: 128 MiB, organisation: shared-bus-gang, gang: 2",
                    "planes: 2, page_size: 16 KiB"),
           k_fill + "load: {rw: read, bs: 256k, iodepth: 16, number_ios: 1000, loops: 20}\n")}};
  for (const auto& [cause, look_at, text, settings] : cases) {
    INFO(look_at);
    const Json report = run_with(settings, text);
    REQUIRE_FALSE(report["findings"].empty());
    REQUIRE(report["findings"].back()["cause"] != "the times of requests");
    INFO(report["findings"].dump());
    for (const Json& one : report["findings"]) {
      if (one["cause"] == "the times of requests") continue;  // more is not asked for
      CHECK(one["cause"] == cause);
      CHECK(one["look_at"] == look_at);
    }
    // What is to be looked at is there.
    const Folder folder;
    const std::string scenario = folder.write("s.yaml", text);
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 4) {
      end = look_at.find(" or ", begin);
      const std::string key = look_at.substr(begin, end - begin);
      const std::string said = run(folder, {"check", scenario, "--set", key + "=nothing of the kind"}).err;
      INFO(said);
      CHECK(said.find(key) != std::string::npos);
      CHECK(said.find("is not known") == std::string::npos);
    }
  }
}

TEST_CASE("a wait for a limit beside what is busy for a part of the time is told as both, or as the limit",
          "[program][figure]") {
  const std::string small =
      flash_of("channels: 4, ways: 2, user_capacity: 256 MiB", "planes: 1, page_size: 4 KiB");
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const auto told = [](const Json& report) { return report["findings"].back().dump(); };
  SECTION("the load's own limit") {
    const std::string text = drive_with(
        small, k_fill + "load: {rw: randread, bs: 4k, iodepth: 6, rate_iops: 200k, number_ios: 8000}\n");
    const Json report = run_with({}, text);
    INFO(told(report));
    CHECK_THAT(told(report), Catch::Contains("the load's own limit of commands under way"));
    CHECK_THAT(told(report), Catch::Contains("reads of the flash"));
    // Both are remedies.
    CHECK(iops(run_with({"load.iodepth=24"}, text)) > 1.2 * iops(report));
    CHECK(iops(run_with({"ssd.flash.ways=4"}, text)) > 1.05 * iops(report));
    // Nothing but the dies, which are busy all the time.
    CHECK_THAT(told(run_with({"load.iodepth=256"}, text)), !Catch::Contains("own limit"));
  }
  SECTION("room in the write buffer for the programs of half of the dies") {
    const std::string text =
        drive_with(flash_of("channels: 4, ways: 4, bus: 2400 MT/s, user_capacity: 2 GiB",
                            "planes: 2, page_size: 16 KiB, program_latency: [2 ms]"),
                   "firmware: {allocation: {multi_plane: true}, mapping: {unit: 4 KiB}, buffer: {capacity: "
                   "256 KiB}}\n"
                   "load: {rw: randwrite, bs: 16k, iodepth: 64, number_ios: 8000}\n");
    const Json report = run_with({}, text);
    INFO(told(report));
    CHECK(report["findings"].back()["cause"] == "room in the write buffer");
    CHECK(iops(run_with({"ssd.flash.ways=8"}, text)) == Approx(iops(report)).epsilon(0.02));
    CHECK(iops(run_with({"firmware.buffer.capacity=384 KiB"}, text)) > 1.3 * iops(report));
    CHECK(run_with({"firmware.buffer.capacity=4 MiB"}, text)["findings"].back()["cause"] ==
          "programs of host data");
  }
}

}  // namespace tlmssd::program_tests
