// A sequential fill of a drive that was never written, without its pages: every table is set to
// what writing them one by one leaves.
//
// Untimed, whole mapping pages that come one after another leave the write buffer as whole program
// units, which go round the parallel units and through the blocks in the order of their numbers. So
// where a unit lies follows from its number alone (SequentialPlaces), a round of blocks, one in
// each parallel unit, is closed with all of its units valid, and each die keeps a rule for what is
// in them (SequentialFill). What comes after the last round is written as ever, and leaves the
// write buffer, open blocks and the state of collection as they have to be.
#pragma once

#include <cstdint>

#include "firmware/base/fill_order.h"
#include "firmware/buffer/flusher.h"
#include "firmware/core/core.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

class SequentialWrites {
 public:
  SequentialWrites(Core& core, Flusher& flusher, const GcWorker& worker)
      : core_(core), flusher_(flusher), worker_(worker), layout_(core.layout) {}
  /// Whether what a fill leaves is known without writing it, as far as the kernel has to do with
  /// it: nothing watches the writes, nothing was ever written, and units have a place of their own
  /// that nothing but their order decides. A command that waits for flash must leave nothing in the
  /// write buffer.
  [[nodiscard]] bool known(const FillOrder& order) const;
  /// Carries out the first requests of `order`, as many as make whole rounds and leave some to be
  /// written as ever; returns how many. known() must hold.
  std::uint64_t carry_out(const FillOrder& order);

 private:
  [[nodiscard]] std::uint32_t most_rounds(std::uint64_t units) const;
  void fill_block(std::uint32_t turn);

  Core& core_;
  Flusher& flusher_;
  const GcWorker& worker_;
  const Layout& layout_;
};

}  // namespace tlmssd::firmware
