#include "firmware/flash/erase.h"

#include <algorithm>
#include <vector>

#include "firmware/core/decision_texts.h"
#include "firmware/flash/flash_await.h"

namespace tlmssd::firmware {

FlashOp block_op(const Layout& layout, FlashCommand command, BlockNumber block, std::uint32_t lane) {
  const std::uint32_t pu = layout.pu_of(block);
  FlashOp op;
  op.command = command;
  op.die = layout.die_of(pu, lane);
  op.plane = layout.plane_of(pu);
  op.planes = static_cast<std::uint16_t>(layout.planes);
  op.block = static_cast<BlockId>(block - pu * layout.blocks);
  return op;
}

Task<> erase_block(Core& core, BlockNumber block, Purpose purpose, BlockMode mode) {
  if (!core.pool.info(block).failed) {
    co_await RunStage(core.hw, Stage::flash, nullptr, core.layout.lanes);
    std::vector<FlashTransaction> ops(core.layout.lanes);
    for (std::uint32_t lane = 0; lane < core.layout.lanes; ++lane) {
      ops[lane] = block_op(core.layout, FlashCommand::erase, block, lane);
      ops[lane].mode = mode;
      ops[lane].purpose = purpose;
      ops[lane].writes_wait = core.writes_wait;
    }
    core.pool.check_erasable(block);
    FlashAwait done(core.hw, ops);
    co_await done;
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
