// Where the GC worker of a parallel unit gets what it moves. PuWorker::begin_moves() and
// next_victim() say in which order the sources are asked. Each states its part in why nothing can
// deadlock; worker.h puts them together.
//
// The worker holds its sources by their own classes, so that nothing is asked by a virtual call.
#pragma once

#include "firmware/gc/worker_state.h"

namespace tlmssd::firmware {

class MoveSource {
 public:
  MoveSource(const MoveSource&) = delete;
  /// There is something to move, and reason to.
  [[nodiscard]] virtual bool urgent() const = 0;
  /// What is moved next, taken out of what may be; no block: nothing, or nothing now.
  virtual Move next() = 0;

 protected:
  explicit MoveSource(WorkerState& state) : state_(state), core_(state.core), pu_(state.pu) {}
  ~MoveSource() = default;
  /// All that is valid in a block, for collection.
  [[nodiscard]] static Move victim(BlockNumber block, std::string_view why) {
    return {.purpose = Purpose::gc, .block = block, .why = why};
  }
  /// Features are told that collection begins to empty the block.
  void begin(BlockNumber block) const {
    for (Feature* const feature : core_.hooks.victim) feature->on_victim(pu_, block);
  }
  void tell(DecisionKind kind, std::string_view what, const Move& move) const {
    if (!wanted(core_.hw, kind)) return;
    note(core_.hw, {.kind = kind,
                    .what = what,
                    .why = move.why,
                    .pu = pu_,
                    .block = move.block,
                    .valid = core_.pool.info(move.block).valid,
                    .score = core_.pool.worn(move.block)});
  }

  WorkerState& state_;
  Core& core_;
  const std::uint32_t pu_;
};

}  // namespace tlmssd::firmware
