#include "models/flash/ecc/ecc_config.h"

namespace tlmssd {

using namespace literals;

namespace {

constexpr CodeConfig default_of(EccCode code) {
  CodeConfig c;
  // F: decoding 16 KiB takes 20 us (ASPLOS'21, 72 bits per 1 KiB); B: LDPC decoders of the time
  // reach 1.6 GB/s on one sense.
  c.throughput = code == EccCode::bch || code == EccCode::soft_ldpc ? 800_MBps : 1600_MBps;
  c.waterfall = code == EccCode::bch ? 0 : 0.03;  // A
  switch (code) {
    case EccCode::bch:
      c.correctable = 60;
      break;
    case EccCode::hard_ldpc:
      c.correctable = 82;
      break;
    case EccCode::soft_ldpc:
      c.correctable = 143;
      c.extra_senses = 6;  // S
      break;
    case EccCode::quick_ldpc:
      c.correctable = 87;
      break;
    case EccCode::ep_ldpc:
      c.correctable = 126;
      c.word_line = true;  // S
      break;
    default:
      break;
  }
  return c;
}

}  // namespace

template <EccCode k_code>
CodeConfigOf<k_code>::CodeConfigOf() : CodeConfig(default_of(k_code)) {}

template <EccCode k_code>
const ParameterTable<CodeConfigOf<k_code>>& CodeConfigOf<k_code>::parameters() {
  using C = CodeConfigOf<k_code>;
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

template struct CodeConfigOf<EccCode::bch>;
template struct CodeConfigOf<EccCode::hard_ldpc>;
template struct CodeConfigOf<EccCode::soft_ldpc>;
template struct CodeConfigOf<EccCode::quick_ldpc>;
template struct CodeConfigOf<EccCode::ep_ldpc>;

std::array<CodeConfig, k_ecc_codes> EccConfig::default_codes() {
  std::array<CodeConfig, k_ecc_codes> codes;
  for (std::size_t i = 0; i < k_ecc_codes; ++i) codes[i] = default_of(static_cast<EccCode>(i));
  return codes;
}

const ParameterTable<EccConfig>& EccConfig::parameters() {
  using C = EccConfig;
  static const auto table =
      ParameterTable<C>{}
          .integer("engines", &C::engines, {1, 1024}, "decoders of each kind in use (BCH, LDPC)")
          .bytes("frame", &C::frame, {256, 65536},
                 "data of one codeword; the mapping unit must be a multiple of it")
          .bytes("parity", &C::parity, {0, 16384},
                 "redundancy of a frame, whose bits can be wrong too (its time on the bus is that of the "
                 "part's spare_size)")
          .integer("bch_gates", &C::bch_gates, {0, 1'000'000'000}, "logic gates of a BCH decoder")
          .integer("ldpc_gates", &C::ldpc_gates, {0, 1'000'000'000},
                   "logic gates of an LDPC decoder, shared by all kinds of LDPC");
  return table;
}

}  // namespace tlmssd
