#include "firmware/fill/sequential_writes.h"

#include <algorithm>
#include <numeric>

#include "firmware/flash/erase.h"
#include "firmware/flash/flash_await.h"

namespace tlmssd::firmware {

bool SequentialWrites::known(const FillOrder& order) const {
  const bool through = core_.config.buffer.is_write_through();
  const bool whole = order.commands == 1 && order.units % layout_.program_units == 0;
  return core_.hw.decisions == nullptr && core_.places == nullptr && !core_.pslc && layout_.operations == 1 &&
         core_.map->can_redirect() && (whole || !through) && core_.pool.fresh() && flusher_.untouched() &&
         !core_.read_only;
}

/// Rounds that `units` fill whole with as much left as the write buffer holds, all of them with
/// blocks that are free beyond those that collection looks after.
std::uint32_t SequentialWrites::most_rounds(std::uint64_t units) const {
  const std::uint64_t left = std::uint64_t{2} * flusher_.buffer().capacity();
  const std::uint64_t round = std::uint64_t{layout_.pus} * layout_.block_units;
  const std::uint32_t kept = std::max(worker_.background_stop(), core_.pool.overhead()) + 2;
  const std::uint64_t rounds = units > left ? (units - left) / round : 0;
  return layout_.blocks > kept
             ? static_cast<std::uint32_t>(std::min<std::uint64_t>(rounds, layout_.blocks - kept))
             : 0;
}

std::uint64_t SequentialWrites::carry_out(const FillOrder& order) {
  const std::uint64_t round = std::uint64_t{layout_.pus} * layout_.block_units;
  const std::uint64_t grain =
      order.units / std::gcd<std::uint64_t>(round, order.units);  // rounds of whole requests
  const auto rounds = static_cast<std::uint32_t>(
      most_rounds(std::min<std::uint64_t>(order.requests * order.units, layout_.logical_units)) / grain *
      grain);
  if (rounds == 0 || !core_.map->fill(rounds)) return 0;
  for (std::uint32_t n = 0; n < rounds; ++n) {
    for (std::uint32_t turn = 0; turn < layout_.pus; ++turn) fill_block(turn);
  }
  const std::uint64_t units = rounds * round;
  flusher_.pass(units);
  const auto host = static_cast<std::size_t>(Purpose::host);
  core_.stats.commands += units / order.units * order.commands;
  core_.stats.host_units_written += units;
  core_.stats.host_blocks_written += units * layout_.sectors;
  core_.stats.units_programmed[host] += units;
  core_.stats.programs[host] += units / layout_.program_units;
  return units / order.units;
}

/// The block of the parallel unit whose turn it is takes its program units, one in each of its dies
/// after another.
void SequentialWrites::fill_block(std::uint32_t turn) {
  const std::uint32_t pu = layout_.sequence()[turn];
  const BlockNumber block = core_.pool.fill(pu, core_.clock());
  SequentialFill content;
  content.block_step = layout_.pus * layout_.block_units;
  content.program_step = layout_.stripe_dies * layout_.pus * layout_.program_units;
  content.page_step = layout_.mp_page_units;
  content.sequence = 1;
  for (std::uint32_t stripe_die = 0; stripe_die < layout_.stripe_dies; ++stripe_die) {
    content.first = static_cast<Lpn>((stripe_die * layout_.pus + turn) * layout_.program_units);
    FlashTransaction op(block_op(layout_, FlashCommand::program, block, stripe_die));
    op.fill = &content;
    submit_untimed(core_.hw, op);
  }
}

}  // namespace tlmssd::firmware
