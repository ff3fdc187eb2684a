// DFCache: a file is written when it has been accessed often enough lately, and all copies together
// stay smaller than what is free of the drive's pSLC.
//
// Follows Gu et al., DFCache (ICCD 2021), as Luo et al. 2022 describe it (section 4.4): a filter of
// files by the frequency of their accesses, and a manager that keeps the cache smaller than the
// pSLC that is left (S). How often and how lately are A, and so is what of the pSLC is left
// (`within`); on a drive without pSLC the space alone is the limit.
#pragma once

#include <algorithm>
#include <deque>
#include <string>

#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

struct DfCacheConfig {
  std::uint32_t accesses = 2;
  std::uint32_t window = 10'000;
  std::string within = "free";
  static const ParameterTable<DfCacheConfig>& parameters() {
    static const auto table =
        ParameterTable<DfCacheConfig>{}
            .integer("accesses", &DfCacheConfig::accesses, {1, 1'000'000},
                     "accesses to a file, the present one included, from which on it is written")
            .integer("window", &DfCacheConfig::window, {1, 100'000'000},
                     "how many of the last accesses, to whatever file, are counted")
            .shapes_state()
            .choice("within", &DfCacheConfig::within, {"free", "size"},
                    "what copies together stay smaller than: the part of the drive's pSLC that is free now, "
                    "or all "
                    "that has not been turned into native blocks, used or not");
    return table;
  }
};

class DfCache final : public AdmissionPolicy {
 public:
  static constexpr std::string_view k_name = "dfcache";
  static constexpr std::string_view k_summary =
      "files accessed often lately, as long as they fit into the pSLC (DFCache, Gu et al. 2021)";
  using Config = DfCacheConfig;
  DfCache(const Config& config, const AdmissionContext& context)
      : config_(config), pslc_(context.pslc), counts_(context.files, 0) {}

  bool accessed(FileNumber file) override {
    if (last_.size() == config_.window) {
      --counts_[last_.front()];
      last_.pop_front();
    }
    last_.push_back(file);
    ++counts_[file];
    return false;
  }
  std::vector<Verdict> fetched(FileNumber file) override {
    return {{file, counts_[file] >= config_.accesses}};
  }
  [[nodiscard]] Bytes limit(Bytes space) const override {
    const std::optional<PslcRoom> room = pslc_();
    return room ? std::min(space, config_.within == "free" ? room->free : room->size) : space;
  }
  void archive(Archive& a) override {
    a(last_);
    a(counts_);
  }

 private:
  Config config_;
  PslcQuery pslc_;
  std::deque<FileNumber> last_;        ///< accesses, oldest first
  std::vector<std::uint32_t> counts_;  ///< of each file in `last_`
};

}  // namespace tlmssd
