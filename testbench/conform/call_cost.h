// What a call costs, for criteria of conformance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>

namespace tlmssd {

/// Nanoseconds of this thread's processor time that `call(i)`, a number, takes, over i below
/// `calls` (10 or more) in ten parts: that of the quickest part, lest other work on the machine be
/// taken for the model's.
template <class Call>
double nanoseconds_of_call(std::size_t calls, Call&& call) {
  constexpr std::size_t k_parts = 10;
  const auto now = [] {
    std::timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec);
  };
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t part = 0; part < k_parts; ++part) {
    volatile double sum = 0;  // lest the calls be left out
    std::size_t done = 0;
    const double start = now();
    for (std::size_t i = part; i < calls; i += k_parts, ++done) sum = sum + static_cast<double>(call(i));
    if (done > 0) best = std::min(best, (now() - start) / static_cast<double>(done));
  }
  return best;
}

}  // namespace tlmssd
