// Codes as parameters of policies.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "models/base/ecc_code.h"

namespace tlmssd::firmware {

/// Names of all codes that decode.
inline std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < k_ecc_codes; ++i) names.emplace_back(name_of(static_cast<EccCode>(i)));
  return names;
}

constexpr EccCodes codes_of(std::initializer_list<EccCode> codes) {
  EccCodes set;
  for (const EccCode code : codes) set.add(code);
  return set;
}

}  // namespace tlmssd::firmware
