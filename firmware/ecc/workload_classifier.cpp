#include "firmware/ecc/workload_classifier.h"

#include <algorithm>
#include <utility>
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
    if (!in_sample(block)) continue;
    ++sampled_writes_;
    ++sampled_[block];
    if (sampled_.size() > k_full && halvings_ < k_most_halvings) halve();
  }
  command();
}

bool WorkloadClassifier::in_sample(std::uint64_t block) const {
  return block * k_golden <= ~std::uint64_t{0} >> halvings_;
}

void WorkloadClassifier::halve() {
  ++halvings_;
  std::erase_if(sampled_, [this](const auto& one) {
    if (in_sample(one.first)) return false;
    sampled_writes_ -= one.second;
    return true;
  });
}

void WorkloadClassifier::command() {
  if (++commands_ < window_) return;
  ++windows_;
  last_.write_frequency =
      sampled_.empty() ? 0 : static_cast<double>(sampled_writes_) / static_cast<double>(sampled_.size());
  const std::uint64_t all = read_ + written_;
  last_.read_share = all == 0 ? 0 : static_cast<double>(read_) / static_cast<double>(all);
  restart();
}

void WorkloadClassifier::restart() {
  commands_ = read_ = written_ = sampled_writes_ = halvings_ = 0;
  sampled_.clear();
}

void WorkloadClassifier::archive(Archive& a) {
  a(commands_);
  a(read_);
  a(written_);
  a(sampled_writes_);
  a(halvings_);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sampled(sampled_.begin(), sampled_.end());
  std::sort(sampled.begin(), sampled.end());
  std::uint64_t count = sampled.size();
  a(count);
  sampled.resize(count);
  for (auto& [block, writes] : sampled) {
    a(block);
    a(writes);
  }
  sampled_ = {sampled.begin(), sampled.end()};
  a(last_.write_frequency);
  a(last_.read_share);
  a(windows_);
}

}  // namespace tlmssd::firmware
