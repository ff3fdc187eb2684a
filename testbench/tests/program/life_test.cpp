// Snapshots, the end of a drive's life and runs that cannot go on, as the program's users meet
// them.
#include <algorithm>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_worked = replaced(k_small, "load:", R"(precondition:
  - {fill: 100 %, order: sequential}
  - {overwrite: 2x, order: random}
  - {trim: 5 %}
load:)");

}  // namespace

TEST_CASE("a run from a snapshot equals the run that preconditioned", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "direct", "--save-snapshot", snapshot});
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "restored", "--from-snapshot", snapshot});
  for (const char* file : {"report.json", "fio.json", "scenario.yaml", "report.html"}) {
    INFO(file);
    CHECK(read_file(folder.path() / "direct" / file) == read_file(folder.path() / "restored" / file));
  }
  // Another load on the same drive.
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "other", "--from-snapshot", snapshot, "--set",
                  "load.0.rw=randread"});
  CHECK(read_file(folder.path() / "direct" / "report.json") !=
        read_file(folder.path() / "other" / "report.json"));
}

TEST_CASE("a run says when the clock of retention has come to its end", "[program]") {
  const Folder folder;
  const auto warnings = [&](const std::string& part, const std::string& rest) {
    std::string text = replaced(k_worked, "page_size: 4 KiB}", "page_size: 4 KiB" + part + "}");
    text += "age: {retention: " + rest + "}\n";
    return report_of(folder, folder.write("s.yaml", text), "out")["warnings"];
  };
  const std::string aged = ", timing: formula, read: 'base*(1 + 0.00001*age_days)'";
  const Json told = warnings(aged, "1 y, temperature: 85 C");
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0].get<std::string>(),
             Catch::Contains("age.retention: the clock of retention has come to its "
                             "end, 126 years at 40 C"));
  CHECK(warnings(aged, "180 d, temperature: 85 C") == Json::array());
  CHECK(warnings("", "1 y") == Json::array());  // nothing looks at the age
}

TEST_CASE("a run from a snapshot says where the drive was prepared otherwise", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const std::string bare = folder.write("bare.yaml", k_small);
  const std::string snapshot = folder / "drive.snap";
  const std::string second = folder / "second.snap";
  run_ok(folder, {"run", scenario, "-q", "--prepare-only", "--save-snapshot", snapshot});
  const auto warnings = [&](const std::string& from, const std::string& file, const std::string& steps,
                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--from-snapshot", from};
    if (!steps.empty()) arguments.insert(arguments.end(), {"--set", steps});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return report_of(folder, file, "out", arguments)["warnings"];
  };
  const std::string otherwise = "the drive was not prepared as the scenario says, but as the snapshot's: ";
  const Json differs = Json::array({otherwise + "precondition.1.overwrite is 2x there, 3x here"});
  CHECK(warnings(snapshot, scenario, "precondition.1.overwrite=3x") == differs);
  CHECK(warnings(snapshot, scenario, "precondition.1={overwrite: 200 %, order: random}") == Json::array());
  CHECK(warnings(snapshot, scenario, "precondition=[{fill: 100 %, order: sequential}]") ==
        Json::array({otherwise + "precondition.1 is absent here, precondition.2 is absent here"}));
  CHECK(warnings(snapshot, bare, "") == Json::array());
  // A snapshot of a drive that came from a snapshot knows how that was prepared.
  CHECK(warnings(snapshot, scenario, "precondition.1.overwrite=3x", {"--save-snapshot", second}) == differs);
  CHECK(warnings(second, scenario, "") == Json::array());
  CHECK(warnings(second, scenario, "precondition.1.overwrite=3x") == differs);
  CHECK(warnings(snapshot, bare, "", {"--save-snapshot", second}) == Json::array());
  CHECK(warnings(second, scenario, "") == Json::array());
}

