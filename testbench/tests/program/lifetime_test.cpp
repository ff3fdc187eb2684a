// Lifetime, write amplification by mode, the cliff of a pSLC and errors by mode, as users of the
// program meet them: in report.json, the summary and targets.
#include <regex>

#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

/// A drive with pSLC that is overwritten in order: 32 MiB in SLC mode.
const std::string k_overwritten_pslc = R"(
seed: 3
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    {channels: 2, ways: 1, over_provisioning: 40 %,
     part: {cell: qlc, planes: 2, blocks_per_plane: 80, pages_per_block: 128, page_size: 16 KiB, program_unit: word-line,
       read_latency: [100 us], program_latency: [2 ms], erase_latency: 10 ms, endurance: 1000,
       slc_read_latency: 28 us, slc_program_latency: 200 us, slc_erase_latency: 5 ms, slc_endurance: 20000}}
firmware:
  allocation: {multi_plane: true}
  buffer: {capacity: 2 MiB}
  gc: {idle_after: 1 s}
  pslc: {policy: all, static: 32 MiB, fold_below: 0 %}
precondition: [{fill: 100 %, order: sequential, idle: true}]
load: {name: writer, rw: write, bs: 128k, iodepth: 8, size: 100 %, io_size: 1200m}
)";

double figure(const Json& group, const char* name) {
  INFO(name);
  REQUIRE(group[name]["value"].is_number());
  return group[name]["value"].get<double>();
}

}  // namespace

TEST_CASE("lifetime and cliff are in report and summary, and targets ask for them", "[program]") {
  const Folder folder;
  const std::string targets = R"(
targets:
  - {metric: lifetime.written, at_least: 1 GB, at_most: 1 TB}
  - {metric: lifetime.written, at_least: 10000 TB}
  - {metric: lifetime.written_first_block, at_least: 1 GB}
  - {metric: lifetime.drive_writes, at_least: 100}
  - {metric: lifetime.drive_writes_per_day, at_least: 0.1, at_most: 1}
  - {metric: write_amplification.by_mode.slc, at_most: 1.1}
  - {metric: write_amplification.by_mode.native, at_least: 0.9}
  - {metric: cliff.written, at_least: 20 MB, at_most: 40 MB}
  - {metric: cliff.time, at_most: 1 h}
  - {metric: cliff.time, at_least: 1 h}
  - {metric: cliff.folding_written, at_least: 20 MB, at_most: 40 MB}
  - {metric: cliff.folding_time, at_most: 1 s}
)";
  const Outcome outcome =
      run_ok(folder, {"run", folder.write("s.yaml", k_overwritten_pslc + targets), "-o", folder / "out"});
  const Json report = Json::parse(read_file(folder.path() / "out/report.json"));
  CHECK(report["lifetime"] == report["statistics"]["lifetime"]);
  for (const auto& [name, figure] : report["statistics"]["firmware"]["pslc"]["cliff"].items()) {
    CHECK(report["cliff"][name] == figure);
    if (name != "doc") CHECK(report["cliff"][name + "_at_least"]["value"] == figure["value"]);
  }
  // The third has no value: no block has ten cycles.
  const std::vector<bool> met = {true, false, false, true, true, true, true, true, true, false, true, true};
  REQUIRE(report["targets"].size() == met.size());
  for (std::size_t i = 0; i < met.size(); ++i) {
    INFO(report["targets"][i].dump());
    CHECK(report["targets"][i]["met"] == met[i]);
  }
  CHECK(report["targets"][0]["value"] == report["lifetime"]["written"]["value"]);
  CHECK(report["targets"][0]["unit"] == "B");
  CHECK(report["targets"][1]["text"].get<std::string>().find(", at least 10.0 PB") != std::string::npos);
  CHECK(report["targets"][4]["value"] == report["lifetime"]["drive_writes_per_day"]["value"]);
  CHECK(report["targets"][7]["value"] == report["cliff"]["written"]["value"]);
  CHECK(report["targets"][8]["value"].get<double>() == Approx(figure(report["cliff"], "time") * 1e9));
  CHECK(report["targets"][8]["unit"] == "ns");
  CHECK(outcome.out.find("Lifetime            ") != std::string::npos);
  CHECK(outcome.out.find(" a day for five years") != std::string::npos);
  CHECK(outcome.out.find("full after 33.") != std::string::npos);
  CHECK(read_file(folder.path() / "out/report.html").find("drive writes per day") != std::string::npos);
}

