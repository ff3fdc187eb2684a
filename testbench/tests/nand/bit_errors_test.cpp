// Errors per frame: their distribution against closed forms, and what stays with a page and what
// does not.
#include "models/nand/reliability/bit_errors.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "models/base/input_error.h"
#include "models/base/random.h"

using namespace tlmssd;

namespace {

constexpr std::uint32_t k_frame_bits = 8192 + 14 * 72;

/// A rate that does not depend on anything.
class Constant final : public ReliabilityModel {
 public:
  explicit Constant(double rate) : rate_(rate) {}
  [[nodiscard]] double rber(const ArrayOperation& /*stress*/) const override { return rate_; }

 private:
  double rate_;
};

/// Nothing varies and bits are independent.
ErrorConfig plain() {
  ErrorConfig config;
  config.distribution = "binomial";
  config.block_variation = 0;
  config.page_variation = 0;
  return config;
}

ErrorConfig correlated(double dispersion) {
  ErrorConfig config = plain();
  config.distribution = "beta-binomial";
  config.dispersion = dispersion;
  return config;
}

BitErrors make_errors(const ErrorConfig& config, double rate = 1e-3, std::uint64_t seed = 1,
                      std::uint32_t frame_bits = k_frame_bits) {
  NandPart part;
  part.cell = "tlc";
  return {std::make_unique<Constant>(rate), part, config, frame_bits, seed};
}

BitErrors::Place place(std::uint32_t block, std::uint32_t page = 0, std::uint32_t erases = 0) {
  return {DieId{0}, PlaneId{0}, BlockId{block}, PageId{page}, erases};
}

std::uint32_t one(const BitErrors& errors, const BitErrors::Place& where, double rate,
                  std::uint32_t frame = 0) {
  std::uint32_t result = 0;
  errors.draw(where, rate, frame, 1, &result);
  return result;
}

/// Errors of `count` frames, four to a page, 64 pages to a block, two dies.
std::vector<std::uint32_t> sample(const BitErrors& errors, double rate, std::uint32_t count) {
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t i = 0; i < count; i += 4) {
    BitErrors::Place where = place(i / 512, i / 8 % 64, 5);
    where.die = DieId{i / 4 % 2};
    errors.draw(where, rate, 0, 4, &result[i]);
  }
  return result;
}

}  // namespace

TEST_CASE("frames of any length have all of their wrong bits") {
  constexpr std::uint32_t k_bits = 8 * (32 * 1024 + 105);
  constexpr std::uint32_t k_frames = 400;
  constexpr double k_rate = 0.4;
  const BitErrors errors = make_errors(plain(), k_rate, 1, k_bits);
  double sum = 0;
  for (const std::uint32_t wrong : sample(errors, k_rate, k_frames)) sum += wrong;
  const double mean = sum / k_frames;
  // Four standard deviations, of frames and of the grid of rates.
  CHECK(mean == Approx(k_bits * k_rate).margin(4 * std::sqrt(k_bits * k_rate * 0.6 / k_frames) + 200));
}

TEST_CASE("codes fail at the published error rates") {
  struct Row {
    std::uint32_t t;
    double frame_rate;   // at which a frame fails once in 1e6
    double output_rate;  // at which a bit is wrong once in 1e15
  };
  for (const Row& row : {Row{24, 9.3e-4, 5.1e-4}, Row{40, 1.99e-3, 1.30e-3}, Row{60, 3.4e-3, 2.5e-3},
                         Row{72, 4.3e-3, 3.2e-3}}) {
    const std::uint32_t bits = 8192 + 14 * row.t;
    const BitErrors errors(std::make_unique<Constant>(0), NandPart{}, plain(), bits, 1);
    INFO("t = " << row.t);
    CHECK(errors.tail(row.frame_rate, row.t) > 0.85e-6);
    CHECK(errors.tail(row.frame_rate, row.t) < 1.2e-6);
    // The published rates have two digits, and these tails go with the (t + 1)th power of the rate
    // or nearly so.
    const double steepness = 0.005e-2 / row.output_rate * row.t;
    CHECK(std::abs(std::log(errors.tail(row.output_rate, row.t) / bits / 1e-15)) < steepness);
  }
}

