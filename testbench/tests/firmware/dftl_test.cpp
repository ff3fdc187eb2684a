// DFTL: what is cached and for how long, what misses and evictions cost, and that nothing is lost
// on the way.
#include "firmware/mapping/dftl.h"

#include <algorithm>
#include <vector>

#include "firmware/mapping/map_pages.h"
#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "platform/unbound_hardware.h"
#include "testbench/tests/firmware/dftl_rig.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

/// Map pages that are all in flash, and read and written in no time.
class InstantPages final : public MapPages {
 public:
  [[nodiscard]] bool in_flash(Lpn /*page*/) const override { return true; }
  [[nodiscard]] bool stored(Lpn /*page*/) const override { return true; }
  Task<> read(Lpn /*page*/) override { co_return; }
  Task<bool> write(Lpn page) override {
    written.push_back(page);
    co_return true;
  }
  void pump() override {}
  void drop(Lpn /*page*/) override {}
  [[nodiscard]] Hardware& hardware() const override { return hardware_; }
  [[nodiscard]] bool read_only() const override { return false; }
  std::vector<Lpn> written;

 private:
  UnboundHardware unbound_;
  mutable Hardware hardware_ = unbound_.hardware();
};

}  // namespace

TEST_CASE("dftl: the line used longest ago goes") {
  DftlSetup setup(4);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(4);
  for (const std::uint64_t unit : {0, 1, 2, 3}) CHECK_FALSE(rig.hits(unit));
  CHECK(rig.hits(0));
  CHECK_FALSE(rig.hits(4));  // in place of 1
  for (const std::uint64_t unit : {0, 2, 3, 4}) CHECK(rig.hits(unit));
  CHECK_FALSE(rig.hits(1));  // in place of 0
  CHECK_FALSE(rig.hits(0));  // in place of 2
  CHECK(rig.hits(3));
  CHECK(rig.map().lookups == 13);
  CHECK(rig.map().misses == 7);
  CHECK(rig.map().clean_evictions == 7);
  CHECK(rig.map().dirty_evictions == 0);
  CHECK(rig.map_reads() == 7);
}

TEST_CASE("dftl: segmented LRU keeps what was used twice from what is used once") {
  DftlSetup setup(4, 1, true);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(4);
  for (const std::uint64_t unit : {0, 1}) CHECK_FALSE(rig.hits(unit));
  for (const std::uint64_t unit : {0, 1}) CHECK(rig.hits(unit));  // protected now
  for (std::uint64_t unit = 10; unit < 30; ++unit) CHECK_FALSE(rig.hits(unit));
  for (const std::uint64_t unit : {0, 1, 29, 28}) CHECK(rig.hits(unit));  // 0 and 1 give way to 29 and 28
  CHECK_FALSE(rig.hits(30));
  CHECK(rig.hits(1));
  CHECK_FALSE(rig.hits(0));
  CHECK(rig.hits(28));
}

TEST_CASE("dftl: a dirty line is written back with or without the others of its map page") {
  for (const bool batch : {false, true}) {
    INFO("batch update: " << batch);
    DftlSetup setup(4, 1, false, batch);
    DftlRig rig(setup);
    rig.fill();
    rig.rinse(4);
    for (const std::uint64_t unit : {0, 1, 2, 3}) rig.host.write(unit, 1);  // all in map page 0
    rig.host.drain();
    CHECK(rig.map().misses == 4);
    CHECK(rig.map_reads() == 4);
    CHECK(rig.map_units() == 0);
    rig.host.read(200, 1);  // map page 1, in place of unit 0
    rig.host.drain();
    CHECK(rig.map().dirty_evictions == 1);
    CHECK(rig.map().write_backs == 1);
    CHECK(rig.map().batched == (batch ? 3 : 0));
    CHECK(rig.map_reads() == 6);  // page 0 to be changed, page 1 for the entry
    CHECK(rig.map_units() == 1);
    for (const std::uint64_t unit : {201, 202, 203}) rig.host.read(unit, 1);
    rig.host.drain();
    CHECK(rig.map().dirty_evictions == (batch ? 1 : 4));
    CHECK(rig.map().clean_evictions == 4 + (batch ? 3 : 0));
    CHECK(rig.map_units() == rig.map().write_backs);
    CHECK(rig.map_reads() == (batch ? 9 : 12) - rig.map().shared_reads);
    rig.host.verify_all();
  }
}

