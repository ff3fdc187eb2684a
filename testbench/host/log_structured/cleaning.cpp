// Room at the head of the log, and how cleaning makes it.
#include <algorithm>
#include <stdexcept>

#include "testbench/host/log_structured/log_structured_parts.h"

namespace tlmssd {

/// True: `room` has its places, or never will. Leaves a segment of room, which is cleaning's.
bool LogStructuredLayer::give(Reservation& room) {
  if (read_only_) return true;
  if (log_.room() < std::uint64_t{room.grains} + log_.shape().segment_grains) {
    if (!timed_) throw std::logic_error("log-structured host layer: cleaning has left no room");
    return false;
  }
  while (log_.head_room() == 0) {
    log_.open_segment();
    start_cleaning();  // untimed, it has ended on return and may have filled what was opened
  }
  room.run = log_.take(room.grains);
  return true;
}

/// Something has ended: its waiters may go on.
void LogStructuredLayer::progress() {
  if (cleaner_) event_queue_.soon(std::exchange(cleaner_, nullptr));
  while (!waiting_.empty()) {
    if (!give(*waiting_.front())) return;
    waiting_.pop().waiter.resume();
  }
}

void LogStructuredLayer::start_cleaning() {
  if (cleaning_ || read_only_ || log_.free_segments() >= config_.low_water) return;
  cleaning_ = true;
  tasks_.start(clean());
}

Task<> LogStructuredLayer::clean() {
  Change change{*this};
  while (!read_only_ && log_.free_segments() < config_.low_water) {
    const std::optional<Segment> victim = log_.choose_victim();
    if (!victim) {
      if (!timed_) throw std::logic_error("log-structured host layer: no segment to clean");
      co_await change;
      continue;
    }
    co_await empty(*victim);
    while (!read_only_ && log_.is_victim(*victim)) co_await change;  // readers
    if (log_.is_victim(*victim)) log_.give_up(*victim);
  }
  cleaning_ = false;
}

/// Appends what is valid in the victim. It stays pinned until the copies have committed, so that
/// its places are not used again meanwhile.
Task<> LogStructuredLayer::empty(Segment victim) {
  log_.pin(victim);
  moves_.clear();
  log_.for_each_valid(victim, [this](Grain grain, Place place) { moves_.push_back({grain, place}); });
  moving_.resize(moves_.size() * grain_blocks_);
  const Ledger reading(event_queue_.now());
  Batch reads(reading);
  for (std::size_t i = 0, end = 0; i < moves_.size(); i = end) {
    for (end = i + 1; end < moves_.size() && end - i < most_ && moves_[end].from == moves_[end - 1].from + 1;)
      ++end;
    fetch(reads, moves_[i].from, 0, std::span(moving_).subspan(i * grain_blocks_, (end - i) * grain_blocks_),
          0);
  }
  co_await reads;
  if (reads.status != HostStatus::success) co_await read_one_by_one();
  drop_moved();

  const Ledger writing(event_queue_.now());
  Batch writes(writing);
  for (std::size_t done = 0; done < moves_.size();) {
    if (log_.head_room() == 0) log_.open_segment();
    const auto left = static_cast<std::uint32_t>(moves_.size() - done);
    const SegmentLog::Run run = log_.take(std::min(left, most_));
    Piece& piece = append(run, std::span(moving_).subspan(done * grain_blocks_));
    piece.moves = &moves_[done];
    stats_.grains_moved += run.grains;
    done += run.grains;
    send(writes, piece);
  }
  co_await writes;
  if (!read_only_) ++stats_.segments_cleaned;
  log_.unpin(victim);
  progress();
}

/// A read of several grains has failed: which of them?
Task<> LogStructuredLayer::read_one_by_one() {
  const Ledger reading(event_queue_.now());
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    Batch one(reading);
    fetch(one, moves_[i].from, 0, std::span(moving_).subspan(i * grain_blocks_, grain_blocks_), 0);
    co_await one;
    if (one.status == HostStatus::success || log_.lookup(moves_[i].grain) != moves_[i].from) continue;
    log_.lose(moves_[i].grain);
    ++stats_.grains_lost;
  }
}

/// Leaves out grains that lie elsewhere by now.
void LogStructuredLayer::drop_moved() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (log_.lookup(moves_[i].grain) != moves_[i].from) continue;
    if (kept != i) {
      moves_[kept] = moves_[i];
      std::copy_n(moving_.begin() + static_cast<std::ptrdiff_t>(i * grain_blocks_), grain_blocks_,
                  moving_.begin() + static_cast<std::ptrdiff_t>(kept * grain_blocks_));
    }
    ++kept;
  }
  moves_.resize(kept);
}

}  // namespace tlmssd
