// Suspends of programs and erases: when they begin and end, to the picosecond, and their limits;
// each step of an operation of several is a program of its own to the part.
#include "testbench/tests/flash/flash_fixture.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

Options suspend_options(const std::string& what, const std::string& scheduling = "read-first") {
  Options o = tlc();
  o.scheduling = scheduling;
  o.config.suspend = what;
  return o;
}

/// A bench whose first die holds data in page 0 of block 0.
struct WrittenBench : Bench {
  explicit WrittenBench(const Options& options) : Bench(options) {
    Operation data = make(*this, FlashCommand::program, 0, 0, 0);
    execute(data);
  }
};

/// Runs a program of one page, and a read that comes when the array has programmed for
/// `programmed`.
void run_interrupted(Operation& program, Operation& read, Picoseconds programmed) {
  Bench& b = *program.bench;
  submit(program);
  b.event_queue.run_until(program.submitted + b.array.bus().data_in(1).total() + programmed);
  submit(read);
  b.run();
  check_ledger(program);
  check_ledger(read);
}

/// Everything is urgent, or goes into a queue that there is not.
template <int queue_number>
class OneQueue final : public Scheduler {
 public:
  static constexpr std::string_view k_name = queue_number == 0 ? "all-urgent" : "no-such-queue";
  static constexpr std::string_view k_summary = "puts everything into one queue";
  using Config = NoParameters;
  explicit OneQueue(const Config& /*config*/) {}
  [[nodiscard]] DieQueue queue(const FlashOp& /*op*/) const override {
    return static_cast<DieQueue>(queue_number);
  }
  [[nodiscard]] DieQueue next(Picoseconds, Picoseconds, Picoseconds) const override {
    return DieQueue::urgent;
  }
  [[nodiscard]] bool overdue(Picoseconds, Picoseconds) const override { return false; }
  [[nodiscard]] bool overtakes() const override { return true; }
};

}  // namespace

TEST_CASE("what is urgent and no read waits for the die, and suspends nothing") {
  schedulers().add<OneQueue<0>>("acme 1.0");
  WrittenBench b(suspend_options("both", "all-urgent"));
  const Picoseconds alone = b.array.bus().data_in(1).total() + 500_us + b.array.bus().status();
  std::uint64_t suspends = 0;
  std::uint32_t block = 0;
  for (const FlashCommand command : {FlashCommand::program, FlashCommand::erase}) {
    Operation program = make(b, FlashCommand::program, 0, ++block, 0);
    Operation other = make(b, command, 0, ++block, 0);
    run_interrupted(program, other, 200_us);
    CHECK_FALSE(program.op.suspended_for_host);
    CHECK(program.latency() == alone);
    CHECK(other.done > program.done);
    CHECK(b.array.channel(ChannelId{0}).counts().suspends == suspends);
    // While a program is suspended for a read it waits, too.
    Operation again = make(b, FlashCommand::program, 0, ++block, 0);
    Operation read = make(b, FlashCommand::read, 0, 0, 0);
    Operation behind = make(b, FlashCommand::erase, 0, 7, 0);
    read.then = [&](Operation& /*self*/) { CHECK(again.done < 0); };
    submit(again);
    b.event_queue.run_until(b.event_queue.now() + 200_us);
    submit(read);
    submit(behind);
    b.run();
    CHECK(again.op.suspended_for_host);
    CHECK(behind.done > again.done);
    CHECK(b.array.channel(ChannelId{0}).counts().suspends == ++suspends);
  }
}

TEST_CASE("a scheduling policy with a queue that there is not is refused") {
  schedulers().add<OneQueue<7>>("acme 1.0");
  WrittenBench b(suspend_options("both", "no-such-queue"));
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  CHECK_THROWS_WITH(
      submit(read),
      "ssd.flash.scheduling.policy: the policy puts an operation into queue 7 of its die; there "
      "are 0 (urgent) and 1 (normal)");
}

TEST_CASE("a suspended program takes up where it stopped, to the picosecond") {
  WrittenBench b(suspend_options("program"));
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  Operation program = make(b, FlashCommand::program, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  run_interrupted(program, read, 200_us);
  const Picoseconds read_end =
      bus.control() + part.program_suspend_latency + bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
  CHECK(read.latency() == read_end);
  CHECK(read.ledger.spent(Cause::suspend) == bus.control() + part.program_suspend_latency);
  const Picoseconds stopped = read_end - bus.control() + bus.control() + part.resume_overhead;
  CHECK(program.latency() == bus.data_in(1).total() + 500_us + stopped + bus.status());
  CHECK(program.ledger.spent(Cause::program) == 500_us);
  CHECK(program.ledger.spent(Cause::suspend) == stopped);
  CHECK(program.op.suspended_for_host);
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 1);
}