TEST_CASE("a run from a snapshot has the timeline of the run that preconditioned", "[program]") {
  const Folder folder;
  // Reads of several senses, of which all but the last have brought nothing yet.
  const std::string scenario = folder.write("s.yaml", R"(title: senses
ssd:
  host: {lba_size: 4 KiB}
  flash:
    channels: 2
    ways: 1
    spare_factor: 30 %
    reliability: {model: power-law}
    part: {planes: 1, blocks_per_plane: 63, pages_per_block: 24, page_size: 16 KiB}
firmware: {ecc: {policy: fixed, code: soft-ldpc}}
precondition: [{fill: 100 %}, {overwrite: 40 %}]
load: {rw: randread, bs: 4k, iodepth: 4, number_ios: 300}
report: {timeline: true}
)");
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "one", "--save-snapshot", folder / "s.snap"});
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "two", "--from-snapshot", folder / "s.snap"});
  CHECK(read_file(folder.path() / "one" / "timeline.perfetto") ==
        read_file(folder.path() / "two" / "timeline.perfetto"));
}

TEST_CASE("a run from a snapshot knows what was booked beyond the end of preconditioning", "[program]") {
  // These end with an access to the map that no one waits for.
  const Folder folder;
  for (const std::string spare : {"185.71", "250"}) {
    const std::string drive =
        replaced(k_small, "over_provisioning: 40 %", "over_provisioning: " + spare + " %");
    const std::string scenario = folder.write(spare + ".yaml", replaced(drive, "load:", R"(precondition:
  - {fill: 100 %, order: sequential}
  - {fill: 100 %, order: random, until: steady, bs: 64 KiB}
load:)"));
    const std::string snapshot = folder / (spare + ".snap");
    const Json direct = report_of(folder, scenario, "direct " + spare, {"--save-snapshot", snapshot});
    CHECK(report_of(folder, scenario, "restored " + spare, {"--from-snapshot", snapshot}) == direct);
  }
}

TEST_CASE("a snapshot knows nothing of when writes complete", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const auto mean_write = [&](const std::string& saved, const std::string& mode) {
    const std::string snapshot = folder / (saved + ".snap");
    if (!fs::exists(snapshot)) {
      run_ok(folder, {"run", scenario, "-q", "--prepare-only", "--save-snapshot", snapshot, "--set",
                      "firmware.buffer.mode=" + saved});
    }
    const std::string again = folder / (saved + " to " + mode + ".snap");
    const Json report = report_of(
        folder, scenario, saved + " to " + mode,
        {"--from-snapshot", snapshot, "--save-snapshot", again, "--set", "firmware.buffer.mode=" + mode});
    CHECK(report["checks"]["wrong_reads"] == 0);
    // The drive is the same after it has gone through the other mode.
    const auto state = [&](const std::string& file) {
      const Outcome outcome = run(folder, {"inspect", file, "--json", "-"});
      CHECK(outcome.code == 0);
      Json found = Json::parse(outcome.out);
      CHECK(found["consistency"]["consistent"] == true);
      return found;
    };
    CHECK(state(again) == state(snapshot));
    return report["results"]["total"]["operations"]["write"]["latency"]["mean"].get<double>();
  };
  for (const std::string saved : {"write-back", "write-through"})
    CHECK(mean_write(saved, "write-through") > 2 * mean_write(saved, "write-back"));
}

TEST_CASE("a snapshot of superblocks fits drives with superblocks of as many regions", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd:
  flash: {channels: 2, ways: 1, over_provisioning: 30 %, part: {file: parts/nand/mqsim-mlc.yaml, blocks_per_plane: 32, pages_per_block: 24}}
firmware: {mapping: {scheme: superblock, log_blocks: 2}}
precondition: [{fill: 90 %, overwrite: 1x}]
load: {rw: randwrite, bs: 4k, number_ios: 500}
)");
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "--prepare-only", "--save-snapshot", snapshot});
  run_ok(folder, {"run", scenario, "-q", "--from-snapshot", snapshot});
  const Outcome refused = run(
      folder, {"run", scenario, "-q", "--from-snapshot", snapshot, "--set", "firmware.mapping.adjacent=2"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("firmware.mapping.adjacent") != std::string::npos);
}

