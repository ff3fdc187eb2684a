#include "models/host/arbiter.h"

#include <bit>

namespace tlmssd {

Arbiter::Arbiter(const HostConfig& config)
    : weights_(config.effective_queues(), config.burst), waiting_((config.effective_queues() + 63) / 64, 0) {
  if (config.is_weighted()) {
    for (std::size_t i = 0; i < weights_.size(); ++i)
      weights_[i] = static_cast<std::uint32_t>(config.weights.at(i));
  }
  current_ = static_cast<std::uint32_t>(weights_.size()) - 1;  // the first turn is queue 0's
}

/// The first waiting queue after `queue` in circular order, itself last; k_none when none waits.
std::uint32_t Arbiter::after(std::uint32_t queue) const {
  const std::size_t words = waiting_.size();
  const std::uint32_t first = (queue + 1) % static_cast<std::uint32_t>(weights_.size());
  std::uint64_t word = waiting_[first / 64] & (~std::uint64_t{0} << (first % 64));
  std::size_t at = first / 64;
  for (std::size_t n = 0; n <= words; ++n) {
    if (word != 0)
      return static_cast<std::uint32_t>(at * 64) + static_cast<std::uint32_t>(std::countr_zero(word));
    at = at + 1 == words ? 0 : at + 1;
    word = waiting_[at];
  }
  return k_none;
}

std::uint32_t Arbiter::next() {
  if (credit_ > 0 && waits(current_)) {
    --credit_;
    return current_;
  }
  const std::uint32_t queue = after(current_);
  if (queue == k_none) return k_none;
  current_ = queue;
  credit_ = weights_[queue] - 1;
  return queue;
}

}  // namespace tlmssd
