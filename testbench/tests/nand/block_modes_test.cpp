// Blocks in SLC mode: what a die refuses, capacity, folding, wear in two modes, snapshots.
// Latencies are in testbench/tests/flash/block_modes_test.cpp.
#include <algorithm>
#include <map>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/tests/nand/die_fixture.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;
using Catch::Contains;

namespace {

constexpr BlockMode k_native = BlockMode::native;
constexpr BlockMode k_slc = BlockMode::slc;

/// Three pages of a block in SLC mode, nine in native mode.
NandPart two_modes() {
  NandPart part = small_part();
  part.slc_read_latency = 20_us;
  part.slc_program_latency = 100_us;
  part.slc_erase_latency = 1_ms;
  return part;
}

FlashOp in(BlockMode mode, FlashOp op, BlockMode source_mode = k_native) {
  op.mode = mode;
  op.source_mode = source_mode;
  return op;
}

FlashStatus erase(Die& die, std::uint32_t block, BlockMode mode, std::uint32_t planes = 1) {
  FlashOp o = in(mode, die.op(FlashCommand::erase, 0, block, 0, planes));
  die.state.execute(o, 0);
  return o.status;
}

/// Every unit of the operation gets a number of its own from `first` on.
void program(Die& die, std::uint32_t block, std::uint32_t page, BlockMode mode, std::uint32_t pages = 1,
             Lpn first = 0) {
  FlashOp o = in(mode, die.op(FlashCommand::program, 0, block, page, 1, pages));
  for (Lpn& unit : die.spare) unit = first++;
  die.state.execute(o, 0);
}

void read(Die& die, std::uint32_t block, std::uint32_t page, BlockMode mode) {
  FlashOp o = in(mode, die.op(FlashCommand::read, 0, block, page));
  die.state.execute(o, 0);
}

void copy(Die& die, std::uint32_t source_block, std::uint32_t source_page, BlockMode source_mode,
          std::uint32_t block, std::uint32_t page, BlockMode mode, std::uint32_t pages = 1) {
  FlashOp o = in(mode, die.copy_op(0, source_block, source_page, block, page, 1, pages), source_mode);
  die.state.execute(o, 0);
}

DieState::Block block(const Die& die, std::uint32_t number) {
  return die.state.block(PlaneId{0}, BlockId{number});
}

}  // namespace

TEST_CASE("a block is used in the mode that its erase has put it into") {
  Die die(two_modes());
  CHECK(block(die, 1).mode() == k_native);
  program(die, 1, 0, k_native);
  CHECK_THROWS_WITH(read(die, 1, 0, k_slc),
                    Contains("SLC mode asked of block 1 of plane 0, which is in native mode"));
  CHECK_THROWS_WITH(program(die, 1, 1, k_slc), Contains("which is in native mode"));
  CHECK_THROWS_WITH(program(die, 2, 0, k_slc), Contains("which is in native mode"));  // never erased
  erase(die, 1, k_slc);
  CHECK(block(die, 1).mode() == k_slc);
  CHECK_THROWS_WITH(program(die, 1, 0, k_native),
                    Contains("native mode asked of block 1 of plane 0, which is in SLC mode") &&
                        Contains("next page 0, in SLC mode") && Contains("SLC erase plane 0 block 1"));
  CHECK_THROWS_WITH(read(die, 1, 0, k_slc), Contains("not programmed"));  // nothing old shines through
  program(die, 1, 0, k_slc);
  read(die, 1, 0, k_slc);
  CHECK_THROWS_WITH(read(die, 1, 0, k_native), Contains("which is in SLC mode"));
  CHECK_THROWS_WITH(copy(die, 1, 0, k_native, 3, 0, k_native),
                    Contains("native mode asked of block 1 of plane 0, which is in SLC mode"));
  CHECK_THROWS_WITH(copy(die, 1, 0, k_slc, 3, 0, k_slc),
                    Contains("SLC mode asked of block 3 of plane 0, which is in native mode"));
  FlashOp both = in(k_slc, die.op(FlashCommand::program, 0, 1, 1, 2));
  CHECK_THROWS_WITH(die.state.execute(both, 0), Contains("of plane 1, which is in native mode"));
  erase(die, 1, k_native);
  program(die, 1, 0, k_native);
  read(die, 1, 0, k_native);
  CHECK(die.state.erases(PlaneId{0}, BlockId{1}, k_slc) == 1);
  CHECK(die.state.erases(PlaneId{0}, BlockId{1}, k_native) == 1);
  CHECK(die.state.erases(PlaneId{1}, BlockId{1}, k_slc) == 0);
  CHECK(die.state.counts().slc_erases == 1);
  CHECK(die.state.counts().slc_programs == 1);
  CHECK(die.state.counts().programs == 3);
  CHECK(die.state.counts().slc_senses == 1);
}

