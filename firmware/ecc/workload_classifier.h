// What kind of work the host gives the drive: how often it rewrites its data, and how much of the
// traffic is reads (Yamaga et al., Fig. 4).
//
// Average write frequency: logical blocks written over distinct logical blocks written, in a
// window; the paper's window is a week, in which 7 means that data live for a day on average. A
// window here is a number of commands, because a trace that is replayed as fast as the drive allows
// has no days. Distinct blocks are counted on a sample, chosen by a hash of the address, in the
// memory that firmware has: some bytes for each block of the sample written in the window. A window
// begins with all blocks; the sample is halved, down to one block in 64, as often as it is full,
// with what it knows of the blocks that leave it. So a small set is counted as it is.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "models/base/archive.h"

namespace tlmssd::firmware {

struct WorkloadTraits {
  double write_frequency = 0;  ///< blocks written / distinct blocks written
  double read_share = 0;       ///< blocks read / blocks read or written
};

class WorkloadClassifier {
 public:
  /// `window`: host commands.
  explicit WorkloadClassifier(std::uint64_t window) : window_(window) {}

  void reads(std::uint64_t lba, std::uint64_t blocks);
  void writes(std::uint64_t lba, std::uint64_t blocks);
  /// A window begins; what was counted of the last one is dropped.
  void restart();
  /// A window has been seen to its end.
  [[nodiscard]] bool known() const { return windows_ > 0; }
  /// Of the last whole window.
  [[nodiscard]] const WorkloadTraits& traits() const { return last_; }
  [[nodiscard]] std::uint64_t windows() const { return windows_; }
  void archive(Archive& archive);

 private:
  static constexpr unsigned k_most_halvings = 6;  ///< to one block in 64
  static constexpr std::size_t k_full = 4096;     ///< blocks of a sample that is halved
  void command();
  [[nodiscard]] bool in_sample(std::uint64_t block) const;
  void halve();

  std::uint64_t window_;
  std::uint64_t commands_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  unsigned halvings_ = 0;
  std::uint64_t sampled_writes_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> sampled_;  ///< writes of each block
  WorkloadTraits last_;
  std::uint64_t windows_ = 0;
};

}  // namespace tlmssd::firmware
