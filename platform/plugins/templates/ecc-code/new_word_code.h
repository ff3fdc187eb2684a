// new-name: a polar code with list decoding. Of frames with so many wrong bits some fail already,
// and some still succeed. Say here where the numbers come from.
#pragma once

#include <cmath>

#include "models/flash/ecc/ecc_config.h"

struct NewTypeCode {
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "polar code with list decoding";
  // Each can be changed in the scenario, section ssd.flash.ecc.new-name; but for the gates.
  static tlmssd::CodeConfig defaults() {
    return {.correctable = 100, .throughput = 1'200'000'000, .latency = 2'000'000, .gates = 390'000};
  }
  // Probability that a frame with `wrong` wrong bits cannot be decoded, never smaller for more of
  // them. Leave it out, and `correctable` and `waterfall` decide.
  static double failure(const tlmssd::CodeConfig& config, std::uint32_t wrong) {
    return 1 / (1 + std::exp((config.correctable - static_cast<double>(wrong)) / 4));
  }
};
