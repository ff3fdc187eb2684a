// What a die asks its timing model, and what it does with the answer: suspend points, operations
// that go on, energy.
#include <catch2/catch.hpp>
#include <cmath>

#include "testbench/tests/flash/flash_fixture.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

Options suspending() {
  Options o;
  o.part.cell = "tlc";
  o.part.planes = 2;
  o.part.blocks_per_plane = 8;
  o.part.pages_per_block = 24;
  o.part.page_size = 16_KiB;
  o.part.read_latency = {50_us};
  o.part.program_latency = {500_us};
  o.config.channels = 1;
  o.config.ways = 1;
  o.scheduling = "read-first";
  o.config.suspend = "program";
  return o;
}

/// A page of block 0 that may be read, and a program of block 1 that has been given to the die.
struct Programming {
  explicit Programming(const Options& o) : b(o) {
    execute(old);
    submit(program);
  }
  Operation read() { return make(b, FlashCommand::read, 0, 0, 0); }

  Bench b;
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  Operation old = make(b, FlashCommand::program, 0, 0, 0);
  Operation program = make(b, FlashCommand::program, 0, 1, 0);
  Picoseconds start = bus.data_in(1).total();  ///< of the program in the array
  Picoseconds reading = bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
  /// From the suspend until the program goes on.
  Picoseconds away = part.program_suspend_latency + reading + bus.control() + part.resume_overhead;
};

/// A program that is suspended 200 us after its start for a read of another block; the program's
/// latency less all that is not the array's time, and the read's wait for the die.
struct Suspension {
  Picoseconds program;
  Picoseconds wait;
};
Suspension suspend(const Options& o) {
  Programming p(o);
  Operation read = p.read();
  p.b.event_queue.run_until(p.start + 200_us);
  submit(read);
  p.b.run();
  CHECK(p.program.ledger.total() == p.program.latency());
  CHECK(read.ledger.total() == read.latency());
  CHECK(p.program.op.suspended_for_host);
  const Picoseconds wait = read.latency() - p.reading - p.part.program_suspend_latency;
  return {p.program.latency() - p.start - p.away - p.bus.status(), wait};
}

void check_refused(const ArrayAnswer& answer, const std::string& said) {
  Options o = suspending();
  o.timing = [answer](const NandPart&, const ArrayOperation&) { return answer; };
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 3, 0);
  const auto run = [&] {
    submit(program);
    b.run();
  };
  CHECK_THROWS_WITH(run(), Catch::Contains("ssd.flash.part.timing: table answers " + said +
                                           " to program of die 0 plane 0 block 3 page 0"));
}

}  // namespace

TEST_CASE("an operation without suspend points stops at once") {
  const Options o = suspending();
  const Suspension at_once = suspend(o);
  const BusTiming bus(o.part, o.config.bus_rate(), 4096);
  CHECK(at_once.wait == bus.control());
  CHECK(at_once.program == 500_us);
}

TEST_CASE("an operation with suspend points stops at the next of them") {
  Options o = suspending();
  o.timing = [](const NandPart& part, const ArrayOperation& op) {
    ArrayAnswer answer{.duration = data_sheet_latency(part, op)};
    if (op.command == ArrayCommand::program) answer.suspend_points = {150_us, 350_us};
    return answer;
  };
  const Suspension later = suspend(o);
  CHECK(later.wait == 150_us);
  CHECK(later.program == 500_us);
}

TEST_CASE("a program that finishes its pulse stops at the end of it, and the read waits") {
  Options o = suspending();
  o.part.suspend_point = "next";
  o.part.program_pulse = 120_us;
  const Suspension later = suspend(o);
  CHECK(later.wait == 240_us - 200_us);
  CHECK(later.program == 500_us);
}

TEST_CASE("a program that repeats its pulse stops at once and takes so much longer") {
  Options o = suspending();
  o.part.suspend_point = "last";
  o.part.program_pulse = 120_us;
  const BusTiming bus(o.part, o.config.bus_rate(), 4096);
  const Suspension at_once = suspend(o);
  CHECK(at_once.wait == bus.control());
  CHECK(at_once.program == 500_us + 200_us + bus.control() - 120_us);
}

TEST_CASE("without a length of its pulses a program is one pulse: it begins anew") {
  Options o = suspending();
  o.part.suspend_point = "last";
  const BusTiming bus(o.part, o.config.bus_rate(), 4096);
  CHECK(suspend(o).program == 500_us + 200_us + bus.control());
}

TEST_CASE("a program that finishes its pulse and is one pulse ends before the read") {
  Options o = suspending();
  o.part.suspend_point = "next";
  Programming p(o);
  Operation read = p.read();
  p.b.event_queue.run_until(p.start + 200_us);
  submit(read);
  p.b.run();
  CHECK_FALSE(p.program.op.suspended_for_host);
  CHECK(p.program.latency() == p.start + 500_us + p.bus.status());
  CHECK(read.latency() == 300_us + p.bus.status() + p.reading);
}

