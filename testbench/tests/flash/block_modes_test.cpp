// Blocks in SLC mode: unloaded latencies to the picosecond in both modes, folding, suspend, errors,
// reports. The rules of the die are in testbench/tests/nand/block_modes_test.cpp.
#include <array>
#include <map>

#include "testbench/tests/flash/random_load.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr BlockMode k_native = BlockMode::native;
constexpr BlockMode k_slc = BlockMode::slc;

/// QLC whose blocks have 4 pages in SLC mode.
Options qlc(const std::string& program_unit = "page") {
  Options o;
  o.part.cell = "qlc";
  o.part.planes = 2;
  o.part.pages_per_block = 16;
  o.part.blocks_per_plane = 8;
  o.part.page_size = 16384;
  o.part.spare_size = 1000;
  o.part.read_latency = {60_us, 90_us, 110_us, 130_us};
  o.part.program_latency = {1_ms, 2_ms, 3_ms, 4_ms};
  o.part.erase_latency = 10_ms;
  o.part.program_unit = program_unit;
  o.part.slc_read_latency = 28_us;
  o.part.slc_program_latency = 200_us;
  o.part.slc_erase_latency = 5_ms;
  o.part.slc_endurance = 30'000;
  o.config.channels = 1;
  o.config.ways = 2;
  return o;
}

Operation in(BlockMode mode, Operation o, BlockMode source_mode = k_native) {
  o.op.mode = mode;
  o.op.source_mode = source_mode;
  return o;
}

/// Latency of `o` alone.
Picoseconds alone(Operation& o) {
  submit(o);
  o.bench->run();
  REQUIRE(o.done >= 0);
  CHECK(o.ledger.total() == o.latency());
  return o.latency();
}

/// `block` of die 0 in SLC mode, with `pages` pages in each plane; unit s of page p gets number
/// 1000 plane + 10 p + s.
void fill_slc(Bench& b, std::uint32_t block, std::uint32_t pages) {
  Operation erase = in(k_slc, make(b, FlashCommand::erase, 0, block, 0, 2));
  execute(erase);
  for (std::uint32_t page = 0; page < pages; ++page) {
    Operation o = in(k_slc, make(b, FlashCommand::program, 0, block, page, 2));
    for (std::uint32_t s = 0; s < 8; ++s) o.spare[s] = 1000 * (s / 4) + 10 * page + s % 4;
    execute(o);
  }
}

struct Sink final : StatisticsSink {
  std::map<std::string, double> values;
  void open(std::string_view /*group*/, std::string_view /*doc*/) override {}
  void close() override {}
  void value(std::string_view name, double value, std::string_view /*unit*/,
             std::string_view /*doc*/) override {
    values[std::string(name)] = value;
  }
  void value(std::string_view name, std::uint64_t value, std::string_view /*unit*/,
             std::string_view /*doc*/) override {
    values[std::string(name)] = static_cast<double>(value);
  }
  void text(std::string_view /*name*/, std::string_view /*value*/, std::string_view /*doc*/) override {}
};

/// A timing model that has no opinion of SLC mode.
class NativeTiming final : public TimingModel {
 public:
  explicit NativeTiming(const NandPart& part) : part_(part) {}
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override {
    return {.duration = op.slc() ? data_sheet_latency(part_, op) : 1 + static_cast<Picoseconds>(op.command)};
  }

 private:
  const NandPart& part_;
};

}  // namespace

TEST_CASE("unloaded operations take the latencies of the mode of their block") {
  Bench b(qlc());
  const BusTiming& bus = b.array.bus();
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t planes = 1; planes <= 2; ++planes) {
      INFO("round " << round << ", planes " << planes);
      const Picoseconds erasing = bus.erase_command(planes) + bus.status();
      const Picoseconds sensing = bus.read_command(planes) + bus.data_out(0, planes * 4).total();
      const Picoseconds loading = bus.data_in(planes).total() + bus.status();
      Operation to_slc = in(k_slc, make(b, FlashCommand::erase, 0, 3, 0, planes));
      CHECK(alone(to_slc) == erasing + 5_ms);
      for (std::uint32_t page = 0; page < 4; ++page) {
        Operation program = in(k_slc, make(b, FlashCommand::program, 0, 3, page, planes));
        CHECK(alone(program) == loading + 200_us);
        Operation read = in(k_slc, make(b, FlashCommand::read, 0, 3, page, planes));
        CHECK(alone(read) == sensing + 28_us);
      }
      Operation to_native = make(b, FlashCommand::erase, 0, 3, 0, planes);
      CHECK(alone(to_native) == erasing + 10_ms);
      for (std::uint32_t page = 0; page < 16; ++page) {
        Operation program = make(b, FlashCommand::program, 0, 3, page, planes);
        CHECK(alone(program) == loading + b.array.part().program_time(PageId{page}));
        Operation read = make(b, FlashCommand::read, 0, 3, page, planes);
        CHECK(alone(read) == sensing + b.array.part().read_time(PageId{page}));
      }
    }
  }
}

