// The protocol checker finds every way of breaking the base protocol, and lets correct traffic
// pass.
//
// One initiator, checker and target per rule, all made before the simulation starts; each rule is
// broken by a scripted initiator or target while the other side behaves.
#include "models/tlm/protocol_checker.h"

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "models/memory/memory_client.h"
#include "models/tlm/transport.h"

namespace tlmssd {
namespace {

using Payload = tlm::tlm_generic_payload;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

struct Rig : sc_core::sc_module {
  explicit Rig(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name),
        isock("isock", *this),
        tsock("tsock", *this),
        checker("checker", ProtocolChecker::OnViolation::collect) {
    isock.bind(checker.tsock);
    checker.isock.bind(tsock);
  }
  using Call = std::function<tlm_sync_enum(Payload&, tlm_phase&, sc_core::sc_time&)>;
  InitiatorSocket<Rig> isock;
  TargetSocket<Rig> tsock;
  ProtocolChecker checker;
  PayloadPool<MemoryExtension> pool;
  unsigned char data[64] = {};
  Call on_forward;
  Call on_backward;
  std::function<void(Payload&, sc_core::sc_time&)> on_blocking;
  std::function<unsigned(Payload&)> on_debug;

  Payload& fresh() {
    Payload& payload = pool.take();
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(0x1000);
    payload.set_data_ptr(data);
    payload.set_data_length(64);
    payload.set_streaming_width(64);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    return payload;
  }
  tlm_sync_enum send(Payload& payload, unsigned phase_number, Picoseconds delay_ps = 0) {
    tlm_phase phase(phase_number);
    sc_core::sc_time delay = to_sc_time(delay_ps);
    return isock->nb_transport_fw(payload, phase, delay);
  }
  tlm_sync_enum answer(Payload& payload, unsigned phase_number, Picoseconds delay_ps = 0) {
    tlm_phase phase(phase_number);
    sc_core::sc_time delay = to_sc_time(delay_ps);
    return tsock->nb_transport_bw(payload, phase, delay);
  }
  tlm_sync_enum begin_response(Payload& payload, Picoseconds delay_ps = 0) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return answer(payload, tlm::BEGIN_RESP, delay_ps);
  }
  /// The target returns TLM_UPDATED with `phase` or another status; response status set when a
  /// response goes with it.
  void forward_returns(tlm_sync_enum status, unsigned phase_number = 0) {
    on_forward = [status, phase_number](Payload& payload, tlm_phase& phase, sc_core::sc_time&) {
      if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
      if (status == tlm::TLM_UPDATED) phase = tlm_phase(phase_number);
      if (status == tlm::TLM_COMPLETED || phase_number == tlm::BEGIN_RESP) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
      }
      return status;
    };
  }
  void backward_returns(tlm_sync_enum status, unsigned phase_number = 0) {
    on_backward = [status, phase_number](Payload&, tlm_phase& phase, sc_core::sc_time&) {
      if (status == tlm::TLM_UPDATED) phase = tlm_phase(phase_number);
      return status;
    };
  }

  tlm_sync_enum forward(unsigned, Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
    return on_forward ? on_forward(payload, phase, delay) : tlm::TLM_ACCEPTED;
  }
  tlm_sync_enum backward(unsigned, Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
    return on_backward ? on_backward(payload, phase, delay) : tlm::TLM_ACCEPTED;
  }
  void blocking(unsigned, Payload& payload, sc_core::sc_time& delay) {
    if (on_blocking) {
      on_blocking(payload, delay);
    } else {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
  }
  unsigned debug(unsigned, Payload& payload) {
    return on_debug ? on_debug(payload) : payload.get_data_length();
  }
};

struct Case {
  const char* rule;  // part of the message expected; null: none
  std::function<void(Rig&)> run;
};

void run_cases(const std::vector<Case>& cases) {
  std::deque<Rig> rigs;
  for (std::size_t i = 0; i < cases.size(); ++i) rigs.emplace_back(("case_" + std::to_string(i)).c_str());
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Rig& rig = rigs[i];
    INFO("case " << i << ": " << (cases[i].rule == nullptr ? "correct traffic" : cases[i].rule));
    cases[i].run(rig);
    const auto& found = rig.checker.violations();
    for (const std::string& each : found) UNSCOPED_INFO(each);
    if (cases[i].rule == nullptr) {
      rig.checker.finish();
      CHECK(found.empty());
      CHECK(rig.checker.outstanding() == 0);
      CHECK(rig.checker.transactions() > 0);
    } else {
      REQUIRE_FALSE(found.empty());
      CHECK(found.front().find(cases[i].rule) != std::string::npos);
    }
  }
}