TEST_CASE("a run from a snapshot says what the drive has behind it", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const std::string snapshot = folder / "drive.snap";
  const auto report_of = [&](const char* out, std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "run", scenario, "-q", "-o", folder / out, "--set", "age.retention=30 d", "--set", "age.reads=10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ok(folder, arguments);
    return read_file(folder.path() / out / "report.json");
  };
  const std::string direct = report_of("direct", {"--save-snapshot", snapshot});
  CHECK(direct.find("30 d at 40 C, 10 reads of every page") != std::string::npos);
  CHECK(report_of("restored", {"--from-snapshot", snapshot}) == direct);
}

TEST_CASE("each part of a run names its own first failure, from a snapshot as well", "[program]") {
  const Folder folder;
  // Worn out in preconditioning: from there on every write is refused.
  const std::string scenario =
      folder.write("s.yaml",
                   "ssd: {flash: {channels: 1, ways: 1, over_provisioning: 60 %, part: {blocks_per_plane: "
                   "24, pages_per_block: 16, endurance: 2}}}\n"
                   "precondition: [{fill: 50 %}, {overwrite: 30x}]\n"
                   "load: {rw: randwrite, bs: 8k, number_ios: 10, randseed: 5}\n"
                   "run: {errors: accept}\n");
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "direct", "--save-snapshot", snapshot});
  run_ok(folder, {"run", scenario, "-q", "-o", folder / "restored", "--from-snapshot", snapshot});
  const std::string direct = read_file(folder.path() / "direct" / "report.json");
  CHECK(direct.find("preconditioning: ") != std::string::npos);
  CHECK(direct.find("\"10 commands failed") != std::string::npos);
  CHECK(direct == read_file(folder.path() / "restored" / "report.json"));
  // What failed in preconditioning fails the run as well, though its own commands succeed.
  const std::vector<std::string> reads = {"run",   scenario,         "-q", "--set", "load.0.rw=randread",
                                          "--set", "run.errors=fail"};
  CHECK(run(folder, reads).code == 5);
}

TEST_CASE("two snapshots of the same drive are the same file", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", folder / "a.snap"});
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", folder / "b.snap"});
  CHECK(read_file(folder / "a.snap") == read_file(folder / "b.snap"));
}

TEST_CASE("a snapshot alone is worth a run", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const Outcome outcome = run_ok(folder, {"run", scenario, "--save-snapshot", folder / "a.snap"});
  CHECK(fs::exists(folder / "a.snap"));
  CHECK(outcome.out.find("a.snap") != std::string::npos);
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", folder / "b.snap", "--prepare-only"});
  CHECK(read_file(folder / "a.snap") == read_file(folder / "b.snap"));
  CHECK(run(folder, {"run", scenario, "--prepare-only"}).code == 2);
}

TEST_CASE("a snapshot that does not fit is refused with every difference", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const std::string snapshot = folder / "drive.snap";
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", snapshot});
  const auto refused = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"run", scenario, "-o", folder / "out", "--from-snapshot", snapshot};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    const Outcome outcome = run(folder, arguments);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(folder / "out"));
    CHECK(outcome.err.find(snapshot) != std::string::npos);
    return outcome.err;
  };
  using Catch::Contains;
  CHECK_THAT(refused({"ssd.flash.channels=4"}),
             Contains("ssd.flash.channels") && Contains("2") && Contains("4"));
  CHECK_THAT(refused({"ssd.flash.part.pages_per_block=32"}), Contains("ssd.flash.part.pages_per_block"));
  CHECK_THAT(refused({"firmware.gc.policy=fifo"}), Contains("firmware.gc.policy"));
  CHECK_THAT(refused({"seed=7"}), Contains("seed"));
  CHECK_THAT(refused({"ssd.host.lba_size=512 B"}), Contains("ssd.host.lba_size"));
  CHECK_THAT(refused({"firmware.wear.policy=static", "firmware.allocation.order=PDWC"}),
             Contains("firmware.wear.policy") && Contains("firmware.allocation.order"));
  CHECK_THAT(
      refused({"firmware.buffer.capacity=512 KiB", "firmware.wear.policy=static"}),
      Contains("does not fit") && Contains("firmware.buffer.capacity") && Contains("firmware.wear.policy"));
  CHECK_THAT(refused({"age.cycles=1000"}), Contains("age.cycles") && Contains("1000"));
  CHECK_THAT(refused({"age.cycles=1000", "age.retention=30 d", "age.reads=5"}),
             Contains("age.retention") && Contains("age.reads"));
}

