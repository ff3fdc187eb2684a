// Schema, listing and reference of the test catalogue, and the catalogue's own checks.
#include "platform/scenario/reference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "models/base/quantity.h"
#include "platform/scenario/scenario.h"
#include "test_catalogue.h"

using namespace tlmssd;

TEST_CASE("the schema says what the reader checks") {
  const auto schema = nlohmann::json::parse(json_schema(test::test_catalogue()));
  CHECK(schema["type"] == "object");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == nlohmann::json{"load"});
  const auto& ssd = schema["properties"]["ssd"]["properties"];
  const auto& latency = ssd["dram"]["properties"]["latency"];
  CHECK(latency["type"] == "string");
  CHECK(latency["default"] == "50 ns");
  CHECK(latency["description"].get<std::string>().find("from request to first byte") != std::string::npos);
  CHECK(latency["description"].get<std::string>().find("0 s to 1 ms") != std::string::npos);
  CHECK(ssd["host"]["properties"]["protocol"]["enum"] == nlohmann::json{"nvme", "sata"});
  CHECK(ssd["host"]["properties"]["weights"]["items"]["type"] == "integer");
  CHECK(ssd["host"]["properties"]["weights"]["default"] == nlohmann::json{1, 1});
  CHECK(ssd["host"]["properties"]["queues"]["maximum"] == 65535);
  const auto& part = ssd["flash"]["properties"]["part"]["anyOf"];
  CHECK(part[0]["type"] == "string");
  CHECK(part[1]["properties"].contains("file"));
  CHECK(part[1]["properties"].contains("wear"));
  CHECK(ssd["flash"]["required"] == nlohmann::json{"part"});
  const auto& retention = part[1]["properties"]["wear"]["properties"]["retention"];
  CHECK(retention["type"] == "string");
  CHECK(retention["pattern"] == quantity_pattern(Kind::duration));
  CHECK(retention["default"] == "1 y");
  CHECK(retention["description"] ==
        "how long data lie unread\nduration (s, min, h, d or y)\nrange: 0 s to 10 y");
  const auto& temperature = part[1]["properties"]["wear"]["properties"]["temperature"];
  CHECK(temperature["pattern"] == quantity_pattern(Kind::temperature));
  CHECK(temperature["default"] == "40 C");
  const auto& gc = schema["properties"]["firmware"]["properties"]["gc"];
  CHECK(gc["properties"]["policy"]["oneOf"].size() == 3);
  CHECK(gc["properties"]["policy"]["oneOf"][1]["const"] == "d-choices");
  CHECK(gc["allOf"][0]["if"]["properties"]["policy"]["const"] == "greedy");
  CHECK(gc["allOf"][0]["then"]["properties"]["d"] == false);
  const auto& load = schema["properties"]["load"]["anyOf"];
  CHECK(load[0]["minItems"] == 1);
  CHECK(load[1]["properties"].contains("bs"));
  CHECK(load[1]["allOf"].size() >= 3);
}

TEST_CASE("the schema's patterns take what the parser takes") {
  const auto matches = [](Kind kind, const std::string& text) {
    return std::regex_match(text, std::regex(quantity_pattern(kind), std::regex::ECMAScript));
  };
  CHECK(matches(Kind::time, "1.5 us"));
  CHECK(matches(Kind::time, "50ns"));
  CHECK_FALSE(matches(Kind::time, "50"));
  CHECK_FALSE(matches(Kind::time, "50 MB"));
  CHECK(matches(Kind::duration, "1.5 y"));
  CHECK(matches(Kind::duration, "90min"));
  CHECK_FALSE(matches(Kind::duration, "90"));
  CHECK_FALSE(matches(Kind::duration, "90 ms"));
  CHECK(matches(Kind::temperature, "-10 C"));
  CHECK(matches(Kind::temperature, "313.15K"));
  CHECK_FALSE(matches(Kind::temperature, "40"));
  CHECK_FALSE(matches(Kind::temperature, "104 F"));
  CHECK(matches(Kind::bandwidth, "3.2 GB/s"));
  CHECK(matches(Kind::share, "25 %"));
  CHECK(matches(Kind::share, "2x"));
  CHECK(matches(Kind::bytes_or_share, "10 %"));
  CHECK(matches(Kind::bytes_or_share, "1 GiB"));
  CHECK(quantity_pattern(Kind::integer).empty());
}

