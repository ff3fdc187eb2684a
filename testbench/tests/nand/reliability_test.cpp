// Reliability models: each against its closed form, and all of them for what any wear must do.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "models/base/input_error.h"
#include "models/base/random.h"
#include "models/nand/reliability/calibrated_mlc.h"
#include "models/nand/reliability/log_retention.h"
#include "models/nand/reliability/power_law.h"
#include "models/nand/reliability/rber_table.h"

using namespace tlmssd;

namespace {

std::unique_ptr<ReliabilityModel> make_model(const std::string& name) {
  return reliability_models().make(name, NoValues{}, NandPart{});
}

ArrayOperation stress(double cycles, double days, double reads = 0) {
  return {.cycles = cycles, .age_days = days, .reads_per_page = reads};
}

}  // namespace

TEST_CASE("the reliability models are these, each with a sentence") {
  std::vector<std::string> names;
  for (const PolicyInfo& info : reliability_models().infos()) {
    names.push_back(info.name);
    CHECK(info.summary.size() > 10);
    for (const ParameterSpec& spec : info.parameters) CHECK(spec.doc.size() > 10);
  }
  CHECK(names == std::vector<std::string>{"none", "power-law", "log-retention", "table", "calibrated-mlc"});
  CHECK(make_model("powerlaw") == nullptr);
}

TEST_CASE("no model gets better with wear, age or reads, and none leaves 0 to a half") {
  RandomStream random(1, "stresses");
  const auto any = [&](double most) {
    return random.below(4) == 0 ? 0 : std::exp(random.uniform() * std::log(most));
  };
  for (const PolicyInfo& info : reliability_models().infos()) {
    INFO(info.name);
    const auto model = make_model(info.name);
    for (int i = 0; i < 2000; ++i) {
      const ArrayOperation before = stress(any(50'000), any(10'000), any(1e6));
      ArrayOperation after = before;
      const double more = any(1000);
      double* const grows[] = {&after.cycles, &after.age_days, &after.reads_per_page};
      *grows[random.below(3)] += more;
      const double low = model->rber(before);
      const double high = model->rber(after);
      INFO(before.cycles << " cycles " << before.age_days << " days " << before.reads_per_page << " reads + "
                         << more);
      REQUIRE(low >= 0);
      REQUIRE(high <= 0.5);
      REQUIRE(high >= low * (1 - 1e-12));
    }
    CHECK(model->rber(stress(0, 0)) < 0.01);
    if (info.name != "none") CHECK(model->rber(stress(1e5, 365, 1e6)) > model->rber(stress(0, 0)));
  }
}

TEST_CASE("no errors are no errors") {
  CHECK(make_model("none")->rber(stress(1e6, 1e4, 1e6)) == 0);
}

TEST_CASE("the power law has the published coefficients of 72-layer TLC") {
  const auto model = make_model("power-law");
  CHECK(model->rber(stress(0, 0)) == 1.48e-3);
  // A block that was never erased is in its first cycle.
  CHECK(model->rber(stress(0, 365, 1000)) ==
        Approx(1.48e-3 + 6.28e-5 * std::pow(365, 0.54) + 3.73e-9 * std::pow(1000, 1.71)).epsilon(1e-12));
  CHECK(make_model("table")->rber(stress(0, 365)) == Approx(3.00e-3));
  CHECK(model->rber(stress(1, 1, 1)) == Approx(1.48e-3 + 3.90e-10 + 6.28e-5 + 3.73e-9).epsilon(1e-12));
  const double wear = 3.90e-10 * std::pow(3000, 2.05);
  CHECK(model->rber(stress(3000, 0)) == Approx(1.48e-3 + wear).epsilon(1e-12));
  const double retention = 6.28e-5 * std::pow(3000, 0.14) * std::pow(90, 0.54);
  const double disturb = 3.73e-9 * std::pow(3000, 0.33) * std::pow(500, 1.71);
  CHECK(model->rber(stress(3000, 90, 500)) == Approx(1.48e-3 + wear + retention + disturb).epsilon(1e-12));
  PowerLawConfig config;
  config.retention_cycle_exponent = 0;  // retention that does not ask for wear
  CHECK(PowerLaw(config, NandPart{}).rber(stress(0, 1)) == Approx(1.48e-3 + 6.28e-5).epsilon(1e-12));
}

