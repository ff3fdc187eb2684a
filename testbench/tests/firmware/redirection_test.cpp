// Redirection: reads go to the same content on another die, which holds what was written last.
#include "firmware/features/redirection/redirection.h"

#include <algorithm>
#include <map>
#include <set>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint64_t k_units = 400;

struct RedirectionOptions {
  std::string policy = "duplicates";
  std::uint32_t contents = 20;  ///< of the host; 0: all data differ
  std::uint32_t unique = 0;     ///< ModelHost::unique
  std::string target = "least-loaded";
  std::int64_t table = 64;
  std::int64_t places = 4096;
  std::int64_t writes = 1;
  std::int64_t dies = 4;
  std::int64_t capacity = std::int64_t{64} * 4096;
  Picoseconds hash_time = 0;
  std::string ecc = "none";
  std::uint32_t channels = 4;
};

struct RedirectionRig : FeatureRig<Redirection> {
  explicit RedirectionRig(const RedirectionOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {how.channels, 1, 1, 1, 16, 8, 16384, 0};
          setup.shape.logical_blocks = k_units * k_unit;
          setup.config.ecc.policy = how.ecc;
          choose(setup.config, "firmware.redirection", how.policy,
                 {{"contents", whole(how.table)},
                  {"places", whole(how.places)},
                  {"writes", whole(how.writes)},
                  {"uses", whole(1)},
                  {"dies", whole(how.dies)},
                  {"capacity", whole(how.capacity)},
                  {"hash_time", whole(how.hash_time)},
                  {"hash_queue", whole(8)},
                  {"target", Value(how.target)}});
        }) {
    host.contents = how.contents;
    host.unique = how.unique;
  }
  void fill() { write_units(0, k_units); }
  [[nodiscard]] const ContentTable& table() const {
    return dynamic_cast<const Redirection&>(*ftl.feature(Redirection::k_path)).table();
  }
  /// Writes and reads at random, so that blocks are collected.
  void churn(int commands) { work(k_units, commands); }
  /// Writes a program unit of data that there are once, and returns the die that is busy with it.
  std::uint32_t program_one() {
    const std::uint32_t contents = std::exchange(host.contents, 0);
    const std::uint32_t die = program_units(300, 8);
    host.contents = contents;
    return die;
  }
};

}  // namespace

TEST_CASE("a read whose die programs goes to one that holds the same and has nothing to do") {
  RedirectionRig rig({.contents = 1});
  rig.fill();
  rig.host.let_end();
  const std::uint32_t busy = rig.program_one();
  std::vector<std::uint32_t> read;  // dies
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::read) read.push_back(index(op.die));
  };
  const std::uint64_t idle = rig.first_on((busy + 1) % 4);
  const auto begin_read = [&](std::uint64_t unit) {
    rig.host.read(unit * k_unit, k_unit);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + rig.options.read_time / 10);
  };
  begin_read(idle);  // where it lies
  begin_read(rig.first_on(busy));
  begin_read(rig.first_on(busy));
  rig.host.wait_below(1);
  std::sort(read.begin(), read.end());
  std::vector<std::uint32_t> others = {(busy + 1) % 4, (busy + 2) % 4, (busy + 3) % 4};
  std::sort(others.begin(), others.end());
  CHECK(read == others);
  CHECK(rig.counters().redirected == 2);
  rig.hw.flash.watch = nullptr;
  rig.host.let_end();
  rig.host.verify_all();
}

TEST_CASE("redirection tells how many reads met a busy die, a known content, and a better place") {
  RedirectionRig rig({.contents = 0});
  rig.write_units(0, 32);  // data that there are once, on each die in turn
  rig.host.contents = 1;
  rig.write_units(32, 32);
  rig.host.let_end();
  const auto read_from = [&](std::uint32_t die, std::uint64_t from, std::uint32_t units) {
    rig.read(rig.first_on(die, from), units);
  };
  const std::uint32_t busy = rig.program_one();
  read_from(busy, 0, 3);
  read_from(busy, 32, 2);            // to two other dies
  read_from((busy + 1) % 4, 32, 4);  // has nothing to do
  rig.host.let_end();
  rig.host.contents = 0;
  read_from(rig.program_units(300, 32), 32, 1);  // the other dies program as well
  const auto reported = rig.reported();
  CHECK(reported.at("redirection/busy") == 3 + 2 + 1);
  CHECK(reported.at("redirection/popular") == 2 + 1);
  CHECK(reported.at("redirection/redirected") == 2);
  CHECK(reported.at("redirection/lost") == 0);
}

