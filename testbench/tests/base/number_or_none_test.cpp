// Numbers that may be none: what would calculate with none is refused.
#include "models/base/number_or_none.h"

#include <catch2/catch.hpp>
#include <type_traits>

using namespace tlmssd;

namespace {

using Number = NumberOrNone<struct Apples>;
using Other = NumberOrNone<struct Pears>;

}  // namespace

TEST_CASE("none is not a number") {
  const Number none;
  CHECK(none.none());
  CHECK_THROWS_AS(none + 1, std::logic_error);
  CHECK_THROWS_AS(none - 1, std::logic_error);
  CHECK_THROWS_AS(none % 4, std::logic_error);
  CHECK_THROWS_AS(none < 4U, std::logic_error);
  Number next;
  CHECK_THROWS_AS(++next, std::logic_error);
}

TEST_CASE("arithmetic does not come out as none") {
  const Number zero(0);
  CHECK_THROWS_AS(Number(zero - 1), std::logic_error);  // the value of none
  Number most(Number::k_most);
  CHECK_FALSE(most.none());
  CHECK_THROWS_AS(++most, std::logic_error);
  CHECK(Number(7) / 2 == 3);
  CHECK(Number(7) == Number(7));
  CHECK_FALSE(Number(0) == Number());
}

TEST_CASE("in tables that are zeros at first, an entry that was never set is none") {
  CHECK(Number::of_entry(0).none());
  CHECK(Number().entry() == 0);
  for (const std::uint32_t number : {0U, 1U, 12345U, Number::k_most}) {
    CHECK(Number(number).entry() == number + 1);
    CHECK(Number::of_entry(Number(number).entry()) == Number(number));
  }
}

TEST_CASE("numbers of different things do not mix") {
  CHECK_FALSE(std::is_assignable_v<Number&, Other>);
  CHECK_FALSE(std::is_assignable_v<Number&, std::uint32_t>);
}
