#include "testbench/scoreboard/candidates.h"

#include <utility>

namespace tlmssd {

void Candidates::start(std::uint16_t value) {
  Candidate present;
  present.value = value;
  list_.assign(1, present);
}

void Candidates::begin(std::uint64_t tick, std::uint16_t value) {
  Candidate candidate;
  candidate.begin = candidate.last_use = tick;
  candidate.first_end = Candidate::k_open;
  candidate.value = value;
  list_.push_back(candidate);
}

Candidates::List::iterator Candidates::find(std::uint64_t began) {
  const auto at = std::lower_bound(list_.begin(), list_.end(), began,
                                   [](const Candidate& one, std::uint64_t tick) { return one.begin < tick; });
  return at != list_.end() && at->begin == began ? at : list_.end();
}

void Candidates::end(std::uint64_t began, std::uint64_t now, bool ok) {
  const auto candidate = find(began);
  if (candidate == list_.end()) return;
  if (ok) {
    candidate->first_end = std::min(candidate->first_end, now);
  } else {
    candidate->deadline = now;
  }
}

void Candidates::cancel(std::uint64_t began) {
  const auto candidate = find(began);
  if (candidate != list_.end()) list_.erase(candidate);
}

bool Candidates::admits(const Candidate& candidate, std::uint64_t began, std::uint64_t now) const {
  const std::uint64_t last_use = std::max(candidate.last_use, began);
  const std::uint64_t first_end = std::min(candidate.ended(), now);
  return std::none_of(list_.begin(), list_.end(), [&](const Candidate& other) {
    return first_end < other.last_use && other.first_end < last_use && &other != &candidate;
  });
}

void Candidates::prune(std::uint64_t horizon) {
  // Of those that were over, the one used last, and the next to it, which counts for that one.
  const Candidate* last = nullptr;
  std::uint64_t used = 0;
  std::uint64_t used_before = 0;
  for (const Candidate& one : list_) {
    if (one.first_end >= horizon) continue;
    if (last == nullptr || one.last_use > used) {
      used_before = std::exchange(used, one.last_use);
      last = &one;
    } else {
      used_before = std::max(used_before, one.last_use);
    }
  }
  auto kept = list_.begin();
  for (const Candidate& one : list_) {
    const std::uint64_t ended = one.ended();
    if (ended < horizon && ended < (&one == last ? used_before : used)) continue;
    *kept++ = one;
  }
  list_.erase(kept, list_.end());
}

bool Candidates::agree() const {
  return std::all_of(list_.begin(), list_.end(), [&](const Candidate& one) { return one.value == first(); });
}

void Candidates::archive(Archive& a) {
  auto length = static_cast<std::uint32_t>(list_.size());
  a(length);
  if (!a.saving()) list_.assign(length, {});
  for (auto candidate = list_.rbegin(); candidate != list_.rend(); ++candidate) {
    a(candidate->last_use);
    a(candidate->first_end);
    a(candidate->deadline);
    a(candidate->value);
  }
}

}  // namespace tlmssd
