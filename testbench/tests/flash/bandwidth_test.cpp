// Saturated bandwidth of one channel with D dies against the closed forms. Per operation: C read
// command, O data out, W data in, S status on the bus, B bytes.
//
//   read,  plain   B * min(D / (C + tR + O),           1 / (C + O))   a die waits for its own data to leave
//   read,  cached  B * min(D / (C + tRCBSY + tR),      1 / (C + O))   the next page is sensed meanwhile
//   write, plain   B * min(D / (W + tPROG + S),        1 / (W + S))
//   write, cached  B * min(D / (tCBSY + tPROG),        1 / (W + S))   the next page is loaded meanwhile
#include "testbench/tests/flash/saturation.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr std::uint32_t k_channel_dies = 16;

Options sixteen_dies(bool cached, const std::string& scheduling = "out-of-order") {
  Options o;
  o.part.planes = 4;
  o.part.pages_per_block = 256;
  o.part.blocks_per_plane = 512;
  o.part.page_size = 16384;
  o.config.channels = 1;
  o.config.ways = k_channel_dies;
  o.config.cache_operations = cached;
  o.scheduling = scheduling;
  return o;
}

void check_all(Bench& b, bool cached) {
  const BusTiming& bus = b.array.bus();
  const NandPart& part = b.array.part();
  std::vector<std::uint32_t> programmed(k_channel_dies);
  for (const std::uint32_t planes : {1U, 2U, 4U}) {
    // A round of its own blocks: planes below have been used before.
    for (std::uint32_t& page : programmed) page = (page + 255) / 256 * 256;
    std::vector<std::uint32_t> readable = programmed;
    const double bytes = planes * 16384.0;
    const auto rate = [&](Picoseconds die_period, Picoseconds bus_period, std::uint32_t dies) {
      return bytes * 1e12 *
             std::min(dies / static_cast<double>(die_period), 1 / static_cast<double>(bus_period));
    };
    const Picoseconds w = bus.data_in(planes).total();
    const Picoseconds s = bus.status();
    const Picoseconds c = bus.read_command(planes);
    const Picoseconds o = bus.data_out(0, planes * b.units_per_page).total();
    const Picoseconds t_prog = part.program_time(PageId{0});
    const Picoseconds t_r = part.read_time(PageId{0});
    for (std::uint32_t dies = 1; dies <= k_channel_dies; ++dies) {
      INFO("dies " << dies << ", planes " << planes << ", cached " << cached);
      Saturation writes{.bench = b,
                        .command = FlashCommand::program,
                        .on = first_dies(dies),
                        .planes = planes,
                        .cursor = programmed};
      CHECK(writes.run() ==
            Approx(rate(cached ? part.t_cbsy + t_prog : w + t_prog + s, w + s, dies)).epsilon(0.01));
      std::vector<std::uint32_t> from = readable;
      Saturation reads{.bench = b,
                       .command = FlashCommand::read,
                       .on = first_dies(dies),
                       .planes = planes,
                       .cursor = from};
      CHECK(reads.run() ==
            Approx(rate(cached ? c + part.t_rcbsy + t_r : c + t_r + o, c + o, dies)).epsilon(0.01));
    }
  }
}

}  // namespace

TEST_CASE("saturated bandwidth of a channel equals the closed form") {
  Bench b(sixteen_dies(false));
  check_all(b, false);
}

TEST_CASE("saturated bandwidth of a channel equals the closed form with cached operations") {
  Bench b(sixteen_dies(true));
  check_all(b, true);
}

TEST_CASE("read-first reaches the same bandwidth") {
  Bench b(sixteen_dies(true, "read-first"));
  check_all(b, true);
}
