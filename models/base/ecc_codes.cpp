#include "models/base/ecc_codes.h"

#include <algorithm>
#include <deque>

#include "models/base/ecc_code_text.h"
#include "models/base/input_error.h"

namespace tlmssd {

namespace {

/// A queue, whose elements stay where they are.
std::deque<std::string>& names() {
  static std::deque<std::string> all = [] {
    std::deque<std::string> own;
    for (std::size_t i = 0; i < k_ecc_codes; ++i) own.emplace_back(name_of(static_cast<EccCode>(i)));
    return own;
  }();
  return all;
}

}  // namespace

std::size_t ecc_codes() {
  return names().size();
}

std::string_view ecc_code_name(EccCode code) {
  return names()[static_cast<std::size_t>(code)];
}

std::string ecc_code_text(EccCode code) {
  const auto number = static_cast<std::size_t>(code);
  return number < ecc_codes() ? std::string(ecc_code_name(code)) : "number " + std::to_string(number);
}

std::string ecc_code_text(EccCodes codes) {
  std::string names;
  for (std::size_t i = 0; i < k_most_ecc_codes; ++i) {
    const auto code = static_cast<EccCode>(i);
    if (codes.has(code)) names += (names.empty() ? "" : ", ") + ecc_code_text(code);
  }
  return names.empty() ? "none" : names;
}

EccCode ecc_code_called(std::string_view name) {
  const auto& all = names();
  const auto found = std::find(all.begin(), all.end(), name);
  return found == all.end() ? EccCode::none : static_cast<EccCode>(found - all.begin());
}

std::vector<std::string> ecc_code_names() {
  return {names().begin() + 1, names().end()};
}

EccCode add_ecc_code(std::string_view name) {
  if (const EccCode known = ecc_code_called(name); known != EccCode::none) return known;
  if (ecc_codes() == k_most_ecc_codes)
    throw InputError("there are too many ECC codes for one more, " + std::string(name));
  names().emplace_back(name);
  return ecc_code_called(name);
}

}  // namespace tlmssd
