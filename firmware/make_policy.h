// A policy of a family by its name, or an error that names the ones there are.
#pragma once

#include <fmt/format.h>
#include <string>

#include "models/common/input_error.h"
#include "models/common/parameters.h"

namespace tlmssd::firmware {

/// `key`: of the scenario, for the message; `values`: the policy's own parameters, null for their defaults. Throws InputError.
template <class Family, class... Arguments>
auto make_policy(const Family& family, const char* key, const std::string& name,
                 const ParameterValues* values, Arguments&&... arguments) {
  const NoValues defaults;
  auto policy = family.make(name, values != nullptr ? *values : defaults, arguments...);
  if (policy == nullptr) {
    std::string known;
    for (const PolicyInfo& info : family.infos()) known += (known.empty() ? "" : ", ") + info.name;
    throw InputError(fmt::format("{}: there is no '{}'; known: {}", key, name, known));
  }
  return policy;
}

}  // namespace tlmssd::firmware
