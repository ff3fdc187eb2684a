// Blocks that go bad before their endurance is used up (NandPart::grown_bad_blocks).
#include <algorithm>
#include <cmath>
#include <optional>

#include "testbench/tests/nand/die_fixture.h"

namespace tlmssd::test {
namespace {

NandPart failing_part() {
  NandPart part = small_part();
  part.planes = 1;
  part.blocks_per_plane = 2000;
  part.pages_per_block = 6;
  part.page_size = 4096;
  part.endurance = 40;
  part.grown_bad_blocks = 0.3;
  return part;
}

/// Where the life of a block ended.
struct End {
  std::uint32_t cycle = 0;            ///< erases before it
  std::optional<std::uint32_t> page;  ///< whose program failed; none: an erase
};

FlashStatus program(Die& die, std::uint32_t block, std::uint32_t page) {
  FlashOp op = die.op(FlashCommand::program, 0, block, page);
  die.state.execute(op, 0);
  return op.status;
}

End live(Die& die, std::uint32_t block) {
  for (std::uint32_t cycle = 0;; ++cycle) {
    for (std::uint32_t page = 0; page < die.part.pages_per_block; ++page) {
      if (program(die, block, page) != FlashStatus::ok) return {cycle, page};
    }
    if (die.erase(0, block) != FlashStatus::ok) return {cycle, {}};
  }
}

/// Whether `count` of `of` is within four deviations of the binomial distribution's mean.
bool is_share(double count, double of, double share) {
  return std::abs(count - of * share) < 4 * std::sqrt(of * share * (1 - share));
}

}  // namespace

TEST_CASE("as many blocks as the part says go bad in their life: half at a program, half at an erase") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Die die(failing_part(), 4096, 1, seed);
    double at_program = 0;
    double at_erase = 0;
    double cycles = 0;
    double pages = 0;
    for (std::uint32_t block = 0; block < die.part.blocks_per_plane; ++block) {
      const End end = live(die, block);
      if (end.page) {
        ++at_program;
        pages += *end.page;
      } else if (end.cycle < die.part.endurance) {
        ++at_erase;
      } else {
        CHECK(end.cycle == die.part.endurance);
        continue;
      }
      cycles += end.cycle;
    }
    const double bad = at_program + at_erase;
    CHECK(is_share(bad, die.part.blocks_per_plane, die.part.grown_bad_blocks));
    CHECK(is_share(at_program, bad, 0.5));
    // Uniform over the cycles 1 to 40 (or 39 at an erase, for the 40th would end it anyhow) and
    // over the pages 0 to 5.
    CHECK(std::abs(cycles / bad - 20.5) < 4 * 40 / std::sqrt(12 * bad));
    CHECK(std::abs(pages / at_program - 2.5) < 4 * 6 / std::sqrt(12 * at_program));
    CHECK(die.state.counts().program_failures == static_cast<std::uint64_t>(at_program));
  }
}

TEST_CASE(
    "a block that has gone bad fails again, and what it held before can be read, the failed page cannot") {
  Die die(failing_part(), 4096, 1);
  std::uint32_t block = 0;
  End end = live(die, block);
  while (!end.page || *end.page == 0) end = live(die, ++block);
  const std::uint32_t page = *end.page;
  CHECK(program(die, block, page + 1 < 6 ? page + 1 : page) != FlashStatus::ok);
  CHECK(die.state.spare(PlaneId{0}, BlockId{block}, PageId{page}, 0) == k_no_unit);
  CHECK(die.erase(0, block) == FlashStatus::ok);
  FlashOp data = die.op(FlashCommand::program, 0, block, 0);
  for (std::uint32_t at = 0; at < page; ++at) {
    data = die.op(FlashCommand::program, 0, block, at);
    die.spare.assign(1, 100 + at);
    die.content.assign(1, static_cast<Stamp>(7 + at));
    die.state.execute(data, 0);
    CHECK(data.status == FlashStatus::ok);
  }
  data = die.op(FlashCommand::program, 0, block, page);
  die.spare.assign(1, 100 + page);
  die.content.assign(1, static_cast<Stamp>(7 + page));
  die.state.execute(data, 0);
  CHECK(data.status == FlashStatus::program_failed);
  for (std::uint32_t at = 0; at <= page; ++at) {
    FlashOp read = die.op(FlashCommand::read, 0, block, at);
    read.senses = 1;
    die.state.execute(read, 0);
    CHECK(die.spare[0] == (at < page ? 100 + at : k_no_unit));
    CHECK(die.content[0] == (at < page ? static_cast<Stamp>(7 + at) : k_zeros));
  }
}

