// Several loads in a run without simulated time: whose request comes next.
#include <string>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

const std::string k_untimed_drive = R"(title: untimed loads
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    ways: 1
    user_capacity: 128 MiB
    spare_factor: 20 %
    part: {planes: 2, pages_per_block: 32, page_size: 8 KiB}
firmware:
  mapping: {unit: 8 KiB}
  buffer: {capacity: 512 KiB}
  gc: {background_start: 0 %}
)";

double total_amplification(const Json& report) {
  return report["write_amplification"]["total"]["value"].get<double>();
}

/// The report of these entries of `load`, untimed.
Json report_untimed(const std::string& loads) {
  const Folder folder;
  return report_of(
      folder, folder.write("s.yaml", k_untimed_drive + "load:\n" + loads + "run: {timed: false}\n"), "out");
}

double writes(const Json& report) {
  return report["statistics"]["host"]["write"]["commands"]["value"].get<double>();
}

/// Write amplification is that of time, to 5 %, over three seeds.
void check_amplification(const Folder& folder, const std::string& scenario) {
  double timed = 0;
  double untimed = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string with = "seed=" + std::to_string(seed);
    timed += total_amplification(report_of(folder, scenario, "t", {"--set", with})) / 3;
    untimed +=
        total_amplification(report_of(folder, scenario, "u", {"--set", with, "--set", "run.timed=false"})) /
        3;
  }
  CHECK(timed > 1.5);
  CHECK(untimed == Approx(timed).epsilon(0.05));
}

}  // namespace

TEST_CASE("hot and cold loads have the write amplification of time without it, too", "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml",
      k_untimed_drive +
          "precondition: [{fill: 100 %, order: sequential}]\n"
          "load:\n"
          "  - {name: hot, rw: randwrite, bs: 8k, iodepth: 9, size: 20%, io_size: 1152m}\n"
          "  - {name: cold, rw: randwrite, bs: 8k, iodepth: 1, offset: 20%, size: 80%, io_size: 128m}\n");
  check_amplification(folder, scenario);
}

// Three writes of the one for each of the other, on two parallel units: in step, all that is cold
// would lie in one.
TEST_CASE("even rates have the write amplification of time without it, too", "[program][figure]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, spare_factor: 20 %, part: {planes: 1, blocks_per_plane: 256, pages_per_block: 64, page_size: 4 KiB, program_latency: [200 us]}}
firmware: {buffer: {capacity: 64 KiB}, gc: {background_start: 0 %}}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 3x}]
load:
  - {name: hot, rw: randwrite, bs: 4k, size: 20%, io_size: 100g, number_ios: 150000, rate_iops: 1200, iodepth: 8, ramp_requests: 75000}
  - {name: cold, rw: randwrite, bs: 4k, offset: 20%, io_size: 100g, number_ios: 50000, rate_iops: 400, iodepth: 8, ramp_requests: 25000}
)");
  check_amplification(folder, scenario);
}

TEST_CASE("untimed, loads come as often as their queue depths say", "[program]") {
  // The ramp ends with the deep load's: by then the other has had a ninth of its turns.
  const Json report = report_untimed(
      "  - {name: deep, rw: randwrite, bs: 8k, iodepth: 9, number_ios: 18000, ramp_requests: 9000, "
      "norandommap: true, loops: 10}\n"
      "  - {name: flat, rw: randwrite, bs: 8k, number_ios: 3000, norandommap: true, loops: 10}\n");
  // Some 10,000 draws with a tenth each: 1000, six deviations of 30.
  CHECK(writes(report) == Approx(9000 + 3000 - 1000).margin(180));
  std::uint64_t blocks = 0;
  for (const Json& one : report["blocks"]["by_erases"]) blocks += one[1].get<std::uint64_t>();
  CHECK(blocks > 0);
}

TEST_CASE("untimed, requests that have times keep to them among loads", "[program]") {
  // The fast one has asked for four fifths of all when its ramp ends.
  const Json report = report_untimed(
      "  - {name: fast, rw: randwrite, bs: 8k, rate_iops: 4000, number_ios: 8000, ramp_requests: 4000}\n"
      "  - {name: slow, rw: randwrite, bs: 8k, rate_iops: 1000, number_ios: 2000}\n");
  CHECK(writes(report) == Approx(4000 + 1000).margin(1));
}

TEST_CASE("untimed, a load behind a stonewall waits for those before it", "[program]") {
  // What is read had been written by then.
  const Json report = report_untimed(
      "  - {name: writes, rw: write, bs: 8k, number_ios: 4000}\n"
      "  - {name: reads, rw: read, bs: 8k, number_ios: 4000, stonewall: true}\n");
  CHECK(report["statistics"]["firmware"]["unmapped_reads"]["value"] == 0);
}

TEST_CASE("an untimed run counts what its loads did behind their ramps, and has no rates", "[program]") {
  const Folder folder;
  const Json report = report_untimed(
      "  - {name: a, rw: randwrite, bs: 8k, number_ios: 3000, ramp_requests: 1000, end_fsync: 1}\n"
      "  - {name: b, rw: read, bs: 64k, number_ios: 500}\n");
  const Json& results = report["results"];
  const Json& write = results["loads"][0]["operations"]["write"];
  CHECK(write["commands"] == 2000);
  CHECK(write["bytes"] == 2000 * 8192);
  CHECK(write["errors"].empty());
  CHECK(results["loads"][0]["operations"]["flush"]["commands"] == 1);
  CHECK(results["total"]["commands"] ==
        results["loads"][0]["commands"].get<int>() + results["loads"][1]["commands"].get<int>());
  CHECK(writes(report) == 2000);
  for (const Json& part : {results["total"], results["loads"][1], write}) {
    CHECK(part["iops"].is_null());
    CHECK(part["bandwidth"]["value"].is_null());
  }
  CHECK_FALSE(write.contains("latency"));
}

TEST_CASE("fio.json, summary and page of an untimed run show its counts", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", k_untimed_drive + "load: {rw: randwrite, bs: 8k, number_ios: 3000}\nrun: {timed: false}\n");
  const Outcome outcome = run_ok(folder, {"run", scenario, "-o", folder / "out"});
  CHECK_THAT(outcome.out, Catch::Contains("Commands            write 3.00 k (23.4 MiB)"));
  const Json fio = Json::parse(read_file(folder.path() / "out" / "fio.json"));
  CHECK(fio["jobs"][0]["write"]["total_ios"] == 3000);
  CHECK(fio["jobs"][0]["write"]["io_bytes"] == 3000 * 8192);
  CHECK(fio["jobs"][0]["write"]["iops"] == 0);
  CHECK_THAT(read_file(folder.path() / "out" / "report.html"), Catch::Contains("<td>3000</td><td>-</td>"));
}

}  // namespace tlmssd::program_tests
