// Copyback: unloaded latency to the picosecond, what it holds meanwhile and what not, suspend,
// saturation against the closed form of flash_channel.h, gangs. The rules of the die are in
// testbench/tests/nand/die_state_test.cpp.
#include <array>

#include "testbench/tests/flash/saturation.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

Options copying(const std::string& program_unit = "page") {
  Options o = tlc();
  if (program_unit == "block") o.part.pages_per_block = 10;  // the last word line of ten pages is short
  o.part.program_unit = program_unit;
  o.stamps_per_unit = 2;
  return o;
}

/// Programs all of block 0 of a die; slot s of a page gets logical unit 1000 plane + 10 page + s
/// and stamps that follow from it.
void fill_block_0(Bench& b, std::uint32_t die) {
  const NandPart& part = b.array.part();
  const std::uint32_t pages = part.pages_per_program();
  for (std::uint32_t page = 0; page < part.pages_per_block; page += pages) {
    Operation o = make(b, FlashCommand::program, die, 0, page, 2, pages);
    for (std::uint32_t slot = 0; slot < o.op.slots; ++slot) {
      const std::uint32_t number = slot / 4;
      o.spare[slot] = 1000 * (number / pages) + 10 * (page + number % pages) + slot % 4;
      o.stamps[slot * 2] = static_cast<Stamp>(o.spare[slot]);
      o.stamps[slot * 2 + 1] = static_cast<Stamp>(o.spare[slot] + slot % 3);  // written together or not
    }
    execute(o);
  }
}

/// What was copied has come out, and is where it belongs.
void check_copied(Bench& b, const Operation& copy) {
  const FlashOp& op = copy.op;
  for (std::uint32_t page = 0; page < op.pages; ++page) {
    Operation from = make(b, FlashCommand::read, index(op.die), index(op.source_block),
                          index(op.source_page) + page, op.planes);
    Operation to =
        make(b, FlashCommand::read, index(op.die), index(op.block), index(op.page) + page, op.planes);
    execute(from);
    execute(to);
    CHECK(from.spare == to.spare);
    CHECK(from.stamps == to.stamps);
    for (std::uint32_t slot = 0; slot < from.op.slots; ++slot) {
      const std::uint32_t at = (slot / 4 * op.pages + page) * 4 + slot % 4;
      CHECK(copy.spare[at] == from.spare[slot]);
      CHECK(copy.stamps[at * 2] == from.stamps[slot * 2]);
      CHECK(copy.stamps[at * 2 + 1] == from.stamps[slot * 2 + 1]);
    }
  }
}

/// The phases of one step of a copyback of `pages` pages in each of `planes` planes.
struct CopybackPhases {
  CopybackPhases(const Bench& b, std::uint32_t planes, std::uint32_t pages)
      : sense(b.array.bus().read_command(planes)),
        program(b.array.bus().copyback_program(planes * pages)),
        status(b.array.bus().status()),
        bus(pages * sense + program + status) {}
  Picoseconds sense;
  Picoseconds program;
  Picoseconds status;
  Picoseconds bus;
};

/// An array so fast that commands fill the bus.
Options quick(std::uint32_t dies) {
  Options o;
  o.part.planes = 2;
  o.part.pages_per_block = 256;
  o.part.blocks_per_plane = 128;
  o.part.page_size = 4096;
  o.part.read_latency = {3_us};
  o.part.program_latency = {10_us};
  o.config.channels = 1;
  o.config.ways = dies;
  return o;
}

/// Copybacks per second of a saturated array; `cursor` gives the destinations, the source is page 0
/// of block 0.
double copies(Bench& b, const std::vector<std::uint32_t>& dies, std::uint32_t planes,
              std::vector<std::uint32_t>& cursor) {
  Saturation s{.bench = b, .command = FlashCommand::copyback, .on = dies, .planes = planes, .cursor = cursor};
  return s.run() / (planes * 4096.0);
}

