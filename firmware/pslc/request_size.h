// Request-size: small writes are hot, large ones cold and bypass SLC. Small and
// large are relative: a write is hot when its size is at most the given percentile of the sizes of
// past writes.
//
// Follows Shi et al., "Exploiting process variation for write performance improvement on NAND flash
// memory storage systems" (IEEE TVLSI 24(1), 2016), as Luo et al. 2022 describe it (section 4.1).
// Sizes are kept in classes of a quarter of an octave; every `window` writes the counts are halved,
// so that the past fades (A).
#pragma once

#include <array>
#include <bit>

#include "firmware/pslc/data_path.h"

namespace tlmssd::firmware {

struct RequestSizeConfig {
  double percentile = 0.5;
  std::uint32_t window = 4096;
  static const ParameterTable<RequestSizeConfig>& parameters() {
    static const auto table = ParameterTable<RequestSizeConfig>{}
                                  .share("percentile", &RequestSizeConfig::percentile, {0, 1},
                                         "writes up to this percentile of past sizes are hot")
                                  .integer("window", &RequestSizeConfig::window, {1, 1'000'000'000},
                                           "writes after which the past counts half");
    return table;
  }
};

class RequestSize final : public DataPath {
 public:
  static constexpr std::string_view k_name = "request-size";
  static constexpr std::string_view k_summary =
      "writes longer than a percentile of past ones bypass SLC (Shi et al. 2016)";
  using Config = RequestSizeConfig;

  RequestSize(const Config& config, const PathContext& /*context*/) : config_(config) {}

  void command(Bytes bytes) override {
    ++counts_[size_class(bytes)];
    ++total_;
    if (++since_ < config_.window) return;
    since_ = 0;
    total_ = 0;
    for (std::uint32_t& count : counts_) total_ += count /= 2;
  }
  bool bypasses(Lpn /*unit*/, Bytes command) override {
    // Hot as long as those that are smaller do not already make up the percentile.
    std::uint64_t smaller = 0;
    for (std::size_t n = 0; n < size_class(command); ++n) smaller += counts_[n];
    return static_cast<double>(smaller) >= config_.percentile * static_cast<double>(total_) && smaller > 0;
  }
  void archive(Archive& a) override {
    a.bytes(counts_.data(), sizeof counts_);
    a(total_);
    a(since_);
  }

 private:
  /// Of 512 bytes: 0; four classes to an octave.
  static std::size_t size_class(Bytes bytes) {
    const std::uint64_t quarters = std::max<std::uint64_t>(bytes / 128, 4);
    const auto octave = static_cast<std::size_t>(std::bit_width(quarters) - 3);
    return std::min<std::size_t>(octave * 4 + ((quarters >> octave) & 3U), k_classes - 1);
  }
  static constexpr std::size_t k_classes = 128;
  Config config_;
  std::array<std::uint32_t, k_classes> counts_{};
  std::uint64_t total_ = 0;
  std::uint32_t since_ = 0;
};

}  // namespace tlmssd::firmware
