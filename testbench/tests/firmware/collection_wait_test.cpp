// What of a wait is a wait for collection: in a parallel unit's line, and for room in the write
// buffer.
#include "firmware/buffer/collection_wait.h"

#include <catch2/catch.hpp>

#include "firmware/gc/space_lines.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

/// An erase that stands 50 behind a program and 20 behind reads of load 2, and takes 30.
Ledger erase_at(Picoseconds start) {
  Ledger erase(start);
  erase.charge(Cause::die_program, start + 50);
  erase.charge(Cause::die_read, start + 70);
  erase.stood_behind(2, 20);
  erase.charge(Cause::erase, start + 100);
  return erase;
}

Ledger program(Picoseconds took, Picoseconds collection) {
  Ledger ledger;
  ledger.charge(Cause::space_wait, collection / 2);
  ledger.charge(Cause::die_gc, collection);
  ledger.charge(Cause::program, took);
  return ledger;
}

}  // namespace

TEST_CASE("who waits for collection waits for the host where collection stands behind the host") {
  struct Case {
    Picoseconds from, space, programs, reads;
  };
  const Ledger erase = erase_at(1000);
  // Begun before the erase, while it stands behind the program, behind the reads, and while it is
  // done.
  for (const Case& c :
       {Case{990, 40, 50, 20}, Case{1010, 30, 40, 20}, Case{1060, 30, 0, 10}, Case{1080, 20, 0, 0}}) {
    INFO("from " << c.from);
    Ledger waiting(c.from);
    DoneByCollection(erase, 1000).charge(waiting);
    CHECK(waiting.mark() == 1100);
    CHECK(waiting.spent(Cause::space_wait) == c.space);
    CHECK(waiting.spent(Cause::die_program) == c.programs);
    CHECK(waiting.spent(Cause::die_read) == c.reads);
    CHECK(waiting.behind(2) == c.reads);
  }
  Ledger later(1100);
  DoneByCollection(erase, 1000).charge(later);
  CHECK(later.total() == 0);
}

TEST_CASE("a program for which no command waits has its place in the line, and is not charged") {
  SpaceLines lines(1);
  ProgramJob parity;
  ProgramJob of_host;
  lines.begin(parity);
  CHECK(lines.waiting() == 1);
  CHECK(lines.native_waits());
  CHECK(lines.must_queue(of_host));
  CHECK_FALSE(lines.awaited());
  {
    SpaceLines::Waiter waiter(of_host);
    lines.begin(waiter);
    CHECK(lines.awaited());
    const Ledger erase = erase_at(1000);
    lines.charge(erase, 1000);
    CHECK(of_host.ledger.mark() == 1100);
    CHECK(parity.ledger.total() == 0);
    lines.end(waiter);
  }
  CHECK_FALSE(lines.awaited());
  lines.end(parity);
  CHECK(lines.waiting() == 0);
}

TEST_CASE("a wait for room is one for collection by the mean share of the programs that ended meanwhile") {
  CollectionWait sums;
  sums.add(program(1000, 1000));  // before the wait
  const CollectionWait before = sums;
  for (int n = 0; n < 96; ++n) sums.add(program(100, 0));
  for (int n = 0; n < 3; ++n) sums.add(program(1000, 500));
  sums.add(program(100, 50));  // makes the room
  Ledger waiting(0);
  charge_full_wait(waiting, Cause::buffer_wait, sums.since(before), 5000);
  CHECK(waiting.spent(Cause::space_wait) == 5000 * 4 / (2 * 100));
  CHECK(waiting.total() == 5000);
  charge_full_wait(waiting, Cause::buffer_wait, sums.since(sums), 6000);  // none has ended
  CHECK(waiting.spent(Cause::buffer_wait) == 6000 - 100);
}
