// The bus inside the controller: masters (cores, host interface, flash controller) on one side, memories on
// the other.
//
// Modelled: one shared data path of width x clock, granted in the order of arrival, and cut-through: a
// transfer occupies bus and memory at the same time. With G = max(bus free, arrival) the grant, the bus is
// occupied until G + bytes / (width x clock), the memory sees the request at G + latency, and the access ends
// at
//     max(G + latency + bytes / (width x clock), end that the memory reports):
// the slower of the two governs, and in saturation the lower bandwidth is reached exactly. Addresses are not
// rewritten. Left out: separate address phases, several data paths (crossbar): give the bus the aggregate
// width instead. Memories that answer later (BEGIN_RESP) work through it; requests to a memory that has not
// ended a request yet, and responses to a master that has not ended a response yet, wait here (exclusion
// rules of the base protocol).
#pragma once

#include <systemc>
#include <tlm>

#include <deque>
#include <memory>
#include <vector>

#include "models/common/agenda.h"
#include "models/common/archive.h"
#include "models/common/parameters.h"
#include "models/common/statistics.h"
#include "models/common/transport.h"
#include "models/memory/dram.h"
#include "models/memory/memory_observer.h"

namespace tlmssd {

/// Scenario section ssd.bus.
struct SystemBusConfig {
  std::uint32_t width = 128;  ///< bits
  Hertz clock = 800'000'000;
  Picoseconds latency = 10'000;
  [[nodiscard]] BytesPerSecond bandwidth() const { return width * clock / 8; }
  static const ParameterTable<SystemBusConfig>& parameters();
};

class SystemBus : public sc_core::sc_module {
 public:
  /// `masters`: number of initiator-side sockets.
  SystemBus(const sc_core::sc_module_name& name, const SystemBusConfig& config, Agenda& agenda,
            unsigned masters);

  /// Socket for master number `index` to bind to.
  TargetSocket<SystemBus>& master_tsock(unsigned index) { return *masters_.at(index)->socket; }
  /// Adds a memory at [base, base + size); bind the socket returned to it. Before the simulation starts.
  InitiatorSocket<SystemBus>& add_memory(const char* socket_name, std::uint64_t base, Bytes size);

  [[nodiscard]] const MemoryCounters& counters() const { return counters_; }
  void set_observer(MemoryObserver* observer) { observer_ = observer; }
  void report(StatisticsSink& sink) const;
  void reset_statistics();
  void archive(Archive& /*a*/) {}  // nothing lives across an idle moment

  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  static constexpr unsigned k_none = ~0U;
  /// A transaction that did not complete at once.
  struct Pending {
    tlm::tlm_generic_payload* payload;
    unsigned master;
    unsigned memory;
    Picoseconds
        time;  // of arrival, while it waits for its memory; then of the end as far as the bus knows it
    bool request_open;  // the master has not seen END_REQ
  };
  struct Master {
    std::unique_ptr<TargetSocket<SystemBus>> socket;
    bool responding = false;  // BEGIN_RESP sent, END_RESP outstanding
    std::deque<Pending> responses;
    Bytes bytes = 0;
  };
  struct Memory {
    std::unique_ptr<InitiatorSocket<SystemBus>> socket;
    std::uint64_t base;
    Bytes size;
    const tlm::tlm_generic_payload* requesting = nullptr;  // BEGIN_REQ sent, END_REQ outstanding
    std::deque<Pending> requests;
  };

  [[nodiscard]] unsigned decode(std::uint64_t address) const;
  struct Grant {
    Picoseconds start;  // bus granted
    Picoseconds end;    // bus part done
  };
  Grant grant(Picoseconds arrival, Bytes bytes, bool write, unsigned master);
  struct Outcome {
    tlm::tlm_sync_enum status;  // TLM_UPDATED: the memory has ended the request
    Picoseconds time;           // of the end (TLM_COMPLETED) or of END_REQ (TLM_UPDATED)
  };
  Outcome send(Pending& pending);
  void ask_pump();
  void pump();
  void pump_requests(Memory& memory);
  void respond(const Pending& pending);
  void call_master(const Pending& pending, unsigned phase, Picoseconds when);

  SystemBusConfig config_;
  Agenda& agenda_;
  Picoseconds free_ = 0;
  Bytes last_bytes_ = 0;
  Picoseconds last_time_ = 0;
  std::vector<std::unique_ptr<Master>> masters_;
  std::vector<std::unique_ptr<Memory>> memories_;
  std::vector<Pending> open_;  // sent to a memory, not answered yet
  bool pumping_ = false;       // pump() is on the agenda
  MemoryCounters counters_;
  MemoryObserver* observer_ = nullptr;
};

}  // namespace tlmssd
