// Physical mapping page numbers. One is a place on flash or nowhere, and nowhere is not a number:
// arithmetic on it is refused, and no arithmetic comes out as nowhere.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace tlmssd::firmware {

class Ppn {
 public:
  /// There are no more units than that.
  static constexpr std::uint32_t k_most = 0xFFFFFFFEU;

  /// Nowhere.
  constexpr Ppn() = default;
  constexpr explicit Ppn(std::uint32_t number) : entry_(number + 1) {
    if (number > k_most) refuse();
  }
  /// As a map keeps it: the number plus one; 0: nowhere.
  static constexpr Ppn of_entry(std::uint32_t entry) {
    Ppn unit;
    unit.entry_ = entry;
    return unit;
  }
  [[nodiscard]] constexpr std::uint32_t entry() const { return entry_; }
  [[nodiscard]] constexpr bool valid() const { return entry_ != 0; }
  [[nodiscard]] constexpr std::uint32_t number() const {
    if (!valid()) refuse();
    return entry_ - 1;
  }

  friend constexpr Ppn operator+(Ppn unit, std::uint32_t n) {
    if (!unit.valid() || n > k_most + 1 - unit.entry_) refuse();
    return of_entry(unit.entry_ + n);
  }
  friend constexpr Ppn operator-(Ppn unit, std::uint32_t n) {
    if (n >= unit.entry_) refuse();
    return of_entry(unit.entry_ - n);
  }
  /// How far `unit` lies behind `first`, which must not lie behind it.
  friend constexpr std::uint32_t operator-(Ppn unit, Ppn first) {
    if (!first.valid() || unit.entry_ < first.entry_) refuse();
    return unit.entry_ - first.entry_;
  }
  constexpr bool operator==(const Ppn&) const = default;
  /// Of two that are somewhere.
  friend constexpr std::strong_ordering operator<=>(Ppn a, Ppn b) { return a.number() <=> b.number(); }

 private:
  [[noreturn]] [[gnu::cold]] static void refuse() {
    throw std::logic_error("firmware: arithmetic on a physical unit that is nowhere");
  }
  std::uint32_t entry_ = 0;
};

inline constexpr Ppn k_nowhere{};

}  // namespace tlmssd::firmware
