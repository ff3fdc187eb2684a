// Write targets: the open blocks that data go to. Who programs something names one; the block pool
// keeps an open block for each in every parallel unit.
//
// The kernel's own are what the host writes, what collection moves, and what wear levelling and
// features (Feature::next_move) move into blocks of their own. Behind these, where the host's data
// have several placement handles (BlockPool::Options::handles), stand those of handles 1, 2, ...:
// for what the host writes and, if data of a handle stay apart, for what is moved of it. Blocks in
// SLC mode are chosen by the mode of a program unit, not by its target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tlmssd::firmware {

enum class WriteTarget : std::uint8_t { host, gc, wear, move };
inline constexpr std::size_t k_own_targets = 4;
inline constexpr std::uint32_t k_most_handles = 64;

constexpr WriteTarget host_target(std::uint8_t handle) {
  return handle == 0 ? WriteTarget::host : static_cast<WriteTarget>(k_own_targets + 2 * (handle - 1U));
}
/// For what is moved of a handle's data, if they stay apart.
constexpr WriteTarget moved_target(std::uint8_t handle) {
  return handle == 0 ? WriteTarget::gc : static_cast<WriteTarget>(k_own_targets + 2 * (handle - 1U) + 1);
}
/// Which of the kernel's own targets it is like.
constexpr WriteTarget kind_of(WriteTarget target) {
  const auto n = static_cast<std::size_t>(target);
  if (n < k_own_targets) return target;
  return (n - k_own_targets) % 2 == 0 ? WriteTarget::host : WriteTarget::gc;
}
/// 0 for targets that no handle has to itself.
constexpr std::uint8_t handle_of(WriteTarget target) {
  const auto n = static_cast<std::size_t>(target);
  return n < k_own_targets ? 0 : static_cast<std::uint8_t>((n - k_own_targets) / 2 + 1);
}

constexpr std::string_view name_of(WriteTarget target) {
  constexpr std::string_view k_names[] = {"host", "gc", "wear", "move"};
  return k_names[static_cast<std::size_t>(kind_of(target))];
}

}  // namespace tlmssd::firmware
