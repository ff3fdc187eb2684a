// Where a made-up volume's extents lie, which operations touch them, and how popular they are.
//
// The footprint is tiled by extents without holes; each begins at one start offset. Sixteen
// neighbours are a cluster: they have neighbouring ranks of popularity, and only reads, only writes
// or both touch them. By rank clusters are scattered over the volume, for reads in another order
// than for writes: what is read often is not what is written often. Lengths follow the distribution
// over 4, 8, 16, 32, 64 KiB of maximum entropy for the mean that footprint and number of offsets
// demand: nothing else is known of them. Memory: about 14 bytes per extent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/base/types.h"
#include "testbench/loads/profiles/profiles.h"

namespace tlmssd {

class ProfileLayout {
 public:
  static constexpr unsigned k_read = 0;
  static constexpr unsigned k_write = 1;

  ProfileLayout(const ProfilePlan& plan, std::uint64_t seed);

  // Extents are numbered by address.
  [[nodiscard]] std::uint32_t extents() const { return static_cast<std::uint32_t>(flags_.size()); }
  [[nodiscard]] Bytes start(std::uint32_t extent) const { return starts_[extent] * ProfileModel::k_page; }
  [[nodiscard]] std::uint32_t pages(std::uint32_t extent) const {
    return starts_[extent + 1] - starts_[extent];
  }
  [[nodiscard]] Bytes end() const { return starts_.back() * ProfileModel::k_page; }
  [[nodiscard]] bool touched_by(std::uint32_t extent, unsigned operation) const {
    return (flags_[extent] >> operation & 1U) != 0;
  }
  /// The operation that sees to it that the extent is visited at all.
  [[nodiscard]] unsigned visited_by(std::uint32_t extent) const {
    return (flags_[extent] & k_visited_by_write) != 0 ? k_write : k_read;
  }
  /// Extents that `operation` touches, the most popular first; never empty.
  [[nodiscard]] const std::vector<std::uint32_t>& by_rank(unsigned operation) const {
    return by_rank_[operation];
  }
  /// Extents that `operation` is to visit, in random order; every extent is visited by one
  /// operation.
  [[nodiscard]] const std::vector<std::uint32_t>& visits(unsigned operation) const {
    return visits_[operation];
  }
  /// Share of extents of each of ProfileModel::k_extent_pages such that their mean is `mean_pages`.
  static std::array<double, 5> length_shares(double mean_pages);

 private:
  static constexpr std::uint8_t k_visited_by_write = 4;
  [[nodiscard]] std::uint32_t clusters() const {
    return (extents() + ProfileModel::k_cluster - 1) / ProfileModel::k_cluster;
  }
  /// The first extent of a cluster, and the first beyond it.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> extents_of(std::uint32_t cluster) const {
    const std::uint32_t first = cluster * ProfileModel::k_cluster;
    return {first, std::min(first + ProfileModel::k_cluster, extents())};
  }
  void choose_operations(const ProfilePlan& plan, std::uint64_t seed);
  void choose_ranks(std::uint64_t seed);
  void choose_lengths(const ProfilePlan& plan, std::uint64_t seed);

  std::vector<std::uint32_t> starts_;  ///< in pages; one more than there are extents
  std::vector<std::uint8_t> flags_;
  std::array<std::vector<std::uint32_t>, 2> by_rank_;
  std::array<std::vector<std::uint32_t>, 2> visits_;
};

}  // namespace tlmssd
