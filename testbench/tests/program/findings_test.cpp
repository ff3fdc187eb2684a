// Findings: what limits the drive is named where it is planted, and so is what the slowest commands
// wait for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

/// How many times the rate a finding says that there may be at most.
double most_times(const Json& finding) {
  const std::string text = finding["text"];
  const std::string at_most = "at most ";
  REQUIRE(text.find(at_most) != std::string::npos);
  return std::stod(text.substr(text.find(at_most) + at_most.size()));
}

}  // namespace

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
          "[program]") {
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

TEST_CASE("where stages are pinned to cores, the busiest limits, however many there are", "[program]") {
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

TEST_CASE("bus and memory behind it that are as busy as each other are named together", "[program]") {
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

TEST_CASE("suspending is not named where it is at work", "[program]") {
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

TEST_CASE("suspending is named to reads alone", "[program]") {
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

TEST_CASE("waits for merges of log blocks are told as merges, also where their data take long",
          "[program][figure]") {
  const std::string text = drive_with(
      "channels: 1, ways: 4, bus: 25 MT/s, over_provisioning: 40 %, part: {cell: slc, planes: 1, "
      "blocks_per_plane: 120, pages_per_block: 24, page_size: 16 KiB}",
      "firmware: {buffer: {capacity: 256 KiB}, mapping: {scheme: fast, log_blocks: 4}}\n" + k_fill +
          "load: {rw: randwrite, bs: 4k, number_ios: 2000}\n");
  const Json slow = run_with({}, text);
  const Json one = finding(slow, "p99.9 of write");
  INFO(one.dump());
  CHECK(one["cause"] == "merges of log blocks");
  CHECK(one["look_at"] == "ssd.flash.bus or ssd.flash.channels or firmware.mapping.log_blocks");
  CHECK(told(run_with({"ssd.flash.bus=4000 MT/s"}, text), "p99.9 of write", "look_at") ==
        "firmware.mapping.log_blocks");
}

TEST_CASE("erases of free blocks into SLC mode are not collection, and the pSLC's size is what it is",
          "[program]") {
  const std::string text = R"(ssd:
  flash: {channels: 1, ways: 1, user_capacity: 1 GB, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  buffer: {capacity: 4 MiB}
  pslc: {policy: all, static: 1 %, dynamic: 10 %}
load: {rw: randwrite, bs: 16k, iodepth: 16, number_ios: 600, io_size: 10g}
)";
  const Folder folder;
  const Json report = report_of(folder, folder.write("s.yaml", text), "out");
  REQUIRE_FALSE(report["findings"].empty());
  for (const Json& one : report["findings"]) {
    INFO(one.dump());
    CHECK(one["cause"] == "erases for SLC mode");
    CHECK(one["look_at"] == "firmware.pslc");
  }
  const std::string said = run_ok(folder, {"run", folder / "s.yaml", "-o", folder / "again"}).out;
  const Json& pslc = report["statistics"]["firmware"]["pslc"];
  const auto mib = [&pslc](const char* name) { return pslc[name]["value"].get<double>() / (1 << 20); };
  CHECK(mib("size") < 0.5 * mib("size_allowed"));
  std::smatch match;
  REQUIRE(std::regex_search(
      said, match,
      std::regex("all, (\\S+) MiB of at most (\\S+) MiB,?\\s+(\\S+) MiB in use, (\\S+) MiB allowed now")));
  CHECK(std::stod(match[1]) == Approx(mib("size")).epsilon(0.01));
  CHECK(std::stod(match[2]) == Approx(mib("largest_size")).epsilon(0.01));
  CHECK(std::stod(match[3]) == Approx(mib("size_in_use")).epsilon(0.01));
  CHECK(std::stod(match[4]) == Approx(mib("size_allowed")).epsilon(0.01));
}

TEST_CASE("where a drive folds and collects, the one that keeps its dies longer makes the room",
          "[program]") {
  const std::string text = R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, user_capacity: 1 GiB, over_provisioning: 40 %, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  pslc: {policy: all, static: 5 %, dynamic: 10 %, when_full: wait}
precondition: {fill: 100 %}
load: {rw: randwrite, bs: 16k, iodepth: 8, number_ios: 30000, io_size: 10g}
)";
  // At first blocks in SLC mode are folded into free ones, which must be erased; then these run
  // out.
  for (const auto& [commands, cause] :
       std::vector<std::pair<std::string, std::string>>{{"5000", "folding"}, {"30000", "collection"}}) {
    const Json report = run_with({"load.number_ios=" + commands}, text);
    const Json& dies = report["statistics"]["flash"]["dies"];
    INFO(dies.dump());
    CHECK(dies["busy_migration"]["value"] > 0.05);  // with the erases that folding takes
    CHECK((dies["busy_gc"]["value"] > 0.05) == (cause == "collection"));
    for (const Json& one : report["findings"]) {
      INFO(one.dump());
      CHECK(one["cause"] == cause);
    }
    REQUIRE(report["findings"].size() == 2);
  }
}

TEST_CASE("what moves data is named by what it is, not as moves", "[program]") {
  const std::string flash =
      "channels: 4, ways: 1, over_provisioning: 120 %, part: {planes: 1, blocks_per_plane: 80, "
      "pages_per_block: 64, page_size: 8 KiB}";
  const auto look_at = [&](const std::string& rest) {
    return told(run_with({}, drive_with(flash, rest)), "p99.9 of r", "look_at");
  };
  CHECK(look_at("firmware: {parity: {policy: behind-collection, stripe: 4}}\n"
                "precondition: [{fill: 50 %, order: sequential}]\n"
                "load:\n"
                "  - {name: w, rw: write, bs: 8k, rate_iops: 1000, iodepth: 8, number_ios: 4000, "
                "io_size: 10g, offset: 50%, size: 50%}\n"
                "  - {name: r, rw: randread, bs: 4k, iodepth: 2, rate_iops: 1000, number_ios: 4000, "
                "io_size: 10g, size: 50%}\n") == "firmware.parity");
  CHECK(look_at("firmware: {replicas: {policy: hot-reads, reads: 2, capacity: 16 MiB}}\n" + k_fill +
                "load: {name: r, rw: randread, bs: 4k, iodepth: 2, rate_iops: 3000, number_ios: 60000, "
                "io_size: 10g, random_distribution: 'zipf:0.8'}\n") == "firmware.replicas");
}

// The arrays take hardly any time: what waits does so for the batch before, not for reads of its
// own die.
TEST_CASE("waits for earlier batches of reads are told as such, not as reads of the flash", "[program]") {
  const std::string batches = "firmware.parallel_issue.policy=batches";
  for (const char* const latency : {"1 ps", "60 us"}) {
    const std::string read = std::string("ssd.flash.part.read_latency=[") + latency + "]";
    const Json report = run_with({batches, read, "load.rw=randread", "load.iodepth=32"});
    const Json told_of_reads = finding(report, "p99.9 of read");
    INFO(latency << ": " << told_of_reads);
    CHECK(told_of_reads.value("cause", "") == "batches of reads");
    CHECK(told_of_reads.value("look_at", "") == "firmware.parallel_issue");
  }
}

TEST_CASE("what reading again costs is told from reads, and no less than what it gives",
          "[program][figure]") {
  const std::string text = drive_with(
      flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
               "planes: 1, page_size: 16 KiB, spare_size: 1680 B, endurance: 0") +
          ", reliability: {model: power-law, base: 0.0001, wear: 0, retention: 4e-4, disturb: 0, "
          "distribution: binomial, block_variation: 0, page_variation: 0}",
      "firmware: {ecc: {policy: retry-only, code: bch}}\nage: {cycles: 1000, retention: 90 d}\n" + k_fill +
          "run: {errors: accept}\nload: {rw: randread, bs: 16k, iodepth: 64, number_ios: 4000}\n");
  const Json retried = run_with({}, text);
  const Json& found = retried["findings"][0];
  INFO(found.dump());
  CHECK(found["cause"] == "error correction");
  CHECK(found["look_at"] == "ssd.flash.ecc or firmware.ecc");
  const Json sound = run_with({"ssd.flash.reliability.retention=0"}, text);
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  CHECK(most_times(found) >= iops(sound) / iops(retried) - 0.05);
}

// Six of seven senses are there for soft decoding only: hard LDPC reads the same data without.
TEST_CASE("senses that only the code asks for are told from reads, and no less than what they give",
          "[program][figure]") {
  const std::string text =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                          "planes: 1, page_size: 16 KiB, spare_size: 1680 B, endurance: 0") +
                     ", reliability: {model: power-law}, ecc: {engines: 8}",
                 "firmware: {ecc: {policy: fixed, code: soft-ldpc}}\n" + k_fill +
                     "load: {rw: randread, bs: 16k, iodepth: 64, number_ios: 4000}\n");
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const std::string k_without = "ssd.flash.ecc.soft-ldpc.extra_senses=0";
  const Json soft = run_with({}, text);
  const Json& senses = soft["statistics"]["flash"]["controller"]["decoders"];
  CHECK(senses["further_senses"]["value"] == 6 * senses["soft-ldpc"]["pages"]["value"].get<int>());
  CHECK(senses["further_senses_of_first_attempts"]["value"] == senses["further_senses"]["value"]);
  const Json& found = soft["findings"][0];
  INFO(found.dump());
  CHECK(found["cause"] == "further senses for the code");
  CHECK(found["look_at"] == "ssd.flash.ecc or firmware.ecc");
  const Json hard = run_with({k_without}, text);
  CHECK(most_times(found) >= iops(hard) / iops(soft) - 0.05);
  CHECK_FALSE(hard["statistics"]["flash"]["controller"]["decoders"].contains("further_senses"));
  // Of a read by itself, too.
  const Json alone = run_with({"load.iodepth=1"}, text);
  INFO(alone["findings"].dump());
  CHECK(alone["findings"][0]["cause"] == "further senses for the code");
}

TEST_CASE("one of several that is always busy is named", "[program][figure]") {
  const std::string drive = drive_with(
      flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"), k_fill);
  const std::string reads = "load: {rw: randread, bs: 4k, iodepth: 16, number_ios: 4000}\n";
  const auto first = [&](const std::string& text, const Settings& settings) -> Json {
    return run_with(settings, text)["findings"][0];
  };
  const Json core =
      first(drive + reads, {"ssd.cpu.cores=4", "ssd.cpu.clock=20 MHz", "ssd.cpu.assignment={translate: [2]}",
                            "ssd.cpu.cycles.translate=2000"});
  INFO(core.dump());
  CHECK(core["cause"] == "one of the cores");
  CHECK_THAT(core["text"].get<std::string>(),
             Catch::StartsWith("one of the cores, core 2: ") && Catch::Contains("at 1.0"));
  CHECK(core["look_at"] == "ssd.cpu.clock or ssd.cpu.assignment");
  // Every sixteenth page lies on the same die.
  const Json die = first(drive + reads, {"load.blockalign=64k"});
  INFO(die.dump());
  CHECK(die["cause"] == "one of the dies");
  CHECK_THAT(die["text"].get<std::string>(), Catch::StartsWith("one of 4 dies: "));
  CHECK(die["look_at"] == "the addresses that are asked for");
  // Dies that are all busy are told of several loads as well.
  const Json two = first(drive +
                             "load:\n  - {name: a, rw: randread, bs: 4k, iodepth: 32, number_ios: 4000}\n"
                             "  - {name: b, rw: randread, bs: 4k, iodepth: 32, number_ios: 4000}\n",
                         {});
  CHECK_THAT(two["text"].get<std::string>(), Catch::StartsWith("the dies: "));
}

TEST_CASE("decoders are named with the codes that they decode", "[program]") {
  const std::string decoding =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                          "planes: 1, page_size: 16 KiB, spare_size: 1680 B") +
                     ", reliability: {model: power-law}, ecc: {soft-ldpc: {throughput: 20 MB/s}}",
                 "firmware: {ecc: {policy: fixed, code: soft-ldpc}}\n" + k_fill +
                     "load: {rw: randread, bs: 16k, iodepth: 16, number_ios: 1000}\n");
  const Json first = run_with({}, decoding)["findings"][0];
  CHECK(first["cause"] == "the LDPC decoders");
  CHECK(first["look_at"] == "ssd.flash.ecc.engines or ssd.flash.ecc.soft-ldpc.throughput");
}

