// Blocks in SLC mode (firmware.pslc): which of the write buffer's lines goes there, and what
// becomes of it when there is no room.
//
// The first line goes into SLC mode, a multi-plane page at a time, in the next parallel unit that
// has room there. Without any, it waits for folding in the next parallel unit (when_full: wait) or
// goes on to native blocks (bypass). The second line always goes to native blocks. Where no
// parallel unit may have a block in SLC mode, everything does. Each line has a part of the buffer
// (buffer_space.h).
//
// Why it cannot deadlock: a multi-plane page that a program will take is promised to no other, and
// a program for which collection can do nothing in SLC mode goes on to native blocks.
#pragma once

#include "firmware/destinations/native.h"

namespace tlmssd::firmware {

class SlcDestination final : public NativeDestination {
 public:
  using NativeDestination::NativeDestination;
  Place next_place(std::uint8_t line) override;
  void fill(ProgramJob& job, std::uint8_t line) override;
  void on_failure(ProgramJob& job) override;
  void release(ProgramJob& job) override { unreserve(job); }

 private:
  /// What a parallel unit must have beside room for a program.
  enum class Needs : std::uint8_t {
    slc_space,  ///< room in SLC mode that is not promised
    slc_blocks  ///< blocks in SLC mode, be they full
  };
  [[nodiscard]] bool has(std::uint32_t pu, Needs needs) const {
    return needs == Needs::slc_space ? core_.pslc->has_space(pu) : core_.pslc->blocks(pu) > 0;
  }
  std::uint32_t next_pu_with(Needs needs) {
    return turns_.next([&](std::uint32_t pu) { return has(pu, needs) && takes_in_turn(pu); });
  }
  void take_place(ProgramJob& job) override;
  [[nodiscard]] bool claimable(const ProgramJob& job) const override;
  [[nodiscard]] bool stuck(const ProgramJob& job) const override;
  bool divert(ProgramJob& job) override;
  void turn_native(ProgramJob& job);
  void reserve(ProgramJob& job);
  void unreserve(ProgramJob& job);
};

}  // namespace tlmssd::firmware