/// So many copybacks per second on one set of control lines agree with the closed form, which is an
/// upper bound where the bus is neither idle for the most part nor the limit: there an operation
/// may lose, to others, the time of one more on the bus.
void check_copy_rate(double reached, const CopybackPhases& p, Picoseconds array, std::uint32_t dies) {
  const auto form = [&](Picoseconds wait) {
    return 1e12 * std::min(dies / static_cast<double>(p.bus + array + wait), 1 / static_cast<double>(p.bus));
  };
  const double share = dies * static_cast<double>(p.bus) / static_cast<double>(p.bus + array);
  INFO("form " << form(0) << ", reached " << reached << ", bus asked for " << share);
  CHECK(reached <= form(0) * 1.01);
  CHECK(reached >= 0.99 * form(share < 0.3 || share > 1.2 ? 0 : p.bus));
}

/// Every die's block 0 gets its first page; destinations begin in block 1.
std::vector<std::uint32_t> prepared(Bench& b, std::uint32_t dies) {
  for (std::uint32_t die = 0; die < dies; ++die) {
    Operation first = make(b, FlashCommand::program, die, 0, 0, 2);
    execute(first);
  }
  return std::vector<std::uint32_t>(dies, 256);
}

/// Sends a die what it likes, and ends every answer at once.
struct DieDriver : sc_core::sc_module {
  explicit DieDriver(const sc_core::sc_module_name& name) : sc_core::sc_module(name), isock("isock", *this) {}
  static tlm::tlm_sync_enum backward(unsigned /*index*/, tlm::tlm_generic_payload& /*payload*/,
                                     tlm::tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) {
    return tlm::TLM_COMPLETED;
  }
  InitiatorSocket<DieDriver> isock;
};

}  // namespace

TEST_CASE("an unloaded copyback takes read command, tR, program command, tPROG and status") {
  Bench b(copying());
  fill_block_0(b, 4);
  const NandPart& part = b.array.part();
  for (std::uint32_t planes = 1; planes <= 2; ++planes) {
    const CopybackPhases p(b, planes, 1);
    for (std::uint32_t page = 0; page < 6; ++page) {
      const PageId source{11 - page * 2};
      Operation copy = make_copy(b, 4, 0, index(source), planes, page, planes);
      run_alone(copy);
      CHECK(copy.latency() ==
            p.sense + part.read_time(source) + p.program + part.program_time(PageId{page}) + p.status);
      CHECK(copy.ledger.spent(Cause::sense) == part.read_time(source));
      CHECK(copy.ledger.spent(Cause::program) == part.program_time(PageId{page}));
      CHECK(copy.ledger.spent(Cause::flash_command) == p.bus);
      check_copied(b, copy);
    }
  }
  CHECK(b.memory.transfers == 0);
  CHECK(b.array.controller().outstanding() == 0);
  // Within one block, too.
  Operation first = make(b, FlashCommand::program, 4, 5, 0);
  execute(first);
  Operation within = make_copy(b, 4, 5, 0, 5, 1);
  run_alone(within);
  check_copied(b, within);
}

TEST_CASE("a copyback counts as a read of its source and a program of its destination") {
  Bench b(copying());
  fill_block_0(b, 0);
  DieState& state = b.array.die(DieId{0}).state();
  const auto reads = state.block(PlaneId{1}, BlockId{0}).reads;
  b.array.reset_statistics();
  Operation copy = make_copy(b, 0, 0, 5, 1, 0, 2);
  copy.op.purpose = Purpose::wear;
  run_alone(copy);
  CHECK(state.block(PlaneId{1}, BlockId{0}).reads == reads + 1);
  CHECK(state.block(PlaneId{1}, BlockId{1}).reads == 0);
  CHECK(state.block(PlaneId{1}, BlockId{1}).next_page == 1);
  CHECK(state.counts().senses == 2);
  CHECK(state.counts().programs == 2);
  CHECK(state.counts().copies == 2);
  const FlashCounts counts = b.array.channel(ChannelId{0}).counts();
  const auto& kind =
      counts.kinds[static_cast<std::size_t>(FlashCommand::copyback)][static_cast<std::size_t>(Purpose::wear)];
  CHECK(kind.operations == 1);
  CHECK(kind.pages == 2);
  CHECK(kind.bytes == 0);
  CHECK(counts.data_time == 0);
  CHECK(counts.bus_busy() == CopybackPhases(b, 2, 1).bus);
  const auto busy = b.array.channel(ChannelId{0}).busy(0);
  CHECK(busy[static_cast<std::size_t>(Cause::die_wear) - k_first_busy] == copy.latency());
}

