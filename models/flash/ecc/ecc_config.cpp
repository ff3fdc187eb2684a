#include "models/flash/ecc/ecc_config.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd {

using namespace literals;

namespace {

// F: decoding 16 KiB takes 20 us (ASPLOS'21, 72 bits per 1 KiB); B: LDPC decoders of the time reach
// 1.6 GB/s on one sense. A: the waterfall.
constexpr BytesPerSecond k_slow = 800_MBps;
constexpr BytesPerSecond k_fast = 1600_MBps;
constexpr double k_waterfall = 0.03;

struct Bch {
  static constexpr std::string_view k_name = "bch";
  static constexpr std::string_view k_summary = "BCH";
  static CodeConfig defaults() { return {.correctable = 60, .throughput = k_slow}; }
};

struct HardLdpc {
  static constexpr std::string_view k_name = "hard-ldpc";
  static constexpr std::string_view k_summary = "LDPC on the bits of one sense";
  static CodeConfig defaults() { return {.correctable = 82, .waterfall = k_waterfall, .throughput = k_fast}; }
};

struct SoftLdpc {
  static constexpr std::string_view k_name = "soft-ldpc";
  static constexpr std::string_view k_summary = "LDPC with soft information from further senses";
  static CodeConfig defaults() {
    constexpr std::uint32_t k_senses = 6;  // S
    return {.correctable = 143, .waterfall = k_waterfall, .extra_senses = k_senses, .throughput = k_slow};
  }
};

struct QuickLdpc {
  static constexpr std::string_view k_name = "quick-ldpc";
  static constexpr std::string_view k_summary =
      "LDPC with errors predicted from cycles and age (Yamaga et al.)";
  static CodeConfig defaults() {
    return {.correctable = 87, .waterfall = k_waterfall, .throughput = k_fast, .side = SideInformation::page};
  }
};

struct EpLdpc {
  static constexpr std::string_view k_name = "ep-ldpc";
  static constexpr std::string_view k_summary =
      "LDPC with errors predicted from the whole word line (Yamaga et al.: without upper/lower cells)";
  static CodeConfig defaults() {
    return {.correctable = 126,  // S
            .waterfall = k_waterfall,
            .word_line = true,
            .throughput = k_fast,
            .side = SideInformation::word_line};
  }
};

EccCodeFamily own_codes() {
  EccCodeFamily family;
  family.add<Bch>({});
  family.add<HardLdpc>({});
  family.add<SoftLdpc>({});
  family.add<QuickLdpc>({});
  family.add<EpLdpc>({});
  return family;
}

}  // namespace

EccCodeFamily& ecc_code_family() {
  static EccCodeFamily family = own_codes();
  return family;
}

const EccCodeInfo* EccCodeFamily::find(std::string_view name) const {
  const auto found =
      std::find_if(codes_.begin(), codes_.end(), [&](const EccCodeInfo& info) { return info.name == name; });
  return found == codes_.end() ? nullptr : &*found;
}

std::array<CodeConfig, k_most_ecc_codes> EccConfig::default_codes() {
  std::array<CodeConfig, k_most_ecc_codes> codes;
  for (const EccCodeInfo& info : ecc_code_family())
    codes[static_cast<std::size_t>(info.code)] = info.read(NoValues());
  return codes;
}

void EccConfig::check(const EccCodes& asked_for) const {
  const CodeConfig& bch = of(EccCode::bch);
  const std::uint32_t most = most_correctable_by_bch();
  if (!asked_for.has(EccCode::bch) || bch.failure != nullptr || bch.correctable <= most) return;
  const std::string what = fmt::format(
      "BCH needs {} bits of parity for each bit that it corrects in a frame of {}, and ssd.flash.ecc.parity "
      "has {}",
      std::bit_width(frame_bits()), frame_bits(), 8 * parity);
  if (most > 0) throw refusal("ssd.flash.ecc.bch.correctable", what, std::to_string(most));
  throw refusal("ssd.flash.ecc.parity", what, Proposal{"ssd.flash.ecc.parity", "105 B"});
}

const ParameterTable<EccConfig>& EccConfig::parameters() {
  using C = EccConfig;
  static const auto table =
      ParameterTable<C>{}
          .integer("engines", &C::engines, {1, 1024}, "decoders of each kind in use (BCH, LDPC)")
          .bytes("frame", &C::frame, {256, 65536},
                 "data of one codeword; the mapping page must be a multiple of it")
          .bytes("parity", &C::parity, {0, 16384},
                 "redundancy of a frame, whose bits can be wrong too (its time on the bus is that of the "
                 "part's spare_size)")
          .integer("bch_gates", &C::bch_gates, {0, 1'000'000'000}, "logic gates of a BCH decoder")
          .integer("ldpc_gates", &C::ldpc_gates, {0, 1'000'000'000},
                   "logic gates of an LDPC decoder, shared by all kinds of LDPC");
  return table;
}

}  // namespace tlmssd
