// One read of pages in different blocks of several planes: what it hands out, what it counts, and
// what a die refuses (ONFI: pages of one number, one in each plane).
#include "testbench/tests/nand/die_fixture.h"

using namespace tlmssd;
using namespace tlmssd::test;
using Catch::Contains;

namespace {

NandPart four_planes() {
  NandPart part = small_part();
  part.planes = 4;
  part.slc_read_latency = part.slc_program_latency = part.slc_erase_latency = 1'000'000;
  return part;
}

/// A read of one page, with buffers of its own.
struct Link {
  Link(Die& die, std::uint32_t plane, std::uint32_t block, std::uint32_t page, std::uint32_t first_slot,
       std::uint32_t slots)
      : spare(slots, k_no_unit), stamps(std::size_t{slots} * die.stamps_per_unit, k_zeros) {
    op = die.op(FlashCommand::read, plane, block, page);
    op.first_slot = first_slot;
    op.slots = slots;
    op.spare = spare.data();
    op.stamps = stamps.data();
  }
  FlashOp op;
  std::vector<Lpn> spare;
  std::vector<Stamp> stamps;
};

/// Programs a page whose units and stamps tell where they are.
void write(Die& die, std::uint32_t plane, std::uint32_t block, std::uint32_t page) {
  FlashOp op = die.op(FlashCommand::program, plane, block, page);
  for (std::uint32_t slot = 0; slot < op.slots; ++slot) {
    die.spare[slot] = (plane * 100 + block * 10 + page) * 10 + slot;
    for (std::uint32_t s = 0; s < die.stamps_per_unit; ++s)
      die.content[slot * die.stamps_per_unit + s] =
          static_cast<Stamp>(10'000 * (plane + 1) + 1000 * slot + 10 * page + block);
  }
  die.state.execute(op, 0);
}

}  // namespace

TEST_CASE("each page of a multi-plane read of several blocks hands out its own slots") {
  Die die(four_planes());
  for (const std::uint32_t plane : {0U, 2U, 3U}) {
    for (std::uint32_t page = 0; page < 2; ++page) write(die, plane, 1 + plane, page);
  }
  Link first(die, 2, 3, 1, 1, 2);
  Link second(die, 0, 1, 1, 0, 4);
  Link third(die, 3, 4, 1, 3, 1);
  first.op.next_plane = &second.op;
  second.op.next_plane = &third.op;
  const auto before = die.state.counts().senses;
  die.state.execute(first.op, 0);
  CHECK(die.state.counts().senses == before + 3);
  CHECK(first.op.all_planes() == 3);
  CHECK(first.op.all_slots() == 7);
  CHECK(first.spare == std::vector<Lpn>{2311, 2312});
  CHECK(second.spare == std::vector<Lpn>{110, 111, 112, 113});
  CHECK(third.spare == std::vector<Lpn>{3413});
  CHECK(first.stamps[0] == 31'013);
  CHECK(second.stamps[3 * 8] == 13'011);
  CHECK(third.stamps[7] == 43'014);
  for (const auto& [plane, block] : {std::pair{2U, 3U}, {0U, 1U}, {3U, 4U}})
    CHECK(die.state.block(PlaneId{plane}, BlockId{block}).reads == 1);
  CHECK(die.state.block(PlaneId{1}, BlockId{1}).reads == 0);
}

TEST_CASE("a die refuses multi-plane reads that silicon could not carry out") {
  NandPart part = four_planes();
  SECTION("whatever the part") {
    Die die(part);
    for (std::uint32_t plane = 0; plane < 4; ++plane) {
      for (std::uint32_t page = 0; page < 2; ++page) write(die, plane, 1, page);
    }
    Link first(die, 0, 1, 1, 0, 4);
    const auto refused = [&](Link& second, const char* why) {
      first.op.sense_count = 0;
      first.op.next_plane = &second.op;
      CHECK_THROWS_WITH(die.state.execute(first.op, 0), Contains(why));
    };
    Link same_plane(die, 0, 2, 1, 0, 4);
    refused(same_plane, "two pages of one plane");
    Link other_page(die, 1, 1, 0, 0, 4);
    refused(other_page, "pages of different numbers");
    Link unwritten(die, 1, 2, 1, 0, 4);
    refused(unwritten,
            "plane 1 block 2 page 1: read for host refused: read of a page that is not programmed");
    Link beyond(die, 1, 1, 1, 2, 3);
    refused(beyond, "beyond its pages");
    Link outside(die, 4, 1, 1, 0, 4);
    refused(outside, "out of range");
    Link elsewhere(die, 1, 1, 1, 0, 4);
    elsewhere.op.die = DieId{1};
    refused(elsewhere, "sent to die 0");
    Link in_slc(die, 1, 1, 1, 0, 4);
    in_slc.op.mode = BlockMode::slc;
    refused(in_slc, "read in different ways");
    Link retried(die, 1, 1, 1, 0, 4);
    retried.op.retry_level = 1;
    refused(retried, "read in different ways");
    Link gently(die, 1, 1, 1, 0, 4);
    gently.op.pass_voltage = 0.9F;
    refused(gently, "read in different ways");
    Link wide(die, 1, 1, 1, 0, 4);
    wide.op.planes = 2;
    Link within(die, 2, 1, 1, 0, 4);
    wide.op.next_plane = &within.op;
    refused(wide, "two pages of one plane");
    FlashOp program = die.op(FlashCommand::program, 0, 1, 2);
    program.next_plane = &unwritten.op;
    CHECK_THROWS_WITH(die.state.execute(program, 0), Contains("not a read"));
    CHECK(die.state.block(PlaneId{0}, BlockId{1}).next_page == 2);
  }
  SECTION("blocks of different numbers, where the part wants the same") {
    part.multi_plane_blocks = "same";
    Die die(part);
    write(die, 0, 1, 0);
    write(die, 1, 1, 0);
    write(die, 1, 2, 0);
    Link first(die, 0, 1, 0, 0, 4);
    Link other(die, 1, 2, 0, 0, 4);
    first.op.next_plane = &other.op;
    CHECK_THROWS_WITH(die.state.execute(first.op, 0), Contains("blocks of different numbers"));
    Link same(die, 1, 1, 0, 0, 4);
    first.op.sense_count = 0;
    first.op.next_plane = &same.op;
    CHECK_NOTHROW(die.state.execute(first.op, 0));
  }
  SECTION("on a part that has no multi-plane operations") {
    part.multi_plane = false;
    Die die(part);
    write(die, 0, 1, 0);
    write(die, 1, 1, 0);
    Link first(die, 0, 1, 0, 0, 4);
    Link second(die, 1, 1, 0, 0, 4);
    first.op.next_plane = &second.op;
    CHECK_THROWS_WITH(die.state.execute(first.op, 0), Contains("on a part that has none"));
  }
}
