// What firmware engineers look through: the log of decisions, breaks, tlmssd inspect, and cycles of
// stages by table.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_collecting = replaced(k_small, "load: {rw: randrw, number_ios: 500}", R"(precondition:
  - {fill: 100 %, order: sequential}
  - {overwrite: 1x, order: random}
load: {rw: randrw, iodepth: 8, number_ios: 3000}
)");

std::vector<Json> lines_of(const fs::path& file) {
  std::istringstream text(read_file(file));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

double figure(const Folder& folder, const std::string& name, const char* pointer) {
  return Json::parse(read_file(folder.path() / name / "report.json"))
      .at(Json::json_pointer(pointer))
      .get<double>();
}

}  // namespace

TEST_CASE("the log of decisions changes nothing", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "plain"});
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "logged", "--set", "report.decisions=[all]"});
  CHECK(!fs::exists(folder.path() / "plain/decisions.jsonl"));
  const Json plain = Json::parse(read_file(folder.path() / "plain/report.json"));
  const Json logged = Json::parse(read_file(folder.path() / "logged/report.json"));
  CHECK(plain.at("statistics") == logged.at("statistics"));
  CHECK(plain.at("results") == logged.at("results"));
  CHECK(read_file(folder.path() / "plain/scenario.yaml").find("\n  decisions:") == std::string::npos);

  std::map<std::string, int> kinds;
  std::int64_t last = 0;
  for (const Json& line : lines_of(folder.path() / "logged/decisions.jsonl")) {
    ++kinds[line.at("kind").get<std::string>()];
    CHECK(line.at("time_ps").get<std::int64_t>() >= last);
    last = line.at("time_ps").get<std::int64_t>();
    if (line.at("kind") != "gc" || !line.contains("score")) continue;
    // Greedy: no runner-up has fewer valid units, and the score is that number.
    CHECK(line.at("score") == line.at("valid"));
    for (const Json& other : line.value("others", Json::array()))
      CHECK(other.at("score").get<double>() >= line.at("score").get<double>());
  }
  CHECK(kinds["gc"] > 0);
  CHECK(kinds["write"] > 0);
  CHECK(kinds["remap"] > 0);
  CHECK(kinds["erase"] > 0);
}

TEST_CASE("the log of remaps leads from place to place", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "out", "--set", "report.decisions=[remap]"});
  std::map<std::uint32_t, Json> at;  // by LPN
  int moved = 0;
  for (const Json& line : lines_of(folder.path() / "out/decisions.jsonl")) {
    const auto unit = line.at("lpns").at(0).get<std::uint32_t>();
    const auto found = at.find(unit);
    if (found != at.end()) {
      ++moved;
      CHECK(line.at("from") == found->second);
    }
    at[unit] = line.at("to");
  }
  CHECK(moved > 10);
}

TEST_CASE("filters and the bound of the decision log", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const std::vector<std::string> common = {"run", scenario, "-q", "--set", "report.decisions=[remap, write]"};
  const auto log = [&](const std::string& name, const std::vector<std::string>& settings) {
    run_ok(folder, joined(joined(common, {"-o", folder / name}), set_options(settings)));
    return lines_of(folder.path() / name / "decisions.jsonl");
  };
  const std::vector<Json> all = log("all", {});
  const std::vector<Json> few = log("few", {"report.decision_filter.lpn=[10, 40]"});
  CHECK(!few.empty());
  CHECK(few.size() < all.size());
  for (const Json& line : few) {
    const auto about = [](const Json& unit) { return !unit.is_null() && unit >= 10 && unit <= 40; };
    CHECK(std::any_of(line.at("lpns").begin(), line.at("lpns").end(), about));
  }
  const std::int64_t middle = all.at(all.size() / 2).at("time_ps");
  const std::vector<Json> late =
      log("late", {"report.decision_filter.from=" + std::to_string(middle / 1000) + " ns"});
  CHECK(late.size() < all.size());
  CHECK(late.front().at("time_ps").get<std::int64_t>() >= middle / 1000 * 1000);
  const Outcome none =
      run_ok(folder, {"run", scenario, "-o", folder / "none", "--set", "report.decisions=[remap]", "--set",
                      "report.decision_filter.from=50 s"});
  std::string told = none.out;  // in wrapped lines
  std::replace(told.begin(), told.end(), '\n', ' ');
  CHECK_THAT(told, Catch::Contains("report.decision_filter: lets none of the "));
  const std::vector<Json> cut = log("cut", {"report.decision_filter.most=5"});
  REQUIRE(cut.size() == 6);
  CHECK(cut.back().at("left_out") == all.size() - 5);
  CHECK(read_file(folder.path() / "cut/report.json").find("were left out of decisions.jsonl") !=
        std::string::npos);
}

