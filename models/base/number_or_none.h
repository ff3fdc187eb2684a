// A number of 32 bits, or none. None is not a number: what would calculate with it, or look
// something up by it, is refused, and no arithmetic comes out as none.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace tlmssd {

/// `Of` keeps numbers of different things apart.
template <class Of>
class NumberOrNone {
 public:
  static constexpr std::uint32_t k_most = 0xFFFFFFFEU;

  /// None.
  constexpr NumberOrNone() = default;
  constexpr explicit NumberOrNone(std::uint32_t number) : number_(number) {
    if (number > k_most) refuse();
  }
  /// As tables keep it that are zeros at first: the number plus one; 0: none.
  static constexpr NumberOrNone of_entry(std::uint32_t entry) {
    NumberOrNone number;
    number.number_ = entry - 1;
    return number;
  }
  [[nodiscard]] constexpr std::uint32_t entry() const { return number_ + 1; }
  [[nodiscard]] constexpr bool none() const { return number_ > k_most; }
  /// The number, with which what one likes may be done.
  constexpr operator std::uint32_t() const {  // NOLINT(google-explicit-constructor): checked
    if (none()) refuse();
    return number_;
  }
  constexpr NumberOrNone& operator++() { return *this = NumberOrNone(std::uint32_t{*this} + 1); }

  constexpr bool operator==(const NumberOrNone&) const = default;
  /// Beside a mere number none would be one as well.
  constexpr bool operator==(std::uint32_t) const = delete;

 private:
  [[noreturn]] [[gnu::cold]] static void refuse() {
    throw std::logic_error("arithmetic on a number that is none");
  }
  std::uint32_t number_ = k_most + 1;
};

}  // namespace tlmssd
