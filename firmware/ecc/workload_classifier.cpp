#include "firmware/ecc/workload_classifier.h"

#include <algorithm>
#include <vector>

#include "models/base/mixing.h"

namespace tlmssd::firmware {

void WorkloadClassifier::reads(std::uint64_t /*lba*/, std::uint64_t blocks) {
  read_ += blocks;
  command();
}

void WorkloadClassifier::writes(std::uint64_t lba, std::uint64_t blocks) {
  written_ += blocks;
  for (std::uint64_t block = lba; block < lba + blocks; ++block) {
    if (block * k_golden >> 58U != 0) continue;  // one in k_sample
    ++sampled_writes_;
    sampled_.insert(block);
  }
  command();
}

void WorkloadClassifier::command() {
  static_assert(k_sample == std::uint64_t{1} << (64U - 58U));
  if (++commands_ < window_) return;
  ++windows_;
  last_.write_frequency =
      sampled_.empty() ? 0 : static_cast<double>(sampled_writes_) / static_cast<double>(sampled_.size());
  const std::uint64_t all = read_ + written_;
  last_.read_share = all == 0 ? 0 : static_cast<double>(read_) / static_cast<double>(all);
  restart();
}

void WorkloadClassifier::restart() {
  commands_ = read_ = written_ = sampled_writes_ = 0;
  sampled_.clear();
}

void WorkloadClassifier::archive(Archive& a) {
  a(commands_);
  a(read_);
  a(written_);
  a(sampled_writes_);
  std::vector<std::uint64_t> sampled(sampled_.begin(), sampled_.end());
  std::sort(sampled.begin(), sampled.end());
  a(sampled);
  sampled_ = {sampled.begin(), sampled.end()};
  a(last_.write_frequency);
  a(last_.read_share);
  a(windows_);
}

}  // namespace tlmssd::firmware
