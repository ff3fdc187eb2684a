// Until steady: rounds by SNIA PTS, in preconditioning and in the run.
#include <algorithm>
#include <cmath>
#include <regex>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_two_dies = R"(title: steady
ssd:
  host: {lba_size: 4 KiB, link: pcie3x4}
  bus: {clock: 800 MHz}
  flash:
    channels: 2
    ways: 1
    bus: 800 MT/s
    user_capacity: 32 MiB
    spare_factor: 20 %
    part: {planes: 1, pages_per_block: 16, page_size: 4 KiB}
firmware: {buffer: {capacity: 256 KiB}}
)";
const std::string k_endless_writes = "load: {rw: randwrite, bs: 4k, iodepth: 16}\n";

double bandwidth(const Json& report) {
  return report["results"]["total"]["bandwidth"]["value"].get<double>();
}

/// Of the last five rounds, worked out anew.
void check_criterion(const Json& told) {
  REQUIRE(told["met"] == true);
  const auto all = told["rounds"].get<std::vector<double>>();
  REQUIRE(all.size() >= 5);
  const std::vector<double> last(all.end() - 5, all.end());
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    sum += last[i];
    weighted += (static_cast<double>(i) - 2) * last[i];
  }
  const auto [low, high] = std::minmax_element(last.begin(), last.end());
  CHECK(told["range"].get<double>() == Approx((*high - *low) / (sum / 5)));
  CHECK(told["change"].get<double>() == Approx(weighted / 10 * 4 / (sum / 5)));
  CHECK(told["range"].get<double>() <= 0.2);
  CHECK(std::abs(told["change"].get<double>()) <= 0.1);
}

}  // namespace

TEST_CASE("a run until steady comes to the same from an empty drive and from a written one",
          "[program][figure]") {
  const Folder folder;
  const std::string text = k_two_dies + k_endless_writes + "run: {until: steady}\n";
  const Json empty = report_of(folder, folder.write("e.yaml", text), "e");
  const Json written = report_of(
      folder, folder.write("w.yaml", text + "precondition: {fill: 100 %, order: sequential}\n"), "w");
  check_criterion(empty["steady"]);
  check_criterion(written["steady"]);
  CHECK(bandwidth(empty) == Approx(bandwidth(written)).epsilon(0.02));
  // Five rounds of the whole drive each are measured, after those that were looked at.
  CHECK(empty["steady"]["measured"].size() == 5);
  const double moved = empty["results"]["total"]["bytes"].get<double>();
  CHECK(moved == Approx(5.0 * 32 * 1024 * 1024).epsilon(0.01));
}

TEST_CASE("the first round's write amplification is that of the first round, whatever came before",
          "[program][figure]") {
  const Folder folder;
  const std::string fill = k_two_dies + "precondition: [{fill: 100 %, order: sequential}, {overwrite: 1x}]\n";
  const std::string until = "{until: steady, metric: write_amplification}\n";
  const Json rounds =
      report_of(folder, folder.write("r.yaml", fill + k_endless_writes + "run: " + until), "r");
  const Json alone = report_of(
      folder, folder.write("a.yaml", fill + replaced(k_endless_writes, "16}", "16, number_ios: 8192}")), "a");
  const double first = alone["write_amplification"]["total"]["value"].get<double>();
  CHECK(first > 1.5);
  CHECK(rounds["steady"]["rounds"][0].get<double>() == Approx(first).epsilon(0.05));
  // The same of a step.
  const Json step =
      report_of(folder,
                folder.write("s.yaml", replaced(fill, "{overwrite: 1x}",
                                                "{overwrite: 1x}, " + until.substr(0, until.size() - 1)) +
                                           "load: {rw: randread, number_ios: 1}\n"),
                "s");
  CHECK(step["preconditioning"].back()["rounds"][0].get<double>() == Approx(first).epsilon(0.1));
}

TEST_CASE("rounds end on a drive that has gone read-only", "[program]") {
  const Folder folder;
  const std::string worn = replaced(k_two_dies, "part: {", "part: {endurance: 3, ");
  const Json step =
      report_of(folder,
                folder.write("s.yaml", worn + "precondition: {until: steady, most_rounds: 12}\n" +
                                           "load: {rw: randread, number_ios: 1}\nrun: {errors: accept}\n"),
                "s");
  CHECK(step["preconditioning"][0]["rounds"].size() == 12);
  CHECK(step["preconditioning"][0]["rounds"].back() == 0);
  CHECK(step["preconditioning"][0]["met"] == false);
}