TEST_CASE("data that there are once are read where they lie, however busy their dies are") {
  RedirectionRig rig({.policy = "selective", .contents = 0});
  rig.fill();
  rig.churn(4000);
  CHECK(rig.counters().busy > 500);
  CHECK(rig.counters().popular == 0);
  CHECK(rig.counters().units_copied == 0);
  CHECK(rig.table().contents() == 0);
  rig.host.verify_all();
}

TEST_CASE("only contents that are written often enough are known, with every place from then on") {
  RedirectionRig rig({.contents = 5, .unique = 5, .writes = 3});
  rig.fill();
  std::map<Stamp, std::uint32_t> written;  // by content
  for (std::uint64_t unit = 0; unit < k_units; ++unit) {
    const Stamp* const stamps = &rig.host.reference[unit * k_unit];
    if (shared_content(stamps, k_unit) != 0) ++written[stamps[0]];
  }
  REQUIRE(written.size() == 5);
  CHECK(rig.table().contents() == 5);
  std::uint32_t places = 0;
  for (const auto& [content, count] : written) places += count - 2;
  CHECK(rig.table().places() == places);
}

TEST_CASE("reads go around busy dies while blocks are collected, and hold what was written last") {
  const auto policy = GENERATE("duplicates", "selective");
  const auto target = GENERATE("least-loaded", "random");
  RedirectionRig rig({.policy = policy, .contents = 40, .unique = 20, .target = target});
  rig.fill();
  rig.churn(20000);
  const Redirection::Counters& c = rig.counters();
  INFO("busy " << c.busy << ", popular " << c.popular << ", redirected " << c.redirected);
  CHECK(rig.stats().gc_victims > 20);
  CHECK(c.redirected > 500);
  CHECK(c.redirected <= c.popular);
  CHECK(c.popular <= c.busy);
  rig.host.verify_all();
}

TEST_CASE("every place in the table holds its content, whatever has become of what was written there") {
  RedirectionRig rig({.contents = 40, .unique = 20});
  std::map<std::uint32_t, Stamp> first;  // stamp of the first block, by physical unit
  const Layout& layout = rig.ftl.blocks().layout();
  rig.hw.flash.watch = [&](const FlashOp& op) {
    const std::uint32_t pu = layout.pu_at(op.die, 0);
    const std::uint32_t block = pu * layout.blocks + index(op.block);
    for (std::uint32_t n = 0; n < layout.block_units && op.command == FlashCommand::erase; ++n)
      first.erase(block * layout.block_units + n);
    for (std::uint32_t n = 0; op.command == FlashCommand::program && n < op.slots; ++n)
      first[block * layout.block_units + index(op.page) * layout.units_per_page + n] =
          op.stamps[std::size_t{n} * layout.sectors];
  };
  rig.fill();
  rig.churn(5000);
  const ContentTable& table = rig.table();
  std::uint32_t known = 0;
  for (std::uint32_t unit = 0; unit < layout.total_units(); ++unit) {
    const ContentTable::Index place = table.at(Ppn(unit));
    if (place == ContentTable::k_none) continue;
    ++known;
    REQUIRE(first.contains(unit));
    CHECK(first.at(unit) == table.number_of(table.place(place).content));
    CHECK(table.place(place).die == index(layout.die_of(layout.pu_of(layout.block_of(Ppn(unit))), 0)));
  }
  CHECK(known == table.places());
  CHECK(known > 200);
  rig.hw.flash.watch = nullptr;
}

