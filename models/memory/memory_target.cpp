#include "models/memory/memory_target.h"

#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

MemoryTarget::MemoryTarget(const sc_core::sc_module_name& name, EventQueue& event_queue, std::uint64_t base,
                           Bytes capacity)
    : sc_core::sc_module(name),
      bus_tsock("bus_tsock", *this),
      event_queue_(event_queue),
      base_(base),
      capacity_(capacity) {}

Picoseconds MemoryTarget::serve(Payload& payload, Picoseconds arrival) {
  const Bytes bytes = payload.get_data_length();
  if (!holds(payload.get_address(), bytes)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return arrival;
  }
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return arrival;
  }
  if (payload.get_streaming_width() < bytes) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return arrival;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (!payload.is_write() && !payload.is_read()) return arrival;
  if (keeps_bytes()) move(payload);
  return access(arrival, payload.get_address(), bytes, payload.is_write());
}

tlm::tlm_sync_enum MemoryTarget::forward(unsigned /*index*/, Payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ)
    return tlm::TLM_ACCEPTED;  // nothing else can come: every request completes at once
  const Picoseconds arrived = arrival(event_queue_, delay);
  delay += to_sc_time(serve(payload, arrived) - arrived);
  return tlm::TLM_COMPLETED;
}

void MemoryTarget::blocking(unsigned /*index*/, Payload& payload, sc_core::sc_time& delay) {
  const Picoseconds arrived = arrival(event_queue_, delay);
  delay += to_sc_time(serve(payload, arrived) - arrived);
}

unsigned MemoryTarget::debug(unsigned /*index*/, Payload& payload) {
  const Bytes bytes = payload.get_data_length();
  if (!access_untimed(payload.get_address(), bytes, payload.is_write())) return 0;
  if (keeps_bytes() && (payload.is_read() || payload.is_write())) move(payload);
  return static_cast<unsigned>(bytes);
}

}  // namespace tlmssd
