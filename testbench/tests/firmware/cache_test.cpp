// The cache: nothing is lost under any policy, dirty blocks are conserved, lines go in the order that each policy promises, what is
// in SCM survives a loss of power.
#include "firmware/cache/cache.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/cache/lru_order.h"
#include "models/common/input_error.h"
#include "testbench/tests/firmware/model_host.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct Case {
  std::string policy = "nv-wb";
  std::string medium = "scm";
  Geometry geometry{2, 1, 1, 1, 16, 8, 16384, 0};
  std::uint32_t program_unit = 1;
  Bytes unit = 16384;
  Bytes grain = 512;
  std::string copy_in = "sectors";
  bool copy_waits = false;
  std::string write_back = "dirty";
  double share = 0.1;  ///< of the flash
  double fill = 0.8;
  std::uint32_t lba = 512;
};

std::string describe(const Case& c) {
  return fmt::format("{} in {}, unit {}, grain {}, program {} pages, copies in {}, lba {}", c.policy,
                     c.medium, c.unit, c.grain, c.program_unit, c.copy_in, c.lba);
}

struct Rig {
  Rig(const Case& c, const FakeOptions& options, std::uint64_t seed)
      : shape(shape_of(c)),
        config(config_of(c)),
        hw(shape, options),
        ftl(hw.ports, sized(c), config),
        host(hw, ftl, shape, seed) {}

  static DriveShape shape_of(const Case& c) {
    DriveShape shape;
    shape.geometry = c.geometry;
    shape.program_unit = c.program_unit;
    shape.lba_bytes = c.lba;
    shape.mapping_unit_bytes = c.unit;
    shape.scm_bytes = c.medium == "scm" ? bytes(c) : 0;
    return shape;
  }
  static Bytes bytes(const Case& c) {
    const auto share = static_cast<Bytes>(c.share * static_cast<double>(c.geometry.bytes()));
    const Bytes least = Bytes{2} * c.geometry.page_bytes * c.program_unit;
    return std::max(share, least) / 16384 * 16384;
  }
  static FirmwareConfig config_of(const Case& c) {
    FirmwareConfig config;
    config.mapping.unit = c.unit;
    config.buffer.capacity = std::max<Bytes>(Bytes{2} * c.geometry.page_bytes * c.program_unit, 16 * c.unit);
    config.cache.policy = c.policy;
    config.cache.medium = c.medium;
    config.cache.capacity = c.medium == "scm" ? 0 : bytes(c);
    config.cache.grain = c.grain;
    config.cache.copy_in = c.copy_in;
    config.cache.copy_waits = c.copy_waits;
    config.cache.write_back = c.write_back;
    return config;
  }
  const DriveShape& sized(const Case& c) {
    const auto most = static_cast<double>(Ftl::largest_logical_blocks(shape, config));
    const std::uint64_t sectors = shape.mapping_unit_bytes / shape.lba_bytes;
    shape.logical_blocks = static_cast<std::uint64_t>(c.fill * most) / sectors * sectors;
    return shape;
  }
  [[nodiscard]] const Cache& cache() const { return *ftl.cache(); }

  DriveShape shape;
  FirmwareConfig config;
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
};

void check_conservation(const Rig& rig) {
  const CacheStatistics& s = rig.cache().statistics();
  CHECK(s.sectors_dirtied + s.sectors_back ==
        s.sectors_out + s.sectors_discarded + rig.cache().store().dirty_sectors());
  CHECK(s.write_hits + s.around <= s.writes);
  CHECK(s.read_hits + s.read_partial <= s.reads);
}

void run(const Case& c, bool timed, std::uint32_t commands, std::uint64_t seed) {
  commands *= stress();
  seed += 10'000 * (stress() - 1);
  INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
  FakeOptions options;
  options.timed = options.shuffle = timed;
  options.seed = seed;
  Rig rig(c, options, seed);
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

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : cache_family().infos()) names.push_back(info.name);
  return names;
}

