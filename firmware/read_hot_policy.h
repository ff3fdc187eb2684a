// Which data are read so often that something is done for them: the interface of the policies of promotion into SLC mode, of second copies
// and of dies kept for reading. Each has a family of its own, from which one is chosen by name.
//
// A policy only judges; whoever has it looks whether there is room, and moves or copies the data. It is told of every mapping unit that a
// command of the host has read from flash, wherever it lies, in the order in which the data arrive; and of every unit that has got other
// data, unless whoever has it does not mind what is written (promotion).
#pragma once

#include <cstdint>
#include <memory>

#include "models/common/archive.h"
#include "models/common/parameters.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

struct ReadHotContext {
  Bytes unit_bytes;  ///< of a mapping unit
};

class ReadHotPolicy {
 public:
  virtual ~ReadHotPolicy() = default;
  /// The host has read `unit`: whether something is to be done for it.
  virtual bool read(LogicalUnit unit) = 0;
  /// `unit` holds other data now, or none.
  virtual void rewritten(LogicalUnit /*unit*/) {}
  virtual void archive(Archive& /*archive*/) {}
};

using ReadHotFamily = PolicyFamily<ReadHotPolicy, const ReadHotContext&>;

}  // namespace tlmssd::firmware
