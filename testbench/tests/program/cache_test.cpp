// Caches in the drive together with what lies below them: data paths of a pSLC, block-mapped flash,
// log blocks; and what reads bring in.
#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

Json statistics_with(const std::string& text, const std::vector<std::string>& settings = {}) {
  const Folder folder;
  return report_of(folder, folder.write("s.yaml", text), "out", set_options(settings))["statistics"];
}

double in_firmware(const Json& statistics, const char* group, const char* name) {
  return statistics["firmware"][group][name]["value"].get<double>();
}

const std::string k_over_pslc = R"(title: a pSLC behind a cache
ssd:
  dram: {capacity: 256 MiB}
  flash: {channels: 1, ways: 1, user_capacity: 2 GB, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  buffer: {capacity: 4 MiB}
  cache: {policy: lru, medium: dram, capacity: 4 MiB}
  pslc: {policy: cold-bypass, static: 1 %, dynamic: 5 %, cold_from: 50 %, cold_until: 100 %}
load: {rw: write, bs: 128k, iodepth: 8, offset: 50%, number_ios: 200}
)";

/// A hybrid drive whose regions are written anew as a whole.
const std::string k_over_regions = R"(title: block-mapped flash behind a cache
ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 16 MiB}
  flash: {channels: 2, ways: 2, part: {file: parts/nand/2d-fg-mlc.yaml, blocks_per_plane: 64, pages_per_block: 64}}
firmware:
  mapping: {scheme: block-mapped, unit: 16 KiB}
  cache: {policy: nv-wb, grain: 4 KiB}
load: {rw: randwrite, bs: 16k, size: 64m, io_size: 1g, rate_iops: 20, iodepth: 8, number_ios: 4000}
)";

/// Blocks of units are written, then all of the units is read.
const std::string k_parts_here = R"(title: units that are here in part
ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 16 MiB}
  flash: {channels: 2, ways: 1, user_capacity: 128 MiB, part: {planes: 1, page_size: 16 KiB, pages_per_block: 64}}
firmware:
  mapping: {unit: 16 KiB}
  cache: {policy: write-only, grain: 4 KiB}
precondition: [{fill: 100 %}]
load:
  - {name: parts, rw: randwrite, bs: 4k, size: 2m, number_ios: 200, norandommap: true}
  - {name: all, stonewall: true, rw: read, bs: 16k, size: 2m, loops: 1}
)";

/// A tenth of the written data fits into the SCM; who writes them prefers some.
const std::string k_hot_data = R"(title: a cache and what was hot before
ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 12 MiB}
  flash: {channels: 4, ways: 1, user_capacity: 128 MiB, part: {planes: 1, cell: slc, page_size: 4 KiB, pages_per_block: 96}}
firmware:
  cache: {policy: write-only, evict_below_free: 0 %, grain: 0 B}
precondition:
  - {fill: 100 %}
  - {overwrite: 3x, random_distribution: "zipf:1.1"}
run: {timed: false}
load: {rw: randwrite, bs: 4k, number_ios: 4000, random_distribution: "zipf:1.1"}
)";

}  // namespace

TEST_CASE("a cache is warm for loads of the hot set that was written before them", "[program]") {
  const auto hits = [](const char* before, const char* load) {
    return in_firmware(statistics_with(k_hot_data, {std::string("precondition.1.hot_set=") + before,
                                                    std::string("load.hot_set=") + load}),
                       "cache", "write_hit_share");
  };
  const double same = hits("3", "3");
  CHECK(same > 0.8);
  for (const char* const other : {"0", "4"}) CHECK(hits(other, "3") < same - 0.08);
  CHECK(hits("0", "0") < same - 0.08);
}

TEST_CASE("what leaves a cache goes where the pSLC's data path has it", "[program]") {
  const auto share = [](const std::vector<std::string>& settings) {
    return in_firmware(statistics_with(k_over_pslc, settings), "pslc", "share_to_slc");
  };
  CHECK(share({}) == 0);
  CHECK(share({"load.offset=0%"}) == 1);
  CHECK(share({"firmware.cache.policy=none"}) == 0);
  // The size is that of the command that wrote the line, whatever is evicted together.
  CHECK(share({"firmware.pslc={policy: pin-small, small: 64 KiB, static: 1 %, dynamic: 5 %}"}) == 0);
  CHECK(share({"firmware.pslc={policy: pin-small, small: 128 KiB, static: 1 %, dynamic: 5 %}"}) == 1);
}

