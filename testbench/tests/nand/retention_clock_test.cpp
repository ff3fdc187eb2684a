// Retention at one temperature counted as retention at another.
#include "models/nand/reliability/retention_clock.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace tlmssd;
using namespace tlmssd::literals;

namespace {

/// An archive in memory: first saves, then restores.
class Memory final : public Archive {
 public:
  [[nodiscard]] bool saving() const override { return saving_; }
  void bytes(void* data, std::size_t size) override {
    if (saving_) {
      kept_.append(static_cast<const char*>(data), size);
    } else {
      REQUIRE(kept_.size() >= size);
      std::memcpy(data, kept_.data(), size);
      kept_.erase(0, size);
    }
  }
  void restore() { saving_ = false; }

 private:
  bool saving_ = true;
  std::string kept_;
};

}  // namespace

TEST_CASE("13 hours at 85 degrees are about a year at 30") {
  RetentionClock clock({.temperature = 30, .reference_temperature = 30});
  clock.age(13.0 * 3600, 85);
  CHECK(RetentionClock::days(clock.at(0)) == Approx(365).epsilon(0.06));
}

TEST_CASE("at the reference temperature time is time") {
  const RetentionClock clock(RetentionConfig{});
  CHECK(clock.acceleration(40) == 1);
  CHECK(clock.at(0) == 0);
  CHECK(clock.at(1_us) == 1000);
  CHECK(clock.at(86'400_s) == 86'400'000'000'000);
  CHECK(RetentionClock::days(clock.at(86'400_s)) == 1);
}

TEST_CASE("a hot drive ages faster, time never runs back, and no energy is no difference") {
  const RetentionClock hot({.temperature = 70, .reference_temperature = 40});
  const double times = hot.acceleration(70);
  CHECK(times > 20);
  CHECK(hot.acceleration(20) < 1);
  CHECK(static_cast<double>(hot.at(10_s)) == Approx(1e10 * times));
  std::int64_t before = 0;
  for (Picoseconds now = 0; now < 1_ms; now += 997) {
    const std::int64_t then = hot.at(now);
    REQUIRE(then >= before);
    before = then;
  }
  CHECK(RetentionClock({.temperature = 85, .activation_energy = 0}).acceleration(85) == 1);
}

TEST_CASE("skipped time adds up, is kept in a snapshot, and ends rather than overflowing") {
  RetentionClock clock(RetentionConfig{});
  clock.age(3600, 40);
  clock.age(0.5, 40);
  CHECK(clock.at(1_s) == 3'601'500'000'000);
  Memory memory;
  clock.archive(memory, 20_s);
  memory.restore();
  RetentionClock restored(RetentionConfig{});
  restored.archive(memory, 5_s);  // the restored drive's event queue stands elsewhere
  CHECK(restored.at(5_s) == clock.at(20_s));
  CHECK(restored.at(6_s) == clock.at(21_s));
  clock.age(1e12, 150);
  const std::int64_t end = clock.at(0);
  clock.age(1e12, 150);
  CHECK(clock.at(0) == end);
  CHECK(clock.at(k_never) == end);
}
