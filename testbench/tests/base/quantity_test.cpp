// Quantities: exact conversion, canonical text, refusals that name the valid units.
#include "models/base/quantity.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "models/base/random.h"

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

TEST_CASE("a share of nothing is accepted where no bytes are") {
  ParameterSpec spec;
  spec.kind = Kind::bytes_or_share;
  spec.maximum = 0x1p50;
  CHECK(std::get<std::int64_t>(parse_value(spec, "0 B")) == 0);
  CHECK(std::get<double>(parse_value(spec, "0 %")) == 0);
  CHECK(std::get<double>(parse_value(spec, "0.001 %")) == 0.00001);
  CHECK_THROWS_WITH(parse_value(spec, "-1 %"), "-1 % is out of range: must be 0 % to 100 %");
  spec.minimum = 0x1p16;
  CHECK_THROWS_WITH(parse_value(spec, "0 %"), "0 % is out of range: must be 0.01 % to 100 %");
}

TEST_CASE("durations are real seconds, rounded once") {
  CHECK(parse_duration("6 d") == 518'400);
  CHECK(parse_duration("1y") == 31'536'000);
  CHECK(parse_duration("  1.5   h ") == 5'400);
  CHECK(parse_duration("90 s") == 90);
  CHECK(parse_duration("+2 min") == 120);
  CHECK(parse_duration("-2 min") == -120);
  CHECK(parse_duration("1e3 d") == 86'400'000);
  CHECK(parse_duration("9.99e-2 min") == 5.994);
  CHECK(parse_duration("0.1 min") == 6);
  CHECK(parse_duration("1.1 min") == 66);
  CHECK(parse_duration("0.0000000000000000000000000000000001 y") == 3.1536e-27);
  CHECK(parse_duration("333333333333333333333333333333 y") == 10'511'999'999'999'999'999'999'999'989'488e6);
  CHECK(parse_duration("1e300 y") == 3.1536e307);
  CHECK(parse_duration("5e-324 s") == std::numeric_limits<double>::denorm_min());
  CHECK_THROWS_AS(parse_quantity(Kind::duration, "1 d"), std::logic_error);
}

TEST_CASE("temperatures are degrees Celsius, whether written in them or in kelvins") {
  CHECK(parse_temperature("40 C") == 40);
  CHECK(parse_temperature("40C") == 40);
  CHECK(parse_temperature("+40.5 C") == 40.5);
  CHECK(parse_temperature("-10 C") == -10);
  CHECK(parse_temperature("313.15 K") == 40);
  CHECK(parse_temperature("273.151 K") == 0.001);
  CHECK(parse_temperature("273.15 K") == 0);
  CHECK(parse_temperature("3e2 K") == 26.85);
  CHECK(parse_temperature("0 K") == -273.15);
  CHECK(parse_temperature("-0 K") == -273.15);
  CHECK(parse_temperature("-273.15 C") == -273.15);
  CHECK(parse_temperature("9223372036.854775807 K") == 9'223'371'763.704775807);
  CHECK_THROWS_AS(parse_quantity(Kind::temperature, "40 C"), std::logic_error);
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
  CHECK(problem_of(Kind::time, "-99999999999 d") == "'-99999999999 d' is too small");
  CHECK(problem_of(Kind::time, "1e999999999999 s") == "'1e999999999999 s' is too large");
  CHECK(problem_of(Kind::time, "9223372036854775808 ps") == "'9223372036854775808 ps' is too large");
  CHECK(problem_of(Kind::time, "1.23456789012345678901 s") ==
        "'1.23456789012345678901 s' has more digits than can be kept");
  CHECK(problem_of(Kind::bytes, "0.3 KiB") == "'0.3 KiB' is not a whole number of bytes");
  CHECK(problem_of(Kind::bytes, "4 Kb") ==
        "'4 Kb': 'Kb' is not a unit of size; use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB");
  CHECK(problem_of(Kind::bytes, "12k") == "'12k': 'k' is not a unit of size; write for instance '12 KiB'");
  CHECK(problem_of(Kind::bandwidth, "900000000") == "'900000000' has no unit; write for instance '900 MB/s'");
  CHECK(problem_of(Kind::bandwidth, "6 Gb/s") ==
        "'6 Gb/s': 'Gb/s' is not a unit of bandwidth; use B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s");
  CHECK(problem_of(Kind::frequency, "500") == "'500' has no unit; write for instance '500 MHz'");
  CHECK(problem_of(Kind::duration, "6") == "'6' has no unit; write for instance '6 d'");
  CHECK(problem_of(Kind::duration, "long") == "'long' is not a duration; write for instance '50 d'");
  CHECK(problem_of(Kind::duration, "3 months") ==
        "'3 months': 'months' is not a unit of duration; use s, min, h, d or y");
  CHECK(problem_of(Kind::duration, "50 ns") ==
        "'50 ns': 'ns' is not a unit of duration; use s, min, h, d or y");
  CHECK(problem_of(Kind::duration, "1e308 y") == "'1e308 y' is too large or too small");
  CHECK(problem_of(Kind::duration, "1e-400 s") == "'1e-400 s' is too large or too small");
  CHECK(problem_of(Kind::temperature, "40") == "'40' has no unit; write for instance '40 C'");
  CHECK(problem_of(Kind::temperature, "-10") == "'-10' has no unit; write for instance '-10 C'");
  CHECK(problem_of(Kind::temperature, "hot") == "'hot' is not a temperature; write for instance '50 C'");
  CHECK(problem_of(Kind::temperature, "104 F") == "'104 F': 'F' is not a unit of temperature; use C or K");
  CHECK(problem_of(Kind::temperature, "40 c") == "'40 c': 'c' is not a unit of temperature; use C or K");
  CHECK(problem_of(Kind::temperature, "-273.16 C") == "'-273.16 C' is below absolute zero, -273.15 C");
  CHECK(problem_of(Kind::temperature, "-1 K") == "'-1 K' is below absolute zero, -273.15 C");
  CHECK(problem_of(Kind::temperature, "-9223372036.854775807 K") ==
        "'-9223372036.854775807 K' is below absolute zero, -273.15 C");
  CHECK(problem_of(Kind::temperature, "1e-10 K") == "'1e-10 K' is finer than 1 nK");
  CHECK(problem_of(Kind::temperature, "1e10 K") == "'1e10 K' is too large");
  CHECK(problem_of(Kind::temperature, "1e400 C") == "'1e400 C' is too large or too small");
  CHECK(problem_of(Kind::share, "0.25") == "'0.25' has no unit; write for instance '25 %' or '0.25x'");
  CHECK(problem_of(Kind::share, "50") == "'50' has no unit; write for instance '50 %' or '50x'");
  CHECK(problem_of(Kind::share, "5 pct") ==
        "'5 pct': 'pct' is not a unit of share; write for instance '25 %' or '2x'");
  CHECK(problem_of(Kind::share, "1e999 %") == "'1e999 %' is too large or too small");
  CHECK(problem_of(Kind::bytes_or_share, "64") == "'64' has no unit; write for instance '64 KiB' or '10 %'");
  CHECK(problem_of(Kind::bytes_or_share, "120 %") == "120 % is out of range: must be 0 % to 100 %");
  CHECK(problem_of(Kind::integer, "1.5") == "'1.5' is not a whole number");
  CHECK(problem_of(Kind::integer, "1e6") == "'1e6' is not a whole number");
  CHECK(problem_of(Kind::integer, "99999999999999999999") == "'99999999999999999999' is too large");
  CHECK(problem_of(Kind::integer, "-99999999999999999999") == "'-99999999999999999999' is too small");
  CHECK(problem_of(Kind::integer, "+-5") == "'+-5' is not a whole number");
  CHECK(problem_of(Kind::integer, "++5") == "'++5' is not a whole number");
  CHECK(problem_of(Kind::real, "+-5") == "'+-5' is not a number");
  CHECK(problem_of(Kind::integer, "+") == "'+' is not a whole number");
  CHECK(problem_of(Kind::real, "nan") == "'nan' is not a number");
  CHECK(problem_of(Kind::real, "inf") == "'inf' is not a number");
  CHECK(problem_of(Kind::real, "1e400") == "'1e400' is too large or too small");
  CHECK(problem_of(Kind::flag, "yes") == "'yes' is not true or false");
  CHECK(problem_of(Kind::choice, "gredy") == "'gredy' is not one of greedy or fifo; did you mean 'greedy'?");
}

TEST_CASE("flags in fio's words may be 1 and 0") {
  ParameterSpec spec;
  spec.kind = Kind::flag;
  CHECK_THROWS_WITH(parse_value(spec, "1"), "'1' is not true or false");
  spec.one_or_zero = true;
  CHECK(parse_value(spec, "1") == Value(true));
  CHECK(parse_value(spec, "0") == Value(false));
  CHECK(parse_value(spec, "true") == Value(true));
  CHECK_THROWS_WITH(parse_value(spec, "2"), "'2' is not true or false, 1 or 0");
}

TEST_CASE("numbers without a unit are proposed in the one that the key is usually given in") {
  ParameterSpec spec;
  spec.kind = Kind::time;
  spec.maximum = 1e15;  // ps
  spec.usual_unit = "s";
  CHECK_THROWS_WITH(parse_value(spec, "10"), "'10' has no unit; write for instance '10 s'");
  CHECK_THROWS_WITH(parse_value(spec, "5000"), "'5000' has no unit; write for instance '5000 ms'");
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
  CHECK(range_text(spec) == "1 KiB to 9223372036854775807 B");
  spec.kind = Kind::integer;
  spec.maximum = 0x1p62;  // one more is the same double
  CHECK(std::get<std::int64_t>(parse_value(spec, "4611686018427387904")) == std::int64_t{1} << 62U);
  CHECK_THROWS_WITH(parse_value(spec, "4611686018427387905"),
                    "4611686018427387905 is out of range: must be 1024 to 4611686018427387904");
  spec.kind = Kind::duration;
  spec.minimum = 0;
  spec.maximum = 315'360'000;
  CHECK(range_text(spec) == "0 s to 10 y");
  CHECK_THROWS_WITH(parse_value(spec, "3651 d"), "3651 d is out of range: must be 0 s to 10 y");
  CHECK_THROWS_WITH(parse_value(spec, "-1 d"), "-1 d is out of range: must be 0 s to 10 y");
  CHECK(kind_text(spec) == "duration (s, min, h, d or y)");
  spec.kind = Kind::temperature;
  spec.minimum = -40;
  spec.maximum = 125;
  CHECK(range_text(spec) == "-40 C to 125 C");
  CHECK_THROWS_WITH(parse_value(spec, "-41 C"), "-41 C is out of range: must be -40 C to 125 C");
  CHECK_THROWS_WITH(parse_value(spec, "400 K"), "126.85 C is out of range: must be -40 C to 125 C");
  CHECK(kind_text(spec) == "temperature (C or K)");
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
  const auto duration = [](double seconds) { return format_value(Kind::duration, Value(seconds)); };
  CHECK(duration(518'400) == "6 d");
  CHECK(duration(31'536'000) == "1 y");
  CHECK(duration(47'304'000) == "1.5 y");
  CHECK(duration(90) == "90 s");
  CHECK(duration(120) == "2 min");  // as short as 120 s: the larger unit
  CHECK(duration(1'800) == "30 min");
  CHECK(duration(86'486.4) == "1.001 d");
  CHECK(duration(86'399.99999999999) == "86399.99999999999 s");
  CHECK(duration(-86'400) == "-1 d");
  CHECK(duration(0) == "0 s");
  CHECK(duration(1e-12) == "1e-12 s");
  CHECK(duration(1e300) == "1e300 s");
  CHECK(format_value(Kind::temperature, Value(40.0)) == "40 C");
  CHECK(format_value(Kind::temperature, Value(-273.15)) == "-273.15 C");
  CHECK(format_value(Kind::temperature, Value(0.0)) == "0 C");
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
  for (const Kind kind : {Kind::real, Kind::share, Kind::duration, Kind::temperature}) {
    ParameterSpec spec;
    spec.kind = kind;
    for (int i = 0; i < 20'000; ++i) {
      double value = std::ldexp(random.uniform(), static_cast<int>(random.below(200)) - 100);
      if (random.below(2) == 0) value = static_cast<double>(random.below(100'000)) / 1000;
      if (random.below(4) == 0) value = -value;
      if (kind == Kind::temperature) value = std::max(value, -273.15);
      const std::string text = format_value(kind, Value(value));
      INFO(text);
      REQUIRE(std::get<double>(parse_value(spec, text)) == value);
      REQUIRE(format_value(kind, parse_value(spec, text)) == text);
    }
  }
}

TEST_CASE("durations of every size are formatted so that they parse back") {
  RandomStream random(1, "duration");
  const auto check = [](double seconds) {
    const std::string text = format_value(Kind::duration, Value(seconds));
    INFO(text);
    REQUIRE(parse_duration(text) == seconds);
  };
  for (int i = 0; i < 20'000; ++i) {
    check(std::ldexp(0.5 + random.uniform() / 2, static_cast<int>(random.below(2098)) - 1073));
    static constexpr double k_scales[] = {60, 3'600, 86'400, 31'536'000};
    const double round = k_scales[random.below(4)] * static_cast<double>(random.below(100'000)) / 1000;
    check(round);
    check(std::nextafter(round, 1e300));
    check(std::nextafter(round, -1.0));
  }
  check(std::numeric_limits<double>::max());
  check(std::numeric_limits<double>::min());
}

TEST_CASE("kelvins and degrees Celsius 273.15 apart are the same temperature") {
  RandomStream random(1, "temperature");
  for (int i = 0; i < 20'000; ++i) {
    const auto milli = static_cast<std::int64_t>(random.below(2'000'000));
    const std::string kelvin = std::to_string(milli) + "e-3 K";
    const std::string celsius = std::to_string(milli - 273'150) + "e-3 C";
    INFO(kelvin << " and " << celsius);
    REQUIRE(parse_temperature(kelvin) == parse_temperature(celsius));
  }
}

TEST_CASE("no unit writes a duration shorter than its canonical text") {
  RandomStream random(2, "duration");
  for (int i = 0; i < 20'000; ++i) {
    static const std::string k_units[] = {" s", " min", " h", " d", " y"};
    const Value number = static_cast<double>(1'000 + random.below(1'000'000)) / 1000;
    const std::string written = format_value(Kind::real, number) + k_units[random.below(5)];
    const std::string text = format_value(Kind::duration, Value(parse_duration(written)));
    INFO(written << " became " << text);
    REQUIRE(text.size() <= written.size());
  }
}

TEST_CASE("lists are gathered by kind") {
  ParameterSpec spec;
  spec.kind = Kind::time;
  spec.list = true;
  const Value list = make_list(spec, {parse_value(spec, "1 ns"), parse_value(spec, "2 us")});
  CHECK(std::get<std::vector<std::int64_t>>(list) == std::vector<std::int64_t>{1000, 2'000'000});
  CHECK(format_elements(Kind::time, list) == std::vector<std::string>{"1 ns", "2 us"});
  spec.kind = Kind::temperature;
  const Value reals = make_list(spec, {parse_value(spec, "25 C"), parse_value(spec, "313.15 K")});
  CHECK(std::get<std::vector<double>>(reals) == std::vector<double>{25, 40});
  CHECK(format_elements(Kind::temperature, reals) == std::vector<std::string>{"25 C", "40 C"});
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

TEST_CASE("what is proposed for a bare number is accepted by the parameter") {
  const auto says = [](Kind kind, Range range, const std::string& text, const std::string& instances) {
    ParameterSpec spec;
    spec.kind = kind;
    spec.required = true;
    spec.minimum = range.minimum;
    spec.maximum = range.maximum;
    INFO(text);
    CHECK_THROWS_WITH(parse_value(spec, text), Catch::EndsWith("; write for instance " + instances));
  };
  const Range page(512, 1 << 20);
  says(Kind::bytes, page, "16", "'16 KiB'");
  says(Kind::bytes, Range(1024, 0x1p40), "67108864", "'67108864 B'");
  says(Kind::bytes, page, "4096", "'4096 B'");
  says(Kind::bytes, page, "1.5", "'1.5 KiB'");
  says(Kind::bytes, page, "0.3", "'0.3 MB'");     // in KiB and MiB it is no whole number of bytes
  says(Kind::bytes, page, "9999999", "'512 B'");  // no unit makes it one of the range
  says(Kind::bytes, page, "large", "'50 KiB'");
  says(Kind::bytes, page, std::string(50, '1'), "'50 KiB'");
  says(Kind::bytes, Range(1 << 20, 1e12), "64", "'64 MiB'");
  says(Kind::bytes, Range(1 << 20, 2 << 20), "large", "'1 MiB'");
  says(Kind::time, Range(1, 1'000'000), "2000", "'2000 ps'");
  says(Kind::time, Range(1'000'000, 1'000'000'000'000), "50", "'50 us'");
  says(Kind::time, Range(1, 1'000'000), "0", "'1 ps'");
  says(Kind::duration, Range(0, 3'600), "30", "'30 min'");
  says(Kind::frequency, Range(1e9, 1e10), "5", "'5 GHz'");
  says(Kind::bandwidth, Range(1e9, 1e12), "3.2", "'3.2 GB/s'");
  says(Kind::temperature, Range(-40, 125), "300", "'300 K'");
  says(Kind::share, Range(0, 1), "50", "'50 %'");
  says(Kind::share, Range(2, 10), "3", "'3x'");
  says(Kind::share, Range(0, 1), "5 pct", "'25 %'");
  says(Kind::share, Range(0, 1), "200", "'0 %'");
  says(Kind::bytes_or_share, page, "4096", "'4096 B' or '10 %'");
  says(Kind::bytes_or_share, page, "ten %", "'50 KiB' or '10 %'");
}

TEST_CASE("an element of a list is the text itself, or what is accepted instead") {
  ParameterSpec spec;
  spec.list = true;
  spec.required = true;
  const auto instead = [&](Kind kind, Range range, const std::string& text) {
    spec.kind = kind;
    spec.minimum = range.minimum;
    spec.maximum = range.maximum;
    return acceptable(spec, text);
  };
  CHECK(instead(Kind::time, Range(1, 1'000'000'000), " 50 us ") == "50 us");
  CHECK(instead(Kind::time, Range(1, 1'000'000'000), "2000") == "2000 ns");
  CHECK(instead(Kind::time, Range(1, 1'000'000'000), "2000 s") == "50 ns");
  CHECK(instead(Kind::integer, Range(1, 8), "4") == "4");
  CHECK(instead(Kind::integer, Range(1, 8), "40") == "1");
  CHECK(instead(Kind::text, Range(0, 0), "a") == "a");
  spec.filled = true;
  CHECK(instead(Kind::text, Range(0, 0), "").empty());
}