TEST_CASE("correct traffic passes the protocol checker") {
  using namespace tlm;
  run_cases({
      {nullptr,
       [](Rig& r) {  // four phases, explicit
         Payload& p = r.fresh();
         CHECK(r.send(p, BEGIN_REQ) == TLM_ACCEPTED);
         CHECK(r.answer(p, END_REQ) == TLM_ACCEPTED);
         CHECK(r.begin_response(p) == TLM_ACCEPTED);
         CHECK(r.send(p, END_RESP) == TLM_ACCEPTED);
         p.release();
       }},
      {nullptr,
       [](Rig& r) {  // END_REQ implied, response ended by the return value
         r.backward_returns(TLM_COMPLETED);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         CHECK(r.begin_response(p, 5) == TLM_COMPLETED);
         p.release();
       }},
      {nullptr,
       [](Rig& r) {  // TLM_UPDATED both ways
         r.forward_returns(TLM_UPDATED, END_REQ);
         r.backward_returns(TLM_UPDATED, END_RESP);
         Payload& p = r.fresh();
         CHECK(r.send(p, BEGIN_REQ) == TLM_UPDATED);
         CHECK(r.begin_response(p) == TLM_UPDATED);
         p.release();
       }},
      {nullptr,
       [](Rig& r) {  // response with the return of the request
         r.forward_returns(TLM_UPDATED, BEGIN_RESP);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         CHECK(r.send(p, END_RESP) == TLM_COMPLETED);
         p.release();
       }},
      {nullptr,
       [](Rig& r) {  // completed at once, payload used again, many requests in flight
         r.forward_returns(TLM_COMPLETED);
         Payload& p = r.fresh();
         for (int i = 0; i < 3; ++i) {
           p.set_response_status(TLM_INCOMPLETE_RESPONSE);
           r.send(p, BEGIN_REQ, i);
         }
         r.forward_returns(TLM_UPDATED, END_REQ);
         r.backward_returns(TLM_COMPLETED);
         Payload& a = r.fresh();
         Payload& b = r.fresh();
         r.send(a, BEGIN_REQ);
         r.send(b, BEGIN_REQ);
         r.begin_response(b);  // out of order is allowed
         r.begin_response(a);
       }},
      {nullptr,
       [](Rig& r) {  // blocking and debug transport, without memory manager
         Payload p;
         p.set_command(TLM_WRITE_COMMAND);
         p.set_data_ptr(r.data);
         p.set_data_length(64);
         p.set_streaming_width(64);
         sc_core::sc_time delay(7, sc_core::SC_NS);
         r.isock->b_transport(p, delay);
         CHECK(r.isock->transport_dbg(p) == 64);
       }},
      {nullptr,
       [](Rig& r) {  // a failed response is a response
         r.backward_returns(TLM_COMPLETED);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         p.set_response_status(TLM_ADDRESS_ERROR_RESPONSE);
         r.answer(p, BEGIN_RESP);
       }},
  });
}

TEST_CASE("the protocol checker finds broken phases and return values") {
  using namespace tlm;
  run_cases({
      {"phase: uninitialised", [](Rig& r) { r.send(r.fresh(), UNINITIALIZED_PHASE); }},
      {"first phase of a transaction is not BEGIN_REQ", [](Rig& r) { r.send(r.fresh(), END_RESP); }},
      {"an initiator may send",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.send(p, END_REQ);
       }},
      {"END_RESP without BEGIN_RESP",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.send(p, END_RESP);
       }},
      {"no transaction under way", [](Rig& r) { r.answer(r.fresh(), END_REQ); }},
      {"no transaction under way",
       [](Rig& r) {  // answered after it was completed
         r.forward_returns(TLM_COMPLETED);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
       }},
      {"a target may send",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_RESP);
       }},
      {"END_REQ twice",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_REQ);
         r.answer(p, END_REQ);
       }},
      {"END_REQ twice or after BEGIN_RESP",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
         r.answer(p, END_REQ);
       }},
      {"BEGIN_RESP twice",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
         r.begin_response(p);
       }},
      {"TLM_UPDATED after BEGIN_REQ needs",
       [](Rig& r) {
         r.forward_returns(TLM_UPDATED, BEGIN_REQ);
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"TLM_UPDATED after BEGIN_REQ needs",
       [](Rig& r) {
         r.forward_returns(TLM_UPDATED, END_RESP);
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"TLM_UPDATED after BEGIN_RESP needs",
       [](Rig& r) {
         r.backward_returns(TLM_UPDATED, END_REQ);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
       }},
      {"END_REQ can only be accepted",
       [](Rig& r) {
         r.backward_returns(TLM_COMPLETED);
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_REQ);
       }},
      {"TLM_UPDATED after END_RESP",
       [](Rig& r) {
         r.on_forward = [](Payload&, tlm_phase& phase, sc_core::sc_time&) {
           return phase == END_RESP ? TLM_UPDATED : TLM_ACCEPTED;
         };
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
         r.send(p, END_RESP);
       }},
      {"callee changed the phase",
       [](Rig& r) {
         r.on_forward = [](Payload&, tlm_phase& phase, sc_core::sc_time&) {
           phase = END_REQ;
           return TLM_ACCEPTED;
         };
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"callee changed the delay",
       [](Rig& r) {
         r.on_forward = [](Payload&, tlm_phase&, sc_core::sc_time& delay) {
           delay += sc_core::sc_time(1, sc_core::SC_NS);
           return TLM_ACCEPTED;
         };
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"callee changed the payload",
       [](Rig& r) {
         r.on_forward = [](Payload& p, tlm_phase&, sc_core::sc_time&) {
           p.set_response_status(TLM_OK_RESPONSE);
           return TLM_ACCEPTED;
         };
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"callee changed the delay",
       [](Rig& r) {
         r.on_backward = [](Payload&, tlm_phase&, sc_core::sc_time& delay) {
           delay += sc_core::sc_time(1, sc_core::SC_NS);
           return TLM_ACCEPTED;
         };
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_REQ);
       }},
  });
}

