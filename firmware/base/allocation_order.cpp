#include "firmware/base/allocation_order.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd::firmware {

const std::vector<std::string>& allocation_orders() {
  static const std::vector<std::string> orders = [] {
    std::vector<std::string> all;
    std::string letters = "CDPW";
    do all.push_back(letters);
    while (std::next_permutation(letters.begin(), letters.end()));
    return all;
  }();
  return orders;
}

std::vector<std::uint32_t> allocation_sequence(std::string_view order, const Geometry& geometry,
                                               const Layout& layout) {
  const auto& orders = allocation_orders();
  if (std::find(orders.begin(), orders.end(), order) == orders.end()) {
    throw refusal("firmware.allocation.order",
                  fmt::format("'{}' is not a permutation of the letters C, W, D and P", order), "CWDP");
  }
  const auto count_of = [&](char letter) {
    switch (letter) {
      case 'C':
        return geometry.channels;
      case 'W':
        return geometry.ways;
      case 'D':
        return geometry.dies_per_way;
      default:
        return layout.pus_per_die;
    }
  };
  std::vector<std::uint32_t> sequence;
  sequence.reserve(layout.pus);
  std::vector<bool> seen(layout.pus);
  for (std::uint32_t n = 0; n < geometry.dies() * layout.pus_per_die; ++n) {
    std::uint32_t rest = n;
    std::array<std::uint32_t, 128> at{};
    for (const char letter : order) {
      const std::uint32_t count = count_of(letter);
      at[static_cast<unsigned char>(letter)] = rest % count;
      rest /= count;
    }
    const std::uint32_t die = (at['C'] * geometry.ways + at['W']) * geometry.dies_per_way + at['D'];
    const std::uint32_t pu = layout.pu_at(static_cast<DieId>(die), at['P']);
    if (!seen[pu]) sequence.push_back(pu);  // a stripe stands where its first die stands
    seen[pu] = true;
  }
  return sequence;
}

}  // namespace tlmssd::firmware
