// A unit of hardware that makes fingerprints of what is programmed, one mapping page after another.
//
// A page waits in DRAM for its turn; when too many wait already, it goes without. It does not hold
// up the program. Left out: that a fingerprint is there only when its turn has come, some
// microseconds after the page has been programmed.
#pragma once

#include <algorithm>

#include "models/base/archive.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

class HashEngine {
 public:
  /// `each`: time for a mapping page; `queue`: pages that may wait.
  HashEngine(Picoseconds each, std::uint32_t queue) : each_(each), most_(each * queue) {}
  /// A page comes at `now`. False: too many wait.
  bool take(Picoseconds now) {
    if (free_at_ > now && free_at_ - now > most_) return false;
    free_at_ = std::max(free_at_, now) + each_;
    return true;
  }
  void restart() { free_at_ = 0; }
  /// What waits for it, waits beyond an idle moment.
  void archive(Archive& a) { a(free_at_); }

 private:
  Picoseconds each_;
  Picoseconds most_;
  Picoseconds free_at_ = 0;
};

}  // namespace tlmssd::firmware
