// Published timings of the array, through the whole program, against their closed forms.
#include <cmath>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// report.json of one of the example scenarios.
Json example_report(const std::string& example, const std::vector<std::string>& settings) {
  const Folder folder;
  return report_of(folder, TLMSSD_SOURCE_DIR "/scenarios/examples/" + example, "out", set_options(settings));
}

/// Latency of reads on average, ns.
double mean_read(const Json& report) {
  return report.at("results").at("total").at("operations").at("read").at("latency").at("mean").get<double>();
}

}  // namespace

// A die that programs without a pause: what two runs differ in is what their programs differ in.
TEST_CASE("programs by layer take a whole block's time in all, and 39/47 of it in its first half",
          "[program]") {
  const auto time_of = [](const char* table, std::uint64_t blocks_by_halves) {
    const std::uint64_t half = 2ULL * 288 * 16'384;  // both planes
    const Json report =
        example_report("layer_variation.yaml", {"firmware.buffer.mode=write-through",
                                                "load.io_size=" + std::to_string(half * blocks_by_halves),
                                                std::string("ssd.flash.part.program_table=") + table});
    CHECK(report.at("statistics").at("flash").at("nand_die_0").at("programs").at("value") ==
          576 * blocks_by_halves);
    return report.at("measured_picoseconds").get<std::int64_t>();
  };
  constexpr const char* k_by_layer =
      R"(["layer, factor", "0, 0.6666666666666667", "47, 1.3333333333333333"])";
  constexpr const char* k_flat = R"(["layer, factor", "0, 1", "47, 1"])";
  for (const std::uint64_t blocks : {1, 3})
    CHECK(time_of(k_by_layer, 2 * blocks) == time_of(k_flat, 2 * blocks));
  // Layers 0 to 23 of 0 to 47: a mean of 2/3 + 2/3 x 11.5/47 = 39/47. Each time is rounded once.
  const double less = 576 * 700e6 * 8 / 47;
  CHECK(std::abs(static_cast<double>(time_of(k_flat, 1) - time_of(k_by_layer, 1)) - less) <= 576);
}

TEST_CASE("a multi-plane operation takes its slowest plane's time, also where only its number tells",
          "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("planes.yaml", R"(title: planes
ssd:
  flash: {channels: 1, ways: 1, part: {timing: formula, planes: 2, pages_per_block: 16, page_size: 4 KiB, read_latency: [50 us]}}
precondition: {fill: 50 %, order: sequential}
load: {rw: read, bs: 8k, number_ios: 50}
)");
  const auto mean_of = [&](const char* name, const std::string& read) {
    const Json report = report_of(folder, scenario, name, {"--set", "ssd.flash.part.read=" + read});
    CHECK(report.at("statistics").at("flash").at("read").at("by_planes").at("planes_2").at("value") == 50);
    return mean_read(report);
  };
  const double all = mean_of("all", "base + 100us");
  CHECK(mean_of("second", "base + 100us*plane") == all);
  CHECK(mean_of("first", "base + 100us*(1 - plane)") == all);
  CHECK(mean_of("none", "base") == Approx(all - 100e3).margin(1));
}

// tR by page type 77, 116, 77 us (90 us on average), tDMA 16 us and tECC 20 us are those of the
// study; how many steps there are is calibrated (see the sheet), what they cost is not.
TEST_CASE("a read of worn data takes (1 + retries)(tR + tDMA + tECC), as the study of 160 chips says",
          "[program]") {
  const std::vector<std::string> study = {"ssd.flash.bus=1024 MHz",
                                          "ssd.flash.ecc.bch.throughput=819.2 MB/s"};
  struct Row {
    const char* cycles;
    const char* retention;
    double published;  ///< mean number of steps
  };
  std::vector<std::string> fresh = study;
  fresh.insert(fresh.end(), {"age.cycles=0", "age.retention=0 s"});
  const double without = mean_read(example_report("read_retry.yaml", fresh));
  for (const Row& row : {Row{"1000", "90 d", 8.0}, Row{"2000", "365 d", 19.9}}) {
    INFO(row.cycles << " cycles, " << row.retention);
    std::vector<std::string> worn = study;
    worn.insert(worn.end(),
                {std::string("age.cycles=") + row.cycles, std::string("age.retention=") + row.retention});
    const double steps =
        (mean_read(example_report("read_retry.yaml", worn)) - without) / (90'000 + 16'000 + 20'000);
    CHECK(steps == Approx(row.published).epsilon(0.03));
  }
}

}  // namespace tlmssd::program_tests