TEST_CASE("folding senses pages in SLC mode and programs a native word line") {
  for (const bool debug : {false, true}) {
    INFO((debug ? "debug" : "timed"));
    const std::uint64_t fits = in_child([&]() -> std::uint64_t {
      Bench b(qlc("word-line"));
      const BusTiming& bus = b.array.bus();
      fill_slc(b, 1, 4);
      Operation fold = in(k_native, make_copy(b, 0, 1, 0, 2, 4 * 0, 2, 4), k_slc);
      if (debug) {
        execute(fold);
      } else {
        // 4 n senses, one program of the word line: 1 + 2 + 3 + 4 ms.
        if (alone(fold) != 4 * (bus.read_command(2) + 28_us) + bus.copyback_program(8) + 10_ms + bus.status())
          return 1;
        if (fold.ledger.spent(Cause::sense) != 4 * 28_us) return 2;
        if (fold.ledger.spent(Cause::program) != 10_ms) return 3;
        if (fold.ledger.spent(Cause::transfer) != 0) return 4;
      }
      for (std::uint32_t page = 0; page < 4; ++page) {
        Operation read = make(b, FlashCommand::read, 0, 2, page, 2);
        execute(read);
        for (std::uint32_t s = 0; s < 8; ++s) {
          const Lpn expected = 1000 * (s / 4) + 10 * page + s % 4;
          if (read.spare[s] != expected) return 5;
          if (fold.spare[(s / 4 * 4 + page) * 4 + s % 4] != expected) return 6;
        }
      }
      return b.memory.transfers == 0 ? 0 : 7;
    });
    CHECK(fits == 0);
  }
}

TEST_CASE("copies between modes take the sense of one and the program of the other") {
  Bench b(qlc());
  const BusTiming& bus = b.array.bus();
  fill_slc(b, 1, 4);
  fill_slc(b, 2, 0);
  const Picoseconds cycles = bus.read_command(1) + bus.copyback_program(1) + bus.status();
  Operation fold = in(k_native, make_copy(b, 0, 1, 2, 3, 0), k_slc);
  CHECK(alone(fold) == cycles + 28_us + 1_ms);
  Operation move = in(k_slc, make_copy(b, 0, 1, 3, 2, 0), k_slc);
  CHECK(alone(move) == cycles + 28_us + 200_us);
  Operation back = in(k_slc, make_copy(b, 0, 3, 0, 2, 1), k_native);
  CHECK(alone(back) == cycles + 60_us + 200_us);
  CHECK(back.spare == std::vector<Lpn>{20, 21, 22, 23});
  // The same, blocking.
  Operation again = in(k_native, make_copy(b, 0, 1, 2, 3, 1), k_slc);
  again.op.spare = again.spare.data();
  again.op.stamps = again.stamps.data();
  auto& payload = b.cpu.take(again.op);
  sc_core::sc_time delay;
  b.cpu.flash_isock->b_transport(payload, delay);
  CHECK(to_picoseconds(delay) == cycles + 28_us + 2_ms);
  payload.release();
}

TEST_CASE("what an operation expects of its block is checked when it starts") {
  Bench b(qlc());
  fill_slc(b, 1, 2);
  Operation read = make(b, FlashCommand::read, 0, 1, 0);
  CHECK_THROWS_WITH(alone(read),
                    Catch::Contains("native mode asked of block 1 of plane 0, which is in SLC mode"));
}

TEST_CASE("a program in SLC mode and an erase into it are suspended like others") {
  Options o = qlc();
  o.scheduling = "read-first";
  o.config.suspend = "both";
  Bench b(o);
  fill_slc(b, 1, 2);
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  const Picoseconds reading = bus.read_command(1) + 28_us + bus.data_out(0, 4).total();
  for (const bool erases : {false, true}) {
    Operation slow = in(k_slc, make(b, erases ? FlashCommand::erase : FlashCommand::program, 0,
                                    erases ? 2 : 1, erases ? 0 : 2, 2));
    slow.op.purpose = Purpose::gc;
    Operation read = in(k_slc, make(b, FlashCommand::read, 0, 1, 0));
    submit(slow);
    const Picoseconds begun = b.event_queue.now() + (erases ? bus.erase_command(2) : bus.data_in(2).total());
    b.event_queue.run_until(begun + 20_us);
    submit(read);
    b.run();
    CHECK(slow.op.suspended_for_host);
    const Picoseconds stopped =
        bus.control() + (erases ? part.erase_suspend_latency : part.program_suspend_latency);
    CHECK(read.latency() == stopped + reading);
    CHECK(slow.ledger.spent(erases ? Cause::erase : Cause::program) == (erases ? 5_ms : 200_us));
    CHECK(slow.ledger.total() == slow.latency());
  }
}