TEST_CASE("the log of commands holds those that are measured, not those of rounds before", "[program]") {
  const Folder folder;
  const Json report =
      report_of(folder,
                folder.write("l.yaml", k_two_dies + k_endless_writes +
                                           "run: {until: steady}\nreport: {command_log: csv}\n"),
                "l");
  REQUIRE(report["steady"]["met"] == true);
  const std::string log = read_file(folder.path() / "l" / "commands.csv");
  CHECK(std::count(log.begin(), log.end(), '\n') - 1 ==
        report["results"]["total"]["commands"].get<std::int64_t>());
}

TEST_CASE("a round is what is read and written, trims beside it are not", "[program]") {
  const Folder folder;
  const std::string text = k_two_dies + "load: {rw: trimwrite, bs: 4k, iodepth: 4}\nrun: {until: steady}\n";
  const Json report = report_of(folder, folder.write("t.yaml", text), "t");
  REQUIRE(report["steady"]["measured"].size() == 5);
  const Json& operations = report["results"]["total"]["operations"];
  const double written = operations["write"]["bytes"].get<double>();
  CHECK(written == Approx(5.0 * 32 * 1024 * 1024).epsilon(0.01));
  CHECK(operations["trim"]["bytes"].get<double>() == Approx(written).epsilon(0.01));
}

TEST_CASE("a step until steady, and a snapshot of it", "[program]") {
  const Folder folder;
  const std::string scenario =
      folder.write("s.yaml", k_two_dies + "precondition: {until: steady, metric: write_bandwidth}\n" +
                                 "load: {rw: randrw, bs: 4k, iodepth: 4, number_ios: 3000}\n");
  const Json made = report_of(folder, scenario, "a", {"--save-snapshot", folder / "p.snap"});
  REQUIRE(made["preconditioning"].size() == 1);
  CHECK(made["preconditioning"][0]["metric"] == "write_bandwidth");
  check_criterion(made["preconditioning"][0]);
  // The rounds take what they write at their bandwidth; no idle time follows them.
  double rounds = 0;
  for (const Json& bandwidth : made["preconditioning"][0]["rounds"])
    rounds += 32.0 * 1024 * 1024 / bandwidth.get<double>();
  const double before =
      made["simulated_time"]["value"].get<double>() - made["measured_time"]["value"].get<double>();
  CHECK(before == Approx(rounds).epsilon(0.05));
  CHECK(made["results"]["total"]["iops"].get<double>() ==
        Approx(3000 / made["measured_time"]["value"].get<double>()).epsilon(0.001));
  report_of(folder, scenario, "b", {"--from-snapshot", folder / "p.snap"});
  CHECK(read_file(folder.path() / "a/report.json") == read_file(folder.path() / "b/report.json"));
}

TEST_CASE("a load goes on where a step until steady left off, and collection with it", "[program][figure]") {
  const Folder folder;
  // Rested, such a drive has room for a thousand writes before it has to collect.
  const std::vector<std::string> gc{"--set", "firmware.gc={background_start: 30 %, background_stop: 50 %}"};
  const std::string drive =
      k_two_dies + "precondition: {until: steady, metric: write_bandwidth, iodepth: 16}\n";
  const std::string once =
      folder.write("f.yaml", drive + "load: {rw: randwrite, bs: 4k, iodepth: 16, number_ios: 1000}\n");
  const std::string rounds = folder.write("r.yaml", drive + k_endless_writes + "run: {until: steady}\n");
  const auto amplification = [](const Json& report) {
    return report["write_amplification"]["total"]["value"].get<double>();
  };
  const Json first = report_of(folder, once, "f", gc);
  const Json steady = report_of(folder, rounds, "r", gc);
  CHECK(amplification(steady) > 2);
  CHECK(amplification(first) == Approx(amplification(steady)).epsilon(0.15));
  CHECK(bandwidth(first) == Approx(bandwidth(steady)).epsilon(0.15));
  // Idle time lets it rest.
  std::vector<std::string> idle = gc;
  idle.insert(idle.end(), {"--set", "firmware.gc.idle_after=1 s", "--set", "precondition.0.idle=true"});
  CHECK(amplification(report_of(folder, once, "i", idle)) < 1.2);
}

