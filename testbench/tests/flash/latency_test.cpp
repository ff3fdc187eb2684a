// Unloaded latency is the sum of its parts to the picosecond; scheduling; memory that is slow or
// late.
#include <tuple>

#include "testbench/tests/flash/flash_fixture.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

TEST_CASE("unloaded latency is the sum of its parts") {
  Bench b(tlc());
  const BusTiming& bus = b.array.bus();
  for (std::uint32_t planes = 1; planes <= 2; ++planes) {
    for (std::uint32_t page = 0; page < 6; ++page) {
      Operation program = make(b, FlashCommand::program, 4, planes, page, planes);
      run_alone(program);
      CHECK(program.latency() ==
            bus.data_in(planes).total() + b.array.part().program_time(PageId{page}) + bus.status());
      CHECK(program.ledger.spent(Cause::program) == b.array.part().program_time(PageId{page}));
      CHECK(program.ledger.spent(Cause::transfer) == bus.data_in(planes).data);
      CHECK(program.ledger.spent(Cause::bus_wait) == 0);
      Operation read = make(b, FlashCommand::read, 4, planes, page, planes);
      run_alone(read);
      CHECK(read.latency() == bus.read_command(planes) + b.array.part().read_time(PageId{page}) +
                                  bus.data_out(0, planes * b.units_per_page).total());
      Operation unit = make(b, FlashCommand::read, 4, planes, page, planes);
      unit.op.first_slot = 3;
      unit.op.slots = 1;
      run_alone(unit);
      CHECK(unit.latency() ==
            bus.read_command(planes) + b.array.part().read_time(PageId{page}) + bus.data_out(3, 1).total());
      Operation nothing = make(b, FlashCommand::read, 4, planes, page, planes);
      nothing.op.slots = 0;
      run_alone(nothing);
      CHECK(nothing.latency() ==
            bus.read_command(planes) + b.array.part().read_time(PageId{page}) + bus.status());
    }
    Operation erase = make(b, FlashCommand::erase, 4, planes, 0, planes);
    run_alone(erase);
    CHECK(erase.latency() == bus.erase_command(planes) + b.array.part().erase_latency + bus.status());
    CHECK(erase.ledger.spent(Cause::erase) == b.array.part().erase_latency);
  }
  CHECK(b.array.controller().outstanding() == 0);
}

TEST_CASE("a word line is loaded whole and takes the sum of its pages") {
  Options o = tlc();
  o.part.program_unit = "word-line";
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 3, 2, 3);
  Operation first = make(b, FlashCommand::program, 0, 0, 0, 2, 3);
  run_alone(first);
  run_alone(program);
  CHECK(program.latency() == b.array.bus().data_in(6).total() + 3500_us + b.array.bus().status());
}

namespace {

void program_in_passes(std::uint32_t passes) {
  Options o = tlc();
  o.part.program_unit = "word-line";
  o.scheduling = "read-first";
  o.starvation_bound = 100_ms;
  o.part.program_passes = passes;
  o.part.slc_read_latency = 25_us;
  o.part.slc_program_latency = 200_us;
  o.part.slc_erase_latency = 2_ms;
  Bench b(o);
  const BusTiming& bus = b.array.bus();
  Operation program = make(b, FlashCommand::program, 0, 0, 0, 2, 3);
  for (std::size_t i = 0; i < program.spare.size(); ++i) program.spare[i] = static_cast<Lpn>(i);
  run_alone(program);
  CHECK(program.latency() == passes * (bus.data_in(6).total() + bus.status()) + 3500_us);
  CHECK(program.ledger.spent(Cause::program) == 3500_us);
  CHECK(b.memory.bytes == passes * 6 * 16384);
  const FlashCounts counts = b.array.channel(ChannelId{0}).counts();
  const auto& counted = counts.kinds[static_cast<std::size_t>(FlashCommand::program)]
                                    [static_cast<std::size_t>(program.op.purpose)];
  CHECK(counted.operations == 1);
  CHECK(counted.pages == 6);
  CHECK(counted.bytes == passes * 6 * (16384 + 1000));
  Operation read = make(b, FlashCommand::read, 0, 0, 2, 2);
  run_alone(read);
  CHECK(read.spare[0] == 2 * 4);
  // Another die's bus, and this one's die, are free between the passes: a read of the host comes in
  // there.
  Operation next = make(b, FlashCommand::program, 0, 0, 3, 2, 3);
  submit(next);
  b.event_queue.run_until(b.event_queue.now() + 10_us);
  Operation between = make(b, FlashCommand::read, 0, 0, 1, 2);
  submit(between);
  b.run();
  check_ledger(next);
  check_ledger(between);
  CHECK(between.done < next.done);
  CHECK(between.spare[0] == 4);
  // Passes are for the native mode only, and blocking transport takes as long.
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0, 2);
  erase.op.mode = BlockMode::slc;
  run_alone(erase);
  Operation slc = make(b, FlashCommand::program, 0, 1, 0, 2);
  slc.op.mode = BlockMode::slc;
  run_alone(slc);
  CHECK(slc.latency() == bus.data_in(2).total() + 200_us + bus.status());
  Operation third = make(b, FlashCommand::program, 0, 0, 6, 2, 3);
  third.op.spare = third.spare.data();
  auto& payload = b.cpu.take(third.op);
  sc_core::sc_time delay;
  b.cpu.flash_isock->b_transport(payload, delay);
  CHECK(to_picoseconds(delay) == passes * (bus.data_in(6).total() + bus.status()) + 3500_us);
  payload.release();
  Operation fourth = make(b, FlashCommand::program, 0, 0, 9, 2, 3);
  execute(fourth);  // debug transport
  CHECK(fourth.op.program_pass == 0);
}

}  // namespace

