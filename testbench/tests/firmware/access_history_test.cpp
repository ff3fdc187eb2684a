// The list of what was accessed last, against one that is searched.
#include "firmware/base/access_history.h"

#include <algorithm>
#include <deque>

#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/tests/firmware/model_host.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

/// Units with their accesses, the one accessed longest ago first.
struct Reference {
  std::size_t most;
  std::deque<std::pair<Lpn, std::uint32_t>> units;
  auto find(Lpn unit) {
    return std::find_if(units.begin(), units.end(), [unit](const auto& u) { return u.first == unit; });
  }
  std::uint32_t access(Lpn unit) {
    std::uint32_t accesses = 1;
    if (const auto at = find(unit); at != units.end()) {
      accesses = at->second + 1;
      units.erase(at);
    } else if (units.size() == most) {
      units.pop_front();
    }
    units.emplace_back(unit, accesses);
    return accesses;
  }
  void forget(Lpn unit) {
    if (const auto at = find(unit); at != units.end()) units.erase(at);
  }
};

}  // namespace

TEST_CASE("an access history counts what was accessed last, and nothing else") {
  for (const std::size_t most : {1U, 2U, 17U, 200U}) {
    AccessHistory history(most);
    Reference reference{most, {}};
    RandomStream random(most, "access history");
    for (int n = 0; n < 20'000; ++n) {
      const auto unit = static_cast<Lpn>(random.below(random.below(2) == 0 ? 300 : 10));
      if (random.below(10) == 0) {
        history.forget(unit);
        reference.forget(unit);
      } else {
        REQUIRE(history.access(unit) == reference.access(unit));
      }
      REQUIRE(history.size() == reference.units.size());
      if (n % 4000 != 3999) continue;
      MemoryArchive saved;
      history.archive(saved);
      MemoryArchive reader(saved.content());
      history = AccessHistory(most);
      history.archive(reader);
    }
  }
}
