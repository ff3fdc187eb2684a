#include "models/memory/system_bus.h"

#include <algorithm>
#include <string>

#include "models/common/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

bool moves_data(const Payload& payload) {
  return payload.is_read() || payload.is_write();
}

}  // namespace

const ParameterTable<SystemBusConfig>& SystemBusConfig::parameters() {
  static const auto table =
      ParameterTable<SystemBusConfig>{}
          .integer("width", &SystemBusConfig::width, {8, 4096}, "data width of the controller's bus in bits")
          .frequency("clock", &SystemBusConfig::clock, {1'000'000, 10'000'000'000},
                     "bus clock; width x clock is the bandwidth shared by all masters")
          .time("latency", &SystemBusConfig::latency, {0, 1'000'000'000},
                "from the grant to the memory seeing the request");
  return table;
}

SystemBus::SystemBus(const sc_core::sc_module_name& name, const SystemBusConfig& config, Agenda& agenda,
                     unsigned masters)
    : sc_core::sc_module(name), config_(config), agenda_(agenda) {
  for (unsigned i = 0; i < masters; ++i) {
    auto master = std::make_unique<Master>();
    master->socket =
        std::make_unique<TargetSocket<SystemBus>>(("master_tsock_" + std::to_string(i)).c_str(), *this, i);
    masters_.push_back(std::move(master));
  }
}

InitiatorSocket<SystemBus>& SystemBus::add_memory(const char* socket_name, std::uint64_t base, Bytes size) {
  // Called while the platform is put together, outside this module's constructor: the socket still belongs to
  // this module.
  simcontext()->hierarchy_push(this);
  auto memory = std::make_unique<Memory>();
  memory->socket = std::make_unique<InitiatorSocket<SystemBus>>(socket_name, *this,
                                                                static_cast<unsigned>(memories_.size()));
  memory->base = base;
  memory->size = size;
  memories_.push_back(std::move(memory));
  simcontext()->hierarchy_pop();
  return *memories_.back()->socket;
}

unsigned SystemBus::decode(std::uint64_t address) const {
  for (unsigned m = 0; m < memories_.size(); ++m) {
    if (address - memories_[m]->base < memories_[m]->size) return m;
  }
  return k_none;
}

SystemBus::Grant SystemBus::grant(Picoseconds arrival, Bytes bytes, bool write, unsigned master) {
  if (bytes != last_bytes_) {
    last_bytes_ = bytes;
    last_time_ = transfer_time(bytes, config_.bandwidth());
  }
  const Picoseconds start = std::max(free_, arrival);
  free_ = start + last_time_;
  counters_.count(bytes, write, last_time_, start - arrival);
  masters_[master]->bytes += bytes;
  if (observer_ != nullptr) observer_->occupied(start, free_, bytes, write);
  return {start, free_ + config_.latency};
}

/// Grants the bus to a request that arrived at `pending.time` and sends it to its memory. Afterwards
/// `pending.time` is the end of the bus's own part.
SystemBus::Outcome SystemBus::send(Pending& pending) {
  Memory& memory = *memories_[pending.memory];
  Payload& payload = *pending.payload;
  const Grant granted = grant(pending.time, moves_data(payload) ? payload.get_data_length() : 0,
                              payload.is_write(), pending.master);
  pending.time = granted.end;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(granted.start + config_.latency - kernel_now(agenda_));
  memory.requesting = pending.payload;
  const tlm::tlm_sync_enum status = (*memory.socket)->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return {status, 0};
  memory.requesting = nullptr;
  const Picoseconds when = kernel_now(agenda_) + to_picoseconds(delay);
  if (status == tlm::TLM_UPDATED) {
    if (phase == tlm::END_REQ) return {status, when};
    phase = tlm::END_RESP;  // BEGIN_RESP came with the return
    (*memory.socket)->nb_transport_fw(payload, phase, delay);
  }
  return {tlm::TLM_COMPLETED, std::max(when, granted.end)};
}

// --------------------------------------------------------------------------------------------------------------------
// requests

tlm::tlm_sync_enum SystemBus::forward(unsigned index, Payload& payload, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    masters_[index]->responding = false;
    if (!masters_[index]->responses.empty()) ask_pump();
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const unsigned target = decode(payload.get_address());
  if (target == k_none) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  Pending pending{&payload, index, target, arrival(agenda_, delay), true};
  Memory& memory = *memories_[target];
  if (memory.requesting != nullptr || !memory.requests.empty()) {
    payload.acquire();
    memory.requests.push_back(pending);
    return tlm::TLM_ACCEPTED;
  }
  const Outcome outcome = send(pending);
  if (outcome.status == tlm::TLM_COMPLETED) {
    delay = to_sc_time(outcome.time - kernel_now(agenda_));
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  if (outcome.status == tlm::TLM_UPDATED) {
    pending.request_open = false;
    phase = tlm::END_REQ;
    delay = to_sc_time(outcome.time - kernel_now(agenda_));
  }
  open_.push_back(pending);
  return outcome.status;
}

void SystemBus::ask_pump() {
  if (pumping_) return;
  pumping_ = true;
  agenda_.soon([](void* self) { static_cast<SystemBus*>(self)->pump(); }, this);
}

/// What exclusion rules held back. Runs from the agenda, never within a transport call.
void SystemBus::pump() {
  pumping_ = false;
  for (auto& memory : memories_) pump_requests(*memory);
  for (auto& master : masters_) {
    while (!master->responding && !master->responses.empty()) {
      const Pending pending = master->responses.front();
      master->responses.pop_front();
      call_master(pending, tlm::BEGIN_RESP, pending.time);
    }
  }
}

void SystemBus::pump_requests(Memory& memory) {
  while (memory.requesting == nullptr && !memory.requests.empty()) {
    Pending pending = memory.requests.front();
    memory.requests.pop_front();
    pending.time = std::max(pending.time, agenda_.now());
    const Outcome outcome = send(pending);
    if (outcome.status == tlm::TLM_COMPLETED) {
      pending.time = outcome.time;
      respond(pending);
      continue;
    }
    if (outcome.status == tlm::TLM_UPDATED) {
      pending.request_open = false;
      call_master(pending, tlm::END_REQ, outcome.time);
    }
    open_.push_back(pending);
  }
}

// -------------------------------------------------------------------------------------------------------------------
// responses

tlm::tlm_sync_enum SystemBus::backward(unsigned index, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&payload](const Pending& p) { return p.payload == &payload; });
  if (found == open_.end()) {
    SC_REPORT_ERROR("tlmssd/bus", "a memory answered a transaction that is not under way");
    return tlm::TLM_ACCEPTED;
  }
  const Picoseconds when = arrival(agenda_, delay);
  Memory& memory = *memories_[index];
  if (memory.requesting == &payload) {
    memory.requesting = nullptr;
    if (!memory.requests.empty()) ask_pump();
  }
  if (phase == tlm::END_REQ) {
    if (found->request_open) {
      found->request_open = false;
      call_master(*found, tlm::END_REQ, when);
    }
    return tlm::TLM_ACCEPTED;
  }
  Pending pending = *found;
  *found = open_.back();
  open_.pop_back();
  pending.time = std::max(pending.time, when);
  respond(pending);
  return tlm::TLM_COMPLETED;
}

void SystemBus::respond(const Pending& pending) {
  Master& master = *masters_[pending.master];
  if (master.responding || !master.responses.empty()) {
    master.responses.push_back(pending);
  } else {
    call_master(pending, tlm::BEGIN_RESP, pending.time);
  }
}

void SystemBus::call_master(const Pending& pending, unsigned phase_number, Picoseconds when) {
  Master& master = *masters_[pending.master];
  Payload* payload = pending.payload;
  tlm::tlm_phase phase(phase_number);
  sc_core::sc_time delay = to_sc_time(std::max(when, agenda_.now()) - kernel_now(agenda_));
  const bool response = phase_number == tlm::BEGIN_RESP;
  if (response) master.responding = true;
  const tlm::tlm_sync_enum status = (*master.socket)->nb_transport_bw(*payload, phase, delay);
  if (!response) return;
  if (status != tlm::TLM_ACCEPTED) master.responding = false;
  payload->release();
}

// --------------------------------------------------------------------------------------------------------------
// blocking, debug

void SystemBus::blocking(unsigned index, Payload& payload, sc_core::sc_time& delay) {
  const unsigned target = decode(payload.get_address());
  if (target == k_none) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const Picoseconds arrived = arrival(agenda_, delay);
  const Grant granted =
      grant(arrived, moves_data(payload) ? payload.get_data_length() : 0, payload.is_write(), index);
  // What the bus adds is handed to the memory as annotation; a memory that waits reduces it, so all counts
  // from the kernel's time.
  sc_core::sc_time part = to_sc_time(granted.start + config_.latency - kernel_now(agenda_));
  (*memories_[target]->socket)->b_transport(payload, part);
  const Picoseconds end = std::max(kernel_now(agenda_) + to_picoseconds(part), granted.end);
  delay = to_sc_time(std::max<Picoseconds>(end - kernel_now(agenda_), 0));
}

unsigned SystemBus::debug(unsigned /*index*/, Payload& payload) {
  const unsigned target = decode(payload.get_address());
  return target == k_none ? 0 : (*memories_[target]->socket)->transport_dbg(payload);
}

void SystemBus::report(StatisticsSink& sink) const {
  sink.open("bus", "controller's system bus");
  counters_.report(sink, agenda_.now());
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    sink.value("bytes of master " + std::to_string(i), masters_[i]->bytes, "B",
               "bytes moved for this master");
  }
  sink.close();
}

void SystemBus::reset_statistics() {
  counters_ = {};
  counters_.since = agenda_.now();
  for (auto& master : masters_) master->bytes = 0;
}

}  // namespace tlmssd
