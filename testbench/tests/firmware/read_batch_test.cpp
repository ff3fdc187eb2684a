// Reads that are made together: what becomes one operation, and to whom their time is charged.
#include "firmware/flash/read_batch.h"

#include <catch2/catch.hpp>
#include <vector>

#include "firmware/flash/program.h"
#include "testbench/tests/firmware/fake_hardware.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_planes = 2;
constexpr Lpn k_first = 100;  ///< unit `n` of parallel unit `pu` is k_first + 10 * pu + n

/// One die of two planes with pages of two units; a page of each plane is programmed. `together`:
/// with pages of one unit, and the planes are programmed together; five pages are.
struct Rig final : CoreEvents {
  explicit Rig(bool together = false)
      : hw(shape_of(together), FakeOptions{.shuffle = true}),
        core(hw.ports, shape_of(together), config_of(together), *this) {
    for (std::uint32_t pu = 0; pu < core.layout.pus; ++pu) {
      for (std::uint32_t page = 0; page < (together ? 5 : 1); ++page) program(pu);
    }
    hw.flash.options.timed = true;
  }
  static DriveShape shape_of(bool together) {
    DriveShape shape;
    shape.geometry = {1, 1, 1, k_planes, 8, 4, together ? 4096U : 8192U, 0};
    shape.logical_blocks = 256;
    return shape;
  }
  static FirmwareConfig config_of(bool together) {
    FirmwareConfig config;
    config.allocation.multi_plane = together;
    return config;
  }
  void program(std::uint32_t pu) {
    ProgramJob& job = core.jobs.take();
    job.pu = pu;
    const std::vector<Stamp> stamps(core.layout.sectors, static_cast<Stamp>(7 + pu));
    const auto first = static_cast<Lpn>(k_first + 10 * pu + place[pu].size());
    while (job.live < core.layout.program_units) job.put(first + job.live, 0, stamps.data());
    const Program program(core, job, WriteTarget::host, Purpose::host, 0);
    REQUIRE(program.await_ready());
    REQUIRE(program.await_resume());
    end_program(core, job);
    for (std::uint32_t n = 0; n < core.layout.program_units; ++n) place[pu].push_back(job.base + n);
    core.jobs.give(job);
  }
  void unpinned(std::uint32_t /*pu*/, BlockNumber /*block*/) override {}
  void now_read_only() override {}
  void work_ended() override {}
  void host_idle() override {}

  void add(ReadBatch& reads, std::uint32_t pu, std::uint32_t n) const {
    reads.add(place[pu][n], static_cast<Lpn>(k_first + 10 * pu + n), n);
  }
  /// Reads a batch; returns when the last of it came.
  Picoseconds run(ReadBatch& reads) {
    bool done = false;
    const auto body = [](ReadBatch& batch, bool& flag) -> Task<> {
      co_await batch;
      flag = true;
    };
    body(reads, done).start();
    while (!done) {
      REQUIRE(!hw.event_queue.empty());
      hw.event_queue.run_until(hw.event_queue.next());
    }
    return hw.event_queue.now();
  }
  /// Looks at what has come, and counts it.
  std::uint32_t drain(ReadBatch& reads) {
    std::uint32_t units = 0;
    reads.drain([&](const ReadOp& read, std::uint32_t at) {
      CHECK(check_read(core, read, at));
      CHECK(core.pool.pinned(read.block));
      const Lpn unit = read.wanted[at] - k_first;
      CHECK(read.need[at] == unit % 10);
      CHECK(*read.content(at) == 7 + unit / 10);
      ++units;
    });
    for (const std::vector<Ppn>& of_pu : place) {
      for (const Ppn where : of_pu) CHECK(!core.pool.pinned(core.layout.block_of(where)));
    }
    return units;
  }

  FakeHardware hw;
  Core core;
  std::vector<Ppn> place[k_planes];  ///< of each unit of each parallel unit
};

Picoseconds stages(std::uint32_t operations) {
  return FakeOptions{}.stage_time * operations;
}

}  // namespace

TEST_CASE("a single read is charged to the ledger itself") {
  Rig rig;
  Ledger ledger(0);
  ReadBatch reads(rig.core, Purpose::host, 0, &ledger);
  rig.add(reads, 0, 1);
  const Picoseconds end = rig.run(reads);
  CHECK(reads.front()->op.ledger == &ledger);
  CHECK(ledger.mark() == end);
  CHECK(ledger.spent(Cause::firmware) == stages(1));
  CHECK(ledger.spent(Cause::sense) == end - stages(1));
  CHECK(rig.drain(reads) == 1);
}

TEST_CASE("units of one page are one read, however often the page comes up") {
  Rig rig;
  Ledger ledger(0);
  ReadBatch reads(rig.core, Purpose::host, 0, &ledger);
  rig.add(reads, 0, 1);
  rig.add(reads, 1, 0);
  rig.add(reads, 0, 0);
  CHECK(reads.size() == 2);
  rig.run(reads);
  CHECK(rig.hw.flash.reads == 2);
  CHECK(rig.core.stats.reads[static_cast<std::size_t>(Purpose::host)] == 2);
  CHECK(rig.drain(reads) == 3);
}

