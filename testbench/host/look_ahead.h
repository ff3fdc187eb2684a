// The requests of a load that is carried out untimed, some of them ahead.
//
// Untimed, a command is over before the next one is asked for, and the processor would wait for
// what is known of the addresses it names. So requests are taken from the load a few before their
// turn, and what the scoreboard will look at is fetched meanwhile.
#pragma once

#include <array>
#include <cstdint>

#include "testbench/loads/load.h"
#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {

class LookAhead {
 public:
  /// Both outlive it. While it lives, requests are taken from the load through it alone.
  LookAhead(const Load& load, const Scoreboard& scoreboard) : load_(&load), scoreboard_(&scoreboard) {}

  /// The next request; false at the end. Throws what the load's source throws, up to k_ahead - 1
  /// requests before its turn.
  bool next(PlacedRequest& request) {
    if (head() == nullptr) return false;
    request = at(given_++);
    return true;
  }
  /// What next() will give; null: nothing. Throws as next().
  [[nodiscard]] const PlacedRequest* head() {
    while (taken_ < given_ + k_ahead && take()) {
    }
    return given_ == taken_ ? nullptr : &at(given_);
  }

  [[nodiscard]] const Load& load() const { return *load_; }
  /// Requests that next() has given.
  [[nodiscard]] std::uint64_t given() const { return given_; }

 private:
  static constexpr std::uint64_t k_ahead = 4;

  [[nodiscard]] PlacedRequest& at(std::uint64_t number) { return ahead_[number % k_ahead]; }

  bool take() {
    ended_ = ended_ || !load_->next(at(taken_), taken_);
    if (ended_) return false;
    scoreboard_->announce(at(taken_).lba);
    // By now the one before can be found without waiting.
    if (taken_ > given_) scoreboard_->prefetch(at(taken_ - 1).lba);
    ++taken_;
    return true;
  }

  const Load* load_;
  const Scoreboard* scoreboard_;
  std::array<PlacedRequest, k_ahead> ahead_;
  std::uint64_t taken_ = 0;  ///< from the load
  std::uint64_t given_ = 0;  ///< of them
  bool ended_ = false;
};

}  // namespace tlmssd
