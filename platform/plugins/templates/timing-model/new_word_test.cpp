// The model by itself, against numbers worked out by hand.
#include <cstdio>

#include "new_word_timing.h"

namespace {

int failures = 0;

void check(const char* what, tlmssd::Picoseconds found, tlmssd::Picoseconds expected) {
  if (found == expected) return;
  std::printf("%s: %lld ps, expected %lld ps\n", what, static_cast<long long>(found),
              static_cast<long long>(expected));
  ++failures;
}

}  // namespace

int main() {
  tlmssd::NandPart part;
  part.cell = "tlc";
  part.pages_per_block = 30;  // 10 word lines
  part.read_latency = {60'000'000};
  part.program_latency = {500'000'000};
  part.endurance = 3000;
  const ::NewTypeTiming model({}, part);
  using namespace tlmssd;
  check("first word line", model.answer(program_operation(part, PageId{0}, 1)).duration, 500'000'000);
  check("last word line", model.answer(program_operation(part, PageId{29}, 1)).duration, 450'000'000);
  check("worn", model.answer(program_operation(part, PageId{0}, 1, 3000)).duration, 450'000'000);
  ArrayOperation read = sense_operation(part, PageId{0});
  check("fresh data", model.answer(read).duration, 60'000'000);
  read.age_days = 365;
  check("a year old", model.answer(read).duration, 78'000'000);
  check("erase", model.answer(erase_operation()).duration, part.erase_latency);
  return failures == 0 ? 0 : 1;
}
