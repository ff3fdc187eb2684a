// The conformance kit against error correcting codes: the program's own pass, planted faults are
// found.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "testbench/conform/conform_ecc_code.h"

using namespace tlmssd;

namespace {

constexpr std::uint32_t k_frame_bits = 8 * (1024 + 105);

double polar(const CodeConfig& code, std::uint32_t wrong) {
  return 1 / (1 + std::exp((code.correctable - static_cast<double>(wrong)) / 4));
}

Conformance of(double (*failure)(const CodeConfig& code, std::uint32_t wrong)) {
  return conform_ecc_code({.correctable = 100, .throughput = 1'000'000'000, .failure = failure},
                          k_frame_bits);
}

}  // namespace

TEST_CASE("every error correcting code of the program conforms") {
  const EccConfig config;
  for (const EccCodeInfo& info : ecc_code_family()) {
    const Conformance found = conform_ecc_code(config.of(info.code), k_frame_bits);
    INFO(info.name << "\n" << found.text());
    CHECK(found.passed());
  }
}

TEST_CASE("planted faults of error correcting codes are found") {
  const char* const range = "probabilities of failure are 0 to 1";
  const char* const grows = "more wrong bits never fail less often";
  using Code = const CodeConfig&;
  using Bits = std::uint32_t;
  const Conformance sound = of(polar);
  INFO(sound.text());
  CHECK(sound.passed());
  CHECK(of([](Code code, Bits wrong) { return 2 * polar(code, wrong); }).failed(range));
  CHECK(of([](Code code, Bits wrong) { return polar(code, wrong) - 1e-3; }).failed(range));
  CHECK(of([](Code, Bits wrong) { return std::log(wrong); }).failed(range));
  CHECK(of([](Code code, Bits wrong) { return 1 - polar(code, wrong); }).failed(grows));
  CHECK(of([](Code code, Bits wrong) { return wrong == 104 ? 0.5 : polar(code, wrong); }).failed(grows));
  CHECK(of([](Code code, Bits wrong) {
          static int calls = 0;
          return wrong == 100 && ++calls % 2 == 0 ? 0.51 : polar(code, wrong);
        }).failed("the same question has the same answer"));
  CHECK(of([](Code code, Bits wrong) {
          return std::max(0.01, polar(code, wrong));
        }).failed("a frame without wrong bits is decoded"));
  CHECK(of([](Code code, Bits wrong) {
          return std::min(0.9, polar(code, wrong));
        }).failed("a frame half of whose bits are wrong is not"));
  CHECK(of([](Code code, Bits wrong) {
          if (wrong > 9000) throw std::out_of_range("table");
          return polar(code, wrong);
        }).failed("answers for every number of wrong bits"));
  CHECK(of([](Code code, Bits wrong) {
          volatile double sum = 0;
          for (int i = 0; i < 20'000; ++i) sum = sum + i;
          return polar(code, wrong);
        }).failed("a call takes at most 2 us"));
  CHECK(conform_ecc_code({.correctable = 100, .throughput = 0, .failure = polar}, k_frame_bits)
            .failed("its decoder gets somewhere"));
}
