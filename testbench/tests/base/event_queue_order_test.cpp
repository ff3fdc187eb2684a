// The event queue's order, whatever part of it an item waits in: the ring of this instant, the
// wheel, or the heap.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "models/base/event_queue.h"
#include "models/base/random.h"

namespace tlmssd {
namespace {

/// Puts items on an event queue and on a plain ordered map, also from within items, and compares
/// the order in which they run.
struct Twin {
  explicit Twin(std::uint64_t seed) : random(seed, "event queue order") {}

  struct Item {
    Twin* twin;
    std::uint64_t number;
  };
  void add(Picoseconds delay) {
    items.push_back(std::make_unique<Item>(Item{this, items.size()}));
    expected.emplace(std::make_pair(event_queue.now() + delay, items.back()->number), 0);
    event_queue.at(
        event_queue.now() + delay,
        [](void* self) { static_cast<Item*>(self)->twin->ran(static_cast<Item*>(self)->number); },
        items.back().get());
  }
  void ran(std::uint64_t number) {
    REQUIRE_FALSE(expected.empty());
    REQUIRE(expected.begin()->first == std::make_pair(event_queue.now(), number));
    expected.erase(expected.begin());
    for (std::uint64_t more = random.below(3); more > 0 && left > 0; --more, --left) add(delay());
  }
  /// From this very instant to far beyond the wheel, with many equal ones and crowds within one
  /// slot of it.
  Picoseconds delay() {
    switch (random.below(6)) {
      case 0:
        return 0;
      case 1:
        return 50'000;
      case 2:
        return static_cast<Picoseconds>(random.below(100'000));
      case 3:
        return static_cast<Picoseconds>(random.below(1'073'741'824));  // a turn of the wheel
      case 4:
        return 1'073'741'824 - static_cast<Picoseconds>(random.below(200'000));
      default:
        return static_cast<Picoseconds>(random.below(5'000'000'000));
    }
  }

  EventQueue event_queue;
  RandomStream random;
  std::vector<std::unique_ptr<Item>> items;
  std::map<std::pair<Picoseconds, std::uint64_t>, int> expected;
  std::uint64_t left = 50'000;
};

}  // namespace

TEST_CASE("items run in the order of time, then of insertion, wherever they wait") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U);
  Twin twin(seed);
  for (int i = 0; i < 300; ++i) twin.add(twin.delay());
  Picoseconds until = 0;
  while (!twin.event_queue.empty()) {
    REQUIRE(twin.event_queue.size() == twin.expected.size());
    REQUIRE(twin.event_queue.next() == twin.expected.begin()->first.first);
    until = std::max(until + 700'000, twin.event_queue.now());
    twin.event_queue.run_until(until);
  }
  CHECK(twin.expected.empty());
  CHECK(twin.items.size() > 10'000);
}

TEST_CASE("a crowd that comes in falling order of time runs in rising order") {
  Twin twin(5);
  twin.left = 0;
  for (Picoseconds delay = 130'000; delay > 0; delay -= 10) twin.add(delay);
  twin.event_queue.run_until(k_never);
  CHECK(twin.expected.empty());
}

}  // namespace tlmssd
