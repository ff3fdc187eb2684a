#include "firmware/flash/erase.h"

#include <algorithm>
#include <vector>

#include "firmware/core/decision_texts.h"
#include "firmware/flash/flash_await.h"

namespace tlmssd::firmware {

FlashOp block_op(const Layout& layout, FlashCommand command, BlockNumber block, std::uint32_t stripe_die) {
  const std::uint32_t pu = layout.pu_of(block);
  FlashOp op;
  op.command = command;
  op.die = layout.die_of(pu, stripe_die);
  op.plane = layout.plane_of(pu);
  op.planes = static_cast<std::uint16_t>(layout.planes);
  op.block = static_cast<BlockId>(block - pu * layout.blocks);
  return op;
}

namespace {

const Ledger& last_of(const std::vector<Ledger>& branches) {
  return *std::max_element(branches.begin(), branches.end(),
                           [](const Ledger& a, const Ledger& b) { return a.mark() < b.mark(); });
}

}  // namespace

Task<> erase_block(Core& core, BlockNumber block, Purpose purpose, BlockMode mode, Ledger* ledger) {
  if (!core.pool.info(block).failed) {
    co_await RunStage(core.hw, Stage::flash, ledger, core.layout.stripe_dies);
    std::vector<FlashTransaction> ops(core.layout.stripe_dies);
    std::vector<Ledger> branches(ledger != nullptr ? core.layout.stripe_dies : 0,
                                 Ledger(core.hw.event_queue.now()));
    for (std::uint32_t stripe_die = 0; stripe_die < core.layout.stripe_dies; ++stripe_die) {
      ops[stripe_die] = block_op(core.layout, FlashCommand::erase, block, stripe_die);
      ops[stripe_die].mode = mode;
      ops[stripe_die].purpose = purpose;
      ops[stripe_die].writes_wait = core.writes_wait;
      if (ledger != nullptr) ops[stripe_die].ledger = &branches[stripe_die];
    }
    core.pool.check_erasable(block);
    FlashAwait done(core.hw, ops);
    co_await done;
    if (ledger != nullptr) ledger->adopt(last_of(branches));
    const auto failed = static_cast<std::size_t>(std::count_if(
        ops.begin(), ops.end(), [](const FlashOp& op) { return op.status != FlashStatus::ok; }));
    core.stats.erases += ops.size() - failed;
    core.stats.erase_failures += failed;
    if (failed == 0) {
      tell_block(core, DecisionKind::erase, "erased",
                 mode == BlockMode::slc ? "into SLC mode" : "into native mode", block);
      core.pool.erased(block, mode);
      co_return;
    }
  }
  tell_block(core, DecisionKind::retire, "retired",
             core.pool.info(block).failed ? "a program of it has failed" : "its erase has failed", block);
  core.pool.retire(block);
  core.check_capacity();
}

}  // namespace tlmssd::firmware
