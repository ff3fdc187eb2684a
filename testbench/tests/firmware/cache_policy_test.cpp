// What the cache policies promise: what is taken in, in which order lines go, how much stays free;
// and which caches are refused.
#include <limits>

#include "firmware/cache/lru_order.h"
#include "firmware/cache/lru_policy.h"
#include "models/base/input_error.h"
#include "models/base/make_policy.h"
#include "testbench/tests/firmware/cache_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

template <int Percent>
class KeepsFree final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = Percent < 0 ? "keeps-nan" : "keeps-all";
  static constexpr std::string_view k_summary = "keeps free what is no share";
  using Config = NoParameters;
  KeepsFree(const Config& /*config*/, const CacheContext& context) : LruPolicy(context, {}) {}
  [[nodiscard]] double keep_free() const override {
    return Percent < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.01 * Percent;
  }
};

}  // namespace

TEST_CASE("the cache policies are those that the documentation names") {
  std::vector<std::string> names;
  for (const PolicyInfo& info : cache_policies()) names.push_back(info.name);
  CHECK(names ==
        std::vector<std::string>{"none", "nv-wb", "write-only", "read-write", "scm-storage", "lru", "cflru"});
}

TEST_CASE("with an SCM that holds the whole load, flash rests after warm-up") {
  CacheCase c;
  c.share = 1.3;
  FakeOptions options;
  options.timed = true;
  CacheRig rig(c, options, 5);
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
    CacheCase c;
    Settings settings({{"evict_below_free", share}});
    FakeOptions options;  // untimed: evictions are over when the write returns
    DriveShape shape = CacheRig::shape_of(c);
    FirmwareConfig config = CacheRig::config_of(c);
    config.cache_policy = borrowed(settings);
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
  CacheCase c;
  FakeOptions options;
  SECTION("write-only does not copy reads in") {
    c.policy = "write-only";
    CacheRig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 4000);
    CHECK(rig.cache().statistics().copies_in == 0);
  }
  SECTION("NV-WB does") {
    CacheRig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 128);
    CHECK(rig.cache().statistics().copies_in == 4);
    rig.host.read(0, 128);
    CHECK(rig.cache().statistics().read_hits == 4);
  }
  SECTION("SCM as storage takes a unit from its second write on") {
    c.policy = "scm-storage";
    CacheRig rig(c, options, 9);
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
    CacheRig rig(c, options, 9);
    rig.host.write(0, 4000);
    rig.host.read(0, 32);
    CHECK(!rig.cache().covers(0, 32));
    rig.host.read(0, 32);
    CHECK(rig.cache().covers(0, 32));
    CHECK(rig.cache().statistics().copies_in == 1);
  }
}

