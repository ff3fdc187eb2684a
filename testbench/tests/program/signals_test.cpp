// Runs that are ended by a signal leave nothing behind but what they have measured; what killed
// ones leave is swept by the next.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

using Clock = std::chrono::steady_clock;

const std::string k_large = replaced(k_small, "blocks_per_plane: 32", "blocks_per_plane: 1024");

/// Scenarios that do not end for hours, each at work on something else.
const std::vector<std::pair<const char*, std::string>> k_endless = {
    {"preconditioning",
     replaced(k_large,
              "load:", "precondition: [{fill: 100 %}, {overwrite: 1000x}, {overwrite: 1000x}]\nload:")},
    {"warm-up", replaced(k_large, "number_ios: 500", "loops: 1000000, warm_up: 90 %")},
    {"timed run", replaced(k_large, "number_ios: 500", "loops: 1000000")},
    {"untimed run", replaced(k_large, "number_ios: 500}", "loops: 1000000}\nrun: {timed: false}")},
};

/// What is under construction in `folder`.
std::vector<std::string> partial(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".partial") names.push_back(entry.path().filename());
  }
  return names;
}

/// Waits until one thing is under construction that is not among `left`, and nothing else; then
/// until the run is well on its way.
std::vector<std::string> wait_for_run(const fs::path& folder, const std::vector<std::string>& left = {}) {
  const auto end = Clock::now() + std::chrono::seconds(60);
  std::vector<std::string> names;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    names = partial(folder);
  } while ((names.size() != 1 || names == left) && Clock::now() < end);
  REQUIRE(names.size() == 1);
  REQUIRE(names != left);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return names;
}

/// Starts a run that does not end, and kills it; what it leaves.
std::vector<std::string> leave_behind(const Folder& folder, const std::string& endless) {
  const auto killed = start(folder, {"run", endless, "-o", folder / "killed"});
  std::vector<std::string> left = wait_for_run(folder.path());
  killed->signal(SIGKILL);
  CHECK(killed->wait().code == 256 + SIGKILL);
  CHECK(partial(folder.path()) == left);
  return left;
}

std::size_t entries(const Folder& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
}

}  // namespace

TEST_CASE("a signal ends a run, which leaves nothing behind but what it has measured", "[program]") {
  for (const auto& [what, text] : k_endless) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      INFO(what << ", signal " << signal);
      const Folder folder;
      const std::string scenario = folder.write("s.yaml", text);
      const auto run =
          start(folder, {"run", scenario, "-o", folder / "out", "--set", "report.command_log=csv"});
      wait_for_run(folder.path());
      run->signal(signal);
      const Outcome outcome = run->wait();
      CHECK(outcome.code == 128 + signal);
      const bool measured = std::string(what) == "timed run";
      CHECK(outcome.out.empty() == !measured);
      CHECK(outcome.err.starts_with("tlmssd: interrupted by SIG"));
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
      CHECK(entries(folder) == (measured ? 2 : 1));  // the scenario
      if (!measured) continue;
      const std::string report = read_file(folder.path() / "out" / "report.json");
      CHECK(report.find("\"partial\": \"interrupted by SIG") != std::string::npos);
      CHECK(outcome.out.find("results up to then") != std::string::npos);
    }
  }
}

TEST_CASE("the lifetime of a run that is interrupted says that it is reckoned from too little", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd: {flash: {user_capacity: 16 GiB}}
load: {rw: randwrite, bs: 4k, iodepth: 8, loops: 1000}
)");
  const auto run = start(folder, {"run", scenario, "-o", folder / "out"});
  wait_for_run(folder.path());
  run->signal(SIGINT);
  const Outcome outcome = run->wait();
  CHECK(outcome.code == 128 + SIGINT);
  CHECK_THAT(outcome.out, Catch::Contains("too little to tell"));
  const auto report = nlohmann::ordered_json::parse(read_file(folder.path() / "out" / "report.json"));
  CHECK(report["lifetime"]["not_settled"]["value"] == "short-for-amplification");
  CHECK(report["advice"].empty());
}

TEST_CASE("a run under timeout, which sends its signal twice, leaves nothing behind", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_endless.front().second);
  const Outcome outcome =
      run_shell(folder, "timeout --preserve-status 0.5 $tlmssd run " + scenario + " -o " + (folder / "out"));
  CHECK(outcome.code == 128 + SIGTERM);
  CHECK(entries(folder) == 1);
}

TEST_CASE("earlier results outlive a run that is interrupted", "[program]") {
  const Folder folder;
  const std::string out = folder / "out";
  REQUIRE(run(folder, {"run", folder.write("s.yaml", k_small), "-q", "-o", out}).code == 0);
  const std::string before = read_file(out + "/report.json");
  const auto again = start(folder, {"run", folder.write("e.yaml", k_endless[2].second), "-o", out});
  wait_for_run(out);
  again->signal(SIGINT);
  CHECK(again->wait().code == 128 + SIGINT);
  CHECK(read_file(out + "/report.json") == before);
  CHECK(std::distance(fs::directory_iterator(out), {}) == 6);
}

TEST_CASE("what a killed run has left is swept by the next, what a live one works on is not", "[program]") {
  const Folder folder;
  const std::string endless = folder.write("e.yaml", k_endless[2].second);
  const std::string small = folder.write("s.yaml", k_small);
  const std::vector<std::string> left = leave_behind(folder, endless);
  const auto live = start(folder, {"run", endless, "-o", folder / "live"});
  const std::vector<std::string> at_work = wait_for_run(folder.path(), left);
  CHECK(run(folder, {"run", small, "-q", "--save-snapshot", folder / "a.snap"}).code == 0);
  CHECK(partial(folder.path()) == at_work);
  live->signal(SIGTERM);
  CHECK(live->wait().code == 128 + SIGTERM);
  CHECK(partial(folder.path()).empty());
}

TEST_CASE("what lies beside a folder is swept by a run that writes into it", "[program]") {
  const Folder folder;
  leave_behind(folder, folder.write("e.yaml", k_endless[2].second));
  fs::create_directory(folder / "killed");
  CHECK(run(folder, {"run", folder.write("s.yaml", k_small), "-q", "-o", folder / "killed"}).code == 0);
  CHECK(partial(folder.path()).empty());
}

}  // namespace tlmssd::program_tests
