// Quantities: exact conversion, canonical text, refusals that name the valid units.
#include "models/common/quantity.h"

#include <catch2/catch.hpp>
#include <limits>

#include "models/common/random.h"

using namespace tlmssd;

namespace {

std::string problem_of(Kind kind, const std::string& text) {
  ParameterSpec spec;
  spec.kind = kind;
  spec.choices = {"greedy", "fifo"};
  try {
    const Value value = parse_value(spec, text);
    return "taken as " + format_value(kind, value);
  } catch (const InputError& problem) {
    return problem.what();
  }
}

std::int64_t whole(Kind kind, const std::string& text) {
  return parse_quantity(kind, text);
}

}  // namespace

TEST_CASE("quantities are converted exactly") {
  CHECK(whole(Kind::time, "1.5 us") == 1'500'000);
  CHECK(whole(Kind::time, "50ns") == 50'000);
  CHECK(whole(Kind::time, "  50   ns ") == 50'000);
  CHECK(whole(Kind::time, "50 \u00B5s") == 50'000'000);
  CHECK(whole(Kind::time, "0.001 ns") == 1);
  CHECK(whole(Kind::time, "1.2345678901 s") == 1'234'567'890'100);
  CHECK(whole(Kind::time, "2 min") == 120'000'000'000'000);
  CHECK(whole(Kind::time, "1 d") == 86'400'000'000'000'000);
  CHECK(whole(Kind::time, "1e3 ns") == 1'000'000);
  CHECK(whole(Kind::time, "1.50000000000000000000000000000000 us") == 1'500'000);
  CHECK(whole(Kind::time, "9223372036854775807 ps") == std::numeric_limits<std::int64_t>::max());
  CHECK(whole(Kind::time, "-5 ns") == -5'000);
  CHECK(whole(Kind::bytes, "1.5 KiB") == 1536);
  CHECK(whole(Kind::bytes, "1.5 kB") == 1500);
  CHECK(whole(Kind::bytes, "1 KB") == 1000);
  CHECK(whole(Kind::bytes, "8 TiB") == std::int64_t{8} << 40);
  CHECK(whole(Kind::bandwidth, "3.2 GB/s") == 3'200'000'000);
  CHECK(whole(Kind::bandwidth, "1 GiB/s") == 1 << 30);
  CHECK(whole(Kind::frequency, "533.333 MHz") == 533'333'000);
  CHECK(whole(Kind::frequency, "1.6 GT/s") == 1'600'000'000);
  CHECK(parse_share("25 %") == 0.25);
  CHECK(parse_share("7%") == 0.07);
  CHECK(parse_share("0.1 %") == 0.001);
  CHECK(parse_share("2x") == 2.0);
  CHECK(parse_share("0.5 x") == 0.5);
}

TEST_CASE("what cannot be held exactly or has the wrong unit is refused in one clear line") {
  CHECK(problem_of(Kind::time, "50") == "'50' has no unit; write for instance '50 ns'");
  CHECK(problem_of(Kind::time, "0") == "'0' has no unit; write for instance '0 ns'");
  CHECK(problem_of(Kind::time, "fast") == "'fast' is not a time; write for instance '50 ns'");
  CHECK(problem_of(Kind::time, "") == "'' is not a time; write for instance '50 ns'");
  CHECK(problem_of(Kind::time, "50 MB") ==
        "'50 MB': 'MB' is not a unit of time; use ps, ns, us, ms, s, min, h or d");
  CHECK(problem_of(Kind::time, "0.5 ps") == "'0.5 ps' is finer than 1 ps");
  CHECK(problem_of(Kind::time, "1e-400 s") == "'1e-400 s' is finer than 1 ps");
  CHECK(problem_of(Kind::time, "99999999999 d") == "'99999999999 d' is too large");
  CHECK(problem_of(Kind::time, "1e999999999999 s") == "'1e999999999999 s' is too large");
  CHECK(problem_of(Kind::time, "9223372036854775808 ps") == "'9223372036854775808 ps' is too large");
  CHECK(problem_of(Kind::time, "1.23456789012345678901 s") ==
        "'1.23456789012345678901 s' has more digits than can be kept");
  CHECK(problem_of(Kind::bytes, "0.3 KiB") == "'0.3 KiB' is not a whole number of bytes");
  CHECK(problem_of(Kind::bytes, "4 Kb") ==
        "'4 Kb': 'Kb' is not a unit of size; use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB");
  CHECK(problem_of(Kind::bandwidth, "6 Gb/s") ==
        "'6 Gb/s': 'Gb/s' is not a unit of bandwidth; use B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s");
  CHECK(problem_of(Kind::frequency, "500") == "'500' has no unit; write for instance '500 MHz'");
  CHECK(problem_of(Kind::share, "0.25") == "'0.25' has no unit; write for instance '25 %' or '0.25x'");
  CHECK(problem_of(Kind::share, "50") == "'50' has no unit; write for instance '50 %' or '50x'");
  CHECK(problem_of(Kind::share, "5 pct") ==
        "'5 pct': 'pct' is not a unit of share; write for instance '25 %' or '2x'");
  CHECK(problem_of(Kind::share, "1e999 %") == "'1e999 %' is too large or too small");
  CHECK(problem_of(Kind::bytes_or_share, "64") == "'64' has no unit; write for instance '64 KiB' or '10 %'");
  CHECK(problem_of(Kind::bytes_or_share, "120 %") == "1.2x is out of range: must be 0.01 % to 100 %");
  CHECK(problem_of(Kind::integer, "1.5") == "'1.5' is not a whole number");
  CHECK(problem_of(Kind::integer, "1e6") == "'1e6' is not a whole number");
  CHECK(problem_of(Kind::integer, "99999999999999999999") == "'99999999999999999999' is too large");
  CHECK(problem_of(Kind::real, "nan") == "'nan' is not a number");
  CHECK(problem_of(Kind::real, "inf") == "'inf' is not a number");
  CHECK(problem_of(Kind::real, "1e400") == "'1e400' is too large or too small");
  CHECK(problem_of(Kind::flag, "yes") == "'yes' is not true or false");
  CHECK(problem_of(Kind::choice, "gredy") == "'gredy' is not one of greedy or fifo; did you mean 'greedy'?");
}

TEST_CASE("ranges are told with units") {
  ParameterSpec spec;
  spec.kind = Kind::time;
  spec.maximum = 1e9;
  CHECK(range_text(spec) == "0 s to 1 ms");
  CHECK_THROWS_WITH(parse_value(spec, "2 ms"), "2 ms is out of range: must be 0 s to 1 ms");
  CHECK_THROWS_WITH(parse_value(spec, "-1 ns"), "-1 ns is out of range: must be 0 s to 1 ms");
  spec.kind = Kind::bytes;
  spec.minimum = 1024;
  spec.maximum = 9.3e18;
  CHECK(range_text(spec) == "at least 1 KiB");
}

TEST_CASE("canonical texts are the shortest exact ones") {
  const auto text = [](Kind kind, std::int64_t value) { return format_value(kind, Value(value)); };
  CHECK(text(Kind::time, 1'500'000) == "1.5 us");
  CHECK(text(Kind::time, 100'000'000'000'000) == "100 s");
  CHECK(text(Kind::time, 0) == "0 s");
  CHECK(text(Kind::bytes, 4096) == "4 KiB");
  CHECK(text(Kind::bytes, 1'000'000) == "1 MB");
  CHECK(text(Kind::bytes, 512) == "512 B");
  CHECK(text(Kind::bytes, 18'592) == "18592 B");
  CHECK(text(Kind::bandwidth, 3'200'000'000) == "3.2 GB/s");
  CHECK(text(Kind::frequency, 500'000'000) == "500 MHz");
  CHECK(format_value(Kind::share, Value(0.25)) == "25 %");
  CHECK(format_value(Kind::share, Value(1.0)) == "100 %");
  CHECK(format_value(Kind::share, Value(2.5)) == "2.5x");
  CHECK(format_value(Kind::share, Value(0.07)) == "7 %");
  CHECK(format_value(Kind::real, Value(1e-30)) == "1e-30");
  CHECK(format_value(Kind::real, Value(0.1)) == "0.1");
  CHECK(format_value(Kind::real, Value(-1234.5)) == "-1234.5");
}

TEST_CASE("whatever is formatted parses back to the same value") {
  RandomStream random(1, "quantity");
  for (const Kind kind : {Kind::time, Kind::bytes, Kind::bandwidth, Kind::frequency, Kind::integer}) {
    ParameterSpec spec;
    spec.kind = kind;
    for (int i = 0; i < 20'000; ++i) {
      std::uint64_t magnitude = random() >> (1 + random.below(62));
      if (random.below(2) == 0) {  // round numbers, as people write them
        static constexpr std::uint64_t k_scales[] = {1000, 1'000'000, 1ULL << 20U, 3'600'000'000'000'000ULL,
                                                     1ULL << 10U};
        magnitude = (magnitude % 2000) * k_scales[random.below(5)];
      }
      const auto value = static_cast<std::int64_t>(magnitude) * (random.below(4) == 0 ? -1 : 1);
      const std::string text = format_value(kind, Value(value));
      INFO(text);
      REQUIRE(std::get<std::int64_t>(parse_value(spec, text)) == value);
      REQUIRE(format_value(kind, parse_value(spec, text)) == text);
    }
  }
  for (const Kind kind : {Kind::real, Kind::share}) {
    ParameterSpec spec;
    spec.kind = kind;
    for (int i = 0; i < 20'000; ++i) {
      double value = std::ldexp(random.uniform(), static_cast<int>(random.below(200)) - 100);
      if (random.below(2) == 0) value = static_cast<double>(random.below(100'000)) / 1000;
      if (random.below(4) == 0) value = -value;
      const std::string text = format_value(kind, Value(value));
      INFO(text);
      REQUIRE(std::get<double>(parse_value(spec, text)) == value);
    }
  }
}

TEST_CASE("lists are gathered by kind") {
  ParameterSpec spec;
  spec.kind = Kind::time;
  spec.list = true;
  const Value list = make_list(spec, {parse_value(spec, "1 ns"), parse_value(spec, "2 us")});
  CHECK(std::get<std::vector<std::int64_t>>(list) == std::vector<std::int64_t>{1000, 2'000'000});
  CHECK(format_elements(Kind::time, list) == std::vector<std::string>{"1 ns", "2 us"});
}

TEST_CASE("a list of numbers is declared, checked, printed and read like any other parameter") {
  struct Curve {
    std::vector<double> rates = {1e-05, 0.5};
    std::vector<double> none;
    static ParameterTable<Curve> parameters() {
      return ParameterTable<Curve>{}
          .reals("rates", &Curve::rates, {0, 1}, "error rates")
          .reals("none", &Curve::none, {0, 9}, "may be empty");
    }
  };
  const std::vector<ParameterSpec> specs = Curve::parameters().specs();
  REQUIRE(specs.size() == 2);
  const ParameterSpec& spec = specs.front();
  CHECK(spec.list);
  CHECK(kind_text(spec) == "list, each a number");
  CHECK(range_text(spec) == "0 to 1");
  CHECK(format_elements(spec.kind, spec.fallback) == std::vector<std::string>{"0.00001", "0.5"});
  CHECK(format_elements(specs[1].kind, specs[1].fallback).empty());
  CHECK_THROWS_WITH(parse_value(spec, "1.5"), "1.5 is out of range: must be 0 to 1");

  struct Given final : ParameterValues {
    Value value;
    [[nodiscard]] const Value* find(std::string_view name) const override {
      return name == "rates" ? &value : nullptr;
    }
  };
  Given given;
  given.value = make_list(spec, {parse_value(spec, "1.48e-3"), parse_value(spec, "0")});
  CHECK(Curve::parameters().read(given).rates == std::vector<double>{1.48e-3, 0});
  CHECK(Curve::parameters().read(NoValues{}).rates == std::vector<double>{1e-05, 0.5});
}
