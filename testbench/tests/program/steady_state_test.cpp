// `precondition: {state: steady}`: a drive in steady state that was never written, beside one that
// was.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_four_dies = R"(title: steady state
ssd:
  host: {lba_size: 4 KiB, link: pcie3x4}
  bus: {clock: 800 MHz}
  flash:
    channels: 2
    ways: 2
    bus: 800 MT/s
    spare_factor: 14 %
    part: {planes: 1, blocks_per_plane: 160, pages_per_block: 64, page_size: 4 KiB}
firmware: {buffer: {capacity: 256 KiB}}
)";
const std::string k_random_writes = "load: {rw: randwrite, bs: 4k, iodepth: 16, number_ios: 30000}\n";
const std::string k_no_time = "run: {timed: false}\n";
const std::string k_steady = "precondition: {state: steady}\n";
const std::string k_overwritten = "precondition:\n- {fill: 100 %}\n- {overwrite: 4x}\n";

/// By what victims hold, which does not depend on where in a burst of collection the run ends.
double amplification(const Json& report) {
  return 1 /
         (1 -
          report["statistics"]["firmware"]["garbage_collection"]["victim_mean_valid"]["value"].get<double>());
}

double amplification(const Folder& folder, const std::string& steps, const std::string& policy, int seed) {
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_random_writes + k_no_time + steps);
  return amplification(
      report_of(folder, scenario, "r",
                {"--set", "firmware.gc.policy=" + policy, "--set", "seed=" + std::to_string(seed)}));
}

void as_overwritten(const std::string& policy) {
  const Folder folder;
  double drawn = 0;
  double written = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    drawn += amplification(folder, k_steady, policy, seed) / 3;
    written += amplification(folder, k_overwritten, policy, seed) / 3;
  }
  INFO(policy << ": " << drawn << " against " << written);
  CHECK(drawn == Approx(written).epsilon(0.02));
}

Json inspected(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"inspect", scenario, "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run(folder, arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("write amplification of a drawn drive is that of an overwritten one: greedy", "[program][figure]") {
  as_overwritten("greedy");
}
TEST_CASE("write amplification of a drawn drive is that of an overwritten one: fifo", "[program][figure]") {
  as_overwritten("fifo");
}
TEST_CASE("write amplification of a drawn drive is that of an overwritten one: random", "[program][figure]") {
  as_overwritten("random");
}
TEST_CASE("write amplification of a drawn drive is that of an overwritten one: d-choices",
          "[program][figure]") {
  as_overwritten("d-choices");
}
TEST_CASE("write amplification of a drawn drive is that of an overwritten one: windowed",
          "[program][figure]") {
  as_overwritten("windowed-greedy");
}
TEST_CASE("write amplification of a settled pool is that of an overwritten one: cost-benefit",
          "[program][figure]") {
  as_overwritten("cost-benefit");
}

TEST_CASE("all of a drawn drive reads right, whatever its flash is like", "[program]") {
  const std::vector<std::vector<std::string>> drives = {
      {},
      {"ssd.host.lba_size=512 B"},
      {"ssd.flash.part.planes=2", "firmware.allocation.multi_plane=true"},
      {"ssd.flash.part.page_size=16 KiB", "firmware.allocation.stripe=W"},
      {"firmware.allocation.streams=shared"},
      {"firmware.gc.background_start=0 %"},
      {"firmware.gc.policy=random"},
      {"firmware.gc.policy=cost-benefit"},
      {"firmware.wear.policy=none", "firmware.gc.policy=windowed-greedy"},
      {"ssd.flash.spare_factor=7 %"},
      {"ssd.flash.part.blocks_per_plane=24", "ssd.flash.spare_factor=40 %"},
      {"precondition.sustained=true"},
      {"precondition.sustained=true", "firmware.allocation.streams=shared"},
      {"precondition.sustained=true", "firmware.gc.policy=cost-benefit"},
  };
  for (const std::vector<std::string>& settings : drives) {
    const Folder folder;
    const std::string scenario = folder.write(
        "s.yaml", k_four_dies + k_steady +
                      "load:\n- {name: all, rw: read, bs: 64k, iodepth: 8}\n"
                      "- {name: mixed, stonewall: true, rw: randrw, bs: 4k, iodepth: 8, number_ios: 4000}\n");
    const std::vector<std::string> more = set_options(settings);
    INFO((settings.empty() ? "as it is" : settings.back()));
    const Json report = report_of(folder, scenario, "r", more);
    REQUIRE(report["preconditioning"].size() == 1);
    CHECK(report["preconditioning"][0]["written"] == false);
    const Json state = inspected(folder, scenario, more);
    CHECK(state["consistency"]["consistent"] == true);
  }
}

