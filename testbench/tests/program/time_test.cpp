// Time that passes without completions, time that does not pass at all, and time in which nothing
// can happen.
#include <catch2/catch.hpp>
#include <chrono>

#include "testbench/tests/program/broken.h"
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

struct Timed {
  Outcome outcome;
  double seconds;
};

/// Runs `scenario` with these overrides.
Timed timed(const Folder& folder, const std::string& scenario,
            const std::vector<std::string>& settings = {}) {
  std::vector<std::string> arguments = {"run", folder.write("s.yaml", scenario), "-q"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome = run(folder, arguments);
  return {std::move(outcome),
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

void goes_well(const std::string& scenario) {
  const Folder folder;
  const Timed result = timed(folder, scenario);
  INFO(result.outcome.err);
  CHECK(result.outcome.code == 0);
}

const std::string k_converter = R"(
log_structured: {policy: log-structured, segment: 1 MiB, spare: 10 %}
load: {rw: randread, number_ios: 2000000}
)";

}  // namespace

TEST_CASE("a command is late only from its submission on", "[program]") {
  goes_well("load: {rw: randread, bs: 4k, number_ios: 10, startdelay: 2 min}");
  goes_well("load: {rw: randread, bs: 4k, number_ios: 5, thinktime: 90 s}");
  goes_well("load: {rw: randread, bs: 4k, number_ios: 5, rate_iops: \"1\", thinktime: 61 s}");
}

TEST_CASE("loads that go on for longer than time can be counted are refused", "[program]") {
  const Folder folder;
  const auto refused = [&](const std::string& scenario) {
    const Timed result = timed(folder, scenario);
    INFO(scenario << result.outcome.err);
    CHECK(result.outcome.code == 2);
    CHECK(result.outcome.err.find("would go on after 53 days of simulated time") != std::string::npos);
  };
  const std::string late = "- {rw: randread, bs: 4k, number_ios: 2, startdelay: 50 d, stonewall: true}\n";
  refused("load:\n" + late + late + late);
  refused("load: {rw: randread, bs: 4k, number_ios: 8, thinktime: 50 d}");
  refused("load: {rw: randread, bs: 4k, number_ios: 8, startdelay: 53 d, ramp_time: 53 d, runtime: 53 d}");
  goes_well("load: {rw: randread, bs: 4k, number_ios: 2, startdelay: 50 d}");
  goes_well("load: {rw: randread, bs: 4k, number_ios: 2, startdelay: 50 d, runtime: 53 d}");
}

TEST_CASE("check refuses loads that go on for too long in the words of run", "[program]") {
  const Folder folder;
  const auto alike = [&](const std::string& text, int code, const std::string& place = {}) {
    const std::string scenario = folder.write("s.yaml", text);
    const Outcome checked = run(folder, {"check", scenario});
    INFO(text << checked.err);
    CHECK(checked.code == code);
    if (code == 0) return;
    CHECK(checked.err.starts_with("tlmssd: " + scenario + place + " would go on after 53 days of "));
    const Outcome ran = run(folder, {"run", scenario, "-q"});
    CHECK(ran.code == code);
    CHECK(ran.err == checked.err);
  };
  const std::string late = "- {rw: randread, bs: 4k, number_ios: 2, startdelay: 50 d, stonewall: true}\n";
  alike("load:\n" + late + late, 2, ":3: load.1.startdelay: 'load 2'");
  alike(
      "load:\n- {rw: randread, bs: 4k, number_ios: 8}\n- {name: b, rw: randread, bs: 4k, number_ios: 8, "
      "thinktime: 50 d}",
      2, ":3: load.1.thinktime: 'b'");
  alike("load: {rw: randread, bs: 4k, number_ios: 3, startdelay: 53 d, ramp_time: 53 d, runtime: 53 d}", 2,
        ":1: load.0.ramp_time: 'load'");
  alike("load: {rw: randread, bs: 4k, number_ios: 100, thinktime: 20 h, thinktime_blocks: 1}", 2,
        ":1: load.0.thinktime: 'load'");
  alike("load: {rw: randread, bs: 1m, number_ios: 20, rate: '1'}", 2, ":1: load.0: 'load'");
  alike("load: {rw: randread, bs: 1m, number_ios: 20, rate: '1', runtime: 20 d}", 0);
  alike("load: {rw: randread, bs: 4k, number_ios: 40, thinktime: 50 d, thinktime_blocks: 40}", 0);
  alike("load:\n" + late, 0);
}

TEST_CASE("gaps of a trace are no stall", "[program]") {
  const Folder folder;
  static_cast<void>(
      folder.write("t.csv", "0,0,4096,R\n119.999999,0,4096,R\n239.999999,4096,4096,W\n500,0,4096,R\n"));
  const std::string scenario = folder.write("s.yaml", R"(
load: {trace: t.csv, format: csv, pacing: open-loop, columns: {time: 1, offset: 2, size: 3, op: 4, time_unit: s, offset_unit: 1 B}}
)");
  const Outcome outcome = run(folder, {"run", scenario, "-q"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("a slow network and slow cores are no stall", "[program]") {
  goes_well(R"(
file_cache: {files: 10, file_size: 64 KiB, latency: 100 s}
load: {rw: randread, bs: 64k, number_ios: 3, target: files}
)");
  goes_well(R"(
ssd: {cpu: {cores: 1, clock: 1 MHz, cycles: {command: 100000000, translate: 100000000}}}
load: {rw: randread, bs: 4k, number_ios: 3}
)");
}

TEST_CASE("a limit of one's own on the time without completions is kept to", "[program]") {
  const Folder folder;
  const Timed result = timed(folder, "load: {rw: randread, bs: 4k, number_ios: 10, startdelay: 1 s}",
                             {"run.stall_after=2 us"});
  CHECK(result.outcome.code == 3);
  CHECK(result.outcome.err.starts_with("tlmssd: stalled: no command has completed"));
}

TEST_CASE("a load that only time ends is refused where none passes", "[program]") {
  refuse_all(
      {{"{rw: randrw, number_ios: 500}", "{rw: randrw, time_based: true, runtime: 1 s}\nrun: {timed: false}",
        "@:12: load.0.time_based: load would never end, because no time passes with run.timed: false; "
        "nearest valid: false"}});
}

TEST_CASE("a load of requests that take no time ends, unless only time ends it", "[program]") {
  const Folder folder;
  const Timed whole = timed(folder, k_converter);
  INFO(whole.outcome.err);
  CHECK(whole.outcome.code == 0);
  const std::vector<std::string> endless = {"load.0.number_ios=0", "load.0.time_based=true",
                                            "load.0.runtime=1 ms"};
  const Timed refused = timed(folder, k_converter, endless);
  INFO(refused.outcome.err);
  CHECK(refused.outcome.code == 2);
  CHECK(refused.outcome.err.find("log_structured.cost: is 0 s, and ") != std::string::npos);
  CHECK(refused.outcome.err.find("nearest valid: 1 us") != std::string::npos);
  std::vector<std::string> proposed = endless;
  proposed.emplace_back("log_structured.cost=1 us");
  CHECK(timed(folder, k_converter, proposed).outcome.code == 0);
}

TEST_CASE("how soon a drive is idle costs nothing", "[program]") {
  const Folder folder;
  const std::string scenario = replaced(k_small, "firmware:", "firmware:\n  gc: {idle_after: 1 ps}");
  const std::string load = replaced(scenario, "{rw: randrw, number_ios: 500}",
                                    "{rw: randwrite, number_ios: 1000, thinktime: 10 ms}");
  const Timed result = timed(folder, load);
  INFO(result.outcome.err);
  CHECK(result.outcome.code == 0);
  CHECK(result.seconds < 10);  // polling every picosecond: more than a minute
}

TEST_CASE("a year of patrols that find nothing takes no time", "[program]") {
  const Folder folder;
  const std::string scenario = k_small +
                               "age: {retention: 365 d, powered: true}\n"
                               "precondition: [{fill: 100 %}]\n";
  const std::string refresh = "firmware.refresh.policy=limits";
  const Timed never =
      timed(folder, scenario, {refresh, "firmware.refresh.patrol=1 s", "firmware.refresh.retention=0 s"});
  INFO(never.outcome.err);
  CHECK(never.outcome.code == 0);
  CHECK(never.seconds < 5);  // each patrol for itself: half a minute
}

TEST_CASE("patrols that are passed over change nothing that is refreshed", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small +
                                                          "age: {retention: 365 d, powered: true}\n"
                                                          "precondition: [{fill: 100 %}]\n");
  const auto aged = [&](const std::string& patrol) {
    const Json report =
        report_of(folder, scenario, "out",
                  {"--set", "firmware.refresh.policy=limits", "--set", "firmware.refresh.patrol=" + patrol,
                   "--set", "firmware.refresh.retention=100 d"});
    return report.at("age").get<std::string>();
  };
  // Every block is moved when it is a hundred days old: at days 100, 200 and 300.
  CHECK(aged("1 d").find("3.00x the user capacity written") != std::string::npos);
  CHECK(aged("1 d") == aged("1 h"));
}

TEST_CASE("drives that the machine cannot hold are refused at once", "[program]") {
  const Folder folder;
  const Timed result = timed(folder, k_small,
                             {"ssd.flash.channels=1024", "ssd.flash.ways=1024", "ssd.flash.dies_per_way=64",
                              "ssd.flash.part.blocks_per_plane=8", "ssd.flash.part.pages_per_block=4"});
  INFO(result.outcome.err);
  CHECK(result.outcome.code == 6);
  CHECK(result.seconds < 5);
  CHECK(result.outcome.err.find("1024 channels x 1024 ways x 64 dies take about") != std::string::npos);
  CHECK(result.outcome.err.find("GB are available; nearest valid: ") != std::string::npos);
  // What is written to it counts, too; a fill whose outcome is known is not written.
  std::vector<std::string> check = {"check", folder.write("s.yaml", k_small)};
  for (const char* setting :
       {"ssd.dram.capacity=64 GiB", "ssd.flash.channels=32", "ssd.flash.ways=8", "ssd.flash.part.planes=4",
        "ssd.flash.part.page_size=16 KiB", "ssd.flash.part.pages_per_block=704",
        "ssd.flash.user_capacity=60 TiB", "ssd.flash.over_provisioning=6 %", "firmware.mapping.unit=16 KiB",
        "precondition=[{fill: 100 %, order: sequential}]"})
    check.insert(check.end(), {"--set", setting});
  CHECK(run(folder, check).code == 0);
  // Refused for another reason, which only the firmware knows: before any of the dies is made.
  const Timed many =
      timed(folder, k_small, {"ssd.flash.channels=1024", "ssd.flash.ways=32", "ssd.dram.capacity=1 MiB"});
  INFO(many.outcome.err);
  CHECK(many.outcome.code == 2);
  CHECK(many.outcome.err.find("ssd.dram.capacity") != std::string::npos);
  CHECK(many.seconds < 5);
}

TEST_CASE("time before the first command of a run is idle time", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, user_capacity: 1 GiB, over_provisioning: 40 %, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  gc: {idle_after: 100 ms}
  pslc: {policy: all, static: 5 %, dynamic: 10 %, fold_below: 0 %}
precondition: {fill: 20 %, order: sequential}
load: {rw: write, bs: 128k, iodepth: 8, offset: 20%, size: 400m}
)");
  const auto room = [&](const std::vector<std::string>& more) {  // in the pSLC, until it is full
    return report_of(folder, scenario, "out", more)["cliff"]["written"]["value"].get<double>();
  };
  const std::vector<std::string> late = {"--set", "load.startdelay=20 s"};
  const double at_once = room({});
  const double folded = room(late);
  CHECK(folded > 4 * at_once);
  CHECK(room({"--set", "load.startdelay=90 ms"}) == at_once);
  CHECK(folded == Approx(room({"--set", "precondition.0.idle=true"})).epsilon(0.01));
  // And in a run from a snapshot.
  const std::string snapshot = folder / "drive.snap";
  std::vector<std::string> saving = late;
  std::vector<std::string> restoring = late;
  saving.insert(saving.end(), {"--save-snapshot", snapshot});
  restoring.insert(restoring.end(), {"--from-snapshot", snapshot});
  const Json straight = report_of(folder, scenario, "straight", saving);
  CHECK(report_of(folder, scenario, "restored", restoring) == straight);
}

}  // namespace tlmssd::program_tests
