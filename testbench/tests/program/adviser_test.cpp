// The adviser: each rule speaks where its case is planted, and all are silent where the run is
// sound.
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

const std::set<std::string> k_nothing;

/// Eight static blocks of 64 KiB with 40 cycles each: gone after 20 MiB.
const std::string k_worn_pslc = R"(
ssd:
  host: {lba_size: 4 KiB}
  flash:
    {channels: 1, ways: 1, over_provisioning: 40 %,
     part: {cell: qlc, planes: 1, blocks_per_plane: 128, pages_per_block: 64, page_size: 4 KiB, endurance: 1000,
            slc_endurance: 40, read_latency: [80 us], program_latency: [500 us], slc_read_latency: 30 us,
            slc_program_latency: 100 us, slc_erase_latency: 3 ms}}
firmware: {mapping: {unit: 4 KiB}, buffer: {capacity: 256 KiB}, pslc: {policy: all, static: 512 KiB}}
load: {rw: write, bs: 64k, iodepth: 1, io_size: 25 MiB}
)";

std::set<std::string> advice(const Json& report) {
  std::set<std::string> names;
  for (const Json& one : report["advice"]) {
    CHECK_FALSE(one["text"].get<std::string>().empty());
    CHECK_FALSE(one["look_at"].get<std::string>().empty());
    names.insert(one["name"].get<std::string>());
  }
  return names;
}

}  // namespace

TEST_CASE("a load that ends before the others, or begins later, is steady in its own time",
          "[program][figure]") {
  const std::string drive = k_sound.substr(0, k_sound.find("load:"));
  for (const std::string& late : std::vector<std::string>{"", "startdelay: 500 ms, "}) {
    const std::string loads =
        "load:\n"
        "  - {name: oltp, rw: randread, thinktime: 1ms, " +
        late +
        "bs: 4k, iodepth: 8, loops: 100, number_ios: 3000}\n"
        "  - {name: long, rw: randread, bs: 4k, loops: 100, number_ios: 60000}\n";
    // Of its rates, which count over all the time, something is to be said.
    CHECK(advice(run_with({}, drive + loads)) == std::set<std::string>{"part-of-the-time"});
  }
}

TEST_CASE("a lifetime that is reckoned from too little says so", "[program][figure]") {
  const Json sound = run_with({});
  CHECK_FALSE(sound["lifetime"].contains("not_settled"));
  const Json report = run_with({"load.number_ios=23000"});
  CHECK(report["lifetime"]["not_settled"]["value"] == "short-for-amplification");
}

TEST_CASE("the adviser is silent on sound runs", "[program][figure]") {
  for (const Settings& settings : std::vector<Settings>{{},
                                                        {"seed=2"},
                                                        {"seed=3"},
                                                        {"load.rw=randread"},
                                                        {"load.rw=randwrite"},
                                                        {"load.rw=randread", "load.iodepth=1"},
                                                        {"load.rwmixread=70"},
                                                        {"load.rwmixread=10"},
                                                        {"load.iodepth=1"},
                                                        {"load.iodepth=32"},
                                                        {"load.bs=8k"},
                                                        {"load.bs=16k"},
                                                        {"ssd.flash.channels=1"},
                                                        {"ssd.flash.channels=4"},
                                                        {"ssd.flash.spare_factor=30 %"},
                                                        {"firmware.gc.policy=cost-benefit"},
                                                        {"firmware.gc.policy=fifo"},
                                                        {"load.random_distribution=zipf:0.9"},
                                                        {"load.rate_iops=500"},
                                                        {"load.rw=randread", "ssd.flash.suspend=both"}}) {
    std::string text;
    for (const std::string& setting : settings) text += setting + " ";
    INFO(text);
    CHECK(advice(run_with(settings)) == k_nothing);
  }
}