TEST_CASE("bad kinds of decisions and bad breaks are one line", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const auto refused = [&](const std::vector<std::string>& more, const std::string& text) {
    std::vector<std::string> arguments = {"run", scenario};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder, arguments);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  refused({"--set", "report.decisions=[gcc]"}, "did you mean 'gc' or 'ecc'?");
  refused({"--set", "report.decisions=[gc]", "--set", "report.decision_filter.lpn=[4, 2]"}, "ends before");
  refused({"--break", "tim=1s"}, "did you mean 'time'?");
  refused({"--break", "time=1 fortnight"}, "--break");
  refused({"--break", "event=0"}, "no number from 1 on");
  refused({"--break", "command=99999999999999999999"},
          "99999999999999999999 is too large, expected at most 18446744073709551615");
  refused({"--break", "decision=gx"}, "no kind of decision");
  refused({"--break", "time=1 us", "--set", "run.timed=false"}, "untimed");
  refused({"--break", "event=1", "--show", "lba=x"}, "no range");
  refused({"--break", "event=1", "--show", "lba=99999999999999999999"}, "99999999999999999999 is too large");
  // What the drive has not, also where the run would never stop.
  refused({"--break", "time=1000 s", "--show", "lba=999999999"}, "--show: 999999999 is beyond the drive");
  refused({"--break", "event=1", "--show", "map=4000000-4000001"},
          "is beyond the drive, whose last mapping page");
  refused({"--set", "report.decisions=[remap]", "--set", "report.decision_filter.lpn=[4000000, 4000009]"},
          "report.decision_filter.lpn: 4000000 is beyond the drive, whose last mapping page is");
  refused({"--set", "report.decisions=[gc]", "--set", "report.decision_filter.block=[4000]"},
          "report.decision_filter.block: 4000 is beyond the drive, whose last block is 63");
  // Nor what lies there only in part.
  refused({"--break", "event=1", "--show", "map=0-4000000"},
          "--show: 4000000 is beyond the drive, whose last mapping page is");
  refused({"--set", "report.decisions=[remap]", "--set", "report.decision_filter.lpn=[4, 4000009]"},
          "report.decision_filter.lpn: 4000009 is beyond the drive, whose last mapping page is");
  refused({"--set", "report.decisions=[gc]", "--set", "report.decision_filter.block=[5, 64]"},
          "64 is beyond the drive, whose last block is 63; nearest valid: [5, 63]");
  refused({"--break", "event=1", "--save-snapshot", folder / "s.snap", "--prepare-only"},
          "--break: there is no measured run with --prepare-only");
  CHECK(!fs::exists(folder.path() / "s.snap"));
}

