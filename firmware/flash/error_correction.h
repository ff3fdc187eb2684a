// Error correction of reads: for which code a page is read, what the decoder says of it, and the
// attempts that follow when it fails.
#pragma once

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
  Task<> read_again(ReadOp& read);
  [[noreturn]] void refuse_policy(const ReadOp& read) const;
  void end(ReadOp& read);

  Core& core_;
  EccPolicy& policy_;
  std::uint32_t frames_per_unit_;
  bool looks_at_age_;
  TaskSet rereads_;
};

}  // namespace tlmssd::firmware
