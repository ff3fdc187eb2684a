// Whether a figure over time has become steady: the criterion of SNIA's Performance Test
// Specification, and whether what it sees is more than noise.
//
// PTS: over five rounds the range is at most 20 % of the average, and the straight line of least
// squares through them changes by at most 10 % of it. Rounds of a short run scatter by chance, so
// what is called drifting must also show in a finer division: the slope over twenty parts differs
// from none by four times its standard error. Leaves out: correlation between parts.
#pragma once

#include <vector>

namespace tlmssd {

struct Steadiness {
  double average = 0;
  double range = 0;   ///< (highest - lowest round) / average
  double change = 0;  ///< of the line from the first to the last round / average, with its sign
  [[nodiscard]] bool by_pts() const;
};

inline constexpr std::size_t k_pts_rounds = 5;

/// Of exactly k_pts_rounds figures or more; of more, the last ones count.
Steadiness pts_steadiness(const std::vector<double>& rounds);

enum class Course { steady, warming_up, drifting, unknown };

/// Of a figure in many equal steps of time; unknown with fewer than 100 of them. Warming up: the
/// first fifth differs by more than 20 % from the rest, which is steady.
Course course_of(const std::vector<double>& steps);

}  // namespace tlmssd
