// A life in phases: rests between the steps of preconditioning, and saved drives that rest later.
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// Half of the data of a year are beyond what the code corrects, hardly any of a day.
const std::string k_aging = R"(
seed: 3
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    ways: 1
    part: {cell: tlc, planes: 1, blocks_per_plane: 48, pages_per_block: 96, page_size: 16 KiB}
    over_provisioning: 40 %
    reliability: {model: power-law}
firmware: {ecc: {policy: fixed}}
age: {cycles: 1000}
precondition:
  - {fill: 100 %, order: sequential, rest: 365 d}
  - {overwrite: 3x, region: 25 %, order: sequential, rest: 1 d}
load:
  - {name: new, rw: randread, bs: 4k, size: "25%", number_ios: 1500}
  - {name: old, rw: randread, bs: 4k, offset: "25%", number_ios: 1500, stonewall: true}
run: {errors: accept}
)";

/// Reads of load number `i` that failed.
std::uint64_t failed(const Json& report, std::size_t i) {
  const Json& errors = report["results"]["loads"][i]["operations"]["read"]["errors"];
  return errors.value("unrecovered read error", std::uint64_t{0});
}

}  // namespace

TEST_CASE("data that were written before a rest are older than those written after it", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_aging);
  const Json phases = report_of(folder, scenario, "phases");
  CHECK(failed(phases, 0) < 10);
  CHECK(failed(phases, 1) > 500);
  CHECK(phases["preconditioning"][0]["text"] == "precondition.0: behind it 1 y at 40 C");
  CHECK(phases["preconditioning"][1]["text"] == "precondition.1: behind it 1 d at 40 C");
  const Json young = report_of(folder, scenario, "young", {"--set", "precondition.0.rest=0 s"});
  CHECK(failed(young, 0) < 10);
  CHECK(failed(young, 1) < 10);
}

TEST_CASE("rests add up, whether steps say them or the age", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_aging);
  const auto results = [&](const std::string& steps, const std::string& age) {
    return report_of(folder, scenario, "out",
                     {"--set", "precondition=" + steps, "--set", "age=" + age})["results"];
  };
  const Json whole =
      results("[{fill: 100 %, order: sequential}]", "{cycles: 1000, retention: 365 d, reads: 300}");
  CHECK(failed({{"results", whole}}, 0) > 0);
  CHECK(results("[{fill: 100 %, order: sequential, rest: 165 d, reads: 100}, {rest: 200 d, reads: 200}]",
                "{cycles: 1000}") == whole);
  CHECK(results("[{fill: 100 %, order: sequential}, {rest: 165 d}]",
                "{cycles: 1000, retention: 200 d, reads: 300}") == whole);
  CHECK(results("[{fill: 100 %, order: sequential, rest: 165 d}]",
                "{cycles: 1000, retention: 199 d, reads: 300}") != whole);
  // A day at 70 C is more than a day at 40 C.
  CHECK(failed({{"results", results("[{fill: 100 %, order: sequential, rest: 2 d}]", "{cycles: 1000}")}},
               0) == 0);
  CHECK(failed({{"results", results("[{fill: 100 %, order: sequential, rest: 2 d, temperature: 70 C}]",
                                    "{cycles: 1000}")}},
               0) > 0);
}

TEST_CASE("a drive saved before its age rests afterwards, as in one go", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_aging);
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "--prepare-only", "--save-snapshot", snapshot});
  for (const std::string age : {"age.retention=20 d", "age.reads=100000"}) {
    INFO(age);
    const Json direct = report_of(folder, scenario, "direct", {"--set", age});
    CHECK(report_of(folder, scenario, "restored", {"--set", age, "--from-snapshot", snapshot}) == direct);
    CHECK(direct["age"].get<std::string>().starts_with("1000 cycles"));
  }
  // One that has rested is as old as it is.
  const std::string rested = folder / "rested.snap";
  run_ok(folder, {"run", scenario, "-q", "--prepare-only", "--from-snapshot", snapshot, "--set",
                  "age.retention=20 d", "--save-snapshot", rested});
  CHECK(report_of(folder, scenario, "again", {"--set", "age.retention=20 d", "--from-snapshot", rested}) ==
        report_of(folder, scenario, "direct", {"--set", "age.retention=20 d"}));
  CHECK(run(folder, {"run", scenario, "-q", "--set", "age.retention=30 d", "--from-snapshot", rested}).err ==
        "tlmssd: snapshot " + rested + " does not fit: age.retention is 20 d there, 30 d here\n");
  CHECK(run(folder, {"run", scenario, "-q", "--set", "age.cycles=3000", "--from-snapshot", snapshot}).err ==
        "tlmssd: snapshot " + snapshot + " does not fit: age.cycles is 1000 there, 3000 here\n");
}

TEST_CASE("firmware in use refreshes in rests of steps, and that is told", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_aging);
  const Json report =
      report_of(folder, scenario, "out",
                {"--set", "precondition.0.powered=true", "--set", "firmware.refresh.policy=limits", "--set",
                 "firmware.refresh.retention=20 d"});
  const std::string text = report["preconditioning"][0]["text"];
  CHECK(text.starts_with("precondition.0: behind it 1 y at 40 C, in use; meanwhile "));
  CHECK(text.find("blocks refreshed") != std::string::npos);
  CHECK(failed(report, 1) < failed(report_of(folder, scenario, "unpowered"), 1) / 2);
}

TEST_CASE("what a rest says in vain is named", "[program]") {
  const Folder folder;
  const std::string text = replaced(k_small, "load:", R"(precondition:
  - {fill: 50 %, rest: 3 d, reads: 5}
  - {overwrite: 10 %, temperature: 60 C, powered: true}
load:)");
  const Json unread = report_of(folder, folder.write("s.yaml", text), "out")["unread_parameters"];
  std::string all;
  for (const Json& one : unread) all += one.get<std::string>() + "\n";
  for (const char* key : {"precondition.0.rest", "precondition.0.reads", "precondition.1.temperature",
                          "precondition.1.powered"}) {
    INFO(all);
    CHECK(all.find(key) != std::string::npos);
  }
}

}  // namespace tlmssd::program_tests