TEST_CASE("a word line is sensed page by page and programmed as one") {
  Bench b(copying("word-line"));
  fill_block_0(b, 0);
  const CopybackPhases p(b, 2, 3);
  for (const std::uint32_t source : {0U, 3U, 4U}) {  // need not be a word line of the source
    Operation copy = make_copy(b, 0, 0, source, 1, source / 2 * 3, 2, 3);
    run_alone(copy);
    CHECK(copy.latency() == 3 * p.sense + 180_us + p.program + 3500_us + p.status);
    check_copied(b, copy);
  }
}

TEST_CASE("a copyback of a block goes word line by word line, and lets others in between") {
  Bench b(copying("block"));
  fill_block_0(b, 0);
  const CopybackPhases line(b, 2, 3);
  const CopybackPhases last(b, 2, 1);
  Operation copy = make_copy(b, 0, 0, 0, 1, 0, 2, 10);
  run_alone(copy);
  const Picoseconds first = 3 * line.sense + 180_us + line.program + 3500_us + line.status;
  const Picoseconds alone = 3 * first + last.sense + 50_us + last.program + 500_us + last.status;
  CHECK(copy.latency() == alone);
  check_copied(b, copy);

  b.array.reset_statistics();
  Operation again = make_copy(b, 0, 1, 0, 2, 0, 2, 10);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(again);
  b.event_queue.run_until(b.event_queue.now() + 1_us);
  submit(read);
  b.run();
  check_ledger(again);
  check_ledger(read);
  const Picoseconds reading = b.array.bus().read_command(1) + 50_us + b.array.bus().data_out(0, 4).total();
  // Of the same queue, so behind the copyback until that is done; read-first lets it in after the
  // word line.
  CHECK(read.latency() == alone - 1_us + reading);
}

TEST_CASE("between two word lines of a copied block a read for the host may go first") {
  Options o = copying("block");
  o.scheduling = "read-first";
  Bench b(o);
  fill_block_0(b, 0);
  const CopybackPhases line(b, 2, 3);
  Operation copy = make_copy(b, 0, 0, 0, 1, 0, 2, 10);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(copy);
  b.event_queue.run_until(line.sense + 1_us);  // senses its first page
  submit(read);
  b.run();
  check_ledger(copy);
  check_ledger(read);
  const Picoseconds step = 3 * line.sense + 180_us + line.program + 3500_us + line.status;
  const Picoseconds reading = b.array.bus().read_command(1) + 50_us + b.array.bus().data_out(0, 4).total();
  CHECK(read.done == step + reading);
  CHECK(read.ledger.spent(Cause::die_program) == step - line.sense - 1_us);
  CHECK(copy.ledger.spent(Cause::die_read) == reading);
  check_copied(b, copy);
}

