#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/tests/nand/die_fixture.h"

using namespace tlmssd;
using namespace tlmssd::test;
using Catch::Contains;

TEST_CASE("a die refuses what silicon refuses, and says where and after what") {
  Die die(small_part());
  die.program(0, 1, 0);
  die.program(0, 1, 1);
  CHECK_THROWS_WITH(die.program(0, 1, 1), Contains("not erased") && Contains("plane 0 block 1 page 1") &&
                                              Contains("program plane 0 block 1 page 0 at 0 ps"));
  CHECK_THROWS_WITH(die.program(0, 1, 3), Contains("out of order") && Contains("page 2"));
  CHECK_THROWS_WITH(die.program(0, 2, 1), Contains("out of order"));
  CHECK_THROWS_WITH(die.program(0, 1, 2, 2), Contains("out of order"));  // plane 1 is at page 0
  CHECK_THROWS_WITH(die.program(0, 1, 2, 1, 2), Contains("programs 1 at a time"));
  CHECK_THROWS_WITH(die.read(0, 1, 2), Contains("not programmed"));
  CHECK_THROWS_WITH(die.read(0, 1, 1, 2), Contains("not programmed"));
  CHECK_THROWS_WITH(die.read(2, 1, 0), Contains("out of range"));
  CHECK_THROWS_WITH(die.read(0, 5, 0), Contains("out of range"));
  CHECK_THROWS_WITH(die.read(0, 1, 9), Contains("out of range"));
  CHECK_THROWS_WITH(die.erase(1, 0, 2), Contains("out of range"));
  CHECK_THROWS_WITH(die.program(0, 1, 2, 0), Contains("out of range"));
  FlashOp elsewhere = die.op(FlashCommand::read, 0, 1, 0);
  elsewhere.die = DieId{3};
  CHECK_THROWS_AS(die.state.execute(elsewhere, 0), NandViolation);
  FlashOp part_of_page = die.op(FlashCommand::program, 0, 1, 2);
  part_of_page.slots = 1;
  CHECK_THROWS_WITH(die.state.execute(part_of_page, 0), Contains("does not fill"));
  FlashOp beyond = die.op(FlashCommand::read, 0, 1, 0);
  beyond.first_slot = 1;
  CHECK_THROWS_WITH(die.state.execute(beyond, 0), Contains("beyond its pages"));
  // None of these changed anything.
  die.program(0, 1, 2);
  CHECK(die.state.block(PlaneId{0}, BlockId{1}).next_page == 3);
}

TEST_CASE("which units an operation reads is known before it has read them") {
  Die die(small_part());
  const std::uint32_t units = die.state.units_per_page();
  for (std::uint32_t page = 0; page < 4; ++page) {
    FlashOp program = die.op(FlashCommand::program, 0, 1, page, 2);
    for (std::uint32_t i = 0; i < program.slots; ++i) die.spare[i] = 100 * page + i;
    die.state.execute(program, 0);
  }
  const auto known = [&](const FlashOp& op) {
    std::vector<Lpn> list;
    for (std::uint32_t i = 0; i < op.slots; ++i) list.push_back(die.state.spare(op, i));
    return list;
  };
  FlashOp read = die.op(FlashCommand::read, 0, 1, 2, 2);
  read.first_slot = 1;
  read.slots = 2 * units - 2;
  die.spare.resize(read.slots);
  const std::vector<Lpn> before = known(read);
  die.state.execute(read, 0);
  CHECK(before == die.spare);
  CHECK(before.front() == 201);
  CHECK(before.back() == 200 + 2 * units - 2);
  FlashOp copy = die.copy_op(0, 1, 3, 2, 0, 2);
  const std::vector<Lpn> copied = known(copy);
  die.state.execute(copy, 0);
  CHECK(copied == die.spare);
  CHECK(copied.front() == 300);
  FlashOp steps = die.copy_op(0, 1, 1, 3, 0, 2, 3);  // of another part: only where its slots come from
  CHECK(known(steps)[units] == 200);
  CHECK(known(steps)[3 * units] == 100 + units);
  FlashOp blank = die.op(FlashCommand::read, 0, 1, 4);
  CHECK(known(blank) == std::vector<Lpn>(units, k_no_unit));
}

