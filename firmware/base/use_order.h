// The order in which entries of a vector were used last: a list through their members `older` and
// `newer`, which are numbers of entries. O(1) for everything.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/archive.h"

namespace tlmssd::firmware {

template <class Entry>
class UseOrder {
 public:
  static constexpr std::uint32_t k_none = 0xFFFFFFFFU;

  /// The entry used longest ago; k_none when there is none.
  [[nodiscard]] std::uint32_t oldest() const { return oldest_; }
  /// The entry used last; k_none when there is none.
  [[nodiscard]] std::uint32_t newest() const { return newest_; }
  /// Entry `i`, which is not in the order, is the one used last.
  void append(std::vector<Entry>& entries, std::uint32_t i) {
    entries[i].older = newest_;
    entries[i].newer = k_none;
    (newest_ == k_none ? oldest_ : entries[newest_].newer) = i;
    newest_ = i;
  }
  /// Entry `i` is not in the order any more.
  void unlink(std::vector<Entry>& entries, std::uint32_t i) {
    const Entry& entry = entries[i];
    (entry.older == k_none ? oldest_ : entries[entry.older].newer) = entry.newer;
    (entry.newer == k_none ? newest_ : entries[entry.newer].older) = entry.older;
  }
  /// Its ends; the entries hold the rest.
  void archive(Archive& a) {
    a(oldest_);
    a(newest_);
  }

 private:
  std::uint32_t oldest_ = k_none;
  std::uint32_t newest_ = k_none;
};

}  // namespace tlmssd::firmware