TEST_CASE("the listing shows everything, or what was asked for") {
  const std::string all = list_text(test::test_catalogue());
  for (const std::string word :
       {"ssd.dram: memory", "latency", "d-choices", "load.columns", "required", "not set"}) {
    CHECK(all.find(word) != std::string::npos);
  }
  CHECK(list_text(test::test_catalogue(), "Latency") ==
        "ssd.dram: memory beside the controller\n"
        "  latency               time, default 50 ns, 0 s to 1 ms\n"
        "                        from request to first byte\n");
  CHECK(list_text(test::test_catalogue(), "windowed") ==
        "firmware.gc: garbage collection\n"
        "  policy                one of greedy, d-choices or windowed, default greedy\n"
        "                        how a victim is chosen\n"
        "    - windowed: greedy among the oldest\n"
        "        window          whole number, default 32, 1 to 1048576\n"
        "                        oldest blocks looked at\n");
  CHECK(list_text(test::test_catalogue(), "retention") ==
        "ssd.flash.part.wear: how it wears\n"
        "  retention             duration, default 1 y, 0 s to 10 y\n"
        "                        how long data lie unread\n");
  CHECK(list_text(test::test_catalogue(), "temperature") ==
        "ssd.flash.part.wear: how it wears\n"
        "  temperature           temperature, default 40 C, -40 C to 125 C\n"
        "                        while they lie\n");
  CHECK(list_text(test::test_catalogue(), "no such thing").empty());
}

TEST_CASE("the Markdown reference has every section and key") {
  const std::string text = reference_markdown(test::test_catalogue());
  CHECK(text.find("## `ssd.flash.part`\n\ndata sheet of the dies (here or in a file of its own, required)") !=
        std::string::npos);
  CHECK(text.find("| `latency` | time | `50 ns` | 0 s to 1 ms | from request to first byte |") !=
        std::string::npos);
  CHECK(text.find("| `retention` | duration | `1 y` | 0 s to 10 y | how long data lie unread |") !=
        std::string::npos);
  CHECK(text.find("| `temperature` | temperature | `40 C` | -40 C to 125 C | while they lie |") !=
        std::string::npos);
  CHECK(text.find("**`policy: windowed`**: greedy among the oldest") != std::string::npos);
  CHECK(text.find("Only with trace:") != std::string::npos);
  CHECK(text.find("Only without trace or fio:") != std::string::npos);
}

TEST_CASE("a catalogue that contradicts itself is a programming error") {
  ParameterSpec number;
  number.name = "n";
  number.fallback = std::int64_t{1};
  ParameterSpec other = number;
  other.fallback = std::int64_t{2};
  const auto refused = [](auto build) {
    Catalogue catalogue;
    build(catalogue);
    CHECK_THROWS_AS(catalogue.check(), std::logic_error);
  };
  refused([&](Catalogue& c) { c.section("a", "", {number}).keys({other}); });
  refused([&](Catalogue& c) { c.section("a", "", {number, number, other}); });
  refused([&](Catalogue& c) { c.section("a", "", {number}), c.section("a.n", ""); });
  refused([&](Catalogue& c) { c.policy("a", "policy", {{"x", "", {}}}, "y"); });
  refused([&](Catalogue& c) { c.policy("a", "policy", {{"x", "", {number}}}, "x").keys({other}); });
  refused([&](Catalogue& c) { c.section("a", "", {number}).variant("m", ""); });
  refused([&](Catalogue& c) { c.section("a", "", {number}).keys({other}, {"n"}); });
  refused([&](Catalogue& c) { c.policy("a", "policy", {{"x", "", {other}}}, "x").keys({number}); });
  Catalogue fine;
  fine.section("a", "", {number}).keys({number});
  fine.policy("b", "policy", {{"x", "", {number}}, {"y", "", {other}}}, "y");
  CHECK_NOTHROW(fine.check());
}

