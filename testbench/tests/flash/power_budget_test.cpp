// Reads while many dies program or erase: slower to the picosecond, and by the same rule in the
// long run.
#include "testbench/tests/flash/flash_fixture.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr std::uint32_t k_reader = 5;  // on the second channel
constexpr double k_slow = 1.5;

Options budgeted(std::uint32_t dies) {
  Options o = tlc();
  o.config.read_power = "budgeted";
  o.config.budget_dies = dies;
  o.config.slow_read = k_slow;
  return o;
}

Picoseconds array_time(const Operation& read) {
  return read.ledger.spent(Cause::sense) + read.ledger.spent(Cause::power_budget);
}

/// How long the array of a die with nothing else to do senses a page while dies 0 up to `working`
/// have been working on `command` for a while.
Picoseconds sensed_beside(Bench& b, std::uint32_t working, FlashCommand command) {
  std::vector<Operation> work;
  work.reserve(working);
  for (std::uint32_t die = 0; die < working; ++die) {
    Operation erase = make(b, FlashCommand::erase, die, 0, 0);
    execute(erase);
    work.push_back(make(b, command, die, 0, 0));
  }
  for (Operation& one : work) submit(one);
  b.event_queue.run_until(b.event_queue.now() + 400_us);
  Operation read = make(b, FlashCommand::read, k_reader, 0, 0);
  submit(read);
  b.run();
  check_ledger(read);
  for (const Operation& one : work) check_ledger(one);
  const BusTiming& bus = b.array.bus();
  CHECK(read.latency() == bus.read_command(1) + array_time(read) + bus.data_out(0, b.units_per_page).total());
  CHECK(read.ledger.spent(Cause::sense) == 50_us);  // the rest is the power budget's
  return array_time(read);
}

}  // namespace

TEST_CASE("reads are slow exactly while as many dies as the budget has program or erase") {
  Bench b(budgeted(2));
  Operation data = make(b, FlashCommand::program, k_reader, 0, 0);
  execute(data);
  for (const FlashCommand command : {FlashCommand::program, FlashCommand::erase}) {
    CHECK(sensed_beside(b, 0, command) == 50_us);
    CHECK(sensed_beside(b, 1, command) == 50_us);
    CHECK(sensed_beside(b, 2, command) == 75_us);
    CHECK(sensed_beside(b, 3, command) == 75_us);
  }
}

TEST_CASE("dies that sense draw nothing of the budget") {
  Bench b(budgeted(1));
  std::vector<Operation> reads;
  for (std::uint32_t die = 0; die < 6; ++die) {
    Operation data = make(b, FlashCommand::program, die, 0, 0);
    execute(data);
    reads.push_back(make(b, FlashCommand::read, die, 0, 0));
  }
  for (Operation& read : reads) submit(read);
  b.run();
  for (const Operation& read : reads) CHECK(read.ledger.spent(Cause::sense) == 50_us);
}

TEST_CASE("a suspended program leaves its power to the read, and takes it again") {
  Options o = budgeted(1);
  o.scheduling = "read-first";
  o.config.suspend = "program";
  Bench b(o);
  for (const std::uint32_t die : {0U, k_reader}) {
    Operation data = make(b, FlashCommand::program, die, 0, 0);
    execute(data);
  }
  Operation program = make(b, FlashCommand::program, 0, 1, 0);
  submit(program);
  b.event_queue.run_until(b.event_queue.now() + 200_us);
  Operation same_die = make(b, FlashCommand::read, 0, 0, 0);
  submit(same_die);
  b.event_queue.run_until(b.event_queue.now() + 400_us);
  CHECK(same_die.ledger.spent(Cause::sense) == 50_us);
  REQUIRE(program.done < 0);  // resumed
  Operation other = make(b, FlashCommand::read, k_reader, 0, 0);
  submit(other);
  b.run();
  CHECK(other.ledger.spent(Cause::sense) == 50_us);
  CHECK(other.ledger.spent(Cause::power_budget) == 25_us);
  Operation after = make(b, FlashCommand::read, k_reader, 0, 0);
  run_alone(after);
  CHECK(after.ledger.spent(Cause::sense) == 50_us);
}

TEST_CASE("the share of slow reads is that of the time in which the budget is spent") {
  // Dies 0 and 1 begin `late` apart; both work from the second one's command until the first one's
  // array is done. Reads come evenly over 700 us, which that lies within.
  constexpr Picoseconds late = 200_us;
  constexpr int count = 1400;
  Bench b(budgeted(2));
  Operation data = make(b, FlashCommand::program, k_reader, 0, 0);
  execute(data);
  const Picoseconds in = b.array.bus().data_in(1).total();
  int slow = 0;
  for (int i = 0; i < count; ++i) {
    Operation first = make(b, FlashCommand::program, 0, 0, 0);
    Operation second = make(b, FlashCommand::program, 1, 0, 0);
    Operation read = make(b, FlashCommand::read, k_reader, 0, 0);
    for (const std::uint32_t die : {0U, 1U}) {
      Operation erase = make(b, FlashCommand::erase, die, 0, 0);
      execute(erase);
    }
    const Picoseconds begin = b.event_queue.now();
    submit(first);
    const Picoseconds at = begin + in + 700_us * i / count;
    if (at < begin + late) b.event_queue.run_until(at);
    if (at < begin + late) submit(read);
    b.event_queue.run_until(begin + late);
    submit(second);
    if (at >= begin + late) {
      b.event_queue.run_until(at);
      submit(read);
    }
    b.run();
    slow += read.ledger.spent(Cause::power_budget) == 25_us ? 1 : 0;
  }
  const double share = static_cast<double>(slow) / count;
  CHECK(share == Approx(static_cast<double>(in + 500_us - late) / 700_us).margin(2.0 / count));
}

TEST_CASE("a budget that no number of dies would spend is refused") {
  FlashConfig config;
  config.read_power = "budgeted";
  config.budget_dies = 9;
  CHECK_THROWS_WITH(config.check(),
                    Catch::Contains("9 is more than the 8 dies") && Catch::Contains("nearest valid: 8"));
  config.budget_dies = 8;
  CHECK_NOTHROW(config.check());
}
