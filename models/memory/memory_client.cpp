#include "models/memory/memory_client.h"

#include <stdexcept>
#include <string>

namespace tlmssd {

MemoryClient::Pool::Payload& MemoryClient::fill(std::uint64_t address, Bytes bytes, bool write) {
  if (bytes == 0 || bytes > k_longest) {
    throw std::logic_error("memory access of " + std::to_string(bytes) + " bytes");
  }
  Pool::Payload& payload = pool_.take();
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(&scratch_[0]);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  return payload;
}

void MemoryClient::check(const tlm::tlm_generic_payload& payload) {
  if (payload.is_response_ok()) return;
  throw std::logic_error("memory access of " + std::to_string(payload.get_data_length()) +
                         " bytes at address " + std::to_string(payload.get_address()) +
                         " failed: " + payload.get_response_string());
}

Picoseconds MemoryClient::access(std::uint64_t address, Bytes bytes, bool write, Agenda::Callback done,
                                 void* self) {
  Pool::Payload& payload = fill(address, bytes, write);
  payload.extension.done = done;
  payload.extension.self = self;
  if (requesting_ != nullptr || !waiting_.empty()) {
    ++outstanding_;
    waiting_.push_back(&payload);
    return k_never;
  }
  const Picoseconds end = issue(payload);
  if (end == k_never) {
    ++outstanding_;
  } else {
    check(payload);
    payload.release();
  }
  return end;
}

void MemoryClient::access_untimed(std::uint64_t address, Bytes bytes, bool write) {
  Pool::Payload& payload = fill(address, bytes, write);
  const unsigned moved = socket->transport_dbg(payload);
  payload.release();
  if (moved != bytes) {
    throw std::logic_error("debug access of " + std::to_string(bytes) + " bytes at address " +
                           std::to_string(address) + " reached no memory");
  }
}

/// Sends BEGIN_REQ. Returns the end of an access that completed at once; the payload is then still held.
Picoseconds MemoryClient::issue(Pool::Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(agenda_);
  requesting_ = &payload;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return k_never;
  requesting_ = nullptr;
  const Picoseconds end = kernel_now(agenda_) + to_picoseconds(delay);
  if (status == tlm::TLM_COMPLETED) return end;
  if (phase == tlm::END_REQ) return k_never;
  // BEGIN_RESP came with the return: end the response, which takes no time.
  phase = tlm::END_RESP;
  socket->nb_transport_fw(payload, phase, delay);
  return end;
}

void MemoryClient::issue_waiting() {
  issuing_ = false;
  while (requesting_ == nullptr && !waiting_.empty()) {
    Pool::Payload& payload = *waiting_.front();
    waiting_.pop_front();
    const Picoseconds end = issue(payload);
    if (end != k_never) finish(payload, end);
  }
}

void MemoryClient::finish(tlm::tlm_generic_payload& payload, Picoseconds end) {
  check(payload);
  const auto& pooled = static_cast<Pool::Payload&>(payload);
  agenda_.at(end, pooled.extension.done, pooled.extension.self);
  payload.release();
  --outstanding_;
}

tlm::tlm_sync_enum MemoryClient::backward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                          tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (requesting_ == &payload) {  // END_REQ, or BEGIN_RESP that implies it
    requesting_ = nullptr;
    if (!issuing_ && !waiting_.empty()) {
      // A call of the backward path must not lead into one of the forward path.
      issuing_ = true;
      agenda_.soon([](void* self) { static_cast<MemoryClient*>(self)->issue_waiting(); }, this);
    }
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  finish(payload, arrival(agenda_, delay));
  return tlm::TLM_COMPLETED;
}

}  // namespace tlmssd
