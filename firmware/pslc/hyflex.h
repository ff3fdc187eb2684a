// HyFlex: two measures, each taken only when it is needed.
//  - While valid data grow fast and the pSLC has little room left, so that it would overflow, a
//    part of the writes bypasses SLC.
//  - While data are rewritten but folding finds its blocks full of valid data all the same, the
//    pSLC is too small for them: more native blocks are lent than the amount of valid data would
//    allow, up to `extra`, in proportion to how inefficient folding is.
//
// Follows Shi et al., "Understanding and optimizing hybrid SSD with high-density and low-cost flash
// memory" (IEEE ICCD 2021), as Luo et al. 2022 describe it (section 4.1). How fast is fast, the
// part that bypasses SLC, and all other numbers are A.
#pragma once

#include <algorithm>
#include <cmath>

#include "firmware/pslc/data_path.h"

namespace tlmssd::firmware {

struct HyflexConfig {
  double window = 0.02;
  double fast = 0.5;
  double room = 0.5;
  double bypass = 0.75;
  double inefficient = 0.5;
  double extra = 0.5;
  static const ParameterTable<HyflexConfig>& parameters() {
    static const auto table =
        ParameterTable<HyflexConfig>{}
            .share("window", &HyflexConfig::window, {0, 1},
                   "writes over which growth is measured, as a share of the largest pSLC")
            .share("fast", &HyflexConfig::fast, {0, 1},
                   "new valid data per data written from which on growth is fast")
            .share("room", &HyflexConfig::room, {0, 1},
                   "free share of the pSLC below which fast growth is met by bypassing SLC")
            .share("bypass", &HyflexConfig::bypass, {0, 1}, "share of the writes that bypasses SLC then")
            .share("inefficient", &HyflexConfig::inefficient, {0, 0.99},
                   "valid share of folded blocks from which on more native blocks are lent")
            .share("extra", &HyflexConfig::extra, {0, 10},
                   "blocks lent in addition, at most, as a share of the dynamic pSLC");
    return table;
  }
};

class Hyflex final : public DataPath {
 public:
  static constexpr std::string_view k_name = "hyflex";
  static constexpr std::string_view k_summary =
      "bypasses SLC only while valid data grow fast; more blocks are lent while folding is inefficient "
      "(Shi et al. 2021)";
  using Config = HyflexConfig;

  Hyflex(const Config& config, const PathContext& context)
      : config_(config),
        view_(context.view),
        window_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(
                                               config.window * static_cast<double>(context.pool_units))))) {}

  bool bypasses(Lpn /*unit*/, Bytes /*command*/) override {
    if (++written_ >= window_) measure();
    // By runs, so that sequential data stay together.
    if (run_ == 0) choose();
    run_ = (run_ + 1) % k_run;
    if (bypass_) ++sent_;
    return bypass_;
  }
  void collected(std::uint32_t valid, std::uint32_t units) override {
    mean_valid_ += (static_cast<double>(valid) / units - mean_valid_) / 32;
  }
  [[nodiscard]] double extra() const override {
    if (fast_) return 0;
    return config_.extra *
           std::clamp((mean_valid_ - config_.inefficient) / (1 - config_.inefficient), 0.0, 1.0);
  }
  void report(StatisticsSink& sink) const override {
    sink.value("fast growth", fast_ ? std::uint64_t{1} : std::uint64_t{0}, "",
               "whether valid data grow fast now");
    sink.value("bypassing", sent_, "units",
               "to native blocks, because valid data grew fast and room was short; ever");
    sink.value("extra share", extra(), "share", "of the dynamic pSLC, that may be dynamic in addition now");
  }
  void archive(Archive& a) override {
    a(written_);
    a(valid_before_);
    a(sent_);
    a(mean_valid_);
    a(due_);
    a(run_);
    a(fast_);
    a(bypass_);
  }

 private:
  void choose() {
    bypass_ = false;
    if (!fast_ || view_.free_share() >= config_.room) return;
    due_ += config_.bypass;
    bypass_ = due_ >= 1;
    if (bypass_) due_ -= 1;
  }
  void measure() {
    const std::uint64_t valid = view_.valid_units();
    const double grown = static_cast<double>(valid) - static_cast<double>(valid_before_);
    fast_ = grown >= config_.fast * static_cast<double>(written_);
    valid_before_ = valid;
    written_ = 0;
  }
  static constexpr std::uint32_t k_run = 64;  ///< units
  Config config_;
  const PathView& view_;
  std::uint64_t window_;
  std::uint64_t written_ = 0;
  std::uint64_t valid_before_ = 0;
  std::uint64_t sent_ = 0;
  double mean_valid_ = 0;  ///< of folded blocks, lately
  double due_ = 0;         ///< runs that ought to have bypassed and have not
  std::uint32_t run_ = 0;  ///< units of the present run
  bool fast_ = false;
  bool bypass_ = false;  ///< the present run bypasses SLC
};

}  // namespace tlmssd::firmware