TEST_CASE("mapping pages that are written in parts are named, with what that costs", "[program]") {
  const std::string text = k_tlc_drive +
                           "firmware: {mapping: {unit: 16 KiB}}\n"
                           "load: {rw: randwrite, bs: 4k, iodepth: 32, number_ios: 40000}\n";
  const Json report = run_with({}, text);
  const Json parts = finding(report, "mapping pages written in parts: ");
  INFO(report["findings"].dump());
  REQUIRE_FALSE(parts.empty());
  CHECK(parts["look_at"] == "firmware.mapping.unit");
  const std::string said = parts["text"].get<std::string>();
  CHECK(std::stod(said.substr(said.find(": ") + 2)) ==
        Approx(report["write_amplification"]["host"]["value"].get<double>()).margin(0.005));
  // Pages that writes fill, by themselves or together in the buffer.
  for (const Settings& settings :
       std::vector<Settings>{{"firmware.mapping.unit=4 KiB"}, {"load.bs=16k"}, {"load.rw=write"}})
    CHECK(told(run_with(settings, text), "mapping pages written in parts").empty());
}

TEST_CASE("padding is named, with why programs are not filled", "[program]") {
  const std::string text = k_tlc_drive + "load: {rw: randwrite, bs: 4k, iodepth: 32, number_ios: 20000}\n";
  const Json through = run_with({"firmware.buffer.mode=write-through"}, text);
  INFO(through["findings"].dump());
  CHECK(told(through, "padding: 64.3 % of what was programmed holds no data: each write", "look_at") ==
        "firmware.buffer.mode");
  const Json flushed =
      run_with({"load.fsync=1", "load.iodepth=1", "load.numjobs=16", "load.number_ios=2000"}, text);
  INFO(flushed["findings"].dump());
  CHECK(told(flushed, "padding: ", "look_at") == "the host's flushes and force unit access");
  // Writes that fill program units, and a buffer that gathers them.
  CHECK(told(run_with({"firmware.buffer.mode=write-through", "load.bs=64k", "load.number_ios=2000"}, text),
             "padding")
            .empty());
  CHECK(told(run_with({}, text), "padding").empty());
}

