// Following a finding helps: what it names is changed here, and what it named before is tried, too.
#include <catch2/catch.hpp>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

const Json& results_of(const Json& report, const std::string& operation, std::size_t load = 0) {
  return report["results"]["loads"][load]["operations"][operation];
}
double iops_of(const Json& report, const std::string& operation) {
  return results_of(report, operation)["iops"].get<double>();
}
/// In microseconds.
double tail_of(const Json& report, const std::string& operation) {
  return results_of(report, operation)["latency"]["p99.9"].get<double>() / 1e3;
}

double tail_of_load(const Json& report, const std::string& operation, std::size_t load) {
  return results_of(report, operation, load)["latency"]["p99.9"].get<double>() / 1e3;
}

/// How much of a latency a finding gives to this cause; 0: it does not name it.
double share_told(const Json& finding, const std::string& cause) {
  const std::string text = finding["text"];
  const std::size_t at = text.find(cause + " ");
  return at == std::string::npos ? 0 : std::stod(text.substr(at + cause.size())) / 100;
}

Settings also(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

}  // namespace

TEST_CASE("the limit of programs under way is named where it is reached and dies have time left",
          "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  flash: {channels: 4, ways: 4, bus: 1200 MT/s, over_provisioning: 40 %, part: {planes: 1, blocks_per_plane: 64, pages_per_block: 64, page_size: 4 KiB, program_latency: [400 us]}}
firmware: {allocation: {stripe: CW}, buffer: {capacity: 1 MiB}}
load: {rw: write, bs: 128k, iodepth: 32, ramp_requests: 100, number_ios: 600}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(told(report, "p99.9 of write") == "the limit of programs under way");
  CHECK(told(report, "p99.9 of write", "look_at") == "firmware.allocation.programs_per_pu");
  const auto rate = [&](const Settings& settings) { return iops_of(run_with(settings, text), "write"); };
  const double now = iops_of(report, "write");
  CHECK(rate({"firmware.allocation.programs_per_pu=16"}) > 3 * now);
  CHECK(rate({"firmware.buffer.capacity=4 MiB"}) < 1.1 * now);
  // Where parallel units are dies, four programs for each keep it busy.
  CHECK(told(run_with({"firmware.allocation.stripe=none"}, text), "p99.9 of write") ==
        "programs of host data");
}

TEST_CASE("channels that wait for memory are named with it, not the limit of programs under way",
          "[program][figure]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {user_capacity: 32 GiB, channels: 2, ways: 64, bus: 800 MT/s, spare_factor: 20 %, part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 144}}
firmware: {buffer: {capacity: 32 MiB}}
load: {rw: write, bs: 128k, iodepth: 4, io_size: 1g, ramp_requests: 1000}
)";
  const Json report = run_with({}, text);
  const Json named = finding(report, "p99.9 of write");
  INFO(named.dump());
  CHECK(named["cause"] == "the flash channels");
  CHECK(share_told(named, "the DRAM") > 0.1);
  // While the buffer fills, channels have time left.
  CHECK(told(run_with({"load.ramp_requests=0"}, text), "p99.9 of write") == "the flash channels");
  const auto times = [&](const std::string& setting) {
    return iops_of(run_with({setting}, text), "write") / iops_of(report, "write");
  };
  CHECK(times("firmware.allocation.programs_per_pu=8") < 1.02);
  CHECK(times("ssd.flash.bus=1600 MT/s") > 1.1);
  CHECK(times("ssd.dram.bandwidth=50 GB/s") > 1.1);
}