TEST_CASE("LRU order gives up lines as its preferences say") {
  LineStore store(0, 64 * 16384, 512, 32, 512);
  const std::array<Stamp, 64> stamps{};
  MemorySpans where;
  const auto line = [&](Lpn unit, std::uint64_t sectors, bool dirty) {
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

TEST_CASE("a read that copies nothing in does not wait for room") {
  CacheCase c;
  c.policy = "lru";
  c.copy_in = "unit";
  c.copy_waits = true;
  FakeOptions options;
  options.timed = true;
  CacheRig rig(c, options, 23);
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
  CHECK(rig.cache().statistics().full_waits == before.full_waits);
  CHECK(rig.cache().statistics().evictions == before.evictions);
}

TEST_CASE("a read waits for room for an eighth of the cache, and for no more") {
  CacheCase c;
  c.policy = "lru";
  c.copy_waits = true;
  FakeOptions options;
  options.timed = true;
  CacheRig rig(c, options, 24);
  const std::uint32_t grains = rig.cache().store().capacity();  // of a logical block each
  REQUIRE(grains == 25 * 32);
  for (std::uint64_t unit = 0; unit < 100; ++unit) {  // four times as much as it holds
    rig.host.write(unit * 32, 32);
    rig.host.wait_below(1);
  }
  rig.host.drain();
  REQUIRE(rig.cache().store().free() < grains / 8);
  const CacheStatistics before = rig.cache().statistics();
  rig.host.read(0, grains / 8);
  rig.host.wait_below(1);
  CHECK(rig.cache().covers(0, grains / 8));
  CHECK(rig.cache().statistics().full_waits == before.full_waits + 1);
  rig.host.read(std::uint64_t{10} * 32, grains / 8 + 1);
  rig.host.wait_below(1);
  CHECK(rig.cache().statistics().full_waits == before.full_waits + 1);
  CHECK(rig.cache().statistics().copies_skipped > before.copies_skipped);
}

TEST_CASE("a cache that does not fit the drive is refused with the nearest valid value") {
  FakeOptions options;
  const auto refusal =
      [&](const std::function<void(CacheCase&, DriveShape&, FirmwareConfig&)>& spoil) -> std::string {
    CacheCase c;
    DriveShape shape = CacheRig::shape_of(c);
    FirmwareConfig config = CacheRig::config_of(c);
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
  cache_family().add<KeepsFree<-1>>("acme 1.0");
  cache_family().add<KeepsFree<100>>("acme 1.0");
  CHECK(refusal([](auto&, auto&, auto& config) { config.cache.policy = "keeps-nan"; }) ==
        "firmware.cache.policy: keeps-nan keeps nan of the cache free, which is no share from 0 to below 1");
  CHECK(refusal([](auto&, auto&, auto& config) { config.cache.policy = "keeps-all"; }) ==
        "firmware.cache.policy: keeps-all keeps 1 of the cache free, which is no share from 0 to below 1");
  CHECK_THAT(refusal([](auto&, auto&, auto& config) { config.cache.policy = "lruu"; }),
             Contains("there is no 'lruu'"));
}

TEST_CASE("a line that is read is used, as one that is written") {
  for (const char* const policy : {"lru", "cflru", "nv-wb", "read-write", "write-only"}) {
    INFO(policy);
    CacheCase c;
    c.policy = policy;
    FakeOptions options;
    CacheRig rig(c, options, 9);
    const std::uint64_t lines = rig.cache().store().capacity() / 32;
    for (std::uint64_t unit = 0; unit < lines / 2; ++unit) rig.host.write(unit * 32, 32);
    REQUIRE(rig.cache().covers(0, 32));
    for (std::uint64_t unit = lines / 2; rig.cache().covers(32, 32); ++unit) {
      REQUIRE(unit < 2 * lines);
      rig.host.read(0, 32);
      rig.host.write(unit * 32, 32);
    }
    CHECK(rig.cache().covers(0, 32));
  }
}

TEST_CASE("a unit of which some blocks are in the cache is a hit in part") {
  CacheCase c;
  c.policy = "write-only";
  FakeOptions options;
  CacheRig rig(c, options, 9);
  rig.host.write(0, 8);
  rig.host.write(32, 32);
  rig.host.read(0, 8);       // all that is asked for
  rig.host.read(4, 8);       // half of it
  rig.host.read(8, 8);       // nothing of it
  rig.host.read(30, 34);     // nothing of one unit, all of the next
  rig.host.read(0, 3 * 32);  // a part, all, nothing
  const CacheStatistics& s = rig.cache().statistics();
  CHECK(s.reads == 1 + 1 + 1 + 2 + 3);
  CHECK(s.read_hits == 1 + 1 + 1);
  CHECK(s.read_partial == 1 + 1);
}

TEST_CASE("clean lines are written to flash if all of them are to be, and dropped if not") {
  for (const char* const write_back : {"dirty", "all"}) {
    INFO(write_back);
    CacheCase c;
    c.policy = "lru";
    c.write_back = write_back;
    c.copy_waits = true;
    FakeOptions options;
    CacheRig rig(c, options, 9);
    const std::uint64_t lines = rig.cache().store().capacity() / 32;
    const std::uint64_t units = std::min(6 * lines, rig.shape.logical_blocks / 32);
    for (std::uint64_t unit = 0; unit < units; ++unit) rig.host.write(unit * 32, 32);
    rig.host.drain();
    for (int n = 0; n < 2; ++n) {  // until all lines are clean ones
      for (std::uint64_t unit = 0; unit < units / 2; ++unit) rig.host.read(unit * 32, 32);
      rig.host.flush();
      rig.host.drain();
    }
    const CacheStatistics before = rig.cache().statistics();
    for (std::uint64_t unit = units / 2; unit < units; ++unit) rig.host.read(unit * 32, 32);
    rig.host.drain();
    const CacheStatistics& s = rig.cache().statistics();
    CHECK(s.sectors_out == before.sectors_out);
    CHECK((s.evictions > before.evictions) == (c.write_back == "all"));
    CHECK((s.dropped > before.dropped) == (c.write_back == "dirty"));
    rig.host.verify_all();
  }
}

TEST_CASE("the window is a share of all lines") {
  LineStore store(0, 64 * 16384, 512, 32, 512);
  const std::array<Stamp, 64> stamps{};
  MemorySpans where;
  LruOrder order(store, {0.5, true, false});
  std::vector<LineStore::Index> lines;
  for (Lpn unit = 0; unit < 32; ++unit) {
    const LineStore::Index i = store.add(unit);
    store.lay(i, store.all_sectors(), stamps.data(), unit < 15, where);
    order.push(i);
    lines.push_back(i);
  }
  // Of 32 lines, 15 dirty ones are older than the first clean one, which is the last in the window.
  CHECK(order.victim() == lines[15]);
  order.remove(lines[15]);
  // Of 31 the window has 15, all dirty.
  CHECK(order.victim() == lines[0]);
}

TEST_CASE("lru gives up the line used longest ago, cflru a clean one of the oldest quarter") {
  LineStore store(0, 64 * 16384, 512, 32, 512);
  const std::array<Stamp, 64> stamps{};
  MemorySpans where;
  const auto victim_of = [&](const std::string& name, std::uint32_t clean) {
    const auto policy =
        make_policy(cache_family(), "", name, {}, CacheContext{store, 64, std::uint64_t{1} << 30U, 1});
    std::vector<LineStore::Index> lines;
    for (std::uint32_t n = 0; n < 8; ++n) {
      lines.push_back(store.add(static_cast<Lpn>(store.lines())));
      store.lay(lines.back(), 1, stamps.data(), n != clean, where);
      policy->added(lines.back(), n != clean);
    }
    const auto at = std::find(lines.begin(), lines.end(), policy->victim());
    return at - lines.begin();
  };
  CHECK(victim_of("lru", 1) == 0);
  CHECK(victim_of("cflru", 1) == 1);
  CHECK(victim_of("cflru", 2) == 0);  // of eight lines two are looked at
}

TEST_CASE("scm-storage: few units that were written once are taken for hot, and writes are forgotten") {
  LineStore store(0, 64 * 16384, 512, 32, 512);
  constexpr std::uint64_t k_units = 1024;  // written until counts are halved
  const auto make = [&](std::uint64_t units) {
    return make_policy(cache_family(), "", "scm-storage", {},
                       CacheContext{store, units, std::uint64_t{1} << 30U, 1});
  };
  // Two counters of 2048 each, the lesser of which counts: after n units a counter is taken with
  // p = 1 - exp(-n / 1024), both with p^2, which is 0.168 on average over 1024 units.
  const auto fresh = make(k_units);
  int taken = 0;
  for (Lpn unit = 0; unit < k_units - 1; ++unit) taken += fresh->admits_write(unit * 977 + 5) ? 1 : 0;
  CHECK(taken < 0.22 * k_units);
  CHECK(taken > 0.12 * k_units);
  // One write counts half after as many as the memory holds units, and then none.
  for (const bool halved : {false, true}) {
    const auto policy = make(k_units);
    CHECK_FALSE(policy->admits_write(1));
    for (std::uint64_t n = 0; n < k_units - (halved ? 0 : 3); ++n) policy->admits_write(2);
    CHECK(policy->admits_write(1) == !halved);
  }
}
