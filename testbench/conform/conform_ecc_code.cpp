#include "testbench/conform/conform_ecc_code.h"

#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "testbench/conform/call_cost.h"
#include "testbench/conform/same_number.h"

namespace tlmssd {

namespace {

constexpr double k_most_nanoseconds = 2000;  // a call
constexpr double k_sound = 1e-6;             // frame failures of a page without wrong bits, at most

/// That a frame with `wrong` wrong bits cannot be decoded.
double failure(const CodeConfig& code, std::uint32_t wrong) {
  if (code.failure != nullptr) return code.failure(code, wrong);
  const double over = static_cast<double>(wrong) - code.correctable;
  const double width = code.waterfall * code.correctable;
  if (width > 0) return std::erfc(-over / width / std::sqrt(2.0)) / 2;
  return over > 0 ? 1 : 0;
}

}  // namespace

Conformance conform_ecc_code(const CodeConfig& code, std::uint32_t frame_bits) {
  Conformance found;
  std::vector<double> odds(frame_bits + 1);
  found.check("answers for every number of wrong bits", [&]() -> std::string {
    for (std::uint32_t wrong = 0; wrong <= frame_bits; ++wrong) odds[wrong] = failure(code, wrong);
    return {};
  });
  if (!found.passed()) return found;
  found.check("probabilities of failure are 0 to 1", [&]() -> std::string {
    for (std::uint32_t wrong = 0; wrong <= frame_bits; ++wrong)
      if (!(odds[wrong] >= 0 && odds[wrong] <= 1))
        return fmt::format("{} with {} wrong bits", odds[wrong], wrong);
    return {};
  });
  found.check("the same question has the same answer", [&]() -> std::string {
    for (std::uint32_t wrong = frame_bits + 1; wrong-- > 0;) {
      const double again = failure(code, wrong);
      if (!same_number(again, odds[wrong]))
        return fmt::format("{}, then {} with {} wrong bits", odds[wrong], again, wrong);
    }
    return {};
  });
  found.check("more wrong bits never fail less often", [&]() -> std::string {
    for (std::uint32_t wrong = 1; wrong <= frame_bits; ++wrong) {
      if (odds[wrong] < odds[wrong - 1])
        return fmt::format("{} with {} wrong bits, but {} with {}", odds[wrong - 1], wrong - 1, odds[wrong],
                           wrong);
    }
    return {};
  });
  found.check("a frame without wrong bits is decoded", [&]() -> std::string {
    return odds[0] <= k_sound ? "" : fmt::format("fails with probability {}", odds[0]);
  });
  found.check("a frame half of whose bits are wrong is not", [&]() -> std::string {
    return odds[frame_bits / 2] >= 0.999 ? ""
                                         : fmt::format("fails with probability {}", odds[frame_bits / 2]);
  });
  found.check("its decoder gets somewhere", [&]() -> std::string {
    if (code.throughput <= 0) return "its throughput is 0";
    return code.latency >= 0 ? "" : fmt::format("its latency is {} ps", code.latency);
  });
  double nanoseconds = 0;
  found.check("a call takes at most 2 us", [&]() -> std::string {
    nanoseconds = nanoseconds_of_call(std::size_t{frame_bits} + 1, [&](std::size_t wrong) {
      return failure(code, static_cast<std::uint32_t>(wrong));
    });
    return nanoseconds <= k_most_nanoseconds ? "" : fmt::format("{:.0f} ns", nanoseconds);
  });
  found.note(fmt::format("{:.0f} ns", nanoseconds));
  return found;
}

}  // namespace tlmssd
