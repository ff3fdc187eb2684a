// Loads without a name get names that tell them apart, and random streams of their own.
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

constexpr const char* k_tiny_drive =
    "ssd: {flash: {part: {blocks_per_plane: 16, pages_per_block: 16}, over_provisioning: 40 %}}\n";

}  // namespace

TEST_CASE("two loads without a name do not ask for the same addresses", "[program]") {
  const Folder folder;
  const std::string load = "  - {rw: randread, number_ios: 50}\n";
  const std::string scenario = folder.write("s.yaml", std::string(k_tiny_drive) + "load:\n" + load + load);
  const Outcome outcome =
      run(folder, {"run", scenario, "--quiet", "-o", folder / "out", "--set", "report.command_log=csv"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto report = nlohmann::json::parse(read_file(folder.path() / "out" / "report.json"));
  CHECK(report["results"]["loads"][0]["name"] == "load");
  CHECK(report["results"]["loads"][1]["name"] == "load 2");
  std::map<std::string, std::string> addresses;  // of each load, in order
  std::istringstream log(read_file(folder.path() / "out" / "commands.csv"));
  std::string line;
  std::getline(log, line);
  while (std::getline(log, line)) {
    std::istringstream cells(line);
    std::string cell[4];
    for (std::string& each : cell) std::getline(cells, each, ',');
    addresses[cell[0]] += cell[3] + " ";
  }
  REQUIRE(addresses.size() == 2);
  CHECK(addresses.begin()->second != addresses.rbegin()->second);
}

TEST_CASE("job files and their jobs are told apart when they come twice", "[program]") {
  const Folder folder;
  folder.write("j.fio", "[a]\nrw=randread\nnumber_ios=20\n[b]\nrw=randread\nnumber_ios=20\n");
  const std::string scenario =
      folder.write("s.yaml", std::string(k_tiny_drive) + "load: [{fio: j.fio}, {fio: j.fio}]\n");
  REQUIRE(run(folder, {"run", scenario, "--quiet", "-o", folder / "out"}).code == 0);
  const auto report = nlohmann::json::parse(read_file(folder.path() / "out" / "report.json"));
  std::vector<std::string> names;
  for (const auto& load : report["results"]["loads"]) names.push_back(load["name"]);
  CHECK(names == std::vector<std::string>{"a", "b", "jobs 2.a", "jobs 2.b"});
}

TEST_CASE("a load's name is given once", "[program]") {
  const Folder folder;
  const std::string load = "  - {name: a, rw: randread, number_ios: 5}\n";
  const std::string other = "  - {name: b, rw: randread, number_ios: 5}\n";
  const std::string twice =
      folder.write("s.yaml", std::string(k_tiny_drive) + "load:\n" + load + other + load);
  const Outcome outcome = run(folder, {"run", twice, "--quiet"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "tlmssd: " + twice +
            ":5: load.2.name: 'a' is the name of an earlier load, whose random stream it would share; "
            "nearest valid: a 2\n");
  CHECK(run(folder, {"run", twice, "--quiet", "--set", "load.2.name=a 2"}).code == 0);
}

}  // namespace tlmssd::program_tests