TEST_CASE("a content that lies on few dies gets replicas on others when it is read, and no more") {
  const auto dies = GENERATE(2U, 3U);
  RedirectionRig rig({.policy = "selective", .contents = 200, .dies = dies});
  rig.write_units(0, 100);
  REQUIRE(rig.counters().units_copied == 0);
  rig.read_each(100, 6);
  rig.host.let_end();
  CHECK(rig.counters().units_copied >= 32);
  std::set<std::uint32_t> seen;
  for (std::uint64_t unit = 0; unit < 100; ++unit) {
    const ContentTable::Index content = rig.table().find(rig.host.reference[unit * k_unit]);
    if (content == ContentTable::k_none || !seen.insert(content).second) continue;
    std::set<std::uint32_t> originals;
    for (std::uint64_t other = 0; other < 100; ++other) {
      if (rig.host.reference[other * k_unit] == rig.host.reference[unit * k_unit])
        originals.insert(rig.die_of(other));
    }
    CHECK(rig.table().dies_of(content) <= std::max<std::size_t>(dies, originals.size()));
  }
  rig.churn(4000);
  CHECK(rig.counters().redirected > 40);
  rig.host.verify_all();
}

TEST_CASE("of the contents that a read brings, what two program units hold is copied, and the rest refused") {
  RedirectionRig rig({.policy = "selective", .contents = 4000});
  rig.write_units(0, 40);
  std::set<Stamp> contents;
  for (std::uint64_t unit = 0; unit < 40; ++unit) contents.insert(rig.host.reference[unit * k_unit]);
  REQUIRE(contents.size() == 40);
  rig.read(0, 40);
  rig.host.let_end();
  CHECK(rig.reported().at("redirection/units copied") == 2 * 8);
  CHECK(rig.reported().at("redirection/refused") == 40 - 2 * 8);
}