TEST_CASE("a drive is no older than its blocks bear, and rests wherever flash may work", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  const auto check = [&](const std::vector<std::string>& settings) {
    return run(folder, joined({"check", scenario}, set_options(settings)));
  };
  const std::string part = "ssd.flash.part.endurance=";
  const Outcome worn_out = check({part + "500", "age.cycles=501"});
  CHECK(worn_out.code == 2);
  CHECK_THAT(worn_out.err,
             Catch::Contains("age.cycles: 501 are more than the 500 after which a block's erase "
                             "fails and it is taken out of use (ssd.flash.part.endurance; 0: "
                             "never)") &&
                 Catch::Contains("nearest valid: 500"));
  CHECK(check({part + "500", "age.cycles=500"}).code == 0);
  CHECK(check({part + "0", "age.cycles=501"}).code == 0);
  for (const std::string temperature : {"-55 C", "150 C"}) {
    const Outcome outcome = check({"age.temperature=" + temperature, "age.retention=1 d"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("a damaged snapshot is refused", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_worked);
  run_ok(folder, {"run", scenario, "-q", "--save-snapshot", folder / "good.snap"});
  const std::string good = read_file(folder / "good.snap");
  const auto refused = [&](const std::string& content) {
    const std::string snapshot = folder.write("bad.snap", content);
    const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "out", "--from-snapshot", snapshot});
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.starts_with("tlmssd: " + snapshot + ": "));
    CHECK_FALSE(fs::exists(folder / "out"));
  };
  refused("");
  refused("no snapshot");
  refused(k_worked);
  refused(good + "x");
  for (const std::size_t size : {std::size_t{8}, std::size_t{40}, good.size() / 2, good.size() - 1})
    refused(good.substr(0, size));
  for (std::size_t part = 1; part < 10; ++part) {
    std::string flipped = good;
    flipped[good.size() * part / 10] = static_cast<char>(flipped[good.size() * part / 10] ^ 0x10);
    refused(flipped);
  }
  const Outcome missing =
      run(folder, {"run", scenario, "-o", folder / "out", "--from-snapshot", folder / "nix"});
  CHECK(missing.code == 2);
  CHECK(missing.err == "tlmssd: " + (folder / "nix") + ": cannot be read: No such file or directory\n");
}

TEST_CASE("a drive that wears out ends the run well, with a warning", "[program]") {
  const Folder folder;
  const std::string worn =
      replaced(replaced(k_small, "{planes: 1", "{endurance: 10, planes: 1"), "{rw: randrw, number_ios: 500}",
               "{rw: randrw, rwmixread: 20, iodepth: 8, io_size: 300m}");
  const std::string scenario = folder.write("s.yaml", worn);
  const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "out"});
  CHECK(outcome.code == 5);
  CHECK(outcome.out.find("read-only") != std::string::npos);
  const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
  const std::string warnings = report["warnings"].dump();
  CHECK(warnings.find("the drive has gone read-only") != std::string::npos);
  CHECK(warnings.find("write protected") != std::string::npos);
}