TEST_CASE("parallel units of a drawn drive collect together where those of an overwritten one do",
          "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  // How many more blocks are free in one parallel unit than in another.
  const auto apart = [&](const std::string& steps, const std::string& unit, int seed) {
    const Json state = inspected(folder, scenario,
                                 {"--set", "precondition=" + steps, "--set", "firmware.mapping.unit=" + unit,
                                  "--set", "seed=" + std::to_string(seed), "--set",
                                  "ssd.flash.spare_factor=40 %", "--set", "ssd.flash.part.page_size=16 KiB"});
    std::vector<int> free;
    for (const Json& pu : state["parallel_units"]) free.push_back(pu["free"].get<int>());
    const auto [least, most] = std::minmax_element(free.begin(), free.end());
    return *most - *least;
  };
  for (const std::string steps : {"[{state: steady}]", "[{fill: 100 %}, {overwrite: 4x}]"}) {
    int together = 0;
    int alone = 0;
    for (int seed = 1; seed <= 6; ++seed) {
      together = std::max(together, apart(steps, "16 KiB", seed));
      alone = std::max(alone, apart(steps, "4 KiB", seed));
    }
    INFO(steps);
    CHECK(together <= 1);  // some may just have opened a block
    CHECK(alone > 1);
  }
}

TEST_CASE("parallel units that never pause are drawn anywhere in filling and collecting",
          "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  constexpr int k_seeds = 6;
  struct Points {
    int different = 0;   ///< in filling a block, summed over drives
    int collecting = 0;  ///< parallel units whose last block is full, and no other has room yet
  };
  const auto points = [&](const std::string& steps, const std::string& spare) {
    Points found;
    for (int seed = 1; seed <= k_seeds; ++seed) {
      const Json state =
          inspected(folder, scenario,
                    {"--set", "precondition=" + steps, "--set", "ssd.flash.spare_factor=" + spare, "--set",
                     "seed=" + std::to_string(seed)});
      std::set<int> filled;
      for (const Json& pu : state["parallel_units"]) {
        int programs = 0;
        for (const Json& open : pu.value("open", Json::array())) {
          if (open["target"] == "host") programs = open["programs"].get<int>();
        }
        filled.insert(programs);
        if (programs == 0) ++found.collecting;
      }
      found.different += static_cast<int>(filled.size());
    }
    return found;
  };
  // Two thirds of the programs are the host's: most blocks are being filled, each on its own.
  CHECK(points("{state: steady, sustained: true}", "40 %").different > 2 * k_seeds);
  // A quarter are: most parallel units are collecting.
  const int collecting = points("{state: steady, sustained: true}", "14 %").collecting;
  CHECK(collecting > 4 * k_seeds / 2);
  CHECK(collecting < 4 * k_seeds);
  // At rest they are as untimed overwriting leaves them.
  for (const std::string steps : {"{state: steady}", "[{fill: 100 %}, {overwrite: 4x}]"}) {
    INFO(steps);
    CHECK(points(steps, "40 %").different <= 2 * k_seeds);  // some may have got the last program
  }
}