TEST_CASE("dies that no command waits for are busy with the flash's own time, which no more dies shorten",
          "[program]") {
  const std::string text =
      replaced(k_tlc_drive, "channels: 2, ways: 2", "channels: 1, ways: 1, bus: 800 MT/s") +
      "load: {rw: randread, bs: 4k, iodepth: 1, number_ios: 3000}\n";
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const Json alone = run_with({}, text);
  const Json dies = finding(alone, "the dies: ");
  INFO(alone["findings"].dump());
  REQUIRE_FALSE(dies.empty());
  CHECK(dies["cause"] == "the flash's own time");
  CHECK(dies["look_at"] == "ssd.flash.part");
  const Json& ledger = alone["results"]["total"]["operations"]["read"]["ledger"];
  CHECK(most_times(dies) == Approx(1 / (1 - ledger["sense"]["share"].get<double>())).epsilon(0.01));
  CHECK(iops(run_with({"ssd.flash.ways=4"}, text)) == Approx(iops(alone)).epsilon(0.01));
  const Json through = run_with({"load.rw=randwrite", "firmware.buffer.mode=write-through"}, text);
  CHECK(told(through, "the dies: ") == "the flash's own time");
  // Who has something waiting gains from more dies.
  const Json two = run_with({"load.iodepth=2"}, text);
  CHECK(told(two, "the dies: ") == "reads of the flash");
  CHECK(told(two, "the dies: ", "look_at") == "ssd.flash.ways or ssd.flash.channels");
  // No more than two are ever outstanding.
  const double more_dies = iops(run_with({"load.iodepth=2", "ssd.flash.ways=4"}, text)) / iops(two);
  CHECK(more_dies > 1.3);
  CHECK(most_times(finding(two, "the dies: ")) >= 0.999 * more_dies);
  CHECK(most_times(finding(two, "the dies: ")) < 2);
  // Writes that the buffer has taken say nothing of how many programs there are to do.
  CHECK(told(run_with({"load.rw=randwrite"}, text), "the dies: ") == "programs of host data");
}