TEST_CASE("dftl: a map page written for a late entry takes along its late ones, or all that are dirty") {
  for (const bool batch : {false, true}) {
    INFO("batch update: " << batch);
    const DftlSetup setup(4);
    const Layout layout(setup.shape, setup.config.allocation);
    Dftl map({.cache = 4 * Dftl::k_cached_bytes, .segmented_lru = false, .batch_update = batch}, layout);
    InstantPages pages;
    map.attach(pages);
    map.fetch(5, 1, nullptr).start();
    map.update(5, Ppn(0));                                           // dirty, and not late
    for (const Lpn late : {0, 1, 2, 128}) map.update(late, Ppn(0));  // the last one in map page 1
    map.fetch(6, 1, nullptr).start();  // room for it and for one too many: 0 and 1 go, one with the other
    CHECK(pages.written == std::vector<Lpn>{static_cast<Lpn>(layout.logical_units)});
    CHECK(map.statistics().late_entries == 4);
    CHECK(map.statistics().dirty_evictions == 1);
    CHECK(map.statistics().clean_evictions == 1);
    CHECK(map.statistics().write_backs == 1);
    CHECK(map.statistics().batched == (batch ? 3 : 2));  // 1, 2 and with batch update 5
    CHECK(test::statistics_of(map).at("dirty lines") == (batch ? 1 : 2));
  }
}

TEST_CASE("dftl: lines of a whole map page are written without reading") {
  DftlSetup setup(2, 0);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(2 * 128);
  rig.host.write(0, 1);
  rig.host.drain();
  const std::uint64_t reads = rig.map_reads();
  CHECK(reads == 1);
  rig.host.read(128, 1);
  rig.host.read(256, 1);
  rig.host.drain();
  CHECK(rig.map().dirty_evictions == 1);
  CHECK(rig.map_reads() == reads + 2);
  rig.host.verify_all();
}

TEST_CASE("dftl: misses cost a flash read, dirty evictions another, hits nothing") {
  DftlSetup setup(64);
  setup.options.timed = true;
  setup.config.buffer.flush_at = 0.5;  // so that the map page's program does not take the core meanwhile
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(64);
  const FakeOptions& o = setup.options;
  const Picoseconds page_read = o.stage_time + o.read_time;
  // Command, look-up, flash operation, completion; the entry; the data.
  const Picoseconds hit = 4 * o.stage_time + o.memory_time + o.read_time;
  CHECK(rig.lasts(1) == hit + page_read);
  CHECK(rig.lasts(1) == hit);
  for (std::uint64_t unit = 0; unit < 64; ++unit) rig.host.write(unit, 1);
  rig.host.drain();
  rig.hw.event_queue.run_until(k_never);
  CHECK(rig.lasts(1000) == hit + 2 * page_read);
  CHECK(rig.lasts(1000) == hit);

  // Uniform reads: everything is clean, h of them hit.
  rig.rinse(64);
  Picoseconds time = 0;
  constexpr std::uint64_t k_reads = 4000;
  for (std::uint64_t n = 0; n < k_reads; ++n) time += rig.lasts(rig.host.random.below(640));
  const DftlStatistics& s = rig.map();
  CHECK(s.dirty_evictions == 0);
  CHECK(time == static_cast<Picoseconds>(k_reads) * hit + static_cast<Picoseconds>(s.misses) * page_read);
  CHECK(1 - static_cast<double>(s.misses) / static_cast<double>(s.lookups) == Approx(0.1).margin(0.015));
}

