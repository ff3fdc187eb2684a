// Which physical unit holds a logical unit: the interface of mapping schemes, chosen by name (firmware.mapping.scheme).
//
// lookup() and update() act on map entries that are at hand; a scheme that keeps part of its table in flash brings them in
// with fetch(). Entries that are at hand lie in DRAM: the caller accounts for the access at entry_address().
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/layout.h"
#include "firmware/task.h"
#include "models/common/archive.h"
#include "models/common/parameters.h"

namespace tlmssd::firmware {

class MappingScheme {
 public:
  static constexpr Bytes k_entry_bytes = 4;
  virtual ~MappingScheme() = default;
  /// Where `unit` is; k_nowhere when it was never written or has been trimmed.
  [[nodiscard]] virtual PhysicalUnit lookup(LogicalUnit unit) const = 0;
  /// Points `unit` at `where` (k_nowhere: unmapped).
  virtual void update(LogicalUnit unit, PhysicalUnit where) = 0;
  /// The entry of `unit` will be needed soon. No effect but speed.
  virtual void prefetch(LogicalUnit unit) const { static_cast<void>(unit); }
  /// First unit at or after `unit` whose entry may be mapped; skips what was never touched. May be beyond the end.
  [[nodiscard]] virtual std::uint64_t next_touched(std::uint64_t unit) const { return unit; }
  /// Whether the entries of `count` units from `first` on are at hand.
  [[nodiscard]] virtual bool resident(LogicalUnit first, std::uint64_t count) const = 0;
  /// Brings the entries of `count` units from `first` on to hand.
  virtual Task<> fetch(LogicalUnit first, std::uint64_t count) = 0;
  /// DRAM address of an entry, and the DRAM that the scheme takes in all.
  [[nodiscard]] virtual std::uint64_t entry_address(LogicalUnit unit) const = 0;
  [[nodiscard]] virtual Bytes dram_bytes() const = 0;
  virtual void archive(Archive& archive) = 0;
};

using MappingFamily = PolicyFamily<MappingScheme, const Layout&>;
/// All mapping schemes by name.
const MappingFamily& mapping_family();

}  // namespace tlmssd::firmware
