// Decoding takes its time: unloaded latency of every code to the picosecond, engines as a queue
// with several servers, and what a read of several senses leaves to others.
#include <algorithm>

#include "testbench/tests/flash/ecc_bench.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

/// Reads with `code`, alone.
void run_alone(Operation& o, EccCode code) {
  o.op.code = code;
  run_alone(o);
}

/// Senses that `code` takes of `page`, with the bus before and after each, and nothing else about.
Picoseconds expected_sense(const Bench& b, const Options& o, const Operation& read, EccCode code) {
  const CodeConfig& config = o.ecc.of(code);
  const std::uint32_t bits = o.part.bits();
  const std::uint32_t page = index(read.op.page);
  Picoseconds sum = config.extra_senses * b.array.part().read_time(PageId{page});
  if (!config.word_line) return sum + b.array.part().read_time(PageId{page});
  const std::uint32_t first = page / bits * bits;
  for (std::uint32_t p = first; p < std::min(first + bits, o.part.pages_per_block); ++p)
    sum += b.array.part().read_time(PageId{p});
  return sum;
}

std::uint32_t expected_senses(const Options& o, const Operation& read, EccCode code) {
  const CodeConfig& config = o.ecc.of(code);
  if (!config.word_line) return 1 + config.extra_senses;
  const std::uint32_t first = index(read.op.page) / o.part.bits() * o.part.bits();
  return std::min(o.part.bits(), o.part.pages_per_block - first) + config.extra_senses;
}

/// Slots of a read in the plane of which it has most: what one decoder gets.
std::uint32_t most_slots(const Bench& b, const Operation& read) {
  std::uint32_t most = 0;
  std::uint32_t at = read.op.first_slot;
  for (std::uint32_t left = read.op.slots; left > 0;) {
    const std::uint32_t here = std::min(left, b.units_per_page - at % b.units_per_page);
    most = std::max(most, here);
    at += here;
    left -= here;
  }
  return most;
}

void check_unloaded(Bench& b, const Options& o, Operation& read, EccCode code) {
  const auto counted = [&] {
    return b.array.channel(ChannelId{1})
        .counts()
        .kinds[static_cast<std::size_t>(FlashCommand::read)][static_cast<std::size_t>(Purpose::host)];
  };
  const auto before = counted();
  const std::uint64_t in_memory = b.memory.bytes;
  run_alone(read, code);
  INFO(name_of(code) << ", page " << index(read.op.page) << ", planes " << read.op.planes << ", slots "
                     << read.op.first_slot << " + " << read.op.slots);
  const Picoseconds senses = expected_senses(o, read, code);
  const BusTiming::Phase out = b.array.bus().data_out(read.op.first_slot, read.op.slots);
  CHECK(read.ledger.spent(Cause::sense) == expected_sense(b, o, read, code));
  CHECK(read.ledger.spent(Cause::flash_command) ==
        senses * (b.array.bus().read_command(read.op.planes) + out.command));
  CHECK(read.ledger.spent(Cause::transfer) == senses * out.data);
  const Picoseconds decode = decode_time(o, code, most_slots(b, read));
  CHECK(read.ledger.spent(Cause::decode) == decode);
  CHECK(read.ledger.spent(Cause::decoder_wait) == 0);
  CHECK(read.latency() == senses * (b.array.bus().read_command(read.op.planes) + out.total()) +
                              expected_sense(b, o, read, code) + decode);
  // Memory gets what was decoded, the bus carries every sense.
  CHECK(b.memory.bytes - in_memory == read.op.slots * o.unit_bytes);
  CHECK(counted().operations - before.operations == 1);
  CHECK(counted().pages - before.pages == static_cast<std::uint64_t>(senses) * read.op.planes);
  CHECK(counted().bytes - before.bytes ==
        static_cast<std::uint64_t>(senses) * b.array.bus().units_bytes(read.op.slots));
  CHECK(read.op.status == FlashStatus::ok);
  CHECK(read.spare[0] == 100 * index(read.op.page) + read.op.first_slot);
}