TEST_CASE("a copyback onto a block that has gone bad fails as a program does") {
  Die die(failing_part(), 4096, 1);
  std::uint32_t block = 0;
  End end = live(die, block);
  while (!end.page || *end.page != 0) end = live(die, ++block);
  std::uint32_t source = block + 1;
  program(die, source, 0);
  die.erase(0, block);
  FlashOp op = die.copy_op(0, source, 0, block, 0);
  die.state.execute(op, 0);
  CHECK(op.status == FlashStatus::program_failed);
  CHECK(die.state.spare(PlaneId{0}, BlockId{block}, PageId{0}, 0) == k_no_unit);
}

TEST_CASE("one plane whose block has gone bad fails a program of two, and the other's data are there") {
  NandPart part = failing_part();
  part.planes = 2;
  part.blocks_per_plane = 200;
  Die die(part, 4096, 1);
  std::uint32_t failures = 0;
  for (std::uint32_t block = 0; block < part.blocks_per_plane; ++block) {
    FlashStatus status = FlashStatus::ok;
    for (std::uint32_t cycle = 0; cycle < part.endurance && status == FlashStatus::ok; ++cycle) {
      for (std::uint32_t page = 0; page < 6 && status == FlashStatus::ok; ++page) {
        FlashOp op = die.op(FlashCommand::program, 0, block, page, 2);
        die.spare = {5, 6};
        die.content = {8, 9};
        die.state.execute(op, 0);
        status = op.status;
        if (status == FlashStatus::ok) continue;
        const Lpn first = die.state.spare(PlaneId{0}, BlockId{block}, PageId{page}, 0);
        const Lpn second = die.state.spare(PlaneId{1}, BlockId{block}, PageId{page}, 0);
        CHECK((first == 5 || first == k_no_unit));
        CHECK((second == 6 || second == k_no_unit));
        CHECK((first == k_no_unit || second == k_no_unit));
        if (first != second) ++failures;
      }
      if (status == FlashStatus::ok) status = die.erase(0, block, 2);
    }
  }
  CHECK(failures > 20);
}

TEST_CASE("what went bad before the drive's age has been replaced, and what goes bad after it still does") {
  NandPart part = failing_part();
  part.grown_bad_blocks = 1;
  Die die(part, 4096, 1);
  die.state.age(30);
  double bad = 0;
  for (std::uint32_t block = 0; block < part.blocks_per_plane; ++block) {
    const End end = live(die, block);
    CHECK(end.cycle <= 10);
    if (end.page || end.cycle < 10) {
      CHECK(end.cycle > 0);
      ++bad;
    }
  }
  // A quarter of the points lie in the last quarter; an erase in the last cycle cannot be told
  // from the end of the endurance.
  CHECK(is_share(bad, part.blocks_per_plane, 0.25));
}

TEST_CASE("without blocks that go bad, and of a part without end, nothing fails") {
  for (const bool endless : {false, true}) {
    NandPart part = failing_part();
    if (endless) {
      part.endurance = 0;
    } else {
      part.grown_bad_blocks = 0;
    }
    Die die(part, 4096, 1);
    for (std::uint32_t block = 0; block < 200; ++block) {
      for (std::uint32_t cycle = 0; cycle < 40; ++cycle) {
        for (std::uint32_t page = 0; page < 6; ++page) REQUIRE(program(die, block, page) == FlashStatus::ok);
        REQUIRE(die.erase(0, block) == FlashStatus::ok);
      }
    }
  }
}

}  // namespace tlmssd::test