// Log blocks whose program units are an odd number of mapping pages: a page that begins inside one
// must not be taken for one before it.
TEST_CASE("merges with copies on the die go well where a program unit is no power of two", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(
ssd: {flash: {channels: 2, ways: 1, part: {blocks_per_plane: 12, page_size: 12288 B}}}
firmware: {mapping: {log_blocks: 1, copyback: true}}
precondition: [{fill: 90 %}]
load: {rw: randrw, number_ios: 300}
)");
  for (const std::string scheme : {"bast", "fast"}) {
    INFO(scheme);
    const Outcome outcome = run(
        folder, {"run", scenario, "-q", "--set", "firmware.mapping.scheme=" + scheme, "--set",
                 scheme == "fast" ? "ssd.flash.over_provisioning=60 %" : "ssd.flash.over_provisioning=25 %"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("a run that stalls says so", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "out", "--set",
                                       "run.stall_after=20 us", "--set", "firmware.buffer.mode=write-through",
                                       "--set", "load.0.rw=randwrite", "--set", "load.0.iodepth=4"});
  INFO(outcome.err);
  CHECK(outcome.code == 3);
  CHECK(outcome.err.starts_with("tlmssd: stalled: no command has completed for 20.0 us"));
  CHECK(outcome.err.find("4 commands outstanding") != std::string::npos);
  CHECK(outcome.err.find("write of LBA") != std::string::npos);
  CHECK(outcome.err.find("free") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "out"));
  const auto left = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  CHECK(left == 1);
}

TEST_CASE("a preconditioning step that is wrong is found before any is carried out", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml",
      replaced(k_small, "load:", "precondition:\n  - {fill: 100 %}\n  - {fill: 10 %, bs: 3000 B}\nload:"));
  const Outcome outcome =
      run(folder, {"run", scenario, "-o", folder / "out", "--save-snapshot", folder / "a.snap"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.starts_with("tlmssd: " + scenario + ":14: precondition.1.bs: "));
  const auto left = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  CHECK(left == 1);
}

TEST_CASE("a run from a snapshot goes on writing where the drive stopped", "[program]") {
  const Folder folder;
  // Three dies, and a fill that does not end where the turn begins.
  const std::string scenario = folder.write("s.yaml", R"(
ssd:
  flash:
    channels: 3
    ways: 1
    over_provisioning: 40 %
    part: {planes: 1, blocks_per_plane: 16, pages_per_block: 16, page_size: 4 KiB}
firmware:
  mapping: {unit: 4 KiB}
precondition: [{fill: 50 %}]
load: {rw: randrw, bs: 4k, size: 200k, iodepth: 4, number_ios: 60}
report: {command_log: csv}
)");
  REQUIRE(run(folder, {"run", scenario, "-q", "-o", folder / "one", "--save-snapshot", folder / "x"}).code ==
          0);
  REQUIRE(run(folder, {"run", scenario, "-q", "-o", folder / "two", "--from-snapshot", folder / "x"}).code ==
          0);
  CHECK(read_file(folder.path() / "one/commands.csv") == read_file(folder.path() / "two/commands.csv"));
}

// Evictions went on as long as the pSLC took them, and left a third of the cache empty: the policy
// keeps a fifth.
TEST_CASE("a cache before a pSLC keeps no more free than its policy wants", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(seed: 1
ssd:
  host: {protocol: nvme, link: pcie3x4, lba_size: 4 KiB}
  cpu: {cores: 4, clock: 1 GHz}
  dram: {capacity: 1 GiB, bandwidth: 6.4 GB/s}
  flash:
    channels: 4
    ways: 2
    bus: 667 MT/s
    part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 384}
    user_capacity: 8 GB
    over_provisioning: 13 %
firmware:
  allocation: {multi_plane: true}
  buffer: {capacity: 16 MiB}
  cache: {policy: nv-wb, medium: dram, capacity: 64 MiB}
  pslc: {policy: all, dynamic: 8 %}
load: {rw: randwrite, bs: 4k, iodepth: 32, size: 512m, io_size: 512m}
)");
  const Json cache = report_of(folder, scenario, "out")["statistics"]["firmware"]["cache"];
  CHECK(cache["evictions"]["value"] > 0);
  CHECK(cache["free_share"]["value"] < 0.22);
}

}  // namespace tlmssd::program_tests