TEMPLATE_TEST_CASE_SIG("debug and blocking transport copy at once, blocking adds the unloaded latency", "",
                       ((int U), U), 0, 1, 2) {
  Bench b(copying(std::array{"page", "word-line", "block"}[U]));
  fill_block_0(b, 1);
  const std::uint32_t pages = b.array.part().pages_per_program();
  Operation timed = make_copy(b, 1, 0, 0, 1, 0, 2, pages);
  run_alone(timed);
  Operation debug = make_copy(b, 1, 0, 0, 2, 0, 2, pages);
  execute(debug);
  check_copied(b, debug);
  Operation copy = make_copy(b, 1, 0, 0, 3, 0, 2, pages);
  copy.op.spare = copy.spare.data();
  copy.op.stamps = copy.stamps.data();
  copy.op.sense_count = 1;  // left by an earlier use of the object
  auto& payload = b.cpu.take(copy.op);
  sc_core::sc_time delay;
  b.cpu.flash_isock->b_transport(payload, delay);
  CHECK(payload.is_response_ok());
  CHECK(to_picoseconds(delay) == timed.latency());
  payload.release();
  check_copied(b, copy);
}

TEST_CASE("a copyback leaves the bus to others but keeps its die") {
  Bench b(copying());
  fill_block_0(b, 0);
  fill_block_0(b, 1);
  const CopybackPhases p(b, 1, 1);
  Operation copy = make_copy(b, 0, 0, 0, 1, 0);
  copy.op.purpose = Purpose::gc;
  Operation same = make(b, FlashCommand::read, 0, 0, 0);
  Operation other = make(b, FlashCommand::read, 1, 0, 0);
  submit(copy);
  b.event_queue.run_until(p.sense);
  submit(same);
  submit(other);
  b.run();
  for (const Operation* o : {&copy, &same, &other}) check_ledger(*o);
  const BusTiming& bus = b.array.bus();
  const Picoseconds sense_count = p.sense + 50_us;
  const Picoseconds out = bus.data_out(0, 4).total();
  CHECK(other.latency() == bus.read_command(1) + 50_us + out);
  CHECK(other.ledger.spent(Cause::bus_wait) == 0);
  CHECK(copy.done == sense_count + p.program + 500_us + p.status);
  CHECK(copy.ledger.spent(Cause::bus_wait) == 0);
  CHECK(same.ledger.spent(Cause::die_gc) == copy.done - p.sense);
}

TEST_CASE("the program command of a copyback waits for the bus") {
  Bench b(copying());
  fill_block_0(b, 0);
  const CopybackPhases p(b, 1, 1);
  Operation copy = make_copy(b, 0, 0, 0, 1, 0);
  Operation program = make(b, FlashCommand::program, 1, 1, 0);
  submit(copy);
  b.event_queue.run_until(p.sense + 45_us);
  submit(program);
  b.run();
  check_ledger(copy);
  check_ledger(program);
  const Picoseconds wait = b.array.bus().data_in(1).total() - 5_us;
  REQUIRE(wait > 0);
  CHECK(copy.ledger.spent(Cause::bus_wait) == wait);
  CHECK(copy.done == p.sense + 50_us + wait + p.program + 500_us + p.status);
}

TEST_CASE("a copyback is suspended while it programs, not while it senses") {
  Options o = copying();
  o.scheduling = "read-first";
  o.config.suspend = "program";
  Bench b(o);
  fill_block_0(b, 0);
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  const CopybackPhases p(b, 1, 1);
  const Picoseconds programming = p.sense + 50_us + p.program;
  const Picoseconds served =
      bus.control() + part.program_suspend_latency + bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
  const Picoseconds stopped = served + part.resume_overhead;
  for (const Picoseconds at : {p.sense + 10_us, programming + 200_us}) {
    const Picoseconds start = b.event_queue.now();
    Operation copy = make_copy(b, 0, 0, 0, at < programming ? 1 : 2, 0);
    Operation read = make(b, FlashCommand::read, 0, 0, 0);
    submit(copy);
    b.event_queue.run_until(start + at);
    submit(read);
    b.run();
    check_ledger(copy);
    check_ledger(read);
    CHECK(copy.op.suspended_for_host);
    CHECK(read.done - start == std::max(at, programming) + served);
    CHECK(copy.latency() == programming + 500_us + stopped + p.status);
    CHECK(copy.ledger.spent(Cause::program) == 500_us);
    CHECK(copy.ledger.spent(Cause::suspend) == stopped);
    check_copied(b, copy);
  }
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 2);
}

