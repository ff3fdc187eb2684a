#include "models/tlm/protocol_checker.h"

#include <sstream>

#include "models/tlm/direct_access.h"
#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

bool is_base(unsigned phase) {
  return phase >= tlm::BEGIN_REQ && phase <= tlm::END_RESP;
}

Picoseconds effective(const sc_core::sc_time& delay) {
  return to_picoseconds(sc_core::sc_time_stamp()) + to_picoseconds(delay);
}

}  // namespace

struct ProtocolChecker::Call {
  Call(const Payload& payload, unsigned sent, const sc_core::sc_time& annotated)
      : attributes(payload),
        response(payload.get_response_status()),
        dmi(payload.is_dmi_allowed()),
        phase(sent),
        delay(annotated) {}
  Attributes attributes;
  tlm::tlm_response_status response;
  bool dmi;
  unsigned phase;
  sc_core::sc_time delay;
};

ProtocolChecker::Attributes::Attributes(const Payload& payload)
    : command(payload.get_command()),
      address(payload.get_address()),
      data(payload.get_data_ptr()),
      length(payload.get_data_length()),
      streaming_width(payload.get_streaming_width()),
      byte_enable(payload.get_byte_enable_ptr()),
      byte_enable_length(payload.get_byte_enable_length()),
      option(payload.get_gp_option()) {}

ProtocolChecker::ProtocolChecker(const sc_core::sc_module_name& name, OnViolation action)
    : sc_core::sc_module(name), tsock("tsock"), isock("isock"), action_(action) {
  tsock.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  isock.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

void ProtocolChecker::violation(const Payload& payload, const char* rule) {
  std::ostringstream text;
  text << name() << " at " << sc_core::sc_time_stamp() << ": " << rule << " (";
  if (const Transaction* transaction = find(payload)) text << "transaction " << transaction->number << ", ";
  text << (payload.is_read()    ? "read"
           : payload.is_write() ? "write"
                                : "ignore")
       << " at 0x" << std::hex << payload.get_address() << std::dec << ", " << payload.get_data_length()
       << " bytes)";
  violations_.push_back(text.str());
  if (action_ == OnViolation::report) SC_REPORT_ERROR("tlmssd/protocol", violations_.back().c_str());
}

// ------------------------------------------------------------------------------------------------------
// state of a transaction

ProtocolChecker::Transaction* ProtocolChecker::find(const Payload& payload) {
  const auto found = open_.find(&payload);
  return found == open_.end() ? nullptr : &found->second;
}

ProtocolChecker::Transaction& ProtocolChecker::begin(const Payload& payload, const sc_core::sc_time& delay) {
  const Transaction fresh{State::request, Attributes(payload), payload.get_response_status(),
                          effective(delay), ++transactions_};
  return open_.insert_or_assign(&payload, fresh).first->second;
}

void ProtocolChecker::end(const Payload& payload) {
  if (requesting_ == &payload) requesting_ = nullptr;
  if (responding_ == &payload) responding_ = nullptr;
  open_.erase(&payload);
}

void ProtocolChecker::request_ends(const Payload& payload) {
  if (requesting_ == &payload) requesting_ = nullptr;
}

void ProtocolChecker::response_begins(const Payload& payload) {
  Transaction* transaction = find(payload);
  if (transaction == nullptr) return;
  request_ends(payload);
  transaction->state = State::response;
  transaction->response = payload.get_response_status();
  check_response(payload);
  if (responding_ != nullptr && responding_ != &payload) {
    violation(payload, "response exclusion rule: BEGIN_RESP before the previous response has ended");
  }
  responding_ = &payload;
}

// ------------------------------------------------------------------------------------------------------------------
// attributes

void ProtocolChecker::check_attributes(const Payload& payload) {
  const tlm::tlm_command command = payload.get_command();
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND &&
      command != tlm::TLM_IGNORE_COMMAND) {
    violation(payload, "attribute: command is none of read, write, ignore");
  }
  if (payload.get_data_ptr() == nullptr) violation(payload, "attribute: data pointer is null");
  if (payload.get_data_length() == 0) violation(payload, "attribute: data length is 0");
  if (payload.get_streaming_width() == 0) violation(payload, "attribute: streaming width is 0");
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0) {
    violation(payload, "attribute: byte enable length is 0 although there are byte enables");
  }
  if (payload.is_dmi_allowed()) violation(payload, "attribute: initiator did not clear the DMI hint");
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(payload, "attribute: initiator did not set the response status to incomplete");
  }
}

void ProtocolChecker::check_start(const Payload& payload) {
  check_attributes(payload);
  if (!payload.has_mm()) {
    violation(payload, "memory management: nb_transport needs a payload with a memory manager");
  } else if (payload.get_ref_count() < 1) {
    violation(payload, "memory management: reference count is 0: the payload was never acquired");
  }
}

