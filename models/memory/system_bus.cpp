#include "models/memory/system_bus.h"

#include <algorithm>
#include <string>

#include "models/tlm/kernel_time.h"

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
                "from the grant to the memory seeing the request")
          .choice("arbitration", &SystemBusConfig::arbitration, {k_in_order, k_round_robin},
                  Turns::meaning("transfer") + "; for the DRAM there is ssd.dram.arbitration");
  return table;
}

SystemBus::SystemBus(const sc_core::sc_module_name& name, const SystemBusConfig& config,
                     EventQueue& event_queue, unsigned masters)
    : sc_core::sc_module(name),
      config_(config),
      event_queue_(event_queue),
      times_(config.bandwidth()),
      turns_(config.arbitration) {
  for (unsigned i = 0; i < masters; ++i) {
    auto master = std::make_unique<Master>(*this);
    master->socket =
        std::make_unique<MasterPort>(("master_tsock_" + std::to_string(i)).c_str(), *this, event_queue, i);
    masters_.push_back(std::move(master));
  }
}

SystemBus::MemoryPort& SystemBus::add_memory(const char* socket_name, std::uint64_t base, Bytes size) {
  // Called while the platform is put together, outside this module's constructor: the socket still
  // belongs to this module.
  simcontext()->hierarchy_push(this);
  const auto index = static_cast<unsigned>(memories_.size());
  memories_.push_back({std::make_unique<MemoryPort>(socket_name, *this, event_queue_, index), base, size});
  simcontext()->hierarchy_pop();
  return *memories_.back().socket;
}

unsigned SystemBus::decode(std::uint64_t address) const {
  for (unsigned m = 0; m < memories_.size(); ++m) {
    if (address - memories_[m].base < memories_[m].size) return m;
  }
  return k_none;
}

SystemBus::Grant SystemBus::grant(Picoseconds arrival, Bytes bytes, bool write, Master& master) {
  const Picoseconds time = times_.of(bytes);
  const Turns::Span span = turns_.take(arrival, time);
  counters_.count(bytes, write, time, span.start - arrival);
  master.moved += bytes;
  if (observer_ != nullptr) observer_->occupied(span.booked - time, span.booked, bytes, write);
  return {span.start, span.end + config_.latency};
}

// --------------------------------------------------------------------------------------------------------------------
// requests, responses

Reply SystemBus::request(unsigned index, Payload& payload, Picoseconds when) {
  const unsigned memory = decode(payload.get_address());
  if (memory == k_none) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return Reply::completed(when);
  }
  Access& access = accesses_.take();
  access.payload = &payload;
  access.master = index;
  access.time = when;
  const Picoseconds end = memories_[memory].socket->request(access);
  if (end == k_never) return Reply::accepted();
  const Picoseconds bus_end = access.time;
  release(access);
  return Reply::completed(std::max(end, bus_end));
}

/// Grants the bus to an access that goes to its memory now. Afterwards its time is the end of the
/// bus's own part.
Picoseconds SystemBus::departure(Access& access) {
  const Payload& payload = *access.payload;
  const Grant granted =
      grant(std::max(access.time, event_queue_.now()), moves_data(payload) ? payload.get_data_length() : 0,
            payload.is_write(), *masters_[access.master]);
  access.time = granted.end;
  return granted.start + config_.latency;
}

void SystemBus::responded(unsigned /*index*/, Payload& payload, Picoseconds when) {
  const auto& all = accesses_.all();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&payload](const auto& access) { return access->payload == &payload; });
  if (found == all.end()) {
    SC_REPORT_ERROR("tlmssd/bus", "a memory answered a transaction that is not under way");
    return;
  }
  Access& access = **found;
  access.time = std::max(access.time, when);
  masters_[access.master]->socket->respond(access);
}

Picoseconds SystemBus::responding(Access& access) const {
  return std::max(access.time, event_queue_.now());
}

// --------------------------------------------------------------------------------------------------------------------
// accesses without payloads

DirectAccess* SystemBus::direct(unsigned index) {
  for (Memory& memory : memories_) {
    memory.direct = memory.socket->direct();
    if (memory.direct == nullptr) return nullptr;
  }
  return masters_[index].get();
}

Picoseconds SystemBus::access(Master& master, Picoseconds arrival, std::uint64_t address, Bytes bytes,
                              bool write) {
  const unsigned memory = decode(address);
  if (memory == k_none) return k_never;
  const Grant granted = grant(arrival, bytes, write, master);
  return std::max(memories_[memory].direct->access(granted.start + config_.latency, address, bytes, write),
                  granted.end);
}

// --------------------------------------------------------------------------------------------------------------------
// blocking, debug

void SystemBus::blocking(unsigned index, Payload& payload, sc_core::sc_time& delay) {
  const unsigned target = decode(payload.get_address());
  if (target == k_none) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const Picoseconds arrived = arrival(event_queue_, delay);
  const Grant granted = grant(arrived, moves_data(payload) ? payload.get_data_length() : 0,
                              payload.is_write(), *masters_[index]);
  // What the bus adds is handed to the memory as annotation; a memory that waits reduces it, so all
  // counts from the kernel's time.
  sc_core::sc_time part = to_sc_time(granted.start + config_.latency - kernel_now(event_queue_));
  (*memories_[target].socket)->b_transport(payload, part);
  const Picoseconds end = std::max(kernel_now(event_queue_) + to_picoseconds(part), granted.end);
  delay = to_sc_time(std::max<Picoseconds>(end - kernel_now(event_queue_), 0));
}

unsigned SystemBus::debug(unsigned /*index*/, Payload& payload) {
  const unsigned target = decode(payload.get_address());
  return target == k_none ? 0 : (*memories_[target].socket)->transport_dbg(payload);
}

void SystemBus::report(StatisticsSink& sink) const {
  sink.open("bus", "controller's system bus");
  const Picoseconds now = event_queue_.now();
  counters_.report(sink, now, booked_ahead(turns_.free(), now));
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    sink.value("bytes of master " + std::to_string(i), masters_[i]->moved, "B",
               "bytes moved for this master");
  }
  sink.close();
}

void SystemBus::tell_busy(BusySink& sink) const {
  const Picoseconds now = event_queue_.now();
  counters_.tell_busy(sink, "bus", now, booked_ahead(turns_.free(), now));
}

void SystemBus::reset_statistics() {
  const Picoseconds now = event_queue_.now();
  counters_.restart(now, booked_ahead(turns_.free(), now));
  for (auto& master : masters_) master->moved = 0;
}

}  // namespace tlmssd
