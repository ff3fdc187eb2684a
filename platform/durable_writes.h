// Whether a firmware keeps what flush, force unit access and the end of a drain promise: what it is
// about is on flash then. Seen from outside, by the commands and the programs that pass: firmware's
// own tables outlive a loss of power as firmware itself wants it, so reads after one would prove
// nothing.
//
// Of each logical block the last write counts. Where several commands on a block were under way at
// once, their order is the firmware's, and nothing is asked of that block.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "models/base/host_command.h"
#include "models/base/types.h"

namespace tlmssd {

class DurableWrites {
 public:
  explicit DurableWrites(std::uint32_t blocks_per_unit) : blocks_per_unit_(blocks_per_unit) {}

  /// `number` tells commands under way apart and grows from each to the next.
  void submitted(const HostCommand& command, std::uint64_t number);
  /// What is wrong with completing it now; empty: nothing.
  std::string completed(const HostCommand& command, std::uint64_t number);
  /// What is wrong with saying now that all is written out; empty: nothing.
  [[nodiscard]] std::string drained() const;
  /// This content of the unit is on flash.
  void programmed(Lpn unit, std::span<const Stamp> stamps);

 private:
  struct Block {
    std::uint32_t under_way = 0;  ///< commands that change it
    bool waits = false;           ///< what `writer` wrote is not on flash
    Stamp stamp = k_zeros;
    std::uint64_t writer = 0;
    std::uint64_t completed = 0;  ///< when `writer` was, as events are counted; 0: not yet
  };
  using Blocks = std::map<std::uint64_t, Block>;

  /// Of one command: where it changes the drive.
  template <class Work>
  static void each_block(const HostCommand& command, Work work);
  void drop_if_done(Blocks::iterator block);

  std::uint32_t blocks_per_unit_;
  std::uint64_t events_ = 0;
  Blocks blocks_;                                             ///< under way or not yet on flash
  std::unordered_map<std::uint64_t, std::uint64_t> flushes_;  ///< under way, and when they were submitted
};

}  // namespace tlmssd