TEST_CASE("a run stops at a time, an event, a command and a decision, and goes on to the same end",
          "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "plain"});
  const Outcome stopped =
      run_ok(folder, {"run", scenario, "-q", "-o", folder / "stopped", "--break", "time=1 ms", "--break",
                      "event=100", "--break", "command=20", "--break", "decision=gc:2", "--show", "lba=3"});
  const auto times = [&](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = stopped.err.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(times("tlmssd: stopped at ") == 4);
  CHECK(times("time 0.001000000 s") == 1);
  CHECK(times("host: 20 commands completed (") == 1);
  CHECK(times(" with those before the run), ") == 4);
  CHECK(times("commands outstanding") == 4);
  CHECK(times("LBA 3 is sector") == 4);
  CHECK(times("contradictions") == 0);
  const Json plain = Json::parse(read_file(folder.path() / "plain/report.json"));
  const Json same = Json::parse(read_file(folder.path() / "stopped/report.json"));
  CHECK(plain.at("results") == same.at("results"));
  const Outcome late = run_ok(folder, {"run", scenario, "--break", "time=1000 s"});
  CHECK(late.out.find("ended before the break at time=1000 s") != std::string::npos);
  // Without the summary, too.
  const Outcome quiet = run_ok(folder, {"run", scenario, "-q", "--break", "event=1000000000"});
  CHECK(quiet.err == "tlmssd: the run has ended before the break at event=1000000000\n");
}

TEST_CASE("an untimed run stops at steps, commands and decisions", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const Outcome stopped = run_ok(folder, {"run", scenario, "-q", "--set", "run.timed=false", "--break",
                                          "event=7", "--break", "command=5", "--break", "decision=gc"});
  CHECK(stopped.err.find("stopped at event=7") != std::string::npos);
  CHECK(stopped.err.find("stopped at command=5") != std::string::npos);
  CHECK(stopped.err.find("stopped at decision=gc") != std::string::npos);
}

TEST_CASE("inspect shows a scenario's drive and its snapshot alike", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", snapshot, "--prepare-only"});
  const Json one = Json::parse(run_ok(folder, {"inspect", scenario, "--json", "-"}).out);
  const Json two = Json::parse(run_ok(folder, {"inspect", snapshot, "--json", "-"}).out);
  for (const char* key : {"parallel_units", "block_states", "wear", "consistency"})
    CHECK(one.at(key) == two.at(key));
  CHECK(one.at("consistency").at("consistent") == true);
  const auto mapped = one.at("consistency").at("mapped").get<std::uint64_t>();
  const Outcome ends_beyond = run(folder, {"inspect", snapshot, "--map", "0-999999999"});
  CHECK(ends_beyond.code == 2);
  const std::string last_is = "--map: 999999999 is beyond the drive, whose last mapping page is ";
  REQUIRE(ends_beyond.err.find(last_is) != std::string::npos);
  const std::string last =
      std::to_string(std::stoull(ends_beyond.err.substr(ends_beyond.err.find(last_is) + last_is.size())));
  const Json map =
      Json::parse(run_ok(folder, {"inspect", snapshot, "--json", "-", "--map", "0-" + last}).out).at("map");
  CHECK(map.size() == mapped);
  std::set<std::uint32_t> places;
  for (const Json& line : map) {
    CHECK(line.at("spare_area") == line.at("lpn"));
    CHECK(line.at("valid") == true);
    places.insert(line.at("ppn").get<std::uint32_t>());
  }
  CHECK(places.size() == mapped);
  std::uint64_t valid = 0;
  const Json blocks =
      Json::parse(run_ok(folder, {"inspect", snapshot, "--json", "-", "--blocks"}).out).at("blocks");
  for (const Json& block : blocks) valid += block.at("valid").get<std::uint64_t>();
  CHECK(valid == mapped);
  const std::string text = run_ok(folder, {"inspect", snapshot, "--lba", "5"}).out;
  CHECK(text.find("LBA 5 is sector") != std::string::npos);
  const Outcome beyond = run(folder, {"inspect", snapshot, "--lba", "999999999999"});
  CHECK(beyond.code == 2);
  CHECK(beyond.err.find("--lba: 999999999999 is beyond the drive") != std::string::npos);
  CHECK(run(folder, {"inspect", snapshot, "--map", "4000000-4000001"}).code == 2);
}

TEST_CASE("inspect counts the map's own pages in flash", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(
ssd:
  flash: {channels: 2, ways: 1, over_provisioning: 40 %, part: {blocks_per_plane: 24, pages_per_block: 16}}
  dram: {capacity: 64 MiB}
firmware: {buffer: {capacity: 512 KiB}, mapping: {scheme: dftl, cache: 4 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 4k, iodepth: 4, number_ios: 100}
)");
  const Json state = Json::parse(run_ok(folder, {"inspect", scenario, "--json", "-"}).out);
  CHECK(state.at("consistency").at("consistent") == true);
  std::uint64_t valid = 0;
  const Json blocks =
      Json::parse(run_ok(folder, {"inspect", scenario, "--json", "-", "--blocks"}).out).at("blocks");
  for (const Json& block : blocks) valid += block.at("valid").get<std::uint64_t>();
  CHECK(valid == state.at("consistency").at("mapped").get<std::uint64_t>());
}

TEST_CASE("inspect says how many units a block in SLC mode has", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(
ssd:
  flash:
    channels: 2
    ways: 1
    over_provisioning: 60 %
    part:
      {cell: tlc, planes: 1, blocks_per_plane: 32, pages_per_block: 24, page_size: 16 KiB, program_unit: word-line,
       slc_read_latency: 30 us, slc_program_latency: 200 us, slc_erase_latency: 3 ms}
  dram: {capacity: 64 MiB}
firmware: {buffer: {capacity: 1 MiB}, pslc: {policy: all, static: 1536 KiB}}
precondition: [{fill: 50 %, order: sequential}]
load: {rw: randwrite, bs: 4k, iodepth: 4, number_ios: 100}
)");
  std::map<std::string, std::set<std::uint64_t>> units;
  const Json state = Json::parse(run_ok(folder, {"inspect", scenario, "--json", "-", "--blocks"}).out);
  for (const Json& block : state.at("blocks")) {
    units[block.at("mode")].insert(block.at("units").get<std::uint64_t>());
    CHECK(block.at("valid") <= block.at("units"));
  }
  // 24 pages of 4 units, of which a block in SLC mode has a third.
  CHECK(units == std::map<std::string, std::set<std::uint64_t>>{{"native", {96}}, {"slc", {32}}});
}

TEST_CASE("cycles of stages by table", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_collecting, "load: {rw: randrw, iodepth: 8", "load: {rw: randread, iodepth: 1"));
  const auto run_with = [&](const std::string& name, const std::string& costs) {
    std::vector<std::string> arguments = {"run", scenario, "-q", "-o", folder / name};
    if (!costs.empty()) arguments.insert(arguments.end(), {"--set", "ssd.cpu.costs=" + costs});
    run_ok(folder, arguments);
    return figure(folder, name, "/statistics/cpu/stage_translate/busy/value");
  };
  const double constant = run_with("constant", "");  // 50 cycles
  CHECK(run_with("same", "['stage, cycles', 'translate, 50']") == Approx(constant));
  CHECK(run_with("double", "['stage, policy, cycles', 'translate, any, 7', 'translate, page, 100']") ==
        Approx(2 * constant));
  CHECK(run_with("other", "['stage, policy, cycles', 'translate, dftl, 100']") == Approx(constant));
  // Means of measurements have fractions.
  CHECK(run_with("fraction", "['stage, cycles', 'translate, 1.5']") == Approx(constant * 1.5 / 50));
  CHECK(figure(folder, "fraction", "/statistics/cpu/stage_translate/mean_cycles/value") == Approx(1.5));
  // From a file, linear between its lines: 1 of entries 0 to 2.
  folder.write("costs.csv", "# a table\nstage, entries, cycles\ntranslate, 0, 50\ntranslate, 2, 250\n");
  CHECK(run_with("file", folder / "costs.csv") == Approx(3 * constant));
  CHECK(figure(folder, "file", "/statistics/cpu/stage_translate/mean_cycles/value") == Approx(150));
}

