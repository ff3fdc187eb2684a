// Suspends of operations of several steps: each step is a program of its own to the part.
#include "testbench/tests/flash/flash_fixture.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

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
