// Some of the slots of a flash operation: as a rule of a few, so those beyond the first 64 take
// room only when one of them is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tlmssd {

class SlotSet {
 public:
  void clear() {
    first_ = 0;
    more_.clear();
  }
  void add(std::uint32_t slot) {
    const std::size_t word = slot / k_bits;
    if (word > more_.size()) more_.resize(word);
    (word == 0 ? first_ : more_[word - 1]) |= std::uint64_t{1} << slot % k_bits;
  }
  [[nodiscard]] bool has(std::uint32_t slot) const {
    const std::size_t word = slot / k_bits;
    if (word > more_.size()) return false;
    return ((word == 0 ? first_ : more_[word - 1]) >> slot % k_bits & 1U) != 0;
  }
  [[nodiscard]] bool empty() const { return first_ == 0 && more_.empty(); }
  /// A bit for each slot, modulo 64.
  [[nodiscard]] std::uint64_t folded() const {
    std::uint64_t all = first_;
    for (const std::uint64_t word : more_) all |= word;
    return all;
  }

 private:
  static constexpr std::uint32_t k_bits = 64;  ///< of a word
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
};

}  // namespace tlmssd
