// Staggered open blocks: keeps the parallel units of a paced drive from running out of free blocks
// at the same time.
//
// A drive that was filled in order has all its parallel units in step: each has its open block
// written equally far, so all want their next block, and begin collection, at once. None gets a
// block before its first victims are empty; until then nothing can be written, however many slots
// collection has gained meanwhile. So before collection begins, while the host writes about one
// more block of each parallel unit, these take from 1/4 to 7/4 of an equal share (A). From then on
// they take equal shares again and keep their distance: in every part of a block's time some of
// them have room.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Stagger {
 public:
  explicit Stagger(const Core& core);
  /// Shares differ from now on, if the parallel units are in step and do not differ already.
  void begin_if_in_step();
  void stop() { on_ = false; }
  [[nodiscard]] bool on() const { return on_; }
  /// The parallel unit has not had its share yet. For one of them at least it is true.
  [[nodiscard]] bool allows(std::uint32_t pu) const {
    const double due = share_[pu] * static_cast<double>(programs_) / static_cast<double>(written_.size());
    return static_cast<double>(written_[pu]) <= due + 1;
  }
  void on_program(std::uint32_t pu);
  void archive(Archive& archive);

 private:
  [[nodiscard]] bool in_step() const;

  const Core& core_;
  std::vector<double> share_;           ///< by parallel unit, as a multiple of an equal share
  std::vector<std::uint32_t> written_;  ///< program units of each since shares began to differ
  std::uint64_t programs_ = 0;          ///< of all of them
  bool on_ = false;
};

}  // namespace tlmssd::firmware