void unloaded(const Options& o) {
  Bench b(o);
  const std::uint32_t pages = o.part.pages_per_block;
  for (std::uint32_t page = 0; page < pages; ++page) {
    Operation program = make(b, FlashCommand::program, 4, 1, page, 2);
    for (std::uint32_t i = 0; i < program.op.slots; ++i) program.spare[i] = 100 * page + i;
    execute(program);
  }
  for (std::size_t i = 1; i < k_ecc_codes; ++i) {
    for (std::uint32_t page = 0; page < pages; ++page) {
      for (std::uint32_t planes = 1; planes <= 2; ++planes) {
        Operation read = make(b, FlashCommand::read, 4, 1, page, planes);
        check_unloaded(b, o, read, static_cast<EccCode>(i));
      }
      Operation unit = make(b, FlashCommand::read, 4, 1, page, 2);
      unit.op.first_slot = 3;
      unit.op.slots = 2;  // one of each plane
      check_unloaded(b, o, unit, static_cast<EccCode>(i));
    }
  }
  CHECK(b.array.controller().outstanding() == 0);
}

/// Pages 0 of all six dies.
void program_all(Bench& b) {
  for (std::uint32_t die = 0; die < 6; ++die) {
    Operation program = make(b, FlashCommand::program, die, 0, 0);
    execute(program);
  }
}

}  // namespace

TEST_CASE("unloaded latency of every code on TLC") {
  unloaded(ecc_options("tlc"));
}

TEST_CASE("unloaded latency of further senses of a page beside those of its word line") {
  Options o = ecc_options("tlc");
  o.ecc.codes[static_cast<std::size_t>(EccCode::ep_ldpc)].extra_senses = 2;
  unloaded(o);
}

TEST_CASE("unloaded latency of every code on MLC") {
  unloaded(ecc_options("mlc"));
}

TEST_CASE("unloaded latency where the last word line is short") {
  Options o = ecc_options("tlc");
  o.part.pages_per_block = 8;
  unloaded(o);
}

TEST_CASE("attempts one after another take their sum") {
  const Options o = ecc_options("tlc");
  Bench b(o);
  program_all(b);
  const BusTiming& bus = b.array.bus();
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.op.code = EccCode::bch;
  std::uint32_t attempts = 1;
  read.then = [&](Operation& self) {
    check_ledger(self);
    if (attempts++ < 5) submit(self);
  };
  submit(read);
  b.run();
  CHECK(read.done ==
        5 * (bus.read_command(1) + 50_us + bus.data_out(0, 4).total() + decode_time(o, EccCode::bch, 4)));
}

TEMPLATE_TEST_CASE_SIG("decoders are a queue with as many servers as there are engines", "",
                       ((std::uint32_t Engines), Engines), 1, 2, 3) {
  Options o = ecc_options("tlc");
  o.ecc.engines = Engines;
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].throughput = 40_MBps;
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].latency = 11_us;
  Bench b(o);
  program_all(b);
  std::vector<Operation> reads;
  for (std::uint32_t i = 0; i < 60; ++i) {
    reads.push_back(make(b, FlashCommand::read, i * 5 % 6, 0, 0));
    reads.back().op.code = EccCode::bch;
    reads.back().op.slots = 1 + i % 4;
  }
  for (Operation& r : reads) submit(r);
  b.run();
  std::vector<Operation*> order;
  for (Operation& r : reads) order.push_back(&r);
  const auto ready = [](const Operation* r) {
    return r->done - r->ledger.spent(Cause::decode) - r->ledger.spent(Cause::decoder_wait);
  };
  std::sort(order.begin(), order.end(), [&](const Operation* x, const Operation* y) {
    return std::pair(ready(x), x->ledger.spent(Cause::decoder_wait)) <
           std::pair(ready(y), y->ledger.spent(Cause::decoder_wait));
  });
  std::vector<Picoseconds> free(Engines, 0);
  for (const Operation* r : order) {
    check_ledger(*r);
    Picoseconds& engine = *std::min_element(free.begin(), free.end());
    const Picoseconds start = std::max(engine, ready(r));
    CHECK(r->ledger.spent(Cause::decoder_wait) == start - ready(r));
    CHECK(r->ledger.spent(Cause::decode) == decode_time(o, EccCode::bch, r->op.slots));
    engine = start + decode_time(o, EccCode::bch, r->op.slots) - 11_us;
  }
  CHECK(order.back()->ledger.spent(Cause::decoder_wait) > 0);
  const EccEngines::Counts& counts = b.array.controller().ecc().counts(EccCode::bch);
  CHECK(counts.pages == 60);
  CHECK(counts.frames == 60 * 10);  // 1, 2, 3 or 4 slots of four frames
}

