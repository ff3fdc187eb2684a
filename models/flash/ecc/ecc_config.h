// The flash controller's error correction: codes, decoders, engines (scenario: ssd.flash.ecc and a
// section for each code below it).
//
// Two decoders stand behind five codes: BCH, and one LDPC decoder that all kinds of LDPC share
// (Yamaga et al.). Capabilities are counted in wrong bits of a frame as the page holds them,
// whatever a code is told beside them. Defaults, for frames of 1 KiB with 105 bytes of parity and a
// frame failure rate of 1e-6 (D): BCH of that redundancy corrects 60 bits and bears a raw bit error
// rate of 3.4e-3; hard LDPC 5e-3 and soft LDPC 1e-2 (B); EP-LDPC 2.52 times what BCH bears, so that
// it lives 57 % more cycles (S) where errors grow with cycles^2.05 (F); Quick-LDPC halfway between
// the two on the scale of cycles (A). With an error prediction (error_prediction.h), Quick-LDPC and
// EP-LDPC bear what hard LDPC bears and what they are told is worth.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/ecc_codes.h"
#include "models/base/parameters.h"
#include "models/base/types.h"
#include "models/flash/ecc/error_prediction.h"

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
  std::uint32_t gates = 0;         ///< of its own decoder; the program's codes share two of them
  SideInformation side = SideInformation::none;  ///< beside the bits of the page
  /// Probability that a frame with `wrong` wrong bits cannot be decoded, instead of correctable and
  /// waterfall; null: by those. Never smaller for more bits.
  double (*failure)(const CodeConfig& config, std::uint32_t wrong) = nullptr;
};

/// The same with the defaults of `Code`, so that each code has its own table of parameters.
template <class Code>
struct CodeConfigOf : CodeConfig {
  CodeConfigOf() : CodeConfig(Code::defaults()) {
    if constexpr (requires { &Code::failure; }) failure = &Code::failure;
  }
  static const ParameterTable<CodeConfigOf>& parameters();
};

/// What is known of a code.
struct EccCodeInfo {
  EccCode code;
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> (*parameters)();
  CodeConfig (*read)(const ParameterValues& values);
  std::string origin;  ///< the plug-in it comes from; empty: the program
};

/// The codes by name. Each is a class with `static constexpr std::string_view k_name, k_summary`,
/// `static CodeConfig defaults()` and, if it likes, `static double failure(const CodeConfig&,
/// std::uint32_t wrong)`, as in CodeConfig. A code of a plug-in has engines of its own.
class EccCodeFamily {
 public:
  template <class Code>
  void add(std::string origin) {
    codes_.push_back({add_ecc_code(Code::k_name), std::string(Code::k_name), std::string(Code::k_summary),
                      [] { return CodeConfigOf<Code>::parameters().specs(); },
                      [](const ParameterValues& values) -> CodeConfig {
                        return CodeConfigOf<Code>::parameters().read(values);
                      },
                      std::move(origin)});
  }
  /// Null when there is none of that name.
  [[nodiscard]] const EccCodeInfo* find(std::string_view name) const;
  [[nodiscard]] auto begin() const { return codes_.begin(); }
  [[nodiscard]] auto end() const { return codes_.end(); }

 private:
  std::vector<EccCodeInfo> codes_;
};

EccCodeFamily& ecc_code_family();

struct EccConfig {
  std::uint32_t engines = 2;
  Bytes frame = 1024;
  Bytes parity = 105;
  std::uint32_t bch_gates = 159'000;   ///< S (Yamaga et al., Table 1)
  std::uint32_t ldpc_gates = 470'000;  ///< S
  std::array<CodeConfig, k_most_ecc_codes> codes = default_codes();
  std::shared_ptr<const ErrorPrediction> prediction;  ///< null: none

  static const ParameterTable<EccConfig>& parameters();
  static std::array<CodeConfig, k_most_ecc_codes> default_codes();
  [[nodiscard]] const CodeConfig& of(EccCode code) const { return codes[static_cast<std::size_t>(code)]; }
  /// Whether the code corrects what the error prediction says.
  [[nodiscard]] bool predicts(const CodeConfig& code) const {
    return prediction != nullptr && code.side != SideInformation::none && code.failure == nullptr;
  }
  /// Refuses what no code of those that are asked for can be: of BCH, to correct more bits than the
  /// parity of a frame has room for.
  void check(const EccCodes& asked_for) const;
  /// Bits of a frame that BCH corrects with this parity: it takes m bits for each, 2^m - 1 being
  /// the frame's bits or more.
  [[nodiscard]] std::uint32_t most_correctable_by_bch() const {
    return static_cast<std::uint32_t>(8 * parity) / std::bit_width(frame_bits());
  }
  [[nodiscard]] std::uint32_t frame_bits() const { return static_cast<std::uint32_t>(8 * (frame + parity)); }
};

template <class Code>
const ParameterTable<CodeConfigOf<Code>>& CodeConfigOf<Code>::parameters() {
  using namespace literals;
  using C = CodeConfigOf<Code>;
  // A member of the base is named by a pointer into the base; the table wants one into the class
  // itself.
  constexpr std::uint32_t C::*k_correctable = &CodeConfig::correctable;
  constexpr std::uint32_t C::*k_extra_senses = &CodeConfig::extra_senses;
  static const auto table =
      ParameterTable<C>{}
          .integer("correctable", k_correctable, {1, 65535},
                   "wrong bits of a frame that the code corrects; with a waterfall, the number at which it "
                   "fails half of the time")
          .share("waterfall", &C::waterfall, {0, 0.5},
                 "width of the transition from success to failure (standard deviation), as a share of "
                 "correctable; 0: all or nothing")
          .integer("extra_senses", k_extra_senses, {0, 63},
                   "further senses of the page, each with its transfer to the decoder")
          .flag("word_line", &C::word_line,
                "sense and transfer the other pages of the word line too (page type = page number modulo "
                "bits per cell)")
          .bandwidth("throughput", &C::throughput, {1'000'000, 1'000'000'000'000},
                     "frame data that one engine decodes per second")
          .time("latency", &C::latency, {0, 1_ms},
                "time in the decoder's pipeline beside that; another page may be decoded meanwhile");
  return table;
}

}  // namespace tlmssd
