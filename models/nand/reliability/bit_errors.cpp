#include "models/nand/reliability/bit_errors.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/mixing.h"
#include "models/base/normal.h"
#include "models/base/random.h"
#include "models/base/suggest.h"
#include "models/nand/reliability/retention_clock.h"

namespace tlmssd {

namespace {

/// Steps by which the best read voltages are missed, at the best step: no step comes nearer.
constexpr double k_nearest = 0.5;

/// 4096 equally likely factors, lognormal with mean 1; none when they are all 1.
std::vector<float> factors(double sigma) {
  if (sigma == 0) return {};
  std::vector<double> exact;
  double sum = 0;
  for (const double z : upper_normal_quantiles()) {
    for (const double factor : {std::exp(sigma * z), std::exp(-sigma * z)}) {
      exact.push_back(factor);
      sum += factor;
    }
  }
  const double mean = sum / static_cast<double>(exact.size());  // exp(sigma^2 / 2) but for the cut
  std::vector<float> result;
  for (const double factor : exact) result.push_back(static_cast<float>(factor / mean));
  return result;
}

double pick(const std::vector<float>& factors, std::uint64_t hash) {
  return factors.empty() ? 1.0 : factors[hash >> (64 - k_normal_bits)];
}

std::uint64_t block_hash(std::uint64_t seed, const BitErrors::Place& place) {
  const std::uint64_t in_die = (std::uint64_t{index(place.plane)} << 24U) ^ index(place.block);
  return mixed(seed + (((std::uint64_t{index(place.die)} << 32U) ^ in_die) + 1) * k_golden);
}

using ErrorTable = ParameterTable<ErrorConfig>;

ErrorTable&& variation(ErrorTable&& table) {
  using C = ErrorConfig;
  return std::move(table)
      .choice("distribution", &C::distribution, {"beta-binomial", "binomial"},
              "of the wrong bits in an ECC frame; binomial: every bit for itself")
      .real("dispersion", &C::dispersion, {0, 0.2},
            "correlation between the bits of a frame in the beta-binomial distribution: n bits have 1 + (n - "
            "1) "
            "times this the variance of independent ones")
      .real("block_variation", &C::block_variation, {0, 2},
            "standard deviation of the logarithm of the error rate from block to block")
      .real("page_variation", &C::page_variation, {0, 2},
            "standard deviation of the logarithm of the error rate from page to page of a block")
      .reals("page_types", &C::page_types, {0, 100},
             "multiplier of the error rate for each page type, lowest page first; empty: all 1");
}

ErrorTable&& retries(ErrorTable&& table) {
  using C = ErrorConfig;
  return std::move(table)
      .real("retry_shift", &C::retry_shift, {0, 1},
            "the best read voltages lie this x cycles^retry_cycle_exponent x ln(1 + days) retry steps from "
            "the default ones")
      .real("retry_cycle_exponent", &C::retry_cycle_exponent, {0, 5},
            "exponent of the cycles in the shift of the best read voltages")
      .real("retry_floor", &C::retry_floor, {0, 1},
            "part of what age adds to the errors that is left at the best read voltages")
      .real("retry_step_errors", &C::retry_step_errors, {0, 1},
            "0: the model's rate is that at the default voltages; else that within half a retry step of the "
            "best ones, and this x (distance^2 - 1/4) is added at a distance of more steps from them");
}

ErrorTable&& slc_errors(ErrorTable&& table) {
  return std::move(table).share(
      "slc_error_share", &ErrorConfig::slc_error_share, {0, 1},
      "error rate of a page in SLC mode, as a share of the model's at the same wear and age");
}

ErrorTable&& pass_voltage_errors(ErrorTable&& table) {
  using C = ErrorConfig;
  return std::move(table)
      .real(
          "pass_decay", &C::pass_decay, {0, 1000},
          "k of exp(-k (1 - v)), the disturb of a sense whose pass voltage is the share v of the nominal one")
      .share("pass_margin", &C::pass_margin, {0, 1},
             "share by which the pass voltage may be lowered before the page that is read gets more errors")
      .real("pass_errors", &C::pass_errors, {0, 1000},
            "error rate added by a pass voltage that is lower still: this x (1 - v - pass_margin)^2");
}

}  // namespace

const ParameterTable<ErrorConfig>& ErrorConfig::parameters() {
  static const auto table = pass_voltage_errors(slc_errors(retries(variation(ErrorTable{}))));
  return table;
}

bool ErrorConfig::is_binomial() const {
  return distribution == "binomial";
}

BitErrors::BitErrors(std::unique_ptr<ReliabilityModel> model, const NandPart& part, const ErrorConfig& config,
                     std::uint32_t frame_bits, std::uint64_t seed, std::string name)
    : model_(std::move(model)),
      name_(std::move(name)),
      config_(config),
      distribution_(frame_bits, config.is_binomial() ? 0 : config.dispersion),
      block_factors_(factors(config.block_variation)),
      page_factors_(factors(config.page_variation)),
      seed_(RandomStream(seed, "nand.reliability bit errors")()) {
  if (!config.is_binomial() && config.distribution != "beta-binomial") {
    throw InputError("distribution " + in_quotes(config.distribution) +
                     " is not one of beta-binomial or binomial" +
                     did_you_mean(config.distribution, {"beta-binomial", "binomial"}));
  }
  if (config.page_types.empty()) return;
  if (config.page_types.size() != part.bits()) {
    throw refusal("page_types",
                  "has " + std::to_string(config.page_types.size()) +
                      " values; give none, or one for each of the " + std::to_string(part.bits()) +
                      " page types of " + part.cell,
                  "[]");
  }
  std::copy(config.page_types.begin(), config.page_types.end(), type_factors_.begin());
}

/// Steps of the read-retry levels that the best read voltages move while ln(1 + days) grows by 1.
double BitErrors::shift_rate(const ArrayOperation& stress) const {
  return config_.retry_shift * std::pow(std::max(stress.cycles, 1.0), config_.retry_cycle_exponent);
}

double BitErrors::best_level(const ArrayOperation& stress) const {
  return shift_rate(stress) * std::log1p(stress.age_days);
}

/// The model's rate at a step of the read-retry levels: at a distance from the best read voltages,
/// what age adds is that of data whose best voltages lie so far from the default ones.
double BitErrors::rate_at_step(const ArrayOperation& stress, std::uint32_t level, double by_default) const {
  ArrayOperation younger = stress;
  younger.age_days = 0;
  const double unaged = std::min(average(younger), by_default);
  const double shift = shift_rate(stress);
  const double best = best_level(stress);
  const double off = std::max(std::abs(best - level), std::min(best, k_nearest));
  younger.age_days = off == 0 ? 0 : std::min(std::expm1(off / shift), RetentionClock::k_most_days);
  const double left = std::max(average(younger) - unaged, 0.0);
  return unaged + config_.retry_floor * (by_default - unaged) + (1 - config_.retry_floor) * left;
}

/// Errors of the page that is read, because the read voltages are not the best ones.
double BitErrors::misplaced_rate(const ArrayOperation& stress, std::uint32_t level) const {
  const double off = std::max(std::abs(best_level(stress) - level), k_nearest);
  return config_.retry_step_errors * (off * off - k_nearest * k_nearest);
}

/// Of an average page, as the model answers it.
double BitErrors::average(const ArrayOperation& stress) const {
  const double rate = model_->rber(stress);
  if (!(rate >= 0 && rate <= 0.5)) refuse_rate(stress, rate);
  return rate;
}

/// Of the page type, or of SLC mode.
double BitErrors::mode_factor(const ArrayOperation& stress) const {
  if (!stress.slc()) return type_factors_[stress.type % type_factors_.size()];
  return model_->knows_slc_mode() ? 1 : config_.slc_error_share;
}

double BitErrors::disturb_weight(double pass_voltage) const {
  return std::exp(-config_.pass_decay * (1 - pass_voltage));
}

/// Errors of the page that is read, because cells of other word lines do not open.
double BitErrors::pass_rate(double pass_voltage) const {
  const double below = std::max(0.0, 1 - pass_voltage - config_.pass_margin);
  return config_.pass_errors * below * below;
}

double BitErrors::rber(const Place& place, const ArrayOperation& stress, std::uint32_t level,
                       double pass_voltage) const {
  const std::uint64_t block = block_hash(seed_, place);
  const std::uint64_t page = mixed(block + (index(place.page) + std::uint64_t{1}) * k_golden);
  double of_page = average(stress);
  if (config_.retry_step_errors > 0) {
    of_page += misplaced_rate(stress, level);
  } else if (level > 0) {
    of_page = rate_at_step(stress, level, of_page);
  }
  const double rate = (of_page + pass_rate(pass_voltage)) * mode_factor(stress) *
                      pick(block_factors_, block) * pick(page_factors_, page);
  return std::min(rate, 0.5);
}

void BitErrors::refuse_rate(const ArrayOperation& stress, double rate) const {
  throw objection("ssd.flash.reliability.model", name_ + " answers a bit error rate of " +
                                                     fmt::format("{}", rate) +
                                                     ", which is none of 0 to 0.5, to " + to_text(stress));
}

void BitErrors::draw(const Place& place, double rber, std::uint32_t first, std::uint32_t count,
                     std::uint32_t* errors) const {
  const ErrorDistribution::Blend blend = distribution_.at(rber);
  const std::uint64_t data = (std::uint64_t{place.erases} << 32U) ^ index(place.page);
  const std::uint64_t page = mixed(~block_hash(seed_, place) + (data + 1) * k_golden);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t frame = page + (std::uint64_t{first} + i) * 2 * k_golden;
    errors[i] = blend.draw(mixed(frame), mixed(frame + k_golden));
  }
}

}  // namespace tlmssd
