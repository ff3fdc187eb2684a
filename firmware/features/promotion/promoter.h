// Brings data that the host reads often from native blocks back into SLC mode.
//
// When a read has delivered its data and the policy calls them hot, whole mapping pages are laid
// into the write buffer, marked as relocated (WriteBuffer::Entry), and go the way of everything
// else there. So a later write merges into them or supersedes them, trim drops them, and a flush
// writes them out. Until the program has ended the map points at the old place: when power fails,
// or the program finds no place any more, nothing is lost and the entry is simply given up.
//
// Why the data are still true: the read has pinned its block, so nothing else can lie at the place
// it was read from. As long as the map points there and the write buffer holds nothing of the unit,
// what was read is what the unit holds. Why nothing waits for it: nothing is copied unless half of
// the write buffer (its part for SLC mode, if it is shared out) is free and nothing waits for room,
// and only while every parallel unit has `keep_free` of its pSLC free, which is not below the share
// at which folding stops. So promotion by itself starts no folding, unless the pSLC is hardly
// larger than the write buffer; what it has brought in makes the host's own writes fold earlier,
// though. Source: Sun et al. 2016 (lru_promotion.h). Left out: moves out of SLC mode by the same
// list. What is folded goes, read-hot or not, and comes back when it is read again.
#pragma once

#include "firmware/buffer/flusher.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/promotion/promotion_policy.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

struct PromotionConfig {
  double keep_free = 0.5;
  static const ParameterTable<PromotionConfig>& parameters();
};

class Promoter final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.pslc.promotion";
  static constexpr const char* k_doc = "read-hot data brought from native blocks into SLC mode";
  static constexpr const char* k_choice_doc = "which data are hot";
  using Config = PromotionConfig;
  static std::vector<PolicyInfo> policies() {
    return with_none(promotion_family(), "data stay where they are, however often they are read");
  }
  struct Counters {
    std::uint64_t due = 0;             ///< hot units that were read from native blocks
    std::uint64_t without_slc = 0;     ///< left where they were for want of free pSLC
    std::uint64_t without_buffer = 0;  ///< the same for want of room in the write buffer
  };

  explicit Promoter(const FeatureContext& context);

  void on_host_read(Lpn unit, Ppn where, const Stamp* stamps) override;
  void on_read_end() override { flusher_.pump_if_due(); }

  [[nodiscard]] std::optional<MovedUnits> moved() const override {
    return MovedUnits{"promotion", "read-hot data moved into blocks in SLC mode",
                      core_.stats.units_relocated};
  }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  bool slc_has_room();

  Core& core_;
  Flusher& flusher_;
  std::string policy_name_;
  PromotionConfig config_;
  std::unique_ptr<ReadHotPolicy> policy_;
  Counters counters_;
  Completion posted_;
  bool open_ = false;       ///< every parallel unit had enough free pSLC when that was looked at last
  std::uint32_t left_ = 0;  ///< units until it is looked at again
};

}  // namespace tlmssd::firmware
