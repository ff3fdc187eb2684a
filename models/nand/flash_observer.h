// A listener on channels and dies, for a timeline. Null by default; switched off it costs one
// branch.
#pragma once

#include "models/base/flash_op.h"

namespace tlmssd {

/// What the channel's bus is used for.
enum class BusUse : std::uint8_t { command, data_in, data_out, status, suspend, resume, count };
inline constexpr std::size_t k_bus_uses = static_cast<std::size_t>(BusUse::count);
std::string_view name_of(BusUse use);

class FlashObserver {
 public:
  virtual ~FlashObserver() = default;
  /// The bus of `channel` is used for `op` on `die` from `start` to `end`; told at `start`.
  virtual void bus(ChannelId channel, DieId die, const FlashOp& op, Picoseconds start, Picoseconds end,
                   BusUse use) = 0;
  /// The array of `die` worked on `op` from `start` to `end`; told at `end`. An operation that was
  /// suspended comes in pieces.
  virtual void array(DieId die, const FlashOp& op, Picoseconds start, Picoseconds end) = 0;
};

}  // namespace tlmssd
