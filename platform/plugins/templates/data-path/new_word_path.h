// new-name: a write longer than the mean of past ones, so many times over, is cold and
// bypasses SLC; all else lands in SLC mode.
#pragma once

#include "firmware/pslc/data_path.h"

struct NewTypeConfig {
  double times = 4;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<NewTypeConfig>{}.real(
        "times", &NewTypeConfig::times, {1, 1e6}, "mean lengths from which on a write is cold");
    return table;
  }
};

class NewTypePath final : public tlmssd::firmware::DataPath {
 public:
  using Bytes = tlmssd::Bytes;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "writes longer than most bypass SLC";
  using Config = NewTypeConfig;
  NewTypePath(const Config& config, const tlmssd::firmware::PathContext& /*context*/)
      : times_(config.times) {}

  // A write of the host begins.
  void command(Bytes bytes) override {
    ++writes_;
    bytes_ += bytes;
    if (cold(bytes)) ++cold_;
  }
  // Of each of its mapping pages, in the order in which they reach the write buffer.
  bool bypasses(tlmssd::Lpn /*unit*/, Bytes command) override { return cold(command); }
  void report(tlmssd::StatisticsSink& sink) const override {
    sink.value("cold writes", cold_, "", "writes that bypass SLC");
  }
  // What must survive a snapshot, one function for both directions.
  void archive(tlmssd::Archive& a) override {
    a(writes_);
    a(bytes_);
    a(cold_);
  }

 private:
  [[nodiscard]] bool cold(Bytes bytes) const {
    return static_cast<double>(bytes) * static_cast<double>(writes_) > times_ * static_cast<double>(bytes_);
  }
  double times_;
  std::uint64_t writes_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t cold_ = 0;
};
