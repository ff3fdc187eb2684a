// At which rate a drive that is short of free blocks takes the host's writes: the policies of write
// pacing, chosen by name (firmware.pacing.policy). Pacing keeps the account and holds programs
// back; a policy only says what collection's progress is worth.
#pragma once

#include <memory>
#include <vector>

#include "models/base/archive.h"
#include "models/base/parameters.h"

namespace tlmssd::firmware {

/// Collection has moved data out of a victim.
struct Progress {
  double moved = 0;   ///< program slots that it has filled
  double gained = 0;  ///< slots that this brings nearer to being free, beyond those filled
  double level = 1;   ///< free space, as a share of the level that is aimed at
};

class PacingPolicy {
 public:
  virtual ~PacingPolicy() = default;
  /// Program slots that the host may fill for it. Must not be 0 for ever while there is progress.
  [[nodiscard]] virtual double grant(const Progress& progress) = 0;
  virtual void archive(Archive& /*archive*/) {}
};

using PacingFamily = PolicyFamily<PacingPolicy>;
/// All pacing policies by name, without the choice of none.
PacingFamily& pacing_family();

}  // namespace tlmssd::firmware