TEST_CASE("what waits for room in a full cache is told what makes it, not which memory is busy",
          "[program][figure]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {user_capacity: 1 GiB, channels: 2, ways: 2, bus: 800 MT/s, spare_factor: 20 %, part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 144}}
  scm: {capacity: 64 MiB, program_latency: 10 us}
firmware: {buffer: {capacity: 2 MiB}, cache: {policy: lru, medium: scm, capacity: 64 MiB}}
precondition: [{fill: 100 %}, {overwrite: 4x, region: 2 %}]
load: {rw: randwrite, bs: 4k, iodepth: 1, size: 2 %, io_size: 80m}
)";
  for (const std::string latency : {"10 us", "30 us"}) {
    const std::string scm = "ssd.scm.program_latency=" + latency;
    const Json report = run_with({scm}, text);
    const Json named = finding(report, "p99.9 of write");
    INFO(named.dump());
    CHECK(named["cause"] == "evictions from a full cache");
    CHECK(named["look_at"] == "ssd.flash.part.program_latency or firmware.cache.policy");
    const auto part = [&](const Settings& settings) {
      return tail_of(run_with(also({scm}, settings), text), "write") / tail_of(report, "write");
    };
    CHECK(part({"ssd.flash.part.program_latency=[100 us]"}) < 0.25);
    CHECK(part({"firmware.cache.policy=read-write"}) < 0.1);
    CHECK(part({"ssd.scm.program_latency=1 ns"}) > 0.9);
  }
  // DRAM that is busy with the host's own accesses, which hardly wait, is the smaller part.
  const Json busy = run_with({"ssd.dram={capacity: 256 MiB, bandwidth: 100 MB/s}"}, text);
  CHECK(told(busy, "p99.9 of write") == "evictions from a full cache");
  const Json fast = run_with({"ssd.dram={capacity: 256 MiB, bandwidth: 25 GB/s}"}, text);
  CHECK(tail_of(fast, "write") > 0.5 * tail_of(busy, "write"));
  // Behind many others it waits for the SCM, too.
  const Json deep = finding(run_with({"load.iodepth=32"}, text), "p99.9 of write");
  INFO(deep.dump());
  CHECK(share_told(deep, "the SCM") > 0.3);
  CHECK(share_told(deep, "evictions from a full cache") > 0.3);
}

TEST_CASE("more dies bring no more than they are said to, also where reads wait for programs", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  flash: {user_capacity: 2 GiB, channels: 4, ways: 2, bus: 1200 MT/s, spare_factor: 20 %, part: {planes: 1, pages_per_block: 64, page_size: 16 KiB, read_latency: [60 us], program_latency: [700 us], erase_latency: 3 ms}}
firmware: {buffer: {capacity: 2 MiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randrw, rwmixread: 70, bs: 4k, iodepth: 32, number_ios: 30000, ramp_requests: 3000}
)";
  const Json report = run_with({}, text);
  const Json named = finding(report, "the dies");
  INFO(named.dump());
  CHECK(named["cause"] == "programs of host data");
  const double gain = iops_of(run_with({"ssd.flash.ways=32"}, text), "read") / iops_of(report, "read");
  CHECK(gain > 2.5);
  CHECK(most_times(named) >= gain);
  CHECK(most_times(named) < 2 * gain);
}

TEST_CASE("the limit of copies under way is named beside it where drives collect", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {channels: 4, ways: 2, over_provisioning: 40 %, bus: 800 MT/s, part: {planes: 2, blocks_per_plane: 32, pages_per_block: 32, page_size: 4 KiB, program_latency: [300 us], erase_latency: 2 ms}}
firmware: {allocation: {stripe: CW, multi_plane: true}, buffer: {capacity: 512 KiB}, gc: {background_start: 0 %}}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 3x}]
load: {rw: randwrite, bs: 4k, iodepth: 64, number_ios: 40000, io_size: 10g}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(told(report, "p99.9 of write", "look_at") ==
        "firmware.gc.parallel_copies or firmware.allocation.programs_per_pu");
  CHECK(iops_of(run_with({"firmware.gc.parallel_copies=32"}, text), "write") >
        1.3 * iops_of(report, "write"));
}