TEST_CASE("hits and misses of DFTL cost what the table says", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_collecting, "load: {rw: randrw, iodepth: 8", "load: {rw: randread, iodepth: 1"));
  const auto mean = [&](const std::string& name, const std::string& cache) {
    run_ok(folder,
           {"run", scenario, "-q", "-o", folder / name, "--set", "firmware.mapping.scheme=dftl", "--set",
            "firmware.mapping.cache=" + cache, "--set",
            "ssd.cpu.costs=['stage, cached, cycles', 'translate, hit, 100', 'translate, miss, 1100']"});
    return figure(folder, name, "/statistics/cpu/stage_translate/mean_cycles/value");
  };
  const double small = mean("small", "512 B");
  const double large = mean("large", "8 MiB");
  CHECK(small > 800);    // next to nothing is there
  CHECK(large < small);  // every entry is read once, at most
}

TEST_CASE("what the write buffer or the cache holds costs as a hit of the stage buffer", "[program]") {
  const Folder folder;
  const auto mean = [&](const std::string& name, const std::string& text) {
    run_ok(folder, {"run", folder.write(name + ".yaml", text), "-q", "-o", folder / name});
    return figure(folder, name, "/statistics/cpu/stage_buffer/mean_cycles/value");
  };
  // As many reads from the write buffer as writes of new units.
  CHECK(mean("read", R"(title: reads of the write buffer
ssd: {host: {lba_size: 4 KiB}, cpu: {costs: ['stage, cached, cycles', 'buffer, hit, 1000', 'buffer, miss, 3000']}}
firmware: {buffer: {flush_at: 100 %}}
load:
  - {name: w, rw: write, bs: 4k, size: 400k}
  - {name: r, stonewall: true, rw: read, bs: 4k, size: 400k}
)") == Approx(2000));
  // A line is written out for each that comes when the 256 are there.
  CHECK(mean("evict", R"(title: evictions
ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 1 MiB}
  cpu: {costs: ['stage, policy, cached, cycles', 'buffer, lru, hit, 1000', 'buffer, lru, miss, 3000', 'buffer, any, any, 7000']}
firmware: {cache: {policy: lru}}
load: {rw: write, bs: 4k, size: 4m}
)") == Approx((1024.0 * 3000 + 768 * 1000) / 1792));
}

TEST_CASE("choosing a victim costs by the blocks it is chosen from", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const auto busy = [&](const std::string& name, const std::string& choice) {
    run_ok(folder,
           {"run", scenario, "-q", "-o", folder / name, "--set",
            "ssd.cpu.costs=['stage, policy, entries, cycles', 'gc, any, 1, 60', 'victim, greedy, 1, " +
                choice + "']"});
    return figure(folder, name, "/statistics/cpu/stage_gc/mean_cycles/value");
  };
  CHECK(busy("cheap", "60") == Approx(60));
  CHECK(busy("dear", "60000") > 61);
}

TEST_CASE("bad tables of costs are one line", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_collecting);
  const auto refused = [&](const std::string& costs, const std::string& text) {
    const Outcome outcome = run(folder, {"run", scenario, "--set", "ssd.cpu.costs=" + costs});
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.find("ssd.cpu.costs") != std::string::npos);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  refused("['stage, cycels', 'gc, 1']", "did you mean 'cycles'?");
  refused("['stage, cycles', 'translat, 1']", "did you mean 'translate'?");
  refused("['stage, cycles', 'gc, -1']", "out of range");
  refused("['stage, cycles', 'gc, 1', 'gc, 2']", "line 3: says again");
  refused("['stage, cycles']", "no line of values");
  refused("['entries, cycles', '1, 1']", "no column 'stage'");
  refused("['stage, policy, cycles', 'victim, greedi, 1']", "did you mean 'greedy'?");
  refused("['stage, policy, cycles', 'gc, dftll, 1']", "line 2: 'dftll' is no mapping scheme");
  refused("['stage, policy, cycles', 'gc, dftll, 1']", "did you mean 'dftl'?");
  refused("['stage, cached, cycles', 'translate, hit, 1', 'gc, hit, 1']",
          "line 3: gc looks for nothing that may be cached; hit is for translate and buffer");
}

}  // namespace tlmssd::program_tests