TEST_CASE("the protocol checker finds broken exclusion and nesting and timing and lifetime rules") {
  using namespace tlm;
  run_cases({
      {"request exclusion rule",
       [](Rig& r) {
         r.send(r.fresh(), BEGIN_REQ);
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"response exclusion rule",
       [](Rig& r) {
         r.forward_returns(TLM_UPDATED, END_REQ);
         Payload& a = r.fresh();
         Payload& b = r.fresh();
         r.send(a, BEGIN_REQ);
         r.send(b, BEGIN_REQ);
         r.begin_response(a);
         r.begin_response(b);
       }},
      {"response exclusion rule",
       [](Rig& r) {  // by a return value
         r.forward_returns(TLM_UPDATED, BEGIN_RESP);
         r.send(r.fresh(), BEGIN_REQ);
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"reuse: BEGIN_REQ although",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_REQ);
         r.send(p, BEGIN_REQ);
       }},
      {"reuse: b_transport while",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         sc_core::sc_time delay;
         r.isock->b_transport(p, delay);
       }},
      {"nb_transport_bw called from within nb_transport_fw",
       [](Rig& r) {
         r.on_forward = [&r](Payload& p, tlm_phase&, sc_core::sc_time&) {
           r.answer(p, END_REQ);
           return TLM_ACCEPTED;
         };
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"nb_transport_fw called from within nb_transport_bw",
       [](Rig& r) {
         r.on_backward = [&r](Payload&, tlm_phase&, sc_core::sc_time&) {
           r.send(r.fresh(), BEGIN_REQ);
           return TLM_ACCEPTED;
         };
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, END_REQ);
       }},
      {"effective time of a transaction decreased",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ, 100);
         r.answer(p, END_REQ, 99);
       }},
      {"effective time of a transaction decreased",
       [](Rig& r) {
         r.on_forward = [](Payload& p, tlm_phase&, sc_core::sc_time& delay) {
           delay = sc_core::SC_ZERO_TIME;
           p.set_response_status(TLM_OK_RESPONSE);
           return TLM_COMPLETED;
         };
         r.send(r.fresh(), BEGIN_REQ, 100);
       }},
      {"b_transport went back in time",
       [](Rig& r) {
         r.on_blocking = [](Payload& p, sc_core::sc_time& delay) {
           delay = sc_core::SC_ZERO_TIME;
           p.set_response_status(TLM_OK_RESPONSE);
         };
         sc_core::sc_time delay(1, sc_core::SC_NS);
         r.isock->b_transport(r.fresh(), delay);
       }},
      {"needs a payload with a memory manager",
       [](Rig& r) {
         auto* p = new Payload;  // never freed here: the checker still knows it
         p->set_data_ptr(r.data);
         p->set_data_length(64);
         p->set_streaming_width(64);
         p->set_command(TLM_READ_COMMAND);
         r.send(*p, BEGIN_REQ);
         r.backward_returns(TLM_COMPLETED);
         r.begin_response(*p);
         delete p;
       }},
      {"reference count is 0",
       [](Rig& r) {
         Payload& p = r.fresh();
         p.release();
         p.set_response_status(TLM_INCOMPLETE_RESPONSE);
         r.send(p, BEGIN_REQ);
       }},
      {"released before the transaction ended",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         p.release();
         r.answer(p, END_REQ);
       }},
      {"never ended",
       [](Rig& r) {
         r.send(r.fresh(), BEGIN_REQ);
         r.checker.finish();
       }},
  });
}

