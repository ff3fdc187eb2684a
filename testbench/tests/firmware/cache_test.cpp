// The cache keeps what it is given: under any policy and shape, when the power fails, across
// snapshots and at the end of life.
#include "firmware/cache/lru_policy.h"
#include "testbench/tests/firmware/cache_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

void run_cache(const CacheCase& c, bool timed, std::uint32_t commands, std::uint64_t seed) {
  commands *= stress();
  seed += 10'000 * (stress() - 1);
  INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
  FakeOptions options;
  options.timed = options.shuffle = timed;
  options.seed = seed;
  CacheRig rig(c, options, seed);
  const auto longest =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(rig.shape.logical_blocks, 6 * c.unit / c.lba + 7));
  for (std::uint32_t n = 0; n < commands; ++n) {
    rig.host.anything(longest);
    rig.host.wait_below(timed ? 16 : 1);
  }
  rig.host.drain();
  check_conservation(rig);
  REQUIRE(rig.cache().statistics().evictions + rig.cache().statistics().around > 0);
  rig.host.verify_all();
  rig.host.drain();
  check_conservation(rig);
  CHECK(rig.hw.memory.highest <= rig.ftl.dram_bytes());
  CHECK(rig.hw.memory.scm_highest <= rig.shape.scm_bytes);
  CHECK((rig.hw.memory.scm_highest > 0) == (c.medium == "scm"));
}

/// Takes in writes to even units; the others go past.
class EvenUnits final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "even-units";
  static constexpr std::string_view k_summary = "takes in even units";
  using Config = NoParameters;
  EvenUnits(const Config& /*config*/, const CacheContext& context) : LruPolicy(context, {}) {}
  bool admits_write(Lpn unit) override { return unit % 2 == 0; }
  bool admits_read(Lpn /*unit*/) override { return false; }
};

/// How long a flush takes.
Picoseconds flush_time(CacheRig& rig) {
  const Picoseconds from = rig.hw.event_queue.now();
  rig.host.flush();
  rig.host.wait_below(1);
  return rig.hw.event_queue.now() - from;
}

/// Writes units of the cache until programs of what it evicts have just begun.
void evict(CacheRig& rig) {
  const std::uint32_t blocks = rig.shape.mapping_page_bytes / rig.shape.lba_bytes;
  const std::uint64_t evictions = rig.cache().statistics().evictions;
  for (std::uint64_t unit = 0; rig.cache().statistics().evictions < evictions + 4; unit += 2) {
    REQUIRE((unit + 1) * blocks < rig.shape.logical_blocks);
    rig.host.write(unit * blocks, blocks);
    rig.host.wait_below(1);
  }
  rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 2'000'000);
}

/// Copies in what is read, and lets all writes past.
class ReadsOnly final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "reads-only";
  static constexpr std::string_view k_summary = "takes in what is read";
  using Config = NoParameters;
  ReadsOnly(const Config& /*config*/, const CacheContext& context) : LruPolicy(context, {}) {}
  bool admits_write(Lpn /*unit*/) override { return false; }
};

}  // namespace

TEST_CASE("what is read while a write on its way past the cache waits does not hide what that writes") {
  cache_family().add<ReadsOnly>("acme 1.0");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CacheCase c;
    c.policy = "reads-only";
    c.medium = seed % 2 == 0 ? "scm" : "dram";
    c.copy_in = seed % 3 == 0 ? "unit" : "sectors";
    c.write_back = seed % 4 == 0 ? "all" : "dirty";
    c.share = seed % 5 == 0 ? 0 : 0.1;
    run_cache(c, true, 1500, seed);
  }
}

