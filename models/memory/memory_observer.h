// Who wants to see every transfer of a memory or the bus (timeline, tests). Null by default, which
// costs a predictable branch.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  /// The memory's interface (or the bus) is occupied from `start` to `end` by `bytes`; where
  /// accesses take turns, as if it were one after the other.
  virtual void occupied(Picoseconds start, Picoseconds end, Bytes bytes, bool write) = 0;
};

}  // namespace tlmssd