TEST_CASE("a block in SLC mode has a page for each word line, and programs them one by one") {
  NandPart part = two_modes();
  for (const char* unit : {"page", "word-line", "block"}) {
    part.program_unit = unit;
    INFO(unit);
    Die die(part);
    erase(die, 0, k_slc);
    CHECK_THROWS_WITH(program(die, 0, 1, k_slc), Contains("out of order: page 0"));
    for (std::uint32_t page = 0; page < 3; ++page) program(die, 0, page, k_slc);
    CHECK_THROWS_WITH(program(die, 0, 2, k_slc), Contains("not erased"));
    CHECK_THROWS_WITH(program(die, 0, 3, k_slc), Contains("address out of range"));
    CHECK_THROWS_WITH(read(die, 0, 3, k_slc), Contains("address out of range"));
    erase(die, 0, k_slc);
    CHECK_THROWS_WITH(program(die, 0, 0, k_slc, 3), Contains("programs 1 at a time, aligned, in SLC mode"));
    erase(die, 0, k_native);
    for (std::uint32_t page = 0; page < 9; page += part.pages_per_program()) {
      program(die, 0, page, k_native, part.pages_per_program());
    }
    CHECK(block(die, 0).next_page == 9);
  }
}

TEST_CASE("a part without an SLC mode says so") {
  Die die(small_part());
  CHECK_THROWS_WITH(erase(die, 0, k_slc), Contains("this part has no SLC mode"));
  CHECK_THROWS_WITH(read(die, 0, 0, k_slc), Contains("this part has no SLC mode"));
  program(die, 0, 0, k_native);
  CHECK_THROWS_WITH(copy(die, 0, 0, k_slc, 1, 0, k_native), Contains("source out of range"));
  CHECK(die.state.erases(PlaneId{0}, BlockId{0}, k_slc) == 0);
  NandPart part = two_modes();
  part.pages_per_block = 10;
  CHECK_THROWS_AS(Die(part), InputError);
}

TEST_CASE("pages in SLC mode are folded into a native word line") {
  NandPart part = two_modes();
  part.program_unit = "word-line";
  Die die(part);
  erase(die, 1, k_slc);
  for (std::uint32_t page = 0; page < 2; ++page) program(die, 1, page, k_slc, 1, 100 * page);
  CHECK_THROWS_WITH(copy(die, 1, 0, k_slc, 2, 0, k_native, 3), Contains("not programmed"));
  program(die, 1, 2, k_slc, 1, 200);
  CHECK_THROWS_WITH(copy(die, 1, 1, k_slc, 2, 0, k_native, 3), Contains("source out of range"));
  CHECK_THROWS_WITH(copy(die, 1, 0, k_slc, 2, 0, k_native, 1), Contains("programs 3 at a time"));
  copy(die, 1, 0, k_slc, 2, 0, k_native, 3);
  for (std::uint32_t i = 0; i < 12; ++i) CHECK(die.spare[i] == 100 * (i / 4) + i % 4);  // came out
  CHECK(block(die, 1).reads == 3);
  CHECK(die.state.counts().folds == 3);
  CHECK(die.state.counts().copies == 3);
  CHECK(die.state.counts().slc_senses == 3);
  CHECK(die.state.counts().slc_programs == 3);
  for (std::uint32_t page = 0; page < 3; ++page) {
    read(die, 2, page, k_native);
    for (std::uint32_t i = 0; i < 4; ++i) CHECK(die.spare[i] == 100 * page + i);
  }
  // Back, and from one block in SLC mode to another: a page at a time.
  erase(die, 3, k_slc);
  erase(die, 4, k_slc);
  copy(die, 2, 1, k_native, 3, 0, k_slc);
  copy(die, 3, 0, k_slc, 4, 0, k_slc);
  read(die, 4, 0, k_slc);
  CHECK(die.spare[0] == 100);
  CHECK(die.state.counts().folds == 3);
  CHECK(die.state.counts().copies == 5);
}