TEST_CASE("no cache policy loses anything under random load") {
  std::uint64_t seed = 1;
  for (const std::string& policy : policies()) {
    for (const char* medium : {"scm", "dram"}) {
      CacheCase c;
      c.policy = policy;
      c.medium = medium;
      c.copy_in = seed % 3 == 0 ? "unit" : "sectors";
      c.copy_waits = seed % 2 == 0;
      c.write_back = seed % 5 == 0 ? "all" : "dirty";
      run_cache(c, true, 1500, ++seed);
      run_cache(c, false, 1500, ++seed);
      c.unit = 4096;
      c.grain = seed % 2 == 0 ? 4096 : 1024;
      run_cache(c, true, 1500, ++seed);
    }
  }
}

TEST_CASE("caches work with word lines, whole blocks, several planes and 4 KiB logical blocks") {
  std::uint64_t seed = 100;
  for (const std::string& policy : policies()) {
    for (const bool timed : {false, true}) {
      CacheCase word_line;
      word_line.policy = policy;
      word_line.copy_waits = true;
      word_line.write_back = timed ? "all" : "dirty";
      word_line.geometry = {2, 1, 1, 1, 16, 12, 16384, 0};
      word_line.program_unit = 3;
      run_cache(word_line, timed, 1000, ++seed);
      CacheCase block;
      block.policy = policy;
      block.geometry = {1, 2, 1, 1, 16, 8, 16384, 0};
      block.program_unit = 8;
      run_cache(block, timed, 1000, ++seed);
      CacheCase large;
      large.policy = policy;
      large.lba = 4096;
      large.grain = 4096;
      run_cache(large, timed, 1000, ++seed);
      CacheCase odd;  // 24 blocks to a unit
      odd.policy = policy;
      odd.geometry = {2, 1, 1, 1, 16, 8, 12288, 0};
      odd.unit = 12288;
      odd.grain = timed ? 0 : 1536;
      run_cache(odd, timed, 1000, ++seed);
    }
  }
}

TEST_CASE("a cache of the least size goes on working") {
  std::uint64_t seed = 200;
  for (const std::string& policy : policies()) {
    for (const std::uint32_t program_unit : {1U, 8U}) {
      CacheCase c;
      c.policy = policy;
      c.share = 0;
      c.program_unit = program_unit;
      c.medium = seed % 2 == 0 ? "scm" : "dram";
      run_cache(c, true, 1000, ++seed);
      run_cache(c, false, 1000, ++seed);
    }
  }
}

TEST_CASE("what is in SCM survives a loss of power, what is in DRAM does not") {
  FakeOptions options;
  CacheCase c;
  SECTION("SCM") {
    for (const std::uint32_t program_unit : {1U, 8U}) {
      c.program_unit = program_unit;
      CacheRig rig(c, options, 11);
      for (int n = 0; n < 3000; ++n) {
        const std::uint64_t blocks = 1 + rig.host.random.below(40);
        rig.host.write(rig.host.random.below(rig.shape.logical_blocks - blocks),
                       static_cast<std::uint32_t>(blocks));
        if (n % 50 == 0) rig.ftl.power_cycle();
      }
      rig.host.verify_all();
      check_conservation(rig);
      CHECK(rig.cache().statistics().evictions > 0);
    }
  }
  SECTION("DRAM, flushed") {
    c.medium = "dram";
    c.policy = "lru";
    CacheRig rig(c, options, 11);
    for (int n = 0; n < 300; ++n) rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 8), 8);
    rig.host.flush();
    rig.ftl.power_cycle();
    rig.host.verify_all();
  }
  SECTION("DRAM, forced to flash by each write") {
    c.medium = "dram";
    c.policy = "lru";
    CacheRig rig(c, options, 11);
    for (int n = 0; n < 300; ++n)
      rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 8), 8, true);
    rig.ftl.power_cycle();
    rig.host.verify_all();
  }
  SECTION("DRAM, not flushed") {
    c.medium = "dram";
    c.policy = "lru";
    CacheRig rig(c, options, 11);
    rig.host.write(0, 8);
    rig.ftl.power_cycle();
    CHECK(rig.cache().store().lines() == 0);
    CHECK(rig.cache().statistics().sectors_lost == 8);
    CHECK(rig.cache().statistics().sectors_discarded == 0);
    check_conservation(rig);
    std::fill_n(rig.host.reference.begin(), 8, k_zeros);
    rig.host.verify_all();
  }
}

