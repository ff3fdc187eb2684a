// Sets of slots, against a set of numbers.
#include "models/base/slot_set.h"

#include <catch2/catch.hpp>
#include <set>

#include "models/base/random.h"

using namespace tlmssd;

TEST_CASE("a set of slots has what was put into it, beyond the first 64 too") {
  RandomStream random(1, "slots");
  for (const std::uint32_t slots : {1U, 64U, 65U, 128U, 1000U}) {
    SlotSet set;
    std::set<std::uint32_t> oracle;
    CHECK(set.empty());
    for (int n = 0; n < 40; ++n) {
      const auto slot = static_cast<std::uint32_t>(random.below(slots));
      set.add(slot);
      oracle.insert(slot);
    }
    CHECK_FALSE(set.empty());
    std::uint64_t folded = 0;
    for (std::uint32_t slot = 0; slot < slots + 200; ++slot) CHECK(set.has(slot) == oracle.contains(slot));
    for (const std::uint32_t slot : oracle) folded |= std::uint64_t{1} << slot % 64;
    CHECK(set.folded() == folded);
    set.clear();
    CHECK(set.empty());
    for (const std::uint32_t slot : oracle) CHECK_FALSE(set.has(slot));
  }
}
