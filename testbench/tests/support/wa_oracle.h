// Write amplification of uniform random single-page writes with one write frontier, by the
// mean-field theory of the literature.
//
// `alpha`: physical over logical pages, `pages`: pages per block. Greedy: Desnoyers (SYSTOR 2012)
// with harmonic numbers; FIFO: Xiang & Kurkoski (2012); random: geometric argument; d-choices: Van
// Houdt (SIGMETRICS 2013).
#pragma once

#include <cmath>
#include <cstdint>

namespace tlmssd::oracle {

/// Harmonic number, linearly interpolated between whole arguments.
inline double harmonic(double x) {
  double sum = 0;
  double whole = 0;
  while (whole + 1 <= x) sum += 1 / ++whole;
  return sum + (x - whole) / (whole + 1);
}

inline double greedy(double alpha, std::uint32_t pages) {
  // Valid pages X of the victim: alpha (1 - X/N) = H(N) - H(X); X = N is the root that is not
  // meant.
  double low = 0;
  double high = pages - 1e-6;
  for (int i = 0; i < 200; ++i) {
    const double x = (low + high) / 2;
    (alpha * (1 - x / pages) < harmonic(pages) - harmonic(x) ? low : high) = x;
  }
  return pages / (pages - low);
}

inline double fifo(double alpha) {
  // W0(-alpha e^-alpha), the root of w e^w on (-1, 0).
  double low = -1;
  double high = 0;
  const double target = -alpha * std::exp(-alpha);
  for (int i = 0; i < 200; ++i) {
    const double w = (low + high) / 2;
    (w * std::exp(w) < target ? low : high) = w;
  }
  return alpha / (alpha + low);
}

inline double random(double alpha) {
  return alpha / (alpha - 1);
}

inline double d_choices(double alpha, std::uint32_t pages, std::uint32_t d) {
  // M_j, the share of blocks with at least j valid pages, from j = N down: alpha j (1-v) (M_j -
  // M_j+1) = 1 - M_j^d; the victim's share of valid pages v is the one for which the M_j add up to
  // N / alpha.
  const auto total = [&](double v) {
    double above = 0;
    double sum = 0;
    for (std::uint32_t j = pages; j >= 1; --j) {
      double low = above;
      double high = 1;
      for (int i = 0; i < 60; ++i) {
        const double m = (low + high) / 2;
        (alpha * j * (1 - v) * (m - above) < 1 - std::pow(m, d) ? low : high) = m;
      }
      above = low;
      sum += above;
    }
    return sum;
  };
  double low = 0;
  double high = 1 - 1e-9;
  for (int i = 0; i < 60; ++i) {
    const double v = (low + high) / 2;
    (total(v) < pages / alpha ? low : high) = v;
  }
  return 1 / (1 - low);
}

}  // namespace tlmssd::oracle