TEST_CASE("an erase has no pulses: it stops where it is") {
  Options o = suspending();
  o.part.suspend_point = "last";
  o.config.suspend = "erase";
  Bench b(o);
  Operation old = make(b, FlashCommand::program, 0, 0, 0);
  execute(old);
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(erase);
  b.event_queue.run_until(300_us);
  submit(read);
  b.run();
  CHECK(erase.op.suspended_for_host);
  CHECK(erase.ledger.spent(Cause::erase) == b.array.part().erase_latency);
}

TEST_CASE("what is left of an operation that goes on takes as much longer as the model says") {
  Options o = suspending();
  o.timing = [](const NandPart& part, const ArrayOperation& op) {
    ArrayAnswer answer{.duration = data_sheet_latency(part, op)};
    if (op.resumed) answer.duration += answer.duration / 5;
    return answer;
  };
  const BusTiming bus(o.part, o.config.bus_rate(), 4096);
  const Suspension stretched = suspend(o);
  const Picoseconds done = 200_us + bus.control();
  CHECK(stretched.program == done + (500_us - done) * 6 / 5);
}

TEST_CASE("a model is told what the drive knows, and its energies are added up") {
  Options o = suspending();
  o.part.layers = 4;
  o.retention.temperature = 55;
  o.retention.reference_temperature = 55;
  std::vector<ArrayOperation> asked;
  o.timing = [&](const NandPart& part, const ArrayOperation& op) {
    asked.push_back(op);
    return ArrayAnswer{.duration = data_sheet_latency(part, op), .energy = 2e-6};
  };
  Bench b(o);
  b.array.age(1000, 30 * 86'400.0, 55);
  Operation program = make(b, FlashCommand::program, 0, 3, 0);
  submit(program);
  b.run();
  b.array.age(0, 90 * 86'400.0, 55);
  Operation read = make(b, FlashCommand::read, 0, 3, 0);
  read.op.retry_level = 5;
  submit(read);
  b.run();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].command == ArrayCommand::program);
  CHECK(asked[0].cycles == 1000);
  CHECK(asked[0].age_days == 0);
  const ArrayOperation& sense = asked[1];
  CHECK(sense.command == ArrayCommand::sense);
  CHECK(sense.block == BlockId{3});
  CHECK(sense.reads == 1);
  CHECK(sense.retry_level == 5);
  CHECK(sense.temperature == 55);
  CHECK(sense.age_days == Approx(90).epsilon(1e-6));
  const NandVariation variation(k_flash_seed);
  CHECK(sense.die_deviate == variation.die(DieId{0}));
  CHECK(sense.block_deviate == variation.block(DieId{0}, PlaneId{0}, BlockId{3}));
  CHECK(sense.layer_deviate == variation.layer(0));
}

TEST_CASE("the energy of a die is that of all planes and passes, since statistics began") {
  Options o = suspending();
  o.part.cell = "tlc";
  o.part.planes = 2;
  o.part.pages_per_block = 12;
  o.part.program_unit = "word-line";
  o.part.program_passes = 2;
  o.timing = [](const NandPart& part, const ArrayOperation& op) {
    ArrayAnswer answer{.duration = data_sheet_latency(part, op)};
    answer.duration += static_cast<Picoseconds>(op.cycles) * 1_us;  // the more worn plane is the slower one
    answer.energy = op.command == ArrayCommand::erase     ? 4e-6
                    : op.command == ArrayCommand::program ? 2e-6 + 1e-7 * op.cycles
                                                          : 1e-6;
    return answer;
  };
  Bench b(o);
  const auto told = [&b] { return statistics_of(b.array.die(DieId{0})); };
  CHECK(told().count("array_energy") == 0);
  const auto run = [&b](Operation one) {
    submit(one);
    b.run();
  };
  Operation worn = make(b, FlashCommand::erase, 0, 1, 0);
  worn.op.plane = PlaneId{1};
  run(worn);
  CHECK(told().at("array_energy") == Approx(4e-6));
  b.array.reset_statistics();
  CHECK(told().count("array_energy") == 0);
  run(make(b, FlashCommand::program, 0, 1, 0, 2, 3));
  CHECK(told().at("array_energy") == Approx(2 * 2e-6 + 1e-7));
  run(make(b, FlashCommand::read, 0, 1, 0, 2));
  CHECK(told().at("array_energy") == Approx(2 * 2e-6 + 1e-7 + 2 * 1e-6));
}

