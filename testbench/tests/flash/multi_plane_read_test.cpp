// Multi-plane reads of pages in different blocks against closed forms, to the picosecond. With n
// planes C(n) = n read commands and n - 1 gaps, O(n) = tRR, n column changes and all bytes:
//
//   unloaded             C(n) + the slowest plane's tR + O(n)
//   one die, saturated   a read every C(n) + tR + O(n); cached every C(n) + the longer of tRCBSY + tR, O(n)
//   many dies            one of D: D times as often, at most one every C(n) + O(n)
#include "testbench/tests/flash/ecc_bench.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr std::uint32_t k_planes = 4;
constexpr Picoseconds k_sense = 50'000'003;

Options four_planes(bool cached, std::uint32_t ways = 1) {
  Options o;
  o.part.planes = k_planes;
  o.part.pages_per_block = 64;
  o.part.blocks_per_plane = 16;
  o.part.page_size = 16384;
  o.part.spare_size = 1000;
  o.part.cell = "slc";
  o.part.read_latency = {k_sense};
  o.part.program_latency = {300_us};
  o.config.channels = 1;
  o.config.bus = 1'200'000'000;
  o.config.ways = ways;
  o.config.cache_operations = cached;
  return o;
}

/// The bus phases, from the data sheet alone.
struct ReadPhases {
  explicit ReadPhases(const Options& o) : part(o.part), rate(o.config.bus_rate()) {}
  [[nodiscard]] Picoseconds cycles() const {
    return (2 + part.column_cycles + part.row_cycles) * part.cycle_time;
  }
  [[nodiscard]] Picoseconds command(std::uint32_t n) const {
    return n * cycles() + (n - 1) * (part.t_wb + part.t_dbsy) + part.t_wb;
  }
  [[nodiscard]] Picoseconds data_out(std::uint32_t n) const {
    return part.t_rr + n * (cycles() + part.t_ccs) +
           transfer_time(n * (part.page_size + part.spare_size), rate);
  }
  NandPart part;
  BytesPerSecond rate;
};

/// A read of page `page` of block 1 + p of each of the first n planes p.
struct Chain {
  Chain(Bench& bench, std::uint32_t die, std::uint32_t page, std::uint32_t n) {
    for (std::uint32_t plane = 0; plane < n; ++plane) {
      links.push_back(std::make_unique<Operation>(make(bench, FlashCommand::read, die, 1 + plane, page)));
      links.back()->op.plane = PlaneId{plane};
    }
    aim(page);
  }
  void aim(std::uint32_t page) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      FlashOp& op = links[i]->op;
      op.page = PageId{page};
      op.spare = links[i]->spare.data();
      op.stamps = links[i]->stamps.data();
      op.next_plane = i + 1 < links.size() ? &links[i + 1]->op : nullptr;
    }
  }
  Operation& first() { return *links.front(); }
  std::vector<std::unique_ptr<Operation>> links;
};

/// Fills block 1 + p of every plane p of a die; spare area and stamps tell plane and page.
void fill_staggered(Bench& bench, std::uint32_t die) {
  const std::uint32_t pages = bench.array.part().pages_per_block;
  for (std::uint32_t plane = 0; plane < k_planes; ++plane) {
    for (std::uint32_t page = 0; page < pages; ++page) {
      Operation o = make(bench, FlashCommand::program, die, 1 + plane, page);
      o.op.plane = PlaneId{plane};
      for (Lpn& unit : o.spare) unit = 1000 * plane + page;
      for (Stamp& stamp : o.stamps) stamp = static_cast<Stamp>(5000 + 1000 * plane + page);
      execute(o);
    }
  }
}

/// Keeps four reads of n planes going on every die; the ends of all.
std::vector<Picoseconds> saturate(Bench& bench, std::uint32_t dies, std::uint32_t n, std::uint32_t rounds) {
  std::vector<std::unique_ptr<Chain>> chains;
  std::vector<Picoseconds> ends;
  std::vector<std::uint32_t> left(dies, rounds);
  for (std::uint32_t i = 0; i < 4 * dies; ++i) {
    chains.push_back(std::make_unique<Chain>(bench, i % dies, i / dies, n));
    Chain& chain = *chains.back();
    chain.first().then = [&](Operation& o) {
      check_ledger(o);
      ends.push_back(o.done);
      std::uint32_t& more = left[index(o.op.die)];
      if (more == 0) return;
      --more;
      chain.aim((index(o.op.page) + 4) % 64);
      submit(o);
    };
    submit(chain.first());
  }
  bench.run();
  return ends;
}