TEST_CASE("every rule of the adviser speaks where its case is planted", "[program][figure]") {
  const auto prepared = [](const std::string& steps) {
    return replaced(k_sound, "[{fill: 100 %}, {overwrite: 3x, order: random}]", steps);
  };
  struct Plant {
    std::string rule;
    Settings settings;
    std::string text = k_sound;
  };
  const std::vector<Plant> planted = {
      {"unwritten-reads", {}, prepared("[{fill: 80 %}]")},
      {"short-for-amplification", {"load.number_ios=23000"}},
      {"buffer-holds-load", {"load.ramp_requests=0", "load.number_ios=300"}},
      {"reads-not-cached",
       {"load.rw=randread", "firmware.cache={policy: lru, medium: dram, capacity: 4 MiB}"},
       prepared("[{fill: 100 %, order: random}]")},
      {"out-of-reach",
       {"ssd.flash.reliability={model: power-law}", "firmware.ecc={policy: fixed, code: bch}",
        "firmware.refresh={policy: limits, errors: 61}"}},
      {"few-blocks", {"ssd.flash.part.pages_per_block=512"}},
      {"no-background", {"ssd.flash.part.pages_per_block=64", "firmware.gc.low_water=15"}},
      {"pslc-worn-out", {}, k_worn_pslc},
      {"not-measured",
       {"load.0.ramp_requests=0"},
       with_neighbour("name: scan, stonewall: true, rw: read, bs: 64k, ramp_requests: 50, number_ios: 2000")},
      {"ended-by-size", {"load.loops=1"}},
      {"falls-behind", {"load.rate_iops=200000"}},
      {"beyond-queue", {"ssd.host.queue_depth=7"}},
      {"beyond-queue", {"ssd.host={protocol: sata, link: sata6}", "load.numjobs=5"}},
      {"turns-unused", {"ssd.host={queues: 2, arbitration: weighted, weights: [3, 1]}"}},
      {"part-of-the-time",
       {"load.0.ramp_requests=0"},
       with_neighbour("name: burst, rw: read, bs: 64k, number_ios: 200")},
      {"few-for-tail", {"load.number_ios=21500"}},
      {"not-steady",
       {"load.rw=randwrite", "load.ramp_requests=0", "load.number_ios=12000"},
       prepared("[{fill: 100 %}]")},
      {"steady-of-another-load", {"load.size=25%"}, prepared("{state: steady}")},
      {"rested-drive",
       {"load.rw=randwrite", "load.ramp_requests=0", "load.number_ios=3000",
        "firmware.gc={background_start: 30 %, background_stop: 50 %}"},
       prepared("{state: steady}")},
      {"warm-up-visible", {}, prepared("[{fill: 80 %}]")},
      {"default-matters", {"load.rw=randread", "ssd.cpu.cycles.command=20000", "load.iodepth=32"}},
  };
  const Folder folder;
  const std::string refusal =
      run(folder, {"run", folder.write("s.yaml", k_sound), "--set", "report.silence=none"}).err;
  const std::size_t list = refusal.find("expected ");
  REQUIRE(list != std::string::npos);
  const std::string expected = refusal.substr(list);
  const std::regex name("[a-z]+(-[a-z]+)+");
  std::set<std::string> rules;
  for (std::sregex_iterator one(expected.begin(), expected.end(), name); one != std::sregex_iterator(); ++one)
    rules.insert(one->str());
  std::set<std::string> with_plant;
  for (const Plant& plant : planted) with_plant.insert(plant.rule);
  CHECK(with_plant == rules);
  for (const auto& [rule, settings, text] : planted) {
    INFO(rule);
    CHECK(advice(run_with(settings, text)).count(rule) == 1);
    Settings silent = settings;
    silent.push_back("report.silence=" + rule);
    CHECK(advice(run_with(silent, text)).count(rule) == 0);
  }
}