class Settings final : public ParameterValues {
 public:
  explicit Settings(std::vector<std::pair<std::string, Value>> values) : values_(std::move(values)) {}
  [[nodiscard]] const Value* find(std::string_view name) const override {
    for (const auto& [key, value] : values_) {
      if (key == name) return &value;
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace

TEST_CASE("the cache policies are those that the documentation names") {
  std::vector<std::string> names;
  for (const PolicyInfo& info : cache_policies()) names.push_back(info.name);
  CHECK(names ==
        std::vector<std::string>{"none", "nv-wb", "write-only", "read-write", "scm-storage", "lru", "cflru"});
}

TEST_CASE("no cache policy loses anything under random load") {
  std::uint64_t seed = 1;
  for (const std::string& policy : policies()) {
    for (const char* medium : {"scm", "dram"}) {
      Case c;
      c.policy = policy;
      c.medium = medium;
      c.copy_in = seed % 3 == 0 ? "unit" : "sectors";
      c.copy_waits = seed % 2 == 0;
      c.write_back = seed % 5 == 0 ? "all" : "dirty";
      run(c, true, 1500, ++seed);
      run(c, false, 1500, ++seed);
      c.unit = 4096;
      c.grain = seed % 2 == 0 ? 4096 : 1024;
      run(c, true, 1500, ++seed);
    }
  }
}

TEST_CASE("caches work with word lines, whole blocks, several planes and 4 KiB logical blocks") {
  std::uint64_t seed = 100;
  for (const std::string& policy : policies()) {
    for (const bool timed : {false, true}) {
      Case word_line;
      word_line.policy = policy;
      word_line.copy_waits = true;
      word_line.write_back = timed ? "all" : "dirty";
      word_line.geometry = {2, 1, 1, 1, 16, 12, 16384, 0};
      word_line.program_unit = 3;
      run(word_line, timed, 1000, ++seed);
      Case block;
      block.policy = policy;
      block.geometry = {1, 2, 1, 1, 16, 8, 16384, 0};
      block.program_unit = 8;
      run(block, timed, 1000, ++seed);
      Case large;
      large.policy = policy;
      large.lba = 4096;
      large.grain = 4096;
      run(large, timed, 1000, ++seed);
      Case odd;  // 24 blocks to a unit
      odd.policy = policy;
      odd.geometry = {2, 1, 1, 1, 16, 8, 12288, 0};
      odd.unit = 12288;
      odd.grain = timed ? 0 : 1536;
      run(odd, timed, 1000, ++seed);
    }
  }
}

TEST_CASE("a cache of the least size goes on working") {
  std::uint64_t seed = 200;
  for (const std::string& policy : policies()) {
    for (const std::uint32_t program_unit : {1U, 8U}) {
      Case c;
      c.policy = policy;
      c.share = 0;
      c.program_unit = program_unit;
      c.medium = seed % 2 == 0 ? "scm" : "dram";
      run(c, true, 1000, ++seed);
      run(c, false, 1000, ++seed);
    }
  }
}

TEST_CASE("with an SCM that holds the whole load, flash rests after warm-up") {
  Case c;
  c.share = 1.3;
  FakeOptions options;
  options.timed = true;
  Rig rig(c, options, 5);
  const std::uint64_t span = rig.shape.logical_blocks / 2;
  for (std::uint64_t lba = 0; lba < span; lba += 32) {
    rig.host.write(lba, 32);
    rig.host.wait_below(8);
  }
  rig.host.drain();
  const std::uint64_t reads = rig.hw.flash.reads;
  const std::uint64_t programs = rig.hw.flash.programs;
  for (int n = 0; n < 5000; ++n) {
    const std::uint64_t blocks = 1 + rig.host.random.below(40);
    const std::uint64_t lba = rig.host.random.below(span - blocks);
    if (n % 2 == 0) {
      rig.host.read(lba, static_cast<std::uint32_t>(blocks));
    } else {
      rig.host.write(lba, static_cast<std::uint32_t>(blocks));
    }
    rig.host.wait_below(8);
  }
  rig.host.drain();
  CHECK(rig.hw.flash.reads == reads);
  CHECK(rig.hw.flash.programs == programs);
  CHECK(rig.cache().statistics().read_hits == rig.cache().statistics().reads);
}

TEST_CASE("NV-WB keeps the free share that it is told to keep") {
  for (const double share : {0.1, 0.2, 0.5}) {
    Case c;
    Settings settings({{"evict_below_free", share}});
    FakeOptions options;  // untimed: evictions are over when the write returns
    DriveShape shape = Rig::shape_of(c);
    FirmwareConfig config = Rig::config_of(c);
    config.cache_policy = &settings;
    shape.logical_blocks = Ftl::largest_logical_blocks(shape, config) / 2;
    FakeHardware hw(shape, options);
    Ftl ftl(hw.ports, shape, config);
    ModelHost host(hw, ftl, shape, 7);
    bool filled = false;
    for (int n = 0; n < 4000; ++n) {
      host.write(host.random.below(shape.logical_blocks - 8), 8);
      const LineStore& store = ftl.cache()->store();
      const double free = static_cast<double>(store.free()) / static_cast<double>(store.capacity());
      REQUIRE(free > share);
      filled = filled || free < share + 32.0 / static_cast<double>(store.capacity());
    }
    CHECK(filled);  // and not more than one line more
  }
}

TEST_CASE("writes past the cache and reads that copy nothing in leave no line") {
  Case c;
  FakeOptions options;
  SECTION("write-only does not copy reads in") {
    c.policy = "write-only";
    Rig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 4000);
    CHECK(rig.cache().statistics().copies_in == 0);
  }
  SECTION("NV-WB does") {
    Rig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 128);
    CHECK(rig.cache().statistics().copies_in == 4);
    rig.host.read(0, 128);
    CHECK(rig.cache().statistics().read_hits == 4);
  }
  SECTION("SCM as storage takes a unit from its second write on") {
    c.policy = "scm-storage";
    Rig rig(c, options, 9);
    rig.host.write(0, 32);
    CHECK(rig.cache().store().lines() == 0);
    rig.host.write(0, 32);
    CHECK(rig.cache().store().lines() == 1);
    rig.host.write(64, 32);
    CHECK(rig.cache().store().lines() == 1);
    rig.host.verify_all();
  }
  SECTION("read-write takes a unit in when it is read again") {
    c.policy = "read-write";
    Rig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 32);
    CHECK(!rig.cache().covers(0, 32));
    rig.host.read(0, 32);
    CHECK(rig.cache().covers(0, 32));
    CHECK(rig.cache().statistics().copies_in == 1);
  }
}

