#include "testbench/host/log_structured/segment_log.h"

#include <algorithm>
#include <stdexcept>

namespace tlmssd {

SegmentLog::SegmentLog(const Shape& shape)
    : shape_(shape),
      map_(shape.grains),
      owner_(shape.places()),
      segments_(shape.segments),
      lists_(std::size_t{shape.segment_grains} + 1) {}

// ---- appending

void SegmentLog::open_segment() {
  if (head_room() > 0 || free_segments() == 0)
    throw std::logic_error("segment log: the head cannot go on in another segment");
  if (fresh_ < shape_.segments) {
    head_ = fresh_++;
  } else {
    head_ = freed_.front();
    freed_.pop_front();
  }
  segments_[*head_].state = State::head;
  head_used_ = 0;
}

SegmentLog::Run SegmentLog::take(std::uint32_t at_most) {
  if (head_room() == 0) throw std::logic_error("segment log: no room at the head");
  const Run run{*head_ * shape_.segment_grains + head_used_, std::min(at_most, head_room())};
  head_used_ += run.grains;
  segments_[*head_].writing += run.grains;
  if (head_room() == 0) segments_[*head_].state = State::full;
  return run;
}

void SegmentLog::committed(Run run) {
  const Segment segment = segment_of(run.first);
  Info& info = segments_[segment];
  if (info.writing < run.grains) throw std::logic_error("segment log: more has committed than was taken");
  info.writing -= run.grains;
  if (info.listed()) push(segment);
  settle(segment);
}

// ---- the map

void SegmentLog::map(Grain grain, Place place) {
  forget(grain, place);
  owner_[place] = grain;
  ++segments_[segment_of(place)].valid;
  ++mapped_;
}

/// Where the grain lay is a hole.
void SegmentLog::forget(Grain grain, Place instead) {
  const Place old = lookup(grain);
  if (old == k_nowhere && instead == k_nowhere) return;  // no leaf for what was never written
  map_.write(grain) = instead + 1;
  if (old == k_nowhere || old == k_lost) return;
  --mapped_;
  make_hole(old);
}

void SegmentLog::make_hole(Place place) {
  const Segment segment = segment_of(place);
  Info& info = segments_[segment];
  if (info.listed()) unlink(segment);
  --info.valid;
  if (info.listed()) push(segment);
  settle(segment);
}

// ---- segments

void SegmentLog::push(Segment segment) {
  List& list = lists_[segments_[segment].valid];
  segments_[segment].before = list.last;
  segments_[segment].after = k_none;
  (list.last == k_none ? list.first : segments_[list.last].after) = segment;
  list.last = segment;
}

void SegmentLog::unlink(Segment segment) {
  const Info& info = segments_[segment];
  List& list = lists_[info.valid];
  (info.before == k_none ? list.first : segments_[info.before].after) = info.after;
  (info.after == k_none ? list.last : segments_[info.after].before) = info.before;
}

/// A segment of which nothing is needed is free.
void SegmentLog::settle(Segment segment) {
  Info& info = segments_[segment];
  if (info.state != State::full && info.state != State::victim) return;
  if (info.valid > 0 || info.writing > 0 || info.readers > 0) return;
  if (info.listed()) unlink(segment);
  info.state = State::free;
  freed_.push_back(segment);
}

void SegmentLog::unpin(Segment segment) {
  --segments_[segment].readers;
  settle(segment);
}

std::optional<SegmentLog::Segment> SegmentLog::choose_victim() {
  for (std::uint32_t valid = 0; valid < shape_.segment_grains; ++valid) {
    const Segment segment = lists_[valid].first;
    if (segment == k_none) continue;
    unlink(segment);
    segments_[segment].state = State::victim;
    return segment;
  }
  return {};
}

void SegmentLog::give_up(Segment victim) {
  segments_[victim].state = State::full;
  push(victim);
  settle(victim);
}

// ---- snapshots

void SegmentLog::archive(Archive& a) {
  std::vector<Segment> full;
  for (const List& list : lists_) {
    for (Segment s = list.first; s != k_none; s = segments_[s].after) full.push_back(s);
  }
  a(map_);
  a(full);
  a(freed_);
  a(fresh_);
  Segment head = head_.value_or(k_none);
  a(head);
  head_ = head == k_none ? std::nullopt : std::optional(head);
  a(head_used_);
  if (!a.saving()) rebuild(full);
}

/// Everything that follows from the map and the order of the full segments.
void SegmentLog::rebuild(const std::vector<Segment>& full) {
  const auto within = [this](Segment s) { return s < fresh_; };
  const std::size_t heads = !head_ || head_used_ == shape_.segment_grains ? 0 : 1;
  if (fresh_ > shape_.segments || (head_ && !within(*head_)) || head_used_ > shape_.segment_grains ||
      full.size() + freed_.size() + heads != fresh_ || !std::all_of(full.begin(), full.end(), within) ||
      !std::all_of(freed_.begin(), freed_.end(), within))
    throw ArchiveError("snapshot is damaged: segments of the log-structured host layer's log");
  segments_ = ZeroPages<Info>(shape_.segments);
  std::fill(lists_.begin(), lists_.end(), List{});
  mapped_ = 0;
  for (std::uint64_t g = next_touched(0, shape_.grains); g < shape_.grains;
       g = next_touched(g + 1, shape_.grains)) {
    const Place place = lookup(static_cast<Grain>(g));
    if (place == k_nowhere || place == k_lost) continue;
    if (place >= shape_.places())
      throw ArchiveError("snapshot is damaged: map of the log-structured host layer");
    owner_[place] = static_cast<Grain>(g);
    ++segments_[segment_of(place)].valid;
    ++mapped_;
  }
  if (heads > 0) segments_[*head_].state = State::head;
  for (const Segment segment : full) {
    if (segments_[segment].valid > shape_.segment_grains)
      throw ArchiveError("snapshot is damaged: map of the log-structured host layer");
    segments_[segment].state = State::full;
    push(segment);
  }
}

}  // namespace tlmssd