TEST_CASE("tails of few bits are those of paper and pencil") {
  const ErrorDistribution coins(3, 0);
  CHECK(coins.tail(0.5, 0) == Approx(7.0 / 8).epsilon(1e-14));
  CHECK(coins.tail(0.5, 1) == Approx(0.5).epsilon(1e-14));
  CHECK(coins.tail(0.5, 2) == Approx(1.0 / 8).epsilon(1e-14));
  CHECK(coins.tail(0.5, 3) == 0);
  CHECK(coins.tail(0, 0) == 0);
  // Two bits of correlation rho agree in being wrong with p^2 + rho p (1 - p).
  const ErrorDistribution pair(2, 0.1);
  CHECK(pair.tail(0.2, 1) == Approx(0.04 + 0.1 * 0.2 * 0.8).epsilon(1e-14));
  CHECK(pair.tail(0.2, 0) == Approx(2 * 0.2 - (0.04 + 0.016)).epsilon(1e-14));
  CHECK_THROWS_AS(ErrorDistribution(0, 0), InputError);
}

TEST_CASE("tables have the exact tails, between rates of the grid nearly so") {
  for (const double correlation : {0.0, 1e-4, 0.01}) {
    const ErrorDistribution distribution(k_frame_bits, correlation);
    for (const double rate : {1e-13, 1e-7, 3.1e-4, 0x1.0p-8, 4.3e-3, 0.0117, 0.5}) {
      const ErrorDistribution::Blend blend = distribution.at(rate);
      const double share = static_cast<double>(blend.share) * 0x1.0p-64;
      const auto above = [](const ErrorDistribution::Table& table, std::uint32_t t) -> double {
        if (t < table.first) return 1;
        return t - table.first < table.survival.size() ? table.survival[t - table.first] : 0;
      };
      const std::uint32_t end = blend.high->first + static_cast<std::uint32_t>(blend.high->survival.size());
      INFO("rho " << correlation << " rate " << rate);
      CHECK(end < k_frame_bits);
      CHECK(distribution.tail(rate, end) < 1e-19);
      for (std::uint32_t t = 0; t < end; ++t) {
        const double exact = distribution.tail(rate, t);
        if (exact < 1e-12 && blend.share != 0) break;
        const double drawn = (1 - share) * above(*blend.low, t) + share * above(*blend.high, t);
        INFO("t " << t);
        REQUIRE(drawn == Approx(exact).epsilon(blend.share == 0 ? 1e-6 : 0.04));
      }
    }
  }
}

TEST_CASE("the draws of a table are its quantiles to the last") {
  const ErrorDistribution distribution(k_frame_bits, 1e-4);
  const ErrorDistribution::Table& table = *distribution.at(0x1.0p-8).low;
  REQUIRE(table.survival.size() > 100);
  CHECK(table.quantile(1) == table.first);
  CHECK(table.quantile(0x1.0p-64) == table.first + table.survival.size());
  for (std::uint32_t i = 0; i < table.survival.size(); ++i) {
    const double survival = table.survival[i];
    REQUIRE(table.quantile(survival) == table.first + i);
    REQUIRE(table.quantile(survival * (1 - 1e-9)) == table.first + i + 1);
  }
}

TEST_CASE("drawn frames are distributed as they should be") {
  constexpr std::uint32_t k_frames = 400'000;
  for (const double correlation : {0.0, 1e-4, 2e-3}) {
    for (const double rate : {2e-5, 1e-3, 4.3e-3}) {
      const BitErrors errors = make_errors(correlated(correlation));
      const auto drawn = sample(errors, rate, k_frames);
      INFO("rho " << correlation << " rate " << rate);
      double sum = 0;
      for (const auto wrong : drawn) sum += wrong;
      const double mean = k_frame_bits * rate;
      const double variance = mean * (1 - rate) * (1 + (k_frame_bits - 1) * correlation);
      CHECK(std::abs(sum / k_frames - mean) < 4 * std::sqrt(variance / k_frames));
      double squares = 0;
      double fourths = 0;
      for (const auto wrong : drawn) {
        const double off = (wrong - mean) * (wrong - mean);
        squares += off;
        fourths += off * off;
      }
      const double spread = std::sqrt((fourths / k_frames - variance * variance) / k_frames);
      CHECK(std::abs(squares / k_frames - variance) < 4 * spread);
      for (std::uint32_t t = 0; t < 200; ++t) {
        const double tail = errors.tail(rate, t);
        if (tail * k_frames < 100) break;
        const auto seen = std::count_if(drawn.begin(), drawn.end(), [t](std::uint32_t e) { return e > t; });
        INFO("t " << t);
        REQUIRE(std::abs(static_cast<double>(seen) - tail * k_frames) <
                4 * std::sqrt(tail * (1 - tail) * k_frames) + 0.02 * tail * k_frames);
      }
    }
  }
}

