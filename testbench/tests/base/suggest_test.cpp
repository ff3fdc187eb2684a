// Suggestions and quoting for messages.
#include "models/base/suggest.h"

#include <catch2/catch.hpp>

using namespace tlmssd;

TEST_CASE("the nearest choice is found, and none when nothing is close") {
  const std::vector<std::string> choices = {"channels", "dies_per_channel", "bus", "part",
                                            "over_provisioning"};
  CHECK(nearest("chanels", choices) == "channels");
  CHECK(nearest("cahnnels", choices) == "channels");
  CHECK(nearest("Channels", choices) == "channels");
  CHECK(nearest("over-provisioning", choices) == "over_provisioning");
  CHECK(nearest("over", choices) == "over_provisioning");
  CHECK(nearest("buss", choices) == "bus");
  CHECK(nearest("garbage", choices).empty());
  CHECK(nearest("", choices).empty());
  CHECK(nearest("x", {"y"}).empty());
  CHECK(nearest(std::string(1000, 'a'), choices).empty());
  CHECK(nearest("ab", {"abc", "abd"}) == "abc");
  CHECK(did_you_mean("gredy", {"greedy"}) == "; did you mean 'greedy'?");
  CHECK(did_you_mean("zzz", {"greedy"}).empty());
  // Words that are equally near are all named, as long as they are few.
  CHECK(did_you_mean("--load-snapshot", {"--save-snapshot", "--set", "--from-snapshot"}) ==
        "; did you mean '--save-snapshot' or '--from-snapshot'?");
  CHECK(did_you_mean("az", {"aa", "ab", "ac"}) == "; did you mean 'aa', 'ab' or 'ac'?");
  CHECK(did_you_mean("az", {"aa", "ab", "ac", "ad"}) == "; did you mean 'aa'?");
}

TEST_CASE("what a user wrote stays on one line and is not too long") {
  CHECK(in_quotes("a\nb\tc") == "'a\\nb\\tc'");
  CHECK(in_quotes(std::string("\x01\x7F", 2)) == "'\\x01\\x7f'");
  CHECK(in_quotes(std::string(100, 'a')) == "'" + std::string(60, 'a') + "...'");
  std::string umlauts(59, 'a');
  umlauts.append("\u00E4\u00E4");
  CHECK(in_quotes(umlauts) == "'" + std::string(59, 'a') + "...'");
  CHECK(in_quotes("a\xFF\xC3z") == "'a\\xff\\xc3z'");
  CHECK(printable(std::string("a\0\x1B\r\n\u00E4", 7)) == "a\\x00\\x1b\\x0d\n\u00E4");
  // What turns the direction of a line, or is a control character of eight bits, would show another
  // message.
  for (const auto& [raw, shown] : {std::pair<const char*, const char*>{"\u202e", "\\u202e"},
                                   {"\u2066", "\\u2066"},
                                   {"\u200f", "\\u200f"},
                                   {"\u061c", "\\u061c"},
                                   {"\u2028", "\\u2028"},
                                   {"\xC2\x9B", "\\u009b"},
                                   {"\xC2\x85", "\\u0085"}}) {
    CHECK(in_quotes(std::string("a") + raw + "b") == std::string("'a") + shown + "b'");
    CHECK(printable(std::string("a") + raw + "b") == std::string("a") + shown + "b");
  }
  CHECK(printable("\u00A0\u2019\u2030\xFF") == "\u00A0\u2019\u2030\xFF");
  CHECK(any_of({"a"}) == "a");
  CHECK(any_of({"a", "b", "c"}) == "a, b or c");
  CHECK(any_of({"a", "b", "c"}, 2) == "a, b, ...");
}
