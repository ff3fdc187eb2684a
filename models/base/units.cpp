#include "models/base/units.h"

#include <array>
#include <stdexcept>

namespace tlmssd {

namespace {

// In order of preference when two texts are equally short.
constexpr std::array k_times = {Unit{"d", 86'400'000'000'000'000, true},
                                Unit{"h", 3'600'000'000'000'000, true},
                                Unit{"min", 60'000'000'000'000, true},
                                Unit{"s", 1'000'000'000'000, true},
                                Unit{"ms", 1'000'000'000, true},
                                Unit{"us", 1'000'000, true},
                                Unit{"ns", 1'000, true},
                                Unit{"ps", 1, true},
                                Unit{"\u00B5s", 1'000'000, false},
                                Unit{"\u03BCs", 1'000'000, false}};
constexpr std::array k_bytes = {Unit{"TiB", 1ULL << 40U, true},
                                Unit{"GiB", 1ULL << 30U, true},
                                Unit{"MiB", 1ULL << 20U, true},
                                Unit{"KiB", 1ULL << 10U, true},
                                Unit{"B", 1, true},
                                Unit{"TB", 1'000'000'000'000, true},
                                Unit{"GB", 1'000'000'000, true},
                                Unit{"MB", 1'000'000, true},
                                Unit{"kB", 1'000, true},
                                Unit{"KB", 1'000, false}};
constexpr std::array k_bandwidths = {Unit{"GB/s", 1'000'000'000, true},
                                     Unit{"MB/s", 1'000'000, true},
                                     Unit{"kB/s", 1'000, true},
                                     Unit{"KB/s", 1'000, false},
                                     Unit{"B/s", 1, true},
                                     Unit{"GiB/s", 1ULL << 30U, true},
                                     Unit{"MiB/s", 1ULL << 20U, true},
                                     Unit{"KiB/s", 1ULL << 10U, true}};
constexpr std::array k_frequencies = {Unit{"GHz", 1'000'000'000, true},   Unit{"MHz", 1'000'000, true},
                                      Unit{"kHz", 1'000, true},           Unit{"Hz", 1, true},
                                      Unit{"GT/s", 1'000'000'000, false}, Unit{"MT/s", 1'000'000, false}};

constexpr std::array k_durations = {Unit{"y", 31'536'000, true}, Unit{"d", 86'400, true},
                                    Unit{"h", 3'600, true}, Unit{"min", 60, true}, Unit{"s", 1, true}};

constexpr std::array k_temperatures = {Unit{"C", 1, true}, Unit{"K", 1, false}};

}  // namespace

const KindTexts& texts_of(Kind kind) {
  static const KindTexts k_time = {k_times, "time", "ps, ns, us, ms, s, min, h or d", "ns",
                                   "is finer than 1 ps"};
  static const KindTexts k_size = {k_bytes, "size", "B, KiB, MiB, GiB, TiB, kB, MB, GB or TB", "KiB",
                                   "is not a whole number of bytes"};
  static const KindTexts k_rate = {k_bandwidths, "bandwidth", "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s",
                                   "MB/s", "is not a whole number of bytes per second"};
  static const KindTexts k_clock = {k_frequencies, "frequency", "Hz, kHz, MHz, GHz, MT/s or GT/s", "MHz",
                                    "is not a whole number of hertz"};
  static const KindTexts k_duration = {k_durations, "duration", "s, min, h, d or y", "d", ""};
  static const KindTexts k_temperature = {k_temperatures, "temperature", "C or K", "C", ""};
  switch (kind) {
    case Kind::time:
      return k_time;
    case Kind::bytes:
    case Kind::bytes_or_share:
      return k_size;
    case Kind::bandwidth:
      return k_rate;
    case Kind::frequency:
      return k_clock;
    case Kind::duration:
      return k_duration;
    case Kind::temperature:
      return k_temperature;
    default:
      throw std::logic_error("quantity: a kind without units");
  }
}

}  // namespace tlmssd
