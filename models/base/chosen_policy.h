// What a configuration keeps of a policy that a scenario has chosen by name.
#pragma once

#include <memory>
#include <string_view>

#include "models/base/parameters.h"

namespace tlmssd {

/// What was given for a policy's own parameters; null: their defaults.
using PolicyValues = std::shared_ptr<const ParameterValues>;

/// Values that outlive the configuration, such as those of a scenario.
inline PolicyValues borrowed(const ParameterValues& values) {
  return {std::shared_ptr<const void>(), &values};
}

/// The choice of none, in families of which none need be chosen.
inline constexpr std::string_view k_no_policy = "none";
constexpr bool is_chosen(std::string_view policy) {
  return policy != k_no_policy;
}

}  // namespace tlmssd
