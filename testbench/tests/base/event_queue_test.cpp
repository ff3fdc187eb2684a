#include "models/base/event_queue.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "models/base/random.h"

using namespace tlmssd;

TEST_CASE("event queue runs items in the order of time, then of insertion") {
  EventQueue event_queue;
  struct Probe {
    EventQueue* event_queue;
    std::vector<std::pair<Picoseconds, int>>* seen;
    Picoseconds due;
    int number;
  };
  std::vector<std::pair<Picoseconds, int>> seen;
  std::vector<Probe> probes;
  RandomStream random(1, "event queue test");
  for (int i = 0; i < 5000; ++i)
    probes.push_back({&event_queue, &seen, static_cast<Picoseconds>(random.below(500)), i});
  for (Probe& probe : probes) {
    event_queue.at(
        probe.due,
        [](void* self) {
          auto* p = static_cast<Probe*>(self);
          REQUIRE(p->event_queue->now() == p->due);
          p->seen->emplace_back(p->due, p->number);
        },
        &probe);
  }
  event_queue.run_until(k_never);
  REQUIRE(seen.size() == probes.size());
  REQUIRE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("an item for a past instant runs now, and an idle clock can be moved on") {
  EventQueue event_queue;
  event_queue.run_until(100);
  REQUIRE(event_queue.now() == 100);
  Picoseconds ran_at = -1;
  struct Probe {
    EventQueue& event_queue;
    Picoseconds& ran_at;
  } probe{event_queue, ran_at};
  event_queue.at(
      50,
      [](void* self) { static_cast<Probe*>(self)->ran_at = static_cast<Probe*>(self)->event_queue.now(); },
      &probe);
  event_queue.run_until(100);
  REQUIRE(ran_at == 100);
}

TEST_CASE("a checkpoint between batches of items may end the run, and no item is lost") {
  static int calls = 0;
  static int throws_at = 0;
  calls = 0;
  throws_at = 2;
  EventQueue event_queue;
  event_queue.set_checkpoint([] {
    if (++calls == throws_at) throw std::runtime_error("enough");
  });
  int run = 0;
  constexpr int k_items = 50'000;
  for (int i = 0; i < k_items; ++i)
    event_queue.at(
        i, [](void* count) { ++*static_cast<int*>(count); }, &run);
  CHECK_THROWS_WITH(event_queue.run_until(k_never), "enough");
  CHECK(run > 0);
  CHECK(run < k_items);
  event_queue.run_until(k_never);
  CHECK(run == k_items);
  CHECK(calls >= 10);
  event_queue.checkpoint();
  EventQueue().checkpoint();  // without one: nothing
}
