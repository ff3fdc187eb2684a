// What makes the program pleasant: summaries shown again, JSON for pipes, hints, search, colour.
#include <sstream>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// What the program prints to a terminal of so many columns.
std::string on_terminal(const Folder& folder, const std::string& arguments, int columns,
                        const std::string& environment = "") {
  const Outcome outcome =
      run_shell(folder, "export TERM=xterm; unset NO_COLOR; " + environment + " script -qec \"stty cols " +
                            std::to_string(columns) + "; '$tlmssd' " + arguments + "\" /dev/null </dev/null");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return replaced_all(outcome.out, "\r\n", "\n");
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

TEST_CASE("show prints the summary of a run again", "[program]") {
  const Folder folder;
  const Outcome ran = run(folder, {"run", folder.write("s.yaml", k_small), "-o", folder / "out"});
  REQUIRE(ran.code == 0);
  const Outcome shown = run(folder, {"show", folder / "out"});
  CHECK(shown.code == 0);
  CHECK(shown.out == ran.out.substr(0, ran.out.find("Results in ")));
}

TEST_CASE("show refuses what are no results in one line", "[program]") {
  const Folder folder;
  const auto refused = [&](const std::string& name) {
    const Outcome outcome = run(folder, {"show", folder / name});
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  };
  refused("none");
  REQUIRE(run(folder, {"run", folder.write("s.yaml", k_small), "-q", "-o", folder / "out"}).code == 0);
  const std::string whole = read_file(folder.path() / "out/report.json");
  for (const std::string& text : std::vector<std::string>{"", "{}", "[1, 2]", whole.substr(0, 500)}) {
    folder.write("out/report.json", text);
    refused("out");
  }
  // Whatever is missing, it is a message and not a crash.
  const Json report = Json::parse(whole);
  for (const auto& [key, value] : report.items()) {
    Json less = report;
    less.erase(key);
    folder.write("out/report.json", less.dump());
    const int code = run(folder, {"show", folder / "out"}).code;
    INFO(key);
    CHECK((code == 0 || code == 2));
  }
}

TEST_CASE("a run with --json - prints the report and nothing else", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"run", scenario, "--json", "-", "-o", folder / "out"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == read_file(folder.path() / "out/report.json"));
  CHECK(run(folder, {"run", scenario, "--json", "file"}).code == 2);
}

TEST_CASE("an option that is not there is told the nearest one", "[program]") {
  const Folder folder;
  const Outcome outcome = run(folder, {"run", folder.write("s.yaml", k_small), "--strikt"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.find("did you mean '--strict'?") != std::string::npos);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(run(folder, {"run", folder / "s.yaml", "--sett=seed=2"}).err.find("'--set'") != std::string::npos);
  CHECK(run(folder, {"shwo"}).err.find("did you mean 'show'?") != std::string::npos);
}

TEST_CASE("completion scripts know every command and option", "[program]") {
  const Folder folder;
  const std::string script = folder.write("c.bash", run(folder, {"completion", "bash"}).out);
  const auto completed = [&](const std::string& words) {
    const Outcome outcome =
        run_shell(folder, "source '" + script + "'; COMP_WORDS=(" + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tlmssd; echo \"${COMPREPLY[*]}\"");
    CHECK(outcome.err.empty());
    return outcome.out;
  };
  CHECK(completed("tlmssd sho") == "show\n");
  CHECK(completed("tlmssd run --stri") == "--strict\n");
  CHECK(completed("tlmssd run --from") == "--from-snapshot\n");
  for (const char* shell : {"zsh", "fish"}) {
    const Outcome outcome = run(folder, {"completion", shell});
    CHECK(outcome.code == 0);
    for (const char* word : {"trace-info", "strict", "save-snapshot"})
      CHECK(outcome.out.find(word) != std::string::npos);
  }
  CHECK(run(folder, {"completion", "csh"}).code == 2);
  const std::string page = run(folder, {"man"}).out;
  CHECK(page.starts_with(".TH TLMSSD 1"));
  for (const char* word : {".SS show", "\\-\\-strict", ".SS trace\\-info"})
    CHECK(page.find(word) != std::string::npos);
}

TEST_CASE("list searches in meanings and topics", "[program]") {
  const Folder folder;
  const auto found = [&](const std::string& what) {
    const Outcome outcome = run(folder, {"list", what});
    INFO(what);
    CHECK(outcome.code == 0);
    return outcome.out;
  };
  CHECK(found("over-provisioning").find("spare_factor") != std::string::npos);
  CHECK(found("Over_Provisioning").find("user_capacity") != std::string::npos);
  CHECK(found("tail").find("suspend") != std::string::npos);
  CHECK(found("fdp").find("handles") != std::string::npos);
  CHECK(found("HMB").find("memory_buffer") != std::string::npos);
  CHECK(found("slc-cache").find("firmware.pslc") != std::string::npos);
  CHECK(found("what the host asks of the drive").find("load") != std::string::npos);
  CHECK(found("think time").find("thinktime_blocks") != std::string::npos);
  CHECK(found("wear leveling").find("firmware.wear") != std::string::npos);
  CHECK(found("write cache").find("firmware.buffer") != std::string::npos);
  CHECK(found("hit ratio").find("firmware.cache") != std::string::npos);
  CHECK(found("blktrace").find("pacing") != std::string::npos);
  CHECK(found("hot cold").find("random_distribution") != std::string::npos);
  const std::string spare = found("OP");  // not "operation", "loops", "options"
  CHECK(spare.find("over_provisioning") != std::string::npos);
  CHECK(spare.find("loops") == std::string::npos);
  CHECK(run(folder, {"list", "no such thing anywhere"}).code == 2);
}

TEST_CASE("keys in the words of others are told by ours", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", "ssd: {flash: {op: 7 %, part: {planes: 1}}}\nload: {rw: randread, qd: 4, blocksize: 4k}\n");
  const std::string errors = run(folder, {"check", scenario}).err;
  CHECK(errors.find("key 'op' is not known in ssd.flash; did you mean 'over_provisioning'?") !=
        std::string::npos);
  CHECK(errors.find("key 'qd' is not known in load.0; did you mean 'iodepth'?") != std::string::npos);
  CHECK(errors.find("key 'blocksize' is not known in load.0; did you mean 'bs'?") != std::string::npos);
}

TEST_CASE("list keeps within the terminal, and pipes get whole lines", "[program]") {
  const Folder folder;
  for (const int columns : {40, 80, 132}) {
    INFO(columns);
    CHECK(longest_line(on_terminal(folder, "list firmware.gc", columns)) <=
          static_cast<std::size_t>(columns));
  }
  CHECK(longest_line(run(folder, {"list"}).out) > 132);
}

TEST_CASE("the summary has colour where the terminal has", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const std::string esc = "\x1b[";
  const std::string arguments = "run '" + scenario + "'";
  const std::string colour = on_terminal(folder, arguments, 100);
  CHECK(colour.find(esc + "33m! ") != std::string::npos);
  CHECK(on_terminal(folder, arguments, 100, "NO_COLOR=1").find(esc + "33m") == std::string::npos);
  CHECK(on_terminal(folder, arguments, 100, "TERM=dumb").find(esc + "33m") == std::string::npos);
  CHECK(run(folder, {"run", scenario}).out.find('\x1b') == std::string::npos);
}

}  // namespace tlmssd::program_tests
