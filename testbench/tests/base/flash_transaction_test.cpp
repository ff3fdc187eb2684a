#include "models/base/flash_transaction.h"

#include <catch2/catch.hpp>
#include <memory>

namespace tlmssd {

namespace {

/// Counts itself.
struct Carrier {
  explicit Carrier(int& count) : alive(count) { ++alive; }
  Carrier(const Carrier&) = delete;
  ~Carrier() { --alive; }
  int& alive;
  int notes = 0;
};

}  // namespace

TEST_CASE("what carries a flash transaction is made once and ends with it") {
  int alive = 0;
  auto transaction = std::make_unique<FlashTransaction>();
  CHECK(alive == 0);
  auto& carrier = transaction->carrier<Carrier>(alive);
  CHECK(alive == 1);
  carrier.notes = 7;
  CHECK(&transaction->carrier<Carrier>(alive) == &carrier);
  CHECK(alive == 1);
  const auto* const begin = reinterpret_cast<const std::byte*>(transaction.get());
  const auto* const at = reinterpret_cast<const std::byte*>(&carrier);
  CHECK(at > begin);
  CHECK(at + sizeof carrier <= begin + sizeof(FlashTransaction));
  transaction.reset();
  CHECK(alive == 0);
}

TEST_CASE("a flash transaction that orders something else keeps what carries it") {
  int alive = 0;
  FlashOp read;
  read.slots = 3;
  FlashTransaction transaction(read);
  CHECK(transaction.slots == 3);
  transaction.carrier<Carrier>(alive).notes = 7;
  FlashOp erase;
  erase.command = FlashCommand::erase;
  transaction = erase;
  CHECK(transaction.command == FlashCommand::erase);
  CHECK(transaction.slots == 0);
  CHECK(transaction.carrier<Carrier>(alive).notes == 7);
  CHECK(alive == 1);
}

}  // namespace tlmssd