/// Sends a payload after `change` has been made to it.
Case broken(const char* rule, std::function<void(Payload&)> change) {
  return {rule, [change](Rig& r) {
            Payload& p = r.fresh();
            change(p);
            r.send(p, tlm::BEGIN_REQ);
          }};
}
Case changed(std::function<void(Payload&)> change) {
  return {"changed during the lifetime", [change](Rig& r) {
            Payload& p = r.fresh();
            r.send(p, tlm::BEGIN_REQ);
            change(p);
            r.answer(p, tlm::END_REQ);
          }};
}

TEST_CASE("the protocol checker finds broken attributes") {
  using namespace tlm;
  static unsigned char other[64];
  run_cases({
      broken("command is none of", [](Payload& p) { p.set_command(static_cast<tlm_command>(3)); }),
      broken("data pointer is null", [](Payload& p) { p.set_data_ptr(nullptr); }),
      broken("data length is 0", [](Payload& p) { p.set_data_length(0); }),
      broken("streaming width is 0", [](Payload& p) { p.set_streaming_width(0); }),
      broken("byte enable length is 0",
             [](Payload& p) {
               p.set_byte_enable_ptr(other);
               p.set_byte_enable_length(0);
             }),
      broken("did not clear the DMI hint", [](Payload& p) { p.set_dmi_allowed(true); }),
      broken("response status to incomplete", [](Payload& p) { p.set_response_status(TLM_OK_RESPONSE); }),
      {"did not set the response status",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.answer(p, BEGIN_RESP);
       }},
      {"did not set the response status",
       [](Rig& r) {
         r.on_forward = [](Payload&, tlm_phase&, sc_core::sc_time&) { return TLM_COMPLETED; };
         r.send(r.fresh(), BEGIN_REQ);
       }},
      {"did not set the response status",
       [](Rig& r) {
         r.on_blocking = [](Payload&, sc_core::sc_time&) {};
         sc_core::sc_time delay;
         r.isock->b_transport(r.fresh(), delay);
       }},
      {"response status changed after",
       [](Rig& r) {
         Payload& p = r.fresh();
         r.send(p, BEGIN_REQ);
         r.begin_response(p);
         p.set_response_status(TLM_GENERIC_ERROR_RESPONSE);
         r.send(p, END_RESP);
       }},
      changed([](Payload& p) { p.set_command(TLM_WRITE_COMMAND); }),
      changed([](Payload& p) { p.set_address(p.get_address() + 1); }),
      changed([](Payload& p) { p.set_data_ptr(other); }),
      changed([](Payload& p) { p.set_data_length(32); }),
      changed([](Payload& p) { p.set_streaming_width(32); }),
      changed([](Payload& p) {
        p.set_byte_enable_ptr(other);
        p.set_byte_enable_length(1);
      }),
      {"moved more bytes",
       [](Rig& r) {
         r.on_debug = [](Payload& p) { return p.get_data_length() + 1; };
         r.isock->transport_dbg(r.fresh());
       }},
      {"debug transport with a data pointer",
       [](Rig& r) {
         Payload& p = r.fresh();
         p.set_data_ptr(nullptr);
         r.isock->transport_dbg(p);
       }},
      {"neither read nor write",
       [](Rig& r) {
         Payload& p = r.fresh();
         p.set_command(TLM_IGNORE_COMMAND);
         tlm_dmi dmi;
         r.isock->get_direct_mem_ptr(p, dmi);
       }},
  });
}

TEST_CASE("the protocol checker reports through SystemC when asked to") {
  struct Top : sc_core::sc_module {
    explicit Top(const sc_core::sc_module_name& name)
        : sc_core::sc_module(name), isock("isock", *this), tsock("tsock", *this) {
      isock.bind(loud.tsock);
      loud.isock.bind(tsock);
    }
    tlm_sync_enum forward(unsigned, Payload&, tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; }
    tlm_sync_enum backward(unsigned, Payload&, tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; }
    void blocking(unsigned, Payload&, sc_core::sc_time&) {}
    unsigned debug(unsigned, Payload&) { return 0; }
    InitiatorSocket<Top> isock;
    TargetSocket<Top> tsock;
    ProtocolChecker loud{"loud"};
  } top("top");
  Rig rig("rig");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Payload& payload = rig.fresh();
  payload.set_data_length(0);
  tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  CHECK_THROWS_WITH(top.isock->nb_transport_fw(payload, phase, delay), Catch::Contains("data length is 0"));
}

}  // namespace
}  // namespace tlmssd
