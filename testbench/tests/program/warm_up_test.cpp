// Warm-up: the first requests of a load are carried out untimed, the rest is measured. Ramp: they
// are carried out as the rest is, and not measured.

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

struct Logged {
  Json report;
  std::vector<std::string> commands;  ///< "operation,lba,bytes," in order of completion
  std::string summary;
};

std::string field(const std::string& line, std::size_t number) {
  std::istringstream fields(line);
  std::string text;
  for (std::size_t i = 0; i <= number; ++i) std::getline(fields, text, ',');
  return text;
}

/// Runs `scenario` with a command log; the words of the log's columns are looked up in its first
/// line.
Logged logged(const Folder& folder, const std::string& scenario, const std::string& out,
              std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run",        scenario, "-o",
                                        folder / out, "--set",  "report.command_log=csv"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Logged result;
  result.summary = run_ok(folder, arguments).out;
  result.report = Json::parse(read_file(folder.path() / out / "report.json"));
  std::istringstream log(read_file(folder.path() / out / "commands.csv"));
  std::string head;
  std::getline(log, head);
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < 12; ++i) {
    const std::string name = field(head, i);
    if (name == "operation" || name == "lba" || name == "bytes") columns.push_back(i);
  }
  REQUIRE(columns.size() == 3);
  for (std::string line; std::getline(log, line);) {
    std::string command;
    for (const std::size_t column : columns) command += field(line, column) + ",";
    result.commands.push_back(command);
  }
  return result;
}

/// What follows the first `passed` of `all`.
std::vector<std::string> rest(const std::vector<std::string>& all, std::size_t passed) {
  return {all.begin() + static_cast<std::ptrdiff_t>(passed), all.end()};
}

const std::string k_trace = [] {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i * 1'000'000) + (i % 3 == 0 ? ",h,0,Read," : ",h,0,Write,") +
            std::to_string(i * 7 % 40 * 4096) + ",4096,0\n";
  return text;
}();

}  // namespace

TEST_CASE("warm-up: what is measured is what follows it", "[program]") {
  const Folder folder;
  static_cast<void>(folder.write("t.csv", k_trace));
  struct Kind {
    const char* load;
    std::size_t requests;
  };
  // One command at a time, so that commands complete in the order of their requests.
  for (const Kind& kind :
       {Kind{"{rw: randrw, number_ios: 500}", 500}, Kind{"{trace: t.csv, queue_depth: 1}", 60},
        Kind{"{profile: prxy_0, scale: 0.0005, requests: 300, queue_depth: 1}", 300}}) {
    INFO(kind.load);
    const std::string scenario = folder.write("s.yaml", replaced(k_small, k_small_load, kind.load));
    const Logged whole = logged(folder, scenario, "whole");
    REQUIRE(whole.commands.size() == kind.requests);
    const Logged warm = logged(folder, scenario, "warm", {"--set", "load.0.warm_up=40"});
    CHECK(warm.commands == rest(whole.commands, 40));
    CHECK(warm.report["results"]["loads"][0]["warm_up_requests"] == 40);
    CHECK(warm.report["results"]["total"]["commands"] == kind.requests - 40);
    CHECK(warm.report["checks"]["wrong_reads"] == 0);
    CHECK(warm.summary.find("Warm-up 40 requests untimed\n") != std::string::npos);
    CHECK(whole.summary.find("Warm-up") == std::string::npos);
    CHECK_FALSE(whole.report["results"]["loads"][0].contains("warm_up_requests"));
    CHECK(read_file(folder.path() / "warm" / "report.html").find("warm-up: 40 requests untimed") !=
          std::string::npos);
  }
}

TEST_CASE("warm-up: the drive has had the requests", "[program]") {
  // All that is read was written in the warm-up.
  const Folder folder;
  std::string text;
  for (int i = 0; i < 20; ++i) text += "0,h,0,Write," + std::to_string(i * 4096) + ",4096,0\n";
  for (int i = 0; i < 20; ++i) text += "0,h,0,Read," + std::to_string(i * 4096) + ",4096,0\n";
  static_cast<void>(folder.write("t.csv", text));
  const std::string scenario =
      folder.write("s.yaml", replaced(k_small, k_small_load, "{trace: t.csv, warm_up: 50 %}"));
  const Logged warm = logged(folder, scenario, "warm");
  CHECK(warm.commands.size() == 20);
  CHECK(warm.report["checks"]["blocks_compared"] == 20);
  CHECK(warm.report["results"]["total"]["operations"].contains("read"));
  CHECK_FALSE(warm.report["results"]["total"]["operations"].contains("write"));
  const Json& read = warm.report["results"]["total"]["operations"]["read"];
  CHECK(read["ledger"].contains("sense"));  // from flash: the drive was drained after the warm-up
}

TEST_CASE("warm-up: open loop begins at once", "[program]") {
  const Folder folder;
  static_cast<void>(folder.write("t.csv", k_trace));  // a request every 100 ms
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, k_small_load, "{trace: t.csv, pacing: open-loop, warm_up: 50}"));
  const Logged warm = logged(folder, scenario, "warm");
  CHECK(warm.commands.size() == 10);
  const double seconds = warm.report["measured_time"]["value"];
  CHECK(seconds == Approx(0.9).epsilon(0.01));
}

