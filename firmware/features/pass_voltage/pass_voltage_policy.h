// With which pass voltage a page is read: the interface of pass-voltage policies, chosen by name
// (firmware.pass_voltage.policy).
//
// The pass voltage is put on all word lines of a block but the one that is read. Less of it
// disturbs the block's other pages less and, from somewhere on, makes wrong bits in the page that
// is read. A policy sees what firmware can see: how many bits the decoder corrected, or that it
// could not. After a failure the page is read again with the nominal voltage, whatever the policy
// says.
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/base/layout.h"
#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

/// The first attempt at a page, decoded or not.
struct FirstRead {
  BlockNumber block = k_no_block;
  std::uint32_t erases = 0;  ///< of the block: which generation of data
  float pass_voltage = 1;    ///< share of the nominal one that it was read with
  bool decoded = true;
  std::uint32_t worst = 0;  ///< wrong bits of the worst frame, when decoded
  std::int64_t now = 0;     ///< nanoseconds on firmware's clock
};

class PassVoltagePolicy {
 public:
  virtual ~PassVoltagePolicy() = default;
  /// For the next read of a block that has been erased so often, as a share of the nominal voltage,
  /// in (0, 1].
  virtual float voltage(BlockNumber block, std::uint32_t erases) = 0;
  virtual void read(const FirstRead& read) = 0;
  virtual void report(StatisticsSink& sink) const = 0;
  virtual void reset_statistics() {}
  virtual void archive(Archive& archive) = 0;
};

/// Made with the number of blocks of all parallel units.
using PassVoltageFamily = PolicyFamily<PassVoltagePolicy, std::uint32_t>;
/// All pass-voltage policies by name, without the choice of none.
PassVoltageFamily& pass_voltage_family();

}  // namespace tlmssd::firmware
