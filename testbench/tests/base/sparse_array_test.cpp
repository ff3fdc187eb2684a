#include "models/base/sparse_array.h"

#include <catch2/catch.hpp>

using tlmssd::SparseArray;

TEST_CASE("sparse array: the next element that has been written lies within what is asked for") {
  constexpr std::size_t k_leaf = SparseArray<std::uint32_t>::k_leaf;
  SparseArray<std::uint32_t> array(10 * k_leaf + 7);
  CHECK(array.next_touched(0, array.size()) == array.size());
  array.write(5 * k_leaf + 3) = 1;
  CHECK(array.next_touched(0, array.size()) == 5 * k_leaf);
  CHECK(array.next_touched(5 * k_leaf + 9, array.size()) == 5 * k_leaf + 9);
  CHECK(array.next_touched(6 * k_leaf, array.size()) == array.size());
  CHECK(array.next_touched(0, 5 * k_leaf) == 5 * k_leaf);
  CHECK(array.next_touched(1, 2 * k_leaf + 1) == 2 * k_leaf + 1);
  CHECK(array.next_touched(7, 7) == 7);
}

namespace {

/// The first elements are their numbers, thousands on.
struct Counted {
  static constexpr bool k_fixed = false;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t upto() const { return end; }
  [[nodiscard]] std::uint32_t operator()(std::uint64_t i) const {
    return i < end ? static_cast<std::uint32_t>(1000 + i) : 0;
  }
  void write(std::uint64_t i, std::uint32_t* elements, std::size_t n) const {
    for (std::size_t k = 0; k < n; ++k) elements[k] = (*this)(i + k);
  }
};

}  // namespace

TEST_CASE("sparse array: elements that were never written follow the rule, and their leaf holds it") {
  using Array = SparseArray<std::uint32_t, Counted>;
  constexpr std::size_t k_leaf = Array::k_leaf;
  Array array(10 * k_leaf, Counted{3 * k_leaf + 5});
  CHECK(array.read(3 * k_leaf + 4) == 1000 + 3 * k_leaf + 4);
  CHECK(array.read(3 * k_leaf + 5) == 0);
  CHECK(array.touched_bytes() == 0);
  CHECK(array.next_touched(7, array.size()) == 7);
  CHECK(array.next_touched(3 * k_leaf + 5, array.size()) == array.size());
  array.write(3 * k_leaf + 1) = 1;
  CHECK(array.touched_bytes() == k_leaf * sizeof(std::uint32_t));
  CHECK(array.read(3 * k_leaf) == 1000 + 3 * k_leaf);
  CHECK(array.read(3 * k_leaf + 1) == 1);
  CHECK(array.read(3 * k_leaf + 4) == 1000 + 3 * k_leaf + 4);
  CHECK(array.read(3 * k_leaf + 5) == 0);
  CHECK(array.next_touched(3 * k_leaf + 5, array.size()) == 3 * k_leaf + 5);
}
