// Codes in messages, which may be codes that there are not.
#pragma once

#include <string>

#include "models/base/ecc_codes.h"

namespace tlmssd {

/// Whether `codes` has it, which may be any number.
constexpr bool is_among(EccCodes codes, EccCode code) {
  return static_cast<std::size_t>(code) < k_most_ecc_codes && codes.has(code);
}
/// Its name; its number when there is no such code.
std::string ecc_code_text(EccCode code);
/// The same of all of `codes`, "none" when there is none.
std::string ecc_code_text(EccCodes codes);

}  // namespace tlmssd
