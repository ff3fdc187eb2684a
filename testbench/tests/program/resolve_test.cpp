// What other programs ask: scenarios filled in, many at a time, and the figures that a report will
// have.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {

using Json = nlohmann::json;

TEST_CASE("resolve answers each line with the scenario or what is wrong", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"resolve", scenario}, R"(["seed=7", "firmware.gc.policy=fifo"]
["ssd.flash.channels=0"]
["ssd.flash.channels=0", "ssd.flash.ways=0"]
[]
)");
  REQUIRE(outcome.code == 0);
  std::istringstream lines(outcome.out);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const Json first = Json::parse(line)["scenario"];
  CHECK(first["seed"] == 7);
  CHECK(first["firmware"]["gc"]["policy"] == "fifo");
  REQUIRE(std::getline(lines, line));
  const Json one = Json::parse(line)["errors"];
  REQUIRE(one.size() == 1);
  CHECK(one[0]["key"] == "ssd.flash.channels");
  CHECK(one[0]["text"] ==
        "--set ssd.flash.channels=0: ssd.flash.channels: 0 is out of range: must be 1 to 1024");
  REQUIRE(std::getline(lines, line));
  const Json both = Json::parse(line)["errors"];  // each for itself, as check lists them
  REQUIRE(both.size() == 2);
  CHECK(both[1]["key"] == "ssd.flash.ways");
  REQUIRE(std::getline(lines, line));
  CHECK(Json::parse(line)["scenario"]["seed"] == 1);
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("resolve ends when its answers cannot be written", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome full =
      run_shell(folder, "yes '[]' | timeout 20 $tlmssd resolve " + scenario + " > /dev/full");
  CHECK(full.code == 7);
  CHECK(full.err == "tlmssd: standard output: cannot be written: No space left on device\n");
  const Outcome pipe =
      run_shell(folder, "yes '[]' | (timeout 20 $tlmssd resolve " + scenario + "; echo $? >&2) | head -c 1");
  CHECK(pipe.err == "0\n");
}

TEST_CASE("a resolved scenario runs to the same bytes", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"resolve", scenario}, "[\"seed=7\"]\n");
  const std::string resolved = folder.write("resolved.yaml", Json::parse(outcome.out)["scenario"].dump());
  REQUIRE(run(folder, {"run", scenario, "-q", "--set", "seed=7", "-o", folder / "one"}).code == 0);
  REQUIRE(run(folder, {"run", resolved, "-q", "-o", folder / "two"}).code == 0);
  CHECK(read_file(folder.path() / "one/report.json") == read_file(folder.path() / "two/report.json"));
}

TEST_CASE("the prices that a part gives are in the resolved scenario", "[program]") {
  const Folder folder;
  const std::string part = folder.write("part.yaml", "cost: {die: 2.5, dram_gib: 3, scm_gib: 11}\n");
  const std::string scenario =
      folder.write("s.yaml", "ssd: {flash: {part: {file: part.yaml}}}\nload: {rw: read, number_ios: 1}\n");
  const Outcome outcome = run(folder, {"resolve", scenario}, "[]\n");
  const Json cost = Json::parse(outcome.out)["scenario"]["ssd"]["flash"]["part"]["cost"];
  CHECK(cost["die"] == 2.5);
  CHECK(cost["dram_gib"] == 3);
  CHECK(cost["scm_gib"] == 11);
  CHECK(cost["core"] == 0);
  // They change nothing of the run, and are not reported as unused.
  REQUIRE(run(folder, {"run", scenario, "-q", "-o", folder / "out"}).code == 0);
  CHECK(Json::parse(read_file(folder.path() / "out/report.json"))["unread_parameters"].empty());
}

TEST_CASE("resolve refuses what is no request", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  for (const char* input : {"seed=7\n", "{}\n", "[7]\n", "\n"}) {
    const Outcome outcome = run(folder, {"resolve", scenario}, input);
    CHECK(outcome.code == 2);
    CHECK(
        outcome.err ==
        "tlmssd: standard input:1: a request is a JSON list of settings on one line, such as [\"seed=2\"]\n");
  }
}

TEST_CASE("figures are those of a run's report", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"figures", scenario, "--set", "seed=7"});
  REQUIRE(outcome.code == 0);
  REQUIRE(run(folder, {"run", scenario, "-q", "-o", folder / "out"}).code == 0);
  Json figures = Json::parse(outcome.out);
  Json report = Json::parse(read_file(folder.path() / "out/report.json"));
  CHECK(figures["seed"] == 7);
  // The same groups and figures, in everything that does not depend on what happened.
  const auto names = [](const Json& json) {
    std::vector<std::string> result;
    const Json flat = json.flatten();
    for (const auto& [path, value] : flat.items()) result.push_back(path);
    return result;
  };
  CHECK(names(figures["write_amplification"]) == names(report["write_amplification"]));
  CHECK(names(figures["statistics"]["firmware"]) == names(report["statistics"]["firmware"]));
  for (const auto& [cause, spent] : report["results"]["total"]["operations"]["read"]["ledger"].items()) {
    INFO(cause);
    CHECK(std::count(figures["causes"].begin(), figures["causes"].end(), cause) == 1);
  }
  CHECK(run(folder, {"figures", scenario, "--set", "ssd.flash.over_provisioning=1 %"}).code == 2);
}

}  // namespace tlmssd::program_tests