TEST_CASE("the summary says when the first block is worn out where wear is uneven", "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_sound);
  const auto line = [&](const std::string& distribution) {
    const Outcome outcome =
        run_ok(folder, {"run", scenario, "-o", folder / "out", "--force", "--set", "load.rw=randwrite",
                        "--set", "ssd.flash.part.endurance=3000", "--set",
                        "load.random_distribution=" + distribution, "--set", "load.number_ios=400000"});
    const std::size_t at = outcome.out.find("Lifetime            ");
    REQUIRE(at != std::string::npos);
    return outcome.out.substr(at, outcome.out.find("Utilisation", at) - at);
  };
  const std::string uneven = line("zoned:95/10:5/90");
  const Json report = Json::parse(read_file(folder.path() / "out/report.json"));
  REQUIRE(figure(report["lifetime"], "evenness") < 0.5);
  std::smatch told;
  REQUIRE(std::regex_search(uneven, told, std::regex("first block worn out after\\s+([0-9.]+) GB")));
  CHECK(std::stod(told[1]) * 1e9 == Approx(figure(report["lifetime"], "written_first_block")).epsilon(0.01));
  CHECK(line("random").find("first block") == std::string::npos);
}

TEST_CASE("what did not happen, or cannot, has no value", "[program]") {
  const Folder folder;
  const auto set = [&](const std::vector<std::string>& values) {
    std::vector<std::string> arguments;
    for (const std::string& one : values) arguments.insert(arguments.end(), {"--set", one});
    return arguments;
  };
  const std::string scenario = folder.write(
      "s.yaml",
      k_overwritten_pslc +
          "targets: [{metric: cliff.written, at_least: 15 MB}, {metric: cliff.written, at_least: 1 GB}, "
          "{metric: cliff.written, at_most: 1 GB}]\n");
  const Json little = report_of(folder, scenario, "little", set({"load.io_size=20m"}));
  CHECK(little["cliff"]["written"]["value"].is_null());
  CHECK(little["cliff"]["time"]["value"].is_null());
  CHECK(little["cliff"]["folding_written"]["value"].is_null());
  // A bound: what was written, and the time that passed.
  CHECK(figure(little["cliff"], "written_at_least") == 20 << 20);
  CHECK(figure(little["cliff"], "time_at_least") == little["measured_time"]["value"].get<double>());
  CHECK(little["targets"][0]["value"].is_null());
  CHECK(little["targets"][0]["met"] == true);
  CHECK(little["targets"][0]["text"] == "cliff.written not reached in 21.0 MB, at least 15.0 MB");
  CHECK(little["targets"][1]["met"] == false);
  CHECK(little["targets"][2]["met"] == false);
  const Json untimed = report_of(folder, scenario, "untimed", set({"run.timed=false"}));
  CHECK(figure(untimed["cliff"], "written") == Approx(32 << 20).epsilon(0.05));
  CHECK(untimed["cliff"]["time"]["value"].is_null());
  CHECK(figure(untimed["lifetime"], "written") > 0);
  const Json reads = report_of(folder, scenario, "reads", set({"load.rw=read"}));
  CHECK(reads["lifetime"]["written"]["value"].is_null());
  const Json native = report_of(folder, folder.write("p.yaml", k_overwritten_pslc), "native",
                                set({"firmware.pslc={policy: none}"}));
  CHECK_FALSE(native.contains("cliff"));
  CHECK_FALSE(native["write_amplification"].contains("by_mode"));
  CHECK_FALSE(native["lifetime"].contains("wear_in_slc_mode"));
  // A run without simulated time does not know when.
  const std::string when = folder.write(
      "w.yaml", k_overwritten_pslc + "run: {timed: false}\ntargets: [{metric: cliff.time, at_most: 1 s}]\n");
  const Outcome refused = run(folder, {"check", when});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("targets.0.metric: ") != std::string::npos);
  const std::string near =
      folder.write("n.yaml", k_overwritten_pslc + "targets: [{metric: lifetime.writen, at_least: 1 TB}]\n");
  CHECK(run(folder, {"check", near}).err.find("nearest valid: lifetime.written") != std::string::npos);
}