TEST_CASE("dies that read pages of the map for commands are told with the map, which no more dies shorten",
          "[program]") {
  const Settings settings = {"load.rw=randread",        "load.iodepth=1",
                             "load.ramp_requests=0",    "load.number_ios=3000",
                             "ssd.flash.channels=1",    "ssd.flash.ways=1",
                             "ssd.flash.bus=1600 MT/s", "firmware.mapping={scheme: dftl, cache: 4 KiB}"};
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const auto with = [&](const std::string& more) {
    Settings changed = settings;
    changed.push_back(more);
    return run_with(changed);
  };
  const Json report = run_with(settings);
  INFO(report["findings"].dump());
  const Json dies = finding(report, "the dies: ");
  REQUIRE_FALSE(dies.empty());
  CHECK_THAT(dies["text"].get<std::string>(), Catch::Contains("commands hardly wait for them"));
  const auto map = std::find_if(report["findings"].begin(), report["findings"].end(), [](const Json& one) {
    return one["cause"] == "pages of the map" && one["text"].get<std::string>().starts_with("the dies: ");
  });
  REQUIRE(map != report["findings"].end());
  CHECK((*map)["look_at"] == "firmware.mapping.cache");
  const double more_cache = iops(with("firmware.mapping.cache=4 MiB")) / iops(report);
  CHECK(more_cache > 1.5);
  CHECK(most_times(*map) > 0.95 * more_cache);
  CHECK(iops(with("ssd.flash.ways=4")) < 1.1 * iops(report));
}