TEST_CASE("write-drain: what began while writes waited for room is not suspended, to the picosecond") {
  WrittenBench b(suspend_options("program", "write-drain"));
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  const Picoseconds alone = bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
  for (const bool writes_wait : {false, true}) {
    Operation program = make(b, FlashCommand::program, 0, writes_wait ? 2 : 1, 0);
    program.op.writes_wait = writes_wait;
    Operation read = make(b, FlashCommand::read, 0, 0, 0);
    run_interrupted(program, read, 200_us);
    CHECK(program.op.suspended_for_host == !writes_wait);
    if (writes_wait) {
      // What is left of the program, its status, and the read as on an idle die.
      CHECK(program.latency() == bus.data_in(1).total() + 500_us + bus.status());
      CHECK(read.latency() == 300_us + bus.status() + alone);
    } else {
      CHECK(read.latency() == bus.control() + part.program_suspend_latency + alone);
    }
  }
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 1);
}

TEST_CASE("suspends keep to the limits of the part") {
  Options o = suspend_options("both");
  o.part.max_suspends = 3;
  o.part.min_resume_time = 400_us;
  o.part.erase_suspend_latency = 200_us;
  o.starvation_bound = 1'000_ms;
  WrittenBench b(o);
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0);
  submit(erase);
  std::vector<Picoseconds> ends;
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.then = [&](Operation& self) {
    check_ledger(self);
    ends.push_back(self.done);
    if (erase.done < 0) submit(self);
  };
  b.event_queue.run_until(100_us);
  submit(read);
  b.run();
  check_ledger(erase);
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 3);
  CHECK(erase.ledger.spent(Cause::erase) == b.array.part().erase_latency);
  // Three reads in three suspensions, each of which waited until the resumed erase might be
  // suspended again; the fourth came after the erase.
  REQUIRE(ends.size() == 4);
  const Picoseconds going = b.array.bus().control() + b.array.part().resume_overhead + 400_us;
  const Picoseconds served = b.array.bus().control() + 200_us + b.array.bus().read_command(1) + 50_us +
                             b.array.bus().data_out(0, 4).total();
  CHECK(ends[1] - ends[0] == going + served);
  CHECK(ends[2] - ends[1] == going + served);
  CHECK(ends[3] > erase.done);
}

TEST_CASE("an erase is not suspended shortly before its end, nor where that is switched off") {
  WrittenBench b(suspend_options("erase"));
  const BusTiming& bus = b.array.bus();
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(erase);
  const Picoseconds end = bus.erase_command(1) + b.array.part().erase_latency;
  b.event_queue.run_until(end - b.array.part().erase_suspend_latency);
  submit(read);
  b.run();
  CHECK(erase.latency() == end + bus.status());
  check_ledger(read);
  Operation program = make(b, FlashCommand::program, 0, 0, 1);
  submit(program);
  b.event_queue.run_until(b.event_queue.now() + 300_us);
  submit(read);
  b.run();
  CHECK_FALSE(program.op.suspended_for_host);
  CHECK(b.array.channel(ChannelId{0}).counts().suspends == 0);
}

TEST_CASE("what ends when it would have been suspended goes on, and is suspended a picosecond before that") {
  WrittenBench b(suspend_options("both"));
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  for (const FlashCommand command : {FlashCommand::program, FlashCommand::erase}) {
    const bool erases = command == FlashCommand::erase;
    const Picoseconds end =
        erases ? bus.erase_command(1) + part.erase_latency : bus.data_in(1).total() + 500_us;
    const Picoseconds to_suspend =
        bus.control() + (erases ? part.erase_suspend_latency : part.program_suspend_latency);
    for (const std::uint32_t earlier : {0, 1}) {
      INFO((erases ? "erase, " : "program, ") << earlier << " ps earlier");
      Operation busy = make(b, command, 0, 1 + earlier, 0);
      Operation read = make(b, FlashCommand::read, 0, 0, 0);
      submit(busy);
      b.event_queue.run_until(busy.submitted + end - to_suspend - earlier);
      submit(read);
      b.run();
      check_ledger(busy);
      check_ledger(read);
      const bool suspended = earlier == 1;
      CHECK(busy.op.suspended_for_host == suspended);
      const Picoseconds alone = bus.read_command(1) + 50_us + bus.data_out(0, 4).total();
      CHECK(read.latency() == to_suspend + (suspended ? 0 : bus.status()) + alone);
      const Picoseconds away = suspended ? to_suspend + alone + part.resume_overhead : 0;
      CHECK(busy.latency() == end + away + bus.status());
    }
  }
}

