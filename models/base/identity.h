// What must be the same in two drives for a snapshot of the one to be restored in the other: keys
// of the scenario and their values. Those that belong to it are marked in their tables
// (ParameterTable::shapes_state()); what only comes out when a drive is made is added by hand, and
// marked by settles_state() where a parameter decides it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/base/parameters.h"

namespace tlmssd {

using Identity = std::vector<std::pair<std::string, std::string>>;

/// Adds a parameter of a section.
void identify(Identity& identity, const std::string& section, const ParameterSpec& spec, const Value& value);

/// Adds the marked parameters of a configuration.
template <class Config>
void identify(Identity& identity, const std::string& section, const Config& config) {
  Config::parameters().each_of_state(config, [&](const ParameterSpec& spec, const Value& value) {
    identify(identity, section, spec, value);
  });
}

/// Adds the marked ones of `specs`, of which `values` (null: none) are given.
void identify(Identity& identity, const std::string& section, const std::vector<ParameterSpec>& specs,
              const ParameterValues* values);

/// Adds which policy has been chosen by `key`, and its marked parameters.
void identify_choice(Identity& identity, const std::string& section, const char* key,
                     const std::string& policy, const std::vector<PolicyInfo>& policies,
                     const ParameterValues* values);

}  // namespace tlmssd
