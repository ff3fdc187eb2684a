// The error-correcting codes that a read can ask for. What each can do and costs is the flash
// controller's (models/flash/ecc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tlmssd {

enum class EccCode : std::uint8_t {
  none,        ///< the data are taken as they come
  bch,         ///< Bose-Chaudhuri-Hocquenghem: corrects up to t wrong bits of a frame, fails above
  hard_ldpc,   ///< low-density parity check on the bits of one sense
  soft_ldpc,   ///< the same with reliabilities from further senses around each reference voltage
  quick_ldpc,  ///< one sense; reliabilities predicted from P/E cycles and retention (Yamaga et al.)
  ep_ldpc,  ///< error prediction from all pages of the word line, interference between cells included (Yamaga et al.)
  count
};
inline constexpr std::size_t k_ecc_codes = static_cast<std::size_t>(EccCode::count);

/// Name in scenarios and reports, e.g. "quick-ldpc".
constexpr std::string_view name_of(EccCode code) {
  constexpr std::array<std::string_view, k_ecc_codes> k_names = {"none",      "bch",        "hard-ldpc",
                                                                 "soft-ldpc", "quick-ldpc", "ep-ldpc"};
  return k_names[static_cast<std::size_t>(code)];
}

/// A set of codes.
class EccCodes {
 public:
  constexpr EccCodes() = default;
  constexpr void add(EccCode code) { bits_ |= 1U << static_cast<unsigned>(code); }
  [[nodiscard]] constexpr bool has(EccCode code) const {
    return ((bits_ >> static_cast<unsigned>(code)) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};

}  // namespace tlmssd
