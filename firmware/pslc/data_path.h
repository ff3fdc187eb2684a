// Which writes of the host go to blocks in SLC mode and which bypass SLC: the
// interface of data paths, chosen by name (firmware.pslc.policy).
//
// A path is asked about every mapping page that the host writes, in the order in which the units
// reach the write buffer; what it answers for the first write of a unit holds as long as that waits
// in the buffer. Behind a cache in the drive it is asked when a line leaves the cache, with the
// size of the command that wrote the line last.
#pragma once

#include <cstdint>
#include <memory>

#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

/// What a path may look at, as it is now.
class PathView {
 public:
  virtual ~PathView() = default;
  /// Mapping pages that hold valid data: the host's, and those of the map and of features, which
  /// take up as much room.
  [[nodiscard]] virtual std::uint64_t valid_units() const = 0;
  /// Share of what may be in SLC mode now that holds no data.
  [[nodiscard]] virtual double free_share() const = 0;
};

struct PathContext {
  const PathView& view;
  std::uint64_t logical_units;
  std::uint64_t pool_units;  ///< that fit into the largest pSLC
};

class DataPath {
 public:
  virtual ~DataPath() = default;
  /// A write of the host, of so many bytes, begins.
  virtual void command(Bytes /*bytes*/) {}
  /// `unit` is written by a command of so many bytes: whether it bypasses SLC.
  virtual bool bypasses(Lpn unit, Bytes command) = 0;
  /// A block in SLC mode with room for `units` is going to be emptied, of which `valid` have to be
  /// moved.
  virtual void collected(std::uint32_t /*valid*/, std::uint32_t /*units*/) {}
  /// Some writes may bypass SLC: the write buffer keeps a part for them
  /// (firmware.pslc.bypass_buffer).
  [[nodiscard]] virtual bool splits() const { return true; }
  /// Data stay in SLC mode until the room is needed: neither fold_below nor idle time begins to
  /// fold.
  [[nodiscard]] virtual bool keeps() const { return false; }
  /// What may be lent beyond what the amount of valid data allows, as a share of the dynamic
  /// pSLC.
  [[nodiscard]] virtual double extra() const { return 0; }
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void archive(Archive& /*archive*/) {}
};

using PathFamily = PolicyFamily<DataPath, const PathContext&>;
/// All data paths by name, without the choice of none.
PathFamily& path_family();
/// The same for the scenario, "none" first.
std::vector<PolicyInfo> data_paths();

}  // namespace tlmssd::firmware
