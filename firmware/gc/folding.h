// Blocks in SLC mode (firmware.pslc) whose valid units go into native blocks: folded when little of
// the pSLC is free, when programs wait for room in it, and when the host is idle.
//
// Nothing can deadlock:
//  - Folding a dynamic block writes less than a block and gives one back, so it may use the reserve
//    as collection does, and what it gives back goes into native mode as long as the reserve is
//    short (SlcModes).
//  - Folding a static block gives nothing back to native mode. It is only begun, and its units only
//    get a place, while the reserve is whole (BlockPool::can_fold()); otherwise what was read of it
//    is put back, and native blocks, or dynamic ones, are collected first.
#pragma once

#include "firmware/gc/move_source.h"

namespace tlmssd::firmware {

class Folding final : public MoveSource {
 public:
  explicit Folding(WorkerState& state) : MoveSource(state) {}
  [[nodiscard]] bool urgent() const override { return core_.pslc && wants_fold(); }
  Move next() override;
  /// The same, of dynamic blocks alone.
  Move next_dynamic() { return take(true); }
  /// Begins and ends folding ahead, by the share of the pSLC that is free.
  void update() {
    if (core_.pslc) update_ahead();
  }
  /// Room in SLC mode is waited for, and neither ready nor to be had without folding.
  [[nodiscard]] bool slc_wait() const;
  /// Some blocks in SLC mode have been read, and are held back.
  [[nodiscard]] bool gathered() const { return any_slc(state_.gathering.scanned()); }
  void archive(Archive& a) { a(ahead_); }

 private:
  [[nodiscard]] bool wants_fold() const;
  void update_ahead();
  [[nodiscard]] bool any_slc(const std::vector<BlockNumber>& blocks) const;
  [[nodiscard]] double free_share() const;
  Move take(bool dynamic);

  bool ahead_ = false;  ///< below the threshold: fold until fold_until
};

}  // namespace tlmssd::firmware
