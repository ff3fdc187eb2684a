// Pass voltage: what a sense with less of it does to the other pages, what it costs itself, and
// that nothing changes without it.
#include <catch2/catch.hpp>
#include <cmath>

#include "models/nand/die_state.h"

using namespace tlmssd;

namespace {

/// One wrong bit in a million per read and page, nothing else.
class PerRead final : public ReliabilityModel {
 public:
  [[nodiscard]] double rber(const ArrayOperation& stress) const override {
    return 1e-6 * stress.reads_per_page;
  }
};

constexpr std::uint32_t k_pages = 4;
constexpr BlockId k_block{3};

NandPart four_page_part() {
  NandPart part;
  part.cell = "mlc";
  part.pages_per_block = k_pages;
  part.blocks_per_plane = 8;
  part.planes = 1;
  return part;
}

ErrorConfig pass_voltage_errors() {
  ErrorConfig config;
  config.block_variation = config.page_variation = 0;
  config.pass_decay = 40;
  config.pass_margin = 0.03;
  config.pass_errors = 2;
  return config;
}

struct DisturbedDie {
  DisturbedDie() {
    state.attach({&errors, &clock, 1});
    FlashOp op;
    op.command = FlashCommand::program;
    op.block = k_block;
    op.slots = 1;
    for (std::uint32_t page = 0; page < k_pages; ++page) {
      op.page = PageId{page};
      state.execute(op, 0);
    }
  }
  void read(std::uint32_t times, float pass_voltage) {
    FlashOp op;
    op.block = k_block;
    op.slots = 1;
    op.pass_voltage = pass_voltage;
    for (std::uint32_t i = 0; i < times; ++i) state.execute(op, 0);
  }
  [[nodiscard]] double rber(double pass_voltage = 1) const {
    return state.rber(PlaneId{0}, k_block, PageId{1}, 0, 0, pass_voltage);
  }

  NandPart part = four_page_part();
  BitErrors errors{std::make_unique<PerRead>(), part, pass_voltage_errors(), 8192, 1};
  RetentionClock clock{RetentionConfig{}};
  Geometry geometry{1, 1, 1, 1, 8, k_pages, 4096, 0};
  DieState state{part, geometry, DieId{0}, 4096, 8, 1};
};

}  // namespace

TEST_CASE("a read disturbs exp(-k (1 - v)) times as much at the share v of the nominal pass voltage") {
  for (const double v : {1.0, 0.99, 0.98, 0.96, 0.94, 0.9}) {
    INFO("share " << v);
    DisturbedDie die;
    die.read(2000, static_cast<float>(v));
    CHECK(die.errors.disturb_weight(v) == Approx(std::exp(-40 * (1 - v))));
    CHECK(die.rber() == Approx(1e-6 * 2000 / k_pages * std::exp(-40 * (1 - v))).epsilon(1e-3));
    CHECK(die.state.block(PlaneId{0}, k_block).reads == 2000);  // whatever they do
  }
}

TEST_CASE("reads at different pass voltages add up, and an erase forgets them") {
  DisturbedDie die;
  die.read(300, 1);
  die.read(1000, 0.95F);
  die.state.disturb(2);  // every page twice
  CHECK(die.rber() == Approx(1e-6 / k_pages * (300 + 2 * k_pages + 1000 * std::exp(-2))).epsilon(1e-4));
  FlashOp op;
  op.command = FlashCommand::erase;
  op.block = k_block;
  die.state.execute(op, 0);
  CHECK(die.state.block(PlaneId{0}, k_block).disturb == 0);
}

TEST_CASE("a pass voltage below the margin costs errors of the page that is read, one above none") {
  DisturbedDie die;
  die.read(400, 1);
  const double base = 1e-4;
  for (const double v : {1.0, 0.98, 0.97}) CHECK(die.rber(v) == Approx(base));
  CHECK(die.rber(0.95) == Approx(base + 2 * 0.02 * 0.02));
  CHECK(die.rber(0.90) == Approx(base + 2 * 0.07 * 0.07));
}

TEST_CASE("no die reads with more than the nominal pass voltage, or with none") {
  DisturbedDie die;
  for (const float v : {0.0F, -1.0F, 1.01F}) {
    CHECK_THROWS_WITH(die.read(1, v), Catch::Contains("pass voltage out of range"));
  }
}

TEST_CASE("a read disturbs a page alike, however full its block is") {
  DisturbedDie full;
  full.read(1000, 1);
  DisturbedDie half;
  FlashOp op;
  op.command = FlashCommand::erase;
  op.block = k_block;
  half.state.execute(op, 0);
  op.command = FlashCommand::program;
  op.slots = 1;
  for (std::uint32_t page = 0; page < 2; ++page) {
    op.page = PageId{page};
    half.state.execute(op, 0);
  }
  half.read(1000, 1);
  CHECK(half.rber() == Approx(full.rber()));
}
