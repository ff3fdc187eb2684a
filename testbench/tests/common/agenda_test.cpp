#include "models/common/agenda.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "models/common/random.h"

using namespace tlmssd;

TEST_CASE("agenda runs items in the order of time, then of insertion") {
  Agenda agenda;
  struct Probe {
    Agenda* agenda;
    std::vector<std::pair<Picoseconds, int>>* seen;
    Picoseconds due;
    int number;
  };
  std::vector<std::pair<Picoseconds, int>> seen;
  std::vector<Probe> probes;
  RandomStream random(1, "agenda test");
  for (int i = 0; i < 5000; ++i)
    probes.push_back({&agenda, &seen, static_cast<Picoseconds>(random.below(500)), i});
  for (Probe& probe : probes) {
    agenda.at(
        probe.due,
        [](void* self) {
          auto* p = static_cast<Probe*>(self);
          REQUIRE(p->agenda->now() == p->due);
          p->seen->emplace_back(p->due, p->number);
        },
        &probe);
  }
  agenda.run_until(k_never);
  REQUIRE(seen.size() == probes.size());
  REQUIRE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("an item for a past instant runs now, and an idle clock can be moved on") {
  Agenda agenda;
  agenda.run_until(100);
  REQUIRE(agenda.now() == 100);
  Picoseconds ran_at = -1;
  struct Probe {
    Agenda& agenda;
    Picoseconds& ran_at;
  } probe{agenda, ran_at};
  agenda.at(
      50, [](void* self) { static_cast<Probe*>(self)->ran_at = static_cast<Probe*>(self)->agenda.now(); },
      &probe);
  agenda.run_until(100);
  REQUIRE(ran_at == 100);
}

TEST_CASE("a checkpoint between batches of items may end the run, and no item is lost") {
  static int calls = 0;
  static int throws_at = 0;
  calls = 0;
  throws_at = 2;
  Agenda agenda;
  agenda.set_checkpoint([] {
    if (++calls == throws_at) throw std::runtime_error("enough");
  });
  int run = 0;
  constexpr int k_items = 50'000;
  for (int i = 0; i < k_items; ++i)
    agenda.at(
        i, [](void* count) { ++*static_cast<int*>(count); }, &run);
  CHECK_THROWS_WITH(agenda.run_until(k_never), "enough");
  CHECK(run > 0);
  CHECK(run < k_items);
  agenda.run_until(k_never);
  CHECK(run == k_items);
  CHECK(calls >= 10);
  agenda.checkpoint();
  Agenda().checkpoint();  // without one: nothing
}