TEST_CASE("saturated decoders give their throughput") {
  Options o = ecc_options("tlc");
  o.ecc.codes[static_cast<std::size_t>(EccCode::hard_ldpc)].throughput = 20_MBps;
  o.ecc.codes[static_cast<std::size_t>(EccCode::hard_ldpc)].latency = 0;
  Bench b(o);
  program_all(b);
  std::vector<Operation> reads;
  for (std::uint32_t i = 0; i < 120; ++i) {
    reads.push_back(make(b, FlashCommand::read, i % 6, 0, 0));
    reads.back().op.code = EccCode::hard_ldpc;
  }
  for (Operation& r : reads) submit(r);
  b.run();
  Picoseconds first = k_never;
  Picoseconds last = 0;
  for (const Operation& r : reads) {
    check_ledger(r);
    first = std::min(first, r.done - r.ledger.spent(Cause::decode));
    last = std::max(last, r.done);
  }
  const Picoseconds work = 120 * decode_time(o, EccCode::hard_ldpc, 4) / o.ecc.engines;
  CHECK(last - first >= work);
  CHECK(last - first < work + decode_time(o, EccCode::hard_ldpc, 4));
}

TEST_CASE("BCH and LDPC do not wait for each other, all kinds of LDPC do") {
  Options o = ecc_options("tlc");
  o.ecc.engines = 1;
  for (CodeConfig& code : o.ecc.codes) {
    code.throughput = 50_MBps;
    code.latency = 0;
    code.extra_senses = 0;
    code.word_line = false;
  }
  Bench b(o);
  program_all(b);
  // Two channels: the pages are there at the same instant.
  for (const auto& [one, two, shared] :
       {std::tuple(EccCode::bch, EccCode::quick_ldpc, false), std::tuple(EccCode::bch, EccCode::bch, true),
        std::tuple(EccCode::soft_ldpc, EccCode::ep_ldpc, true),
        std::tuple(EccCode::hard_ldpc, EccCode::quick_ldpc, true)}) {
    INFO(name_of(one) << " and " << name_of(two));
    Operation first = make(b, FlashCommand::read, 0, 0, 0);
    Operation second = make(b, FlashCommand::read, 3, 0, 0);
    first.op.code = one;
    second.op.code = two;
    submit(first);
    submit(second);
    b.run();
    check_ledger(first);
    check_ledger(second);
    CHECK(first.ledger.spent(Cause::decoder_wait) == 0);
    CHECK(second.ledger.spent(Cause::decoder_wait) == (shared ? decode_time(o, one, 4) : 0));
  }
}

TEST_CASE("while a page is in the pipeline the next one may follow") {
  Options o = ecc_options("tlc");
  o.ecc.engines = 1;
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].latency = 500_us;
  Bench b(o);
  program_all(b);
  Operation first = make(b, FlashCommand::read, 0, 0, 0);
  Operation second = make(b, FlashCommand::read, 3, 0, 0);
  for (Operation* read : {&first, &second}) {
    read->op.code = EccCode::bch;
    submit(*read);
  }
  b.run();
  CHECK(second.done - first.done == decode_time(o, EccCode::bch, 4) - 500_us);
  CHECK(second.ledger.spent(Cause::decode) == decode_time(o, EccCode::bch, 4));
}

