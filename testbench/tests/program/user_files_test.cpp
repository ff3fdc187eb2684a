// Files of the user's: neither a snapshot nor results may cost any of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_filled = replaced(k_small, "load:", "precondition: [{fill: 100 %}]\nload:");

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void make_socket(const std::string& path) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  close(descriptor);
}

/// Expects exit code 2, one line that contains `why`, and nothing changed in `folder`.
void expect_refusal(const Folder& folder, const std::vector<std::string>& arguments, const std::string& why) {
  const auto before = names_in(folder.path());
  const Outcome outcome = run(folder, arguments);
  INFO(outcome.err << "expected: " << why);
  CHECK(outcome.code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find(why) != std::string::npos);
  CHECK(names_in(folder.path()) == before);
}

void expect_good(const Folder& folder, const std::vector<std::string>& arguments) {
  const Outcome outcome = run(folder, arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
}

}  // namespace

TEST_CASE("a snapshot replaces a snapshot, and another file only when told to", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_filled);
  const std::string target = folder / "drive.snap";
  const std::vector<std::string> save = {"run", scenario, "-q", "--save-snapshot", target};
  for (const char* content : {"years of work", "TLMSSD", ""}) {
    put(target, content);
    expect_refusal(folder, save, target + ": exists and is not a tlmssd snapshot");
    CHECK(read_file(target) == content);
  }
  std::vector<std::string> force = save;
  force.push_back("--force");
  expect_good(folder, force);
  CHECK(read_file(target).starts_with("TLMSSDSN"));
  expect_good(folder, save);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"drive.snap", "s.yaml"});
}

TEST_CASE("a snapshot never replaces what is no file", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_filled);
  const std::string kept = folder.write("kept", "years of work");
  fs::create_symlink(kept, folder / "link");
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  fs::create_directory(folder / "sub");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  make_socket(folder / "sock");
  const std::vector<std::pair<std::string, std::string>> targets = {
      {folder / "link", "is a symbolic link"}, {folder / "dangling", "is a symbolic link"},
      {folder / "sub", "is a folder"},         {folder / "pipe", "is a named pipe"},
      {folder / "sock", "is a socket"},        {"/dev/null", "is a device"},
      {folder / "no/such", "No such file"}};
  for (const auto& [target, why] : targets) {
    expect_refusal(folder, {"run", scenario, "--save-snapshot", target}, target + ": ");
    expect_refusal(folder, {"run", scenario, "--save-snapshot", target, "--force"}, why);
  }
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(read_file(kept) == "years of work");
}

TEST_CASE("results replace earlier results and keep everything else", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "out";
  expect_good(folder, {"run", scenario, "-q", "-o", out, "--set", "report.command_log=csv"});
  REQUIRE(fs::exists(out / "commands.csv"));
  put(out / "notes.txt", "what I think of it");
  fs::create_directory(out / "figures");
  put(out / "figures" / "one.svg", "<svg/>");
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  CHECK(read_file(out / "notes.txt") == "what I think of it");
  CHECK(read_file(out / "figures" / "one.svg") == "<svg/>");
  CHECK(read_file(out / "report.json").size() > 100);
  CHECK_FALSE(
      fs::exists(out / "commands.csv"));  // of the first run alone: it would say nothing true of the second
  CHECK(names_in(out) == std::vector<std::string>{".tlmssd-run", "figures", "fio.json", "notes.txt",
                                                  "report.html", "report.json", "run.json", "scenario.yaml"});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out", "s.yaml"});
}

TEST_CASE("a result that the user has changed is replaced only when told to", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "out";
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  for (const char* name : {"scenario.yaml", "report.json", "report.html", "fio.json", "run.json"}) {
    const std::string mine = read_file(out / name) + "# years of work\n";
    put(out / name, mine);
    expect_refusal(folder, {"run", scenario, "-o", out},
                   (out / name).string() + ": was changed after tlmssd had written it; move it away");
    CHECK(read_file(out / name) == mine);
    expect_good(folder, {"run", scenario, "-q", "-o", out, "--force"});
  }
  const std::string list = read_file(out / ".tlmssd-run");
  put(out / "report.json", "{}");
  put(out / ".tlmssd-run", "fio.json\nreport.html\nreport.json\nrun.json\nscenario.yaml\n");
  expect_good(folder, {"run", scenario, "-q", "-o", out});  // earlier versions knew no digests
  CHECK(read_file(out / ".tlmssd-run").size() == list.size());
}

TEST_CASE("a file of the user's with a result's name is kept", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "out";
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  put(out / "commands.csv", "mine");
  expect_refusal(folder, {"run", scenario, "-o", out},
                 (out / "commands.csv").string() + ": was not written by tlmssd");
  CHECK(read_file(out / "commands.csv") == "mine");
  fs::remove(out / "commands.csv");
  fs::remove(out / "report.json");
  put(folder / "elsewhere", "mine");
  fs::create_symlink(folder / "elsewhere", out / "report.json");
  expect_refusal(folder, {"run", scenario, "-o", out}, "report.json: is a symbolic link");
  expect_refusal(folder, {"run", scenario, "-o", out, "--force"}, "report.json: is a symbolic link");
  CHECK(read_file(folder / "elsewhere") == "mine");
}

