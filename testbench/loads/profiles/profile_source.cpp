// The stream of requests of a made-up volume.
#include "testbench/loads/profiles/profile_source.h"

#include <algorithm>
#include <cmath>

namespace tlmssd {

namespace {

/// How much what is owed counts: a probability changes by 1 for so many requests owed, a size by
/// one page for so many pages.
constexpr double k_requests_owed = 64;
constexpr double k_pages_owed = 256;

/// Of a draw whose outcome is `wanted` as often as this, with `owed` outcomes too few so far.
double probability(double wanted, double owed) {
  return wanted + owed / k_requests_owed;
}

}  // namespace

ProfileSource::ProfileSource(const ProfilePlan& plan, std::uint64_t seed, std::uint64_t most)
    : plan_(plan),
      layout_(plan, seed),
      most_(most == 0 ? plan.requests : most),
      operation_random_(seed, "operation"),
      place_random_(seed, "place"),
      run_random_(seed, "run"),
      size_random_(seed, "size"),
      operations_{operation(ProfileLayout::k_read), operation(ProfileLayout::k_write)},
      visited_(layout_.extents()) {}

ProfileSource::Operation ProfileSource::operation(unsigned which) const {
  return {.popularity = ZipfRanks(layout_.by_rank(which).size(), ProfileModel::k_skew),
          .share = which == ProfileLayout::k_write ? plan_.write_share : 1 - plan_.write_share,
          .mean_pages = plan_.mean_bytes[which] / ProfileModel::k_page,
          .unvisited = static_cast<std::uint32_t>(layout_.visits(which).size())};
}

bool ProfileSource::next(Request& request) {
  if (issued_ == most_) return false;
  const bool whole = continue_run() || begin_anew();
  const std::uint32_t pages = whole ? layout_.pages(extent_) : draw_pages();
  note(pages);
  request = Request{};
  request.opcode = operation_ == ProfileLayout::k_write ? HostOpcode::write : HostOpcode::read;
  request.offset = layout_.start(extent_);
  request.bytes = pages * ProfileModel::k_page;
  return true;
}

/// Goes on to the next extent, when there is a run and the extent is one for its operation.
bool ProfileSource::continue_run() {
  if (run_left_ == 0) return false;
  --run_left_;
  const std::uint32_t next = extent_ + 1;
  if (next == layout_.extents() || !layout_.touched_by(next, operation_)) {
    run_left_ = 0;
    return false;
  }
  extent_ = next;
  return true;
}

/// Draws operation and extent; true when the request takes the extent as a whole.
bool ProfileSource::begin_anew() {
  operation_ = draw_operation();
  const bool visit = draw_visit();
  if (!visit) {
    const auto& extents = layout_.by_rank(operation_);
    extent_ = extents[operations_[operation_].popularity.draw(place_random_)];
  }
  const bool run = draw_run();
  return visit || run;
}

unsigned ProfileSource::draw_operation() {
  return operation_random_.uniform() < probability(plan_.write_share, owed_writes_) ? ProfileLayout::k_write
                                                                                    : ProfileLayout::k_read;
}

/// Takes the next extent that the operation has yet to visit, as often as is needed to have none
/// left in the end.
bool ProfileSource::draw_visit() {
  Operation& operation = operations_[operation_];
  if (operation.unvisited == 0) return false;
  // About half of the requests that continue a run come to extents that have been visited already.
  const double chances = operation.share * (1 - ProfileModel::k_sequential / 2);
  const double left = plan_.requests > issued_ ? static_cast<double>(plan_.requests - issued_) * chances : 0;
  if (place_random_.uniform() * left >= operation.unvisited) return false;
  const auto& extents = layout_.visits(operation_);
  do {
    extent_ = extents[operation.visit++];
  } while (visited_[extent_]);
  return true;
}

/// Whether the request begins a run; then also how far the run goes, a geometric number of extents.
bool ProfileSource::draw_run() {
  const double share = ProfileModel::k_sequential;
  const double begins = share / (1 - share) / ProfileModel::k_run_extents;
  if (run_random_.uniform() >= probability(begins, owed_sequential_)) return false;
  static const double k_log_goes_on = std::log(1 - 1 / ProfileModel::k_run_extents);
  const double further = std::log(1 - run_random_.uniform()) / k_log_goes_on;
  run_left_ = 1 + static_cast<std::uint32_t>(further);
  return true;
}

/// Of a small piece, the extent, and the extent with its neighbour, the two sizes around what the
/// mean demands.
std::uint32_t ProfileSource::draw_pages() {
  const Operation& operation = operations_[operation_];
  const double wanted = operation.mean_pages + operation.owed_pages / k_pages_owed;
  std::uint32_t low = 1;
  std::uint32_t high = layout_.pages(extent_);
  if (wanted > high) {
    low = high;
    const std::uint32_t next = extent_ + 1;
    if (next < layout_.extents() && layout_.touched_by(next, operation_)) high += layout_.pages(next);
  }
  return low + size_random_.uniform() * (high - low) < wanted ? high : low;
}

/// Keeps the books after a request of `pages` at the present extent.
void ProfileSource::note(std::uint32_t pages) {
  Operation& operation = operations_[operation_];
  operation.owed_pages += operation.mean_pages - pages;
  owed_writes_ += plan_.write_share - operation_;
  owed_sequential_ += ProfileModel::k_sequential - (layout_.start(extent_) == last_end_ ? 1 : 0);
  last_end_ = layout_.start(extent_) + pages * ProfileModel::k_page;
  ++issued_;
  if (pages < layout_.pages(extent_) || visited_[extent_]) return;
  visited_[extent_] = true;
  --operations_[layout_.visited_by(extent_)].unvisited;
}

}  // namespace tlmssd