TEST_CASE("a copyback keeps the rules of reads at its source and of programs at its destination") {
  Die die(small_part());
  for (std::uint32_t page = 0; page < 3; ++page) die.program(0, 1, page);
  die.program(1, 1, 0);
  die.program(0, 2, 0);
  CHECK_THROWS_WITH(die.copy(0, 1, 3, 3, 0), Contains("copy of a page that is not programmed, in plane 0") &&
                                                 Contains("block 3 page 0 from block 1 page 3: copyback"));
  CHECK_THROWS_WITH(die.copy(0, 1, 1, 3, 0, 2), Contains("not programmed, in plane 1"));
  CHECK_THROWS_WITH(die.copy(0, 4, 0, 3, 0), Contains("not programmed"));
  CHECK_THROWS_WITH(die.copy(0, 5, 0, 3, 0), Contains("source out of range"));
  CHECK_THROWS_WITH(die.copy(0, 1, 9, 3, 0), Contains("source out of range"));
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 5, 0), Contains("address out of range"));
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 2, 0), Contains("not erased"));
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 2, 2), Contains("out of order"));
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 2, 1, 2), Contains("out of order"));
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 3, 0, 1, 2), Contains("programs 1 at a time"));
  FlashOp part_of_page = die.copy_op(0, 1, 0, 3, 0);
  part_of_page.slots = 3;
  CHECK_THROWS_WITH(die.state.execute(part_of_page, 0), Contains("does not fill"));
  CHECK(die.state.counts().senses == 0);
  CHECK(die.state.counts().copies == 0);
  FlashOp without_buffers = die.copy_op(0, 1, 2, 2, 1);
  without_buffers.spare = nullptr;
  without_buffers.stamps = nullptr;
  die.state.execute(without_buffers, 0);
  CHECK(die.state.block(PlaneId{0}, BlockId{2}).next_page == 2);
  CHECK_THROWS_WITH(die.copy(0, 1, 0, 2, 1),
                    Contains("read plane 0 block 1 page 2 at 0 ps, copyback plane 0 block 2 page 1"));
  NandPart part = small_part();
  part.multi_plane = false;
  Die single(part);
  CHECK_THROWS_WITH(single.copy(0, 0, 0, 1, 0, 2), Contains("multi-plane"));
  part.program_unit = "word-line";
  Die lines(part);
  lines.program(0, 0, 0, 1, 3);
  CHECK_THROWS_WITH(lines.copy(0, 0, 1, 1, 0, 1, 3), Contains("not programmed"));
  CHECK_THROWS_WITH(lines.copy(0, 0, 7, 1, 0, 1, 3), Contains("source out of range"));
  lines.copy(0, 0, 0, 1, 0, 1, 3);
  CHECK(lines.state.block(PlaneId{0}, BlockId{0}).reads == 3);
  part.endurance = 1;
  Die worn(part);
  worn.program(0, 0, 0, 1, 3);
  CHECK(worn.erase(0, 1) == FlashStatus::ok);
  CHECK(worn.erase(0, 1) == FlashStatus::erase_failed);
  CHECK_THROWS_WITH(worn.copy(0, 0, 0, 1, 0, 1, 3), Contains("erase has failed"));
}

TEST_CASE("program units of a word line and of a block are kept") {
  NandPart part = small_part();
  part.program_unit = "word-line";
  Die lines(part);
  CHECK_THROWS_WITH(lines.program(0, 0, 0), Contains("programs 3 at a time"));
  CHECK_THROWS_WITH(lines.program(0, 0, 1, 1, 3), Contains("aligned"));
  lines.program(0, 0, 0, 2, 3);
  lines.program(0, 0, 3, 2, 3);
  CHECK(lines.state.block(PlaneId{1}, BlockId{0}).next_page == 6);
  part.program_unit = "block";
  Die blocks(part);
  CHECK_THROWS_WITH(blocks.program(0, 0, 0, 1, 3), Contains("programs 9 at a time"));
  blocks.program(0, 0, 0, 1, 9);
  CHECK_THROWS_WITH(blocks.program(0, 0, 0, 1, 9), Contains("not erased"));
  part.program_unit = "word-line";
  part.pages_per_block = 10;
  CHECK_THROWS_AS(Die(part), InputError);
}

