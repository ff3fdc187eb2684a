// Which submission queue is fetched from next (NVM Express Base Specification 1.4, section 4.13).
// Plain C++.
//
// Round robin: up to `burst` entries from each queue that has any, in turn. Weighted: up to the
// queue's weight in each turn (the specification's weighted round robin has classes with weights;
// here each queue is a class of its own, without the urgent class).
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/archive.h"
#include "models/host/host_config.h"

namespace tlmssd {

class Arbiter {
 public:
  explicit Arbiter(const HostConfig& config);
  static constexpr std::uint32_t k_none = ~0U;

  /// A queue has something, or has nothing any more.
  void set_waiting(std::uint32_t queue, bool waiting) {
    const std::uint64_t bit = std::uint64_t{1} << (queue % 64);
    std::uint64_t& word = waiting_[queue / 64];
    word = waiting ? word | bit : word & ~bit;
  }
  /// The queue whose turn it is, or k_none when none waits. Each call uses up one entry of the
  /// turn.
  std::uint32_t next();
  void archive(Archive& a) {
    a(current_);
    a(credit_);
  }

 private:
  [[nodiscard]] bool waits(std::uint32_t queue) const {
    return (waiting_[queue / 64] >> (queue % 64) & 1U) != 0;
  }
  [[nodiscard]] std::uint32_t after(std::uint32_t queue) const;
  std::vector<std::uint32_t> weights_;
  std::vector<std::uint64_t> waiting_;
  std::uint32_t current_ = 0;
  std::uint32_t credit_ = 0;
};

}  // namespace tlmssd
