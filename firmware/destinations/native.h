// Native blocks: a program goes to the next parallel unit in turn that has room, into the open
// block of its placement handle. One without a free block waits for garbage collection.
//
// Why it cannot deadlock: who waits stands in the parallel unit's line and holds no room there;
// collection runs as long as one does (firmware/gc/worker.h). Where too many blocks have failed for
// collection to free any, the program goes to another parallel unit, or the drive is read-only.
#pragma once

#include "firmware/buffer/destination.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

class NativeDestination : public Destination {
 public:
  NativeDestination(Flusher& flusher, GcWorker& gc_worker) : Destination(flusher), gc_(gc_worker) {}
  Place next_place(std::uint8_t line) override;
  void fill(ProgramJob& job, std::uint8_t line) override;
  bool claim_now(ProgramJob& job) override;
  Task<bool> claim(ProgramJob& job) override;
  void started(ProgramJob& job) override { gc_.claimed(job); }
  void on_failure(ProgramJob& job) override { gc_.kick(job.pu); }
  void ended(std::uint32_t pu) override { gc_.program_ended(pu); }

 protected:
  /// The parallel unit has room for a program, or will have.
  [[nodiscard]] bool takes(std::uint32_t pu) const { return core_.pool.accepts(pu) && !gc_.exhausted(pu); }
  /// The same of one whose turn it is: counts those that are passed over.
  bool takes_in_turn(std::uint32_t pu) {
    if (takes(pu)) return true;
    ++core_.stats.rerouted;
    return false;
  }
  std::uint32_t next_pu() {
    return turns_.next([this](std::uint32_t pu) { return takes_in_turn(pu); });
  }
  [[nodiscard]] bool at_hand(const ProgramJob& job) const {
    return !gc_.lines(job.pu).must_queue(job) && claimable(job);
  }
  /// Waits in the line of the parallel unit. False: the drive has become read-only.
  Task<bool> wait_for_space(ProgramJob& job);
  /// Takes the place that there is.
  virtual void take_place(ProgramJob& job);
  [[nodiscard]] virtual bool claimable(const ProgramJob& job) const {
    return core_.pool.can_claim(job.pu, job.target);
  }
  /// What the job waits for will not come.
  [[nodiscard]] virtual bool stuck(const ProgramJob& job) const { return gc_.exhausted(job.pu); }
  /// Gives a job that is stuck another place to wait for. False: there is none, and the drive is
  /// read-only.
  virtual bool divert(ProgramJob& job);

  GcWorker& gc_;
};

}  // namespace tlmssd::firmware