TEST_CASE("a timing model is asked about both modes") {
  const Options o = qlc();
  const Geometry geometry = o.part.geometry(1, 1, 1);
  const BusTiming bus(o.part, 400_MBps, 4096);
  const NativeTiming timing(o.part);
  EventQueue event_queue;
  TestCpu cpu("cpu", event_queue);
  NandDie die("die", event_queue, {o.part, geometry, bus, timing, 4096, 1, k_flash_seed}, DieId{0});
  cpu.flash_isock.bind(die.channel_tsock);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto array_time = [&](FlashCommand command, std::uint32_t block, BlockMode mode, Picoseconds phases) {
    FlashOp op;
    op.command = command;
    op.block = BlockId{block};
    op.mode = mode;
    op.slots = command == FlashCommand::erase ? 0 : 4;
    auto& payload = cpu.take(op);
    sc_core::sc_time delay;
    cpu.flash_isock->b_transport(payload, delay);
    payload.release();
    return to_picoseconds(delay) - phases;
  };
  const Picoseconds erase = bus.erase_command(1) + bus.status();
  const Picoseconds program = bus.data_in(1).total() + bus.status();
  const Picoseconds read = bus.read_command(1) + bus.data_out(0, 4).total();
  CHECK(array_time(FlashCommand::erase, 0, k_native, erase) == 3);
  CHECK(array_time(FlashCommand::program, 0, k_native, program) == 2);
  CHECK(array_time(FlashCommand::read, 0, k_native, read) == 1);
  CHECK(array_time(FlashCommand::erase, 0, k_slc, erase) == 5_ms);
  CHECK(array_time(FlashCommand::program, 0, k_slc, program) == 200_us);
  CHECK(array_time(FlashCommand::read, 0, k_slc, read) == 28_us);
}

TEST_CASE("errors are asked for with the wear and the mode of the block") {
  Options o = qlc();
  o.part.endurance = 1000;
  o.part.slc_endurance = 4000;
  o.rber = [](const ArrayOperation& stress) { return 1e-6 * stress.cycles + (stress.slc() ? 0.01 : 0.02); };
  o.errors.block_variation = 0;
  o.errors.page_variation = 0;
  o.errors.slc_error_share = 0.25;
  Bench b(o);
  for (int i = 0; i < 7; ++i) fill_slc(b, 1, 1);  // 7 cycles in SLC mode are 1 whole cycle of the native mode
  NandDie& die = b.array.die(DieId{0});
  CHECK(die.rber(PlaneId{1}, BlockId{1}, PageId{0}) == Approx(0.25 * (1e-6 + 0.01)));
  Operation erase = make(b, FlashCommand::erase, 0, 1, 0, 2);
  execute(erase);
  CHECK(die.rber(PlaneId{1}, BlockId{1}, PageId{3}) == Approx(2e-6 + 0.02));
}

TEST_CASE("a code that senses the word line senses one page in SLC mode") {
  Options o = qlc();
  for (CodeConfig& code : o.ecc.codes) code.word_line = true;
  Bench b(o);
  fill_slc(b, 1, 4);
  for (std::uint32_t page = 0; page < 4; ++page) {
    Operation program = make(b, FlashCommand::program, 0, 2, page, 2);
    execute(program);
  }
  Operation one = in(k_slc, make(b, FlashCommand::read, 0, 1, 2));
  one.op.code = EccCode::ep_ldpc;
  alone(one);
  CHECK(one.op.senses == 1);
  CHECK(one.ledger.spent(Cause::sense) == 28_us);
  Operation four = make(b, FlashCommand::read, 0, 2, 2);
  four.op.code = EccCode::ep_ldpc;
  alone(four);
  CHECK(four.op.senses == 4);
}

TEST_CASE("the die's report tells operations, blocks and wear of both modes") {
  Options o = qlc();
  o.part.endurance = 1000;
  Bench b(o);
  fill_slc(b, 1, 4);
  Operation fold = in(k_native, make_copy(b, 0, 1, 0, 2, 0, 2), k_slc);
  execute(fold);
  Sink sink;
  b.array.die(DieId{0}).report(sink);
  CHECK(sink.values.at("slc_erases") == 2);
  CHECK(sink.values.at("slc_programs") == 8);
  CHECK(sink.values.at("programs") == 10);
  CHECK(sink.values.at("slc_senses") == 2);
  CHECK(sink.values.at("folds") == 2);
  CHECK(sink.values.at("slc_blocks") == 2);
  CHECK(sink.values.at("wear_most") == Approx(1 / 30'000.0));
  CHECK(sink.values.at("wear_mean") == Approx(2 / 16.0 / 30'000.0));
}