TEST_CASE("a die that went on refuses to be suspended until its least resume time is over") {
  Options o = suspend_options("both");
  o.part.min_resume_time = 400_us;
  Bench b(o);
  const NandPart& part = b.array.part();
  FlashOp op = make(b, FlashCommand::erase, 0, 0, 0).op;
  auto& payload = b.cpu.take(op);
  const auto call = [&](tlm::tlm_phase phase) {
    sc_core::sc_time delay = annotation(b.event_queue);
    b.array.die(DieId{0}).forward(0, payload, phase, delay);
    return arrival(b.event_queue, delay);
  };
  b.event_queue.run_until(call(tlm::BEGIN_REQ) + 100_us);
  b.event_queue.run_until(call(array_suspend));
  const Picoseconds going = b.event_queue.now() + b.array.bus().control() + part.resume_overhead;
  call(array_resume);
  b.event_queue.run_until(going + 400_us - 1);
  CHECK_THROWS_WITH(call(array_suspend), Catch::Contains("suspend outside the limits of the part"));
  b.event_queue.run_until(going + 400_us);
  CHECK(call(array_suspend) == going + 400_us + b.array.bus().control() + part.erase_suspend_latency);
}

TEST_CASE("a read of what a suspended erase is changing is refused") {
  Bench b(suspend_options("both"));
  Operation erase = make(b, FlashCommand::erase, 0, 0, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  submit(erase);
  b.event_queue.run_until(500_us);
  submit(read);
  CHECK_THROWS_AS(b.run(), NandViolation);
}

// ---- operations of several steps

namespace {

constexpr Picoseconds k_word_line = 3500_us;

/// Programs a block of three word lines, suspended for reads, on a die that holds data in page 0 of
/// another.
struct BlockProgram {
  explicit BlockProgram(std::uint32_t max_suspends) : bench(options(max_suspends)) {
    Operation data = make(bench, FlashCommand::program, 0, 0, 0, 1, k_pages);
    execute(data);
    submit(program);
  }
  static Options options(std::uint32_t max_suspends) {
    Options o = tlc();
    o.part.program_unit = "block";
    o.part.pages_per_block = k_pages;
    o.part.max_suspends = max_suspends;
    o.scheduling = "read-first";
    o.starvation_bound = 1'000_ms;
    o.config.suspend = "program";
    return o;
  }
  /// Latency of a read that comes when the array has programmed the present word line for so long.
  Picoseconds read_at(Picoseconds programmed) {
    Operation read = make(bench, FlashCommand::read, 0, 0, 0);
    bench.event_queue.run_until(word_line_begins + programmed);
    submit(read);
    while (read.done < 0) bench.event_queue.run_until(bench.event_queue.now() + 1_us);
    check_ledger(read);
    return read.latency();
  }
  /// The word line ends undisturbed but for one suspend, if there was one, and the next begins.
  void next_word_line(bool suspended, Picoseconds read) {
    const NandPart& part = bench.array.part();
    const BusTiming& bus = bench.array.bus();
    word_line_begins += k_word_line + bus.status() + bus.data_in(3).total();
    if (suspended) word_line_begins += read + bus.control() + part.resume_overhead;
  }
  [[nodiscard]] Picoseconds alone() const {
    return bench.array.bus().read_command(1) + 50_us + bench.array.bus().data_out(0, 4).total();
  }
  [[nodiscard]] Picoseconds with_suspend() const {
    return bench.array.bus().control() + bench.array.part().program_suspend_latency + alone();
  }

  static constexpr std::uint32_t k_pages = 9;
  Bench bench;
  Operation program = make(bench, FlashCommand::program, 0, 1, 0, 1, k_pages);
  Picoseconds word_line_begins = bench.array.bus().data_in(3).total();  // its array's work
};

}  // namespace

TEST_CASE("a read too late to suspend one word line keeps no other from suspending the next") {
  BlockProgram block(16);
  CHECK(block.read_at(k_word_line - 50_us) == 50_us + block.bench.array.bus().status() + block.alone());
  block.word_line_begins += k_word_line + block.bench.array.bus().status() + block.alone() +
                            block.bench.array.bus().data_in(3).total();
  CHECK(block.read_at(1000_us) == block.with_suspend());
  block.bench.run();
  CHECK(block.program.op.status == FlashStatus::ok);
  CHECK(block.bench.array.channel(ChannelId{0}).counts().suspends == 1);
}

TEST_CASE("every word line of a block may be suspended as often as the part allows") {
  BlockProgram block(1);
  for (int word_line = 0; word_line < 3; ++word_line) {
    CAPTURE(word_line);
    const Picoseconds latency = block.read_at(1000_us);
    CHECK(latency == block.with_suspend());
    block.next_word_line(true, latency);
  }
  block.bench.run();
  CHECK(block.program.op.status == FlashStatus::ok);
  CHECK(block.bench.array.channel(ChannelId{0}).counts().suspends == 3);
}
