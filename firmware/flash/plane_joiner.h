// Finds, among the reads of one command, those that a die can do together: pages of the same
// number, each in a plane of its own (ONFI 4.2, multi-plane read; MQSim's transaction scheduler
// asks for the same).
//
// The mapping decides whether there are any: program units go round the planes of a die in the
// allocation order, or cover all of them (firmware.allocation.multi_plane), so that what was
// written in order lies at the same page number in all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/base/read_op.h"

namespace tlmssd::firmware {

class PlaneJoiner {
 public:
  /// `same_blocks`: the part demands blocks of the same number, too.
  explicit PlaneJoiner(bool same_blocks) : same_blocks_(same_blocks) {}
  /// Chains the reads of `list`, whose places are settled, that go together (ReadOp::joined), and
  /// takes the others of each chain off list.operations.
  void join(ReadList& list);

 private:
  /// The first read of a chain, if `list` is the list under way.
  struct Slot {
    std::uint64_t list = 0;
    ReadOp* first = nullptr;
  };
  [[nodiscard]] bool fits(const ReadOp& first, const FlashOp& op) const;

  bool same_blocks_;
  std::uint64_t list_ = 0;
  std::vector<Slot> slots_;  // hashed by die and page, the next free one when it is taken; a power of two
};

}  // namespace tlmssd::firmware
