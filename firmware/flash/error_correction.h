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
  template <class F>
  void each_plane(const ReadOp& read, F&& f) const;
  void read_planes_again(ReadOp& read);
  ReadOp& plane_of(ReadOp& read, std::uint32_t low, std::uint32_t high, const PlaneVerdict& verdict);
  Task<> read_plane(ReadOp& plane, std::shared_ptr<Whole> whole);
  void end_retries(ReadOp& read, Ledger* ledger);
  Task<> read_again(ReadOp& read);
  /// The attempt that the policy has named.
  void set(ReadOp& read, const ReadAttempt& attempt) const;
  [[noreturn]] void refuse_code(EccCode code) const;
  [[noreturn]] void refuse_policy(const ReadOp& read) const;
  /// What a redirected read does not bring is read where it was redirected from.
  [[nodiscard]] static bool is_for_host(const ReadOp& read) {
    return read.op.purpose == Purpose::host && read.redirector == nullptr;
  }
  void count(const ReadOp& read);
  void count_bits(const ReadOp& read, std::uint32_t slots);
  void count_decoded(const ReadOp& read, std::uint32_t slots, const PlaneVerdict& verdict);

  Core& core_;
  EccPolicy& policy_;
  std::uint32_t frames_per_unit_;
  bool looks_at_age_;
  EccCodes codes_;
  TaskSet rereads_;
};

}  // namespace tlmssd::firmware
