// Snapshots that were changed on purpose and sealed again: what lies beyond the drive, or does not
// fit together, is refused where it is restored. Found by flipping fields of whole snapshots; each
// of these crashed the program, or made it hang.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/core/core.h"
#include "firmware/features/parity/stripe_table.h"
#include "firmware/features/redirection/content_table.h"
#include "firmware/mapping/mapping.h"
#include "firmware/victims/block_lists.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/model_host.h"

namespace tlmssd::firmware {
namespace {

template <class State>
std::vector<std::uint8_t> bytes_of(State& state) {
  MemoryArchive archive;
  archive(state);
  return archive.content();
}

/// `content`, in which the `nth` occurrence of `was` is `is`.
template <class T>
std::vector<std::uint8_t> forged(std::vector<std::uint8_t> content, const T& was, const T& is, int nth = 0) {
  std::array<std::uint8_t, sizeof(T)> from;
  std::memcpy(from.data(), &was, sizeof(T));
  auto at = std::search(content.begin(), content.end(), from.begin(), from.end());
  for (; nth > 0 && at != content.end(); --nth)
    at = std::search(at + 1, content.end(), from.begin(), from.end());
  REQUIRE(at != content.end());
  std::memcpy(&*at, &is, sizeof(T));
  return content;
}

template <class State>
void check_refused(State& state, std::vector<std::uint8_t> content) {
  MemoryArchive archive(std::move(content));
  CHECK_THROWS_AS(archive(state), ArchiveError);
}

}  // namespace

TEST_CASE("forged stripes are refused") {
  StripeTable table(100, 2);
  table.add(std::vector<std::uint32_t>{41, 42});
  table.add(std::vector<std::uint32_t>{43, 44});
  table.end(0);
  const std::vector<std::uint8_t> sound = bytes_of(table);
  const auto refused = [](const std::vector<std::uint8_t>& content) {
    StripeTable other(100, 2);
    check_refused(other, content);
  };
  refused(forged(sound, 43U, 100U));
  refused(forged(sound, 44U, 0xFFFFFFFFU));
  // The list of stripes that have ended: one, of number 0.
  std::vector<std::uint8_t> ended = sound;
  ended[ended.size() - 4] = 2;
  refused(ended);
  StripeTable other(100, 2);
  MemoryArchive archive(sound);
  archive(other);
  CHECK(other.size() == 1);
  CHECK(other.find(43) == 1);
}

TEST_CASE("a forged table of contents is refused") {
  using Index = ContentTable::Index;
  ContentTable table(4, 10, 10);
  const Index first = table.add(7001);
  const Index second = table.add(7002);
  table.add_place(first, 1, Ppn(501), 11);
  table.add_place(first, 1, Ppn(502), 12);
  table.add_place(second, 3, Ppn(503), 13);
  const std::vector<std::uint8_t> sound = bytes_of(table);
  ContentTable other(4, 10, 10);
  // Place: where, unit, content, die, older, newer.
  using Place = std::array<std::uint32_t, 6>;
  const Place known = {502, 12, first, 1, 0, ContentTable::k_none};
  check_refused(other, forged(sound, known, Place{502, 12, 5, 1, 0, ContentTable::k_none}));
  check_refused(other, forged(sound, known, Place{502, 12, first, 4, 0, ContentTable::k_none}));
  check_refused(other, forged(sound, known, Place{502, 12, first, 1, 80, ContentTable::k_none}));
  check_refused(other, forged(sound, known, Place{502, 12, first, 1, 1, ContentTable::k_none}));  // a circle
  check_refused(other,
                forged(sound, known, Place{502, 12, first, 1, ContentTable::k_none, ContentTable::k_none}));
  MemoryArchive archive(sound);
  archive(other);
  CHECK(other.places() == 3);
}

TEST_CASE("forged lists of blocks are refused") {
  const VictimContext context{2, 100, 64, 1};
  ValidBuckets buckets(context);
  buckets.push(0, BlockNumber(31), 5);
  buckets.push(0, BlockNumber(32), 6);
  buckets.push(1, BlockNumber(131), 7);
  const std::vector<std::uint8_t> sound = bytes_of(buckets);
  const auto refused = [&](std::uint32_t was, std::uint32_t is) {
    ValidBuckets other(context);
    check_refused(other, forged(sound, was, is));
  };
  refused(32, 31);    // twice
  refused(32, 132);   // of another parallel unit
  refused(131, 200);  // beyond the drive
  ValidBuckets other(context);
  MemoryArchive archive(sound);
  archive(other);
  CHECK(other.lowest(1) == 7);
}

TEST_CASE("forged counts of blocks are refused") {
  DriveShape shape;
  shape.geometry = {1, 1, 2, 1, 8, 4, 4096, 0};
  shape.logical_blocks = 64;
  const Layout layout = make_layout(shape, FirmwareConfig{});
  const auto wear = wear_family().make("none", NoValues{}, {layout.pus, 1});
  const auto victims =
      victim_family().make("greedy", NoValues{}, {layout.pus, layout.blocks, layout.block_units, 1});
  BlockPool pool(layout, {});
  pool.attach(*victims, *wear);
  const auto filled = [&](std::uint32_t valid) {
    BlockNumber block;
    for (std::uint32_t n = 0; n < layout.programs_per_block; ++n) {
      const Ppn unit = pool.claim(0, WriteTarget::host, 1000);
      block = layout.block_of(unit);
      if (n < valid) pool.validate(unit, block);
      pool.programmed(block, false);
    }
    return block;
  };
  const BlockNumber block = filled(layout.programs_per_block);
  const BlockNumber other_block = filled(layout.programs_per_block - 1);
  REQUIRE(block != other_block);
  const std::vector<std::uint8_t> sound = bytes_of(pool);
  const BlockInfo was = pool.info(block);
  REQUIRE(was.valid > 0);
  const auto refused = [&](auto change) {
    BlockInfo is = was;
    change(is);
    BlockPool other(layout, {});
    check_refused(other, forged(sound, was, is));
  };
  refused([](BlockInfo& info) { ++info.valid; });
  refused([](BlockInfo& info) { info.valid = 0x80000000U; });
  refused([](BlockInfo& info) { info.in_flight = 1; });
  refused([](BlockInfo& info) { info.programs = 1ULL << 40U; });
  refused([](BlockInfo& info) { info.mode = BlockMode::slc; });  // which this part has not
  refused([](BlockInfo& info) { info.state = static_cast<BlockState>(9); });
  // Of two blocks, so that the sum stays.
  BlockInfo less = was;
  --less.valid;
  BlockInfo more = pool.info(other_block);
  ++more.valid;
  BlockPool shifted(layout, {});
  check_refused(shifted, forged(forged(sound, pool.info(other_block), more), was, less));
  BlockPool other(layout, {});
  MemoryArchive archive(sound);
  archive(other);
  CHECK(other.info(block).valid == was.valid);
}

}  // namespace tlmssd::firmware
