// Data paths of a pSLC against what their authors describe, and against the contract of their
// interface.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "firmware/pslc/cold_bypass.h"
#include "firmware/pslc/hyflex.h"
#include "firmware/pslc/lru_count.h"
#include "firmware/pslc/request_size.h"
#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

constexpr std::uint64_t k_drive_units = 100'000;
constexpr std::uint64_t k_pool = 10'000;

struct View final : PathView {
  [[nodiscard]] std::uint64_t valid_units() const override { return valid; }
  [[nodiscard]] double free_share() const override { return free; }
  std::uint64_t valid = 0;
  double free = 1;
};

/// Writes `units` from `first` on with one command; returns how many bypassed SLC.
std::uint64_t write(DataPath& path, Lpn first, std::uint64_t units) {
  path.command(units * 4096);
  std::uint64_t bypassing = 0;
  for (std::uint64_t n = 0; n < units; ++n)
    bypassing += path.bypasses(static_cast<Lpn>(first + n), units * 4096) ? 1 : 0;
  return bypassing;
}

}  // namespace

TEST_CASE("cold-bypass: addresses decide, to the unit") {
  View view;
  ColdBypass path({0.25, 0.75}, {view, k_drive_units, k_pool});
  CHECK(write(path, 0, k_drive_units) == k_drive_units / 2);
  CHECK_FALSE(path.bypasses(24'999, 4096));
  CHECK(path.bypasses(25'000, 4096));
  CHECK(path.bypasses(74'999, 4096));
  CHECK_FALSE(path.bypasses(75'000, 4096));
}

TEST_CASE("request-size: what is longer than a percentile of past writes bypasses SLC") {
  View view;
  const PathContext context{view, k_drive_units, k_pool};
  SECTION("writes of one size are all hot") {
    RequestSize path({}, context);
    for (int n = 0; n < 1000; ++n) CHECK(write(path, 0, 256) == 0);
  }
  SECTION("of small and large ones the large are cold, however many they are beyond the percentile") {
    RequestSize path({0.3, 4096}, context);
    RandomStream random(1, "small and large");
    std::uint64_t small = 0;
    std::uint64_t large = 0;
    for (int n = 0; n < 4000; ++n) {
      const bool is_small = random.below(10) < 4;
      const std::uint64_t bypassing = write(path, 0, is_small ? 1 : 64);
      if (n < 500) continue;
      (is_small ? small : large) += bypassing;
    }
    CHECK(small == 0);
    CHECK(large > 60 * 64 * 30);
  }
  SECTION("the percentile says where the border lies") {
    for (const double percentile : {0.2, 0.5, 0.8}) {
      RequestSize path({percentile, 4096}, context);
      RandomStream random(2, "sizes");
      std::uint64_t cold = 0;
      constexpr std::uint64_t k_writes = 20'000;
      for (std::uint64_t n = 0; n < k_writes; ++n) {
        // Sizes spread evenly over six octaves.
        const auto units = std::uint64_t{1} << random.below(6);
        cold += write(path, 0, units) > 0 ? 1 : 0;
      }
      INFO("percentile " << percentile);
      // Classes are a sixth of all each: the border is that exact.
      CHECK(static_cast<double>(cold) / k_writes == Approx(1 - percentile).margin(1.0 / 6));
    }
  }
  SECTION("the past fades") {
    RequestSize path({0.5, 100}, context);
    for (int n = 0; n < 1000; ++n) write(path, 0, 1);
    CHECK(write(path, 0, 8) == 8);
    for (int n = 0; n < 1000; ++n) write(path, 0, 8);
    CHECK(write(path, 0, 8) == 0);
  }
}

TEST_CASE("lru-count: hot is what was written often and lately") {
  View view;
  LruCount path({0.01, 3}, {view, k_drive_units, k_pool});  // a list of 100 units
  CHECK(path.bypasses(7, 4096));
  CHECK(path.bypasses(7, 4096));
  CHECK_FALSE(path.bypasses(7, 4096));
  SECTION("still so when as many others as fit beside it were written") {
    CHECK(write(path, 1000, 99) == 99);
    CHECK_FALSE(path.bypasses(7, 4096));
  }
  SECTION("one more, and it is forgotten") {
    CHECK(write(path, 1000, 100) == 100);
    CHECK(path.bypasses(7, 4096));
  }
  SECTION("a sequential stream never becomes hot") {
    CHECK(write(path, 1000, 50'000) == 50'000);
    CHECK(write(path, 1000, 50'000) == 50'000);
  }
}

TEST_CASE("hyflex: writes bypass SLC only while valid data grow fast and room is short") {
  View view;
  HyflexConfig config;
  config.window = 0.1;  // 1000 units
  config.bypass = 0.75;
  Hyflex path(config, {view, k_drive_units, k_pool});
  const auto run = [&](double new_data, double free) {
    view.free = free;
    std::uint64_t bypassing = 0;
    for (int n = 0; n < 100; ++n) {
      bypassing += write(path, 0, 100);
      view.valid += static_cast<std::uint64_t>(100 * new_data);
    }
    return static_cast<double>(bypassing) / 10'000;
  };
  CHECK(run(0.1, 0.1) == 0);
  CHECK(run(1, 0.9) == 0);
  run(1, 0.1);  // the first window has to pass
  CHECK(run(1, 0.1) == Approx(0.75).margin(0.02));
  run(0.1, 0.1);
  CHECK(run(0.1, 0.1) == 0);
}

TEST_CASE("hyflex: 64 units that follow one another go the same way") {
  View view;
  HyflexConfig config;
  config.window = 0.0064;  // one run
  config.bypass = 0.75;
  Hyflex path(config, {view, k_drive_units, k_pool});
  view.free = 0.1;
  view.valid = 1'000'000;
  write(path, 0, 64);  // valid data grow fast from its last unit on
  std::vector<std::uint64_t> bypassing;
  for (int run = 0; run < 8; ++run) {
    view.valid += 1000;
    bypassing.push_back(write(path, 0, 64));
  }
  CHECK(bypassing == std::vector<std::uint64_t>{0, 64, 64, 64, 0, 64, 64, 64});
}

TEST_CASE(
    "hyflex: more is dynamic in proportion to how inefficient folding is, but not while data grow fast") {
  View view;
  HyflexConfig config;
  config.window = 0.1;
  Hyflex path(config, {view, k_drive_units, k_pool});
  CHECK(path.extra() == 0);
  const auto fold = [&](std::uint32_t valid) {
    for (int n = 0; n < 1000; ++n) path.collected(valid, 100);
  };
  fold(50);
  CHECK(path.extra() == Approx(0).margin(1e-6));
  fold(75);
  CHECK(path.extra() == Approx(0.25).epsilon(0.01));
  fold(100);
  CHECK(path.extra() == Approx(0.5).epsilon(0.01));
  for (int n = 0; n < 20; ++n) {
    write(path, 0, 100);
    view.valid += 100;
  }
  CHECK(path.extra() == 0);
}

TEST_CASE("hyflex: each block that is folded counts a 32nd of the average, and those before it the rest") {
  View view;
  const HyflexConfig config;
  Hyflex path(config, {view, k_drive_units, k_pool});
  for (int n = 0; n < 32; ++n) path.collected(100, 100);
  const double mean = 1 - std::pow(31.0 / 32, 32);  // 0.64
  CHECK(path.extra() == Approx(config.extra * (mean - config.inefficient) / (1 - config.inefficient)));
}

TEST_CASE("every data path goes on after a snapshot as if nothing had happened") {
  View view;
  view.free = 0.2;
  for (const PolicyInfo& info : path_family().infos()) {
    INFO(info.name);
    const PathContext context{view, k_drive_units, k_pool};
    const auto one = path_family().make(info.name, NoValues(), context);
    const auto other = path_family().make(info.name, NoValues(), context);
    RandomStream random(3, info.name);
    const auto step = [&](DataPath& path, std::uint64_t draw) {
      path.collected(static_cast<std::uint32_t>(draw % 100), 100);
      const std::uint64_t units = 1 + draw % 32;
      return write(path, static_cast<Lpn>(draw % 7 == 0 ? draw % 1000 : draw % k_drive_units), units);
    };
    for (int n = 0; n < 5000; ++n) {
      const std::uint64_t draw = random.below(1'000'000);
      view.valid += draw % 40;
      step(*one, draw);
    }
    MemoryArchive saved;
    one->archive(saved);
    MemoryArchive loaded(saved.content());
    other->archive(loaded);
    for (int n = 0; n < 5000; ++n) {
      const std::uint64_t draw = random.below(1'000'000);
      view.valid += draw % 40;
      REQUIRE(step(*one, draw) == step(*other, draw));
      REQUIRE(one->extra() == other->extra());
    }
  }
}

namespace {

/// A drive whose upper 70 % are cold. The write buffer is full of cold data when nothing has
/// reached flash yet.
testing::Case cold_case(double bypass_buffer) {
  testing::Case c{testing::geometry(2, 1, 1, 1, 40, 16, 4096), 1, 4096, 4096};
  c.slc_pages = 4;
  c.fixed = 2;
  c.path = "cold-bypass";
  c.bypass_buffer = bypass_buffer;
  return c;
}

std::uint64_t on_flash(testing::CaseRig& rig) {
  return rig.ftl.statistics().units_programmed[static_cast<std::size_t>(Purpose::host)];
}

/// Lets time pass until so many commands have ended, or something more has reached flash.
std::uint64_t run_until(testing::CaseRig& rig, std::uint64_t completions) {
  const std::uint64_t before = on_flash(rig);
  while (rig.host.completions < completions && on_flash(rig) == before) {
    REQUIRE_FALSE(rig.hw.event_queue.empty());
    rig.hw.event_queue.run_until(rig.hw.event_queue.next());
  }
  return rig.host.completions;
}

}  // namespace

TEST_CASE("cold writes fill their part of the write buffer, and hot ones have the rest") {
  for (const double part : {0.0, 0.25, 0.5, 0.9}) {
    INFO(part << " of the buffer");
    testing::CaseRig rig(cold_case(part), true, 1);
    const std::uint64_t buffer = rig.config.buffer.capacity / 4096;
    const std::uint64_t cold =
        part == 0 ? buffer : static_cast<std::uint64_t>(std::lround(part * static_cast<double>(buffer)));
    for (std::uint64_t n = 0; n < 2 * buffer; ++n) rig.host.write(rig.shape.logical_blocks / 2 + n, 1);
    CHECK(run_until(rig, 2 * buffer) == cold);
    rig.host.drain();
    const std::uint64_t before = rig.host.completions;
    for (std::uint64_t n = 0; n < 2 * buffer; ++n) rig.host.write(rig.shape.logical_blocks / 2 + n, 1);
    for (std::uint64_t n = 0; n < buffer; ++n) rig.host.write(n, 1);
    CHECK(run_until(rig, before + 3 * buffer) == before + buffer);
    rig.finish();
  }
}
