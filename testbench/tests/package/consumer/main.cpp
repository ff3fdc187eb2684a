// A foreign SystemC program that uses the installed package: its own initiator, with plain generic
// payloads and no extension of ours, writes one block of a drive, reads it back and compares.
#include <systemc>
#include <tlm>

#include <array>
#include <cstdint>
#include <cstdio>

#include "platform/ssd.h"

namespace {

constexpr unsigned k_blocks = 8;  // logical blocks per request; the data of each is a stamp of two bytes

class Host : public sc_core::sc_module, public tlm::tlm_bw_transport_if<>, public tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(Host);
  Host(const sc_core::sc_module_name& name, std::uint32_t block_bytes)
      : sc_core::sc_module(name), block_bytes_(block_bytes) {
    drive_isock.bind(*this);
    payload_.set_mm(this);
    SC_METHOD(issue);
    sensitive << next_;
  }
  tlm::tlm_initiator_socket<> drive_isock{"drive_isock"};
  [[nodiscard]] bool ok() const { return step_ == 2 && written_ == read_; }

 private:
  void issue() {
    if (step_ == 2) return;
    payload_.set_command(step_ == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload_.set_address(16 * block_bytes_);
    payload_.set_data_ptr(reinterpret_cast<unsigned char*>(step_ == 0 ? written_.data() : read_.data()));
    payload_.set_data_length(sizeof(written_));
    payload_.set_streaming_width(sizeof(written_));
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload_.acquire();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum status = drive_isock->nb_transport_fw(payload_, phase, delay);
    if (status == tlm::TLM_COMPLETED) finish();
  }
  void finish() {
    if (payload_.is_response_ok()) ++step_;
    std::printf("%s at %s\n", payload_.get_response_string().c_str(),
                sc_core::sc_time_stamp().to_string().c_str());
    payload_.release();
    next_.notify(sc_core::sc_time(1, sc_core::SC_MS));
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    finish();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override {}

  std::uint32_t block_bytes_;
  tlm::tlm_generic_payload payload_;
  sc_core::sc_event next_{"next"};
  int step_ = 0;
  std::array<std::uint16_t, k_blocks> written_{11, 12, 13, 14, 15, 16, 17, 18};
  std::array<std::uint16_t, k_blocks> read_{};
};

}  // namespace

int sc_main(int, char*[]) {
  tlmssd::SsdConfig config;
  config.flash.channels = 2;
  config.check_protocol = true;
  tlmssd::Ssd drive("drive", config);
  Host host("host", drive.shape().lba_bytes);
  host.drive_isock.bind(drive.host_socket());
  sc_core::sc_start();
  drive.finish_checks();
  std::printf("drive of %llu bytes: %s\n", static_cast<unsigned long long>(drive.user_bytes()),
              host.ok() ? "ok" : "WRONG");
  return host.ok() ? 0 : 1;
}