TEST_CASE("dftl: sequential reads with lines of a whole map page miss once per page") {
  DftlSetup setup(2, 0);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(2 * 128);
  for (std::uint64_t unit = 0; unit < rig.blocks; ++unit) rig.host.read(unit, 1);
  CHECK(rig.map().misses == 20);
  CHECK(rig.map_reads() == 20);
  rig.ftl.reset_statistics();
  for (std::uint64_t unit = 0; unit < rig.blocks; unit += 64) rig.host.read(unit, 64);
  CHECK(rig.map().lookups == rig.blocks);
  CHECK(rig.map().line_lookups == (rig.blocks + 63) / 64);  // the lines have 128 entries
  CHECK(rig.map().misses == 20);
}

TEST_CASE("dftl: a command that needs more entries than fit reads each map page once") {
  DftlSetup setup(1);
  setup.options.timed = true;
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(1);
  rig.lasts(100, 64);
  CHECK(rig.map().misses == 64);
  CHECK(rig.map_reads() == 2);
  CHECK(rig.hits(163));  // the last one stays
  rig.host.verify_all();
}

TEST_CASE("dftl: commands that want the same map page at the same time read it once") {
  DftlSetup setup(8);
  setup.options.timed = true;
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(8);
  rig.host.read(5, 1);
  rig.host.read(5, 1);
  rig.host.read(7, 1);
  rig.host.wait_below(1);
  CHECK(rig.map_reads() == 1);
  CHECK(rig.map().shared_reads == 2);
  CHECK(rig.map().most_lines <= 8 + 1);  // until what comes in has put out what is clean
  CHECK(rig.hits(5));
  CHECK(rig.hits(7));
}

TEST_CASE("dftl: with room for the whole map a warm drive reads exactly as with the map in DRAM") {
  std::vector<Picoseconds> latencies[2];
  int which = 0;
  for (const char* scheme : {"page", "dftl"}) {
    DftlSetup setup(20 * 128);
    setup.config.mapping.scheme = scheme;
    setup.options.timed = true;
    DftlRig rig(setup);
    rig.fill();
    for (int n = 0; n < 3000; ++n) {
      latencies[which].push_back(rig.lasts(rig.host.random.below(rig.blocks - 8),
                                           1 + static_cast<std::uint32_t>(rig.host.random.below(8))));
    }
    for (int n = 0; n < 3000; ++n) {
      rig.host.read(rig.host.random.below(rig.blocks - 8), 8);
      rig.host.wait_below(16);
      latencies[which].push_back(rig.hw.event_queue.now());
    }
    rig.host.wait_below(1);
    CHECK(rig.map_reads() + rig.map_units() == 0);
    ++which;
  }
  // Both clocks started together but for what the second saved or lost while it was filled.
  for (int scheme = 0; scheme < 2; ++scheme) {
    for (std::size_t n = 5999; n > 3000; --n) latencies[scheme][n] -= latencies[scheme][n - 1];
    latencies[scheme][3000] = 0;
  }
  CHECK(latencies[0] == latencies[1]);
}

TEST_CASE("dftl: a trim forgets whole map pages without reading them") {
  DftlSetup setup(16);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(16);
  rig.host.trim({{64, 3 * 128}});  // half of page 0, pages 1 and 2, half of page 3
  rig.host.drain();
  CHECK(rig.map().void_pages == 2);
  CHECK(rig.map_reads() == 2);
  for (const std::uint64_t unit : {64, 200, 300, 447}) rig.host.read(unit, 1);
  CHECK(rig.ftl.statistics().unmapped_reads == 4);
  rig.host.verify_all();
  rig.ftl.reset_statistics();
  rig.host.trim({{0, rig.blocks}});
  rig.host.drain();
  CHECK(rig.map_reads() == 0);
  CHECK(rig.map().void_pages >= 18);
  rig.host.read(1, 1);
  CHECK(rig.map_reads() == 0);
  rig.fill();
  rig.host.verify_all();
}