/// One die is served to the picosecond, several to a hundredth.
void check_saturated(bool cached) {
  constexpr std::uint32_t k_dies = 8;
  const Options o = four_planes(cached, k_dies);
  const ReadPhases phases(o);
  Bench bench(o);
  for (std::uint32_t die = 0; die < k_dies; ++die) fill_staggered(bench, die);
  for (std::uint32_t n = 1; n <= k_planes; ++n) {
    const Picoseconds c = phases.command(n);
    const Picoseconds out = phases.data_out(n);
    const Picoseconds array = (cached ? o.part.t_rcbsy : 0) + k_sense;
    // A cached read hides the transfer of the one before as long as that is the shorter of the two.
    const Picoseconds period = cached ? c + std::max(array, out) : c + array + out;
    for (const std::uint32_t dies : {1U, 2U, 3U, k_dies}) {
      INFO("planes " << n << ", dies " << dies << ", cached " << cached);
      const std::vector<Picoseconds> ends = saturate(bench, dies, n, 40);
      REQUIRE(ends.size() == 44 * dies);
      if (dies == 1) {
        for (std::size_t i = 10; i < 40; ++i) CHECK(ends[i] - ends[i - 1] == period);
        continue;
      }
      const std::size_t first = 10 * dies;
      const std::size_t last = 30 * dies;
      const double found = static_cast<double>(ends[last] - ends[first]) / static_cast<double>(last - first);
      CHECK(found ==
            Approx(std::max(static_cast<double>(period) / dies, static_cast<double>(c + out))).epsilon(0.01));
    }
  }
}

void check_decoders(std::uint32_t engines) {
  Options o = ecc_options("slc");
  o.ecc.engines = engines;
  o.errors.distribution = "binomial";
  o.errors.block_variation = 0;
  o.errors.page_variation = 0;
  // Plane 1 is beyond any code.
  o.rber = [](const ArrayOperation& stress) { return stress.plane == PlaneId{1} ? 0.2 : 0.0; };
  Bench bench(o);
  for (const std::uint32_t plane : {0U, 1U}) {
    Operation program = make(bench, FlashCommand::program, 0, 2 + plane, 0);
    program.op.plane = PlaneId{plane};
    execute(program);
  }
  Operation first = make(bench, FlashCommand::read, 0, 2, 0);
  Operation second = make(bench, FlashCommand::read, 0, 3, 0);
  second.op.plane = PlaneId{1};
  second.op.spare = second.spare.data();
  second.op.stamps = second.stamps.data();
  first.op.code = second.op.code = EccCode::bch;
  first.op.next_plane = &second.op;
  submit(first);
  bench.run();
  const BusTiming& bus = bench.array.bus();
  CHECK(first.latency() == bus.read_command(2) + o.part.read_time(PageId{0}) +
                               bus.data_out(first.op).total() +
                               decode_time(o, EccCode::bch, engines == 1 ? 8 : 4));
  check_ledger(first);
  CHECK(first.op.status == FlashStatus::ok);
  CHECK(second.op.status == FlashStatus::uncorrectable);
  CHECK(first.stamps == std::vector<Stamp>(4, 9));
  CHECK(second.stamps != std::vector<Stamp>(4, 9));
  CHECK(second.op.failed_frames == 16);
}

}  // namespace

TEST_CASE("an unloaded multi-plane read takes one sensing and every page's transfer") {
  const Options o = four_planes(false);
  const ReadPhases phases(o);
  Bench bench(o);
  fill_staggered(bench, 0);
  for (std::uint32_t n = 1; n <= k_planes; ++n) {
    Chain chain(bench, 0, 10 + n, n);
    const std::uint64_t transfers = bench.memory.transfers;
    const std::uint64_t bytes = bench.memory.bytes;
    submit(chain.first());
    bench.run();
    CHECK(chain.first().latency() == phases.command(n) + k_sense + phases.data_out(n));
    check_ledger(chain.first());
    CHECK(bench.memory.transfers == transfers + 1);
    CHECK(bench.memory.bytes == bytes + n * Bytes{16384});
    for (std::uint32_t plane = 0; plane < n; ++plane) {
      CHECK(chain.links[plane]->spare == std::vector<Lpn>(4, 1000 * plane + 10 + n));
      CHECK(chain.links[plane]->stamps ==
            std::vector<Stamp>(4, static_cast<Stamp>(5000 + 1000 * plane + 10 + n)));
    }
  }
  const FlashCounts counts = bench.array.channel(ChannelId{0}).counts();
  const auto& reads = counts.by_planes[static_cast<std::size_t>(FlashCommand::read)];
  for (std::uint32_t n = 1; n <= k_planes; ++n) CHECK(reads[n - 1] == 1);
  CHECK(counts.kinds[0][0].operations == 4);
  CHECK(counts.kinds[0][0].pages == 1 + 2 + 3 + 4);
  CHECK(counts.kinds[0][0].bytes == 10 * (16384 + 1000));
}

