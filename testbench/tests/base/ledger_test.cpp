// The ledger's short list against sums in plain arrays: few keys and all of them, copies, branches,
// and ledgers that are used again.
#include "models/base/ledger.h"

#include <catch2/catch.hpp>
#include <random>

#include "models/base/input_error.h"

namespace tlmssd {
namespace {

/// A ledger and what it must hold.
struct Kept {
  Ledger ledger;
  Ledger::Parts parts{};
  Picoseconds mark = 0;

  void charge(Cause cause, Picoseconds part) {
    ledger.charge(cause, mark += part);
    parts[static_cast<std::size_t>(cause)] += part;
  }
  void stood_behind(std::size_t blocker, Picoseconds part) {
    ledger.stood_behind(blocker, part);
    parts[k_causes + blocker] += part;
  }
};

void check(const Kept& kept) {
  CHECK(kept.ledger.mark() == kept.mark);
  CHECK(kept.ledger.parts() == kept.parts);
  Picoseconds sum = 0;
  for (std::size_t i = 0; i < k_causes; ++i) {
    CHECK(kept.ledger.spent(static_cast<Cause>(i)) == kept.parts[i]);
    sum += kept.parts[i];
  }
  for (std::size_t i = 0; i < k_blockers; ++i) CHECK(kept.ledger.behind(i) == kept.parts[k_causes + i]);
  CHECK(kept.ledger.total() == sum);
  Ledger::Parts sums = kept.parts;
  CHECK(kept.ledger.add_to(sums) == sum);
  for (std::size_t key = 0; key < sums.size(); ++key) CHECK(sums[key] == 2 * kept.parts[key]);
}

TEST_CASE("a ledger keeps every part, whether its list has room for all of them or not") {
  std::mt19937_64 random(1);
  for (std::size_t keys = 1; keys <= Ledger::k_keys; ++keys) {
    Kept kept;
    for (int i = 0; i < 200; ++i) {
      const std::size_t key = random() % keys;
      const auto part = static_cast<Picoseconds>(random() % 3 == 0 ? 0 : random() % 1'000'000);
      if (key < k_causes) {
        kept.charge(static_cast<Cause>(key), part);
      } else {
        kept.stood_behind(key - k_causes, part);
      }
    }
    check(kept);
    // Copies are of their own.
    const Kept before = kept;
    Kept assigned;
    assigned.charge(Cause::retry, 7);
    assigned = kept;
    kept.charge(Cause::decode, 1);
    check(kept);
    check(before);
    check(assigned);
    // A branch is empty, and joins with all that it holds.
    Kept branch{kept.ledger.fork(), {}, kept.mark};
    CHECK(branch.ledger.parts() == Ledger::Parts{});
    for (std::size_t key = 0; key < keys; ++key) branch.charge(static_cast<Cause>(key % k_causes), 11);
    kept.ledger.adopt(branch.ledger);
    kept.mark = branch.mark;
    for (std::size_t key = 0; key < kept.parts.size(); ++key) kept.parts[key] += branch.parts[key];
    check(kept);
    // Used again, nothing is left.
    kept.ledger.restart(5, 2, 9);
    CHECK(kept.ledger.owner() == 2);
    CHECK(kept.ledger.command() == 9);
    kept.parts = {};
    kept.mark = 5;
    check(kept);
    for (std::size_t key = 0; key < keys; ++key)
      kept.charge(static_cast<Cause>((key * 5 + 3) % k_causes), 13);
    check(kept);
  }
}

TEST_CASE("a part that is negative does not add up") {
  Ledger ledger(100);
  ledger.charge(Cause::link, 90);
  ledger.charge(Cause::sense, 130);
  CHECK(ledger.total() == 30);
  Ledger::Parts sums{};
  CHECK(ledger.add_to(sums) == -1);
}

}  // namespace
TEST_CASE("a cause that there is not is refused, and a part below 0 is seen") {
  Ledger ledger(1000);
  for (const std::size_t number : {k_causes, std::size_t{222}, std::size_t{255}})
    CHECK_THROWS_AS(ledger.charge(static_cast<Cause>(number), 2000), InputError);
  CHECK(ledger.mark() == 1000);
  ledger.charge(Cause::retry, 2000);
  CHECK_FALSE(ledger.owes());
  ledger.charge(Cause::memory, 1500);
  CHECK(ledger.owes());
}

}  // namespace tlmssd