TEST_CASE("a copyback is not suspended where programs are not") {
  Options o = copying();
  o.scheduling = "read-first";
  o.config.suspend = "erase";
  Bench b(o);
  fill_block_0(b, 0);
  Operation copy = make_copy(b, 0, 0, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(copy);
  b.event_queue.run_until(200_us);
  submit(read);
  b.run();
  CHECK_FALSE(copy.op.suspended_for_host);
  CHECK(copy.done < read.done);
}

TEST_CASE("a die refuses others while its page register holds what a copyback will program") {
  const Options o = copying();
  const Geometry geometry = o.part.geometry(1, 1, 1);
  const BusTiming bus(o.part, 400_MBps, 4096);
  const auto timing = make_timing_model(o.part);
  EventQueue event_queue;
  NandDie die("die", event_queue, {o.part, geometry, bus, *timing, 4096, 1, k_flash_seed}, DieId{0});
  DieDriver driver("driver");
  driver.isock.bind(die.channel_tsock);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  FlashOp program;
  program.command = FlashCommand::program;
  program.slots = 4;
  die.state().execute(program, 0);
  FlashOp copy = program;
  copy.command = FlashCommand::copyback;
  copy.block = BlockId{1};
  FlashOp read;
  PayloadPool<FlashExtension> pool;
  const auto send = [&](FlashOp& op) {
    auto& payload = pool.take();
    payload.extension.op = &op;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = annotation(event_queue);
    const auto answer = driver.isock->nb_transport_fw(payload, phase, delay);
    event_queue.run_until(event_queue.now() + 1_ms);
    return answer;
  };
  CHECK(send(copy) == tlm::TLM_UPDATED);
  CHECK(copy.copying());
  CHECK_THROWS_WITH(send(read), Catch::Contains("page register"));
  CHECK(send(copy) == tlm::TLM_UPDATED);
  CHECK_FALSE(copy.copying());
  CHECK(send(read) == tlm::TLM_UPDATED);
}

TEMPLATE_TEST_CASE_SIG("a channel of copybacks scales with its dies until commands fill the bus", "",
                       ((int Q), Q), 0, 1) {
  constexpr std::uint32_t k_dies = 32;
  Options o = quick(k_dies);
  if (Q == 0) {  // as slow as usual: the bus is never the limit
    o.part.read_latency = {75_us};
    o.part.program_latency = {750_us};
  }
  const Picoseconds array = o.part.read_latency[0] + o.part.program_latency[0];
  Bench b(o);
  std::vector<std::uint32_t> cursor = prepared(b, k_dies);
  for (const std::uint32_t planes : {1U, 2U}) {
    for (std::uint32_t& page : cursor) page = (page + 255) / 256 * 256;
    const CopybackPhases p(b, planes, 1);
    for (std::uint32_t dies = 1; dies <= k_dies; ++dies) {
      INFO("dies " << dies << ", planes " << planes);
      check_copy_rate(copies(b, first_dies(dies), planes, cursor), p, array, dies);
    }
  }
}

TEMPLATE_TEST_CASE_SIG("copybacks in a gang hold what is shared, whichever lines that are", "", ((int O), O),
                       0, 1) {
  Options o = quick(8);
  o.config.channels = 4;
  o.config.organisation = std::array{"shared-bus-gang", "shared-control-gang"}[O];
  o.config.gang = 4;
  Bench b(o);
  std::vector<std::uint32_t> cursor = prepared(b, 32);
  const CopybackPhases p(b, 1, 1);
  Operation copy = make_copy(b, 31, 0, 0, 1, 0);
  run_alone(copy);
  CHECK(copy.latency() == p.bus + 13_us);
  cursor[31] = 512;
  for (const std::uint32_t dies : {1U, 8U, 16U, 32U}) {
    INFO("dies " << dies);
    check_copy_rate(copies(b, first_dies(dies), 1, cursor), p, 13_us, dies);
  }
}
