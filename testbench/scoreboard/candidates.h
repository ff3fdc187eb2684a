// What a contended block may hold: the criterion of the scoreboard.
//
// A candidate is the value before, or that of a write, trim or write zeroes that overlapped others.
// The exact criterion is Gibbons and Korach's for registers with unique values (SIAM J. Comput. 26,
// 1997): of two values, not both may end before the other's last use starts. Zeros are no unique
// value, nor are contents that the host writes more than once: a read of them is attributed only
// when one change alone explains it. Instants are ticks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/base/archive.h"

namespace tlmssd {

struct Candidate {
  static constexpr std::uint64_t k_open = ~std::uint64_t{0};
  std::uint64_t begin = 0;          ///< of its write; 0: it was there before
  std::uint64_t last_use = 0;       ///< latest begin among its write and the reads that saw it
  std::uint64_t first_end = 0;      ///< earliest end among its write and the reads that saw it
  std::uint64_t deadline = k_open;  ///< a failed write has happened before this or never
  std::uint16_t value = 0;          ///< write sequence number, 0: zeros
  [[nodiscard]] std::uint64_t ended() const { return std::min(first_end, deadline); }
};

class Candidates {
 public:
  /// Holds `value`, and no change is in flight.
  void start(std::uint16_t value);
  /// A change has begun that leaves `value`.
  void begin(std::uint64_t tick, std::uint16_t value);
  /// The change that began then has ended, not `ok`: in failure. Nothing happens if it has been
  /// ruled out meanwhile.
  void end(std::uint64_t began, std::uint64_t now, bool ok);
  /// The change that began then has not happened.
  void cancel(std::uint64_t began);
  /// A read from `began` to `now` returned what those values leave of which `is(value)`: is that
  /// possible? If one candidate alone explains it, it is known to be it.
  template <class Is>
  [[nodiscard]] bool see(Is&& is, std::uint64_t began, std::uint64_t now) {
    Candidate* seen = nullptr;
    for (Candidate& candidate : list_) {
      if (!is(candidate.value) || !admits(candidate, began, now)) continue;
      if (seen != nullptr) return true;  // the same from one change or another
      seen = &candidate;
    }
    if (seen == nullptr) return false;
    seen->last_use = std::max(seen->last_use, began);
    seen->first_end = std::min(seen->ended(), now);
    return true;
  }
  /// Calls `f(value)` for all that a read from `began` to `now` might return, the youngest first.
  template <class F>
  void for_each_possible(std::uint64_t began, std::uint64_t now, F&& f) const {
    for (auto at = list_.rbegin(); at != list_.rend(); ++at) {
      if (admits(*at, began, now)) f(at->value);
    }
  }
  /// Removes what no read can return that is in flight (the oldest since `horizon`) or yet to come:
  /// what precedes another candidate which was over before the horizon.
  void prune(std::uint64_t horizon);
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  /// All have the same value, the value of first().
  [[nodiscard]] bool agree() const;
  [[nodiscard]] std::uint16_t first() const { return list_.front().value; }

  /// The youngest first; no change may be in flight.
  void archive(Archive& a);

 private:
  using List = std::vector<Candidate>;  ///< in the order in which their writes began
  [[nodiscard]] List::iterator find(std::uint64_t began);
  /// May a read from `began` to `now` have seen this candidate? Not if one of the others must come
  /// both before and after it.
  [[nodiscard]] bool admits(const Candidate& candidate, std::uint64_t began, std::uint64_t now) const;

  List list_;
};

}  // namespace tlmssd