TEST_CASE("what goes with rewrites of regions, their erases too, is in what there would be without them",
          "[program]") {
  const std::string text = R"(
ssd:
  host: {queues: 1}
  flash:
    channels: 1
    ways: 1
    over_provisioning: 60 %
    part: {file: parts/nand/mqsim-mlc.yaml, planes: 1, blocks_per_plane: 64, pages_per_block: 16, spare_size: 0 B}
firmware: {mapping: {scheme: block-mapped, copyback: true, unit: 8 KiB}, buffer: {capacity: 256 KiB, mode: write-through}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randwrite, bs: 8k, iodepth: 1, number_ios: 100}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  const Json dies = finding(report, "the dies: ");
  CHECK(dies["cause"] == "rewrites of block-mapped regions");
  const std::string told = dies["text"];
  const std::string about = "without that about ";
  REQUIRE(told.find(about) != std::string::npos);
  const auto iops = [](const Json& one) { return one["results"]["total"]["iops"].get<double>(); };
  // Nothing is rewritten, nor erased.
  const double truth =
      iops(run_with({}, replaced(text, "scheme: block-mapped, copyback: true", "scheme: page"))) /
      iops(report);
  CHECK(std::stod(told.substr(told.find(about) + about.size())) == Approx(truth).epsilon(0.15));
  const Json slow = finding(report, "p99.9 of write");
  // All that is charged to collection was erases.
  const Json& parts = report["results"]["total"]["operations"]["write"]["percentiles"]["p99.9"]["ledger"];
  const int erases = static_cast<int>(std::lround(parts["space wait"]["share"].get<double>() * 100));
  CHECK_THAT(slow["text"].get<std::string>(), Catch::Contains("erases " + std::to_string(erases) + " %"));
}