TEST_CASE("a copy that cannot be decoded is no loss: the original is read, and the place forgotten") {
  RedirectionRig rig({.contents = 5, .ecc = "fixed"});
  rig.fill();
  std::uint64_t failed = 0;
  std::set<Lpn> wanted;
  rig.hw.flash.fails = [&](const FlashOp& op) {
    const bool fails = op.command == FlashCommand::read && op.slots == 1 && op.purpose == Purpose::host &&
                       !wanted.contains(op.spare[0]);
    failed += fails ? 1 : 0;
    return fails;
  };
  for (int n = 0; n < 2000; ++n) {
    const std::uint64_t unit = rig.host.random.below(k_units);
    wanted = {static_cast<Lpn>(unit)};
    rig.host.write(rig.host.random.below(k_units) * k_unit, k_unit);
    rig.host.read(unit * k_unit, k_unit);
    rig.host.wait_below(1);
  }
  CHECK(rig.host.media_errors == 0);
  CHECK(failed > 20);
  CHECK(rig.counters().lost > 20);
  rig.hw.flash.fails = nullptr;
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("copies that cannot be decoded are counted by units") {
  RedirectionRig rig({.contents = 1, .ecc = "fixed"});
  rig.fill();
  rig.host.let_end();
  rig.read_where_others_fail(rig.program_one(), 3);
  CHECK(rig.reported().at("redirection/redirected") == 3);
  CHECK(rig.reported().at("redirection/lost") == 3);
}

TEST_CASE("a table for one content forgets it whenever another is written") {
  RedirectionRig rig({.contents = 3, .table = 1});
  for (std::uint64_t unit = 0; unit < k_units; unit += 8) rig.write_units(unit, 8);  // one program at a time
  double changes = 0;
  for (std::uint64_t unit = 1; unit < k_units; ++unit)
    changes += rig.host.reference[unit * k_unit] != rig.host.reference[(unit - 1) * k_unit] ? 1 : 0;
  CHECK(rig.reported().at("redirection/contents") == 1);
  CHECK(rig.reported().at("redirection/forgotten") == changes);
}

TEST_CASE("replicas that were programmed are there until they make room for others") {
  RedirectionRig rig({.policy = "selective", .contents = 200, .capacity = std::int64_t{32} * 4096});
  rig.write_units(0, 100);
  rig.read_each(100, 6);
  rig.host.drain();
  const auto reported = rig.reported();
  CHECK(reported.at("redirection/capacity") == 32 * 4096);
  CHECK(reported.at("redirection/displaced") > 32);
  CHECK(reported.at("redirection/units copied") ==
        reported.at("redirection/displaced") + reported.at("redirection/size") / 4096);
}

TEST_CASE("a table without room forgets what was used longest ago") {
  const auto places = GENERATE(4096, 32);
  RedirectionRig rig(
      {.policy = "selective", .contents = 60, .table = places == 32 ? 64 : 8, .places = places});
  rig.fill();
  rig.churn(8000);
  CHECK(rig.table().contents() <= 64);
  CHECK(rig.table().places() <= static_cast<std::uint32_t>(places));
  CHECK(rig.counters().forgotten > 50);
  CHECK(rig.counters().redirected > 0);
  rig.host.verify_all();
}

TEST_CASE("the hash engine looks at as many pages as it has time for, and those that wait") {
  HashEngine engine(1000, 4);
  int taken = 0;
  for (int n = 0; n < 100; ++n) taken += engine.take(0) ? 1 : 0;
  CHECK(taken == 5);  // one at work, four that wait
  for (int n = 0; n < 1000; ++n) taken += engine.take(n * 100) ? 1 : 0;
  CHECK(taken >= 100 + 4);
  CHECK(taken <= 100 + 6);
  RedirectionRig rig({.contents = 5, .hash_time = 1'000'000'000'000});
  rig.fill();
  CHECK(rig.counters().not_hashed == k_units - 9);  // one at work, eight that wait
  CHECK(rig.table().places() == 9);
}

TEST_CASE("contents are forgotten when power fails, and replicas given up") {
  RedirectionRig rig({.policy = "selective", .contents = 200});
  rig.write_units(0, 100);
  rig.read_each(100, 6);
  rig.host.let_end();
  REQUIRE(rig.counters().units_copied > 16);
  rig.host.drain();
  rig.ftl.power_cycle();
  CHECK(rig.table().places() == 0);
  const auto before = rig.counters().redirected;
  rig.program_one();
  for (std::uint64_t unit = 0; unit < 300; ++unit) rig.host.read(unit * k_unit, k_unit);
  rig.host.wait_below(1);
  CHECK(rig.counters().redirected == before);
  rig.host.drain();
  rig.churn(2000);
  rig.host.verify_all();
}

TEST_CASE("redirection goes on from a snapshot as if nothing had been") {
  const auto policy = GENERATE("duplicates", "selective");
  // An engine that does not keep up has pages waiting for it when the snapshot is taken.
  const auto hash_time = GENERATE(Picoseconds{0}, Picoseconds{1'000'000'000});
  std::uint64_t redirected = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const RedirectionOptions how{
        .policy = policy, .contents = 60, .table = 32, .places = 200, .hash_time = hash_time};
    const auto work = [seed](RedirectionRig& rig, const char* stream) {
      rig.host.random = RandomStream(seed, stream);
      rig.churn(2500);
    };
    RedirectionRig straight(how);
    straight.fill();
    work(straight, "before");
    RedirectionRig restored(how);
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
    redirected += restored.counters().redirected;
  }
  CHECK(redirected > (hash_time == 0 ? 50 : 5));
}

TEST_CASE("redirection that cannot be says so in one line") {
  CHECK_THROWS_WITH(RedirectionRig({.channels = 1}), Catch::Contains("firmware.redirection.policy") &&
                                                         Catch::Contains("one die") &&
                                                         Catch::Contains("nearest valid: none"));
  CHECK_THROWS_WITH(RedirectionRig({.policy = "selective", .capacity = 70000}),
                    Catch::Contains("firmware.redirection.capacity: 70000 B are no whole mapping pages") &&
                        Catch::Contains("nearest valid: 73728 B"));
  CHECK_THROWS_WITH(RedirectionRig({.policy = "selective", .capacity = std::int64_t{1} << 30U}),
                    Catch::Contains("firmware.redirection.capacity: ") && Catch::Contains("do not fit"));
  RedirectionRig rig;
  const auto refused = [&](const char* key) {
    CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config), Catch::Contains(key));
  };
  choose(rig.config, "firmware.replicas", "hot-reads", {{"capacity", whole(1 << 18)}});
  if (has_feature("firmware.replicas")) refused("firmware.replicas.policy is not none");
  choose(rig.config, "firmware.replicas", "none");
  rig.config.mapping.scheme = "dftl";
  refused("firmware.mapping.scheme is dftl");
  rig.config.mapping.scheme = "page";
  rig.config.allocation.stripe = "C";
  refused("firmware.allocation.stripe");
}
