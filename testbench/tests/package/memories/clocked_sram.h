// A third party's SRAM, loosely timed: it waits for the edge of its own clock, then a number of
// cycles for each access, and lends direct pointers. Nothing here is tlmssd's.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace vendor {

class ClockedSram final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ClockedSram);
  ClockedSram(const sc_core::sc_module_name& name, std::uint64_t bytes, const sc_core::sc_time& period,
              std::uint64_t latency, std::uint64_t width)
      : sc_core::sc_module(name),
        socket("socket"),
        clock_("clock", period),
        period_(period),
        latency_(latency),
        width_(width),
        bytes_(bytes) {
    socket.register_b_transport(this, &ClockedSram::b_transport);
    socket.register_get_direct_mem_ptr(this, &ClockedSram::get_direct_mem_ptr);
    SC_METHOD(count);
    sensitive << clock_.posedge_event();
    dont_initialize();
  }
  tlm_utils::simple_target_socket<ClockedSram, 128> socket;
  std::uint64_t cycles = 0;  // of the clock, which never stops
  std::uint64_t work = 0;    // of them in accesses
  std::uint64_t direct = 0;  // pointers lent

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    const sc_core::sc_time past =
        sc_core::sc_time::from_value(sc_core::sc_time_stamp().value() % period_.value());
    if (past > sc_core::SC_ZERO_TIME) wait(period_ - past);
    const std::uint64_t length = payload.get_data_length();
    if (payload.get_address() + length > bytes_.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    const std::uint64_t duration = latency_ + (length + width_ - 1) / width_;
    work += duration;
    wait(period_ * static_cast<double>(duration));
    unsigned char* const place = &bytes_[payload.get_address()];
    if (payload.is_write()) std::memcpy(place, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), place, length);
    payload.set_dmi_allowed(true);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
    ++direct;
    dmi.set_dmi_ptr(bytes_.data());
    dmi.set_start_address(0);
    dmi.set_end_address(bytes_.size() - 1);
    dmi.allow_read_write();
    return true;
  }
  void count() { ++cycles; }

  sc_core::sc_clock clock_;
  sc_core::sc_time period_;
  std::uint64_t latency_;
  std::uint64_t width_;
  std::vector<unsigned char> bytes_;
};

}  // namespace vendor