TEST_CASE("dftl: DRAM for the cache and the directory, not for the map") {
  DftlSetup setup(64, 4);
  DftlRig rig(setup);
  const Bytes buffer = setup.config.buffer.capacity;
  const Bytes map = 64 * 4 * 8 + 20 * 4;
  CHECK(rig.ftl.map().dram_bytes() == map);
  CHECK(rig.ftl.dram_bytes() == (map + 63) / 64 * 64 + buffer);
}

TEST_CASE("dftl: a drive full to the last unit has room for its map") {
  for (const std::uint32_t page_bytes : {512U, 1536U, 4096U}) {
    DftlSetup setup(8);
    setup.shape.geometry.page_bytes = page_bytes;
    setup.shape.mapping_page_bytes = setup.config.mapping.unit = page_bytes;
    setup.config.buffer.capacity = Bytes{16} * page_bytes;
    const std::uint32_t sectors = page_bytes / 512;
    setup.shape.logical_blocks = Ftl::largest_logical_blocks(setup.shape, setup.config);
    const std::uint64_t units = setup.shape.logical_blocks / sectors;
    const std::uint64_t entries = page_bytes / 4;
    setup.config.mapping.scheme = "page";
    const std::uint64_t all = Ftl::largest_logical_blocks(setup.shape, setup.config) / sectors;
    setup.config.mapping.scheme = "dftl";
    CHECK(units + (units + entries - 1) / entries <= all);
    CHECK(units + 1 + (units + entries) / entries > all);
    REQUIRE_NOTHROW(DftlRig(setup));
    setup.shape.logical_blocks += sectors;
    REQUIRE_THROWS_WITH(DftlRig(setup), Catch::Contains("over_provisioning"));
  }
}

TEST_CASE("dftl: a map page that cannot be read back costs no data") {
  DftlSetup setup(4);
  setup.config.ecc.policy = "retry-only";
  setup.shape.logical_blocks = 3000;
  DftlRig rig(setup);
  rig.fill();
  rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::map; };
  for (int n = 0; n < 5000; ++n) {
    rig.host.anything(40);
    rig.host.wait_below(8);
  }
  rig.host.drain();
  rig.host.verify_all();
  CHECK(rig.ftl.statistics().map_pages_lost > 100);
  CHECK(rig.ftl.statistics().uncorrectable_units == 0);
}

TEST_CASE("dftl: nothing on flash is lost with the power") {
  DftlSetup setup(32);
  DftlRig rig(setup);
  rig.fill();
  for (int n = 0; n < 2000; ++n) rig.host.write(rig.host.random.below(rig.blocks), 1);
  rig.host.drain();
  for (const std::uint64_t unit : {0, 1, 2}) rig.host.read(unit, 1);
  rig.host.drain();
  rig.ftl.power_cycle();
  rig.ftl.reset_statistics();
  CHECK_FALSE(rig.hits(0));
  rig.host.verify_all();
  for (int n = 0; n < 2000; ++n) rig.host.write(rig.host.random.below(rig.blocks), 1);
  rig.host.verify_all();
}

namespace {

constexpr std::uint64_t k_lines = 64;

/// A drive that has been overwritten at random, whose collection has put entries into the cache
/// beyond its capacity, and that has had time since.
struct RestedRig : DftlRig {
  explicit RestedRig(DftlSetup& setup) : DftlRig(setup) {
    fill();
    for (int n = 0; n < 6000; ++n) {
      host.write(host.random.below(blocks), 1);
      host.wait_below(8);
    }
    host.flush();
    host.wait_below(1);
    while (!ftl.idle()) hw.event_queue.run_until(hw.event_queue.next());
    REQUIRE(lines() > k_lines);
  }
  [[nodiscard]] std::uint64_t lines() const {
    return static_cast<std::uint64_t>(test::statistics_of(ftl.map()).at("lines"));
  }
};

struct RestedSetup : DftlSetup {
  explicit RestedSetup(Picoseconds idle_after) : DftlSetup(k_lines) {
    config.gc.idle_after = idle_after;
    options.timed = true;
  }
};

}  // namespace