TEST_CASE("a word line in two passes is loaded for each of them, and programmed for as long in all") {
  program_in_passes(2);
}

TEST_CASE("a word line in three passes is loaded for each of them, and programmed for as long in all") {
  program_in_passes(3);
}

TEST_CASE("passes need word lines") {
  NandPart part;
  part.program_passes = 2;
  CHECK_THROWS_WITH(part.check(),
                    Catch::Contains("has 2 with program_unit page, not word-line; nearest valid: 1"));
}

TEST_CASE("a block goes word line by word line") {
  Options o = tlc();
  o.part.program_unit = "block";
  o.part.pages_per_block = 10;  // the last word line is short
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 0, 2, 10);
  for (std::size_t i = 0; i < program.spare.size(); ++i) program.spare[i] = static_cast<Lpn>(i);
  run_alone(program);
  const BusTiming& bus = b.array.bus();
  CHECK(program.latency() == 3 * (bus.data_in(6).total() + 3500_us + bus.status()) + bus.data_in(2).total() +
                                 500_us + bus.status());
  CHECK(b.memory.bytes == 20 * 16384);
  Operation read = make(b, FlashCommand::read, 0, 0, 7, 2);
  run_alone(read);
  CHECK(read.spare[0] == 7 * 4);
  CHECK(read.spare[4] == (10 + 7) * 4);
}

TEST_CASE("blocking transport executes at once and adds the unloaded latency") {
  Bench b(tlc());
  const BusTiming& bus = b.array.bus();
  Operation program = make(b, FlashCommand::program, 1, 0, 0);
  program.op.spare = program.spare.data();
  auto& payload = b.cpu.take(program.op);
  sc_core::sc_time delay;
  b.cpu.flash_isock->b_transport(payload, delay);
  CHECK(payload.is_response_ok());
  CHECK(to_picoseconds(delay) == bus.data_in(1).total() + 500_us + bus.status());
  payload.release();
  Operation read = make(b, FlashCommand::read, 1, 0, 0);
  execute(read);  // debug transport
  CHECK(read.spare[0] == 7);
}

