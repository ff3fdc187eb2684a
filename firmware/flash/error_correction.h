// Error correction of reads: for which code a page is read, what the decoder says of it, and the
// attempts that follow when it fails.
#pragma once

#include <memory>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class ErrorCorrection {
 public:
  /// For a drive with an ECC policy.
  ErrorCorrection(Core& core, std::uint32_t frames_per_unit);

  /// Chooses how the first attempt at a read is made.
  void choose(ReadOp& read);
  /// The decoder is done with the first attempt; the batch of the read is told when no other
  /// follows any more.
  void decoded(ReadOp& read);

 private:
  [[nodiscard]] PageFacts facts(const ReadOp& read) const;
  /// A read of several planes of which some have failed.
  struct Whole {
    ReadOp& read;
    Ledger* ledger;               ///< of the read, which is charged when all is done
    std::vector<ReadOp*> planes;  ///< that have failed, each a read
    std::uint32_t left;           ///< of these, under way
  };
  Task<> read_alone(ReadOp& read);
  void read_planes_again(ReadOp& read);
  static void share_failed_frames(const Whole& whole, std::uint32_t lost_slots);
  ReadOp& plane_of(ReadOp& read, std::uint32_t low, std::uint32_t high);
  Task<> read_plane(ReadOp& plane, std::shared_ptr<Whole> whole);
  void end_retries(ReadOp& read, Ledger* ledger);
  Task<> read_again(ReadOp& read);
  /// The attempt that the policy has named.
  void set(ReadOp& read, const ReadAttempt& attempt) const;
  [[noreturn]] void refuse_code(EccCode code) const;
  [[noreturn]] void refuse_policy(const ReadOp& read) const;
  void count(const ReadOp& read);

  Core& core_;
  EccPolicy& policy_;
  std::uint32_t frames_per_unit_;
  bool looks_at_age_;
  EccCodes codes_;
  TaskSet rereads_;
};

}  // namespace tlmssd::firmware
