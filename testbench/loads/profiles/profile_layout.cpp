// Lays out the extents of a made-up volume.
#include "testbench/loads/profiles/profile_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/random.h"
#include "testbench/loads/requests/distribution.h"

namespace tlmssd {

namespace {

/// Numbers in [0, 1) that are spread evenly however few are taken: multiples of the golden ratio.
class EvenSequence {
 public:
  explicit EvenSequence(double start) : at_(start) {}
  double next() {
    at_ += 0.61803398874989485;
    if (at_ >= 1) at_ -= 1;
    return at_;
  }

 private:
  double at_;
};

double mean_of(const std::array<double, 5>& shares) {
  double mean = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) mean += shares[i] * ProfileModel::k_extent_pages[i];
  return mean;
}

}  // namespace

std::array<double, 5> ProfileLayout::length_shares(double mean_pages) {
  // Of all distributions with this mean, the one of maximum entropy is proportional to exp(tilt *
  // length).
  const auto tilted = [](double tilt) {
    std::array<double, 5> shares{};
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double length = ProfileModel::k_extent_pages[i];
      shares[i] = std::exp(tilt * (tilt > 0 ? length - 16 : length - 1));
      sum += shares[i];
    }
    for (double& share : shares) share /= sum;
    return shares;
  };
  double low = -50;
  double high = 50;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (mean_of(tilted(middle)) < mean_pages ? low : high) = middle;
  }
  return tilted(low);
}

ProfileLayout::ProfileLayout(const ProfilePlan& plan, std::uint64_t seed) : flags_(plan.extents) {
  choose_operations(plan, seed);
  choose_ranks(seed);
  choose_lengths(plan, seed);
}

/// Which operations touch each cluster; taken in random order, so that the shares are met to the
/// cluster.
void ProfileLayout::choose_operations(const ProfilePlan& plan, std::uint64_t seed) {
  const Permutation order(clusters(), seed);
  RandomStream random(seed, "operations");
  EvenSequence kind(random.uniform());
  EvenSequence visitor(random.uniform());
  for (std::uint32_t i = 0; i < clusters(); ++i) {
    const double u = kind.next();
    const bool shared =
        i == 0 || u >= plan.read_only + plan.write_only;  // one at least: so that both have some
    const bool read = shared || u < plan.read_only;
    const bool write = shared || !read;
    const bool visited_by_write = shared ? visitor.next() >= plan.first_reads : write;
    const auto flags = static_cast<std::uint8_t>((read ? 1U : 0U) | (write ? 2U : 0U) |
                                                 (visited_by_write ? k_visited_by_write : 0U));
    const auto [first, end] = extents_of(static_cast<std::uint32_t>(order.at(i)));
    std::fill(flags_.begin() + first, flags_.begin() + end, flags);
  }
}

/// Ranks of popularity, for each operation in an order of its own.
void ProfileLayout::choose_ranks(std::uint64_t seed) {
  RandomStream random(seed, "ranks");
  for (const unsigned operation : {k_read, k_write}) {
    const Permutation order(clusters(), random());
    for (std::uint32_t rank = 0; rank < clusters(); ++rank) {
      const auto [first, end] = extents_of(static_cast<std::uint32_t>(order.at(rank)));
      for (std::uint32_t extent = first; extent < end; ++extent) {
        if (touched_by(extent, operation)) by_rank_[operation].push_back(extent);
        if (visited_by(extent) == operation) visits_[operation].push_back(extent);
      }
    }
    auto& visits = visits_[operation];
    for (std::size_t i = visits.size(); i > 1; --i) std::swap(visits[i - 1], visits[random.below(i)]);
  }
}

void ProfileLayout::choose_lengths(const ProfilePlan& plan, std::uint64_t seed) {
  const double mean = static_cast<double>(plan.footprint) / plan.extents / ProfileModel::k_page;
  const std::array<double, 5> shares = length_shares(mean);
  RandomStream random(seed, "lengths");
  EvenSequence quantile(random.uniform());
  starts_.reserve(plan.extents + std::size_t{1});
  std::uint32_t at = 0;
  for (std::uint32_t extent = 0; extent < plan.extents; ++extent) {
    starts_.push_back(at);
    double u = quantile.next();
    std::size_t length = 0;
    while (length + 1 < shares.size() && u >= shares[length]) u -= shares[length++];
    at += ProfileModel::k_extent_pages[length];
  }
  starts_.push_back(at);
}

}  // namespace tlmssd
