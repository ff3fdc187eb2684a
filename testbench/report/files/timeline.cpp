#include "testbench/report/files/timeline.h"

#include <algorithm>

namespace tlmssd {
namespace {

std::pair<Picoseconds, Picoseconds> span_of(const std::variant<TraceSlice, TraceCounter>& item) {
  if (const auto* slice = std::get_if<TraceSlice>(&item)) return {slice->start, slice->end};
  const Picoseconds when = std::get<TraceCounter>(item).when;
  return {when, when};
}

}  // namespace

void Timeline::add(TraceSlice slice) {
  if (!wants(slice.start, slice.end)) return;
  slice.start = std::max(slice.start, window_.from);
  slice.end = std::min(slice.end, window_.until);
  hold(std::move(slice));
}

void Timeline::add(TraceCounter counter) {
  if (wants(counter.when, counter.when)) hold(std::move(counter));
}

void Timeline::hold(Item item) {
  if (window_.slowest == 0) return write(item);
  newest_.push_back(std::move(item));
  if (newest_.size() <= k_newest) return;
  if (surrounds_slow(newest_.front())) kept_.push_back(std::move(newest_.front()));
  newest_.pop_front();
  if (kept_.size() >= prune_at_) prune();
}

bool Timeline::surrounds_slow(const Item& item) const {
  const auto [start, end] = span_of(item);
  return std::any_of(slow_.begin(), slow_.end(), [&, start = start, end = end](const Slow& command) {
    return end >= command.submitted - window_.margin && start <= command.completed + window_.margin;
  });
}

/// Commands have been overtaken by slower ones: what surrounds only them goes.
void Timeline::prune() {
  std::erase_if(kept_, [this](const Item& item) { return !surrounds_slow(item); });
  if (kept_.size() > k_most_kept) {
    incomplete_ = true;
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(kept_.size() - k_most_kept));
  }
  prune_at_ = std::clamp<std::size_t>(2 * kept_.size(), 4096, k_most_kept + k_most_kept / 2);
}

void Timeline::completed(Picoseconds submitted, Picoseconds completed) {
  if (window_.slowest == 0 || submitted < window_.from || completed >= window_.until) return;
  const auto slower = [](const Slow& a, const Slow& b) { return a.latency() > b.latency(); };
  if (slow_.size() == window_.slowest) {
    if (completed - submitted <= slow_.front().latency()) return;
    std::pop_heap(slow_.begin(), slow_.end(), slower);
    slow_.pop_back();
  }
  slow_.push_back({submitted, completed});
  std::push_heap(slow_.begin(), slow_.end(), slower);
  if (!newest_.empty() && newest_.size() == k_newest &&
      span_of(newest_.front()).first > submitted - window_.margin)
    incomplete_ = true;
}

void Timeline::write(const Item& item) {
  std::visit([this](const auto& one) { writer_.write(one); }, item);
}

void Timeline::close() {
  if (closed_) return;
  closed_ = true;
  prune();
  for (const Item& item : kept_) write(item);
  for (const Item& item : newest_) {
    if (surrounds_slow(item)) write(item);
  }
  kept_.clear();
  newest_.clear();
  writer_.close();
}

}  // namespace tlmssd