TEST_CASE("a cache before programs that take a part of what waits keeps what room does not need",
          "[program]") {
  const auto free_share = [](const std::vector<std::string>& settings) {
    return in_firmware(statistics_with(k_over_regions, settings), "cache", "free_share");
  };
  // What has left waits in the write buffer for a region's worth of it: 64 of 1024 units.
  CHECK(free_share({}) == Approx(0.2 - 1.0 / 16).margin(0.01));
  for (const std::string scheme : {"bast", "fast", "superblock"}) {
    INFO(scheme);
    CHECK(free_share({"firmware.mapping={scheme: " + scheme + ", unit: 4 KiB}", "load.bs=4k",
                      "firmware.allocation.multi_plane=true"}) == Approx(0.2).margin(0.01));
  }
}

TEST_CASE("a cache that waits for room before block-mapped flash gets it", "[program]") {
  const Json statistics = statistics_with(k_over_regions, {"firmware.cache.policy=lru"});
  CHECK(in_firmware(statistics, "cache", "waits_for_room") > 0);
  CHECK(in_firmware(statistics, "cache", "free_share") < 0.1);
}

TEST_CASE("reads are copied in as the policy has it where a part of the unit is here", "[program]") {
  const auto copies = [](const std::string& policy, const std::string& loops) {
    const Json statistics =
        statistics_with(k_parts_here, {"firmware.cache.policy=" + policy, "load.1.loops=" + loops});
    CHECK(in_firmware(statistics, "cache", "read_partial_hits") > 0);
    return in_firmware(statistics, "cache", "copies_in");
  };
  CHECK(copies("write-only", "3") == 0);
  CHECK(copies("scm-storage", "3") == 0);
  CHECK(copies("read-write", "1") == 0);
  CHECK(copies("read-write", "2") > 0);
  CHECK(copies("nv-wb", "1") > 0);
}

TEST_CASE("a wait for room in the cache is told apart from one for the write buffer", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 64 MiB}
  flash: {channels: 2, ways: 1, user_capacity: 256 MiB, over_provisioning: 20 %, part: {planes: 1, pages_per_block: 64, page_size: 4 KiB, endurance: 0}}
firmware: {mapping: {unit: 4 KiB}, cache: {policy: lru, copy_waits: true}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 4k, iodepth: 1, number_ios: 90000, warm_up: 65000, loops: 8, random_distribution: "zipf:0.9"}
)");
  const Json report = report_of(folder, scenario, "out");
  const Json& ledger = report["results"]["total"]["operations"]["read"]["ledger"];
  CHECK(ledger.contains("cache wait"));
  CHECK_FALSE(ledger.contains("buffer wait"));
  CHECK_THAT(told(report, "p99.9 of read", "look_at"), Catch::Contains("firmware.cache.copy_waits") &&
                                                           Catch::Contains("ssd.scm.capacity") &&
                                                           !Catch::Contains("firmware.buffer"));
}

TEST_CASE("the summary tells clean lines that the cache gave up", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", R"(ssd:
  host: {lba_size: 4 KiB}
  scm: {capacity: 4 MiB}
  flash: {channels: 2, ways: 1, user_capacity: 128 MiB, part: {planes: 1, pages_per_block: 64}}
firmware: {cache: {policy: lru, copy_waits: true}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 4k, number_ios: 5000}
)");
  const Outcome outcome = run_ok(folder, {"run", scenario, "-o", folder / "out"});
  const Json report = Json::parse(read_file(folder.path() / "out" / "report.json"));
  const Json& cache = report["statistics"]["firmware"]["cache"];
  REQUIRE(cache["dropped_clean"]["value"].get<double>() > 1000);
  CHECK_THAT(outcome.out, Catch::Contains(" clean units given up"));
}

}  // namespace tlmssd::program_tests
