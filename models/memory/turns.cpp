#include "models/memory/turns.h"

namespace tlmssd {

std::string Turns::meaning(const std::string& one) {
  return "in-order: a whole " + one +
         " after the other, however long; round-robin: a burst of each in turn, so that a short " + one +
         " does not wait for all of a long one";
}

Turns::Span Turns::take_turns(Picoseconds arrival, Picoseconds time) {
  const Picoseconds start = arrival + wait(arrival, time);
  free_ = std::max(free_, arrival) + time;
  enter(time);
  return {start, start + time, free_};
}

Picoseconds Turns::wait(Picoseconds arrival, Picoseconds time) {
  while (!booked_.empty() && booked_.front().end <= arrival) {
    leave(booked_.front());
    booked_.pop_front();
  }
  Picoseconds turns = 0;
  for (std::uint64_t rest = known_; rest != 0; rest &= rest - 1) {
    const auto octave = static_cast<std::size_t>(std::countr_zero(rest));
    turns += std::min(left_[octave], number_[octave] * time);
  }
  return std::min(turns, std::max<Picoseconds>(free_ - arrival, 0));
}

void Turns::enter(Picoseconds time) {
  const std::size_t octave = octave_of(time);
  booked_.push_back({free_, time});
  left_[octave] += time;
  ++number_[octave];
  known_ |= std::uint64_t{1} << octave;
}

void Turns::leave(const Booked& booked) {
  const std::size_t octave = octave_of(booked.time);
  left_[octave] -= booked.time;
  if (--number_[octave] == 0) known_ &= ~(std::uint64_t{1} << octave);
}

}  // namespace tlmssd
