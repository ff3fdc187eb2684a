// What the tests of error correction share: an array whose codes are told apart by their times.
#pragma once

#include "testbench/tests/flash/flash_fixture.h"

namespace tlmssd::test {

/// Two channels of three dies with two planes; every code decodes at another speed.
inline Options ecc_options(const std::string& cell) {
  using namespace literals;
  Options o = tlc();
  o.part.cell = cell;
  o.part.read_latency.resize(o.part.bits());
  o.part.program_latency.resize(o.part.bits());
  Picoseconds n = 0;
  for (CodeConfig& code : o.ecc.codes) {
    code.throughput = 700_MBps + 100'000'001 * n;
    code.latency = 1_us + 13 * n;
    ++n;
  }
  return o;
}

/// Time of `slots` units in a free engine.
inline Picoseconds decode_time(const Options& o, EccCode code, std::uint32_t slots) {
  if (code == EccCode::none) return 0;
  const CodeConfig& config = o.ecc.of(code);
  const auto frames = static_cast<Picoseconds>(slots * (o.unit_bytes / o.ecc.frame));
  return frames * transfer_time(o.ecc.frame, config.throughput) + config.latency;
}

}  // namespace tlmssd::test