TEST_CASE("limits that a run cannot come to are named, and no others", "[program][figure]") {
  struct Row {
    const char* look_at;  ///< null: nothing is out of reach
    Settings settings;
  };
  const Settings errors = {"ssd.flash.reliability={model: power-law}", "load.number_ios=3000",
                           "load.ramp_requests=0", "run.errors=accept"};
  const auto with_errors = [&](Settings more) {
    more.insert(more.end(), errors.begin(), errors.end());
    return more;
  };
  const char* const k_fixed = "firmware.ecc={policy: fixed, code: bch}";
  const char* const k_hard = "firmware.ecc={policy: fixed, code: hard-ldpc}";
  for (const Row& row :
       {Row{"firmware.refresh.errors", {k_fixed, "firmware.refresh={policy: limits, errors: 61}"}},
        Row{nullptr, {k_fixed, "firmware.refresh={policy: limits, errors: 60}"}},
        // Hard LDPC corrects up to 82 x 1.24 = 101.68.
        Row{"firmware.refresh.errors", {k_hard, "firmware.refresh={policy: limits, errors: 102}"}},
        Row{nullptr, {k_hard, "firmware.refresh={policy: limits, errors: 101}"}},
        Row{"firmware.refresh.retention",
            {k_fixed, "firmware.refresh={policy: limits, retention: 0 s, reads: 0}"}},
        Row{"firmware.ecc.window", {"firmware.ecc={policy: aoa-ecc, window: 1000000000}"}},
        Row{nullptr, {"firmware.ecc={policy: aoa-ecc, window: 100}"}},
        Row{"firmware.pass_voltage.interval", {k_fixed, "firmware.pass_voltage={policy: tuned}"}},
        Row{nullptr, {k_fixed, "firmware.pass_voltage={policy: tuned, interval: 0 s}"}}}) {
    const Json report = run_with(with_errors(row.settings));
    INFO(row.settings.back() << report["advice"].dump());
    std::vector<std::string> named;
    for (const Json& one : report["advice"])
      if (one["name"] == "out-of-reach") {
        named.push_back(one["look_at"]);
        if (row.settings.front() == k_hard)
          CHECK_THAT(one["text"].get<std::string>(), Catch::Contains("no code corrects more than 101:"));
      }
    CHECK(named ==
          (row.look_at == nullptr ? std::vector<std::string>{} : std::vector<std::string>{row.look_at}));
  }
}

TEST_CASE("a load that took part of the time is told by the rate of its own, as fio has it", "[program]") {
  // One read every 10 ms, and a burst of 100 MiB that ends long before.
  const std::string scenario =
      replaced(k_sound,
               "load: {rw: randrw, rwmixread: 50, bs: 4k, iodepth: 8, loops: 100, ramp_requests: 20000, "
               "number_ios: 70000}",
               "load:\n  - {name: user, rw: randread, bs: 4k, thinktime: 10 ms, number_ios: 300}\n"
               "  - {name: burst, rw: read, bs: 64k, iodepth: 8, size: 100 MiB}\n");
  const Folder folder;
  const Json report = report_of(folder, folder.write("s.yaml", scenario), "out", {});
  const Json fio = Json::parse(read_file(folder.path() / "out/fio.json"));
  const double own = fio["jobs"][1]["read"]["bw_bytes"].get<double>();
  CHECK(own > 2 * report["results"]["loads"][1]["bandwidth"]["value"].get<double>());
  CHECK(report["results"]["loads"][1]["own_time"]["bandwidth"]["value"].get<double>() ==
        Approx(own).epsilon(1e-9).margin(1));
  REQUIRE(advice(report).contains("part-of-the-time"));
  for (const Json& one : report["advice"]) {
    if (one["name"] != "part-of-the-time") continue;
    const std::string text = one["text"].get<std::string>();
    CHECK_THAT(text, Catch::StartsWith("burst was at work for "));
    std::smatch told;
    REQUIRE(std::regex_search(text, told, std::regex(R"(it moved ([0-9.]+) ([MG])B/s$)")));
    CHECK(std::stod(told[1]) * (told[2] == "G" ? 1e9 : 1e6) == Approx(own).epsilon(0.005));
  }
}

