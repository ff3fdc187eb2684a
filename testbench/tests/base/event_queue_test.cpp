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

TEST_CASE("what is cancelled is not called, and all else keeps its order") {
  EventQueue event_queue;
  struct Probe {
    std::vector<int>* seen;
    int number;
    static void run(void* self) {
      auto* probe = static_cast<Probe*>(self);
      probe->seen->push_back(probe->number);
    }
  };
  std::vector<int> seen;
  std::vector<Probe> probes;
  for (int i = 0; i < 200; ++i) probes.push_back({&seen, i});
  // Near ones, crowds at one instant, and some that are far off.
  const auto due = [](int i) {
    return Picoseconds{i % 3 == 0 ? 1'000 : i % 3 == 1 ? 70'000'000 : 60'000'000'000'000};
  };
  event_queue.run_until(500);
  std::vector<int> expected;
  for (Probe& probe : probes) event_queue.at(due(probe.number), &Probe::run, &probe);
  for (const int gone : {0, 1, 2, 3, 99, 100, 101, 197, 198, 199}) {
    event_queue.cancel(&Probe::run, &probes[static_cast<std::size_t>(gone)]);
    probes[static_cast<std::size_t>(gone)].number = -1;
  }
  CHECK(event_queue.size() == 190);
  CHECK(event_queue.next() == 1'000);
  event_queue.at(1'000, &Probe::run, &probes[1]);  // given later, so behind the others of its instant
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = kind; i < 200; i += 3)
      if (probes[static_cast<std::size_t>(i)].number >= 0) expected.push_back(i);
    if (kind == 0) expected.push_back(-1);
  }
  const bool never_stop = false;
  event_queue.run_events(k_never, never_stop);
  CHECK(seen == expected);
  CHECK(event_queue.empty());
}

TEST_CASE("the clock does not go on to what has been cancelled") {
  EventQueue event_queue;
  int ran = 0;
  const EventQueue::Callback count = [](void* self) { ++*static_cast<int*>(self); };
  event_queue.at(10, count, &ran);
  event_queue.at(60'000'000'000'000, count, &event_queue);
  event_queue.cancel(count, &event_queue);
  const bool never_stop = false;
  event_queue.run_events(k_never, never_stop);
  CHECK(ran == 1);
  CHECK(event_queue.now() == 10);
  CHECK(event_queue.next() == k_never);
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
