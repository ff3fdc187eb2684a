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
