// Trims of parts of mapping pages: nothing is programmed for them, what is gone reads as zeros from
// then on, and the last part frees the mapping page.
#include "testbench/tests/firmware/cache_rig.h"
#include "testbench/tests/firmware/life_setup.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_blocks = 8;  // of a mapping page: 4 KiB of 512 B each

/// A drive of one die, all of whose capacity is written and on flash.
struct Filled : LifeSetup {
  explicit Filled(bool timed = false) : LifeSetup({1, 1, 1, 1, 16, 8, 4096, 0}) {
    config.buffer.flush_at = 1;
    options.timed = timed;
    size();
    shape.logical_blocks = shape.logical_blocks / k_blocks * k_blocks;
    rig.emplace(*this);
    for (std::uint64_t lba = 0; lba < shape.logical_blocks; lba += k_blocks) {
      rig->host.write(lba, k_blocks);
      rig->host.wait_below(4);
    }
    rig->host.flush();
    rig->host.drain();
    rig->ftl.reset_statistics();
  }
  [[nodiscard]] const FtlStatistics& statistics() const { return rig->ftl.statistics(); }
  [[nodiscard]] std::uint64_t reads() const { return rig->hw.flash.reads; }
  [[nodiscard]] std::uint64_t programs() const { return rig->hw.flash.programs; }
  [[nodiscard]] bool mapped(Lpn unit) const { return rig->ftl.map().lookup(unit).valid(); }
  std::optional<ModelRig> rig;
};

}  // namespace

TEST_CASE("a drive that is trimmed in pieces of mapping pages is empty, and nothing was programmed for it") {
  for (const bool zeroes : {false, true}) {
    for (const std::uint32_t piece : {1U, 3U, 4U}) {  // 3: pieces over the edges of mapping pages
      INFO((zeroes ? "write zeroes" : "trims") << " of " << piece << " blocks");
      Filled drive;
      const std::uint64_t before = drive.programs();
      const std::uint64_t all = drive.shape.logical_blocks;
      for (std::uint64_t lba = 0; lba < all; lba += piece) {
        const std::uint64_t length = std::min<std::uint64_t>(piece, all - lba);
        if (zeroes) {
          drive.rig->host.zeroes(lba, static_cast<std::uint32_t>(length));
        } else {
          drive.rig->host.trim({{lba, length}});
        }
      }
      drive.rig->host.flush();
      drive.rig->host.drain();
      CHECK(drive.programs() == before);
      CHECK(drive.statistics().units_trimmed == all / k_blocks);
      CHECK(drive.statistics().units_emptied_in_parts == all / k_blocks);
      for (Lpn unit = 0; unit < all / k_blocks; ++unit) REQUIRE_FALSE(drive.mapped(unit));
      CHECK(test::statistics_of(drive.rig->ftl).at("firmware/mapping/partly trimmed") == 0);
      const std::uint64_t senses = drive.reads();
      drive.rig->host.verify_all();
      CHECK(drive.reads() == senses);
    }
  }
}

TEST_CASE("trimmed blocks of a mapping page that holds others are zeros without a sense") {
  Filled drive;
  ModelHost& host = drive.rig->host;
  host.trim({{2, 3}});
  const std::uint64_t senses = drive.reads();
  host.read(2, 3);
  host.read(3, 1);
  CHECK(drive.reads() == senses);
  CHECK(drive.statistics().unmapped_reads == 2);
  host.read(0, k_blocks);
  CHECK(drive.reads() == senses + 1);
  CHECK(test::statistics_of(drive.rig->ftl).at("firmware/mapping/partly trimmed") == 1);
  SECTION("what is written anew is there, and the rest is not read for it") {
    host.write(0, 2);
    host.write(4, 4);
    host.flush();
    CHECK(drive.statistics().rmw_reads == 0);  // blocks 2 and 3 are known to be zeros
    host.verify_all();
    host.trim({{0, 2}, {4, 4}});  // and still known: nothing is left
    CHECK_FALSE(drive.mapped(0));
  }
  SECTION("a write beside them reads what is left, not them") {
    host.write(3, 1);
    host.flush();
    CHECK(drive.statistics().rmw_reads == 1);
    host.verify_all();
    host.trim({{0, 2}, {5, 3}});
    CHECK(drive.mapped(0));  // block 3 holds data again
    host.verify_all();
    host.trim({{3, 1}});
    CHECK_FALSE(drive.mapped(0));
  }
  SECTION("a write of the whole makes it like any other") {
    host.write(0, k_blocks);
    host.flush();
    CHECK(test::statistics_of(drive.rig->ftl).at("firmware/mapping/partly trimmed") == 0);
    host.verify_all();
  }
  SECTION("a trim of the whole leaves nothing of it") {
    host.trim({{0, k_blocks}});
    CHECK(test::statistics_of(drive.rig->ftl).at("firmware/mapping/partly trimmed") == 0);
    host.write(0, 1);
    host.flush();
    host.verify_all();
  }
  SECTION("a loss of power does not bring them back") {
    host.write(2, 1);  // lost: in the buffer
    drive.rig->ftl.power_cycle();
    host.reference[2] = k_zeros;
    host.verify_all();
  }
  SECTION("a snapshot knows them") {
    host.drain();
    Filled other;
    restore(*drive.rig, *other.rig);
    CHECK(saved(other.rig->hw, other.rig->ftl) == saved(drive.rig->hw, drive.rig->ftl));
    other.rig->host.verify_all();
    const std::uint64_t known = other.reads();
    other.rig->host.read(2, 3);
    CHECK(other.reads() == known);
    other.rig->host.trim({{0, 2}, {5, 3}});
    CHECK_FALSE(other.mapped(0));
  }
}

