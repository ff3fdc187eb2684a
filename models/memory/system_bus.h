// The bus inside the controller: masters (cores, host interface, flash controller) on one side,
// memories on the other.
//
// Modelled: one shared data path of width x clock, granted in the order of arrival or in turns (turns.h),
// and cut-through: in order, a
// transfer occupies bus and memory at the same time. With G = max(bus free, arrival) the grant, the bus is
// occupied until G + bytes / (width x clock), the memory sees the request at G + latency, and the access ends
// at
//     max(G + latency + bytes / (width x clock), end that the memory reports):
// the slower of the two governs, and in saturation the lower bandwidth is reached exactly. Addresses are not
// rewritten. Left out: separate address phases, several data paths (crossbar): give the bus the aggregate
// width instead. Memories that answer later (BEGIN_RESP) work through it; what waits for one of them to end
// a request waits here and holds up no other memory. Where every memory grants accesses without payloads, so
// does the bus; with one that does not, all go in the order in which payloads reach them.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <vector>

#include "models/base/archive.h"
#include "models/base/booked.h"
#include "models/base/event_queue.h"
#include "models/base/parameters.h"
#include "models/base/slab.h"
#include "models/base/statistics.h"
#include "models/memory/memory_counters.h"
#include "models/memory/memory_observer.h"
#include "models/memory/transfer_times.h"
#include "models/memory/turns.h"
#include "models/tlm/ports.h"

namespace tlmssd {

/// Scenario section ssd.bus.
struct SystemBusConfig {
  std::uint32_t width = 128;  ///< bits
  Hertz clock = 800'000'000;
  Picoseconds latency = 10'000;
  std::string arbitration = k_in_order;
  [[nodiscard]] BytesPerSecond bandwidth() const { return width * clock / 8; }
  static const ParameterTable<SystemBusConfig>& parameters();
};

class SystemBus : public sc_core::sc_module {
  struct Access;

 public:
  using MasterPort = ResponsePort<SystemBus, Access>;
  using MemoryPort = RequestPort<SystemBus, Access>;
  /// `masters`: number of initiator-side sockets.
  SystemBus(const sc_core::sc_module_name& name, const SystemBusConfig& config, EventQueue& event_queue,
            unsigned masters);

  /// Socket for master number `index` to bind to.
  MasterPort& master_tsock(unsigned index) { return *masters_.at(index)->socket; }
  /// Adds a memory at [base, base + size); bind the socket returned to it. Before the simulation
  /// starts.
  MemoryPort& add_memory(const char* socket_name, std::uint64_t base, Bytes size);

  [[nodiscard]] const MemoryCounters& counters() const { return counters_; }
  void set_observer(MemoryObserver* observer) { observer_ = observer; }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const;
  void reset_statistics();
  /// What is booked beyond an idle moment, which is waited for by no one.
  void archive(Archive& a) { a(turns_); }

  // For the ports: the masters', then the memories'.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  [[nodiscard]] Picoseconds responding(Access& access) const;
  void consumed(Access& access) { release(access); }
  [[nodiscard]] Picoseconds departure(Access& access);
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);
  DirectAccess* direct(unsigned index);

 private:
  static constexpr unsigned k_none = ~0U;
  /// A transaction on its way.
  struct Access {
    tlm::tlm_generic_payload* payload = nullptr;  // null: none
    unsigned master = 0;
    Picoseconds time = 0;  // of arrival, until it is granted the bus; then of the end as far as known
    Access* next = nullptr;
  };
  struct Master final : DirectAccess {
    explicit Master(SystemBus& its_bus) : bus(its_bus) {}
    Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) override {
      return bus.access(*this, arrival, address, bytes, write);
    }
    bool access_untimed(std::uint64_t address, Bytes bytes, bool write) override {
      const unsigned memory = bus.decode(address);
      return memory != k_none && bus.memories_[memory].direct->access_untimed(address, bytes, write);
    }
    SystemBus& bus;
    std::unique_ptr<MasterPort> socket;
    Bytes moved = 0;
  };
  struct Memory {
    std::unique_ptr<MemoryPort> socket;
    std::uint64_t base = 0;
    Bytes size = 0;
    DirectAccess* direct = nullptr;  // once a master has asked
  };

  [[nodiscard]] unsigned decode(std::uint64_t address) const;
  struct Grant {
    Picoseconds start;  // bus granted
    Picoseconds end;    // bus part done
  };
  Grant grant(Picoseconds arrival, Bytes bytes, bool write, Master& master);
  Picoseconds access(Master& master, Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write);
  void release(Access& access) {
    access.payload = nullptr;
    accesses_.give(access);
  }

  SystemBusConfig config_;
  EventQueue& event_queue_;
  TransferTimes times_;
  Turns turns_;
  std::vector<std::unique_ptr<Master>> masters_;
  std::vector<Memory> memories_;
  Pool<Access> accesses_;
  MemoryCounters counters_;
  MemoryObserver* observer_ = nullptr;
};

}  // namespace tlmssd
