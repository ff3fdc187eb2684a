// Victim policies that leave a drive without room: it is said that they do.
#include <catch2/catch.hpp>
#include <map>

#include "firmware/victims/victim_policy.h"
#include "models/base/stalled.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

using firmware::BlockNumber;
using firmware::k_no_block;

/// Chooses the block with the most valid units or the fewest, of `of` times once none.
struct Mood {
  bool fullest = false;
  std::uint32_t none_of = 0;  ///< 0: never none
};
Mood mood;

class MoodyVictims final : public firmware::VictimPolicy {
 public:
  static constexpr std::string_view k_name = "moody";
  static constexpr std::string_view k_summary = "chooses as it is told";
  using Config = NoParameters;
  MoodyVictims(const Config& /*config*/, const firmware::VictimContext& context) : blocks_(context.pus) {}
  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    blocks_[pu][block] = valid;
  }
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    blocks_[pu][block] = valid;
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    blocks_[pu].erase(block);
  }
  BlockNumber select(std::uint32_t pu) override {
    if (blocks_[pu].empty() || (mood.none_of > 0 && ++asked_ % mood.none_of == 0)) return k_no_block;
    auto chosen = blocks_[pu].begin();
    for (auto one = chosen; one != blocks_[pu].end(); ++one) {
      if (mood.fullest ? one->second > chosen->second : one->second < chosen->second) chosen = one;
    }
    const BlockNumber block = chosen->first;
    blocks_[pu].erase(chosen);
    return block;
  }
  void archive(Archive& /*archive*/) override {}

 private:
  std::vector<std::map<BlockNumber, std::uint32_t>> blocks_;
  std::uint32_t asked_ = 0;
};

/// A drive whose blocks it chooses; it is full, and does not collect but for need.
SsdConfig moody_drive(const Mood& chosen) {
  if (firmware::victim_family().find("moody") == nullptr)
    firmware::victim_family().add<MoodyVictims>("acme 1.0");
  mood = chosen;
  SsdConfig config = small_drive();
  config.firmware.gc.policy = "moody";
  config.firmware.gc.background_start = 0;
  config.firmware.gc.background_stop = 0;
  return config;
}

}  // namespace

TEST_CASE("a drive that a victim policy has made read-only says so, whatever it chooses afterwards",
          "[drive]") {
  Simulation simulation(moody_drive({.none_of = 1}));
  const firmware::Firmware& firmware = simulation.ssd().firmware();
  for (std::uint64_t seed = 1; seed < 50 && !firmware.read_only(); ++seed)
    run_untimed(simulation, {.rw = seed == 1 ? "write" : "randwrite"}, seed);
  REQUIRE(firmware.read_only());
  mood.none_of = 0;
  simulation.idle();
  CHECK(firmware.why_read_only() ==
        "firmware.gc.policy moody chose none of the blocks, and some held invalid units");
}

#ifndef __SANITIZE_ADDRESS__  // built for it, steps that take no time pile up on the stack
TEST_CASE("a victim policy that chooses nothing but full blocks is named where the drive stalls", "[drive]") {
  Simulation simulation(moody_drive({.fullest = true}));
  run_untimed(simulation, {.rw = "write"});
  CHECK_THROWS_AS(run_untimed(simulation, {.rw = "randwrite", .amount = 64_MiB}), Stalled);
  std::string text;
  simulation.ssd().firmware().describe_stall(text);
  INFO(text);
  CHECK_THAT(text, Catch::Contains("victims of firmware.gc.policy moody held nothing but valid units") &&
                       !Catch::Contains("a controller core") && Catch::Contains(" is under way\n"));
}
#endif

}  // namespace tlmssd::drive_tests
