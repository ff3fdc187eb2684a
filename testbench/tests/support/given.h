// Parameters of a policy, given by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "firmware/base/config.h"
#include "firmware/core/feature_info.h"
#include "models/base/parameters.h"

namespace tlmssd {

class Given final : public ParameterValues {
 public:
  Given() = default;
  explicit Given(std::map<std::string, Value, std::less<>> values) : values_(std::move(values)) {}
  [[nodiscard]] const Value* find(std::string_view name) const override {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// Chooses a policy of a feature, with these parameters.
inline void choose(firmware::FirmwareConfig& config, const std::string& path, const std::string& policy,
                   std::map<std::string, Value, std::less<>> values = {}) {
  config.features[path] = {policy, std::make_shared<Given>(std::move(values))};
}

/// Whether the feature is in the program: scripts/check_features takes out one at a time.
inline bool has_feature(std::string_view path) {
  return firmware::features().find(path) != nullptr;
}

inline Value whole(std::int64_t number) {
  return Value(number);
}

}  // namespace tlmssd
