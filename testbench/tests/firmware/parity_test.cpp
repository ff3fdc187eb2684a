// Parity over dies: what is read by it is what was written, at the price that it is said to have.
#include "firmware/features/parity/parity.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint64_t k_units = 400;
constexpr std::int64_t k_xor_rate = 1'000'000'000;

struct ParityOptions {
  std::string policy = "behind-collection";
  std::int64_t stripe = 4;
  std::string ecc = "none";
  std::uint32_t channels = 4;
  std::uint32_t blocks = 16;
  bool rotate = false;
  std::int64_t forming = 64;
  std::int64_t handles = 0;  ///< of placement, whose data are kept apart; 0: there are none
};

struct ParityRig : FeatureRig<Parity> {
  explicit ParityRig(const ParityOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {how.channels, 1, 1, 1, how.blocks, 8, 16384, 0};
          setup.shape.logical_blocks = k_units * k_unit;
          setup.config.ecc.policy = how.ecc;
          choose(setup.config, "firmware.parity", how.policy,
                 {{"stripe", whole(how.stripe)},
                  {"xor_rate", whole(k_xor_rate)},
                  {"forming", whole(how.forming)},
                  {"rotate", Value(how.rotate)}});
          if (how.handles > 0)
            choose(setup.config, "firmware.streams", "persistently-isolated",
                   {{"handles", whole(how.handles)}});
        }) {}
  void fill() { write_units(0, k_units); }
  /// Writes and reads at random: collection goes on, and reads meet it.
  void churn(int commands, std::uint64_t reads_in_ten = 5) { work(k_units, commands, reads_in_ten); }
  std::uint32_t program_one() { return program_units(300, 8); }
};

}  // namespace

TEST_CASE("of so many program units one is parity, on each die in turn") {
  const auto stripe = GENERATE(2, 4, 8);
  ParityRig rig({.stripe = stripe, .channels = 8});
  std::map<std::uint32_t, std::uint64_t> parity;  // programs by die
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::program && op.purpose == Purpose::migration) ++parity[index(op.die)];
  };
  rig.fill();
  const std::uint64_t programs = rig.stats().programs[static_cast<std::size_t>(Purpose::host)];
  REQUIRE(programs == k_units / 8);
  const auto members = static_cast<std::uint64_t>(stripe - 1);
  CHECK(rig.counters().displaced == 0);
  CHECK(rig.counters().refused == 0);
  // All but what was still being formed at the end, in each group.
  CHECK(rig.counters().programs <= programs / members);
  CHECK(rig.counters().programs + 8 / static_cast<std::uint64_t>(stripe) >= programs / members);
  CHECK(parity.size() == std::min<std::uint64_t>(8, rig.counters().programs));
  for (const auto& [die, count] : parity) CHECK(count * 8 <= rig.counters().programs + 16);
  CHECK(rig.stats().units_programmed[static_cast<std::size_t>(Purpose::migration)] ==
        rig.counters().programs * 8);
  rig.host.verify_all();
}

TEST_CASE("a read by parity takes a read, the work for the others, and XOR, to the picosecond") {
  const auto stripe = GENERATE(2, 4);
  const auto units = GENERATE(1U, 2U);
  ParityRig rig({.policy = "behind-writes", .stripe = stripe});
  rig.fill();
  rig.host.let_end();
  const Picoseconds plain = rig.read(0, units);
  // A program unit goes to some die; what lies there is read while it is programmed.
  const std::uint32_t busy = rig.program_one();
  REQUIRE(rig.host.outstanding == 0);
  std::uint64_t unit = 0;
  while (rig.die_of(unit) != busy || unit % 4 > 4 - units) ++unit;
  const auto before = rig.counters().served;
  const Picoseconds rebuilt = rig.read(unit, units);
  CHECK(rig.counters().served == before + units);
  const auto others = static_cast<Picoseconds>(stripe - 1);
  const Picoseconds through_engine = others * units * 4096 * 1000;  // 1 GB/s
  CHECK(rebuilt - plain == (others - 1) * rig.options.stage_time + through_engine);
  rig.host.let_end();
}