TEST_CASE("behind sustained steps the first writes meet as much collection as later ones",
          "[program][figure]") {
  const Folder folder;
  // At rest, such a drive has room for more than a thousand writes before it has to collect.
  const std::vector<std::string> gc{"--set", "firmware.gc={background_start: 30 %, background_stop: 50 %}"};
  const std::string drive = replaced(k_two_dies, "user_capacity: 32 MiB", "user_capacity: 64 MiB");
  const auto collected = [](const Json& report) {
    return report["write_amplification"]["garbage_collection"]["value"].get<double>();
  };
  const std::string rounds =
      folder.write("r.yaml", drive + "precondition: [{fill: 100 %}]\n" + k_endless_writes +
                                 "run: {until: steady, metric: write_amplification}\n");
  const double steady = collected(report_of(folder, rounds, "r", gc));
  CHECK(steady > 1);
  for (const std::string steps : {"{state: steady", "[{fill: 100 %}, {overwrite: 4x"}) {
    INFO(steps);
    const std::string end = steps.front() == '[' ? "}]\n" : "}\n";
    const auto first = [&](const std::string& more, int seed) {
      const std::string load = "load: {rw: randwrite, bs: 4k, iodepth: 16, number_ios: 1000}\n";
      return report_of(folder, folder.write("f.yaml", drive + "precondition: " + steps + more + end + load),
                       "f", {"--set", gc.back(), "--set", "seed=" + std::to_string(seed)});
    };
    double sustained = 0;
    for (int seed = 1; seed <= 5; ++seed) sustained += collected(first(", sustained: true", seed)) / 5;
    CHECK(sustained == Approx(steady).epsilon(0.2));
    CHECK(collected(first("", 1)) < 0.5 * steady);
  }
}

TEST_CASE("a drive that was written without a pause comes to rest when the host makes one",
          "[program][figure]") {
  const Folder folder;
  const std::string drive = replaced(k_two_dies, "user_capacity: 32 MiB", "user_capacity: 64 MiB");
  struct Found {
    double free;
    bool told;  ///< by the adviser
  };
  const auto found = [&](const std::string& steps, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--set", "firmware.gc={background_start: 30 %, background_stop: 50 %}"});
    const std::string scenario =
        folder.write("f.yaml", drive + (steps.empty() ? "" : "precondition: " + steps + "\n") +
                                   "load: {rw: randwrite, bs: 4k, iodepth: 16, number_ios: 1000}\n");
    const Json report = report_of(folder, scenario, "f", more);
    bool told = false;
    for (const Json& advice : report["advice"]) told = told || advice["name"] == "rested-drive";
    return Found{report["series"]["free_blocks"][0].get<double>(), told};
  };
  for (const std::string written : {"{state: steady", "{fill: 100 %}, {overwrite: 2x"}) {
    INFO(written);
    const std::string sustained = "[" + written + ", sustained: true}";
    const Found busy = found(sustained + "]");
    CHECK_FALSE(busy.told);
    const std::vector<Found> rested = {found("[" + written + "}]"), found(sustained + ", {trim: 0.1 %}]"),
                                       found(sustained + "]", {"--set", "age={retention: 30 d}"})};
    for (const Found& one : rested) {
      CHECK(one.free > busy.free + 4);
      CHECK(one.told);
    }
  }
  // What the snapshot's drive went through counts.
  found("{state: steady}", {"--save-snapshot", folder / "s.snap"});
  CHECK(found("", {"--from-snapshot", folder / "s.snap"}).told);
  found("{state: steady, sustained: true}", {"--save-snapshot", folder / "b.snap"});
  CHECK_FALSE(found("", {"--from-snapshot", folder / "b.snap"}).told);
}

TEST_CASE("a snapshot keeps what a sustained step has put off", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", k_two_dies + "precondition: [{fill: 100 %}, {overwrite: 2x, sustained: true}]\n" +
                    "load: {rw: randwrite, bs: 4k, iodepth: 4, number_ios: 2000}\n");
  report_of(folder, scenario, "a", {"--save-snapshot", folder / "p.snap"});
  report_of(folder, scenario, "b", {"--from-snapshot", folder / "p.snap"});
  CHECK(read_file(folder.path() / "a/report.json") == read_file(folder.path() / "b/report.json"));
}

TEST_CASE("what is said of rounds is reported as unread where there are none", "[program]") {
  const Folder folder;
  const std::string said = "metric: iops, round: 2x, most_rounds: 9";
  const std::string load = "load: {rw: write, bs: 4k, number_ios: 10}\n";
  const auto unread = [&](const std::string& text) {
    return report_of(folder, folder.write("s.yaml", k_two_dies + text + load), "a",
                     {"--force"})["unread_parameters"]
        .dump();
  };
  const std::string none =
      unread("run: {" + said + "}\nprecondition: {fill: 10 %, iodepth: 4, " + said + "}\n");
  for (const std::string section : {"run.", "precondition.0."}) {
    for (const std::string key : {"metric", "round", "most_rounds"})
      CHECK_THAT(none, Catch::Contains(section + key + " ("));
  }
  CHECK_THAT(none, Catch::Contains("precondition.0.iodepth ("));
  CHECK(unread("precondition: {until: steady, iodepth: 4, " + said + "}\n") == "[]");
}