TEST_CASE("warm-up: same seed, same bytes, also from a snapshot", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(replaced(k_small, k_small_load,
                                  "\n  - {profile: hm_0, scale: 0.0005, requests: 900, warm_up: 300}"
                                  "\n  - {rw: randwrite, number_ios: 200, warm_up: 25 %}"),
                         "load:", "precondition: [{fill: 50 %}]\nload:"));
  const std::string snapshot = folder / "drive.snap";
  const Outcome outcome = run_ok(folder, {"run", scenario, "-o", folder / "a", "--save-snapshot", snapshot});
  CHECK(outcome.out.find("Warm-up 350 requests untimed\n") != std::string::npos);
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "b"});
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "c", "--from-snapshot", snapshot});
  const std::string report = read_file(folder.path() / "a" / "report.json");
  CHECK(report == read_file(folder.path() / "b" / "report.json"));
  CHECK(report == read_file(folder.path() / "c" / "report.json"));
  const Json loads = Json::parse(report)["results"]["loads"];
  CHECK(loads[0]["commands"] == 600);
  CHECK(loads[1]["commands"] == 150);
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "d", "--set", "seed=2"});
  CHECK(report != read_file(folder.path() / "d" / "report.json"));
}

TEST_CASE("warm-up: the short form cuts it", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, k_small_load, "{rw: randread, io_size: 400m, warm_up: 50000}"));
  const Outcome outcome = run_ok(folder, {"run", scenario, "--short", "-o", folder / "out"});
  CHECK(outcome.out.find("Warm-up 20000 requests untimed\n") != std::string::npos);
  const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
  CHECK(report["results"]["total"]["commands"] == 20000);
}

TEST_CASE("warm-up: untimed runs have one too", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml",
      replaced(k_small, k_small_load, "{rw: randwrite, number_ios: 500, warm_up: 100}\nrun: {timed: false}"));
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "out"});
  CHECK(read_file(folder.path() / "out" / "report.json").find("\"warm_up_requests\": 100") !=
        std::string::npos);
}

TEST_CASE("ramp: so many requests are not measured", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, k_small_load, "{rw: randrw, number_ios: 500, ramp_requests: 120}"));
  const Logged ramped = logged(folder, scenario, "ramped");
  const Logged whole = logged(folder, scenario, "whole", {"--set", "load.0.ramp_requests=0"});
  CHECK(ramped.commands == rest(whole.commands, 120));
  CHECK(ramped.report["results"]["total"]["commands"] == 380);
  CHECK(ramped.report["warnings"].empty());
  const Logged both = logged(folder, scenario, "both", {"--set", "load.0.warm_up=100"});
  CHECK(both.report["results"]["total"]["commands"] == 280);
}

TEST_CASE("ramp: a run that is nothing else says so", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  for (const char* ramp :
       {"load.0.ramp_requests=500", "load.0.ramp_requests=9000", "load.0.ramp_time=50 s"}) {
    INFO(ramp);
    const Outcome outcome = run_ok(folder, {"run", scenario, "-o", folder / "out", "--set", ramp});
    const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
    fs::remove_all(folder.path() / "out");
    CHECK(report["results"]["total"]["commands"] == 0);
    REQUIRE(report["advice"].size() == 1);
    CHECK(report["advice"][0]["name"] == "not-measured");
    CHECK_THAT(report["advice"][0]["text"].get<std::string>(),
               Catch::StartsWith("nothing was measured: the ramp"));
    CHECK(run(folder, {"run", scenario, "--strict", "-q", "--set", ramp}).code == 4);
    CHECK(outcome.out.find("nothing measured") != std::string::npos);
  }
}

TEST_CASE("a ramp of requests is left out of an untimed run's statistics, too", "[program]") {
  const Folder folder;
  const auto run = [&](const std::string& load) {
    static int number = 0;
    const std::string scenario = folder.write(
        "s.yaml",
        "ssd:\n  host: {lba_size: 4 KiB}\n  flash: {channels: 2, ways: 1, over_provisioning: 20 %, part: "
        "{pages_per_block: 16, blocks_per_plane: 32}}\nfirmware: {buffer: {capacity: 256 KiB}}\n"
        "run: {timed: false}\nload:\n" +
            load);
    return report_of(folder, scenario, "out" + std::to_string(number++));
  };
  const auto written = [](const Json& report) {
    return report["statistics"]["host"]["write"]["bytes"]["value"].get<double>() / 4096;
  };
  const std::string one = "  - {name: a, rw: randwrite, bs: 4k, number_ios: 1000";
  const std::string other = "  - {name: b, rw: randwrite, bs: 8k, number_ios: 1000";
  CHECK(written(run(one + "}\n")) == 1000);
  CHECK(written(run(one + ", ramp_requests: 300}\n")) == 700);
  // When the longer ramp is over, the other load has done about as many, six deviations of 24
  // apart.
  CHECK(written(run(one + ", ramp_requests: 300}\n" + other + ", ramp_requests: 100}\n")) ==
        Approx(700 + 2 * 700).margin(2 * 6 * 24));
  // One that ends before its ramp does not hold up the other, which has done as many, give or take
  // six deviations of 45.
  CHECK(written(run(one + ", ramp_requests: 5000}\n" + replaced(other, "1000", "1500") + "}\n")) ==
        Approx(2 * 500).margin(2 * 6 * 45));
  const Json all = run(one + ", ramp_requests: 1000}\n");
  CHECK(written(all) == 0);
  REQUIRE(all["advice"].size() == 1);
  CHECK(all["advice"][0]["text"] ==
        "nothing was measured: the ramp (ramp_time, ramp_requests) takes up the whole run");
}

}  // namespace tlmssd::program_tests