TEST_CASE("a payload that is no flash operation, or for no die, gets an error response") {
  Bench b(tlc());
  Operation read = make(b, FlashCommand::read, 6, 0, 0);
  auto& payload = b.cpu.take(read.op);
  sc_core::sc_time delay;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  CHECK(b.cpu.flash_isock->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED);
  CHECK(payload.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  payload.extension.op = nullptr;
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  b.cpu.flash_isock->b_transport(payload, delay);
  CHECK(payload.get_response_status() == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(b.cpu.flash_isock->transport_dbg(payload) == 0);
  payload.release();
}

TEST_CASE("a command that waits for a die is charged what the die was busy with") {
  Bench b(tlc());
  const BusTiming& bus = b.array.bus();
  Operation gc = make(b, FlashCommand::program, 0, 0, 0);
  gc.op.purpose = Purpose::gc;
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  Operation other = make(b, FlashCommand::erase, 1, 1, 0);
  submit(gc);
  b.event_queue.run_until(1_ns);
  submit(erase);
  submit(read);
  CHECK(b.array.controller().pending(DieId{0}) == 3);
  submit(other);
  b.run();
  for (const Operation* o : {&gc, &erase, &read, &other}) check_ledger(*o);
  CHECK(read.ledger.spent(Cause::die_gc) == gc.latency() - 1_ns);
  // The other die's command had the bus while the first die was free: the erase came right after
  // the program.
  CHECK(read.ledger.spent(Cause::die_erase) == erase.done - gc.done);
  CHECK(erase.ledger.spent(Cause::die_gc) == gc.latency() - 1_ns);
  CHECK(other.ledger.spent(Cause::bus_wait) == bus.data_in(1).total() - 1_ns);
  CHECK(b.array.controller().pending(DieId{0}) == 0);
}

TEST_CASE("a die is told busy with its first operation and idle with the end of its last") {
  struct Watcher final : DieWatcher {
    explicit Watcher(const EventQueue& queue) : time(queue) {}
    void die_busy(DieId die) override { told.emplace_back(index(die), true, time.now()); }
    void die_idle(DieId die) override { told.emplace_back(index(die), false, time.now()); }
    const EventQueue& time;
    std::vector<std::tuple<std::size_t, bool, Picoseconds>> told;
  };
  Bench b(tlc());
  Watcher watcher(b.event_queue);
  b.array.controller().watch(watcher);
  Operation first = make(b, FlashCommand::program, 0, 0, 0);
  Operation second = make(b, FlashCommand::program, 0, 0, 1);
  Operation later = make(b, FlashCommand::erase, 0, 1, 0);
  submit(first);
  b.event_queue.run_until(1_ns);
  submit(second);
  b.run();
  b.event_queue.run_until(b.event_queue.now() + 5_us);
  const Picoseconds again = b.event_queue.now();
  submit(later);
  b.run();
  CHECK(watcher.told == decltype(watcher.told){
                            {0, true, 0}, {0, false, second.done}, {0, true, again}, {0, false, later.done}});
}

TEST_CASE("read-first lets reads for the host overtake, but not background reads, and not beyond the bound") {
  Options o = tlc();
  o.scheduling = "read-first";
  o.starvation_bound = 3_ms;
  Bench b(o);
  Operation first = make(b, FlashCommand::program, 0, 0, 0);
  execute(first);
  std::vector<Operation> programs;
  for (std::uint32_t i = 0; i < 3; ++i) programs.push_back(make(b, FlashCommand::program, 0, 0, i + 1));
  Operation gc_read = make(b, FlashCommand::read, 0, 0, 0);
  gc_read.op.purpose = Purpose::gc;
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  for (Operation& p : programs) submit(p);
  b.event_queue.run_until(b.event_queue.now() + 1_ns);
  submit(gc_read);
  submit(read);
  b.run();
  CHECK(programs[0].done < read.done);
  CHECK(read.done < programs[1].done);
  CHECK(programs[2].done < gc_read.done);
  for (const Operation* p : {&programs[0], &programs[1], &programs[2], &gc_read, &read}) check_ledger(*p);

  // An endless stream of reads holds a program back for the bound, no longer.
  Operation program = make(b, FlashCommand::program, 0, 0, 4);
  std::vector<Operation> reads;
  for (int i = 0; i < 200; ++i) reads.push_back(make(b, FlashCommand::read, 0, 0, 0));
  for (Operation& r : reads) submit(r);
  submit(program);
  b.run();
  check_ledger(program);
  const Picoseconds one = reads[1].done - reads[0].done;
  const Picoseconds start =
      program.latency() - b.array.bus().data_in(1).total() - 1000_us - b.array.bus().status();
  CHECK(start >= 3_ms);
  CHECK(start < 3_ms + one);
  CHECK(program.ledger.spent(Cause::die_read) + program.ledger.spent(Cause::bus_wait) == start);
}

namespace {

void read_behind_overdue_programs(Picoseconds bound) {
  Options o = tlc();
  o.scheduling = "read-first";
  o.starvation_bound = bound;
  Bench b(o);
  Operation first = make(b, FlashCommand::program, 0, 0, 0);
  execute(first);
  std::vector<Operation> before;
  std::vector<Operation> after;
  for (std::uint32_t i = 0; i < 8; ++i) {
    before.push_back(make(b, FlashCommand::program, 0, 0, i + 1));
    after.push_back(make(b, FlashCommand::program, 0, 1, i));
  }
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  const Picoseconds begin = b.event_queue.now();
  for (Operation& program : before) submit(program);
  b.event_queue.run_until(begin + 4_ms);
  submit(read);
  b.event_queue.run_until(begin + 4_ms + 1_ns);
  for (Operation& program : after) submit(program);
  b.run();
  check_ledger(read);
  CHECK(before.back().done < read.done);
  CHECK(read.done < after.front().done);
}

}  // namespace

TEST_CASE("a read waits for the overdue programs that came before it, and for none that came after it") {
  read_behind_overdue_programs(3_ms);
}

TEST_CASE("read-first without a bound is the order of arrival") {
  read_behind_overdue_programs(0);
}

TEST_CASE("in-order holds a channel up behind a busy die, out-of-order does not") {
  Options o = tlc();
  o.scheduling = "in-order";
  Bench b(o);
  Operation erase = make(b, FlashCommand::erase, 0, 0, 0);
  Operation same = make(b, FlashCommand::erase, 0, 1, 0);
  Operation other = make(b, FlashCommand::erase, 1, 0, 0);
  Operation channel = make(b, FlashCommand::erase, 3, 0, 0);
  for (Operation* p : {&erase, &same, &other, &channel}) submit(*p);
  b.run();
  for (const Operation* p : {&erase, &same, &other, &channel}) check_ledger(*p);
  CHECK(other.done > same.done);
  CHECK(other.latency() > erase.latency() + b.array.part().erase_latency);
  CHECK(channel.latency() == erase.latency());
}

TEST_CASE("options that contradict each other are refused") {
  Options o = tlc();
  const auto geometry = o.part.geometry(1, 1, 1);
  const BusTiming bus(o.part, 400_MBps, 4096);
  const EccConfig ecc;
  EventQueue event_queue;
  o.config.suspend = "both";
  const auto out_of_order = make_scheduler("out-of-order");
  CHECK_THROWS_WITH(FlashChannel("a", event_queue,
                                 {o.part, geometry, o.config, bus, *out_of_order, 4096, ecc}, ChannelId{0}),
                    Catch::Contains("read-first"));
  const auto read_first = make_scheduler("read-first");
  o.part.suspend = false;
  CHECK_THROWS_WITH(
      FlashChannel("b", event_queue, {o.part, geometry, o.config, bus, *read_first, 4096, ecc}, ChannelId{0}),
      Catch::Contains("cannot suspend"));
  o.config.suspend = "none";
  o.config.cache_operations = true;
  o.part.cache_read = o.part.cache_program = false;
  CHECK_THROWS_WITH(
      FlashChannel("c", event_queue, {o.part, geometry, o.config, bus, *read_first, 4096, ecc}, ChannelId{0}),
      Catch::Contains("cache"));
  CHECK_THROWS_WITH(make_scheduler("fifo"), Catch::Contains("read-first write-drain out-of-order in-order"));
}

TEST_CASE("slow memory that streams delays the end of a phase, not its start") {
  Options o = tlc();
  o.memory_latency = 300_us;
  Bench b(o);
  const BusTiming& bus = b.array.bus();
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  run_alone(program);
  CHECK(program.latency() == 300_us + 500_us + bus.status());
  CHECK(program.ledger.spent(Cause::memory) == 300_us - bus.data_in(1).total());
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  run_alone(read);
  CHECK(read.latency() == bus.read_command(1) + 50_us + 300_us);
  CHECK(read.ledger.spent(Cause::memory) == 300_us - bus.data_out(0, 4).total());
}

TEST_CASE("memory may answer late, and the processor may end answers late") {
  Options o = tlc();
  o.memory_latency = 300_us;
  o.late_memory = true;
  Bench b(o);
  const BusTiming& bus = b.array.bus();
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  run_alone(program);
  CHECK(program.latency() == 300_us + bus.data_in(1).total() + 500_us + bus.status());
  CHECK(program.ledger.spent(Cause::memory) == 300_us);
  b.cpu.late_end = true;
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  run_alone(read);
  CHECK(read.latency() == bus.read_command(1) + 50_us + 300_us);
  std::vector<Operation> erases;
  for (std::uint32_t die = 0; die < 6; ++die) erases.push_back(make(b, FlashCommand::erase, die, 1, 0));
  for (Operation& e : erases) submit(e);
  b.run();
  for (const Operation& e : erases) CHECK(e.done >= 0);
  CHECK(b.array.controller().outstanding() == 0);
}

TEST_CASE("of a transfer a window has the bytes that move in it") {
  Bench b(tlc());
  const BusTiming::Phase in = b.array.bus().data_in(1);
  const auto told = [&b] { return statistics_of(b.array.channel(ChannelId{0})); };
  const auto share = [](Picoseconds part, Picoseconds span) {
    return Approx(static_cast<double>(part) / static_cast<double>(span));
  };
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  submit(program);
  b.event_queue.run_until(in.command / 2);
  CHECK(told().at("bus_utilisation") == 1);
  CHECK(told().at("bus_data") == 0);
  CHECK(told().at("bus_command") == 1);
  b.array.reset_statistics();
  b.event_queue.run_until(in.command + in.data / 3);
  const Picoseconds second = in.command - in.command / 2 + in.data / 3;
  CHECK(told().at("bus_utilisation") == 1);
  CHECK(told().at("bus_data") == share(in.data / 3, second));
  b.array.reset_statistics();
  b.run();
  const Picoseconds rest = b.event_queue.now() - in.command - in.data / 3;
  CHECK(told().at("bus_data") == share(in.data - in.data / 3, rest));
  CHECK(told().at("bus_command") == share(b.array.bus().status(), rest));
}

TEST_CASE("counts of channels add up, each of them") {
  FlashCounts one;
  FlashCounts other;
  std::uint64_t number = 0;
  const auto fill = [&number](FlashCounts& counts) {
    for (auto& command : counts.kinds) {
      for (auto& kind : command) kind = {++number, ++number, ++number};
    }
    for (auto& command : counts.by_planes) {
      for (std::uint64_t& planes : command) planes = ++number;
    }
    for (Picoseconds& time : counts.bus_time) time = static_cast<Picoseconds>(++number);
    for (Picoseconds& time : counts.wait_time) time = static_cast<Picoseconds>(++number);
    counts.data_time = static_cast<Picoseconds>(++number);
    counts.suspends = ++number;
  };
  fill(one);
  const std::uint64_t apart = number;  // between a count and its counterpart
  fill(other);
  FlashCounts sum = one;
  sum.add(other);
  const auto adds = [apart](auto whole, auto part) {
    return static_cast<std::uint64_t>(whole) == 2 * static_cast<std::uint64_t>(part) + apart;
  };
  for (std::size_t c = 0; c < k_flash_commands; ++c) {
    for (std::size_t p = 0; p < k_purposes; ++p) {
      CHECK(adds(sum.kinds[c][p].operations, one.kinds[c][p].operations));
      CHECK(adds(sum.kinds[c][p].pages, one.kinds[c][p].pages));
      CHECK(adds(sum.kinds[c][p].bytes, one.kinds[c][p].bytes));
    }
    for (std::size_t n = 0; n < k_most_planes; ++n) CHECK(adds(sum.by_planes[c][n], one.by_planes[c][n]));
    CHECK(adds(sum.wait_time[c], one.wait_time[c]));
  }
  for (std::size_t u = 0; u < k_bus_uses; ++u) CHECK(adds(sum.bus_time[u], one.bus_time[u]));
  CHECK(adds(sum.data_time, one.data_time));
  CHECK(adds(sum.suspends, one.suspends));
}

TEST_CASE("what the controller moves, and how late memory is, is of what has been since a reset") {
  Options o = tlc();
  o.memory_latency = 900_us;
  Bench b(o);
  Operation old = make(b, FlashCommand::program, 0, 0, 0);
  execute(old);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  run_alone(read);
  const Picoseconds late = read.ledger.spent(Cause::memory);
  CHECK(late == 900_us - b.array.bus().data_out(0, b.units_per_page).total());
  auto told = statistics_of(b.array.controller());
  CHECK(told["memory_transfers"] == 1);
  CHECK(told["memory_bytes"] == 16384);
  CHECK(told["memory_late"] == Approx(static_cast<double>(late) * 1e-6));
  Operation background = make(b, FlashCommand::read, 0, 0, 0);
  background.op.spare = background.spare.data();
  background.op.stamps = background.stamps.data();
  background.op.ledger = nullptr;  // as of collection, for which no command waits
  b.cpu.submit(background.op);
  b.run();
  CHECK(statistics_of(b.array.controller())["memory_late"] == Approx(static_cast<double>(2 * late) * 1e-6));
  b.array.reset_statistics();
  told = statistics_of(b.array.controller());
  CHECK(told["memory_transfers"] == 0);
  CHECK(told["memory_bytes"] == 0);
  CHECK(told["memory_late"] == 0);
}

TEST_CASE("a die refuses an operation while it is busy") {
  Bench b(tlc());
  FlashOp op = make(b, FlashCommand::erase, 0, 0, 0).op;
  NandDie& die = b.array.die(DieId{0});
  auto& one = b.cpu.take(op);
  auto& two = b.cpu.take(op);
  sc_core::sc_time delay;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  CHECK(die.forward(0, one, phase, delay) == tlm::TLM_UPDATED);
  CHECK(phase == tlm::END_REQ);
  phase = tlm::BEGIN_REQ;
  CHECK_THROWS_WITH(die.forward(0, two, phase, delay), Catch::Contains("busy plane"));
}
