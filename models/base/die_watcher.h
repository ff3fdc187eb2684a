// Who is told when a die gets work and when it has none.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

class DieWatcher {
 public:
  virtual ~DieWatcher() = default;
  /// The die, which had nothing to do, has an operation now, queued or running.
  virtual void die_busy(DieId die) = 0;
  /// Its last operation has ended. Who is told must not order anything from within.
  virtual void die_idle(DieId die) = 0;
};

}  // namespace tlmssd