TEST_CASE("the suspend that a part allows last is the last, and a reset forgets it") {
  Options o = suspending();
  o.part.max_suspends = 1;
  Programming p(o);
  Operation first = p.read();
  Operation second = p.read();
  p.b.event_queue.run_until(200_us);
  submit(first);
  p.b.event_queue.run_until(400_us);
  submit(second);
  p.b.run();
  CHECK(first.done < p.program.done);
  CHECK(second.done > p.program.done);
  CHECK(statistics_of(p.b.array.die(DieId{0})).at("suspends") == 1);
  p.b.array.reset_statistics();
  CHECK(statistics_of(p.b.array.die(DieId{0})).at("suspends") == 0);
}

TEST_CASE("what is left is stretched once, however often it is suspended, and suspend points move with it") {
  Options o = suspending();
  o.timing = [](const NandPart& part, const ArrayOperation& op) {
    ArrayAnswer answer{.duration = data_sheet_latency(part, op)};
    if (op.command == ArrayCommand::program) answer.suspend_points = {250_us, 350_us};
    if (op.resumed) answer.duration *= 2;
    return answer;
  };
  Programming p(o);
  Operation first = p.read();
  Operation second = p.read();
  p.b.event_queue.run_until(p.start + 200_us);
  submit(first);
  // A suspend that is accepted at a point stops there: 100 us lie between the two, which take 200
  // us now.
  p.b.event_queue.run_until(p.start + 250_us + p.away + 200_us - p.bus.control());
  submit(second);
  p.b.run();
  const Picoseconds suspending_and_reading = p.part.program_suspend_latency + p.reading;
  CHECK(first.latency() == 50_us + suspending_and_reading);
  CHECK(second.latency() == p.bus.control() + suspending_and_reading);
  CHECK(p.program.ledger.spent(Cause::program) == 250_us + 2 * 250_us);
}

TEST_CASE("models of timing and of reliability are told of the same dies, blocks and layers") {
  Options o = suspending();
  o.part.layers = 4;
  o.part.planes = 2;
  std::vector<ArrayOperation> timed;
  std::vector<ArrayOperation> stressed;
  o.timing = [&](const NandPart& part, const ArrayOperation& op) {
    timed.push_back(op);
    return ArrayAnswer{.duration = data_sheet_latency(part, op)};
  };
  o.rber = [&](const ArrayOperation& op) {
    stressed.push_back(op);
    return 0;
  };
  o.config.ways = 2;
  Bench b(o);
  for (const std::uint32_t die : {0U, 1U}) {
    for (const std::uint32_t block : {3U, 5U}) {
      for (std::uint32_t page = 0; page < o.part.pages_per_block; ++page) {
        Operation program = make(b, FlashCommand::program, die, block, page, 2);
        submit(program);
        b.run();
        timed.clear();
        stressed.clear();
        Operation read = make(b, FlashCommand::read, die, block, page, 2);
        read.op.code = EccCode::bch;
        submit(read);
        b.run();
        REQUIRE(timed.size() == 2);
        REQUIRE(stressed.size() == 2);
        for (std::size_t plane : {0U, 1U}) {
          CHECK(stressed[plane].plane == timed[plane].plane);
          CHECK(stressed[plane].layer == timed[plane].layer);
          CHECK(stressed[plane].die_deviate == timed[plane].die_deviate);
          CHECK(stressed[plane].block_deviate == timed[plane].block_deviate);
          CHECK(stressed[plane].layer_deviate == timed[plane].layer_deviate);
          CHECK(stressed[plane].die_deviate == NandVariation(k_flash_seed).die(DieId{die}));
        }
      }
    }
  }
}

TEST_CASE("a duration that is none ends the run with the operation it is of") {
  check_refused({.duration = 0}, "0 ps");
}

TEST_CASE("so does one that nothing takes") {
  check_refused({.duration = 4'000'000 * 1_s}, "4000000000000000000 ps, which is more than 1000 s,");
}

TEST_CASE("so does an energy that is no number") {
  check_refused({.duration = 1_us, .energy = std::nan("")}, "an energy of nan J");
}

TEST_CASE("so does a negative energy") {
  check_refused({.duration = 1_us, .energy = -1}, "an energy of -1 J");
}

TEST_CASE("so does a suspend point before the operation") {
  check_refused({.duration = 1_us, .suspend_points = {-5, 400}},
                "a suspend point at -5 ps, after 0 ps, of 1000000 ps");
}

TEST_CASE("so does a suspend point at its end") {
  check_refused({.duration = 1_us, .suspend_points = {400, 1_us}},
                "a suspend point at 1000000 ps, after 400 ps, of 1000000 ps");
}

TEST_CASE("so do suspend points that do not ascend") {
  check_refused({.duration = 1_us, .suspend_points = {400, 300}},
                "a suspend point at 300 ps, after 400 ps, of 1000000 ps");
}
