// Who makes room on flash, evens out wear and carries out the moves of features: garbage collection
// by blocks (GC worker), or merges of log blocks (LogBlocks).
#pragma once

#include <cstdint>

#include "firmware/base/layout.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

class GcEngine {
 public:
  virtual ~GcEngine() = default;
  /// Starts what there is to do in a parallel unit, if anything.
  virtual void kick(std::uint32_t pu) = 0;
  /// A program that is not its own has ended in a parallel unit, which may be short of free blocks
  /// now.
  virtual void program_ended(std::uint32_t pu) = 0;
  /// Host idle: time for what is better done now, until false is said.
  virtual void set_idle(bool idle) = 0;
  [[nodiscard]] virtual bool idle_mode() const = 0;
  /// What is done ahead of need stops where it is, until go_on(); that one comes `timed` from the
  /// event queue.
  virtual void put_off() {}
  virtual void go_on(bool /*timed*/) {}
  /// The last read of a block that is waiting to be erased has ended.
  virtual void unpinned(std::uint32_t pu, BlockNumber block) = 0;
  virtual void now_read_only() = 0;
  /// Host programs wait in a parallel unit for room in native blocks.
  [[nodiscard]] virtual bool native_waits(std::uint32_t pu) const = 0;
  /// Nothing under way.
  [[nodiscard]] virtual bool idle() const = 0;
  /// For the report of a stall.
  [[nodiscard]] virtual bool running(std::uint32_t pu) const = 0;
  [[nodiscard]] virtual std::uint32_t waiting(std::uint32_t pu) const = 0;
  virtual void archive(Archive& archive) = 0;
};

}  // namespace tlmssd::firmware