// What commands wait for in the layer is that earlier ones and cleaning get on, which programs keep
// waiting: without those, dies are left with the rest of their work.
TEST_CASE("waits for cleaning of the log-structured host layer are no time that stays", "[program]") {
  const std::string text =
      "seed: 3\nlog_structured: {segment: 256 KiB, spare: 20 %, low_water: 8}\n" +
      drive_with("channels: 1, ways: 1, part: {blocks_per_plane: 64, pages_per_block: 64}",
                 "precondition: [{fill: 100 %, order: sequential}, {overwrite: 1x, order: random}]\n"
                 "load: {rw: randwrite, bs: 4k, iodepth: 32, loops: 100, number_ios: 15000}\n");
  const auto rate = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  // Of the dies' time, what is left without programs of host data.
  const auto left_of = [](const Json& limit) {
    const std::string bound = limit["text"];
    std::smatch numbers;
    const std::regex words("the dies: ([0-9.]+) % .*, ([0-9.]+) % for programs of host data");
    REQUIRE(std::regex_search(bound, numbers, words));
    return (std::stod(numbers[1]) - std::stod(numbers[2])) / 100;
  };
  constexpr double k_as_written = 0.06;  // a digit
  for (const std::string buffer : {"256 KiB", "1 MiB"}) {
    const Settings settings = {"firmware.buffer.capacity=" + buffer};
    const Json report = run_with(settings, text);
    const Json limit = finding(report, "the dies: ");
    INFO(limit.dump());
    const double most = most_times(limit);
    CHECK(most == Approx(1 / left_of(limit)).margin(k_as_written));
    const Json half = run_with({settings[0], "ssd.flash.part.program_latency=[375 us]"}, text);
    CHECK(rate(half) > 1.5 * rate(report));
    CHECK(rate(half) < most * rate(report));
  }
  // One at a time, each command has the processor for a millisecond: that stays.
  const Json costly = run_with({"load.iodepth=1", "log_structured.cost=1 ms"}, text);
  const Json limit = finding(costly, "the dies: ");
  INFO(limit.dump());
  CHECK(most_times(limit) == Approx(1000 / rate(costly)).margin(k_as_written));
  CHECK(most_times(limit) < 0.8 / left_of(limit));
}

TEST_CASE("reads that are slow for the power budget are told with it", "[program]") {
  const std::string text = R"(
ssd:
  host: {queues: 1}
  flash:
    channels: 2
    ways: 4
    over_provisioning: 100 %
    read_power: budgeted
    budget_dies: 1
    slow_read: 4
    suspend: program
    part: {file: parts/nand/mqsim-mlc.yaml, planes: 1, blocks_per_plane: 64, pages_per_block: 64, spare_size: 0 B, program_suspend_latency: 5 us}
firmware: {mapping: {unit: 8 KiB}, buffer: {capacity: 256 KiB, mode: write-through}}
precondition: [{fill: 100 %}]
load:
  - {name: w, rw: write, bs: 8k, iodepth: 4, number_ios: 3000}
  - {name: r, rw: randread, bs: 8k, iodepth: 1, number_ios: 400, rate_iops: 700}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK_THAT(told(report, "p99.9 of r read"), Catch::Contains("the power budget"));
  CHECK(told(report, "p99.9 of r read", "look_at") == "ssd.flash.read_power");
  const Json& ledger = report["results"]["loads"][1]["operations"]["read"]["ledger"];
  CHECK(ledger["power budget"]["mean_ns"].get<double>() ==
        Approx(3 * ledger["sense"]["mean_ns"].get<double>()).epsilon(0.05));
}

}  // namespace tlmssd::program_tests