TEST_CASE("the pages of a whole native block do not fit into one block in SLC mode") {
  NandPart part = two_modes();
  part.program_unit = "block";
  Die die(part);
  erase(die, 1, k_slc);
  for (std::uint32_t page = 0; page < 3; ++page) program(die, 1, page, k_slc);
  CHECK_THROWS_WITH(copy(die, 1, 0, k_slc, 2, 0, k_native, 9), Contains("source out of range"));
}

TEST_CASE("a block's life ends when cycles / endurance, summed over both modes, exceeds 1") {
  NandPart part = two_modes();
  part.endurance = 4;
  part.slc_endurance = 12;
  struct Row {
    std::uint32_t native;  // cycles
    std::uint32_t slc;     // before the mode that fails
    BlockMode last;
    std::uint32_t equivalent;
  };
  for (const Row& row : {Row{4, 0, k_native, 4}, Row{4, 0, k_slc, 4}, Row{0, 12, k_slc, 4},
                         Row{0, 12, k_native, 4}, Row{1, 9, k_slc, 4}, Row{3, 3, k_native, 4},
                         Row{3, 1, k_native, 3}, Row{2, 4, k_native, 3}, Row{3, 2, k_native, 3}}) {
    INFO(row.native << " native, " << row.slc << " SLC");
    Die die(part);
    for (std::uint32_t i = 0; i < row.slc; ++i) REQUIRE(erase(die, 0, k_slc) == FlashStatus::ok);
    for (std::uint32_t i = 0; i < row.native; ++i) REQUIRE(erase(die, 0, k_native) == FlashStatus::ok);
    CHECK(die.state.cycles(PlaneId{0}, BlockId{0}) == row.equivalent);
    CHECK(die.state.wear(PlaneId{0}, BlockId{0}) == Approx(row.native / 4.0 + row.slc / 12.0));
    CHECK(erase(die, 0, row.last) == FlashStatus::erase_failed);
    CHECK_THROWS_WITH(program(die, 0, 0, row.last), Contains("erase has failed"));
    CHECK(block(die, 0).erases == row.native + row.slc);
  }
  // Where a native cycle is too much, one in SLC mode may still do.
  Die die(part);
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(erase(die, 0, k_native) == FlashStatus::ok);
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(erase(die, 0, k_slc) == FlashStatus::ok);
  CHECK(erase(die, 0, k_slc) == FlashStatus::erase_failed);
  // Cycles from before the simulation are native ones.
  Die old(part);
  old.state.age(3);
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(erase(old, 0, k_slc) == FlashStatus::ok);
  CHECK(old.state.wear(PlaneId{0}, BlockId{0}) == Approx(1));
  CHECK(erase(old, 0, k_slc) == FlashStatus::erase_failed);
}

TEST_CASE(
    "without an endurance of its own SLC mode wears as native mode, and without any nothing wears out") {
  NandPart part = two_modes();
  part.endurance = 3;
  Die die(part);
  for (const BlockMode mode : {k_slc, k_native, k_slc}) REQUIRE(erase(die, 0, mode) == FlashStatus::ok);
  CHECK(die.state.cycles(PlaneId{0}, BlockId{0}) == 3);
  CHECK(erase(die, 0, k_slc) == FlashStatus::erase_failed);
  part.endurance = 0;
  part.slc_endurance = 2;
  Die forever(part);
  for (std::uint32_t i = 0; i < 20; ++i) REQUIRE(erase(forever, 0, k_slc) == FlashStatus::ok);
  CHECK(forever.state.cycles(PlaneId{0}, BlockId{0}) == 20);
  CHECK(forever.state.wear(PlaneId{0}, BlockId{0}) == 0);
}

TEST_CASE("both endurances of a block spread together") {
  NandPart part = two_modes();
  part.blocks_per_plane = 20;
  part.endurance = 1000;
  part.slc_endurance = 4000;
  part.endurance_spread = 0.05;
  Die die(part);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t native = die.state.endurance(PlaneId{0}, BlockId{i});
    const std::uint32_t slc = die.state.endurance(PlaneId{0}, BlockId{i}, k_slc);
    CHECK(std::abs(static_cast<double>(slc) - 4.0 * native) <= 2.5);  // rounding
  }
  const std::uint32_t limit = die.state.endurance(PlaneId{0}, BlockId{7}, k_slc);
  for (std::uint32_t i = 0; i < limit; ++i) REQUIRE(erase(die, 7, k_slc) == FlashStatus::ok);
  CHECK(erase(die, 7, k_slc) == FlashStatus::erase_failed);
}

