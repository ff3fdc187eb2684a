#include "firmware/flash/plane_joiner.h"

#include <bit>

#include "models/base/mixing.h"

namespace tlmssd::firmware {

void PlaneJoiner::join(ReadList& list) {
  const std::size_t wanted = std::bit_ceil(std::size_t{2} * list.size());
  if (slots_.size() < wanted) slots_.assign(wanted, {});
  ++list_;
  for (ReadOp& read : list) {
    const FlashOp& op = read.op;
    const std::uint64_t key = (std::uint64_t{index(op.die)} << 32U | index(op.page)) * k_golden;
    for (std::size_t at = key >> 32U;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.list != list_) {
        slot = {list_, &read};
        break;
      }
      if (!fits(*slot.first, op)) continue;
      ReadOp* last = slot.first;
      while (last->joined != nullptr) last = last->joined;
      last->joined = &read;
      read.follows = true;
      --list.operations;
      break;
    }
  }
}

bool PlaneJoiner::fits(const ReadOp& first, const FlashOp& op) const {
  if (first.op.die != op.die || first.op.page != op.page || first.op.mode != op.mode) return false;
  for (const ReadOp* read = &first; read != nullptr; read = read->joined) {
    const FlashOp& other = read->op;
    if (index(op.plane) < index(other.plane) + other.planes &&
        index(other.plane) < index(op.plane) + op.planes) {
      return false;
    }
    if (same_blocks_ && other.block != op.block) return false;
  }
  return true;
}

}  // namespace tlmssd::firmware
