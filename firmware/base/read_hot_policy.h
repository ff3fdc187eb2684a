// Which data are read so often that something is done for them: the interface of the policies of
// features that do so. Each feature has a family of its own, from which one is chosen by name.
//
// A policy only judges; its owner looks whether there is room, and moves or copies the data. It is
// told of every mapping page that a command of the host has read from flash, wherever it lies, in
// the order in which the data arrive; and of every unit that has got other data, unless its owner
// does not mind what is written.
#pragma once

#include <cstdint>
#include <memory>

#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

struct ReadHotContext {
  Bytes unit_bytes;  ///< of a mapping page
};

class ReadHotPolicy {
 public:
  virtual ~ReadHotPolicy() = default;
  /// A read of `unit` that is about to begin finds its die programming or erasing. Told by replicas
  /// alone.
  virtual void blocked(Lpn /*unit*/) {}
  /// The host has read `unit`: whether something is to be done for it.
  virtual bool read(Lpn unit) = 0;
  /// `unit` holds other data now, or none.
  virtual void rewritten(Lpn /*unit*/) {}
  virtual void archive(Archive& /*archive*/) {}
};

using ReadHotFamily = PolicyFamily<ReadHotPolicy, const ReadHotContext&>;

}  // namespace tlmssd::firmware