TEST_CASE("errors of what is read in SLC mode and of native blocks are told apart", "[program]") {
  const Folder folder;
  // The part of the drive that was written last lies in SLC mode, the rest has been folded.
  const std::string scenario =
      folder.write("s.yaml", replaced(replaced(k_overwritten_pslc, "load: {name: writer, rw: write",
                                               "load: {name: reader, rw: read"),
                                      "idle: true", "idle: false"));
  const std::vector<std::string> errors = {"--set",
                                           "ssd.flash.reliability={model: power-law, base: 0.002, "
                                           "block_variation: 0, page_variation: 0, slc_error_share: 25 %}",
                                           "--set",
                                           "firmware.ecc={policy: fixed, code: bch}",
                                           "--set",
                                           "run.errors=accept"};
  const Json decoders =
      report_of(folder, scenario, "out", errors)["statistics"]["flash"]["controller"]["decoders"];
  INFO(decoders.dump());
  const double slc = figure(decoders, "raw_bit_error_rate_slc");
  const double native = figure(decoders, "raw_bit_error_rate_native");
  CHECK(slc == Approx(native / 4).epsilon(0.05));
  CHECK(figure(decoders, "raw_bit_error_rate") < native);
  CHECK(figure(decoders, "raw_bit_error_rate") > slc);
  std::vector<std::string> without = errors;
  without.insert(without.end(), {"--set", "firmware.pslc={policy: none}"});
  const Json plain =
      report_of(folder, scenario, "plain", without)["statistics"]["flash"]["controller"]["decoders"];
  CHECK_FALSE(plain.contains("raw_bit_error_rate_slc"));
  CHECK(figure(plain, "raw_bit_error_rate") == Approx(native).epsilon(0.05));
}

TEST_CASE("the raw bit error rate is that at the default read voltages, whatever retries meet", "[program]") {
  // 0.008 of all bits: 72 of a frame's 9032 on average where 60 can be corrected. Each step up the
  // levels adds to it, so that no retry helps; four frames in a hundred can be read.
  const Json report =
      run_with({"run.errors=accept"},
               drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                                   "planes: 1, page_size: 16 KiB, spare_size: 1680 B") +
                              ", reliability: {model: power-law, base: 0.008, distribution: binomial, "
                              "block_variation: 0, page_variation: 0, retry_step_errors: 0.001}",
                          "firmware: {ecc: {policy: retry-only, code: bch}}\n" + k_fill +
                              "load: {rw: randread, bs: 16k, iodepth: 16, number_ios: 200}\n"));
  const Json& statistics = report["statistics"];
  const Json& decoders = statistics["flash"]["controller"]["decoders"];
  REQUIRE(figure(statistics["firmware"]["error_correction"], "retries") > 1000);
  // 200 reads of 16 frames: 2 per mil is one standard error.
  CHECK(figure(decoders, "raw_bit_error_rate") == Approx(0.008).epsilon(0.01));
  CHECK(figure(decoders, "bit_error_rate_of_all_attempts") > 0.1);
}

TEST_CASE("targets may ask for errors and for erases, and what is no figure has one line", "[program]") {
  const Folder folder;
  const std::string drive =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB",
                          "planes: 1, page_size: 16 KiB, spare_size: 1680 B") +
                     ", reliability: {model: power-law, base: 0.004, disturb: 0}",
                 "firmware: {ecc: {policy: fixed, code: bch}}\nrun: {errors: accept}\n" + k_fill +
                     "load: {rw: randread, bs: 16k, iodepth: 16, number_ios: 2000}\n");
  const Json report = run_with({}, drive +
                                       "targets:\n  - {metric: uber, at_most: 1e-15}\n"
                                       "  - {metric: reads_lost, at_most: 0}\n"
                                       "  - {metric: host_units_lost, at_least: 1}\n"
                                       "  - {metric: erases.max, at_most: 3}\n");
  const Json& errors = report["statistics"]["firmware"]["error_correction"];
  REQUIRE(figure(errors, "reads_lost") > 0);
  REQUIRE(report["targets"].size() == 4);
  INFO(report["targets"].dump());
  CHECK(report["targets"][0]["value"] == figure(errors, "uber"));
  CHECK(report["targets"][1]["value"] == figure(errors, "reads_lost"));
  CHECK(report["targets"][2]["value"] == figure(errors, "host_units_lost"));
  const std::vector<bool> met = {false, false, true, true};
  for (std::size_t i = 0; i < met.size(); ++i) CHECK(report["targets"][i]["met"] == met[i]);
  const std::string said =
      run(folder, {"run", folder.write("s.yaml", drive + "targets: [{metric: wear_of_all, at_most: 1}]\n"),
                   "-o", folder / "out"})
          .err;
  CHECK_THAT(said, Catch::Contains("'wear_of_all' is no figure of a load"));
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}

}  // namespace tlmssd::program_tests