TEST_CASE("what is in SCM survives a loss of power, what is in DRAM does not") {
  FakeOptions options;
  Case c;
  SECTION("SCM") {
    for (const std::uint32_t program_unit : {1U, 8U}) {
      c.program_unit = program_unit;
      Rig rig(c, options, 11);
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
    Rig rig(c, options, 11);
    for (int n = 0; n < 300; ++n) rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 8), 8);
    rig.host.flush();
    rig.ftl.power_cycle();
    rig.host.verify_all();
  }
  SECTION("DRAM, forced to flash by each write") {
    c.medium = "dram";
    c.policy = "lru";
    Rig rig(c, options, 11);
    for (int n = 0; n < 300; ++n)
      rig.host.write(rig.host.random.below(rig.shape.logical_blocks - 8), 8, true);
    rig.ftl.power_cycle();
    rig.host.verify_all();
  }
  SECTION("DRAM, not flushed") {
    c.medium = "dram";
    c.policy = "lru";
    Rig rig(c, options, 11);
    rig.host.write(0, 8);
    rig.ftl.power_cycle();
    CHECK(rig.cache().store().lines() == 0);
    std::fill_n(rig.host.reference.begin(), 8, k_zeros);
    rig.host.verify_all();
  }
}

TEST_CASE("a snapshot restores a cache with everything in it") {
  for (const std::string& policy : policies()) {
    INFO(policy);
    Case c;
    c.policy = policy;
    FakeOptions options;
    options.timed = true;
    options.shuffle = false;
    Rig first(c, options, 13);
    for (int n = 0; n < 1500; ++n) {
      first.host.anything(200);
      first.host.wait_below(16);
    }
    first.host.drain();
    MemoryArchive saved;
    first.hw.archive(saved);
    first.ftl.archive(saved);
    Rig second(c, options, 13);
    MemoryArchive loaded(saved.content());
    second.hw.archive(loaded);
    second.ftl.archive(loaded);
    MemoryArchive again;
    second.hw.archive(again);
    second.ftl.archive(again);
    CHECK(saved.content() == again.content());
    second.host.reference = first.host.reference;
    second.host.random = first.host.random;
    const std::uint64_t programs = first.hw.flash.programs;
    for (Rig* rig : {&first, &second}) {
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
    Case c;
    c.policy = policy;
    FakeOptions options;
    options.timed = true;
    options.endurance = 12;
    options.seed = ++seed;
    Rig rig(c, options, seed);
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

TEST_CASE("LRU order gives up lines as its preferences say") {
  LineStore store(0, 64 * 16384, 512, 32, 512);
  const std::array<Stamp, 64> stamps{};
  MemorySpans where;
  const auto line = [&](LogicalUnit unit, std::uint64_t sectors, bool dirty) {
    const LineStore::Index i = store.add(unit);
    store.lay(i, sectors, stamps.data(), dirty, where);
    return i;
  };
  const std::uint64_t all = store.all_sectors();
  const LineStore::Index partial = line(0, 1, true);
  const LineStore::Index complete = line(1, all, true);
  const LineStore::Index clean = line(2, all, false);
  const LineStore::Index young = line(3, all, false);
  const auto order_of = [&](const LruOrder::Preferences& preferences) {
    LruOrder order(store, preferences);
    for (const LineStore::Index i : {partial, complete, clean, young}) order.push(i);
    std::vector<LineStore::Index> out;
    for (LineStore::Index i = order.victim(); i != LineStore::k_none; i = order.victim()) {
      out.push_back(i);
      order.remove(i);
    }
    return out;
  };
  using Order = std::vector<LineStore::Index>;
  CHECK(order_of({}) == Order{partial, complete, clean, young});
  CHECK(order_of({1, true, false}) == Order{clean, young, partial, complete});
  CHECK(order_of({1, false, true}) == Order{complete, clean, young, partial});
  CHECK(order_of({1, true, true}) == Order{clean, young, complete, partial});
  CHECK(order_of({0.75, true, true}) == Order{clean, complete, partial, young});
  LruOrder order(store, {});
  for (const LineStore::Index i : {partial, complete, clean}) order.push(i);
  order.push(partial);
  CHECK(order.victim() == complete);
}

TEST_CASE("a drive that wears out untimed under a cache comes to an end") {
  std::uint64_t seed = 500;
  for (const std::string& policy : policies()) {
    for (const char* medium : {"scm", "dram"}) {
      INFO(policy << " in " << medium);
      Case c;
      c.policy = policy;
      c.medium = medium;
      FakeOptions options;
      options.endurance = 12;
      options.seed = ++seed;
      Rig rig(c, options, seed);
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
  Case c;
  c.medium = "dram";
  c.policy = "lru";
  FakeOptions options;
  options.timed = true;
  options.memory_time = 1'000'000;  // so that a line is on its way into the write buffer for a while
  Rig rig(c, options, 17);
  Picoseconds pause = 0;
  for (std::uint64_t lba = 0; pause < 1'000'000; lba += 32, pause += 50'000) {
    INFO("the second write comes " << pause << " ps after the first");
    const std::uint64_t programs = rig.hw.flash.programs;
    rig.host.write(lba, 1, true);
    rig.hw.agenda.run_until(rig.hw.agenda.now() + pause);
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
  Case c;
  c.medium = "dram";
  c.policy = "lru";
  FakeOptions options;
  options.timed = true;
  for (Picoseconds pause = 0; pause < 1'000'000; pause += 50'000) {
    INFO("the write comes " << pause << " ps after the flush");
    Rig rig(c, options, 19);
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
    rig.hw.agenda.run_until(rig.hw.agenda.now() + pause);
    rig.host.write(1, 1, true);
    rig.host.wait_below(1);
    CHECK(programs > 0);
  }
}

TEST_CASE("a read that copies nothing in does not wait for room") {
  Case c;
  c.policy = "lru";
  c.copy_in = "unit";
  c.copy_waits = true;
  FakeOptions options;
  options.timed = true;
  Rig rig(c, options, 23);
  const std::uint64_t grains = rig.cache().store().capacity();
  std::uint64_t units = 0;
  while (rig.cache().store().free() >= 8 && units < grains) {  // a quarter of each unit
    rig.host.write(units++ * 32, 8);
    rig.host.wait_below(1);
  }
  rig.host.drain();
  REQUIRE(rig.cache().store().free() < 8);
  const CacheStatistics before = rig.cache().statistics();
  rig.host.read((units - 1) * 32, 8);  // a hit in a line that is here in part
  rig.host.read((units + 1) * 32, 8);  // never written
  rig.host.wait_below(1);
  CHECK(rig.cache().statistics().read_hits == before.read_hits + 1);
  CHECK(rig.cache().statistics().room_waits == before.room_waits);
  CHECK(rig.cache().statistics().evictions == before.evictions);
}

TEST_CASE("a drive may be taken down while commands wait for room in its cache") {
  Case c;
  c.copy_waits = true;
  FakeOptions options;
  options.timed = true;
  Rig rig(c, options, 29);
  for (std::uint64_t lba = 0; lba + 32 <= rig.shape.logical_blocks; lba += 32) {
    rig.host.write(lba, 32);
    rig.host.wait_below(8);
  }
  const std::uint64_t waits = rig.cache().statistics().room_waits;
  for (std::uint64_t lba = 0; rig.cache().statistics().room_waits < waits + 20; lba += 32) {
    REQUIRE(lba < rig.shape.logical_blocks);
    rig.host.read(lba, 16);
    rig.hw.agenda.run_until(rig.hw.agenda.now() + 1'000'000);
  }
  CHECK(rig.host.outstanding > 10);
}

TEST_CASE("a cache that does not fit the drive is refused with the nearest valid value") {
  FakeOptions options;
  const auto refusal =
      [&](const std::function<void(Case&, DriveShape&, FirmwareConfig&)>& spoil) -> std::string {
    Case c;
    DriveShape shape = Rig::shape_of(c);
    FirmwareConfig config = Rig::config_of(c);
    shape.logical_blocks = 1024;
    spoil(c, shape, config);
    FakeHardware hw(shape, options);
    try {
      Ftl ftl(hw.ports, shape, config);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  using Catch::Matchers::Contains;
  CHECK(refusal([](auto&, auto&, auto&) {}) == "accepted");
  CHECK_THAT(refusal([](auto&, auto& shape, auto&) { shape.scm_bytes = 0; }),
             Contains("firmware.cache.medium: scm, but the drive has no SCM"));
  CHECK_THAT(refusal([](auto&, auto&, auto& config) { config.cache.medium = "dram"; }),
             Contains("firmware.cache.capacity: a cache in DRAM needs its size"));
  CHECK_THAT(refusal([](auto&, auto& shape, auto& config) { config.cache.capacity = shape.scm_bytes + 1; }),
             Contains("firmware.cache.capacity: ") && Contains("nearest valid"));
  CHECK_THAT(refusal([](auto&, auto&, auto& config) { config.cache.capacity = 16384; }),
             Contains("cannot hold two program units"));
  CHECK_THAT(refusal([](auto&, auto&, auto& config) { config.cache.grain = 1536; }),
             Contains("firmware.cache.grain: 1536 B does not divide"));
  CHECK_THAT(refusal([](auto&, auto&, auto& config) { config.cache.policy = "lruu"; }),
             Contains("there is no 'lruu'"));
}
