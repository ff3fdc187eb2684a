// Which parts of a drive limit it: all of a kind, or those that are busy all the time.
#include "testbench/report/advice/busy_parts.h"

#include <catch2/catch.hpp>
#include <optional>
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

TEST_CASE("in a load's own time a kind is as busy as it was then, with no part busier than all the time") {
  const auto die = [](double share) { return nlohmann::ordered_json{{"utilisation", {{"value", share}}}}; };
  nlohmann::ordered_json report;
  report["measured_time"]["value"] = 10.0;
  report["statistics"]["flash"]["channel_0"] = {{"die_0", die(0.9)}, {"die_1", die(0.1)}};
  nlohmann::ordered_json load = {{"name", "even"}, {"own_time", {{"span", {{"value", 2.0}}}}}};
  report["results"]["loads"] = nlohmann::ordered_json::array({load});
  const MeasuredDrive drive(report, {});
  CHECK_FALSE(drive.in_time_of(load));  // it is not known how busy anything was
  for (const double mean : {0.985, 0.4, 0.1}) {
    load["own_time"]["utilisation"] = {{"dies", mean}};
    const std::optional<MeasuredDrive> own = drive.in_time_of(load);
    REQUIRE(own);
    const Utilisation* const dies = own->use_of("dies");
    CHECK(dies->mean() == Approx(mean));
    CHECK(dies->highest() <= 1);
    CHECK(own->time == "the time of even");
    CHECK(own->whose == "even");
    if (mean == 0.985) CHECK_FALSE(uneven(*dies));
    if (mean == 0.1) CHECK(dies->shares[0] == Approx(9 * dies->shares[1]));  // all alike
  }
  load["own_time"]["span"]["value"] = 9.5;
  CHECK_FALSE(drive.in_time_of(load));  // nearly all of the time
}