TEST_CASE("advice names keys that the load has", "[program][figure]") {
  const Folder folder;
  std::string trace;
  for (int i = 0; i < 100; ++i)
    trace += std::to_string(i * 1000) + ",h,0,Write," + std::to_string(i * 8192) + ",8192,0\n";
  folder.write("t.csv", trace);
  folder.write("j.fio", "[a]\nrw=randwrite\nsize=1m\nnumber_ios=100\n");
  const std::string drive = k_sound.substr(0, k_sound.find("load:"));
  const std::vector<std::pair<std::string, std::string>> loads = {
      {"{trace: t.csv}", "load.repeat"},
      {"{trace: t.csv, requests: 50}", "load.requests"},
      {"{profile: hm_0, scale: 0.0001, addresses: wrap}", "load.scale"},
      {"{profile: hm_0, scale: 0.0001, addresses: wrap, requests: 50}", "load.requests"},
      {"{fio: j.fio}", "number_ios in the job file"},
      {"{rw: randwrite, number_ios: 100}", "load.number_ios"}};
  for (const auto& [load, key] : loads) {
    INFO(load);
    const Json report =
        report_of(folder, folder.write("s.yaml", drive + "load: " + load + "\n"), "out", {"--force"});
    std::size_t told = 0;
    for (const Json& one : report["advice"]) {
      const std::string look_at = one["look_at"].get<std::string>();
      if (one["name"] == "short-for-amplification" || one["name"] == "few-for-tail") {
        CHECK_THAT(look_at, Catch::Contains(key));
        ++told;
      }
      if (key != "load.number_ios") CHECK_THAT(look_at, !Catch::Contains("load.number_ios"));
    }
    CHECK(told > 0);
  }
}

TEST_CASE("loads that took part of the time are told of at once", "[program]") {
  const Folder folder;
  const std::string drive = k_sound.substr(0, k_sound.find("load:"));
  const std::string scenario =
      folder.write("s.yaml", drive +
                                 "load:\n  - {name: first, rw: randread, bs: 4k, number_ios: 500}\n"
                                 "  - {name: second, rw: randread, bs: 4k, number_ios: 500}\n"
                                 "  - {name: long, rw: randread, bs: 4k, loops: 100, number_ios: 20000}\n");
  std::size_t boxes = 0;
  const Json report = report_of(folder, scenario, "out");
  for (const Json& one : report["advice"]) {
    if (one["name"] != "part-of-the-time") continue;
    ++boxes;
    CHECK_THAT(one["text"].get<std::string>(),
               Catch::Contains("first for ") && Catch::Contains("second for "));
  }
  CHECK(boxes == 1);
}

TEST_CASE("what was trimmed is not said to have never been written", "[program]") {
  const std::string trimmed = replaced(k_sound, "{overwrite: 3x, order: random}", "{trim: 30 %}");
  const Json report = run_with({"load.rw=randread"}, trimmed);
  REQUIRE(advice(report).contains("unwritten-reads"));
  for (const Json& one : report["advice"]) {
    if (one["name"] == "unwritten-reads")
      CHECK_THAT(one["text"].get<std::string>(),
                 Catch::Contains("was not there (never written, or trimmed)"));
  }
}

TEST_CASE("a drawn steady state is that of uniform random writes all over the drive", "[program][figure]") {
  const auto speaks = [](const Settings& settings, const std::string& steps = "{state: steady}") {
    const std::string text = replaced(k_sound, "[{fill: 100 %}, {overwrite: 3x, order: random}]", steps);
    Settings all = {"load.ramp_requests=0", "load.number_ios=3000"};
    all.insert(all.end(), settings.begin(), settings.end());
    return advice(run_with(all, text)).count("steady-of-another-load") == 1;
  };
  for (const Settings& settings : std::vector<Settings>{{"load.rw=write"},
                                                        {"load.percentage_random=50"},
                                                        {"load.random_distribution=zipf:1.1"},
                                                        {"load.norandommap=false"},
                                                        {"load.size=50%"},
                                                        {"load.size=50%", "load.numjobs=2"},
                                                        {"load.bs=4k,64k"},
                                                        {"load.bssplit=4k/90:16k/10"},
                                                        {"load.rw=randwrite", "load.bsrange=4k-16k"}}) {
    INFO(settings.front());
    CHECK(speaks(settings));
  }
  for (const Settings& settings :
       std::vector<Settings>{{"load.rw=randwrite"},
                             {"load.rwmixread=70"},
                             {"load.bs=64k,4k"},
                             {"load.size=50%", "load.numjobs=2", "load.offset_increment=50%"},
                             {"load.rw=randread", "load.size=25%"},
                             {"load.rw=randread", "load.bs=64k"}}) {
    INFO(settings.front());
    CHECK_FALSE(speaks(settings));
  }
  CHECK_FALSE(speaks({"load.size=25%"}, "[{state: steady}, {overwrite: 2x, region: 25 %}]"));
  CHECK_FALSE(speaks({"load.size=25%"}, "[{fill: 100 %}, {overwrite: 3x}]"));
}