TEST_CASE("a policy's name can be written in a scenario") {
  const auto refused = [](const std::string& name) -> std::string {
    Catalogue catalogue;
    catalogue.policy("a", "policy", {{"x", "", {}}, {name, "", {}, "acme 1.0"}}, "x");
    try {
      catalogue.check();
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  for (const char* const name : {"mine", "ep-ldpc", "two_words", "v1.2", "Big", "c++"})
    CHECK(refused(name).empty());
  for (const char* const name : {"", "Bad Name!", "a b", "a,b", "a:b", "a/b", "a\n", "\u00e4"})
    CHECK_THAT(refused(name), Catch::StartsWith("plug-in acme 1.0: the name '") &&
                                  Catch::Contains("' in a.policy: write letters, digits, "));
  Catalogue own;
  own.policy("a", "policy", {{"x y", "", {}}}, "x y");
  CHECK_THROWS_AS(own.check(), std::logic_error);
}

TEST_CASE("what is of another choice than the scenario's is left out of the resolved scenario") {
  ParameterSpec number;
  number.name = "n";
  number.kind = Kind::integer;
  number.fallback = std::int64_t{1};
  ParameterSpec unit = number;
  unit.name = "unit";
  Catalogue catalogue;
  catalogue.policy("firmware", "model", {{"own", "", {}}, {"other", "", {}}}, "own");
  catalogue.section("firmware.map", "", {number, unit}).only_of("firmware", "own", {"unit"});
  catalogue.section("firmware.gc", "", {number}).only_of("firmware", "own");
  catalogue.section("firmware.gc.deep", "", {number}).only_of("firmware", "own");
  catalogue.section("firmware.any", "", {number});
  catalogue.check();
  const auto resolved = [&](const std::string& text) {
    const Scenario scenario = parse_scenario(text, "s.yaml", catalogue);
    const std::string yaml = scenario.resolved_yaml();
    CHECK(parse_scenario(yaml, "s.yaml", catalogue).resolved_yaml() == yaml);
    CHECK(parse_scenario(scenario.resolved_json(), "s.json", catalogue).resolved_json() ==
          scenario.resolved_json());
    return nlohmann::json::parse(scenario.resolved_json()).at("firmware");
  };
  CHECK(resolved("firmware: {model: own}").dump() ==
        R"({"any":{"n":1},"gc":{"deep":{"n":1},"n":1},"map":{"n":1,"unit":1},"model":"own"})");
  CHECK(resolved("firmware: {model: other, map: {unit: 3}}").dump() ==
        R"({"any":{"n":1},"map":{"unit":3},"model":"other"})");
  // What does not count can be found out.
  const Scenario scenario = parse_scenario(
      "firmware: {model: other, map: {unit: 3, n: 2}, gc: {deep: {n: 3}}}", "s.yaml", catalogue);
  std::string without_part;
  for (const Scenario::Written& written : scenario.written()) {
    if (!scenario.counts(*written.section, written.setting->spec->name)) without_part += written.path + " ";
  }
  CHECK(without_part == "firmware.map.n firmware.gc.deep.n ");
}

namespace {

struct Declared {
  std::uint8_t narrow = 7;
  std::uint64_t wide = 5;
  double real = 1;
  Picoseconds time = 1000;
  std::string word = "one";
  std::vector<double> many = {1, 2};
};
using DeclaredTable = ParameterTable<Declared>;

struct NotANumber {
  double n = std::nan("");
};

/// What is wrong with this table of a plug-in.
template <class Config>
std::string refusal_of_table(const ParameterTable<Config>& table) {
  Catalogue catalogue;
  catalogue.policy("a", "policy", {{"x", "", {}}, {"mine", "", table.specs(), "acme 1.0"}}, "x");
  try {
    catalogue.check();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a parameter of a plug-in that contradicts itself is refused by its name") {
  using D = Declared;
  const std::string mine = "plug-in acme 1.0: parameter 'n' of 'mine' (a.policy) ";
  CHECK(refusal_of_table(DeclaredTable{}.real("n", &D::real, {2, 3}, "")) ==
        mine + "has the default 1, which is not in the range 2 to 3");
  CHECK(refusal_of_table(DeclaredTable{}.reals("n", &D::many, {0, 1.5}, "")) ==
        mine + "has the default 2, which is not in the range 0 to 1.5");
  CHECK(refusal_of_table(DeclaredTable{}.real("n", &D::real, {2, 3}, "").required()) == "none");
  CHECK(refusal_of_table(DeclaredTable{}.real("n", &D::real, {2, 3}, "").optional()) == "none");
  CHECK(refusal_of_table(DeclaredTable{}.time("n", &D::time, {5000, 0}, "")) ==
        mine + "has the range 5000 to 0, which is none");
  CHECK(refusal_of_table(DeclaredTable{}.real("n", &D::real, {0, std::nan("")}, "")) ==
        mine + "has the range 0 to nan, which is none");
  CHECK(refusal_of_table(DeclaredTable{}.integer("n", &D::narrow, {0, 300}, "")) ==
        mine + "has the range 0 to 300, but what it is read into holds 0 to 255");
  CHECK(refusal_of_table(DeclaredTable{}.integer("n", &D::narrow, {-1, 200}, "")) ==
        mine + "has the range -1 to 200, but what it is read into holds 0 to 255");
  CHECK(refusal_of_table(DeclaredTable{}.integer("n", &D::narrow, {0, 0}, "")) ==
        mine + "has no range, but what it is read into holds 0 to 255");
  CHECK_THAT(refusal_of_table(DeclaredTable{}.integer("n", &D::wide, {-1, 9}, "")),
             Catch::StartsWith(mine + "has the range -1 to 9, but what it is read into holds 0 to 1.8"));
  CHECK(refusal_of_table(DeclaredTable{}.choice("n", &D::word, {"two", "three"}, "")) ==
        mine + "has the default 'one', which is none of its choices");
  CHECK(refusal_of_table(DeclaredTable{}.choice("n", &D::word, {"two", "three"}, "").optional()) == "none");
  CHECK(refusal_of_table(DeclaredTable{}
                             .real("n", &D::real, {0, 3}, "")
                             .text("m", &D::word, "")
                             .real("n", &D::real, {0, 3}, "")) == mine + "is declared twice");
  CHECK(refusal_of_table(DeclaredTable{}
                             .integer("n", &D::narrow, {0, 255}, "")
                             .real("real", &D::real, {0, 0}, "")
                             .integer("wide", &D::wide, {0, std::numeric_limits<std::int64_t>::max()}, "")
                             .reals("many", &D::many, {0, HUGE_VAL}, "")) == "none");
  using N = NotANumber;
  CHECK(refusal_of_table(ParameterTable<N>{}.real("n", &N::n, {0, 1}, "")) ==
        mine + "has the default nan, which is not in the range 0 to 1");
  CHECK(refusal_of_table(ParameterTable<N>{}.real("n", &N::n, {0, 0}, "")) ==
        mine + "has the default nan, which is no number");
}

TEST_CASE("what a plug-in declares and the scenario has already is refused by its name") {
  ParameterSpec number;
  number.name = "n";
  number.fallback = std::int64_t{1};
  ParameterSpec other = number;
  other.fallback = std::int64_t{2};
  ParameterSpec spaced = number;
  spaced.name = "n n";
  const PolicyInfo own{"x", "", {}};
  const auto refusal_of = [](auto build) -> std::string {
    try {
      Catalogue catalogue;
      build(catalogue);
      catalogue.check();
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  const auto with = [&](const ParameterSpec& spec) {
    return std::vector<PolicyInfo>{own, {"mine", "", {spec}, "acme 1.0"}};
  };
  const std::string mine = "plug-in acme 1.0: parameter 'n' of 'mine' (a.policy) ";
  // Whichever of the two is declared first.
  CHECK(refusal_of([&](Catalogue& c) { c.section("a", "", {number}).policy("policy", with(other), "x"); }) ==
        mine + "is a key of a too, with another meaning");
  CHECK(refusal_of([&](Catalogue& c) { c.policy("a", "policy", with(other), "x").keys({number}); }) ==
        mine + "is a key of a too, with another meaning");
  CHECK(refusal_of([&](Catalogue& c) {
          c.policy("a", "policy", with(other), "x").policy("way", {{"y", "", {number}}}, "y");
        }) == mine + "is a parameter of 'y' (a.way) too, with another meaning");
  CHECK(refusal_of([&](Catalogue& c) { c.policy("a", "policy", with(number), "x"), c.section("a.n", ""); }) ==
        mine + "has the name of a section: a.n");
  CHECK(refusal_of([&](Catalogue& c) { c.policy("a", "policy", with(spaced), "x"); }) ==
        "plug-in acme 1.0: parameter 'n n' of 'mine' (a.policy) cannot be a key of a scenario");
  CHECK(refusal_of([&](Catalogue& c) { c.policy("a", "policy", with(number), "x").keys({number}); }) ==
        "none");
  // A section of its own.
  CHECK(refusal_of([&](Catalogue& c) {
          c.section("a", "", {number}), c.section_of("acme 1.0", "a", "", {other});
        }) == "plug-in acme 1.0: there is a section a already");
  CHECK(refusal_of([&](Catalogue& c) {
          c.section("a", "", {number}), c.section_of("acme 1.0", "a.n", "", {other});
        }) == "plug-in acme 1.0: its section a.n is a key already");
  CHECK(refusal_of([&](Catalogue& c) {
          c.section_of("acme 1.0", "b", "", {number, other});
        }) == "plug-in acme 1.0: parameter 'n' of b is declared twice");
  CHECK(refusal_of([&](Catalogue& c) { c.section_of("acme 1.0", "b", "", {number}); }) == "none");
}