TEST_CASE("a wait for dies is shared out among what they do", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {channels: 1, ways: 2, bus: 800 MT/s, spare_factor: 30 %, part: {planes: 1, blocks_per_plane: 256, pages_per_block: 32, page_size: 4 KiB, read_latency: [60 us], program_latency: [300 us], erase_latency: 2 ms}}
firmware: {buffer: {capacity: 256 KiB}}
precondition: [{state: steady}]
load: {rw: randwrite, bs: 4k, iodepth: 128, number_ios: 20000, io_size: 100g}
)";
  const Json report = run_with({}, text);
  const Json one = finding(report, "p99.9 of write");
  INFO(one.dump());
  CHECK(one["cause"] == "collection");
  const double collection = share_told(one, "collection");
  CHECK(share_told(one, "programs of host data") > 0.2);
  // A drive that was never written has no collection, and cannot be slower than is said.
  const Json without =
      run_with({"precondition=[]", "load.number_ios=5000", "ssd.flash.part.blocks_per_plane=1024"}, text);
  CHECK(told(without, "p99.9 of write") == "programs of host data");
  CHECK(tail_of(without, "write") > (1 - collection) * tail_of(report, "write"));
  CHECK(tail_of(without, "write") < 2 * (1 - collection) * tail_of(report, "write"));
}

TEST_CASE("of dies that wait for their channel, arrays and channel have each their part",
          "[program][figure]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  cpu: {clock: 2 GHz}
  flash: {channels: 1, ways: 2, part: {planes: 1, blocks_per_plane: 64, pages_per_block: 32, page_size: 4 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 4k, iodepth: 4, number_ios: 20000, io_size: 100g}
)";
  double before = 1;
  for (const std::string latency : {"15", "17", "19", "21", "23", "25", "30", "40"}) {
    const Settings drive = {"ssd.flash.part.read_latency=[" + latency + " us]"};
    const Json report = run_with(drive, text);
    const Json one = finding(report, "p99.9 of read");
    INFO(latency << " us: " << one.dump());
    const double channels = share_told(one, "the flash channels");
    CHECK(channels > 0.05);
    CHECK(channels < before + 0.03);
    if (before < 1) CHECK(channels > before - 0.15);
    before = channels;
    const Json fast = run_with(also(drive, {"ssd.flash.bus=8000 MT/s"}), text);
    CHECK(tail_of(fast, "read") > (1 - channels) * tail_of(report, "read"));
  }
}

TEST_CASE("where collection copies next to nothing, erases are what it takes", "[program][figure]") {
  const std::string text = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  flash: {channels: 1, ways: 2, over_provisioning: 20x, part: {planes: 1, blocks_per_plane: 256, pages_per_block: 64, page_size: 4 KiB, program_latency: [300 us], erase_latency: 2 ms}}
firmware: {buffer: {capacity: 64 KiB}}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 20x}]
load: {rw: randwrite, bs: 4k, iodepth: 8, number_ios: 30000, io_size: 10g}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(told(report, "p99.9 of write") == "erases");
  CHECK(told(report, "p99.9 of write", "look_at") == "ssd.flash.part.erase_latency or ssd.flash.ways");
  const double tail = tail_of(report, "write");
  CHECK(tail_of(run_with({"ssd.flash.part.erase_latency=1 ms"}, text), "write") < 0.8 * tail);
  CHECK(tail_of(run_with({"ssd.flash.ways=4"}, text), "write") < 0.85 * tail);
  CHECK(told(run_with({"ssd.flash.over_provisioning=20 %", "precondition.1.overwrite=2x"}, text),
             "p99.9 of write") == "collection");
}

TEST_CASE("a channel that is held until memory has brought the data does not limit", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  cpu: {clock: 2 GHz, cores: 3}
  dram: {bandwidth: 200 MB/s, capacity: 256 MiB}
  flash: {channels: 16, ways: 4, bus: 1200 MT/s, part: {planes: 1, blocks_per_plane: 16, pages_per_block: 64, page_size: 16 KiB, program_latency: [200 us]}}
load: {rw: write, bs: 128k, iodepth: 16, io_size: 200m}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(report["statistics"]["flash"]["bus_utilisation"]["value"] > 0.9);
  const auto share = [&](const char* name) {
    return report["statistics"]["flash"][name]["value"].get<double>();
  };
  CHECK(share("bus_memory") > 0.8);
  CHECK(share("bus_data") + share("bus_command") + share("bus_memory") == Approx(share("bus_utilisation")));
  REQUIRE_FALSE(report["findings"].empty());
  for (const Json& one : report["findings"]) CHECK(one["cause"] == "the DRAM");
  const double now = iops_of(report, "write");
  CHECK(iops_of(run_with({"ssd.flash.bus=2400 MT/s"}, text), "write") < 1.1 * now);
  CHECK(iops_of(run_with({"ssd.dram.bandwidth=400 MB/s"}, text), "write") > 1.8 * now);
}