TEST_CASE("data keeps its errors: read again the same, written again others") {
  const BitErrors errors = make_errors(ErrorConfig{});
  const BitErrors again = make_errors(ErrorConfig{});
  const BitErrors other = make_errors(ErrorConfig{}, 1e-3, 2);
  BitErrors::Place die = place(7, 3, 1);
  die.die = DieId{1};
  BitErrors::Place plane = place(7, 3, 1);
  plane.plane = PlaneId{1};
  std::uint32_t same = 0;
  const auto compare = [&](std::uint32_t a, std::uint32_t b) { same += a == b ? 1 : 0; };
  for (std::uint32_t frame = 0; frame < 200; ++frame) {
    const std::uint32_t wrong = one(errors, place(7, 3, 1), 0.004, frame);
    REQUIRE(one(errors, place(7, 3, 1), 0.004, frame) == wrong);
    REQUIRE(one(again, place(7, 3, 1), 0.004, frame) == wrong);
    for (const auto& where : {place(7, 3, 2), place(7, 4, 1), place(8, 3, 1), die, plane}) {
      compare(wrong, one(errors, where, 0.004, frame));
    }
    compare(wrong, one(other, place(7, 3, 1), 0.004, frame));
    compare(wrong, one(errors, place(7, 3, 1), 0.004, frame + 1));
  }
  CHECK(same < 1400 / 10);  // of 7 x 200; about one in 30 by chance
  std::uint32_t run[6];
  errors.draw(place(7, 3, 1), 0.004, 2, 6, run);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(run[i] == one(errors, place(7, 3, 1), 0.004, 2 + i));
}

TEST_CASE("errors of a frame only grow with the rate") {
  for (const ErrorConfig& config : {plain(), correlated(1e-4), correlated(0.05)}) {
    const BitErrors errors = make_errors(config);
    for (std::uint32_t block = 0; block < 300; ++block) {
      std::uint32_t before = 0;
      for (double rate = 1e-14; rate < 0.6; rate *= block % 2 == 0 ? 1.0013 * 1.3 : 1.17) {
        const std::uint32_t now = one(errors, place(block), rate);
        INFO("block " << block << " rate " << rate);
        REQUIRE(now >= before);
        before = now;
      }
      REQUIRE(before > k_frame_bits / 16);
      REQUIRE(one(errors, place(block), 0) == 0);
    }
  }
}

