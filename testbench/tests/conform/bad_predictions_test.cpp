// The conformance kit against error predictions: the program's own pass, planted faults are found.
#include <catch2/catch.hpp>
#include <cmath>

#include "testbench/conform/conform_error_prediction.h"

using namespace tlmssd;

namespace {

/// Little interference, so that cells of four bits bear it, too.
struct Weak : ParameterValues {
  const Value* find(std::string_view name) const override { return name == "coupling" ? &coupling : nullptr; }
  Value coupling = 0.02;
};

using Prediction = double (*)(SideInformation side, const PageRead& page);

Conformance of_prediction(Prediction answer) {
  struct Planted final : ErrorPrediction {
    explicit Planted(Prediction a) : answer(a) {}
    double correctable(SideInformation side, const PageRead& page) const override {
      return answer(side, page);
    }
    Prediction answer;
  };
  return conform_error_prediction([&](const PlainDecoder&) { return std::make_unique<Planted>(answer); }, 2);
}

double sound_prediction(SideInformation side, const PageRead& /*page*/) {
  return side == SideInformation::none ? 82 : side == SideInformation::page ? 85 : 120;
}

}  // namespace

TEST_CASE("every error prediction of the program conforms, whatever the cells hold") {
  for (const std::uint32_t bits : {1U, 2U, 3U, 4U}) {
    for (const PolicyInfo& info : error_predictions().infos()) {
      const Conformance found = conform_error_prediction(
          [&](const PlainDecoder& plain) { return error_predictions().make(info.name, Weak{}, plain); },
          bits);
      INFO(info.name << ", " << bits << " bits\n" << found.text());
      CHECK(found.passed());
    }
  }
}

TEST_CASE("planted faults of error predictions are found") {
  const char* const within = "what it is told never costs, and half of the bits are the most";
  const Conformance good = of_prediction(sound_prediction);
  INFO(good.text());
  CHECK(good.passed());
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          return sound_prediction(side, page) + (page.rate > 0.01 ? 1 : 0);
        }).failed("told nothing, it corrects what the plain decoder does"));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          return side == SideInformation::page && page.rate > 0.1 ? 81 : sound_prediction(side, page);
        }).failed(within));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          return side == SideInformation::word_line ? std::log(-page.rate) : sound_prediction(side, page);
        }).failed(within));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          return side == SideInformation::word_line && page.rate < 1e-6 ? 5000 : sound_prediction(side, page);
        }).failed(within));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          return side == SideInformation::word_line && page.type == 1 ? 84 : sound_prediction(side, page);
        }).failed("the word line is worth no less than the page"));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          static int calls = 0;
          return side == SideInformation::word_line ? 120 + 1e-3 * (++calls % 7)
                                                    : sound_prediction(side, page);
        }).failed("the same question has the same answer"));
  CHECK(of_prediction([](SideInformation side, const PageRead& page) {
          volatile double sum = 0;
          for (int i = 0; i < 20'000; ++i) sum = sum + i;
          return sound_prediction(side, page);
        }).failed("a call takes at most 2 us"));
}