TEST_CASE("look-ups that wait for long transfers need turns, not bandwidth", "[program]") {
  const std::string text = R"(ssd:
  flash: {channels: 4, ways: 2, user_capacity: 1 GiB, over_provisioning: 40 %, part: {planes: 2, pages_per_block: 64, page_size: 16 KiB, read_latency: [20 us]}}
firmware: {buffer: {capacity: 128 MiB, flush_at: 95 %}}
precondition: {fill: 50 %, order: sequential}
load:
  - {name: w, rw: write, bs: 2m, iodepth: 4, rate: 200m, offset: 50%, size: 64m}
  - {name: r, rw: randread, bs: 4k, iodepth: 1, size: 50%, time_based: true, runtime: 300 ms}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(told(report, "p99.9 of r read") == "the DRAM");
  CHECK(told(report, "p99.9 of r read", "look_at") ==
        "ssd.dram.arbitration together with ssd.bus.arbitration or ssd.dram.bandwidth");
  const double tail = tail_of_load(report, "read", 1);
  const Settings turns = {"ssd.dram.arbitration=round-robin", "ssd.bus.arbitration=round-robin"};
  CHECK(tail_of_load(run_with(turns, text), "read", 1) < tail / 5);
  CHECK(tail_of_load(run_with({"ssd.dram.bandwidth=6.4 GB/s"}, text), "read", 1) > tail / 4);
}

TEST_CASE("cores that take any work limit together", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie5x4, lba_size: 4 KiB, link_latency: 0 ns, interrupt_latency: 0 ns}
  cpu: {clock: 100 MHz, cores: 3}
  dram: {bandwidth: 100 GB/s}
  flash: {channels: 16, ways: 4, bus: 1200 MT/s, part: {planes: 1, blocks_per_plane: 16, pages_per_block: 64, page_size: 16 KiB, read_latency: [20 us]}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 16k, iodepth: 256, number_ios: 40000}
)";
  const Json report = run_with({}, text);
  INFO(report["findings"].dump());
  CHECK(report["statistics"]["cpu"]["core_0"]["utilisation"]["value"] > 0.85);
  CHECK(finding(report, "the system bus: ").contains("cause"));
  CHECK(finding(report, "one of the cores").empty());
  CHECK(iops_of(run_with({"ssd.bus.width=256"}, text), "read") > 1.2 * iops_of(report, "read"));
}

