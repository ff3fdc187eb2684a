// Parameters of a policy, given by name.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "models/common/parameters.h"

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

inline Value whole(std::int64_t number) {
  return Value(number);
}

}  // namespace tlmssd
