// Block-mapped regions that are rewritten as a whole: what waits of a region goes out together, the
// rest is copied from its old place, on the die where it can be.
//
// Why it cannot deadlock: as for native blocks; the old place is pinned only between the claim and
// the end of the program, because a program that waits for space must not hold a block that
// collection wants to erase.
#pragma once

#include <unordered_set>

#include "firmware/destinations/native.h"

namespace tlmssd::firmware {

class WholeBlockDestination final : public NativeDestination {
 public:
  WholeBlockDestination(Flusher& flusher, GcWorker& gc_worker);
  /// What is to go out next belongs to a region that is being rewritten: it would copy what is
  /// about to change.
  [[nodiscard]] bool blocked() override;
  /// The region's home, as its address has it, if there is room; otherwise the next in turn.
  Place next_place(std::uint8_t line) override;
  void fill(ProgramJob& job, std::uint8_t line) override;
  Task<> read_modify_write(ProgramJob& job) override;
  bool claim_now(ProgramJob& /*job*/) override { return false; }
  Task<bool> claim(ProgramJob& job) override;
  void on_failure(ProgramJob& job) override;
  void commit(ProgramJob& job) override;
  void release(ProgramJob& job) override;

 private:
  [[nodiscard]] std::uint32_t region_of(WriteBuffer::Index i) const;
  [[nodiscard]] bool only_copies(const ProgramJob& job, std::uint32_t part) const;
  [[nodiscard]] bool same_dies(const ProgramJob& job) const;
  /// What of the region can be copied on the dies is marked so; the program must be started at
  /// once.
  void plan_copies(ProgramJob& job);
  void forget_copies(ProgramJob& job);

  BlockPlaces& places_;
  std::unordered_set<std::uint32_t> rewritten_;  ///< regions that are being rewritten
};

}  // namespace tlmssd::firmware
