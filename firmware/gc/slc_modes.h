// Free blocks of a parallel unit that change between native and SLC mode: which mode an emptied
// block is erased into, and when a free one is erased into the other.
//
// Nothing can deadlock: what folding gives back goes into native mode as long as the reserve is
// short, and blocks that are ready in SLC mode come back when native room is waited for and
// collection gains nothing.
#pragma once

#include <optional>

#include "firmware/gc/worker_state.h"

namespace tlmssd::firmware {

class SlcModes {
 public:
  explicit SlcModes(const WorkerState& state) : state_(state), core_(state.core), pu_(state.pu) {}
  /// The mode that a free block is to be erased into now, if any.
  [[nodiscard]] std::optional<BlockMode> due() const { return core_.pslc ? change_due() : std::nullopt; }
  /// The mode that the emptied block is erased into.
  [[nodiscard]] BlockMode after(BlockNumber block) const;
  /// Takes out a block that is to be erased into `mode`, which is due.
  [[nodiscard]] BlockNumber take(BlockMode mode) const;
  /// Collecting native blocks pays, so that more can be lent.
  [[nodiscard]] bool wants_growth() const;

 private:
  [[nodiscard]] std::optional<BlockMode> change_due() const;

  const WorkerState& state_;
  Core& core_;
  const std::uint32_t pu_;
};

}  // namespace tlmssd::firmware
