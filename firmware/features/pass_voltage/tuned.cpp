#include "firmware/features/pass_voltage/tuned.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/quantity.h"

namespace tlmssd::firmware {

namespace {
constexpr std::uint32_t k_most_steps = 255;
constexpr double k_rounding = 1e-9;  ///< by which a number that should be whole may fall short

/// In hundredths of a per cent, not below it.
std::string percent(double share) {
  return format_value(Kind::share, Value(std::ceil(share * 1e4 - 1e-6) / 1e4));
}

/// Steps from the nominal voltage down to the lowest.
std::uint32_t steps_of(const TunedPassVoltageConfig& config) {
  constexpr const char* k_key = "firmware.pass_voltage.step";
  const double way = 1 - config.lowest;
  const double steps = std::floor(way / config.step + k_rounding);
  if (way > 0 && steps < 1) {
    throw refusal(
        k_key,
        fmt::format("one step goes below `lowest` ({}), so that none would be made", percent(config.lowest)),
        percent(way));
  }
  if (steps > k_most_steps) {
    throw refusal(k_key, fmt::format("{} steps lead down to `lowest`; {} are the most", steps, k_most_steps),
                  percent(way / k_most_steps));
  }
  return static_cast<std::uint32_t>(steps);
}

}  // namespace

const ParameterTable<TunedPassVoltageConfig>& TunedPassVoltageConfig::parameters() {
  using C = TunedPassVoltageConfig;
  static const auto table =
      ParameterTable<C>{}
          .share("lowest", &C::lowest, {0.5, 1}, "share of the nominal voltage below which no block is read")
          .share("step", &C::step, {0.001, 0.5}, "share of the nominal voltage that one change is")
          .integer("correctable", &C::correctable, {1, 65535},
                   "wrong bits in a frame that the code corrects: `correctable` of ssd.flash.ecc, which is "
                   "not looked up here")
          .share("reserve", &C::reserve, {0, 1},
                 "share of these bits that is kept for what a read does not show")
          .integer("samples", &C::samples, {1, 65535},
                   "reads of a block that a lower voltage takes, at least")
          .duration("interval", &C::interval, {0, 100 * 365.0 * 86'400},
                    "time between two steps down of a block, at least");
  return table;
}

TunedPassVoltage::TunedPassVoltage(const Config& config, std::uint32_t blocks)
    : config_(config),
      interval_(std::llround(config.interval * 1e9)),
      allowed_(static_cast<std::uint32_t>((1 - config.reserve) * config.correctable + k_rounding)),
      most_steps_(steps_of(config)),
      blocks_(blocks) {}

TunedPassVoltage::Block& TunedPassVoltage::block(BlockNumber number, std::uint32_t erases) {
  Block& block = blocks_[number];
  if (block.erases != erases) block = {.since = 0, .erases = erases, .samples = 0, .steps = 0, .settled = 0};
  return block;
}

float TunedPassVoltage::voltage_of(std::uint32_t steps) const {
  return static_cast<float>(1 - steps * config_.step);
}

float TunedPassVoltage::voltage(BlockNumber number, std::uint32_t erases) {
  const std::uint32_t steps = block(number, erases).steps;
  ++counters_.reads;
  counters_.steps += steps;
  return voltage_of(steps);
}

void TunedPassVoltage::raise(Block& block, std::uint32_t steps, std::int64_t now) {
  counters_.raised += steps;
  block.steps = static_cast<std::uint8_t>(block.steps - steps);
  block.settled = 1;
  block.samples = 0;
  block.since = now;
}

void TunedPassVoltage::read(const FirstRead& read) {
  Block& b = block(read.block, read.erases);
  if (!read.decoded) ++counters_.failed;
  if (read.pass_voltage != voltage_of(b.steps)) return;  // the block has been changed meanwhile
  if (!read.decoded || read.worst > allowed_) {
    if (b.steps > 0) raise(b, read.decoded ? 1 : b.steps, read.now);
    b.settled = 1;
    return;
  }
  if (b.settled != 0 || b.steps >= most_steps_) return;
  if (b.since == 0) b.since = read.now;
  if (b.samples < config_.samples) ++b.samples;
  if (b.samples < config_.samples || read.now - b.since < interval_) return;
  ++b.steps;
  b.samples = 0;
  b.since = read.now;
  ++counters_.lowered;
}

void TunedPassVoltage::report(StatisticsSink& sink) const {
  const double reads = static_cast<double>(std::max<std::uint64_t>(counters_.reads, 1));
  sink.value("mean", 1 - config_.step * static_cast<double>(counters_.steps) / reads, "",
             "pass voltage of first attempts at a page, as a share of the nominal one");
  sink.value("lowered", counters_.lowered, "", "steps down, by block");
  sink.value("raised", counters_.raised, "", "steps up, because errors left less than the reserve");
  sink.value("failed", counters_.failed, "", "first attempts that could not be decoded");
}

void TunedPassVoltage::archive(Archive& a) {
  for (std::size_t n = 0; n < blocks_.size(); ++n) a(blocks_[n]);
  a(counters_);
}

}  // namespace tlmssd::firmware