void ProtocolChecker::check_response(const Payload& payload) {
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(payload, "attribute: target did not set the response status");
  }
}

/// What holds at every call and every return of a transaction that is under way.
void ProtocolChecker::check_call(const Payload& payload, Transaction& transaction,
                                 const sc_core::sc_time& delay) {
  if (!(Attributes(payload) == transaction.attributes)) {
    violation(payload, "attribute: changed during the lifetime of the transaction");
    transaction.attributes = Attributes(payload);
  }
  if (transaction.state == State::response && payload.get_response_status() != transaction.response) {
    violation(payload, "attribute: response status changed after the response began");
  }
  if (payload.has_mm() && payload.get_ref_count() < 1) {
    violation(payload, "memory management: payload was released before the transaction ended");
  }
  if (effective(delay) < transaction.time)
    violation(payload, "timing: effective time of a transaction decreased");
  transaction.time = effective(delay);
}

void ProtocolChecker::check_untouched(const Call& before, const Payload& payload, unsigned phase,
                                      const sc_core::sc_time& delay) {
  if (phase != before.phase) violation(payload, "TLM_ACCEPTED: callee changed the phase");
  if (delay != before.delay) violation(payload, "TLM_ACCEPTED: callee changed the delay");
  if (!(Attributes(payload) == before.attributes) || payload.get_response_status() != before.response ||
      payload.is_dmi_allowed() != before.dmi) {
    violation(payload, "TLM_ACCEPTED: callee changed the payload");
  }
}

// ----------------------------------------------------------------------------------------------------------------
// forward path

void ProtocolChecker::before_forward(const Payload& payload, unsigned phase, const sc_core::sc_time& delay) {
  if (in_backward_ > 0) violation(payload, "nesting: nb_transport_fw called from within nb_transport_bw");
  Transaction* transaction = find(payload);
  if (phase == tlm::BEGIN_REQ) {
    if (transaction != nullptr) {
      violation(payload, "reuse: BEGIN_REQ although the payload's transaction has not ended");
      end(payload);
    }
    check_start(payload);
    begin(payload, delay);
    if (requesting_ != nullptr) {
      violation(payload, "request exclusion rule: BEGIN_REQ before the previous request has ended");
    }
    requesting_ = &payload;
    return;
  }
  if (transaction == nullptr) {
    violation(payload, "phase: first phase of a transaction is not BEGIN_REQ");
    return;
  }
  check_call(payload, *transaction, delay);
  if (phase != tlm::END_RESP) {
    violation(payload, "phase: an initiator may send BEGIN_REQ and END_RESP only");
  } else if (transaction->state != State::response) {
    violation(payload, "phase: END_RESP without BEGIN_RESP");
  }
}

void ProtocolChecker::after_forward(const Payload& payload, unsigned sent, tlm::tlm_sync_enum status,
                                    unsigned phase, const sc_core::sc_time& delay) {
  Transaction* transaction = find(payload);
  if (transaction == nullptr) return;  // ended by a nested call, which has been noted
  if (sent != tlm::BEGIN_REQ) {
    if (status == tlm::TLM_UPDATED) violation(payload, "return value: TLM_UPDATED after END_RESP");
    if (sent == tlm::END_RESP) end(payload);
    return;
  }
  if (status == tlm::TLM_ACCEPTED) return;
  check_call(payload, *transaction, delay);
  if (status == tlm::TLM_COMPLETED) {
    check_response(payload);
    end(payload);
  } else if (phase == tlm::END_REQ) {
    request_ends(payload);
    transaction->state = State::waiting;
  } else if (phase == tlm::BEGIN_RESP) {
    response_begins(payload);
  } else if (is_base(phase) || phase == tlm::UNINITIALIZED_PHASE) {
    violation(payload, "return value: TLM_UPDATED after BEGIN_REQ needs END_REQ or BEGIN_RESP");
  }
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  const unsigned sent = phase;
  if (sent == tlm::UNINITIALIZED_PHASE) violation(payload, "phase: uninitialised");
  if (!is_base(sent)) return isock->nb_transport_fw(payload, phase, delay);
  before_forward(payload, sent, delay);
  const Call before(payload, sent, delay);
  ++in_forward_;
  // The callee may release the last reference but the caller's own: END_RESP ends the transaction
  // only after the call.
  const tlm::tlm_sync_enum status = isock->nb_transport_fw(payload, phase, delay);
  --in_forward_;
  if (status == tlm::TLM_ACCEPTED) check_untouched(before, payload, phase, delay);
  after_forward(payload, sent, status, phase, delay);
  return status;
}

// ---------------------------------------------------------------------------------------------------------------
// backward path

