// Controller cores: which core runs what and when, to the picosecond; their flash and memory
// sockets.
#include <catch2/catch.hpp>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/base/stalled.h"
#include "testbench/tests/host/host_rig.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd {
namespace {

using namespace literals;

CpuConfig cores(std::uint32_t count) {
  CpuConfig config;
  config.cores = count;
  config.clock = 500_MHz;  // 2 ns per cycle
  return config;
}

TEST_CASE("a stage takes its cycles and waits for the earliest free core") {
  CoreSet two(cores(2));
  CHECK(two.run(0, Stage::command, 1).end == 300_ns);
  CHECK(two.run(0, Stage::command, 1).end == 300_ns);  // the other core
  const CoreSet::Run third = two.run(0, Stage::translate, 1);
  CHECK(third.start == 300_ns);
  CHECK(third.end == 400_ns);
  CHECK(two.run(0, Stage::gc, 3).end == 300_ns + 360_ns);
  CHECK(two.run(1_us, Stage::buffer, 1).start == 1_us);
  CHECK(two.busy(0) + two.busy(1) == 300_ns + 300_ns + 100_ns + 360_ns + 80_ns);
}

TEST_CASE("what cores are booked for is saved, and where there are fewer, as many take it up") {
  CoreSet two(cores(2));
  CHECK(two.run(0, Stage::command, 1).end == 300_ns);
  CHECK(two.run(0, Stage::translate, 1).end == 100_ns);
  MemoryArchive archive;
  two.archive(archive);
  for (const std::uint32_t count : {1U, 2U, 3U}) {
    CoreSet other(cores(count));
    MemoryArchive saved(archive.content());
    other.archive(saved);
    CHECK(saved.at_end());
    const Picoseconds free[] = {300_ns, 100_ns, 0};
    CHECK(other.run(0, Stage::command, 1).start == free[count - 1]);
  }
}

TEST_CASE("a saturated core serves in order without gaps") {
  CoreSet one(cores(1));
  Picoseconds end = 0;
  for (int i = 0; i < 1000; ++i) {
    const CoreSet::Run run = one.run(i * 100_ns, Stage::command, 1);
    CHECK(run.start == end);
    end = run.end;
    CHECK(end == (i + 1) * 300_ns);
  }
}

TEST_CASE("an odd clock rounds up once per run") {
  CpuConfig config = cores(1);
  config.clock = 333'333'333;
  CoreSet set(config);
  CHECK(set.run(0, Stage::translate, 1).end == cycle_time(50, config.clock));
  CHECK(CoreSet(config).run(0, Stage::translate, 7).end == cycle_time(350, config.clock));
}

TEST_CASE("of the stages that wait for a core a window has what is run in it") {
  CoreSet one(cores(1));
  const auto utilisation = [&one](Picoseconds now) {
    return test::statistics_of(one, now).at("core 0/utilisation");
  };
  one.run(1_us, Stage::command, 10);  // 3 us
  CHECK(utilisation(2_us) == 0.5);
  one.reset_statistics(2_us);
  CHECK(utilisation(3_us) == 1);
  CHECK(utilisation(10_us) == 0.25);
}

TEST_CASE("cores and stages report what they did and waited since statistics began") {
  CoreSet one(cores(1));
  one.run(0, Stage::command, 1);         // until 300 ns
  one.run(0, Stage::translate, 3);       // until 600 ns
  one.run(100_ns, Stage::translate, 1);  // until 700 ns
  auto told = test::statistics_of(one, Picoseconds{1_us});
  CHECK(told["core 0/stages"] == 3);
  CHECK(told["core 0/utilisation"] == Approx(0.7));
  CHECK(told["stage command/executions"] == 1);
  CHECK(told["stage command/longest wait"] == 0);
  CHECK(told["stage translate/executions"] == 4);
  CHECK(told["stage translate/busy"] == Approx(400e-9));
  CHECK(told["stage translate/mean wait"] == Approx((300e-9 + 500e-9) / 4));
  CHECK(told["stage translate/longest wait"] == Approx(500e-9));
  one.reset_statistics(1_us);
  one.run(1_us, Stage::translate, 2);
  told = test::statistics_of(one, Picoseconds{2_us});
  CHECK(told["core 0/stages"] == 1);
  CHECK(told["core 0/utilisation"] == Approx(0.2));
  CHECK(told["stage command/executions"] == 0);
  CHECK(told["stage translate/executions"] == 2);
  CHECK(told["stage translate/busy"] == Approx(200e-9));
  CHECK(told["stage translate/mean wait"] == 0);
  CHECK(told["stage translate/longest wait"] == 0);
}

TEST_CASE("stages keep to the cores they are assigned to") {
  CpuConfig config = cores(3);
  config.assignment.command = {0};
  config.assignment.gc = {2, 1};
  config.cycles.complete = 0;
  CoreSet set(config);
  CHECK(set.run(0, Stage::command, 1).start == 0);
  CHECK(set.run(0, Stage::command, 1).start == 300_ns);  // cores 1 and 2 are idle, but not for this
  CHECK(set.run(0, Stage::gc, 1).start == 0);
  CHECK(set.run(0, Stage::gc, 1).start == 0);
  CHECK(set.run(0, Stage::gc, 1).start == 120_ns);
  CHECK(set.busy(0) == 600_ns);
  CHECK(set.busy(1) == 240_ns);
  CHECK(set.busy(2) == 120_ns);
  const CoreSet::Run free = set.run(5, Stage::complete, 10);  // no cycles: no core, no waiting
  CHECK(free.start == 5);
  CHECK(free.end == 5);
  config.assignment.buffer = {3};
  CHECK_THROWS_WITH(CoreSet(config), Catch::Contains("ssd.cpu.assignment.buffer: there is no core 3"));
}

TEST_CASE("one core goes straight on from a stage to the next") {
  CpuConfig config = cores(2);
  config.assignment.gc = {1};
  CoreSet two(config);
  CHECK(two.same_cores(Stage::command, Stage::translate));
  CHECK_FALSE(two.same_cores(Stage::command, Stage::gc));
  const CoreSet::Run first = two.run(0, Stage::command, Stage::translate, 3);
  CHECK(first.start == 0);
  CHECK(first.end == 300_ns + 300_ns);
  CHECK(two.busy(0) == 600_ns);
  CHECK(two.busy(1) == 0);
  two.run(0, Stage::command, 1);
  // Both are busy, the second core for a shorter time.
  const CoreSet::Run later = two.run(100_ns, Stage::command, Stage::translate, 1);
  CHECK(later.start == 300_ns);
  CHECK(later.end == 700_ns);
  CHECK(two.busy(1) == 700_ns);
}

TEST_CASE("two stages in a row, the first of which costs nothing, wait once") {
  CpuConfig config = cores(1);
  config.cycles.command = 0;
  CoreSet one(config);
  one.run(0, Stage::gc, 1);
  const CoreSet::Run run = one.run(0, Stage::command, Stage::translate, 1);
  CHECK(run.start == 240_ns - 120_ns);
  CHECK(run.end == 220_ns);
}

TEST_CASE("flash operations come back whichever legal way the controller answers") {
  HostRig rig("rig");
  static HostRig* r = nullptr;
  r = &rig;
  static FlashTransaction ops[40];
  static Stamp stamps[4];
  static Picoseconds done[40];
  rig.event_queue.at(
      0,
      [](void*) {
        for (FlashTransaction& op : ops) {
          op.stamps = stamps;
          op.slots = 4;
          const auto number = static_cast<std::size_t>(&op - ops);
          op.command = number % 3 == 0   ? FlashCommand::read
                       : number % 3 == 1 ? FlashCommand::program
                                         : FlashCommand::erase;
          op.on_done = [](void* self) {
            done[static_cast<FlashTransaction*>(self) - ops] = r->event_queue.now();
          };
          op.on_done_self = &op;
          r->cpu.submit(op);
        }
      },
      nullptr);
  sc_core::sc_start();
  rig.finish();
  CHECK(rig.flash.operations == 40);
  CHECK(rig.cpu.flash_operations() == 0);
  CHECK(done[0] == 1'000);
  CHECK(done[1] == 40'000);
  CHECK(done[2] == 35'000);
  CHECK(done[3] == 15'000);  // held back by the request before it
  for (const Picoseconds each : done) CHECK(each > 0);
  FlashTransaction op;
  rig.cpu.set_mode(ControllerCpu::Mode::untimed);
  rig.cpu.execute(op);
  CHECK(rig.flash.operations == 41);
}

TEST_CASE("a flash operation that is still under way is not sent a second time") {
  HostRig rig("rig");
  static HostRig* r = nullptr;
  r = &rig;
  static FlashTransaction first;  // the scripted flash is done with it at once
  static FlashTransaction op;
  static bool done = false;
  first.on_done = [](void*) {};
  op.on_done = [](void*) { done = true; };
  rig.event_queue.at(
      0,
      [](void*) {
        r->cpu.submit(first);
        r->cpu.submit(op);
        CHECK_THROWS_WITH(r->cpu.submit(op), Catch::Contains("still under way"));
      },
      nullptr);
  sc_core::sc_start();
  rig.finish();
  CHECK(done);
  CHECK(rig.cpu.flash_operations() == 0);
  CHECK(rig.flash.operations == 2);
}

TEST_CASE("memory accesses of the cores end when the bus and DRAM say so") {
  HostRig rig("rig");
  static HostRig* r = nullptr;
  r = &rig;
  static Picoseconds dram_end = 0;
  static Picoseconds late_end = 0;
  rig.event_queue.at(
      1_us,
      [](void*) {
        dram_end = r->cpu.access(4096, 64, false, nullptr, nullptr);
        const Picoseconds late = r->cpu.access(
            k_late_base, 64, true, [](void*) { late_end = r->event_queue.now(); }, nullptr);
        CHECK(late == k_never);
      },
      nullptr);
  sc_core::sc_start();
  rig.finish();
  CHECK(dram_end == 1_us + 10_ns + 20_ns + 50_ns);
  CHECK(late_end == 1_us + 5_ns + 10_ns + 320_ns);
  rig.cpu.set_mode(ControllerCpu::Mode::untimed);
  CHECK(rig.cpu.access(4096, 64, false, nullptr, nullptr) == rig.event_queue.now());
  CHECK(rig.cpu.run(Stage::command, 5).end == rig.event_queue.now());
}

TEST_CASE("a command that firmware completes within the call is answered after it") {
  HostRig rig("rig");
  static ControllerCpu* cpu = nullptr;
  cpu = &rig.cpu;
  rig.cpu.set_handler([](void*, HostCommand& command) { cpu->complete(command); }, nullptr);
  for (std::uint64_t n = 0; n < 3; ++n) rig.driver.submit_at(0, rig.driver.make(HostOpcode::flush, 0, 0));
  sc_core::sc_start();
  rig.finish();  // the checkers say whether the answer came within the call
  CHECK(rig.driver.finished.size() == 3);
}

TEST_CASE("untimed work that does not end is ended") {
  HostRig rig("rig");
  rig.cpu.set_mode(ControllerCpu::Mode::untimed);
  rig.cpu.limit_untimed(100);
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 99; ++n) rig.cpu.run(Stage::gc);
    rig.cpu.begin_untimed();
  }
  for (int n = 0; n < 99; ++n) rig.cpu.run(Stage::command, Stage::gc, 2);
  CHECK_THROWS_AS(rig.cpu.run(Stage::gc), Stalled);
}

}  // namespace
}  // namespace tlmssd
