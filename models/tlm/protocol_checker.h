// A TLM-2.0 base protocol checker, bound between any initiator socket and any target socket.
//
// Everything passes through unchanged; every rule broken is noted with the rule and the
// transaction, and reported by SC_REPORT_ERROR. Source: IEEE Std 1666-2011, clauses 11.1 (transport
// interfaces), 14 (generic payload) and 15.2 (base protocol). Checked:
//   - phase order of each transaction and which value may be returned with which phase (table of
//   permitted transitions)
//   - TLM_ACCEPTED leaves phase, delay and payload as they were
//   - request exclusion rule, response exclusion rule
//   - no call of the opposite path from within a call (11.1.2: neither path may call back into the
//     other)
//   - effective time (kernel time + annotation) of one transaction never decreases
//   - memory manager and reference count; no new use of a payload before its transaction has ended
//   - generic payload attributes: command, data pointer, length, streaming width, byte enables, DMI hint,
//   response status at
//     start and response; attributes stay unchanged during the lifetime (an interconnect may change the
//     address only on the way down, thus never between two calls through one socket)
//   - b_transport: attributes, response, effective time; no mixing with an ongoing non-blocking use
//   of the same payload
//   - transport_dbg and get_direct_mem_ptr: attributes, number of bytes returned; no accesses
//   without payloads (DirectAccess) are granted past it finish() finds transactions that never
//   ended. Left out: ignorable phases pass unchecked (the standard leaves their meaning to those
//   who declare them), array contents are not compared, extensions are not looked into.
#pragma once

#include <systemc>
#include <tlm>

#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

class ProtocolChecker : public sc_core::sc_module,
                        private tlm::tlm_fw_transport_if<>,
                        private tlm::tlm_bw_transport_if<> {
 public:
  enum class OnViolation : std::uint8_t {
    report,   ///< SC_REPORT_ERROR at once
    collect,  ///< only violations() knows
  };
  explicit ProtocolChecker(const sc_core::sc_module_name& name, OnViolation action = OnViolation::report);

  tlm::tlm_target_socket<> tsock;     ///< the initiator's side
  tlm::tlm_initiator_socket<> isock;  ///< the target's side

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  /// Transactions begun so far (non-blocking, blocking and debug).
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  /// Transactions that have begun and not ended.
  [[nodiscard]] std::size_t outstanding() const { return open_.size(); }
  /// To be called when the system is idle: every transaction must have ended.
  void finish();

 private:
  enum class State : std::uint8_t {
    request,
    waiting,
    response
  };  // BEGIN_REQ, END_REQ, BEGIN_RESP was the last phase
  /// Attributes that may not change between the calls of a transaction.
  struct Attributes {
    explicit Attributes(const tlm::tlm_generic_payload& payload);
    bool operator==(const Attributes&) const = default;
    tlm::tlm_command command;
    sc_dt::uint64 address;
    const unsigned char* data;
    unsigned length;
    unsigned streaming_width;
    const unsigned char* byte_enable;
    unsigned byte_enable_length;
    tlm::tlm_gp_option option;
  };
  struct Transaction {
    State state;
    Attributes attributes;
    tlm::tlm_response_status response;
    Picoseconds time;  // effective time of the last call or return
    std::uint64_t number;
  };

  void violation(const tlm::tlm_generic_payload& payload, const char* rule);
  void check_attributes(const tlm::tlm_generic_payload& payload);
  void check_start(const tlm::tlm_generic_payload& payload);
  void check_response(const tlm::tlm_generic_payload& payload);
  void check_call(const tlm::tlm_generic_payload& payload, Transaction& transaction,
                  const sc_core::sc_time& delay);
  Transaction* find(const tlm::tlm_generic_payload& payload);
  Transaction& begin(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  void end(const tlm::tlm_generic_payload& payload);
  void request_ends(const tlm::tlm_generic_payload& payload);
  void response_begins(const tlm::tlm_generic_payload& payload);
  void before_forward(const tlm::tlm_generic_payload& payload, unsigned phase, const sc_core::sc_time& delay);
  void after_forward(const tlm::tlm_generic_payload& payload, unsigned sent, tlm::tlm_sync_enum status,
                     unsigned phase, const sc_core::sc_time& delay);
  void before_backward(const tlm::tlm_generic_payload& payload, unsigned phase,
                       const sc_core::sc_time& delay);
  void after_backward(const tlm::tlm_generic_payload& payload, unsigned sent, tlm::tlm_sync_enum status,
                      unsigned phase, const sc_core::sc_time& delay);
  /// What a callee that answers TLM_ACCEPTED must have left alone.
  struct Call;
  void check_untouched(const Call& before, const tlm::tlm_generic_payload& payload, unsigned phase,
                       const sc_core::sc_time& delay);

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

  OnViolation action_;
  std::unordered_map<const tlm::tlm_generic_payload*, Transaction>
      open_;                                              // only looked up, and counted; order never matters
  const tlm::tlm_generic_payload* requesting_ = nullptr;  // BEGIN_REQ sent, END_REQ outstanding
  const tlm::tlm_generic_payload* responding_ = nullptr;  // BEGIN_RESP sent, END_RESP outstanding
  unsigned in_forward_ = 0;
  unsigned in_backward_ = 0;
  std::uint64_t transactions_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace tlmssd
