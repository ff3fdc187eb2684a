#include "models/memory/memory_client.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace tlmssd {

void MemoryClient::refuse(Bytes bytes) {
  throw std::logic_error("memory access of " + std::to_string(bytes) + " bytes");
}

MemoryClient::Pool::Payload& MemoryClient::take(std::uint64_t address, Bytes bytes, bool write) {
  check(bytes);
  Pool::Payload& payload = kept_ != nullptr ? *std::exchange(kept_, nullptr) : pool_.take();
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.fill(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, &scratch_[0], bytes);
  return payload;
}

/// For the next access, or back to the pool.
void MemoryClient::give(Pool::Payload& payload) {
  if (kept_ == nullptr) {
    kept_ = &payload;
  } else {
    payload.release();
  }
}

void MemoryClient::check(const tlm::tlm_generic_payload& payload) {
  if (payload.is_response_ok()) return;
  throw std::logic_error("memory access of " + std::to_string(payload.get_data_length()) +
                         " bytes at address " + std::to_string(payload.get_address()) +
                         " failed: " + payload.get_response_string());
}

Picoseconds MemoryClient::access_by_payload(std::uint64_t address, Bytes bytes, bool write,
                                            EventQueue::Callback done, void* self) {
  Pool::Payload& payload = take(address, bytes, write);
  payload.extension.done = done;
  payload.extension.self = self;
  const Picoseconds end = socket.request(payload);
  if (end == k_never) {
    ++outstanding_;
  } else {
    check(payload);
    give(payload);
  }
  return end;
}

void MemoryClient::access_by_debug(std::uint64_t address, Bytes bytes, bool write) {
  Pool::Payload& payload = take(address, bytes, write);
  const unsigned moved = socket->transport_dbg(payload);
  give(payload);
  if (moved != bytes) {
    throw std::logic_error("debug access of " + std::to_string(bytes) + " bytes at address " +
                           std::to_string(address) + " reached no memory");
  }
}

void MemoryClient::responded(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds end) {
  check(payload);
  const auto& pooled = static_cast<Pool::Payload&>(payload);
  event_queue_.at(end, pooled.extension.done, pooled.extension.self);
  payload.release();
  --outstanding_;
}

}  // namespace tlmssd
