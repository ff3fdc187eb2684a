#include "testbench/host/untimed_turns.h"

#include <algorithm>

#include "testbench/host/load_instants.h"

namespace tlmssd {

UntimedTurns::UntimedTurns(const std::vector<Load>& loads, const Scoreboard& scoreboard, std::uint64_t seed)
    : random_(seed, "host.untimed") {
  for (const Load& load : loads) waiting_.push_back({waiting_.size(), LookAhead(load, scoreboard)});
  waiting_.sort([](const UntimedLoad& a, const UntimedLoad& b) {
    return a.requests.load().phase < b.requests.load().phase;
  });
}

std::uint32_t UntimedTurns::weight(const Load& load) {
  return load.pacing == Pacing::open_loop ? 1 : std::max(load.queue_depth, 1U);
}

void UntimedTurns::begin_phase() {
  const std::uint32_t phase = waiting_.front().requests.load().phase;
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [phase](const UntimedLoad& one) {
    return one.requests.load().phase != phase;
  });
  live_.splice(live_.end(), waiting_, waiting_.begin(), later);
  for (const UntimedLoad& one : live_) weights_ += weight(one.requests.load());
}

UntimedLoad* UntimedTurns::next() {
  if (live_.empty()) {
    if (waiting_.empty()) return nullptr;
    begin_phase();
  }
  turn_ = live_.size() == 1 ? live_.begin() : draw();
  return &*turn_;
}

void UntimedTurns::end() {
  weights_ -= weight(turn_->requests.load());
  live_.erase(turn_);
}

std::list<UntimedLoad>::iterator UntimedTurns::draw() {
  std::uint64_t left = random_.below(weights_);
  auto drawn = live_.begin();
  for (;; ++drawn) {
    const std::uint32_t own = weight(drawn->requests.load());
    if (left < own) break;
    left -= own;
  }
  return drawn->requests.load().pacing == Pacing::open_loop ? first_due() : drawn;
}

/// Of those whose requests have times. One that has none left comes first, to end.
std::list<UntimedLoad>::iterator UntimedTurns::first_due() {
  auto first = live_.end();
  Picoseconds least = k_never;
  for (auto one = live_.begin(); one != live_.end(); ++one) {
    const Load& load = one->requests.load();
    if (load.pacing != Pacing::open_loop) continue;
    const PlacedRequest* const head = one->requests.head();
    const Picoseconds due = head == nullptr ? 0 : instant(*one, *head);
    if (first != live_.end() && due >= least) continue;
    first = one;
    least = due;
  }
  return first;
}

Picoseconds UntimedTurns::instant(UntimedLoad& one, const PlacedRequest& request) {
  const Load& load = one.requests.load();
  const std::uint64_t number = one.requests.given();
  if (number != one.number_of_due) {
    const bool first = one.number_of_due == ~std::uint64_t{0};
    const Picoseconds before = first ? request.time : one.time;
    one.time = request.time;
    one.number_of_due = number;
    one.due = request.time;
    if (load.made && request.time > before)
      one.due -= static_cast<Picoseconds>(random_.below(static_cast<std::uint64_t>(request.time - before)));
  }
  return later(load.start, one.due);
}

}  // namespace tlmssd
