// All error-correcting codes that there are: the program's own (ecc_code.h), and behind them those
// of plug-ins.
#pragma once

#include <string>
#include <vector>

#include "models/base/ecc_code.h"

namespace tlmssd {

/// More there cannot be, `none` among them.
inline constexpr std::size_t k_most_ecc_codes = 16;

/// How many there are, `none` among them.
std::size_t ecc_codes();
/// Name in scenarios and reports.
std::string_view ecc_code_name(EccCode code);
/// The code of that name; EccCode::none when there is none.
EccCode ecc_code_called(std::string_view name);
/// Names of all codes that decode.
std::vector<std::string> ecc_code_names();
/// The code of that name, a new one when there is none so far. Throws InputError when there are too
/// many.
EccCode add_ecc_code(std::string_view name);

}  // namespace tlmssd
