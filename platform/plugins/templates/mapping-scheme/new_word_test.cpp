// The scheme by itself, against numbers worked out by hand.
#include <cstdio>

#include "new_word_map.h"

namespace {

int failures = 0;

void check(const char* what, bool right) {
  if (right) return;
  std::printf("%s: wrong\n", what);
  ++failures;
}

}  // namespace

int main() {
  using namespace tlmssd::firmware;
  DriveShape shape;
  shape.logical_blocks = 1000;
  shape.lba_bytes = static_cast<std::uint32_t>(shape.mapping_page_bytes);
  const Layout layout(shape, AllocationConfig{});
  ::NewTypeMap map({.entry_size = 16}, layout);
  check("nothing is written", !map.lookup(7).valid());
  map.update(7, Ppn{42});
  check("written", map.lookup(7) == Ppn{42});
  check("its neighbour", !map.lookup(8).valid());
  map.update(7, k_nowhere);
  check("deallocated", !map.lookup(7).valid());
  check("table", map.dram_bytes() == 16'000);
  check("entries", map.entries(10, 4).address == 160 && map.entries(10, 4).bytes == 64);
  return failures == 0 ? 0 : 1;
}
