// How long one command may be, and where a longer request is split: as Linux does
// (bio_split_to_limits).
//
// Each piece but the last is as long as the drive takes and ends on a boundary of its physical
// blocks, so that no block is written in two halves. Only commands that carry data are split: a
// drive takes trims of any length. Linux's own bound (max_sectors_kb) is the host's and is left
// out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "testbench/loads/requests/placement.h"

namespace tlmssd {

struct TransferLimit {
  std::uint64_t blocks = 0;     ///< logical blocks in one command; 0: no limit
  std::uint64_t aligned = 1;    ///< logical blocks of one physical block
  std::uint64_t up_to = ~0ULL;  ///< requests from this LBA on are not for the drive
  /// Blocks of the first command of `request`: all of them when it need not be split.
  [[nodiscard]] std::uint32_t first_piece(const PlacedRequest& request) const {
    const bool data = request.opcode == HostOpcode::read || request.opcode == HostOpcode::write;
    if (blocks == 0 || !data || request.blocks <= blocks || request.lba >= up_to) return request.blocks;
    const std::uint64_t into = request.lba % aligned;
    const std::uint64_t end = (into + blocks) / aligned * aligned;
    return static_cast<std::uint32_t>(end > into ? end - into : blocks);
  }
};

}  // namespace tlmssd
