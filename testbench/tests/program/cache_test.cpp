// Caches in the drive together with what lies below them: data paths of a pSLC, block-mapped flash,
// log blocks; and what reads bring in.
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

}  // namespace

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

}  // namespace tlmssd::program_tests