TEST_CASE("a folder of the user's gets results only when told to", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "mine";
  fs::create_directory(out);
  put(out / "thesis.tex", "years of work");
  put(out / "report.json", "my report");
  expect_refusal(folder, {"run", scenario, "-o", out}, out.string() + ": holds files and was not written by");
  CHECK(read_file(out / "report.json") == "my report");
  expect_good(folder, {"run", scenario, "-q", "-o", out, "--force"});
  CHECK(read_file(out / "thesis.tex") == "years of work");
  CHECK(read_file(out / "report.json").size() > 100);
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  CHECK(read_file(out / "thesis.tex") == "years of work");
  fs::create_directory_symlink(out, folder / "link");
  expect_refusal(folder, {"run", scenario, "-o", folder / "link"}, "is a symbolic link");
}

TEST_CASE("a list of results that was tampered with costs no file", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "out";
  put(folder / "victim", "years of work");
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  put(out / "thesis.tex", "years of work");
  put(out / ".tlmssd-run", "../victim\n" + (folder / "victim") + "\nthesis.tex\n..\n.\n\n\0x" +
                               read_file(out / ".tlmssd-run") + std::string(100'000, 'x'));
  expect_good(folder, {"run", scenario, "-q", "-o", out});
  CHECK(read_file(folder / "victim") == "years of work");
  CHECK(read_file(out / "thesis.tex") == "years of work");
  put(out / ".tlmssd-run", "something else\n");  // then nothing here is known to be ours
  expect_refusal(folder, {"run", scenario, "-o", out}, "was not written by tlmssd");
  fs::remove(out / ".tlmssd-run");
  expect_refusal(folder, {"run", scenario, "-o", out}, "holds files and was not written by tlmssd");
  fs::create_directory(out / ".tlmssd-run");
  expect_refusal(folder, {"run", scenario, "-o", out, "--force"}, ".tlmssd-run: is a folder");
}

TEST_CASE("a symbolic link may lead to the folder of results and snapshots", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_filled);
  fs::create_directory(folder / "real");
  fs::create_directory_symlink("real", folder / "link");
  for (int again = 0; again < 2; ++again) {
    expect_good(folder, {"run", scenario, "-q", "-o", folder / "link/out", "--save-snapshot",
                         folder / "link/drive.snap"});
    CHECK(names_in(folder / "real") == std::vector<std::string>{"drive.snap", "out"});
  }
  CHECK(fs::exists(folder / "real/out/report.json"));
  expect_good(folder, {"run", scenario, "-q", "--from-snapshot", folder / "link/drive.snap"});
}

TEST_CASE("results never take the place of what the run reads", "[program]") {
  const Folder folder;
  const fs::path out = folder / "out";
  expect_good(folder, {"run", folder.write("s.yaml", k_small), "-q", "-o", out, "--set",
                       "report.command_log=csv", "--set", "load.number_ios=20"});
  const std::string edited = read_file(out / "scenario.yaml") + "# years of work\n";
  put(out / "scenario.yaml", edited);
  const std::string why = ": is read by this run, whose results would take its place";
  const std::string scenario = out / "scenario.yaml";
  expect_refusal(folder, {"run", scenario, "-o", out}, scenario + why);
  fs::create_directory_symlink(folder.path(), folder / "link");
  expect_refusal(folder, {"run", folder / "link/out/scenario.yaml", "-o", out}, scenario + why);
  const std::string trace = out / "commands.csv";
  put(trace, "128166372003061629,usr,0,Read,0,4096,100\n");
  const std::string replay =
      folder.write("t.yaml", replaced(k_small, k_small_load, "{trace: out/commands.csv, format: msr}"));
  expect_refusal(folder, {"run", replay, "-o", out}, trace + why);
  const std::string jobs = folder.write("j.yaml", replaced(k_small, k_small_load, "{fio: out/fio.json}"));
  put(out / "fio.json", "[a]\nrw=read\nnumber_ios=20\n");
  expect_refusal(folder, {"run", jobs, "-o", out}, (out / "fio.json").string() + why);
  CHECK(read_file(out / "scenario.yaml") == edited);
  expect_good(folder, {"run", scenario, "-q", "-o", folder / "other"});
  expect_good(folder, {"run", jobs, "-q", "-o", out, "--force"});
  CHECK(read_file(out / "fio.json").starts_with("{"));
}

TEST_CASE("a snapshot and results that are in each other's way are refused before the run", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_filled);
  const auto refused = [&](const std::string& out, const std::string& snapshot, const std::string& why) {
    expect_refusal(folder, {"run", scenario, "-o", out, "--save-snapshot", snapshot},
                   "--out " + out + " and --save-snapshot " + snapshot + ": " + why);
  };
  const std::string out = folder / "out";
  refused(out, out, "one cannot be a folder where the other is a file");
  refused(folder / "./out/", out, "one cannot be a folder");
  refused(folder / "out/results", out, "one cannot be a folder");
  fs::create_directory(out);
  refused(out, folder / "out/report.json", "results have a file of that name, too");
  refused(out, folder / "out/.tlmssd-run", "results have a file of that name, too");
  for (int again = 0; again < 2; ++again)
    expect_good(folder, {"run", scenario, "-q", "-o", out, "--save-snapshot", folder / "out/drive.snap"});
  CHECK(fs::exists(fs::path(out) / "report.json"));
}