TEST_CASE("a read that waits because of a limit of suspends is told the limit", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {channels: 1, ways: 1, suspend: both, scheduling: {policy: read-first, starvation_bound: 1 s}, bus: 1200 MT/s, over_provisioning: 50 %, part: {planes: 1, blocks_per_plane: 256, pages_per_block: 64, page_size: 4 KiB, read_latency: [50 us], program_latency: [3000 us], erase_latency: 4 ms, program_suspend_latency: 20 us, erase_suspend_latency: 60 us, resume_overhead: 9 us, min_resume_time: 20 us, max_suspends: 1000}}
firmware: {buffer: {capacity: 64 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load:
  - {name: r, rw: randread, bs: 4k, iodepth: 1, time_based: true, runtime: 1 s}
  - {name: w, rw: randwrite, bs: 4k, iodepth: 8, time_based: true, runtime: 1 s}
)";
  const double free = tail_of(run_with({}, text), "read");
  for (const auto& [setting, key] : std::vector<std::pair<std::string, std::string>>{
           {"ssd.flash.part.max_suspends=2", "ssd.flash.part.max_suspends"},
           {"ssd.flash.scheduling.starvation_bound=1 ms", "ssd.flash.scheduling.starvation_bound"},
           {"ssd.flash.part.min_resume_time=500 us", "ssd.flash.part.min_resume_time"}}) {
    const Json report = run_with({setting}, text);
    INFO(setting << ": " << report["findings"].dump());
    CHECK(told(report, "p99.9 of r read") == "writes of w");
    CHECK(told(report, "p99.9 of r read", "look_at") == "that load, or " + key);
    CHECK(tail_of(report, "read") > 2 * free);
  }
}

TEST_CASE("a drive that collection has no free block for is told what lets it live longer",
          "[program][figure]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {channels: 1, ways: 2, spare_factor: 25 %, part: {planes: 1, blocks_per_plane: 200, pages_per_block: 32, page_size: 4 KiB, endurance: 60, endurance_spread: 10 %}}
firmware: {buffer: {capacity: 64 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randwrite, bs: 4k, iodepth: 4, io_size: 100g, number_ios: 600000}
run: {timed: false, errors: accept}
)";
  const Json report = run_with({}, text);
  const std::string warning = report["warnings"].back();
  INFO(warning);
  CHECK_THAT(warning, Catch::Contains("no free block") && Catch::Contains("ssd.flash.spare_factor"));
  CHECK_THAT(warning, !Catch::Contains("low_water"));
  const auto written = [](const Json& one) {
    return one["statistics"]["firmware"]["host_units_written"]["value"].get<double>();
  };
  CHECK(written(run_with({"ssd.flash.spare_factor=30 %"}, text)) > 1.1 * written(report));
  CHECK(written(run_with({"firmware.gc.low_water=16"}, text)) < written(report));
}

TEST_CASE("data that preparation loses are told, and an error says where", "[program]") {
  const std::string text = R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash:
    channels: 2
    ways: 2
    spare_factor: 20 %
    part: {planes: 1, blocks_per_plane: 128, pages_per_block: 64, page_size: 16 KiB, read_latency: [60 us], program_latency: [500 us], erase_latency: 2 ms, endurance: 3000}
    reliability: {model: power-law}
firmware: {buffer: {capacity: 1 MiB}, refresh: {policy: limits, retention: 30 d, reads: 0}, ecc: {policy: retry-only}}
age: {cycles: 500, retention: 31 d}
precondition: [{state: steady}]
load: {rw: randrw, rwmixread: 80, bs: 4k, iodepth: 8, number_ios: 60000, io_size: 100g}
run: {errors: accept}
)";
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", text);
  const std::string kept = folder / "kept.snapshot";
  const Json report = report_of(folder, scenario, "out", {"--save-snapshot", kept});
  INFO(report["preconditioning"].dump() << report["warnings"].dump());
  REQUIRE(report["preconditioning"].size() == 1);
  const Json step = report["preconditioning"][0];
  const auto lost = step["units_lost"].get<std::uint64_t>();
  CHECK(lost > 0);
  CHECK_THAT(step["text"].get<std::string>(), Catch::EndsWith(std::to_string(lost) + " mapping pages lost"));
  const std::string error = report["warnings"][0];
  CHECK_THAT(error, Catch::Contains("unrecovered read error; data were lost before, in precondition.0 (" +
                                    std::to_string(lost) + " mapping pages lost)"));
  // A drive from a snapshot knows that, too.
  const Json again = report_of(folder, scenario, "again", {"--from-snapshot", kept});
  CHECK(again["preconditioning"] == report["preconditioning"]);
  CHECK(again["warnings"][0] == report["warnings"][0]);
}

TEST_CASE("an untimed load that another's ramp takes up is told so", "[program][figure]") {
  const std::string text =
      with_neighbour("name: seq, rw: write, bs: 64k, loops: 100, number_ios: 500, iodepth: 8");
  for (const std::string timed : {"true", "false"}) {
    const Settings untimed = {"run.timed=" + timed, "load.0.ramp_requests=60000"};
    const auto said = [&](const Settings& more) {
      const Json report = run_with(also(untimed, more), text);
      for (const Json& one : report["advice"])
        if (one["name"] == "not-measured") return one["text"].get<std::string>();
      return std::string();
    };
    INFO("timed: " << timed);
    CHECK_THAT(said({}), Catch::StartsWith("nothing is measured of seq: "));
    CHECK(said({"load.0.ramp_requests=100"}).empty());
  }
}

}  // namespace tlmssd::program_tests
