// A host command with its payload in one object.
#include <systemc>

#include <catch2/catch.hpp>
#include <vector>

#include "models/tlm/transport.h"

namespace tlmssd {
namespace {

TEST_CASE("a host transaction is its payload's extension, and is used again") {
  PayloadPool<HostExtension, HostTransaction> pool;
  HostTransaction& first = pool.take();
  CHECK(first.get_extension<HostExtension>() == &first);
  first.release();
  HostTransaction& again = pool.take();
  CHECK(&again == &first);
  HostTransaction& second = pool.take();
  CHECK(&second != &first);
  CHECK(second.get_extension<HostExtension>() == &second);
  again.release();
  second.release();
  CHECK(pool.all().size() == 2);
}

TEST_CASE("what every step of a host command touches is in the first two cache lines") {
  HostTransaction transaction;
  const auto distance = [&transaction](const void* part) {
    return static_cast<const char*>(part) - static_cast<const char*>(static_cast<const void*>(&transaction));
  };
  CHECK(distance(&transaction.next) < 128);
  CHECK(distance(&transaction.link_end) < 128);
  CHECK(distance(&transaction.lba) < 128);
  CHECK(distance(&transaction.ledger) == HostTransaction::k_before_ledger);
}

TEST_CASE("a copied payload has a command of its own, whose outcome goes back to the original") {
  HostTransaction original;
  std::vector<Stamp> stamps(2);
  original.fill(tlm::TLM_READ_COMMAND, 4096, stamps.data(), sizeof(Stamp) * stamps.size());
  original.lba = 8;
  original.blocks = 2;
  original.index = 5;
  original.set_data(stamps);
  std::vector<Stamp> room(2);
  tlm::tlm_generic_payload copy;
  copy.set_data_ptr(static_cast<unsigned char*>(static_cast<void*>(room.data())));
  copy.deep_copy_from(original);
  auto* const command = copy.get_extension<HostExtension>();
  REQUIRE(command != nullptr);
  CHECK(command != &original);
  CHECK(command->lba == 8);
  CHECK(command->data().data() == stamps.data());
  CHECK(command->index == 0);  // what a drive noted is not copied
  command->status = HostStatus::media_error;
  copy.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  original.update_original_from(copy);
  CHECK(original.status == HostStatus::media_error);
  CHECK(original.index == 5);
  copy.free_all_extensions();
}

}  // namespace
}  // namespace tlmssd
