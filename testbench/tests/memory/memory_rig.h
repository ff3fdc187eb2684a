// Two masters, the system bus, DRAM and SCM, a memory that answers late, and a protocol checker on
// every socket pair.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/memory/dram.h"
#include "models/memory/memory_client.h"
#include "models/memory/scm.h"
#include "models/memory/system_bus.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/protocol_checker.h"
#include "testbench/tests/support/bind_checked.h"

namespace tlmssd {

/// A third party's memory: approximately timed, all four phases, one request at a time, answers by
/// BEGIN_RESP.
class LateMemory : public sc_core::sc_module {
 public:
  LateMemory(const sc_core::sc_module_name& name, EventQueue& event_queue, Picoseconds accept,
             Picoseconds access)
      : sc_core::sc_module(name),
        tsock("tsock", *this),
        event_queue_(event_queue),
        accept_(accept),
        access_(access) {}
  TargetSocket<LateMemory> tsock;
  std::uint64_t answered = 0;

  tlm::tlm_sync_enum forward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    payload.acquire();
    requested_ = &payload;
    const Picoseconds arrived = arrival(event_queue_, delay);
    event_queue_.at(
        arrived + accept_, [](void* self) { static_cast<LateMemory*>(self)->end_request(); }, this);
    return tlm::TLM_ACCEPTED;
  }
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    delay += to_sc_time(accept_ + access_);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) { return payload.get_data_length(); }

 private:
  void end_request() {
    tlm::tlm_generic_payload& payload = *requested_;
    requested_ = nullptr;
    under_way_.push_back(&payload);
    event_queue_.at(
        event_queue_.now() + access_, [](void* self) { static_cast<LateMemory*>(self)->respond(); }, this);
    if (skip_end_request_ = !skip_end_request_; skip_end_request_ && access_ == 0) return;
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    tsock->nb_transport_bw(payload, phase, delay);
  }
  void respond() {
    tlm::tlm_generic_payload& payload = *under_way_.front();
    under_way_.pop_front();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    ++answered;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = annotation(event_queue_);
    tsock->nb_transport_bw(payload, phase, delay);
    payload.release();
  }
  EventQueue& event_queue_;
  Picoseconds accept_;
  Picoseconds access_;
  tlm::tlm_generic_payload* requested_ = nullptr;
  std::deque<tlm::tlm_generic_payload*> under_way_;
  bool skip_end_request_ = false;  // with no access time, every second END_REQ is left to BEGIN_RESP to imply
};

struct MasterModule : sc_core::sc_module {
  MasterModule(const sc_core::sc_module_name& name, EventQueue& event_queue)
      : sc_core::sc_module(name), client("isock", event_queue) {}
  MemoryClient client;
};

inline constexpr std::uint64_t k_late_base = std::uint64_t{1} << 44U;

struct MemoryRig {
  explicit MemoryRig(const DramConfig& dram_config = {}, const ScmConfig& scm_config = {},
                     const SystemBusConfig& bus_config = {}, Picoseconds late_accept = 30'000,
                     Picoseconds late_access = 100'000)
      : process("process", event_queue),
        bus("bus", bus_config, event_queue, 2),
        dram("dram", dram_config, event_queue),
        scm("scm", scm_config, event_queue),
        late("late", event_queue, late_accept, late_access),
        first("first", event_queue),
        second("second", event_queue) {
    bind(first.client.socket, bus.master_tsock(0));
    bind(second.client.socket, bus.master_tsock(1));
    bind(bus.add_memory("dram_isock", k_dram_base, dram_config.capacity), dram.bus_tsock);
    bind(bus.add_memory("scm_isock", k_scm_base, scm_config.capacity), scm.bus_tsock);
    bind(bus.add_memory("late_isock", k_late_base, Bytes{1} << 20U), late.tsock);
  }
  template <class Initiator, class Target>
  void bind(Initiator& initiator, Target& target) {
    bind_checked(checkers, initiator, target);
  }
  void run() {
    process.simulate();
    for (auto& checker : checkers) checker->finish();
  }

  EventQueue event_queue;
  EventQueueProcess process;
  SystemBus bus;
  Dram dram;
  Scm scm;
  LateMemory late;
  MasterModule first;
  MasterModule second;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers;
};

}  // namespace tlmssd