TEST_CASE("a part without multi-plane operation refuses it") {
  NandPart part = small_part();
  part.multi_plane = false;
  Die die(part);
  CHECK_THROWS_WITH(die.program(0, 0, 0, 2), Contains("multi-plane"));
  CHECK_THROWS_WITH(die.erase(0, 0, 2), Contains("multi-plane"));
}

TEST_CASE("the mapping page must divide the page") {
  CHECK_THROWS_AS(Die(small_part(), 3000), InputError);
  CHECK_THROWS_AS(Die(small_part(), 32768), InputError);
  CHECK_THROWS_AS(Die(small_part(), 0), InputError);
  CHECK_THROWS_AS(Die(small_part(), 4096, 0), InputError);
}

TEST_CASE("slots are counted plane by plane, then page by page, and mixed units keep every stamp") {
  NandPart part = small_part();
  part.program_unit = "word-line";
  Die die(part);
  FlashOp o = die.op(FlashCommand::program, 0, 2, 0, 2, 3);
  for (std::uint32_t s = 0; s < o.slots; ++s) {
    die.spare[s] = 100 + s;
    for (std::uint32_t i = 0; i < 8; ++i)
      die.content[s * 8 + i] = static_cast<Stamp>(s % 3 == 1 ? s * 8 + i + 1 : s + 1);
  }
  const auto written = die.content;
  die.state.execute(o, 77'000);
  CHECK(die.state.block(PlaneId{1}, BlockId{2}).programmed_at == 77);
  for (std::uint32_t page = 0; page < 3; ++page) {
    FlashOp r = die.op(FlashCommand::read, 0, 2, page, 2);
    r.first_slot = 2;
    r.slots = 5;  // two of plane 0, three of plane 1
    die.state.execute(r, 0);
    for (std::uint32_t i = 0; i < 5; ++i) {
      const std::uint32_t plane = (2 + i) / 4;
      const std::uint32_t slot = (plane * 3 + page) * 4 + (2 + i) % 4;
      CHECK(die.spare[i] == 100 + slot);
      for (std::uint32_t k = 0; k < 8; ++k) CHECK(die.content[i * 8 + k] == written[slot * 8 + k]);
    }
  }
  CHECK(die.state.block(PlaneId{0}, BlockId{2}).reads == 3);
  die.erase(0, 2, 2);
  CHECK(die.state.block(PlaneId{0}, BlockId{2}).reads == 0);
  die.program(0, 2, 0, 2, 3);
  FlashOp again = die.op(FlashCommand::read, 0, 2, 1, 2);
  std::fill(die.content.begin(), die.content.end(), Stamp{1});
  die.state.execute(again, 0);
  CHECK(std::all_of(die.content.begin(), die.content.end(),
                    [](Stamp s) { return s == k_zeros; }));  // nothing old shines through
}

TEST_CASE("operations count pages of every plane, and moves within a mode are no folds") {
  const NandPart part = part_with_slc();
  Die die(part);
  const auto in_slc = [&](FlashCommand command, std::uint32_t block) {
    FlashOp op = die.op(command, 0, block, 0, 2);
    op.mode = BlockMode::slc;
    die.state.execute(op, 0);
  };
  in_slc(FlashCommand::erase, 1);
  in_slc(FlashCommand::program, 1);
  in_slc(FlashCommand::read, 1);
  die.erase(0, 2, 2);
  die.program(0, 2, 0, 2);
  die.program(0, 2, 1, 2);
  die.read(0, 2, 0, 2);
  die.read(1, 2, 0, 1);
  die.copy(0, 2, 0, 3, 0, 2);
  const auto& counts = die.state.counts();
  CHECK(counts.erases == 4);
  CHECK(counts.slc_erases == 2);
  CHECK(counts.programs == 2 + 4 + 2);
  CHECK(counts.slc_programs == 2);
  CHECK(counts.senses == 2 + 2 + 1 + 2);
  CHECK(counts.slc_senses == 2);
  CHECK(counts.copies == 2);
  CHECK(counts.folds == 0);
}

TEST_CASE("data are as old as the first page of their block, however it came there") {
  Die die(small_part());
  const auto at = [&die](std::uint32_t block) {
    return die.state.block(PlaneId{0}, BlockId{block}).programmed_at;
  };
  for (std::uint32_t page = 0; page < 2; ++page) {
    FlashOp program = die.op(FlashCommand::program, 0, 1, page);
    die.state.execute(program, Picoseconds{77'000} * (page + 1));
    FlashOp copy = die.copy_op(0, 1, page, 3, page);
    die.state.execute(copy, Picoseconds{99'000} * (page + 1));
  }
  CHECK(at(1) == 77);
  CHECK(at(3) == 99);
  const SequentialFill fill;
  FlashOp filled = die.op(FlashCommand::program, 0, 2, 0);
  filled.fill = &fill;
  die.state.execute(filled, 55'000);
  CHECK(at(2) == 55);
}

TEST_CASE("reads of a page are those of its block over the pages that it has in its mode") {
  const NandPart part = part_with_slc();
  Die die(part);
  for (const BlockMode mode : {BlockMode::native, BlockMode::slc}) {
    FlashOp erase = die.op(FlashCommand::erase, 0, 1, 0);
    erase.mode = mode;
    die.state.execute(erase, 0);
    for (const FlashCommand command : {FlashCommand::program, FlashCommand::read, FlashCommand::read}) {
      FlashOp op = die.op(command, 0, 1, 0);
      op.mode = mode;
      die.state.execute(op, 0);
    }
    ArrayOperation told;
    die.state.describe_data(told, PlaneId{0}, BlockId{1}, 0);
    CHECK(told.reads == 2);
    CHECK(told.reads_per_page == Approx(mode == BlockMode::native ? 2.0 / 9 : 2.0 / 3));
  }
  // Reads that stand for many, of every page that is programmed; their number ends at 32 bits.
  Die filled(part);
  for (std::uint32_t page = 0; page < 3; ++page) filled.program(0, 1, page);
  filled.state.disturb(0x50000000);
  CHECK(filled.state.block(PlaneId{0}, BlockId{1}).reads == 0xF0000000U);
  filled.state.disturb(0x50000000);
  CHECK(filled.state.block(PlaneId{0}, BlockId{1}).reads == 0xFFFFFFFFU);
  CHECK(filled.state.block(PlaneId{0}, BlockId{2}).reads == 0);
  ArrayOperation told;
  filled.state.describe_data(told, PlaneId{0}, BlockId{1}, 0);
  CHECK(told.reads_per_page == Approx(2.0 * 0x50000000 * 3 / 9));
}

TEST_CASE("a block wears out at its endurance, fails its erase and is unusable from then on") {
  NandPart part = small_part();
  part.endurance = 3;
  Die die(part);
  for (int i = 0; i < 3; ++i) CHECK(die.erase(0, 0) == FlashStatus::ok);
  CHECK(die.erase(0, 0) == FlashStatus::erase_failed);
  CHECK(die.state.block(PlaneId{0}, BlockId{0}).erases == 3);
  CHECK_THROWS_WITH(die.erase(0, 0), Contains("erase has failed"));
  CHECK_THROWS_WITH(die.program(0, 0, 0), Contains("erase has failed"));
  CHECK(die.state.counts().erase_failures == 1);
}

TEST_CASE("endurance spreads over blocks, by seed") {
  NandPart part = small_part();
  part.blocks_per_plane = 2000;
  part.endurance = 1000;
  part.endurance_spread = 0.05;
  Die a(part, 4096, 1, 5);
  Die b(part, 4096, 1, 5);
  Die c(part, 4096, 1, 6);
  double sum = 0;
  double squares = 0;
  int same = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const double e = a.state.endurance(PlaneId{1}, BlockId{i});
    CHECK(e == b.state.endurance(PlaneId{1}, BlockId{i}));
    same += e == c.state.endurance(PlaneId{1}, BlockId{i}) ? 1 : 0;
    sum += e;
    squares += e * e;
  }
  CHECK(same < 100);
  CHECK(sum / 2000 == Approx(1000).epsilon(0.01));
  CHECK(std::sqrt(squares / 2000 - (sum / 2000) * (sum / 2000)) == Approx(50).epsilon(0.1));
  const std::uint32_t limit = a.state.endurance(PlaneId{0}, BlockId{7});
  for (std::uint32_t i = 0; i < limit; ++i) REQUIRE(a.erase(0, 7) == FlashStatus::ok);
  CHECK(a.erase(0, 7) == FlashStatus::erase_failed);
}

TEST_CASE("random operations agree with a simple model, also after saving and restoring") {
  const NandPart part = small_part();
  auto die = std::make_unique<Die>(part, 4096, 2);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>,
           std::pair<std::vector<Lpn>, std::vector<Stamp>>>
      model;
  std::uint32_t next[2][5] = {};
  std::uint32_t erases[2][5] = {};
  int copies = 0;
  RandomStream random(3, "die state test");
  for (int step = 0; step < 40000; ++step) {
    const auto planes = static_cast<std::uint32_t>(1 + random.below(2));
    const auto plane = planes == 2 ? 0 : static_cast<std::uint32_t>(random.below(2));
    const auto block = static_cast<std::uint32_t>(random.below(5));
    const auto page = static_cast<std::uint32_t>(random.below(9));
    const auto what = random.below(12);
    FlashOp o = die->op(what < 5    ? FlashCommand::program
                        : what < 9  ? FlashCommand::read
                        : what == 9 ? FlashCommand::erase
                                    : FlashCommand::copyback,
                        plane, block, what == 9 ? 0 : page, planes);
    const auto source_block = static_cast<std::uint32_t>(random.below(5));
    const auto source_page = static_cast<std::uint32_t>(random.below(9));
    if (o.command == FlashCommand::copyback) {
      if (what == 10) o.page = PageId{next[plane][block]};  // legal more often
      o.source_block = BlockId{source_block};
      o.source_page = PageId{source_page};
    }
    bool legal = true;
    for (std::uint32_t p = plane; p < plane + planes; ++p) {
      if (o.command == FlashCommand::program) legal = legal && next[p][block] == page;
      if (o.command == FlashCommand::read) legal = legal && page < next[p][block];
      if (o.command == FlashCommand::copyback) {
        legal = legal && index(o.page) < 9 && next[p][block] == index(o.page) &&
                source_page < next[p][source_block];
      }
    }
    if (o.command == FlashCommand::program) {
      for (Lpn& s : die->spare) s = static_cast<Lpn>(random.below(1000));
      for (Stamp& s : die->content) s = static_cast<Stamp>(random.below(3));
    }
    if (!legal) {
      REQUIRE_THROWS_AS(die->state.execute(o, step), NandViolation);
      continue;
    }
    die->state.execute(o, step);
    for (std::uint32_t p = plane; p < plane + planes; ++p) {
      const std::size_t at = (p - plane) * 4;
      const std::vector<Lpn> spare(
          die->spare.begin() + static_cast<long>(std::min(at, die->spare.size())),
          die->spare.begin() + static_cast<long>(std::min(at + 4, die->spare.size())));
      const std::vector<Stamp> content(
          die->content.begin() + static_cast<long>(std::min(at * 2, die->content.size())),
          die->content.begin() + static_cast<long>(std::min(at * 2 + 8, die->content.size())));
      if (o.command == FlashCommand::program) {
        model[{p, block, page}] = {spare, content};
        ++next[p][block];
      } else if (o.command == FlashCommand::copyback) {
        REQUIRE(model.at({p, source_block, source_page}).first == spare);
        REQUIRE(model.at({p, source_block, source_page}).second == content);
        model[{p, block, index(o.page)}] = {spare, content};
        ++next[p][block];
        ++copies;
      } else if (o.command == FlashCommand::read) {
        REQUIRE(model.at({p, block, page}).first == spare);
        REQUIRE(model.at({p, block, page}).second == content);
      } else {
        next[p][block] = 0;
        ++erases[p][block];
      }
      REQUIRE(die->state.block(PlaneId{p}, BlockId{block}).next_page == next[p][block]);
      REQUIRE(die->state.block(PlaneId{p}, BlockId{block}).erases == erases[p][block]);
    }
    if (step % 5000 == 4999) {
      MemoryArchive archive;
      die->state.archive(archive);
      archive.rewind();
      auto restored = std::make_unique<Die>(part, 4096, 2);
      restored->program(0, 0, 0);  // goes away
      restored->state.archive(archive);
      CHECK(archive.at_end());
      die = std::move(restored);
    }
  }
  CHECK(copies > 100);
}

TEST_CASE("a snapshot of another shape or a damaged one is refused") {
  Die die(small_part());
  die.program(0, 0, 0);
  MemoryArchive archive;
  die.state.archive(archive);
  archive.rewind();
  NandPart other = small_part();
  other.blocks_per_plane = 6;
  Die bigger(other);
  CHECK_THROWS_AS(bigger.state.archive(archive), ArchiveError);
  std::vector<std::uint8_t> half = archive.content();
  half.resize(half.size() / 2);
  MemoryArchive torn(half);
  CHECK_THROWS_AS(die.state.archive(torn), ArchiveError);
}

TEST_CASE("a filled block holds what its programs would have put there, until it is erased") {
  NandPart part = small_part();
  part.program_unit = "word-line";
  Die filled(part);
  Die written(part);
  SequentialFill fill;
  fill.first = 100;
  fill.block_step = 1000;
  fill.program_step = 400;
  fill.page_step = 8;  // two planes of four units
  fill.sequence = 1;
  FlashOp op = filled.op(FlashCommand::program, 0, 2, 0, 2);
  op.fill = &fill;
  filled.state.execute(op, 0);
  CHECK_THROWS_WITH(filled.state.execute(op, 0), Contains("not erased"));
  for (std::uint32_t page = 0; page < 9; page += 3) {
    FlashOp program = written.op(FlashCommand::program, 0, 2, page, 2, 3);
    for (std::uint32_t slot = 0; slot < program.slots; ++slot) {
      const std::uint32_t plane = slot / 12;
      const std::uint32_t in_plane = slot % 12;
      program.spare[slot] = 2100 + page / 3 * 400 + in_plane / 4 * 8 + plane * 4 + in_plane % 4;
      for (std::uint32_t i = 0; i < 8; ++i)
        program.stamps[slot * 8 + i] = make_stamp(program.spare[slot], 1, i);
    }
    written.state.execute(program, 0);
  }
  const auto same = [&](Die& one, std::uint32_t block, std::uint32_t page) {
    one.read(0, block, page, 2);
    written.read(0, 2, page, 2);
    CHECK(one.spare == written.spare);
    CHECK(one.content == written.content);
  };
  for (std::uint32_t page = 0; page < 9; ++page) same(filled, 2, page);
  CHECK(filled.state.spare(PlaneId{1}, BlockId{2}, PageId{4}, 3) == 2100 + 400 + 8 + 4 + 3);
  filled.copy(0, 2, 3, 3, 0, 2, 3);
  filled.read(0, 3, 1, 2);
  written.read(0, 2, 4, 2);
  CHECK(filled.spare == written.spare);
  CHECK(filled.content == written.content);
  MemoryArchive archive;
  filled.state.archive(archive);
  Die restored(part);
  archive.rewind();
  restored.state.archive(archive);
  for (std::uint32_t page = 0; page < 9; ++page) same(restored, 2, page);
  restored.erase(0, 2, 2);
  CHECK_THROWS_WITH(restored.read(0, 2, 0), Contains("not programmed"));
  restored.program(0, 2, 0, 2, 3);
  restored.read(0, 2, 0, 2);
  CHECK(restored.spare[0] == k_no_unit);
}
