// Mutated scenarios: bytes flipped, pieces cut, doubled and mixed. Nothing but an InputError of one
// line may come out, and what is read must resolve to itself. (The same check under libFuzzer:
// testbench/fuzz/scenario_fuzz.cpp.)
#include <catch2/catch.hpp>

#include "models/base/random.h"
#include "test_catalogue.h"

using namespace tlmssd;

namespace {

const std::vector<std::string> k_words = {"[",
                                          "]",
                                          "{",
                                          "}",
                                          ": ",
                                          "- ",
                                          "\n",
                                          "\n  ",
                                          "#",
                                          "&a ",
                                          "*a",
                                          "!x ",
                                          "'",
                                          "\"",
                                          "\\",
                                          "\t",
                                          "%",
                                          "---",
                                          "...",
                                          "|\n",
                                          ">\n",
                                          "? ",
                                          "~",
                                          "<<",
                                          "null",
                                          "25 %",
                                          "50 ns",
                                          "1e999 s",
                                          "1.5 y",
                                          "-10 C",
                                          "313.15 K",
                                          "-1",
                                          "0.5x",
                                          "file",
                                          "part",
                                          "trace",
                                          "policy",
                                          "greedy",
                                          "d",
                                          "ssd",
                                          "\x80",
                                          "\xEF\xBB\xBF",
                                          "\r\n",
                                          ",",
                                          "[[[[[[",
                                          "- - - ",
                                          "load",
                                          "title",
                                          "\"\\x01\"",
                                          "\\uD800",
                                          "parts/loop.yaml",
                                          "99999999999999999999"};

std::string mutated(std::string text, RandomStream& random) {
  const std::uint64_t changes = 1 + random.below(6);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(6)) {
      case 0:
        text.insert(at, k_words[random.below(k_words.size())]);
        break;
      case 1:
        text.erase(at, random.below(12));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(60)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        if (at < text.size()) text[at] = text[random.below(text.size())];
        break;
    }
  }
  return text;
}

/// True when it could be read.
bool survives(const std::string& text, const std::vector<std::string>& overrides) {
  std::string yaml;
  std::string json;
  try {
    const Scenario scenario = test::read(text, overrides);
    yaml = scenario.resolved_yaml();
    json = scenario.resolved_json();
  } catch (const InputError& error) {
    for (const InputError& one : errors_of(error)) {
      const std::string message = one.what();
      REQUIRE_FALSE(message.empty());
      REQUIRE(message.find('\n') == std::string::npos);
      REQUIRE(message.size() < 1000);
    }
    return false;
  }
  REQUIRE(test::read(yaml).resolved_yaml() == yaml);
  REQUIRE(test::read(json).resolved_json() == json);
  return true;
}

}  // namespace

TEST_CASE("mutated scenarios are read or refused, nothing else", "[slow]") {
  RandomStream random(1, "mutation");
  const std::string seeds[] = {
      test::k_example, test::read("ssd: {flash: {part: {name: x}}}\nload: {rw: read}\n").resolved_yaml(),
      "ssd: {flash: {part: {name: \"a\\tb\"}}}\nload:\n  - {trace: 'a', columns: {offset: 2}}\n  - rw: "
      "read\n"};
  int read_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = mutated(seeds[random.below(3)], random);
    INFO(text);
    if (survives(text, {})) ++read_count;
  }
  CHECK(read_count > 100);  // the mutations are not all hopeless
}

TEST_CASE("mutated --set are taken or refused, nothing else", "[slow]") {
  RandomStream random(2, "mutation");
  const std::string seeds[] = {
      "ssd.dram.latency=5 ns",    "precondition.0={fill: 50 %}", "load.0.trace=x",
      "ssd.flash.part.blocks=64", "firmware.gc.policy=windowed", "ssd.host.weights=[1, 2]"};
  int read_count = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string setting = mutated(seeds[random.below(6)], random);
    INFO(setting);
    if (survives(test::k_example, {setting})) ++read_count;
  }
  CHECK(read_count > 100);
}
