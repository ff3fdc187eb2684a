#include "models/common/agenda.h"

#include <catch2/catch.hpp>
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
