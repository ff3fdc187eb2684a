// new-name: how often reads of the host come back to a unit of which they have read lately. Watches
// only; hooks that decide are in firmware/core/feature.h.
#pragma once

#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"

struct NewTypeConfig {
  std::uint32_t window = 4096;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<NewTypeConfig>{}.integer(
        "window", &NewTypeConfig::window, {1, 1 << 24}, "units that are remembered, at most");
    return table;
  }
};

class NewTypeFeature final : public tlmssd::firmware::Feature {
 public:
  using Lpn = tlmssd::Lpn;
  using Ppn = tlmssd::firmware::Ppn;
  // Its section of the scenario; policy: none leaves it out, policy: on puts it in.
  static constexpr const char* k_path = "firmware.new_word";
  static constexpr const char* k_doc = "how often reads come back to the same data";
  static constexpr const char* k_choice_doc = "whether that is watched";
  using Config = NewTypeConfig;

  explicit NewTypeFeature(const tlmssd::firmware::FeatureContext& context)
      : last_(Config::parameters().read(*context.choice.values).window, tlmssd::k_no_unit) {}

  // The kernel calls the hooks that are here, and no others.
  void on_host_read(Lpn unit, Ppn /*where*/, const tlmssd::Stamp* /*stamps*/) override {
    Lpn& last = last_[unit % last_.size()];
    ++reads_;
    if (last == unit) ++repeated_;
    last = unit;
  }
  void on_rewritten(Lpn unit) override {
    Lpn& last = last_[unit % last_.size()];
    if (last == unit) last = tlmssd::k_no_unit;
  }

  void report(tlmssd::StatisticsSink& sink) const override {
    sink.open("new-name", k_doc);
    sink.value("reads", reads_, "", "mapping pages read from flash for the host");
    sink.value("repeated", repeated_, "",
               "of these, read before and not written since, and still remembered");
    sink.close();
  }
  void reset_statistics() override { reads_ = repeated_ = 0; }
  void archive(tlmssd::Archive& archive) override {
    archive(last_);
    archive(reads_);
    archive(repeated_);
  }

 private:
  std::vector<Lpn> last_;
  std::uint64_t reads_ = 0;
  std::uint64_t repeated_ = 0;
};