void ProtocolChecker::before_backward(const Payload& payload, unsigned phase, const sc_core::sc_time& delay) {
  if (in_forward_ > 0) violation(payload, "nesting: nb_transport_bw called from within nb_transport_fw");
  Transaction* transaction = find(payload);
  if (transaction == nullptr) {
    violation(payload, "phase: backward call for a payload that has no transaction under way");
    return;
  }
  check_call(payload, *transaction, delay);
  if (phase == tlm::END_REQ) {
    if (transaction->state != State::request) violation(payload, "phase: END_REQ twice or after BEGIN_RESP");
    if (transaction->state == State::request) transaction->state = State::waiting;
    request_ends(payload);
  } else if (phase == tlm::BEGIN_RESP) {
    if (transaction->state == State::response) {
      violation(payload, "phase: BEGIN_RESP twice");
    } else {
      response_begins(payload);
    }
  } else {
    violation(payload, "phase: a target may send END_REQ and BEGIN_RESP only");
  }
}

void ProtocolChecker::after_backward(const Payload& payload, unsigned sent, tlm::tlm_sync_enum status,
                                     unsigned phase, const sc_core::sc_time& delay) {
  Transaction* transaction = find(payload);
  if (transaction == nullptr) return;
  if (sent != tlm::BEGIN_RESP) {
    if (status != tlm::TLM_ACCEPTED) violation(payload, "return value: END_REQ can only be accepted");
    return;
  }
  if (status == tlm::TLM_ACCEPTED) return;
  check_call(payload, *transaction, delay);
  if (status == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
    violation(payload, "return value: TLM_UPDATED after BEGIN_RESP needs END_RESP");
  }
  end(payload);
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  const unsigned sent = phase;
  if (sent == tlm::UNINITIALIZED_PHASE) violation(payload, "phase: uninitialised");
  if (!is_base(sent)) return tsock->nb_transport_bw(payload, phase, delay);
  before_backward(payload, sent, delay);
  const Call before(payload, sent, delay);
  // An initiator that ends the transaction here may release the payload: keep it until the checks
  // are done. One without a reference has gone back to its pool already, and must not go twice.
  const bool keep = payload.has_mm() && payload.get_ref_count() > 0;
  if (keep) payload.acquire();
  ++in_backward_;
  const tlm::tlm_sync_enum status = tsock->nb_transport_bw(payload, phase, delay);
  --in_backward_;
  if (status == tlm::TLM_ACCEPTED) check_untouched(before, payload, phase, delay);
  after_backward(payload, sent, status, phase, delay);
  if (keep) payload.release();
  return status;
}

// ------------------------------------------------------------------------------------------- blocking,
// debug, direct memory

void ProtocolChecker::b_transport(Payload& payload, sc_core::sc_time& delay) {
  if (find(payload) != nullptr)
    violation(payload, "reuse: b_transport while a non-blocking transaction uses the payload");
  check_attributes(payload);
  ++transactions_;
  const Attributes before(payload);
  const Picoseconds called = effective(delay);
  isock->b_transport(payload, delay);
  check_response(payload);
  if (!(Attributes(payload) == before)) violation(payload, "attribute: changed during b_transport");
  if (effective(delay) < called) violation(payload, "timing: b_transport went back in time");
}

unsigned ProtocolChecker::transport_dbg(Payload& payload) {
  const tlm::tlm_command command = payload.get_command();
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND &&
      command != tlm::TLM_IGNORE_COMMAND) {
    violation(payload, "attribute: command is none of read, write, ignore");
  }
  if (payload.get_data_ptr() == nullptr && payload.get_data_length() > 0) {
    violation(payload, "attribute: debug transport with a data pointer that is null");
  }
  ++transactions_;
  const unsigned moved = isock->transport_dbg(payload);
  if (moved > payload.get_data_length())
    violation(payload, "debug transport: moved more bytes than the data length");
  return moved;
}

bool ProtocolChecker::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  const tlm::tlm_command command = payload.get_command();
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND) {
    violation(payload, "direct memory: command is neither read nor write");
  }
  const bool granted = isock->get_direct_mem_ptr(payload, dmi);
  grant_direct_access(payload, nullptr);  // what has no payload cannot be checked
  if (granted && dmi.get_dmi_ptr() == nullptr) violation(payload, "direct memory: granted without a pointer");
  return granted;
}

void ProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  tsock->invalidate_direct_mem_ptr(first, last);
}

void ProtocolChecker::finish() {
  if (open_.empty()) return;
  // The lowest number first, whatever the order of the table.
  const auto* oldest = &*open_.begin();
  for (const auto& entry : open_) {
    if (entry.second.number < oldest->second.number) oldest = &entry;
  }
  const std::string rule =
      std::to_string(open_.size()) + " transaction(s) never ended; the oldest is this one";
  const Payload& payload = *oldest->first;
  violation(payload, rule.c_str());
  open_.clear();
  requesting_ = nullptr;
  responding_ = nullptr;
}

}  // namespace tlmssd
