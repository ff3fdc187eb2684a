// Standard output that is full, closed or no longer read.
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

/// Every command, as a line of shell that prints something.
std::vector<std::string> all_commands(const Folder& folder) {
  const std::string scenario = folder.write("s.yaml", k_small);
  const std::string trace = folder.write(
      "ok.csv", "128166372003061629,hm,0,Write,4096,4096,100\n128166372003061630,hm,0,Read,8192,4096,100\n");
  return {"run " + scenario,
          "run " + scenario + " --save-snapshot " + (folder / "a.snap"),
          "check " + scenario,
          "schema",
          "list",
          "list gc",
          "reference",
          "profile",
          "profile --json",
          "profile hm_0 --scale 0.0001",
          "profile hm_0 --scale 0.0001 --json",
          "trace-info " + trace,
          "trace-info " + trace + " --json",
          "--help",
          "run --help",
          "--version"};
}

}  // namespace

TEST_CASE("lost output is no success", "[program]") {
  const Folder folder;
  const std::string lost = "tlmssd: standard output: cannot be written: ";
  for (const std::string& command : all_commands(folder)) {
    INFO(command);
    const Outcome full = run_shell(folder, "exec $tlmssd " + command + " >/dev/full");
    CHECK(full.code == 7);
    CHECK(full.err == lost + "No space left on device\n");
    const Outcome closed = run_shell(folder, "exec $tlmssd " + command + " >&-");
    CHECK(closed.code == 2);
    CHECK(closed.err == lost + "Bad file descriptor\n");
    CHECK(run_shell(folder, "exec $tlmssd " + command).code == 0);
  }
}

TEST_CASE("a reader that has read enough is no failure", "[program]") {
  const Folder folder;
  for (const std::string& command : all_commands(folder)) {
    INFO(command);
    const Outcome outcome = run_shell(folder, "set -o pipefail; $tlmssd " + command + " | true");
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
  }
  const std::string out = folder / "out";
  CHECK(run_shell(folder, "set -o pipefail; $tlmssd run " + (folder / "s.yaml") + " -o " + out + " | head -1")
            .code == 0);
  CHECK(fs::exists(out + "/report.json"));
}

TEST_CASE("closed streams do no harm to files", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const std::string arguments = "exec $tlmssd run " + scenario + " -o ";
  const Outcome closed = run_shell(folder, arguments + (folder / "closed") + " <&- >&- 2>&-");
  CHECK(closed.code == 2);
  const Outcome quiet = run_shell(folder, arguments + (folder / "quiet") + " -q <&- >&- 2>&-");
  CHECK(quiet.code == 0);
  const Outcome open = run_shell(folder, arguments + (folder / "open"));
  REQUIRE(open.code == 0);
  for (const char* file : {"report.json", "fio.json", "scenario.yaml", "report.html"}) {
    INFO(file);
    CHECK(read_file(folder.path() / "closed" / file) == read_file(folder.path() / "open" / file));
    CHECK(read_file(folder.path() / "quiet" / file) == read_file(folder.path() / "open" / file));
  }
}

TEST_CASE("a limit on the size of files is an error of one line", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const std::string out = folder / "out";
  const Outcome outcome = run_shell(folder, "ulimit -f 8; exec $tlmssd run " + scenario + " -o " + out);
  INFO(outcome.err);
  CHECK(outcome.code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find("cannot be written in full: File too large") != std::string::npos);
  CHECK_FALSE(fs::exists(out));
}

}  // namespace tlmssd::program_tests
