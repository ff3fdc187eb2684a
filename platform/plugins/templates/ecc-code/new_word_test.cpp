// The code by itself, against numbers worked out by hand.
#include <cmath>
#include <cstdio>

#include "new_word_code.h"

namespace {

int failures = 0;

void check(const char* what, double found, double expected) {
  if (std::abs(found - expected) <= 1e-9) return;
  std::printf("%s: %.12f, expected %.12f\n", what, found, expected);
  ++failures;
}

}  // namespace

int main() {
  const tlmssd::CodeConfig code = NewTypeCode::defaults();
  check("half of the frames", NewTypeCode::failure(code, 100), 0.5);
  check("odds fall by e with every four bits", NewTypeCode::failure(code, 96), 1 / (1 + std::exp(1.0)));
  check("and rise so", NewTypeCode::failure(code, 104), 1 / (1 + std::exp(-1.0)));
  return failures == 0 ? 0 : 1;
}
