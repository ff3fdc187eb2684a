// Which reads of a command become one multi-plane read, against a search of all earlier ones.
#include "firmware/flash/plane_joiner.h"

#include <catch2/catch.hpp>
#include <deque>
#include <vector>

#include "models/base/random.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

struct Reads {
  ReadOp& add(std::uint32_t die, std::uint32_t plane, std::uint32_t block, std::uint32_t page,
              BlockMode mode = BlockMode::native) {
    ReadOp& read = all.emplace_back();
    read.op.die = DieId{die};
    read.op.plane = PlaneId{plane};
    read.op.block = BlockId{block};
    read.op.page = PageId{page};
    read.op.mode = mode;
    list.push(read);
    list.operations = list.size();
    return read;
  }
  std::deque<ReadOp> all;
  ReadList list;
};

/// The chain that begins at a read.
std::vector<const ReadOp*> chain(const ReadOp& first) {
  std::vector<const ReadOp*> links;
  for (const ReadOp* read = &first; read != nullptr; read = read->joined) links.push_back(read);
  return links;
}

bool may_go_together(const FlashOp& a, const FlashOp& b, bool same_blocks) {
  return a.die == b.die && a.page == b.page && a.mode == b.mode && a.plane != b.plane &&
         (!same_blocks || a.block == b.block);
}

}  // namespace

TEST_CASE("pages of one number in several planes of a die are one operation") {
  Reads reads;
  ReadOp& first = reads.add(3, 0, 7, 5);
  ReadOp& elsewhere = reads.add(2, 1, 7, 5);
  ReadOp& second = reads.add(3, 1, 9, 5);
  ReadOp& again = reads.add(3, 1, 8, 5);  // the plane is taken
  ReadOp& slc = reads.add(3, 2, 7, 5, BlockMode::slc);
  ReadOp& later = reads.add(3, 2, 7, 6);
  ReadOp& third = reads.add(3, 2, 1, 5);
  PlaneJoiner(false).join(reads.list);
  CHECK(chain(first) == std::vector<const ReadOp*>{&first, &second, &third});
  CHECK(chain(again) == std::vector<const ReadOp*>{&again});
  CHECK(reads.list.operations == 5);
  CHECK(reads.list.size() == 7);
  for (const ReadOp* alone : {&first, &elsewhere, &again, &slc, &later}) CHECK(!alone->follows);
  CHECK(second.follows);
  CHECK(third.follows);
}

TEST_CASE("where the part wants it, only blocks of one number go together") {
  Reads reads;
  ReadOp& first = reads.add(0, 0, 7, 5);
  ReadOp& other = reads.add(0, 1, 9, 5);
  ReadOp& same = reads.add(0, 2, 7, 5);
  ReadOp& like_other = reads.add(0, 3, 9, 5);
  PlaneJoiner(true).join(reads.list);
  CHECK(chain(first) == std::vector<const ReadOp*>{&first, &same});
  CHECK(chain(other) == std::vector<const ReadOp*>{&other, &like_other});
  CHECK(reads.list.operations == 2);
}

TEST_CASE("chains of random reads are those of the first that fits, from list to list") {
  RandomStream random(7, "plane joiner");
  for (const bool same_blocks : {false, true}) {
    PlaneJoiner joiner(same_blocks);
    for (std::uint32_t round = 0; round < 300; ++round) {
      Reads reads;
      const std::uint64_t count = 2 + random.below(round % 10 == 0 ? 600 : 40);
      for (std::uint64_t i = 0; i < count; ++i) {
        reads.add(static_cast<std::uint32_t>(random.below(3)), static_cast<std::uint32_t>(random.below(4)),
                  static_cast<std::uint32_t>(random.below(3)), static_cast<std::uint32_t>(random.below(6)),
                  random.below(8) == 0 ? BlockMode::slc : BlockMode::native);
      }
      std::vector<std::vector<const ReadOp*>> expected;
      for (const ReadOp& read : reads.all) {
        bool joined = false;
        for (auto& links : expected) {
          joined = true;
          for (const ReadOp* link : links) joined = joined && may_go_together(link->op, read.op, same_blocks);
          if (!joined) continue;
          links.push_back(&read);
          break;
        }
        if (!joined) expected.push_back({&read});
      }
      joiner.join(reads.list);
      std::vector<std::vector<const ReadOp*>> found;
      for (const ReadOp& read : reads.all) {
        if (!read.follows) found.push_back(chain(read));
      }
      REQUIRE(found == expected);
      REQUIRE(reads.list.operations == expected.size());
    }
  }
}
