// Whether two answers are the same, of models that may answer anything.
#pragma once

#include <cmath>

namespace tlmssd {

/// Equal, or both no number: that an answer is none is for another check to say.
inline bool same_number(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

}  // namespace tlmssd