TEST_CASE("reads go around dies that collect, and hold what was written last") {
  const auto policy = GENERATE("behind-collection", "behind-writes");
  ParityRig rig({.policy = policy, .rotate = true});
  rig.fill();
  rig.churn(20000);
  INFO("busy " << rig.counters().busy << ", without stripe " << rig.counters().without_stripe
               << ", others busy " << rig.counters().others_busy << ", served " << rig.counters().served
               << ", refused " << rig.counters().refused << ", displaced " << rig.counters().displaced);
  CHECK(rig.stats().gc_victims > 20);
  CHECK(rig.counters().served > 100);
  CHECK(rig.counters().erased > 100);
  const Parity::Counters& c = rig.counters();
  CHECK(c.busy == c.without_stripe + c.others_busy + c.served);
  rig.host.verify_all();
}

TEST_CASE("a read by parity that cannot be decoded is no loss: the original is read") {
  ParityRig rig({.ecc = "fixed", .rotate = true});
  std::set<std::array<std::uint32_t, 3>> parity;  // pages: die, block, page
  rig.hw.flash.watch = [&](const FlashOp& op) {
    const std::uint32_t die = index(op.die);
    const std::uint32_t block = index(op.block);
    for (std::uint32_t n = 0; op.command == FlashCommand::program && n < op.pages; ++n) {
      if (op.purpose == Purpose::migration) parity.insert({die, block, index(op.page) + n});
    }
    if (op.command == FlashCommand::erase)
      std::erase_if(parity, [&](const auto& page) { return page[0] == die && page[1] == block; });
  };
  rig.hw.flash.fails = [&](const FlashOp& op) {
    return op.command == FlashCommand::read &&
           parity.contains({index(op.die), index(op.block), index(op.page)});
  };
  rig.fill();
  rig.churn(6000);
  CHECK(rig.counters().lost > 20);
  CHECK(rig.counters().served == 0);
  CHECK(rig.host.media_errors == 0);
  rig.host.verify_all();
}

TEST_CASE("bits that the host got by parity are bits that it read, whatever was read for them") {
  ParityRig rig({.ecc = "fixed", .rotate = true});
  rig.fill();
  rig.ftl.reset_statistics();
  rig.churn(6000);
  CHECK(rig.counters().served > 50);
  const FtlStatistics& s = rig.stats();
  CHECK(s.host_decoded_bits == (s.host_units_read - s.buffer_read_hits) * 4096 * 8);
}

TEST_CASE("parity tells which reads of busy dies it served, and why not the others") {
  ParityRig rig({.policy = "behind-writes"});
  rig.fill();
  rig.host.let_end();
  const auto read_from = [&](std::uint32_t die, std::uint32_t units) {
    rig.read(rig.first_on(die), units);  // the first of a page
  };
  read_from(rig.program_one(), 4);  // the three other dies have nothing to do
  rig.host.let_end();
  read_from(rig.program_units(300, 16), 3);  // one of them programs, too
  rig.host.drain();
  rig.ftl.power_cycle();  // which forgets all stripes
  read_from(rig.program_one(), 2);
  const auto reported = rig.reported();
  CHECK(reported.at("parity/busy") == 4 + 3 + 2);
  CHECK(reported.at("parity/served") == 4);
  CHECK(reported.at("parity/others busy") == 3);
  CHECK(reported.at("parity/without stripe") == 2);
  CHECK(reported.at("parity/lost") == 0);
}

TEST_CASE("a read by parity that is lost is counted once, whatever it brings") {
  ParityRig rig({.policy = "behind-writes", .ecc = "fixed"});
  rig.fill();
  rig.host.let_end();
  rig.read_where_others_fail(rig.program_one(), 3);
  const auto reported = rig.reported();
  CHECK(reported.at("parity/busy") == 3);
  CHECK(reported.at("parity/lost") == 1);
  CHECK(reported.at("parity/served") == 0);
}

