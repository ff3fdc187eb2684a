// DFTL with its cache in the host memory buffer: which bytes go there and back, and that the cache
// keeps what one in DRAM keeps.
#include <vector>

#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/dftl_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr Bytes k_entry = 4;   // looked at or changed
constexpr Bytes k_cached = 8;  // in a line that comes or goes

struct HostSetup : DftlSetup {
  explicit HostSetup(std::int64_t lines, std::int64_t line = 1, bool batch = true)
      : DftlSetup(lines, line, false, batch, "host") {}
};

/// Counts the accesses to the host memory buffer from here on.
class Traffic {
 public:
  explicit Traffic(const DftlRig& rig) : memory_(rig.hw.memory), before_(now()) {}
  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    Bytes read = 0;
    Bytes written = 0;
    bool operator==(const Counts&) const = default;
  };
  [[nodiscard]] Counts counts() const {
    const Counts n = now();
    return {n.reads - before_.reads, n.writes - before_.writes, n.read - before_.read,
            n.written - before_.written};
  }

 private:
  [[nodiscard]] Counts now() const {
    return {memory_.host_reads, memory_.host_writes, memory_.host_bytes_read, memory_.host_bytes_written};
  }
  const FakeMemory& memory_;
  Counts before_;
};

std::ostream& operator<<(std::ostream& out, const Traffic::Counts& n) {
  return out << n.reads << " reads of " << n.read << " B, " << n.writes << " writes of " << n.written << " B";
}

}  // namespace

TEST_CASE("dftl in host memory: a hit is read there, what comes from flash is written there") {
  for (const std::int64_t line : {1, 4, 128}) {
    HostSetup setup(8, line);
    DftlRig rig(setup);
    rig.fill();
    rig.rinse(static_cast<std::uint32_t>(8 * line));
    const Bytes whole_line = k_cached * static_cast<Bytes>(line);
    INFO("lines of " << line);
    const Traffic miss(rig);
    CHECK_FALSE(rig.hits(0));
    rig.host.drain();
    CHECK(miss.counts() == Traffic::Counts{0, 1, 0, whole_line});
    const Traffic hit(rig);
    CHECK(rig.hits(0));
    CHECK(hit.counts() == Traffic::Counts{1, 0, k_entry, 0});
    // Of four units one is there, unless all of them are in its line.
    const Traffic part(rig);
    rig.host.read(0, 4);
    rig.host.drain();
    if (line == 1) {
      CHECK(part.counts() == Traffic::Counts{1, 1, k_entry, 3 * whole_line});
    } else {
      CHECK(part.counts() == Traffic::Counts{1, 0, 4 * k_entry, 0});
    }
  }
}

TEST_CASE("dftl in host memory: a dirty line is read back before its map page is written") {
  for (const bool batch : {false, true}) {
    for (const std::int64_t line : {1, 4, 128}) {
      HostSetup setup(8, line, batch);
      DftlRig rig(setup);
      rig.fill();
      rig.rinse(static_cast<std::uint32_t>(8 * line));
      INFO("lines of " << line << ", batch update " << batch);
      const auto distance = static_cast<std::uint64_t>(line);
      // Two dirty lines, of one map page where that has more than one.
      for (const std::uint64_t unit : {std::uint64_t{0}, distance}) rig.host.write(unit, 1);
      rig.host.drain();
      rig.ftl.reset_statistics();
      const Traffic traffic(rig);
      for (std::uint64_t n = 2; n < 10; ++n) CHECK_FALSE(rig.hits(n * distance));
      rig.host.drain();
      const DftlStatistics& map = rig.map();
      CHECK(map.dirty_evictions == (batch && line < 128 ? 1 : 2));
      CHECK(map.write_backs + map.batched == 2);
      const Bytes whole_line = k_cached * static_cast<Bytes>(line);
      CHECK(traffic.counts().read == 2 * whole_line);
      CHECK(traffic.counts().reads == (batch && line < 128 ? 1 : 2));  // neighbours together
      CHECK(traffic.counts().written == 8 * whole_line);
    }
  }
}

TEST_CASE("dftl in host memory: changed entries are written there if they are cached") {
  HostSetup setup(8);
  DftlRig rig(setup);
  rig.fill();
  rig.rinse(8);
  CHECK_FALSE(rig.hits(3));
  const Traffic write(rig);
  rig.host.write(3, 1);
  rig.host.drain();
  CHECK(write.counts() == Traffic::Counts{0, 1, 0, k_entry});
  // Of a trim of everything, what is cached, not what becomes void in flash.
  const Traffic trim(rig);
  rig.host.trim({{0, rig.blocks}});
  rig.host.drain();
  CHECK(trim.counts().written <= 8 * k_entry);
  CHECK(trim.counts().reads == 0);
}

TEST_CASE("dftl in host memory: the buffer holds the cache, DRAM the directory") {
  HostSetup setup(64, 4);
  DftlRig rig(setup);
  const Bytes cache = 64 * 4 * k_cached;
  CHECK(rig.ftl.host_memory_bytes() == cache);
  CHECK(rig.ftl.map().dram_bytes() == 20 * k_entry);
  DftlSetup in_dram(64, 4);
  CHECK(DftlRig(in_dram).ftl.host_memory_bytes() == 0);
  rig.fill();
  for (std::uint64_t unit = 0; unit < rig.blocks; unit += 7) rig.host.read(unit, 1);
  rig.host.verify_all();
  CHECK(rig.hw.memory.host_highest > cache / 2);
  CHECK(rig.hw.memory.host_highest <= cache);
  CHECK(rig.hw.memory.highest <= rig.ftl.dram_bytes());
}

TEST_CASE(
    "dftl in host memory: the cache keeps what one in DRAM keeps, and no host memory is touched there") {
  const auto life = [](const char* place) {
    DftlSetup setup(100, 4, true, true, place);
    setup.options.timed = false;
    DftlRig rig(setup);
    rig.fill();
    for (int n = 0; n < 5000; ++n) {
      const std::uint64_t lba = rig.host.random.below(rig.blocks - 8);
      if (rig.host.random.below(2) == 0) {
        rig.host.write(lba, 3);
      } else {
        rig.host.read(lba, 5);
      }
    }
    rig.host.drain();
    rig.host.verify_all();
    const DftlStatistics& map = rig.map();
    CHECK((rig.hw.memory.host_writes > 0) == (std::string(place) == "host"));
    return std::vector<std::uint64_t>{map.lookups,         map.misses,          map.page_reads,
                                      map.clean_evictions, map.dirty_evictions, map.write_backs,
                                      map.batched,         map.late_entries,    map.most_lines};
  };
  CHECK(life("host") == life("dram"));
}

TEST_CASE("dftl in host memory: a snapshot of a cache in DRAM fits, and the other way round") {
  for (const bool host_first : {false, true}) {
    DftlSetup first(16, 1, false, true, host_first ? "host" : "dram");
    DftlSetup second(16, 1, false, true, host_first ? "dram" : "host");
    DftlRig from(first);
    from.fill();
    from.rinse(16);
    for (std::uint64_t unit = 0; unit < 16; ++unit) CHECK_FALSE(from.hits(unit));
    from.host.drain();
    DftlRig to(second);
    restore(from, to);
    for (std::uint64_t unit = 0; unit < 16; ++unit) CHECK(to.hits(unit));
    to.host.verify_all();
  }
}
