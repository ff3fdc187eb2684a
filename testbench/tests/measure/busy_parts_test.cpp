// Which parts of a drive limit it: all of a kind, or those that are busy all the time.
#include "testbench/report/advice/busy_parts.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace tlmssd;

TEST_CASE("some of a kind limit where they are busy all the time and the others are not") {
  CHECK(uneven({"dies", {0.9, 0.5}}));
  CHECK(uneven({"dies", {0.9, 0.7}}));
  CHECK(uneven({"dies", {0.85, 0.1}}));
  CHECK_FALSE(uneven({"dies", {0.84, 0.1}}));  // none of them is busy enough
  CHECK_FALSE(uneven({"dies", {1, 0.71}}));    // all of them are, on average
  CHECK_FALSE(uneven({"dies", {0.9, 0.75}}));  // they average more than nine tenths of the busiest
}

TEST_CASE("what limits is as busy as the busiest of an uneven kind, or as all of an even one") {
  CHECK(load_of({"dies", {0.9, 0.5}}) == 0.9);
  CHECK(load_of({"dies", {0.9, 0.75}}) == Approx(0.825));
}

TEST_CASE("those of a kind that are busy all the time are named by their numbers") {
  CHECK(busy_ones({"dies", {0.2, 0.85, 0.84, 0.9}}) == std::vector<std::string>{"1", "3"});
  CHECK(busy_ones({"dies", {0.2, 0.3}}).empty());
  CHECK(some_of(1) == "one of ");
  CHECK(some_of(3) == "3 of ");
}
