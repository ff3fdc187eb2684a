// The log by itself: against a model that keeps everything in plain tables and searches it.
#include "testbench/host/log_structured/segment_log.h"

#include <systemc>

#include <catch2/catch.hpp>
#include <vector>

#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd {
namespace {

using Place = SegmentLog::Place;
using Segment = SegmentLog::Segment;

constexpr SegmentLog::Shape k_shape{40, 9, 8};

/// Appends whole runs and keeps a table beside the log.
struct Model {
  explicit Model(std::uint64_t seed)
      : random(seed, "segment log"), where(k_shape.grains, SegmentLog::k_nowhere) {}
  std::uint32_t any_grain() { return static_cast<std::uint32_t>(random.below(k_shape.grains)); }
  SegmentLog::Run take(std::uint32_t grains) {
    if (log.head_room() == 0) log.open_segment();
    return log.take(grains);
  }
  void append() {
    const SegmentLog::Run run = take(1 + static_cast<std::uint32_t>(random.below(12)));
    const bool fails = random.below(10) == 0;
    for (std::uint32_t i = 0; i < run.grains && !fails; ++i) {
      const std::uint32_t grain = any_grain();
      log.map(grain, run.first + i);
      where[grain] = run.first + i;
    }
    log.committed(run);
  }
  void clean() {
    const std::optional<Segment> found = log.choose_victim();
    if (!found) return;
    const Segment victim = *found;
    std::vector<std::pair<std::uint32_t, Place>> moves;
    log.for_each_valid(victim, [&](std::uint32_t grain, Place place) { moves.emplace_back(grain, place); });
    std::uint32_t expected = 0;
    for (const Place place : where)
      expected += place < SegmentLog::k_lost && log.segment_of(place) == victim ? 1 : 0;
    REQUIRE(moves.size() == expected);
    log.pin(victim);
    for (const auto& [grain, place] : moves) {
      REQUIRE(where[grain] == place);
      const SegmentLog::Run run = take(1);
      log.map(grain, run.first);
      where[grain] = run.first;
      log.committed(run);
    }
    REQUIRE(log.is_victim(victim));
    log.unpin(victim);
    REQUIRE(!log.is_victim(victim));
  }
  void step() {
    while (log.free_segments() < 2) clean();
    const std::uint64_t what = random.below(10);
    const std::uint32_t grain = any_grain();
    if (what < 8) {
      append();
    } else {
      what == 8 ? log.deallocate(grain) : log.lose(grain);
      where[grain] = what == 8 ? SegmentLog::k_nowhere : SegmentLog::k_lost;
    }
  }
  void check() const {
    std::uint32_t mapped = 0;
    for (std::uint32_t grain = 0; grain < k_shape.grains; ++grain) {
      REQUIRE(log.lookup(grain) == where[grain]);
      mapped += where[grain] < SegmentLog::k_lost ? 1 : 0;
    }
    REQUIRE(log.mapped() == mapped);
  }
  RandomStream random;
  SegmentLog log{k_shape};
  std::vector<Place> where;
};

}  // namespace

TEST_CASE("the log against plain tables") {
  Model model(1);
  for (int i = 0; i < 20'000; ++i) {
    model.step();
    if (i % 16 == 0) model.check();
  }
}

TEST_CASE("a log restored goes on as the one saved") {
  Model saved(2);
  for (int i = 0; i < 3'000; ++i) saved.step();
  MemoryArchive archive;
  saved.log.archive(archive);
  Model restored(3);
  for (int i = 0; i < 500; ++i) restored.step();  // what it held before must not shine through
  archive.rewind();
  restored.log.archive(archive);
  CHECK(archive.at_end());
  restored.where = saved.where;
  restored.random = saved.random;
  for (int i = 0; i < 3'000; ++i) {
    saved.step();
    restored.step();
    REQUIRE(saved.where == restored.where);
  }
  restored.check();
}

TEST_CASE("the head fills segments from start to end, the one free for longest next") {
  SegmentLog log({4, 3, 2});
  const auto append = [&](std::uint32_t grain) {
    if (log.head_room() == 0) log.open_segment();
    const SegmentLog::Run run = log.take(1);
    log.map(grain, run.first);
    log.committed(run);
    return run.first;
  };
  CHECK(append(0) == 0);
  CHECK(append(1) == 1);
  CHECK(append(0) == 2);
  CHECK(append(1) == 3);  // segment 0 is free
  CHECK(log.free_segments() == 2);
  CHECK(append(0) == 4);
  CHECK(append(1) == 5);  // so is segment 1
  CHECK(append(2) == 0);
  CHECK(append(3) == 1);
  CHECK(append(2) == 2);
}

TEST_CASE("a pinned segment is not free, nor one that is being written") {
  SegmentLog log({4, 3, 2});
  log.open_segment();
  const SegmentLog::Run first = log.take(2);
  CHECK_FALSE(log.choose_victim());
  log.map(0, first.first);
  log.map(1, first.first + 1);
  log.pin(0);
  log.committed(first);
  log.deallocate(0);
  log.deallocate(1);
  CHECK(log.free_segments() == 2);
  log.unpin(0);
  CHECK(log.free_segments() == 3);
  log.open_segment();
  const SegmentLog::Run second = log.take(2);
  CHECK(log.free_segments() == 2);
  log.committed(second);  // a write that failed leaves holes only
  CHECK(log.free_segments() == 3);
}

TEST_CASE("the victim is the segment with the fewest valid grains") {
  SegmentLog log({8, 5, 3});
  for (std::uint32_t segment = 0; segment < 2; ++segment) {
    log.open_segment();
    const SegmentLog::Run run = log.take(3);
    for (std::uint32_t i = 0; i < 3; ++i) log.map(segment * 3 + i, run.first + i);
    log.committed(run);
  }
  CHECK_FALSE(log.choose_victim());  // nothing to gain
  log.deallocate(4);
  CHECK(log.choose_victim() == 1);
  log.give_up(1);
  log.deallocate(0);
  log.deallocate(1);
  CHECK(log.choose_victim() == 0);
  CHECK(log.valid(0) == 1);
}

}  // namespace tlmssd