TEST_CASE("behind a layer of the host, what was programmed is what the drive was given", "[program]") {
  const auto advised = [](const std::string& number) {
    const std::string text = drive_with(
        "channels: 2, ways: 2, user_capacity: 128 MiB, over_provisioning: 25 %, part: {planes: 1, "
        "pages_per_block: 64, page_size: 16 KiB}",
        "firmware: {buffer: {capacity: 512 KiB}}\nlog_structured: {spare: 10 %}\n"
        "precondition: [{fill: 100 %}]\nload: {rw: randwrite, bs: 4k, iodepth: 8, number_ios: " +
            number + "}\n");
    return advice(run_with({}, text)).contains("short-for-amplification");
  };
  // Cleaning the log multiplies it: 23 MiB of writes are 98 for the drive, three times its spare.
  CHECK_FALSE(advised("6000"));
  CHECK(advised("1500"));
}

TEST_CASE("a limit that was chosen is no default", "[program]") {
  const Settings slow = {"load.rw=randread", "ssd.cpu.cycles.command=20000", "load.iodepth=32",
                         "ssd.cpu.clock=450 MHz"};
  CHECK(advice(run_with(slow)) == k_nothing);
}

TEST_CASE("untimed runs are advised on by what the drive did and how loads ended", "[program][figure]") {
  const auto untimed = [](const Settings& settings, const std::string& text = k_sound) {
    Settings all = {"run.timed=false", "load.ramp_requests=0"};
    all.insert(all.end(), settings.begin(), settings.end());
    return advice(run_with(all, text));
  };
  CHECK(untimed({}) == k_nothing);
  CHECK(untimed({"load.rw=randread"}) == k_nothing);
  CHECK(untimed({"load.loops=1"}) == std::set<std::string>{"ended-by-size"});
  CHECK(untimed({"load.number_ios=3000"}) == std::set<std::string>{"short-for-amplification"});
  CHECK(untimed({"load.rw=randread", "load.number_ios=3000"}) == k_nothing);
  CHECK(untimed({}, replaced(k_sound, "[{fill: 100 %}, {overwrite: 3x, order: random}]", "[{fill: 80 %}]"))
            .contains("unwritten-reads"));
}

TEST_CASE("advice has an exit code when asked, and rules that are silenced must be there", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_sound);
  CHECK(run(folder, {"run", scenario, "-q", "--strict"}).code == 0);
  const std::string few = "load.number_ios=23000";
  CHECK(run(folder, {"run", scenario, "-q", "--set", few}).code == 0);
  const Outcome strict = run(folder, {"run", scenario, "--strict", "--set", few});
  CHECK(strict.code == 4);
  CHECK(strict.out.find("[short-for-amplification]") != std::string::npos);
  const Outcome unknown = run(folder, {"run", scenario, "--set", "report.silence=few-block"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("report.silence") != std::string::npos);
  CHECK(unknown.err.find("did you mean 'few-blocks'") != std::string::npos);
}