TEST_CASE("what has been trimmed in the write buffer is not programmed") {
  Filled drive;
  ModelHost& host = drive.rig->host;
  host.write(0, k_blocks);  // newer than what lies on flash
  const std::uint64_t before = drive.programs();
  host.trim({{0, 5}});
  host.trim({{5, 3}});
  host.flush();
  host.drain();
  CHECK(drive.programs() == before);
  CHECK_FALSE(drive.mapped(0));
  host.write(0, 4);
  host.trim({{0, 2}});  // half of it goes
  host.flush();
  host.verify_all();
  CHECK(drive.programs() == before + 1);
  CHECK(drive.mapped(0));
}

TEST_CASE("flash has its place back when all that is left of a mapping page waits in the write buffer") {
  Filled drive;
  ModelHost& host = drive.rig->host;
  host.write(1, 1);
  host.trim({{0, 1}, {2, 6}});
  CHECK(drive.mapped(0));  // block 1 on flash is older, but not trimmed
  host.trim({{1, 1}});
  CHECK_FALSE(drive.mapped(0));
  host.write(1, 1);
  host.flush();
  CHECK(drive.statistics().rmw_reads == 0);
  host.verify_all();
}

TEST_CASE("a trim of a part of what is being programmed takes it from there, too") {
  Filled drive(true);
  ModelHost& host = drive.rig->host;
  const std::vector<std::vector<LbaRange>> parts = {{{0, 3}}, {{2, 2}, {5, 1}}, {{0, 4}, {4, 4}}, {{1, 7}}};
  for (const std::uint32_t written : {1U, 4U, 8U}) {  // less than all: it is completed from flash first
    for (const std::vector<LbaRange>& trimmed : parts) {
      for (int later = 0; later < 40; ++later) {
        INFO(written << " blocks, trimmed from " << trimmed.front().lba << ", step " << later);
        host.write(0, written, true);
        for (int n = 0; n < later && !drive.rig->hw.event_queue.empty(); ++n)
          drive.rig->hw.event_queue.run_until(drive.rig->hw.event_queue.next());
        host.trim(trimmed);
        if (later % 3 == 1) host.write(3, 1);
        host.read(0, k_blocks);
        host.wait_below(1);
        host.flush();
        host.read(0, k_blocks);
        host.wait_below(1);
        host.drain();
        host.read(0, k_blocks);
        host.wait_below(1);
      }
    }
  }
}

TEST_CASE(
    "the last mapping page of a drive that it does not fill is empty when all of the drive's has gone") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.size();
  setup.shape.logical_blocks = setup.shape.logical_blocks / k_blocks * k_blocks - 3;
  const std::uint64_t first = setup.shape.logical_blocks - 5;
  const auto unit = static_cast<Lpn>(first / k_blocks);
  for (const bool backwards : {false, true}) {
    ModelRig rig(setup);
    rig.host.write(first, 5);
    rig.host.flush();
    rig.host.drain();
    rig.host.trim({backwards ? LbaRange{first + 2, 3} : LbaRange{first, 2}});
    CHECK(rig.ftl.map().lookup(unit).valid());
    rig.host.verify_all();
    rig.host.trim({backwards ? LbaRange{first, 2} : LbaRange{first + 2, 3}});
    CHECK_FALSE(rig.ftl.map().lookup(unit).valid());
    rig.host.verify_all();
  }
}

TEST_CASE("a part that is trimmed leaves a cache, and what SCM holds survives a loss of power beside it") {
  std::uint64_t seed = 900;
  for (const char* medium : {"scm", "dram"}) {
    for (const char* policy : {"nv-wb", "lru", "read-write", "cflru"}) {
      for (const Bytes grain : {Bytes{512}, Bytes{4096}}) {
        CacheCase c;
        c.medium = medium;
        c.policy = policy;
        c.grain = grain;
        c.copy_in = seed % 2 == 0 ? "unit" : "sectors";
        INFO(describe(c));
        FakeOptions options;
        CacheRig rig(c, options, ++seed);
        for (int n = 0; n < 3000; ++n) {
          const std::uint64_t blocks = 1 + rig.host.random.below(40);
          const std::uint64_t lba = rig.host.random.below(rig.shape.logical_blocks - blocks);
          const std::uint64_t what = rig.host.random.below(4);
          if (what == 0) {
            rig.host.trim({{lba, blocks}});
          } else if (what == 1) {
            rig.host.read(lba, static_cast<std::uint32_t>(blocks));
          } else {
            rig.host.write(lba, static_cast<std::uint32_t>(blocks));
          }
          if (n % 50 == 0 && c.medium == "scm" && c.policy == "nv-wb") rig.ftl.power_cycle();
        }
        rig.host.verify_all();
        CHECK(rig.ftl.statistics().partial_trims > 0);
        CHECK(rig.cache().statistics().sectors_discarded > 0);
        check_conservation(rig);
      }
    }
  }
}