TEST_CASE("a multi-plane read of several blocks takes as long as one of the same block") {
  const Options o = four_planes(false);
  Bench bench(o);
  fill_staggered(bench, 0);
  for (std::uint32_t page = 0; page < 64; ++page) {
    Operation program = make(bench, FlashCommand::program, 0, 8, page, k_planes);
    execute(program);
  }
  Chain chain(bench, 0, 3, k_planes);
  submit(chain.first());
  bench.run();
  Operation plain = make(bench, FlashCommand::read, 0, 8, 3, k_planes);
  submit(plain);
  bench.run();
  CHECK(chain.first().latency() == plain.latency());
}

TEST_CASE("the slowest plane of a multi-plane read decides") {
  Options o = four_planes(false);
  o.timing = [](const NandPart&, const ArrayOperation& op) {
    ArrayAnswer answer;
    // Only the block of plane 2 is slow, and only if it was asked of the right plane.
    answer.duration = op.plane == PlaneId{2} && op.block == BlockId{3} ? 90_us : 40_us;
    return answer;
  };
  const ReadPhases phases(o);
  Bench bench(o);
  fill_staggered(bench, 0);
  Chain chain(bench, 0, 5, k_planes);
  submit(chain.first());
  bench.run();
  CHECK(chain.first().latency() == phases.command(4) + 90_us + phases.data_out(4));
}

TEST_CASE("multi-plane reads saturate dies and bus as the closed forms say") {
  check_saturated(false);
}

TEST_CASE("cached multi-plane reads saturate dies and bus as the closed forms say") {
  check_saturated(true);
}

TEST_CASE("each plane of a multi-plane read is decoded by itself, in a decoder of its own") {
  check_decoders(2);
}

TEST_CASE("what the planes of a multi-plane read deliver waits for the only decoder") {
  check_decoders(1);
}

TEMPLATE_TEST_CASE_SIG("each plane of a read with one block number goes to a decoder of its own, too", "",
                       ((std::uint32_t Engines), Engines), 1, 2, 3, 4, 5) {
  Options o = four_planes(false);
  o.ecc.engines = Engines;
  CodeConfig& code = o.ecc.codes[static_cast<std::size_t>(EccCode::bch)];
  code.throughput = 200_MBps;
  code.latency = 7_us;
  const ReadPhases phases(o);
  Bench bench(o);
  Operation program = make(bench, FlashCommand::program, 0, 8, 0, k_planes);
  execute(program);
  for (const auto& [first, slots] : {std::pair(0U, 16U), std::pair(1U, 14U), std::pair(3U, 2U)}) {
    INFO("slots " << first << " + " << slots);
    Operation plain = make(bench, FlashCommand::read, 0, 8, 0, (first + slots + 3) / 4);
    plain.op.first_slot = first;
    plain.op.slots = slots;
    plain.op.code = EccCode::bch;
    const EccEngines::Counts before = bench.array.controller().ecc().counts(EccCode::bch);
    submit(plain);
    bench.run();
    check_ledger(plain);
    const std::uint32_t planes = plain.op.planes;
    // Each plane's slots go to the engine that is free first; the last to be done decides.
    std::vector<Picoseconds> free(Engines, 0);
    Picoseconds end = 0;
    Picoseconds wait = 0;
    for (std::uint32_t at = first; at < first + slots;) {
      const std::uint32_t next = std::min(first + slots, (at / 4 + 1) * 4);
      Picoseconds& engine = *std::min_element(free.begin(), free.end());
      if (engine + decode_time(o, EccCode::bch, next - at) > end) {
        end = engine + decode_time(o, EccCode::bch, next - at);
        wait = engine;
      }
      engine += decode_time(o, EccCode::bch, next - at) - code.latency;
      at = next;
    }
    CHECK(plain.ledger.spent(Cause::decoder_wait) == wait);
    CHECK(plain.ledger.spent(Cause::decode) == end - wait);
    CHECK(plain.latency() ==
          phases.command(planes) + k_sense + bench.array.bus().data_out(first, slots).total() + end);
    const EccEngines::Counts& counts = bench.array.controller().ecc().counts(EccCode::bch);
    CHECK(counts.pages - before.pages == planes);
    CHECK(counts.frames - before.frames == slots * o.unit_bytes / o.ecc.frame);
  }
}
