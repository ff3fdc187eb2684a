// Stripes that are complete: which program units of flash they are made of, the parity last, and
// which stripe a program unit belongs to.
//
// Program units go by their number over the whole drive. O(1) for everything; memory: 4 bytes per
// program unit of flash, touched with it, and 4 bytes per member of the most stripes that there
// ever were at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/archive.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class StripeTable {
 public:
  using Stripe = std::uint32_t;
  static constexpr Stripe k_none = 0xFFFFFFFFU;

  /// `units`: program units of flash; `size`: of a stripe.
  StripeTable(std::uint32_t units, std::uint32_t size) : size_(size), stripe_of_(units) {}

  /// The stripe that program unit `unit` belongs to; k_none when there is none.
  [[nodiscard]] Stripe find(std::uint32_t unit) const { return stripe_of_[unit] - 1; }
  [[nodiscard]] std::span<const std::uint32_t> units(Stripe stripe) const {
    return {&units_[std::size_t{stripe} * size_], size_};
  }
  /// Stripes that there are.
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(units_.size() / size_ - free_.size());
  }
  /// `units` belong to no other stripe.
  void add(std::span<const std::uint32_t> units) {
    auto stripe = static_cast<Stripe>(units_.size() / size_);
    if (free_.empty()) {
      units_.resize(units_.size() + size_);
    } else {
      stripe = free_.back();
      free_.pop_back();
    }
    std::copy(units.begin(), units.end(), units_.begin() + std::ptrdiff_t{stripe} * size_);
    for (const std::uint32_t unit : units) stripe_of_[unit] = stripe + 1;
  }
  void end(Stripe stripe) {
    for (const std::uint32_t unit : units(stripe)) stripe_of_[unit] = 0;
    free_.push_back(stripe);
  }
  void clear() {
    for (const std::uint32_t unit : units_) stripe_of_[unit] = 0;
    units_.clear();
    free_.clear();
  }

  void archive(Archive& a) {
    if (!a.saving()) clear();
    a(units_);
    a(free_);
    if (a.saving()) return;
    if (units_.size() % size_ != 0) damaged();
    for (const std::uint32_t unit : units_)
      if (unit >= stripe_of_.size()) damaged();
    std::vector<bool> ended(units_.size() / size_);
    for (const Stripe stripe : free_) {
      if (stripe >= ended.size() || ended[stripe]) damaged();
      ended[stripe] = true;
    }
    for (Stripe stripe = 0; stripe < ended.size(); ++stripe) {
      if (ended[stripe]) continue;
      for (const std::uint32_t unit : units(stripe)) stripe_of_[unit] = stripe + 1;
    }
  }

 private:
  [[noreturn]] static void damaged() { throw ArchiveError("snapshot is damaged: stripes beyond the drive"); }
  std::uint32_t size_;
  ZeroPages<std::uint32_t> stripe_of_;  ///< stripe + 1; 0: none
  std::vector<std::uint32_t> units_;    ///< stripe by stripe
  std::vector<Stripe> free_;            ///< numbers of stripes that have ended
};

}  // namespace tlmssd::firmware
