// What a run writes: the same bytes for the same scenario and seed, whatever the quantum; and
// everything that went past the user.
#include <regex>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// Garbage collection, several queues, reads of what is being written, trims.
const std::string k_busy = replaced(k_small, "load: {rw: randrw, number_ios: 500}", R"(precondition:
  - {fill: 100 %, order: sequential}
  - {overwrite: 1x, order: random}
load:
  - {rw: randrw, bssplit: 4k/80:16k/20, iodepth: 8, number_ios: 1500, fsync: 50}
  - {rw: randwrite, iodepth: 16, number_ios: 1500, random_distribution: "zipf:1.1"}
  - {rw: randtrimwrite, bs: 8k, iodepth: 2, number_ios: 300}
report: {command_log: csv}
)");

Outcome run_into(const Folder& folder, const std::string& scenario, const std::string& name,
                 std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"run", scenario, "-q", "-o", folder / name});
  return run_ok(folder, more);
}

/// `text` without its lines that contain `word`, and the same for the scenario inside a JSON text.
std::string without(std::string text, const std::string& word) {
  for (std::size_t at = 0; (at = text.find(word)) != std::string::npos;) {
    const std::size_t begin = std::max(text.rfind('\n', at) + 1, text.rfind("\\n", at) + 2);
    const std::size_t end = std::min(text.find('\n', at), text.find("\\n", at));
    text.erase(begin, end - begin);
  }
  return text;
}

}  // namespace

TEST_CASE("same scenario and seed, same bytes", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_busy);
  run_into(folder, scenario, "one");
  run_into(folder, scenario, "two");
  for (const char* file : {"report.json", "fio.json", "scenario.yaml", "report.html", "commands.csv"}) {
    INFO(file);
    CHECK(read_file(folder.path() / "one" / file) == read_file(folder.path() / "two" / file));
  }
}

TEST_CASE("the resolved scenario runs to the same bytes", "[program]") {
  const Folder folder;
  run_into(folder, folder.write("s.yaml", k_busy), "one");
  run_into(folder, (folder / "one") + "/scenario.yaml", "two");
  for (const char* file : {"report.json", "fio.json", "scenario.yaml", "report.html", "commands.csv"}) {
    INFO(file);
    CHECK(read_file(folder.path() / "one" / file) == read_file(folder.path() / "two" / file));
  }
}

TEST_CASE("the resolved scenario of many loads is read again, however large it is", "[program]") {
  const Folder folder;
  std::string loads = "load:\n";
  for (int i = 0; i < 300; ++i) loads += "  - {rw: randread, number_ios: 1, stonewall: true}\n";
  run_into(folder, folder.write("s.yaml", replaced(k_small, "load: {rw: randrw, number_ios: 500}\n", loads)),
           "one");
  const std::string resolved = read_file(folder.path() / "one/scenario.yaml");
  CHECK(resolved.size() > 1 << 20);
  run_into(folder, (folder / "one") + "/scenario.yaml", "two");
  CHECK(read_file(folder.path() / "two/scenario.yaml") == resolved);
  CHECK(read_file(folder.path() / "two/report.json") == read_file(folder.path() / "one/report.json"));
  CHECK(run_ok(folder, {"check", (folder / "one") + "/scenario.yaml"}).out == resolved);
}

TEST_CASE("the resolved scenario finds the files of its loads", "[program]") {
  const Folder folder;
  folder.write("reads.fio", "[a]\ndirect=1\nrw=randread\nbs=4k\nsize=1m\nnumber_ios=50\n");
  folder.write("t.csv",
               "128166372003061629,host,0,Write,0,4096,0\n128166372003061639,host,0,Write,8192,4096,0\n");
  const std::string drive = k_small.substr(0, k_small.find("load:"));
  const std::string scenario = folder.write("s.yaml", drive + "load: [{fio: reads.fio}, {trace: t.csv}]\n");
  run_into(folder, scenario, "one");
  run_into(folder, (folder / "one") + "/scenario.yaml", "two");
  for (const char* file : {"fio.json", "scenario.yaml"}) {
    INFO(file);
    CHECK(read_file(folder.path() / "one" / file) == read_file(folder.path() / "two" / file));
  }
  const std::string resolved = read_file(folder.path() / "one/scenario.yaml");
  CHECK(resolved.find("fio: " + folder / "reads.fio") != std::string::npos);
  CHECK(resolved.find("trace: " + folder / "t.csv") != std::string::npos);
  // Reports are the same wherever the files lie, but for the scenario in them.
  const Json first = Json::parse(read_file(folder.path() / "one/report.json"));
  const Json second = Json::parse(read_file(folder.path() / "two/report.json"));
  CHECK(first.dump().find(folder.path().string()) == std::string::npos);
  for (const auto& [key, value] : first.items()) {
    INFO(key);
    CHECK((key == "scenario" || value == second[key]));
  }
}