TEST_CASE("reads that are not cached: who does not wait, or is too large to wait", "[program]") {
  const std::string text = drive_with(
      "channels: 2, ways: 1, user_capacity: 128 MiB, part: {planes: 1, page_size: 16 KiB, pages_per_block: "
      "64}",
      "firmware: {mapping: {unit: 16 KiB}, cache: {policy: lru, medium: dram, capacity: 1 MiB, copy_waits: "
      "true}}\n" +
          k_fill + "load: {rw: randread, bs: 256k, iodepth: 4, number_ios: 300}\n");
  const auto look_at = [&](const Settings& settings) {
    const Json report = run_with(settings, text);
    for (const Json& one : report["advice"]) {
      if (one["name"] == "reads-not-cached") return one["look_at"].get<std::string>();
    }
    return std::string("nothing");
  };
  CHECK(look_at({}) == "firmware.cache.capacity");
  CHECK(look_at({"firmware.cache.copy_waits=false"}) == "firmware.cache.copy_waits");
  CHECK(look_at({"firmware.cache.capacity=4 MiB"}) == "nothing");
  for (const std::string policy : {"write-only", "scm-storage"})
    CHECK(look_at({"firmware.cache.copy_waits=false", "firmware.cache.policy=" + policy}) == "nothing");
}

TEST_CASE("a cache that holds nearly all that is read is not told of the few others", "[program][figure]") {
  const auto advice = [](const std::string& distribution) {
    const Json report = run_with({"firmware.cache={policy: lru, medium: dram, capacity: 8 MiB}",
                                  "load.random_distribution=" + distribution});
    CHECK(report["statistics"]["firmware"]["cache"]["copies_skipped"]["value"].get<double>() > 100);
    std::set<std::string> names;
    for (const Json& one : report["advice"]) names.insert(one["name"]);
    return names;
  };
  CHECK(advice("zoned:98/2:2/98").count("reads-not-cached") == 0);
  CHECK(advice("zoned:60/2:40/98").count("reads-not-cached") == 1);
}

TEST_CASE("the adviser names targets of percentiles beyond which no command lies", "[program][figure]") {
  const auto told = [](const std::string& metric, const std::string& commands) {
    const Json report = run_with({"load.rw=randread", "load.ramp_requests=0", "load.number_ios=" + commands,
                                  "targets=[{metric: " + metric + ", at_most: 1 s}]"});
    for (const Json& one : report["advice"])
      if (one["name"] == "few-for-tail") return one["text"].get<std::string>();
    return std::string();
  };
  CHECK(told("read.p99.999", "5000").find("the target read.p99.999 (5000 commands): ") != std::string::npos);
  CHECK(told("read.p99.99", "10000").empty());
  CHECK(told("read.p99.99", "9999").find("read.p99.99 (9999 commands)") != std::string::npos);
  CHECK(told("read.max", "5000").empty());
}

TEST_CASE("the adviser tells memory's latencies from those of flash", "[program]") {
  // As much as the buffer holds, but into one that is full, past it, or in pieces of its units.
  const std::string drive =
      drive_with(flash_of("channels: 1, ways: 1, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
                 "firmware: {buffer: {capacity: 1 MiB}}\n" + k_fill +
                     "load: {rw: write, bs: 4k, iodepth: 1, number_ios: 200}\n");
  const auto holds = [&](const Settings& settings) {
    return advice(run_with(settings, drive)).contains("buffer-holds-load");
  };
  CHECK(holds({}));
  CHECK_FALSE(holds({"load.ramp_requests=1000", "load.number_ios=1200"}));
  CHECK_FALSE(holds({"firmware.buffer.mode=write-through"}));
  // A flush waits for what the writes did not, but not for long where they overwrite one place.
  CHECK_FALSE(holds({"load.fsync=1"}));
  CHECK(holds(
      {"load.end_fsync=true", "load.size=4k", "load.io_size=1m", "ssd.flash.part.program_latency=[1 us]"}));
  CHECK_FALSE(holds({"ssd.host.lba_size=512 B", "load.bs=512", "load.rw=randwrite", "load.number_ios=2000"}));
}

}  // namespace tlmssd::program_tests