TEST_CASE("dftl: idle time writes out what is in the cache beyond its capacity") {
  RestedSetup setup(1'000'000'000'000);
  RestedRig rig(setup);
  rig.host.let_end();
  CHECK(rig.ftl.idle());
  CHECK(rig.lines() == k_lines);
  const std::uint64_t before = rig.map().write_backs;
  rig.lasts(0);
  CHECK(rig.map().write_backs <= before + 1);  // for its own line
  rig.host.verify_all();
}

TEST_CASE("dftl: without idle time the next command evicts down to the capacity") {
  RestedSetup setup(0);
  RestedRig rig(setup);
  const std::uint64_t lines = rig.lines();
  rig.host.let_end();
  CHECK(rig.lines() == lines);
  const std::uint64_t before = rig.map().write_backs;
  rig.lasts(0);
  CHECK(rig.map().write_backs > before + 1);
  CHECK(rig.lines() == k_lines);
}

TEST_CASE("dftl: a host that comes back while the map is written out finds everything") {
  RestedSetup setup(1'000'000'000'000);
  RestedRig rig(setup);
  const std::uint64_t before = rig.map().write_backs;
  while (rig.map().write_backs == before) rig.hw.event_queue.run_until(rig.hw.event_queue.next());
  CHECK_FALSE(rig.ftl.idle());
  for (int n = 0; n < 500; ++n) {
    rig.host.anything(40);
    rig.host.wait_below(16);
  }
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("dftl: a tiny cache and a tiny write buffer under a deep queue never hang") {
  for (std::uint64_t seed = 1; seed <= 12 * stress(); ++seed) {
    INFO("seed " << seed);
    DftlSetup setup(1 + static_cast<std::int64_t>(seed % 3), seed % 4 == 0 ? 32 : 1, seed % 2 == 1,
                    seed % 3 != 0);
    setup.shape.geometry = {2, 1, 1, 2, 20, 16, 2048, 0};
    setup.shape.program_unit = seed % 5 == 0 ? 2 : 1;
    setup.config.allocation.multi_plane = seed % 2 == 0;
    setup.config.buffer.capacity =
        Bytes{2} * 2048 * setup.shape.program_unit * (setup.config.allocation.multi_plane ? 2 : 1);
    setup.config.buffer.mode = seed % 4 == 1 ? "write-through" : "write-back";
    setup.shape.logical_blocks = Ftl::largest_logical_blocks(setup.shape, setup.config) * (seed % 3 + 8) / 10;
    setup.options.timed = true;
    setup.options.shuffle = true;
    setup.options.seed = seed;
    DftlRig rig(setup, seed);
    for (int n = 0; n < 3000; ++n) {
      rig.host.anything(40);
      rig.host.wait_below(64);
    }
    rig.host.drain();
    rig.host.verify_all();
    CHECK(rig.map_units() > 0);
    CHECK(rig.map().late_entries > 0);
  }
}

TEST_CASE("dftl: what cannot work is refused with the nearest valid value") {
  const auto complaint = [](std::int64_t lines, std::int64_t line, std::int64_t bytes) {
    DftlSetup setup(lines, line);
    if (bytes > 0) setup.values = Given({{"cache", whole(bytes)}, {"line", whole(line)}});
    try {
      DftlRig rig(setup);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using Catch::Contains;
  CHECK(complaint(4, 16, 0) == "accepted");
  CHECK_THAT(complaint(4, 48, 0), Contains("firmware.mapping.line") && Contains("nearest valid: 32"));
  CHECK_THAT(complaint(4, 16, 120), Contains("firmware.mapping.cache") && Contains("128 B"));
}

TEST_CASE("dftl: a snapshot with another cache is refused") {
  DftlSetup setup(4);
  DftlRig rig(setup);
  rig.fill();
  MemoryArchive saved;
  saved(rig.ftl);
  DftlSetup other(5);
  DftlRig larger(other);
  MemoryArchive load(saved.content());
  CHECK_THROWS_WITH(load(larger.ftl), Catch::Contains("4 lines of 1 map entries"));
}