TEST_CASE("another quantum, another speed at most", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_busy);
  run_into(folder, scenario, "zero", {"--set", "run.quantum=0 ns"});
  run_into(folder, scenario, "short", {"--set", "run.quantum=3 us"});
  run_into(folder, scenario, "long", {"--set", "run.quantum=1 ms"});
  run_into(folder, scenario, "checked", {"--set", "run.quantum=1 ms", "--check-protocol"});
  const auto content = [&](const char* name, const char* file) {
    return without(read_file(folder.path() / name / file), "quantum:");
  };
  for (const char* file : {"report.json", "fio.json", "scenario.yaml", "report.html", "commands.csv"}) {
    INFO(file);
    CHECK(content("zero", file).size() > 100);
    CHECK(content("zero", file) == content("short", file));
    CHECK(content("zero", file) == content("long", file));
    CHECK(content("zero", file) == content("checked", file));
  }
}

TEST_CASE("another seed, other results", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_busy);
  run_into(folder, scenario, "one", {"--set", "seed=1"});
  run_into(folder, scenario, "two", {"--set", "seed=2"});
  CHECK(read_file(folder.path() / "one" / "commands.csv") !=
        read_file(folder.path() / "two" / "commands.csv"));
}

TEST_CASE("parameters that had no say are reported", "[program]") {
  const Folder folder;
  folder.write("ok.csv",
               "128166372003061629,hm,0,Write,4096,4096,100\n128166372003061630,hm,0,Read,8192,4096,100\n");
  const auto unread = [&](const std::string& text) {
    const std::string scenario = folder.write("s.yaml", text);
    const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "out"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
    const auto list = report["unread_parameters"].get<std::vector<std::string>>();
    // The summary's lines are broken between words.
    const std::string summary = std::regex_replace(outcome.out, std::regex(R"(\s+)"), " ");
    for (const std::string& parameter : list) {
      INFO(summary);
      CHECK(summary.find("parameter set that plays no part: " + parameter) != std::string::npos);
    }
    return list;
  };
  const auto load = [](const std::string& words) {
    return replaced(k_small, "{rw: randrw, number_ios: 500}", words);
  };
  const std::string at = " (" + (folder / "s.yaml") + ":";
  using List = std::vector<std::string>;
  CHECK(unread(k_small) == List{});
  CHECK(unread(replaced(k_small, "load:", "report: {window: {from: 1 ms}}\nload:")) ==
        List{"report.window.from" + at + "12)"});
  CHECK(unread(replaced(k_small, "load:", "report: {timeline: true, window: {from: 1 ms}}\nload:")) ==
        List{});
  CHECK(unread(load("{trace: ok.csv, max_outstanding: 3}")) == List{"load.0.max_outstanding" + at + "12)"});
  CHECK(unread(load("{trace: ok.csv, pacing: open-loop, queue_depth: 3}")) ==
        List{"load.0.queue_depth" + at + "12)"});
  CHECK(unread(load("{trace: ok.csv, pacing: open-loop, max_outstanding: 3}")) == List{});
  CHECK(unread(load("{trace: ok.csv, format: msr, action: Q}")) == List{"load.0.action" + at + "12)"});
}

