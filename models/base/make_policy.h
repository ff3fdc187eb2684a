// A policy of a family by its name, or an error that names the ones there are; families of which
// none need be chosen.
#pragma once

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "models/base/chosen_policy.h"
#include "models/base/input_error.h"

namespace tlmssd {

/// `key`: of the scenario, for the message. Throws InputError.
template <class Family, class... Arguments>
auto make_policy(const Family& family, const char* key, const std::string& name, const PolicyValues& values,
                 Arguments&&... arguments) {
  const NoValues defaults;
  auto policy = family.make(name, values != nullptr ? *values : defaults, arguments...);
  if (policy == nullptr) {
    std::string known;
    for (const PolicyInfo& info : family.infos()) known += (known.empty() ? "" : ", ") + info.name;
    throw InputError(fmt::format("{}: there is no '{}'; known: {}", key, name, known));
  }
  return policy;
}

/// The policies of a family for the scenario, and before them the choice of none.
template <class Family>
std::vector<PolicyInfo> with_none(const Family& family, std::string summary) {
  std::vector<PolicyInfo> infos = family.infos();
  infos.insert(infos.begin(), {std::string(k_no_policy), std::move(summary), {}});
  return infos;
}

}  // namespace tlmssd