TEST_CASE("a snapshot restores a cache with everything in it") {
  for (const std::string& policy : policies()) {
    INFO(policy);
    CacheCase c;
    c.policy = policy;
    FakeOptions options;
    options.timed = true;
    options.shuffle = false;
    CacheRig first(c, options, 13);
    for (int n = 0; n < 1500; ++n) {
      first.host.anything(200);
      first.host.wait_below(16);
    }
    first.host.drain();
    CacheRig second(c, options, 13);
    restore(first, second);
    CHECK((saved(first.hw, first.ftl) == saved(second.hw, second.ftl)));
    second.host.random = first.host.random;
    const std::uint64_t programs = first.hw.flash.programs;
    for (CacheRig* rig : {&first, &second}) {
      for (int n = 0; n < 800; ++n) {
        rig->host.anything(200);
        rig->host.wait_below(16);
      }
      rig->host.drain();
      rig->host.verify_all();
    }
    CHECK(first.hw.flash.programs == second.hw.flash.programs + programs);
    CHECK(first.cache().statistics().evictions == second.cache().statistics().evictions);
    CHECK(first.cache().store().free() == second.cache().store().free());
  }
}

TEST_CASE("a drive whose blocks wear out under a cache ends read-only with all data readable") {
  std::uint64_t seed = 400;
  for (const std::string& policy : policies()) {
    INFO(policy);
    CacheCase c;
    c.policy = policy;
    FakeOptions options;
    options.timed = true;
    options.endurance = 12;
    options.seed = ++seed;
    CacheRig rig(c, options, seed);
    rig.host.check_data = false;  // writes refused on the way leave the reference behind
    for (int n = 0; n < 60'000 && !rig.ftl.read_only(); ++n) {
      rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 32), 32);
      rig.host.wait_below(8);
    }
    REQUIRE(rig.ftl.read_only());
    rig.host.drain();
    rig.host.write(0, 8);
    rig.host.wait_below(1);
    CHECK(rig.host.last_status == HostStatus::write_protected);
    for (std::uint64_t lba = 0; lba < rig.shape.logical_blocks; lba += 32) {
      rig.host.read(lba, 32);
      rig.host.wait_below(1);
      REQUIRE(rig.host.last_status == HostStatus::success);
    }
  }
}

TEST_CASE("a drive that wears out untimed under a cache comes to an end") {
  std::uint64_t seed = 500;
  for (const std::string& policy : policies()) {
    for (const char* medium : {"scm", "dram"}) {
      INFO(policy << " in " << medium);
      CacheCase c;
      c.policy = policy;
      c.medium = medium;
      FakeOptions options;
      options.endurance = 12;
      options.seed = ++seed;
      CacheRig rig(c, options, seed);
      rig.host.check_data = false;
      for (int n = 0; n < 60'000 && !rig.ftl.read_only(); ++n)
        rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 32), 32);
      REQUIRE(rig.ftl.read_only());
      rig.host.write(0, 8);
      CHECK(rig.host.last_status == HostStatus::write_protected);
      // What DRAM still holds alone has not been made safe, and a flush says so.
      const bool dirty = rig.cache().store().dirty_sectors() > 0;
      rig.host.flush();
      if (medium == std::string("dram") && dirty) CHECK(rig.host.last_status == HostStatus::write_protected);
    }
  }
}