TEST_CASE("results in a folder that is no longer there are refused with one line", "[program]") {
  const Folder folder;
  folder.write("s.yaml", k_filled);
  const std::string gone = "mkdir gone; cd gone; rmdir ../gone; $tlmssd run " + (folder / "s.yaml");
  for (const char* option : {" --out here", " --save-snapshot here"}) {
    const Outcome outcome = run_shell(folder, "cd '" + folder.path().string() + "'; " + gone + option);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "tlmssd: here: cannot be written: No such file or directory\n");
  }
}

TEST_CASE("a run that fails leaves no folder that it has made on the way", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome =
      run(folder, {"run", scenario, "-o", folder / "a/b/c", "--set", "run.stall_after=20 us", "--set",
                   "firmware.buffer.mode=write-through", "--set", "load.0.rw=randwrite"});
  CHECK(outcome.code == 3);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"s.yaml"});
  expect_good(folder, {"run", scenario, "-q", "-o", folder / "a/b/c"});
  CHECK(fs::exists(folder / "a/b/c/report.json"));
}

TEST_CASE("snapshots saved to one name at once: the last one wins whole", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_filled);
  const std::string target = folder / "drive.snap";
  std::vector<std::unique_ptr<Running>> runs;
  for (int i = 0; i < 6; ++i)
    runs.push_back(start(folder, {"run", scenario, "-q", "--save-snapshot", target}));
  for (const auto& each : runs) {
    const Outcome outcome = each->wait();
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
  expect_good(folder, {"run", scenario, "-q", "--from-snapshot", target});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"drive.snap", "s.yaml"});
}

TEST_CASE("results written to one folder at once: the last one wins whole", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const fs::path out = folder / "out";
  const auto several = [&] {
    std::vector<std::unique_ptr<Running>> runs;
    for (int i = 1; i <= 6; ++i)
      runs.push_back(start(folder, {"run", scenario, "-q", "-o", out, "--set", "seed=" + std::to_string(i)}));
    for (const auto& each : runs) {
      const Outcome outcome = each->wait();
      INFO(outcome.err);
      CHECK(outcome.code == 0);
    }
    // All files are of one seed.
    const std::string scenario_there = read_file(out / "scenario.yaml");
    expect_good(folder, {"run", (out / "scenario.yaml").string(), "-q", "-o", folder / "again"});
    for (const char* file : {"report.json", "fio.json", "report.html"}) {
      INFO(file);
      CHECK(read_file(out / file) == read_file(folder.path() / "again" / file));
    }
    CHECK(names_in(folder.path()) == std::vector<std::string>{"again", "out", "s.yaml"});
    CHECK(names_in(out).size() == 6);
  };
  several();  // into a name that is free
  several();  // over what is there
}

TEST_CASE("a named pipe in place of a file is refused at once", "[program]") {
  const Folder folder;
  const std::string pipe = folder / "pipe.yaml";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string scenario = folder.write("s.yaml", k_small);
  const std::string why = "pipe.yaml: is a named pipe, expected a file";
  expect_refusal(folder, {"run", pipe}, why);
  expect_refusal(folder, {"check", pipe}, why);
  expect_refusal(folder, {"trace-info", pipe}, why);
  expect_refusal(folder, {"run", scenario, "--set", "ssd.flash.part.file=pipe.yaml"}, why);
  expect_refusal(folder, {"run", scenario, "--from-snapshot", pipe}, why);
  const auto with_load = [&](const std::string& load) {
    return folder.write("l.yaml", replaced(k_small, "{rw: randrw, number_ios: 500}", load));
  };
  expect_refusal(folder, {"run", with_load("{trace: pipe.yaml}")}, why);
  expect_refusal(folder, {"run", with_load("{fio: pipe.yaml}")}, why);
  expect_refusal(folder, {"run", with_load("{trace: /dev/zero}")}, "/dev/zero: is a device, expected a file");
}

TEST_CASE("a scenario may come through standard input", "[program]") {
  const Folder folder;
  folder.write("s.yaml", k_small);
  const std::string here = "cd '" + folder.path().string() + "'; ";
  CHECK(run_shell(folder, here + "cat s.yaml | $tlmssd check /dev/stdin").code == 0);
  CHECK(run_shell(folder, here + "$tlmssd check <(cat s.yaml)").code == 0);
}

}  // namespace tlmssd::program_tests