TEST_CASE("the first writes behind a sustained steady state wait as later ones do", "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(title: sustained
ssd:
  host: {lba_size: 4 KiB, link: pcie3x4}
  flash:
    channels: 4
    ways: 2
    over_provisioning: 10 %
    part: {planes: 1, blocks_per_plane: 160, pages_per_block: 96, page_size: 16 KiB}
firmware: {buffer: {capacity: 2 MiB}}
precondition: {state: steady, sustained: true}
load: {rw: randwrite, bs: 4k, iodepth: 32}
)");
  struct Waits {
    double median = 0;
    double longest = 0;
  };
  const auto behind = [&](int ramp) {
    Waits mean;
    constexpr int k_seeds = 8;
    for (int seed = 1; seed <= k_seeds; ++seed) {
      const Json report = report_of(
          folder, scenario, "r",
          {"--set", "seed=" + std::to_string(seed), "--set", "load.ramp_requests=" + std::to_string(ramp),
           "--set", "load.number_ios=" + std::to_string(ramp + 20000)});
      const Json& latency = report["results"]["total"]["operations"]["write"]["latency"];
      mean.median += latency["p50"].get<double>() / k_seeds;
      mean.longest += latency["p99.9"].get<double>() / k_seeds;
    }
    return mean;
  };
  const Waits first = behind(0);
  const Waits later = behind(100000);
  INFO(first.longest << " against " << later.longest);
  CHECK(first.median == Approx(later.median).epsilon(0.15));
  CHECK(first.longest > 0.6 * later.longest);
  CHECK(first.longest < 1.8 * later.longest);  // 3.5 times where all parallel units collect at once
}

TEST_CASE("a snapshot of a drawn drive gives the same bytes", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  for (const std::string sustained : {"false", "true"}) {
    const std::vector<std::string> set{"--set", "precondition.sustained=" + sustained};
    const Json made = report_of(folder, scenario, "a", joined({"--save-snapshot", folder / "p.snap"}, set));
    const Json restored =
        report_of(folder, scenario, "b", joined({"--from-snapshot", folder / "p.snap"}, set));
    CHECK(made == restored);
    CHECK(report_of(folder, scenario, "c", set) == made);
  }
}

TEST_CASE("a drive without a model is settled by writing, and that is said", "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  const auto told = [&](const std::string& setting) {
    return report_of(folder, scenario, "r", {"--set", setting})["preconditioning"][0];
  };
  for (const std::string setting : {"firmware.mapping.scheme=dftl", "firmware.wear.policy=static"}) {
    const Json one = told(setting);
    CHECK(one["written"] == true);
    const auto text = one["text"].get<std::string>();
    CHECK(text.find("settling run") != std::string::npos);
    CHECK(text.find(setting.substr(0, setting.find('='))) != std::string::npos);
  }
  const Outcome shown =
      run(folder, {"run", scenario, "-o", folder / "s", "--set", "firmware.wear.policy=static"});
  CHECK(shown.out.find("settling run") != std::string::npos);
}

TEST_CASE("refresh without a limit leaves a steady drive as it is, with one it is settled by writing",
          "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  const auto with = [&](const std::string& limits) {
    return report_of(
        folder, scenario, "r",
        {"--set", "load.number_ios=2000", "--set",
         limits.empty() ? "firmware.refresh={policy: none}" : "firmware.refresh={policy: " + limits + "}"});
  };
  const Json plain = with("");
  const Json off = with("limits, retention: 0 s, reads: 0, errors: 0");
  CHECK(off["preconditioning"] == plain["preconditioning"]);
  CHECK(off["results"] == plain["results"]);
  for (const std::string limits :
       {"limits, retention: 0 s, errors: 0, reads: 1000000", "limits, retention: 30 d, reads: 0, errors: 0",
        "limits, retention: 0 s, reads: 0, errors: 40",
        "read-regions, retention: 0 s, reads: 0, errors: 0"}) {
    INFO(limits);
    CHECK(with(limits)["preconditioning"][0]["written"] == true);
  }
}

TEST_CASE("a drive with hardly any spare is settled by writing, whatever chooses its victims", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml",
      "ssd:\n  flash: {channels: 2, ways: 2, over_provisioning: 60.51 %, part: {blocks_per_plane: 8, "
      "pages_per_block: 64}}\n" +
          k_steady + "load: {rw: randrw, bs: 4k, number_ios: 200}\n");
  for (const std::string policy :
       {"greedy", "cost-benefit", "fifo", "random", "d-choices", "windowed-greedy"}) {
    INFO(policy);
    const Json report = report_of(folder, scenario, "r", {"--set", "firmware.gc.policy=" + policy});
    CHECK(report["preconditioning"][0]["written"] == true);
    const auto text = report["preconditioning"][0]["text"].get<std::string>();
    CHECK(text.find("less than a block of each parallel unit is spare") != std::string::npos);
  }
}

