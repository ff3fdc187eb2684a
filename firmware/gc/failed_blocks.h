// Blocks in which a program has failed: emptied first of all, to be retired.
//
// Nothing can deadlock: emptying one takes from the reserve and gives nothing back, but it does not
// count as room any more (BlockPool::usable()), so that invalid units are left whose collection
// makes the reserve whole again, or the drive goes read-only (Core::check_capacity()). A static
// block in SLC mode waits for a whole reserve, which native collection sees to meanwhile.
#pragma once

#include "firmware/gc/move_source.h"

namespace tlmssd::firmware {

class FailedBlocks final : public MoveSource {
 public:
  explicit FailedBlocks(WorkerState& state) : MoveSource(state) {}
  [[nodiscard]] bool urgent() const override {
    return core_.pool.grown_bad_waiting(pu_) || any_failed(state_.unfinished);
  }
  /// Some have been read, and are held back.
  [[nodiscard]] bool gathered() const {
    bool any = false;
    state_.gathering.for_each_scanned([&](BlockNumber block) { any = any || failed(block); });
    return any;
  }
  Move next() override {
    const auto may = [this](BlockNumber block) {
      return !core_.pool.is_static(block) || core_.pool.can_fold(pu_);
    };
    const bool fresh = core_.pool.grown_bad_waiting(pu_) && may(core_.pool.next_grown_bad(pu_));
    if (fresh) begin(core_.pool.next_grown_bad(pu_));
    return victim(fresh ? core_.pool.take_grown_bad(pu_) : state_.take_unfinished([&](BlockNumber block) {
      return failed(block) && may(block);
    }),
                  "a program of it has failed");
  }

 private:
  [[nodiscard]] bool failed(BlockNumber block) const { return core_.pool.info(block).failed; }
  [[nodiscard]] bool any_failed(const std::vector<BlockNumber>& blocks) const {
    return std::any_of(blocks.begin(), blocks.end(), [this](BlockNumber block) { return failed(block); });
  }
};

}  // namespace tlmssd::firmware
