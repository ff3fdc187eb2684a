// Reports of others: their groups are counted, and what is in them is handed on.
#include "models/base/report_within.h"

#include <catch2/catch.hpp>
#include <functional>

#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;

namespace {

/// Reports what a function says.
struct Guest {
  std::function<void(StatisticsSink&)> say;
  void report(StatisticsSink& sink) const { say(sink); }
};

std::string refused(const Guest& guest) {
  test::NumbersSink sink;
  sink.open("all", "");
  try {
    report_within(sink, "firmware acme", guest);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a guest's report is handed on, group by group") {
  test::NumbersSink sink;
  sink.open("all", "");
  const Guest guest{[](StatisticsSink& own) {
    own.open("mine", "");
    own.value("whole", std::uint64_t{3}, "", "");
    own.close();
    own.value("real", 0.5, "", "");
    own.text("word", "said", "");
  }};
  report_within(sink, "firmware acme", guest);
  sink.close();
  CHECK(sink.numbers == std::map<std::string, double>{{"all/mine/whole", 3}, {"all/real", 0.5}});
}

TEST_CASE("a guest whose groups are not balanced is refused by its name") {
  const auto open = [](StatisticsSink& sink) { sink.open("mine", ""); };
  const auto close = [](StatisticsSink& sink) { sink.close(); };
  CHECK(refused({open}) == "firmware acme: report() leaves 1 group open");
  CHECK(refused({[&](StatisticsSink& sink) {
          open(sink);
          open(sink);
        }}) == "firmware acme: report() leaves 2 groups open");
  CHECK(refused({close}) == "firmware acme: report() closes a group that it has not opened");
  CHECK(refused({[&](StatisticsSink& sink) {
          close(sink);
          open(sink);
        }}) == "firmware acme: report() closes a group that it has not opened");
  CHECK(refused({[&](StatisticsSink& sink) {
          open(sink);
          close(sink);
        }}).empty());
}
