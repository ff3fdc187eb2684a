// Codes as policies choose them.
#pragma once

#include <initializer_list>

#include "models/base/ecc_codes.h"

namespace tlmssd::firmware {

constexpr EccCodes codes_of(std::initializer_list<EccCode> codes) {
  EccCodes set;
  for (const EccCode code : codes) set.add(code);
  return set;
}

}  // namespace tlmssd::firmware