TEST_CASE("a drive whose parallel units fall out of step is settled by writing", "[program]") {
  const Folder folder;
  const std::string drive =
      "ssd:\n  host: {lba_size: 4 KiB}\n  flash: {channels: 4, ways: 4, part: {planes: 1, "
      "blocks_per_plane: 40, pages_per_block: 16, page_size: 16 KiB}}\n"
      "firmware: {buffer: {capacity: 1 MiB}}\n";
  const std::string overwritten = folder.write(
      "o.yaml",
      drive + "precondition: {fill: 100 %}\nload: {rw: randwrite, bs: 4k, number_ios: 100000}\n" + k_no_time);
  const std::string steady =
      folder.write("s.yaml", drive + k_steady + "load: {rw: randwrite, bs: 4k, number_ios: 200}\n");
  for (const bool tight : {true, false}) {
    const std::vector<std::string> spare = {
        "--set", std::string("ssd.flash.spare_factor=") + (tight ? "10 %" : "14 %")};
    INFO(spare.back());
    // Those that hold too much for the next program are passed over, or none ever is.
    const Json load = report_of(folder, overwritten, "o", spare);
    const Json& collection = load["statistics"]["firmware"]["garbage_collection"];
    CHECK((collection["parallel_units_passed_over"]["value"].get<int>() > 0) == tight);
    const Json made = report_of(folder, steady, "s", spare)["preconditioning"][0];
    CHECK(made["written"] == tight);
    CHECK((made["text"].get<std::string>().find("out of step") != std::string::npos) == tight);
  }
}

TEST_CASE(
    "a drive whose blocks would wear out is refused by check as by run, and the least that bears it runs",
    "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_four_dies + k_steady + k_random_writes);
  const std::string key = "ssd.flash.part.endurance";
  const std::vector<std::vector<std::string>> drives = {
      {},
      {"ssd.flash.part.endurance_spread=20 %", "age.cycles=2"},
      {"firmware.gc.policy=random"},
      {"firmware.gc.policy=cost-benefit"},
      {"firmware.wear.policy=none", "firmware.gc.policy=windowed-greedy"},
  };
  for (const std::vector<std::string>& settings : drives) {
    std::vector<std::string> more = set_options(settings);
    INFO((settings.empty() ? "as it is" : settings.back()));
    const auto with = [&](const char* command, const std::string& endurance) {
      return joined({command, scenario, "--set", key + "=" + endurance}, more);
    };
    const Outcome checked = run(folder, with("check", "2"));
    CHECK(checked.code == 2);
    CHECK(std::count(checked.err.begin(), checked.err.end(), '\n') == 1);
    CHECK(checked.err.find(key + ": the weakest blocks bear ") != std::string::npos);
    const Outcome ran = run(folder, with("run", "2"));
    CHECK(ran.code == 2);
    CHECK(ran.err == checked.err);
    const std::string proposed = "nearest valid: ";
    const std::size_t at = checked.err.find(proposed);
    REQUIRE(at != std::string::npos);
    const std::string least =
        checked.err.substr(at + proposed.size(), checked.err.find('\n', at) - at - proposed.size());
    CHECK(run(folder, with("check", std::to_string(std::stoul(least) - 1))).code == 2);
    more.insert(more.end(),
                {"--set", key + "=" + least, "--set", "load.number_ios=1", "--set", "run.timed=false"});
    const Json report = report_of(folder, scenario, "r", more);
    CHECK(report["preconditioning"][0]["written"] == false);
  }
  // Where the drive is written, blocks wear out as ever.
  CHECK(run(folder, {"check", scenario, "--set", key + "=2", "--set", "firmware.wear.policy=static"}).code ==
        0);
}

}  // namespace tlmssd::program_tests