TEST_CASE("blocks and pages differ by lognormal factors of mean 1 that stay theirs") {
  const auto check = [](const BitErrors& errors, double sigma, auto where) {
    constexpr std::uint32_t k_places = 100'000;
    double sum = 0;
    double squares = 0;
    double logs = 0;
    double log_squares = 0;
    for (std::uint32_t i = 0; i < k_places; ++i) {
      const double factor = errors.rber(where(i), {}, 0) / 1e-6;
      sum += factor;
      squares += factor * factor;
      logs += std::log(factor);
      log_squares += std::log(factor) * std::log(factor);
    }
    const double mean = sum / k_places;
    CHECK(std::abs(mean - 1) < 4 * std::sqrt((squares / k_places - mean * mean) / k_places));
    const double mean_log = logs / k_places;
    const double deviation = std::sqrt(log_squares / k_places - mean_log * mean_log);
    CHECK(deviation == Approx(sigma).epsilon(0.012));
    return mean_log;
  };
  ErrorConfig config = plain();
  config.block_variation = 0.4;
  const BitErrors blocks = make_errors(config, 1e-6);
  const double mean_log = check(blocks, 0.4, [](std::uint32_t i) { return place(i); });
  CHECK(mean_log == Approx(-0.08).epsilon(0.05));
  CHECK(blocks.rber(place(5, 1, 2), {}, 0) == blocks.rber(place(5, 77, 9), {}, 0));
  config = plain();
  config.page_variation = 0.25;
  const BitErrors pages = make_errors(config, 1e-6);
  const auto any_page = [](std::uint32_t i) { return place(i / 256, i % 256); };
  check(pages, 0.25, any_page);
  CHECK(pages.rber(place(5, 1, 2), {}, 0) == pages.rber(place(5, 1, 9), {}, 0));
  CHECK(pages.rber(place(5, 1), {}, 0) != pages.rber(place(5, 2), {}, 0));
  CHECK(make_errors(plain(), 1e-6).rber(place(1), {}, 0) == 1e-6);
  // The cut at 3.7 sigma takes a part of the mean when sigma is large; it is made good.
  config.page_variation = 2;
  const BitErrors wild = make_errors(config, 1e-6);
  std::set<double> factors;
  for (std::uint32_t i = 0; i < 100'000; ++i) factors.insert(wild.rber(any_page(i), {}, 0) / 1e-6);
  REQUIRE(factors.size() == 4096);
  double sum = 0;
  for (const double factor : factors) sum += factor;
  CHECK(sum / 4096 == Approx(1).epsilon(1e-6));
  CHECK(std::log(*factors.rbegin() / *factors.begin()) == Approx(4 * 3.67).epsilon(1e-3));
}

TEST_CASE("page types have their multipliers, and the rate ends at a half") {
  ErrorConfig config = plain();
  config.page_types = {0.5, 1, 1.5};
  const BitErrors errors = make_errors(config, 1e-3);
  for (std::uint32_t type = 0; type < 3; ++type) {
    CHECK(errors.rber(place(0), {.type = type}, 0) == Approx(1e-3 * config.page_types[type]));
  }
  CHECK(make_errors(config, 0.4).rber(place(0), {.type = 2}, 0) == 0.5);
  config.page_types = {1, 2};
  CHECK_THROWS_WITH(
      make_errors(config),
      "page_types: has 2 values; give none, or one for each of the 3 page types of tlc; nearest valid: []");
  config = plain();
  config.distribution = "binomal";
  CHECK_THROWS_WITH(make_errors(config), Catch::Contains("did you mean 'binomial'?"));
}

TEST_CASE("a page in SLC mode has its share of the model's errors, unless the model knows of the mode") {
  ErrorConfig config = plain();
  config.page_types = {0.5, 1, 1.5};
  config.slc_error_share = 0.02;
  const BitErrors errors = make_errors(config, 4e-3);
  CHECK(errors.rber(place(0), {.type = 2}, 0) == Approx(6e-3));
  CHECK(errors.rber(place(0), {.mode = BlockMode::slc}, 0) == Approx(8e-5));
  config.slc_error_share = 1;
  CHECK(make_errors(config, 4e-3).rber(place(0), {.mode = BlockMode::slc}, 0) == Approx(4e-3));
  struct Knowing final : ReliabilityModel {
    [[nodiscard]] double rber(const ArrayOperation& stress) const override {
      return stress.slc() ? 7e-6 : 7e-3;
    }
    [[nodiscard]] bool knows_slc_mode() const override { return true; }
  };
  config.slc_error_share = 0.02;
  NandPart part;
  part.cell = "tlc";
  const BitErrors knowing(std::make_unique<Knowing>(), part, config, k_frame_bits, 1);
  CHECK(knowing.rber(place(0), {.type = 1}, 0) == Approx(7e-3));
  CHECK(knowing.rber(place(0), {.mode = BlockMode::slc}, 0) == Approx(7e-6));
}

namespace {

/// Wear and disturb of their own, and so much more with each day.
class Ageing final : public ReliabilityModel {
 public:
  [[nodiscard]] double rber(const ArrayOperation& stress) const override {
    return 1e-6 * stress.cycles + 1e-5 * stress.reads_per_page + 1e-5 * stress.age_days;
  }
};

BitErrors ageing(const ErrorConfig& config) {
  NandPart part;
  part.cell = "tlc";
  return {std::make_unique<Ageing>(), part, config, k_frame_bits, 1};
}

}  // namespace

TEST_CASE("the read-retry levels have their best one where the study found the last one") {
  const BitErrors errors = ageing(plain());
  const auto rate = [&](const ArrayOperation& stress, std::uint32_t level) {
    return errors.rber(place(0), stress, level);
  };
  const auto best = [&](const ArrayOperation& stress) {
    std::uint32_t least = 0;
    for (std::uint32_t level = 1; level < 60; ++level) {
      if (rate(stress, level) < rate(stress, least)) least = level;
    }
    return least;
  };
  const ArrayOperation fresh;
  const ArrayOperation months{.cycles = 1000, .age_days = 90};
  const ArrayOperation year{.cycles = 2000, .age_days = 365};
  CHECK(best(fresh) == 0);
  CHECK(best(months) == 8);
  CHECK(best(year) == 20);
  CHECK(errors.best_level(year) == Approx(19.9).epsilon(0.005));
  // By hand: what wear does stays; of what age does, a tenth, and as much as at the age whose best
  // voltages lie as far from the default ones.
  CHECK(rate(months, 0) == Approx(1.9e-3).epsilon(1e-12));
  const double months_best = errors.best_level(months);
  const auto by_age = [&](double distance) {
    return 1e-5 * std::expm1(distance * std::log(91) / months_best);
  };
  for (const std::uint32_t level : {1U, 5U, 7U, 8U, 9U, 12U, 17U}) {
    INFO(level);
    CHECK(rate(months, level) ==
          Approx(1e-3 + 0.1 * 9e-4 + 0.9 * by_age(std::max(std::abs(months_best - level), 0.5))));
  }
  CHECK(rate(months, 16) == Approx(1.9e-3).epsilon(0.03));
  CHECK(rate(months, 17) > 2e-3);
  // Steps that are not needed do harm, but where age does none.
  CHECK(rate({.cycles = 1000}, 1) == Approx(1e-3 + 0.9 * by_age(1)));
  CHECK(rate({.cycles = 1000, .reads_per_page = 100}, 1) == Approx(2e-3 + 0.9 * by_age(1)));
  CHECK(make_errors(plain(), 0.01).rber(place(0), months, 8) == 0.01);
  ErrorConfig config = plain();
  config.retry_shift = 0;  // nothing moves
  CHECK(ageing(config).rber(place(0), months, 1) > 0.1);
}

TEST_CASE("no read-retry level makes old data better than they were") {
  for (const char* const model : {"power-law", "log-retention", "table", "calibrated-mlc"}) {
    for (const double step_errors : {0.0, 2e-3}) {
      for (const double cycles : {0.0, 1.0, 300.0, 1000.0, 2000.0, 3000.0, 5000.0}) {
        ErrorConfig config = plain();
        config.distribution = "beta-binomial";
        config.retry_step_errors = step_errors;
        const BitErrors errors(reliability_models().make(model, NoValues{}, NandPart{}), NandPart{}, config,
                               k_frame_bits, 1);
        double fewest_before = 0;
        double lost_before = 0;
        for (double days = 0; days < 4000; days = days * 1.05 + 1e-3) {
          double fewest = 1;
          for (std::uint32_t level = 0; level <= 40; ++level) {
            fewest = std::min(fewest, errors.rber(place(0), {.cycles = cycles, .age_days = days}, level));
          }
          // A read is lost when no level brings a frame below what the code corrects.
          const double lost = errors.tail(fewest, 60);
          INFO(model << ", " << step_errors << " a step, " << cycles << " cycles, " << days << " days");
          REQUIRE(fewest >= fewest_before * (1 - 1e-12));
          REQUIRE(lost >= lost_before * (1 - 1e-9));
          fewest_before = fewest;
          lost_before = lost;
        }
      }
    }
  }
}

TEST_CASE("errors that each step away from the best read voltages adds") {
  ErrorConfig config = plain();
  config.retry_shift = 0.001;
  config.retry_cycle_exponent = 1;
  config.retry_step_errors = 2e-3;
  config.retry_floor = 0.5;  // has no part
  const BitErrors errors = make_errors(config, 1e-3);
  const ArrayOperation aged{.cycles = 4000, .age_days = std::expm1(1.0)};  // best step 4
  for (std::uint32_t level = 0; level < 12; ++level) {
    INFO(level);
    const double distance = std::max(std::abs(4.0 - level), 0.5);
    CHECK(errors.rber(place(0), aged, level) == Approx(1e-3 + 2e-3 * (distance * distance - 0.25)));
  }
  CHECK(errors.rber(place(0), aged, 40) == 0.5);
  CHECK(errors.rber(place(0), {}, 0) == Approx(1e-3));  // fresh: the default voltages are the best
  CHECK(errors.rber(place(0), {}, 1) == Approx(2.5e-3));
  // As all errors of a page: fewer in SLC mode, more or fewer by page type.
  ArrayOperation slc = aged;
  slc.mode = BlockMode::slc;
  CHECK(errors.rber(place(0), slc, 0) == Approx(0.0325 * config.slc_error_share));
}

TEST_CASE("a rate that is none is refused with the model's name and the operation it is of") {
  NandPart part;
  part.cell = "tlc";
  const std::vector<std::pair<double, std::string>> wrong = {{std::nan(""), "nan"},  {-1e-9, "-1e-09"},
                                                             {0.500001, "0.500001"}, {2, "2"},
                                                             {HUGE_VAL, "inf"},      {-HUGE_VAL, "-inf"}};
  for (const auto& [rate, text] : wrong) {
    const BitErrors errors(std::make_unique<Constant>(rate), part, plain(), k_frame_bits, 1, "acme");
    ArrayOperation stress;
    CHECK_THROWS_WITH(errors.rber(place(3), stress, 0),
                      "ssd.flash.reliability.model: acme answers a bit error rate of " + text +
                          ", which is none of 0 to 0.5, to " + to_text(stress));
  }
  CHECK(make_errors(plain(), 0).rber(place(3), {}, 0) == 0);
  CHECK(make_errors(plain(), 0.5).rber(place(3), {}, 0) == 0.5);
}