TEST_CASE("a snapshot keeps what a slow link has still booked", "[program]") {
  // Small packets put off data beyond the end of the last command: visible where nothing follows
  // it, as on a drive that has gone read-only.
  const Folder folder;
  std::string drive =
      std::regex_replace(k_two_dies, std::regex("link: pcie3x4"), "protocol: sata, link: sata3");
  drive = std::regex_replace(drive, std::regex("page_size: 4 KiB"), "page_size: 4 KiB, endurance: 3");
  const std::string scenario =
      folder.write("s.yaml", drive + "precondition: {until: steady, iodepth: 16}\nrun: {errors: accept}\n" +
                                 "load: {rw: randwrite, bs: 4k, number_ios: 100}\n");
  report_of(folder, scenario, "a", {"--save-snapshot", folder / "p.snap"});
  report_of(folder, scenario, "b", {"--from-snapshot", folder / "p.snap"});
  CHECK(read_file(folder.path() / "a/report.json") == read_file(folder.path() / "b/report.json"));
}

TEST_CASE("a snapshot keeps that a host layer's drive takes no more writes", "[program]") {
  const Folder folder;
  const std::string drive =
      std::regex_replace(k_two_dies, std::regex("page_size: 4 KiB"), "page_size: 4 KiB, endurance: 3");
  const std::string scenario = folder.write(
      "s.yaml", drive +
                    "log_structured: {grain: 8 KiB, segment: 64 KiB, spare: 40 %}\nrun: {errors: accept}\n" +
                    "precondition: [{fill: 100 %}, {overwrite: 10x, order: random}]\n" +
                    "load: {rw: randrw, bs: 8k, number_ios: 20}\n");
  const Json made = report_of(folder, scenario, "a", {"--save-snapshot", folder / "p.snap"});
  REQUIRE(made["warnings"].dump().find("write protected") != std::string::npos);
  report_of(folder, scenario, "b", {"--from-snapshot", folder / "p.snap"});
  CHECK(read_file(folder.path() / "a/report.json") == read_file(folder.path() / "b/report.json"));
}

TEST_CASE("rounds of every metric, by what was measured", "[program]") {
  const Folder folder;
  const std::string text = k_two_dies + "precondition: {fill: 100 %}\nrun: {until: steady, round: 50 %}\n" +
                           "load: {rw: randread, bs: 4k, iodepth: 4}\n";
  const std::string scenario = folder.write("s.yaml", text);
  const Json latency = report_of(folder, scenario, "l", {"--set", "run.metric=read_latency"});
  check_criterion(latency["steady"]);
  const double mean = latency["results"]["total"]["operations"]["read"]["latency"]["mean"].get<double>();
  double rounds = 0;
  for (const Json& round : latency["steady"]["measured"]) rounds += round.get<double>() / 5;
  CHECK(rounds == Approx(mean).epsilon(0.001));
  const Json iops = report_of(folder, scenario, "i", {"--set", "run.metric=iops"});
  CHECK(iops["steady"]["average"].get<double>() ==
        Approx(iops["results"]["total"]["iops"].get<double>()).epsilon(0.03));
}

TEST_CASE("what never gets steady is said", "[program]") {
  const Folder folder;
  // Two rounds and the load is over; a metric without commands is never steady.
  const std::string text = k_two_dies + "run: {until: steady}\n" +
                           "load: {rw: randwrite, bs: 4k, iodepth: 16, loops: 10, number_ios: 20000}\n";
  const Outcome ended = run(folder, {"run", folder.write("s.yaml", text), "-q", "--strict"});
  CHECK(ended.code == 4);
  const Json report = report_of(folder, folder / "s.yaml", "out");
  CHECK(report["steady"]["met"] == false);
  CHECK(report["steady"]["rounds"].size() == 2);
  CHECK(report["advice"].dump().find("not-steady") != std::string::npos);
  const std::string none =
      k_two_dies + k_endless_writes + "run: {until: steady, metric: read_iops, most_rounds: 6}\n";
  const Json never = report_of(folder, folder.write("n.yaml", none), "never");
  CHECK(never["steady"]["met"] == false);
  CHECK(never["steady"]["rounds"].size() == 6);
}

TEST_CASE("loads that wait for their time end with the rounds", "[program]") {
  const Folder folder;
  const std::string text = k_two_dies + "precondition: {fill: 100 %}\n" +
                           "load:\n  - {name: a, rw: randread, bs: 4k, iodepth: 4}\n"
                           "  - {name: late, rw: randread, bs: 4k, startdelay: 100 s}\n"
                           "  - {name: rare, rw: randread, bs: 4k, rate_iops: '1'}\n"
                           "run: {until: steady, round: 10 %}\n";
  const Json report = report_of(folder, folder.write("s.yaml", text), "out");
  check_criterion(report["steady"]);
  CHECK(report["measured_time"]["value"].get<double>() < 5);
}

}  // namespace tlmssd::program_tests