TEST_CASE("the logarithm of the rate grows with that of time, faster with wear") {
  const LogRetentionConfig config;
  const LogRetention model(config, NandPart{});
  CHECK(model.rber(stress(0, 1)) == Approx(std::exp(-8.52)).epsilon(1e-12));
  CHECK(model.rber(stress(3000, 1)) == Approx(std::exp(-8.52 + 0.915)).epsilon(1e-12));
  const auto slope = [&](double cycles) {
    return std::log(model.rber(stress(cycles, 100)) / model.rber(stress(cycles, 10))) / std::log(10);
  };
  CHECK(slope(0) == Approx(0.1).epsilon(1e-9));
  CHECK(slope(3000) == Approx(0.349).epsilon(1e-9));
  CHECK(model.rber(stress(3000, 365)) == Approx(3.9e-3).epsilon(0.01));
  CHECK(model.rber(stress(3000, 0)) == model.rber(stress(3000, 1.0 / 24)));  // the logarithm has a bottom
  CHECK(model.rber(stress(1e6, 1e6)) == 0.5);
}

TEST_CASE("a table gives its points exactly and power laws between and beyond them") {
  RberTableConfig config;
  config.cycles = {100, 1000, 3000};
  config.days = {1, 30};
  config.rber.clear();
  const auto law = [](double cycles, double days) {
    return 1e-9 * std::pow(cycles, 1.7) * std::pow(days, 0.3);
  };
  for (const double cycles : config.cycles) {
    for (const double days : config.days) config.rber.push_back(law(cycles, days));
  }
  config.read_disturb = 1e-9;
  const RberTable model(config, NandPart{});
  for (const double cycles : {100.0, 250.0, 1000.0, 2999.0, 3000.0, 9000.0}) {
    for (const double days : {1.0, 2.0, 30.0, 365.0}) {
      INFO(cycles << " cycles " << days << " days");
      CHECK(model.rber(stress(cycles, days)) == Approx(law(cycles, days)).epsilon(1e-9));
      CHECK(model.rber(stress(cycles, days, 5000)) == Approx(law(cycles, days) + 5e-6).epsilon(1e-9));
    }
  }
  CHECK(model.rber(stress(0, 0)) == Approx(law(100, 1)).epsilon(1e-9));  // clamped below
}

TEST_CASE("an axis of a table may begin at 0 or have one point") {
  RberTableConfig config;
  config.cycles = {0, 1000};
  config.days = {0};
  config.rber = {1e-4, 4e-4};
  const RberTable model(config, NandPart{});
  CHECK(model.rber(stress(0, 0)) == Approx(1e-4));
  CHECK(model.rber(stress(500, 99)) == Approx(2e-4));
  CHECK(model.rber(stress(1000, 0)) == Approx(4e-4));
  CHECK(model.rber(stress(2000, 0)) == Approx(16e-4));
  const auto sampled = make_model("table");
  const auto source = make_model("power-law");
  for (const double cycles : {0.0, 1000.0, 3000.0}) {
    for (const double days : {0.0, 30.0, 365.0}) {
      CHECK(sampled->rber(stress(cycles, days)) == Approx(source->rber(stress(cycles, days))).epsilon(0.005));
    }
  }
}

TEST_CASE("contradictory tables are refused with the key and what would do") {
  RberTableConfig config;
  config.rber.pop_back();
  CHECK_THROWS_WITH(RberTable(config, NandPart{}),
                    "rber: has 8 values; give one for each of 3 cycles x 3 days = 9");
  config.days = {30, 0, 365};
  CHECK_THROWS_WITH(RberTable(config, NandPart{}), "days: must ascend: 0 follows 30");
  config.cycles = {};
  CHECK_THROWS_WITH(RberTable(config, NandPart{}), "cycles: is empty; give at least one value");
}

TEST_CASE("the calibrated MLC curve says what it is calibrated to") {
  const auto model = make_model("calibrated-mlc");
  CHECK(model->rber(stress(2000, 1)) == Approx(5.4e-3).epsilon(1e-12));
  CHECK(model->rber(stress(0, 100)) == 1e-5);
  CHECK(model->rber(stress(2000, 0)) == 1e-5);
  // The same rate is reached at 2.3 times the cycles at 1 day against 6 days.
  CHECK(model->rber(stress(2000 / 2.3, 6)) == Approx(5.4e-3).epsilon(0.005));
  // 57 % more cycles for a code that takes 1.57^k times the rate.
  CHECK(model->rber(stress(2000 * 1.57, 1)) == Approx(5.4e-3 * std::pow(1.57, 2.05)).epsilon(0.005));
  CalibratedMlcConfig config;
  config.fresh = config.anchor_rber;
  CHECK_THROWS_AS(CalibratedMlc(config, NandPart{}), InputError);
}