TEST_CASE("random operations in both modes agree with a simple model, also after saving and restoring") {
  NandPart part = two_modes();
  part.endurance = 0;
  auto die = std::make_unique<Die>(part, 4096, 2);
  struct Block {
    BlockMode mode = k_native;
    std::map<std::uint32_t, std::vector<Lpn>> pages;
    std::uint32_t erases[2] = {};
  };
  Block model[5];
  RandomStream random(4, "block modes test");
  int done[4] = {};
  int folds = 0;
  for (int step = 0; step < 40'000; ++step) {
    const auto number = static_cast<std::uint32_t>(random.below(5));
    const auto from = static_cast<std::uint32_t>(random.below(5));
    Block& target = model[number];
    Block& source = model[from];
    // Legal more often than chance would have it.
    const auto guess = [&](BlockMode is) {
      return random.below(8) == 0 ? static_cast<BlockMode>(random.below(2)) : is;
    };
    const auto next = static_cast<std::uint32_t>(target.pages.size());
    const auto page = random.below(3) == 0 ? static_cast<std::uint32_t>(random.below(10)) : next;
    const auto source_page = static_cast<std::uint32_t>(random.below(9));
    const auto what = random.below(20);
    const FlashCommand command = what < 8    ? FlashCommand::program
                                 : what < 13 ? FlashCommand::read
                                 : what < 19 ? FlashCommand::copyback
                                             : FlashCommand::erase;
    const bool reads = command == FlashCommand::read;
    FlashOp o = die->op(command, 0, number, reads ? source_page : page);
    if (command == FlashCommand::erase) o.page = PageId{0};
    o.mode = guess(target.mode);
    o.source_block = BlockId{from};
    o.source_page = PageId{source_page};
    o.source_mode = guess(source.mode);
    bool legal = o.mode == target.mode && page == next && page < (target.mode == k_slc ? 3U : 9U);
    if (command == FlashCommand::copyback)
      legal = legal && o.source_mode == source.mode && source.pages.count(source_page) != 0;
    if (reads) legal = o.mode == target.mode && target.pages.count(source_page) != 0;
    if (command == FlashCommand::erase) legal = true;
    if (command == FlashCommand::program) {
      for (Lpn& unit : die->spare) unit = static_cast<Lpn>(random.below(1000));
      for (Stamp& stamp : die->content) stamp = static_cast<Stamp>(random.below(3));
    }
    if (!legal) {
      REQUIRE_THROWS_AS(die->state.execute(o, step), NandViolation);
      continue;
    }
    die->state.execute(o, step);
    ++done[static_cast<std::size_t>(command)];
    switch (command) {
      case FlashCommand::program:
        target.pages[page] = die->spare;
        break;
      case FlashCommand::read:
        REQUIRE(die->spare == target.pages.at(source_page));
        break;
      case FlashCommand::copyback:
        REQUIRE(die->spare == source.pages.at(source_page));
        target.pages[page] = die->spare;
        folds += o.mode == k_native && o.source_mode == k_slc ? 1 : 0;
        break;
      case FlashCommand::erase:
        target.pages.clear();
        target.mode = o.mode;
        ++target.erases[static_cast<std::size_t>(o.mode)];
        break;
    }
    REQUIRE(block(*die, number).next_page == target.pages.size());
    REQUIRE(block(*die, number).mode() == target.mode);
    if (step % 4000 != 3999) continue;
    MemoryArchive archive;
    die->state.archive(archive);
    archive.rewind();
    auto restored = std::make_unique<Die>(part, 4096, 2);
    erase(*restored, 0, k_slc);  // goes away
    restored->state.archive(archive);
    CHECK(archive.at_end());
    die = std::move(restored);
    for (std::uint32_t b = 0; b < 5; ++b) {
      for (const BlockMode mode : {k_native, k_slc}) {
        CHECK(die->state.erases(PlaneId{0}, BlockId{b}, mode) ==
              model[b].erases[static_cast<std::size_t>(mode)]);
      }
    }
  }
  for (const int count : done) CHECK(count > 300);
  CHECK(folds > 100);
}

TEST_CASE("a snapshot with more pages in SLC mode than the block has is refused") {
  NandPart part = two_modes();
  part.pages_per_block = 12;
  Die die(part);
  erase(die, 0, k_slc);
  for (std::uint32_t page = 0; page < 4; ++page) program(die, 0, page, k_slc);
  MemoryArchive archive;
  die.state.archive(archive);
  archive.rewind();
  part.cell = "qlc";
  Die smaller(part);
  CHECK_THROWS_WITH(smaller.state.archive(archive), Contains("a page beyond its block"));
}
