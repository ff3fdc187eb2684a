// What ledgers say of collection where it hardly takes any time.
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

const Json& writes_of(const Json& report) {
  return report["results"]["total"]["operations"]["write"];
}

double space_wait(const Json& ledger, const char* what) {
  return ledger.contains("space wait") ? ledger["space wait"][what].get<double>() : 0;
}

}  // namespace

// One write at a time waits for one die, on which erases are all that collection does, and stand
// behind rewrites of 16 pages.
TEST_CASE("writes to block-mapped flash wait for collection as long as its erases take", "[program]") {
  for (const double erase_us : {1.0, 2000.0}) {
    INFO("erase: " << erase_us << " us");
    const Json report = run_with({"ssd.flash.part.erase_latency=" + std::to_string(erase_us) + " us"}, R"(ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash: {channels: 1, ways: 1, over_provisioning: 40 %, bus: 800 MT/s, part: {planes: 1, blocks_per_plane: 64, pages_per_block: 16, page_size: 4 KiB, read_latency: [50 us], program_latency: [300 us], erase_latency: 2 ms}}
firmware: {mapping: {scheme: block-mapped}, buffer: {capacity: 128 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randwrite, bs: 4k, iodepth: 1, number_ios: 2000, io_size: 10g}
)");
    const Json& writes = writes_of(report);
    const double waited = space_wait(writes["ledger"], "mean_ns") * writes["commands"].get<double>() * 1e-3;
    const double erases = report["statistics"]["firmware"]["flash"]["erases"]["value"].get<double>();
    CHECK(erases > 500);
    CHECK(waited < erases * (erase_us + 1));
    CHECK(waited > 0.8 * erases * erase_us);
  }
}

// A command waits for hundreds of programs, of which the last one may have waited for an erase.
TEST_CASE("long waits for room are told by all that held the room", "[program][figure]") {
  for (const char* seed : {"1", "2", "3"}) {
    INFO("seed " << seed);
    const Json report = run_with({std::string("seed=") + seed}, R"(ssd:
  host: {link: pcie3x4, lba_size: 512 B, queue_depth: 4096}
  flash: {channels: 1, ways: 1, over_provisioning: 100 %, part: {planes: 1, blocks_per_plane: 32, pages_per_block: 8, page_size: 4 KiB, read_latency: [50 us], program_latency: [300 us], erase_latency: 1 us}}
firmware: {buffer: {capacity: 64 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randrw, bs: 512, iodepth: 4096, number_ios: 40000, io_size: 1g}
)");
    // All collection takes is half a millisecond.
    const Json& tail = writes_of(report)["percentiles"]["p99.9"];
    CHECK(tail["latency_ns"].get<double>() > 100e6);
    CHECK(space_wait(tail["ledger"], "share") < 0.02);
    CHECK(space_wait(writes_of(report)["ledger"], "share") < 0.003);
  }
}

}  // namespace tlmssd::program_tests