TEST_CASE("every parity that was programmed is of a stripe, until a block of it is erased") {
  ParityRig rig;
  for (int n = 0; n < 20; ++n) rig.fill();  // in order, so that nothing has to be moved
  REQUIRE(rig.stats().gc_victims > 20);
  const auto reported = rig.reported();
  const FakeFlash::Work& work = rig.hw.flash.work[static_cast<std::size_t>(Purpose::migration)];
  CHECK(reported.at("parity/programs") == static_cast<double>(work.programs));
  CHECK(reported.at("parity/programs") == reported.at("parity/stripes") + reported.at("parity/erased"));
  CHECK(reported.at("parity/displaced") == 0);
  CHECK(reported.at("parity/refused") == 0);
}

TEST_CASE("of more stripes than can be formed at a time the oldest is given up, and counted") {
  if (!has_feature("firmware.streams")) return;
  ParityRig rig({.blocks = 32, .forming = 2, .handles = 3});
  for (const std::uint16_t handle : {0, 1, 2, 0}) {  // a member each; the last two make room for themselves
    rig.host.write_by(handle, 0, 8 * k_unit);
    rig.host.flush();
    rig.host.wait_below(1);
  }
  const auto reported = rig.reported();
  CHECK(reported.at("parity/displaced") == 2);
  CHECK(reported.at("parity/programs") == 0);
  CHECK(reported.at("parity/erased") == 0);
}

TEST_CASE("stripes are forgotten when power fails") {
  ParityRig rig({.policy = "behind-writes"});
  rig.fill();
  rig.host.let_end();
  rig.ftl.power_cycle();
  rig.program_one();
  for (std::uint64_t unit = 0; unit < 300; ++unit) rig.host.read(unit * k_unit, k_unit);
  rig.host.wait_below(1);
  CHECK(rig.counters().served == 0);
  CHECK(rig.counters().without_stripe > 0);
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("parity goes on from a snapshot as if nothing had been") {
  std::uint64_t served = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto work = [seed](ParityRig& rig, const char* stream) {
      rig.host.random = RandomStream(seed, stream);
      rig.churn(2500);
    };
    ParityRig straight({.rotate = true});
    straight.fill();
    work(straight, "before");
    ParityRig restored({.rotate = true});
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
    served += restored.counters().served;
  }
  CHECK(served > 50);
}

TEST_CASE("parity that cannot be says so in one line") {
  CHECK_THROWS_WITH(
      ParityRig({.stripe = 3}),
      Catch::Contains("firmware.parity.stripe: the 4 dies of the drive cannot be parted into stripes of 3") &&
          Catch::Contains("nearest valid: 4"));
  CHECK_THROWS_WITH(ParityRig({.channels = 1}), Catch::Contains("firmware.parity.policy") &&
                                                    Catch::Contains("one die") &&
                                                    Catch::Contains("nearest valid: none"));
  CHECK_THROWS_WITH(ParityRig({.blocks = 7}), Catch::Contains("ssd.flash.over_provisioning: ") &&
                                                  Catch::Contains("B for parity, one part in") &&
                                                  Catch::Contains("nearest valid: 250.00 %"));
  ParityRig rig;
  const auto refused = [&](const char* key) {
    CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config), Catch::Contains(key));
  };
  choose(rig.config, "firmware.replicas", "hot-reads", {{"capacity", whole(1 << 18)}});
  if (has_feature("firmware.replicas")) refused("firmware.replicas.policy is not none");
  choose(rig.config, "firmware.replicas", "none");
  choose(rig.config, "firmware.partition", "read-write");
  if (has_feature("firmware.partition")) refused("firmware.partition.policy is not none");
  choose(rig.config, "firmware.partition", "none");
  rig.config.mapping.scheme = "dftl";
  refused("firmware.mapping.scheme is dftl");
  rig.config.mapping.scheme = "page";
  rig.config.allocation.stripe = "C";
  refused("firmware.allocation.stripe");
}
