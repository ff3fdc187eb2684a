// Erases of blocks.
#pragma once

#include "firmware/core/core.h"

namespace tlmssd::firmware {

/// Erases a block that has been emptied and with no reads under way into `mode`, or retires it when
/// it has failed or fails now. `purpose`: what it has been emptied for. `ledger`: what it is
/// charged to, or null.
Task<> erase_block(Core& core, BlockNumber block, Purpose purpose, BlockMode mode = BlockMode::native,
                   Ledger* ledger = nullptr);

/// `command` for all planes of a block in one of its dies, the `stripe_die`-th of its parallel
/// unit.
FlashOp block_op(const Layout& layout, FlashCommand command, BlockNumber block, std::uint32_t stripe_die);

}  // namespace tlmssd::firmware
