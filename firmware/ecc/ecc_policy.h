// How a page is read and decoded: the interface of ECC selection policies, chosen by name
// (firmware.ecc.policy).
//
// A policy names the code (and the step of the read-retry levels of reference voltages) for the
// first attempt at a page, and after each failure what is tried next, until it gives up. It sees
// what firmware can see: the block's P/E cycles, how long ago the block was first written, how many
// bits the decoder corrected, and the host's commands; never the true error rate. It must not
// change anything but its own state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "firmware/base/layout.h"
#include "models/base/archive.h"
#include "models/base/ecc_codes.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

/// What firmware knows of the page it reads.
struct PageFacts {
  BlockNumber block = k_no_block;
  std::uint32_t cycles = 0;  ///< program/erase cycles of its block
  double days = 0;           ///< since the block was first programmed
};

/// One way to read a page.
struct ReadAttempt {
  EccCode code = EccCode::none;
  std::uint8_t retry_level = 0;  ///< step of the read-retry levels of reference voltages; 0: the default ones
};

/// What the decoder says of a page that it could decode.
struct Decoded {
  std::uint32_t worst = 0;  ///< wrong bits of the worst frame
  double mean = 0;          ///< wrong bits per frame
};

/// What policies are made with.
struct EccContext {
  std::uint32_t blocks = 0;  ///< of all parallel units
  std::uint32_t lba_bytes = 512;
  std::uint64_t logical_blocks = 0;
};

/// Attempts at one page after which a run ends with an error: a policy that has not given up by
/// then never will. Every code that there can be, with each of the read-retry levels.
inline constexpr std::uint32_t k_most_attempts = 256 * k_most_ecc_codes;

class EccPolicy {
 public:
  virtual ~EccPolicy() = default;
  /// Whether cycles and days of PageFacts are looked at; they cost a look into the table of blocks
  /// for every read.
  [[nodiscard]] virtual bool looks_at_age() const { return true; }
  /// Every code that it may ask for.
  [[nodiscard]] virtual EccCodes codes() const = 0;
  [[nodiscard]] virtual ReadAttempt first(const PageFacts& page) = 0;
  /// After `last` has failed, which was attempt number `tried` (from 1); nothing: the page is given
  /// up.
  virtual std::optional<ReadAttempt> next(const PageFacts& page, ReadAttempt last, std::uint32_t tried) = 0;
  /// Attempts at one page, the first one included, after which it gives up at the latest; no more
  /// than k_most_attempts.
  [[nodiscard]] virtual std::uint32_t most_attempts() const { return 2; }
  /// A page has been decoded at last.
  virtual void decoded(const PageFacts& /*page*/, ReadAttempt /*how*/, const Decoded& /*result*/) {}
  /// The host reads or writes; told only to policies that watch it.
  [[nodiscard]] virtual bool watches_host() const { return false; }
  virtual void host_reads(std::uint64_t /*lba*/, std::uint64_t /*blocks*/) {}
  virtual void host_writes(std::uint64_t /*lba*/, std::uint64_t /*blocks*/) {}
  /// The drive goes into service, or has rested: what the host did before is no guide to what it
  /// does from now on.
  virtual void rested() {}
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void archive(Archive& /*archive*/) {}
};

using EccFamily = PolicyFamily<EccPolicy, const EccContext&>;
/// All selection policies by name, without the choice of none.
EccFamily& ecc_family();
/// The same for the scenario: "none" (no decoding at all) first.
std::vector<PolicyInfo> ecc_policies();

}  // namespace tlmssd::firmware