TEST_CASE("a read of its own is joined by none") {
  Rig rig;
  ReadBatch reads(rig.core, Purpose::host, 0);
  struct Redirector final : Feature {
    void archive(Archive& /*archive*/) override {}
  } feature;
  reads.add_apart(rig.place[0][0], k_first).redirector = &feature;
  reads.front()->original = rig.place[0][0];
  rig.core.pool.pin(rig.core.layout.block_of(rig.place[0][0]));  // of the original, as features do
  rig.add(reads, 0, 1);
  CHECK(reads.size() == 2);
  rig.run(reads);
  CHECK(rig.drain(reads) == 2);
}

TEST_CASE("of several reads, the ledger takes over the one that ends last") {
  Rig rig;
  Ledger ledger(0);
  ReadBatch reads(rig.core, Purpose::host, 0, &ledger);
  rig.add(reads, 0, 0);
  rig.add(reads, 1, 0);
  const Picoseconds end = rig.run(reads);
  Picoseconds first = end;
  Picoseconds last = 0;
  for (const ReadOp& read : reads) {
    CHECK(read.op.ledger == &read.ledger);
    first = std::min(first, read.ledger.mark());
    last = std::max(last, read.ledger.mark());
  }
  CHECK(first < last);
  CHECK(last == end);
  CHECK(ledger.mark() == end);
  CHECK(ledger.spent(Cause::firmware) == stages(2));
  CHECK(ledger.spent(Cause::sense) == end - stages(2));
  CHECK(rig.drain(reads) == 2);
}

TEST_CASE("planes that a die can read together are one operation, charged directly") {
  Rig rig;
  Ledger ledger(0);
  PlaneJoiner joiner(false);
  ReadBatch reads(rig.core, Purpose::host, 0, &ledger, &joiner);
  rig.add(reads, 0, 0);
  rig.add(reads, 1, 0);
  const Picoseconds end = rig.run(reads);
  CHECK(reads.size() == 2);
  CHECK(rig.hw.flash.reads == 1);
  CHECK(rig.core.stats.reads[static_cast<std::size_t>(Purpose::host)] == 1);
  CHECK(ledger.spent(Cause::firmware) == stages(1));
  CHECK(ledger.spent(Cause::sense) == end - stages(1));
  CHECK(rig.drain(reads) == 2);
}

TEST_CASE("whole pages that follow one another in neighbouring planes are one read") {
  Rig rig(true);
  Ledger ledger(0);
  PlaneJoiner joiner(false);
  ReadBatch reads(rig.core, Purpose::host, 0, &ledger, &joiner);
  for (std::uint32_t n = 0; n < 4; ++n) rig.add(reads, 0, n);
  CHECK(reads.size() == 2);
  const Picoseconds end = rig.run(reads);
  for (const ReadOp& read : reads) {
    CHECK(read.op.planes == 2);
    CHECK(read.op.next_plane == nullptr);
  }
  CHECK(rig.hw.flash.reads == 2);
  CHECK(ledger.spent(Cause::firmware) == stages(2));
  CHECK(ledger.mark() == end);
  CHECK(rig.drain(reads) == 4);
}

TEST_CASE("whole pages stay reads of their own where planes are not joined") {
  Rig rig(true);
  ReadBatch reads(rig.core, Purpose::gc, 0);
  rig.add(reads, 0, 0);
  rig.add(reads, 0, 1);
  CHECK(reads.size() == 2);
  rig.run(reads);
  CHECK(rig.hw.flash.reads == 2);
  CHECK(rig.drain(reads) == 2);
}

TEST_CASE("which planes go together is the joiner's choice when pages of one number meet") {
  Rig rig(true);
  PlaneJoiner joiner(false);
  ReadBatch reads(rig.core, Purpose::host, 0, nullptr, &joiner);
  rig.add(reads, 0, 8);  // the first page of the next block, in the first plane
  rig.add(reads, 0, 0);  // of the same number
  rig.add(reads, 0, 1);
  CHECK(reads.size() == 3);
  rig.run(reads);
  CHECK(rig.hw.flash.reads == 2);  // the first and the last together
  CHECK(rig.drain(reads) == 3);
}

TEST_CASE("untimed, a batch is ready at once, and an empty one always is") {
  Rig rig;
  ReadBatch nothing(rig.core, Purpose::host, 0);
  CHECK(nothing.await_ready());
  rig.hw.flash.options.timed = false;
  ReadBatch reads(rig.core, Purpose::gc, 0);
  rig.add(reads, 0, 0);
  rig.add(reads, 1, 1);
  CHECK(reads.await_ready());
  CHECK(rig.drain(reads) == 2);
  CHECK(rig.hw.event_queue.now() == 0);
}

TEST_CASE("a spare area that names another unit ends the run") {
  Rig rig;
  rig.hw.flash.options.timed = false;
  ReadBatch reads(rig.core, Purpose::host, 0);
  reads.add(rig.place[0][0], k_first + 1);
  REQUIRE(reads.await_ready());
  CHECK_THROWS_WITH(check_read(rig.core, *reads.front(), reads.front()->low),
                    Catch::Contains("should hold logical unit 101 but its spare area says 100"));
}
