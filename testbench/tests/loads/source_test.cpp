// Loads of plug-ins: what they make is checked, and comes out as a load like any other.
#include <catch2/catch.hpp>

#include "drain.h"
#include "models/base/input_error.h"
#include "testbench/loads/load.h"
#include "testbench/loads/requests/request_family.h"

using namespace tlmssd;

namespace {

struct StepsConfig {
  std::uint64_t number = 10;
  Bytes offset = 0;
  Bytes bytes = 4096;
  Picoseconds step = 1000;
  bool late = false;
  std::uint8_t opcode = static_cast<std::uint8_t>(HostOpcode::write);
  static const ParameterTable<StepsConfig>& parameters() {
    static const auto table = ParameterTable<StepsConfig>{}
                                  .integer("number", &StepsConfig::number, {1, 1000}, "requests")
                                  .bytes("first", &StepsConfig::offset, {0, 1e9}, "where they begin")
                                  .bytes("each", &StepsConfig::bytes, {0, 1e9}, "size of each")
                                  .integer("step", &StepsConfig::step, {-1000, 1000}, "between two")
                                  .integer("opcode", &StepsConfig::opcode, {0, 255}, "of all")
                                  .flag("late", &StepsConfig::late, "13 days apart");
    return table;
  }
};

class Steps final : public RequestSource {
 public:
  static constexpr std::string_view k_name = "steps";
  static constexpr std::string_view k_summary = "one after the other";
  using Config = StepsConfig;
  Steps(const Config& config, const SourceContext& /*context*/) : config_(config) {}
  bool next(Request& request) override {
    if (made_ == config_.number) return false;
    request.opcode = static_cast<HostOpcode>(config_.opcode);
    request.offset = config_.offset + made_ * config_.bytes;
    request.bytes = config_.bytes;
    const Picoseconds step = config_.late ? Picoseconds{1} << 60U : config_.step;
    request.time = 5000 + step * static_cast<Picoseconds>(made_++);
    return true;
  }
  [[nodiscard]] std::uint64_t expected() const override { return config_.number; }

 private:
  Config config_;
  std::uint64_t made_ = 0;
};

/// Values given by the test.
class Given final : public ParameterValues {
 public:
  explicit Given(std::vector<std::pair<std::string, Value>> values) : values_(std::move(values)) {
    values_.emplace_back("source", std::string("steps"));
  }
  [[nodiscard]] const Value* find(std::string_view name) const override {
    for (const auto& [key, value] : values_)
      if (key == name) return &value;
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

void enrol() {
  if (request_sources().find("steps") == nullptr) request_sources().add<Steps>("test 1");
}

std::vector<PlacedRequest> requests_of(std::vector<std::pair<std::string, Value>> values) {
  enrol();
  const Given given(std::move(values));
  const std::vector<Load> loads = make_loads(LoadConfig::read(given, nullptr), {.bytes = 1 << 20}, 1);
  REQUIRE(loads.size() == 1);
  return test::drain(loads.front());
}

}  // namespace

TEST_CASE("a load of a plug-in is laid onto the drive as it is") {
  const auto made = requests_of({{"number", std::int64_t{3}}, {"first", std::int64_t{512}}});
  REQUIRE(made.size() == 3);
  CHECK(made[0].opcode == HostOpcode::write);
  CHECK(made[2].lba == 17);
  CHECK(made[2].blocks == 8);
  CHECK(made[2].time == 7000);
  const auto scaled =
      requests_of({{"number", std::int64_t{3}}, {"pacing", std::string("open-loop")}, {"time_scale", 2.0}});
  CHECK(scaled[2].time == 14'000);
}

TEST_CASE("a load of a plug-in is described, paced and counted as others are") {
  enrol();
  const Given given({{"queue_depth", std::int64_t{7}}, {"name", std::string("log")}});
  const std::vector<Load> loads = make_loads(LoadConfig::read(given, nullptr), {.bytes = 1 << 20}, 1);
  CHECK(loads.front().name == "log");
  CHECK(loads.front().description == "steps: one after the other (plug-in test 1)");
  CHECK(loads.front().queue_depth == 7);
  CHECK(loads.front().pacing == Pacing::closed_loop);
  CHECK(loads.front().source->expected() == 10);
}

TEST_CASE("requests of a plug-in that are none are refused") {
  using Catch::Contains;
  CHECK_THROWS_WITH(requests_of({{"first", std::int64_t{(1 << 20) - 8192}}}),
                    Contains("request 3 of steps") && Contains("ends beyond the drive's 1048576 B"));
  CHECK_THROWS_WITH(requests_of({{"each", std::int64_t{0}}}), Contains("request 1 of steps has no length"));
  CHECK_THROWS_WITH(requests_of({{"step", std::int64_t{-1}}}),
                    Contains("request 2 of steps has an earlier time"));
  for (const std::int64_t opcode : {5, 99, 255}) {
    CHECK_THROWS_WITH(requests_of({{"opcode", opcode}}),
                      Contains("request 1 of steps has opcode " + std::to_string(opcode) +
                               ", which there is not; valid: 0 to 4"));
  }
}

TEST_CASE("requests of a plug-in that are due later than can be simulated are refused") {
  const auto late = [](const char* pacing, double scale) {
    return requests_of({{"number", std::int64_t{3}},
                        {"late", true},
                        {"pacing", std::string(pacing)},
                        {"time_scale", scale}});
  };
  CHECK(static_cast<double>(late("open-loop", 1.9).back().time) == Approx(1.9 * 0x1p61));
  for (const double scale : {2.001, 1e6}) {
    CHECK_THROWS_WITH(late("open-loop", scale),
                      Catch::Contains(scale < 3 ? "request 3 of steps" : "request 2 of steps") &&
                          Catch::Contains("is due after more than 53 days of simulated time"));
  }
  CHECK(late("closed-loop", 1e6).size() == 3);  // nothing waits for its times
}

TEST_CASE("the kinds of loads know those of plug-ins only when there are any") {
  enrol();
  bool found = false;
  for (const LoadKeys& keys : load_keys())
    for (const std::string& kind : keys.only_with) found |= kind == "source";
  CHECK(found);
}