TEST_CASE("writes forced to flash past a volatile cache are there when they end, however they meet") {
  CacheCase c;
  c.medium = "dram";
  c.policy = "lru";
  FakeOptions options;
  options.timed = true;
  options.memory_time = 1'000'000;  // so that a line is on its way into the write buffer for a while
  CacheRig rig(c, options, 17);
  Picoseconds pause = 0;
  for (std::uint64_t lba = 0; pause < 1'000'000; lba += 32, pause += 50'000) {
    INFO("the second write comes " << pause << " ps after the first");
    const std::uint64_t programs = rig.hw.flash.programs;
    rig.host.write(lba, 1, true);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + pause);
    rig.host.write(lba + 1, 1, true);
    rig.host.wait_below(2);
    CHECK(rig.hw.flash.programs > programs);
    rig.host.wait_below(1);
    CHECK(rig.cache().store().dirty_sectors() == 0);
  }
  rig.host.drain();
  rig.ftl.power_cycle();
  rig.host.verify_all();
}

TEST_CASE("a flush is not cut short by a write that is forced to flash meanwhile") {
  CacheCase c;
  c.medium = "dram";
  c.policy = "lru";
  FakeOptions options;
  options.timed = true;
  for (Picoseconds pause = 0; pause < 1'000'000; pause += 50'000) {
    INFO("the write comes " << pause << " ps after the flush");
    CacheRig rig(c, options, 19);
    rig.host.write(0, 1);
    rig.host.drain();
    REQUIRE(rig.cache().store().dirty_sectors() == 1);
    std::uint64_t programs = 0;
    const auto completed = rig.hw.host.on_complete;
    rig.hw.host.on_complete = [&](HostCommand& command) {
      if (command.opcode == HostOpcode::flush) programs = rig.hw.flash.programs;
      completed(command);
    };
    rig.host.flush();
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + pause);
    rig.host.write(1, 1, true);
    rig.host.wait_below(1);
    CHECK(programs > 0);
  }
}

TEST_CASE("a flush does not wait for programs of what a cache in SCM evicts") {
  FakeOptions options;
  options.timed = true;
  CacheRig idle(CacheCase{}, options, 23);
  const Picoseconds alone = flush_time(idle);
  CacheRig rig(CacheCase{}, options, 23);
  evict(rig);
  const std::uint64_t programs = rig.hw.flash.programs;
  CHECK(flush_time(rig) == alone);
  CHECK(rig.hw.flash.programs == programs);
  rig.host.let_end();
  CHECK(rig.hw.flash.programs > programs);  // some were under way
}

TEST_CASE("a flush waits for what went past a cache in SCM, and for nothing behind it") {
  cache_family().add<EvenUnits>("acme 1.0");
  CacheCase c;
  c.policy = "even-units";
  FakeOptions options;
  options.timed = true;
  CacheRig idle(c, options, 23);
  const Picoseconds alone = flush_time(idle);
  CacheRig rig(c, options, 23);
  const std::uint32_t blocks = c.unit / c.lba;
  rig.host.write(blocks, blocks);  // past the cache
  rig.host.wait_below(1);
  const Picoseconds written = rig.hw.event_queue.now();
  CHECK(flush_time(rig) >= options.program_time);
  CHECK(rig.hw.event_queue.now() < written + options.program_time + 10'000'000);
  evict(rig);
  CHECK(flush_time(rig) == alone);  // what went past has long been written
}

TEST_CASE("a drive may be taken down while commands wait for room in its cache") {
  CacheCase c;
  c.copy_waits = true;
  FakeOptions options;
  options.timed = true;
  CacheRig rig(c, options, 29);
  for (std::uint64_t lba = 0; lba + 32 <= rig.shape.logical_blocks; lba += 32) {
    rig.host.write(lba, 32);
    rig.host.wait_below(8);
  }
  const std::uint64_t waits = rig.cache().statistics().full_waits;
  for (std::uint64_t lba = 0; rig.cache().statistics().full_waits < waits + 20; lba += 32) {
    REQUIRE(lba < rig.shape.logical_blocks);
    rig.host.read(lba, 16);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 1'000'000);
  }
  CHECK(rig.host.outstanding > 10);
}
