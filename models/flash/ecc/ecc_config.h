// The flash controller's error correction: codes, decoders, engines (scenario: ssd.flash.ecc and a
// section for each code below it).
//
// Two decoders stand behind five codes: BCH, and one LDPC decoder that all kinds of LDPC share
// (Yamaga et al.). Capabilities are counted in wrong bits of a frame as the page holds them,
// whatever a code is told beside them. Defaults, for frames of 1 KiB with 105 bytes of parity and a
// frame failure rate of 1e-6 (D): BCH of that redundancy corrects 60 bits and bears a raw bit error
// rate of 3.4e-3; hard LDPC 5e-3 and soft LDPC 1e-2 (B); EP-LDPC 2.52 times what BCH bears, so that
// it lives 57 % more cycles (S) where errors grow with cycles^2.05 (F); Quick-LDPC halfway between
// the two on the scale of cycles (A).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "models/base/ecc_code.h"
#include "models/base/parameters.h"
#include "models/base/types.h"

namespace tlmssd {

/// One code: how the page is sensed for it, what it corrects, how fast its decoder is.
struct CodeConfig {
  std::uint32_t correctable =
      0;                 ///< wrong bits of a frame that it corrects; with a waterfall: half of the time
  double waterfall = 0;  ///< width of the transition, as a share of `correctable` (standard deviation)
  std::uint32_t extra_senses = 0;  ///< of the same page, beside the first
  bool word_line = false;          ///< senses every page of the word line
  BytesPerSecond throughput = 0;   ///< of one engine, in data of frames
  Picoseconds latency = 0;         ///< of the decoder's pipeline, during which the next page may follow
};

/// The same with the defaults of `k_code`, so that each code has its own table of parameters.
template <EccCode k_code>
struct CodeConfigOf : CodeConfig {
  CodeConfigOf();
  static const ParameterTable<CodeConfigOf>& parameters();
};

/// Calls visit(std::integral_constant<EccCode, code>, what the code is) for every code.
template <class Visit>
void each_code(Visit&& visit) {
  visit(std::integral_constant<EccCode, EccCode::bch>(), "BCH");
  visit(std::integral_constant<EccCode, EccCode::hard_ldpc>(), "LDPC on the bits of one sense");
  visit(std::integral_constant<EccCode, EccCode::soft_ldpc>(),
        "LDPC with soft information from further senses");
  visit(std::integral_constant<EccCode, EccCode::quick_ldpc>(),
        "LDPC with errors predicted from cycles and age (Yamaga et al.)");
  visit(std::integral_constant<EccCode, EccCode::ep_ldpc>(),
        "LDPC with errors predicted from the whole word line (Yamaga et al.: without upper/lower cells)");
}

struct EccConfig {
  std::uint32_t engines = 2;
  Bytes frame = 1024;
  Bytes parity = 105;
  std::uint32_t bch_gates = 159'000;   ///< S (Yamaga et al., Table 1)
  std::uint32_t ldpc_gates = 470'000;  ///< S
  std::array<CodeConfig, k_ecc_codes> codes = default_codes();

  static const ParameterTable<EccConfig>& parameters();
  static std::array<CodeConfig, k_ecc_codes> default_codes();
  [[nodiscard]] const CodeConfig& of(EccCode code) const { return codes[static_cast<std::size_t>(code)]; }
  [[nodiscard]] std::uint32_t frame_bits() const { return static_cast<std::uint32_t>(8 * (frame + parity)); }
};

}  // namespace tlmssd