#ifndef __SANITIZE_ADDRESS__  // it keeps what has been freed
TEST_CASE("a run of ten times the length takes no more memory", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(title: memory
ssd:
  host: {lba_size: 4 KiB}
  flash:
    channels: 2
    ways: 2
    user_capacity: 128 MiB
    spare_factor: 20 %
    part: {planes: 1, pages_per_block: 16, page_size: 4 KiB}
precondition: [{fill: 100 %}, {overwrite: 2x, order: random}]
load:
  - {name: a, rw: randrw, bs: 4k, iodepth: 8, loops: 100, number_ios: 20000}
  - {name: b, rw: randread, bs: 16k, iodepth: 4, loops: 100, number_ios: 20000}
)");
  const auto peak = [&](const char* requests) {
    const std::string name = std::string("out") + requests;
    run_into(folder, scenario, name,
             {"--set", std::string("load.0.number_ios=") + requests, "--set",
              std::string("load.1.number_ios=") + requests});
    return nlohmann::json::parse(read_file(folder.path() / name / "run.json"))["peak_memory"]["value"]
        .get<double>();
  };
  const double once = peak("20000");
  CHECK(peak("200000") < once + 2 * 1024 * 1024);
}
#endif

TEST_CASE("results are put in place whole, and only over earlier results", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  fs::create_directory(folder / "mine");
  std::ofstream(folder.path() / "mine" / "thesis.tex") << "x";
  const Outcome refused = run(folder, {"run", scenario, "-o", folder / "mine"});
  INFO(refused.err);
  CHECK(refused.code == 2);
  CHECK(fs::exists(fs::path(folder / "mine") / "thesis.tex"));
  run_into(folder, scenario, "out");
  run_into(folder, scenario, "out");  // once more over the first
  const Outcome nowhere = run(folder, {"run", scenario, "-o", folder / "no/such/folder"});
  INFO(nowhere.err);
  CHECK((nowhere.code == 2 || fs::exists(folder / "no/such/folder/report.json")));
}

TEST_CASE("what was done to fit requests to logical blocks is said of the load", "[program]") {
  const Folder folder;
  const std::string head = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n";
  const std::string passed_over = "; trims of no whole logical block passed over: 1";
  const std::string widened = "; to whole logical blocks widened: 1";
  for (const auto& [requests, said] :
       {std::pair{"/dev/x trim 512 512\n", passed_over}, std::pair{"/dev/x write 512 512\n", widened},
        std::pair{"/dev/x write 512 512\n/dev/x trim 512 512\n", widened + passed_over},
        std::pair{"/dev/x trim 4096 4096\n", std::string()}}) {
    INFO(requests);
    static_cast<void>(folder.write("t.log", head + requests));
    const std::string scenario = folder.write("s.yaml", replaced(k_small, k_small_load, "{trace: t.log}"));
    const Json report = report_of(folder, scenario, "out");
    const auto text = report["results"]["loads"][0]["description"].get<std::string>();
    INFO(text);
    CHECK(text.ends_with(said));
    CHECK((text.find("whole logical block") == std::string::npos) == said.empty());
  }
}

TEST_CASE("a load all of whose trims are too small says so, and a stall how short it was", "[program]") {
  const Folder folder;
  folder.write("t.csv", "10,h,0,Discard,512,512,0\n20,h,0,Discard,1024,512,0\n");
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, "load: {rw: randrw, number_ios: 500}", "load: {trace: t.csv}"));
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "out"});
  const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
  CHECK_THAT(report["warnings"].dump(), Catch::Contains("in none of its 2 trims lies a whole logical block"));
  const Outcome stalled =
      run(folder, {"run", folder.write("w.yaml", k_small), "--set", "run.stall_after=1 us"});
  CHECK(stalled.code != 0);
  CHECK_THAT(stalled.err, Catch::Contains("no command has completed for 1") && Catch::Contains(" us of "));
}

TEST_CASE("a long name of a load stands on a line of its own before its causes", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_small, "load: {rw: randrw, number_ios: 500}",
                         "load:\n  - {name: a load whose name is rather long, rw: randread, number_ios: 50}\n"
                         "  - {name: b, rw: randread, number_ios: 50}\n"));
  const Outcome outcome = run_ok(folder, {"run", scenario});
  CHECK_THAT(outcome.out, Catch::Contains("  a load whose name is rather long read\n                    "));
}

}  // namespace tlmssd::program_tests