TEMPLATE_TEST_CASE_SIG("memory and decoder work at the same time", "",
                       ((int Microseconds, bool Late), Microseconds, Late), (1, false), (900, false),
                       (1, true), (900, true)) {
  Options o = ecc_options("tlc");
  o.memory_latency = 300_us;
  o.late_memory = Late;
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].latency = Microseconds * 1_us;
  Bench b(o);
  program_all(b);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  run_alone(read, EccCode::bch);
  const BusTiming& bus = b.array.bus();
  CHECK(read.latency() == bus.read_command(1) + 50_us +
                              std::max(300_us, bus.data_out(0, 4).total() + decode_time(o, EccCode::bch, 4)));
}

TEST_CASE("blocking transport decodes too") {
  const Options o = ecc_options("tlc");
  Bench b(o);
  program_all(b);
  const BusTiming& bus = b.array.bus();
  for (const EccCode code : {EccCode::none, EccCode::bch, EccCode::soft_ldpc, EccCode::ep_ldpc}) {
    Operation read = make(b, FlashCommand::read, 1, 0, 0);
    read.op.code = code;
    read.op.spare = read.spare.data();
    auto& payload = b.cpu.take(read.op);
    sc_core::sc_time delay;
    b.cpu.flash_isock->b_transport(payload, delay);
    CHECK(payload.is_response_ok());
    payload.release();
    const Picoseconds senses = expected_senses(o, read, code);
    CHECK(to_picoseconds(delay) == senses * (bus.read_command(1) + bus.data_out(0, 4).total()) +
                                       expected_sense(b, o, read, code) + decode_time(o, code, 4));
  }
}

TEST_CASE("between two senses of a read others go first") {
  Options o = ecc_options("tlc");
  o.scheduling = "read-first";
  Bench b(o);
  program_all(b);
  const BusTiming& bus = b.array.bus();
  Operation gc = make(b, FlashCommand::read, 0, 0, 0);
  gc.op.purpose = Purpose::gc;
  gc.op.code = EccCode::soft_ldpc;
  Operation host = make(b, FlashCommand::read, 0, 0, 0);
  submit(gc);
  const Picoseconds one = bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
  b.event_queue.run_until(one + 10_us);  // the second sense is under way
  submit(host);
  b.run();
  check_ledger(gc);
  check_ledger(host);
  CHECK(host.latency() == one - 10_us + one);
  CHECK(host.ledger.spent(Cause::die_gc) == one - 10_us);
  const Picoseconds senses = 1 + o.ecc.of(EccCode::soft_ldpc).extra_senses;
  CHECK(gc.latency() == (senses + 1) * one + decode_time(o, EccCode::soft_ldpc, 4));
  CHECK(gc.ledger.spent(Cause::die_read) == one);
}

TEST_CASE("a program is suspended for all senses of a read") {
  Options o = ecc_options("tlc");
  o.scheduling = "read-first";
  o.config.suspend = "program";
  Bench b(o);
  program_all(b);
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  Operation program = make(b, FlashCommand::program, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.op.code = EccCode::soft_ldpc;
  submit(program);
  b.event_queue.run_until(bus.data_in(1).total() + 200_us);
  submit(read);
  b.run();
  check_ledger(program);
  check_ledger(read);
  const Picoseconds senses = 1 + o.ecc.of(EccCode::soft_ldpc).extra_senses;
  const Picoseconds read_end = bus.control() + part.program_suspend_latency +
                               senses * (bus.read_command(1) + 50_us + bus.data_out(0, 4).total());
  CHECK(read.latency() == read_end + decode_time(o, EccCode::soft_ldpc, 4));
  CHECK(program.latency() ==
        bus.data_in(1).total() + 500_us + read_end + part.resume_overhead + bus.status());
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 1);
}
