// Brings data that the host reads often from native blocks back into SLC mode.
//
// When a read has delivered its data and the policy calls them hot, whole mapping units are laid into the write buffer, marked as
// promoted (WriteBuffer::Entry), and go the way of everything else there. So a later write merges into them or supersedes them, trim
// drops them, and a flush writes them out. Until the program has ended the map points at the old place: when power fails, or the
// program finds no place any more, nothing is lost and the entry is simply given up.
//
// Why the data are still true: the read has pinned its block, so nothing else can lie at the place it was read from. As long as the map
// points there and the write buffer holds nothing of the unit, what was read is what the unit holds.
// Why nobody waits for it: nothing is copied unless half of the write buffer (its part for SLC mode, if it is shared out) is free and nobody waits
// for room, and only while every group
// has `keep_free` of its pSLC free, which is not below the share at which folding stops. So promotion by itself makes nobody fold, unless
// the pSLC is hardly larger than the write buffer; what it has brought in makes the host's own writes fold earlier, though.
// Source: Sun et al. 2016 (lru_promotion.h). Left out: moves out of SLC mode by the same list. What is folded goes, read-hot or not, and comes
// back when it is read again.
#pragma once

#include "firmware/buffer/destager.h"
#include "firmware/core.h"
#include "firmware/pslc/promotion_policy.h"

namespace tlmssd::firmware {

class Promoter {
 public:
  /// Throws InputError when the configuration does not go together.
  Promoter(Core& core, Destager& destager, const FirmwareConfig& config);

  /// The host has read `unit` from `where`, whose block is still pinned; `stamps`: all sectors of the unit. Whoever calls this has the
  /// destager pump afterwards.
  void read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);
  void report(StatisticsSink& sink) const;
  void archive(Archive& archive);

 private:
  bool slc_has_room();

  Core& core_;
  Destager& destager_;
  PromotionConfig config_;
  std::unique_ptr<ReadHotPolicy> policy_;
  Completion posted_;
  bool open_ = false;       ///< every group had enough free pSLC when that was looked at last
  std::uint32_t left_ = 0;  ///< units until it is looked at again
};

}  // namespace tlmssd::firmware
