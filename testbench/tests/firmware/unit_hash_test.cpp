#include "firmware/base/unit_hash.h"

#include <catch2/catch.hpp>
#include <unordered_map>
#include <vector>

#include "models/base/random.h"

namespace tlmssd::firmware {

namespace {

/// What a hash that starts with room for `expected` units says beside a map, while units
/// `step * n`, n below `range`, come and go.
void compare(std::uint64_t expected, std::uint32_t step, std::uint32_t range, std::uint64_t seed) {
  UnitHash hash(expected);
  std::unordered_map<Lpn, std::uint32_t> model;
  RandomStream random(seed, "unit hash");
  for (std::uint32_t n = 0; n < 20'000; ++n) {
    const Lpn unit = step * static_cast<Lpn>(random.below(range));
    const auto found = model.find(unit);
    REQUIRE(hash.find(unit) == (found == model.end() ? UnitHash::k_none : found->second));
    // More and more of them, then fewer and fewer.
    const bool more = random.below(10) < (n < 10'000 ? 7U : 3U);
    if (found == model.end() && more) {
      hash.insert(unit, n);
      model[unit] = n;
    } else if (found != model.end() && more) {
      hash.replace(unit, n);
      found->second = n;
    } else if (found != model.end()) {
      hash.erase(unit);
      model.erase(found);
    }
  }
  for (std::uint32_t n = 0; n < range; ++n) {
    const Lpn unit = step * n;
    const auto found = model.find(unit);
    REQUIRE(hash.find(unit) == (found == model.end() ? UnitHash::k_none : found->second));
  }
}

}  // namespace

TEST_CASE("a hash of units holds what a map holds, whatever distance the units are at") {
  const std::uint32_t step = GENERATE(1U, 2U, 7U, 8U, 64U, 4096U);
  compare(0, step, 20, 1);
  compare(0, step, 3'000, 2);
  compare(2'048, step, 3'000, 3);
}

TEST_CASE("units that come and go in order are found at once, however many there are") {
  // As many as fit, over and over: each one's place is free again when it comes.
  constexpr std::uint32_t k_units = 4'096;
  UnitHash hash(k_units);
  for (Lpn unit = 0; unit < 10 * k_units; ++unit) {
    if (unit >= k_units) hash.erase(unit - k_units);
    hash.insert(unit, unit);
    REQUIRE(hash.find(unit) == unit);
    REQUIRE(hash.find(unit + 1) == UnitHash::k_none);
  }
}

}  // namespace tlmssd::firmware
