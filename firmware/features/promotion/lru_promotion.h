// LRU: data are hot that are read again while they are still on a list of what was read last (Sun
// et al., "Design guidelines of storage class memory/flash hybrid solid-state drive considering
// system architecture, algorithm and workload characteristic", IEEE Transactions on Consumer
// Electronics 62(3), 2016, as Luo et al. 2022 describe it in their section 4.2: [15]).
//
// The list holds mapping pages. With `reads` above 2, a scan that comes by twice does not bring
// everything in; the source has 2 (S: what is read while it is on the list is hot).
#pragma once

#include "firmware/base/counted_reads.h"
#include "firmware/features/promotion/promotion_policy.h"

namespace tlmssd::firmware {

struct LruPromotionConfig : CountedReadsConfig {
  static const ParameterTable<LruPromotionConfig>& parameters() {
    static const auto table = counted_reads_parameters<LruPromotionConfig>(
        "reads while the data are on the list, the present one included, from which on they are copied");
    return table;
  }
};

class LruPromotion final : public CountedReads {
 public:
  static constexpr std::string_view k_name = "lru";
  static constexpr std::string_view k_summary =
      "what is read again while it is on a list of what was read last (Sun et al. 2016)";
  using Config = LruPromotionConfig;
  using CountedReads::CountedReads;
};

}  // namespace tlmssd::firmware
