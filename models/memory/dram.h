// The controller's DRAM: a memory-mapped TLM-2.0 target with a capacity, a bandwidth and a latency.
//
// Modelled: the data interface as a reservation, bytes / bandwidth per access in the order of
// arrival, and a latency that is pipelined behind it: end = max(free, arrival) + bytes / bandwidth
// + latency. Left out: banks, rows and refresh; their cost belongs into the effective bandwidth
// (DRAMSys or any other TLM-2.0 memory can take this module's place). nb_transport_fw(BEGIN_REQ)
// answers TLM_COMPLETED with the delay annotated up to the end; b_transport adds it to the delay
// and never waits. Bytes are kept only when `storage` is on: the emulator moves stamps by value,
// not through memory.
#pragma once

#include <systemc>
#include <tlm>

#include <string>

#include "models/base/archive.h"
#include "models/base/booked.h"
#include "models/base/event_queue.h"
#include "models/base/parameters.h"
#include "models/base/sparse_array.h"
#include "models/base/statistics.h"
#include "models/memory/address_map.h"
#include "models/memory/memory_observer.h"
#include "models/memory/transfer_times.h"
#include "models/tlm/transport.h"

namespace tlmssd {

/// Scenario section ssd.dram: with the model built-in.
struct DramConfig {
  Bytes capacity = Bytes{256} << 20U;
  BytesPerSecond bandwidth = 3'200'000'000;
  Picoseconds latency = 50'000;
  bool storage = false;  ///< keep real bytes (not a scenario parameter: for tests and other initiators)
  static const ParameterTable<DramConfig>& parameters();         ///< of every model
  static const ParameterTable<DramConfig>& timing_parameters();  ///< of this one
};

/// When a DRAM of this configuration is free and when an access ends. Plain: no kernel needed.
class DramTiming {
 public:
  explicit DramTiming(const DramConfig& config)
      : times_(config.bandwidth), latency_(config.latency), rate_(config.bandwidth) {}
  struct Span {
    Picoseconds start;  ///< the interface begins to be occupied
    Picoseconds free;   ///< and is free again
    Picoseconds end;    ///< last byte has arrived
  };
  Span reserve(Picoseconds arrival, Bytes bytes);
  /// Of what is reserved, what lies beyond `now`; `feed`: see booked_ahead().
  [[nodiscard]] Picoseconds ahead(Picoseconds now, BytesPerSecond feed) const {
    return booked_ahead(free_, now, feed, rate_);
  }
  void archive(Archive& a) { a(free_); }

 private:
  TransferTimes times_;
  Picoseconds latency_;
  Picoseconds free_ = 0;
  BytesPerSecond rate_;
};

/// What a memory counts.
struct MemoryCounters {
  Picoseconds busy = 0;     ///< interface occupied, by all that is booked
  Picoseconds waiting = 0;  ///< accesses waiting for it
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  Bytes read_bytes = 0;
  Bytes written_bytes = 0;
  Picoseconds since = 0;  ///< when counting started
  void count(Bytes bytes, bool write, Picoseconds occupancy, Picoseconds wait);
  /// `ahead`: of what is booked, what lies beyond `now`.
  void report(StatisticsSink& sink, Picoseconds now, Picoseconds ahead) const;
  /// Counts from `now` on, beginning with what lies ahead.
  void restart(Picoseconds now, Picoseconds ahead);
};

class Dram : public sc_core::sc_module, public DirectAccess {
 public:
  Dram(const sc_core::sc_module_name& name, const DramConfig& config, EventQueue& event_queue,
       std::uint64_t base = k_dram_base);

  TargetSocket<Dram> bus_tsock;

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] Bytes capacity() const { return config_.capacity; }
  [[nodiscard]] const MemoryCounters& counters() const { return counters_; }
  void set_observer(MemoryObserver* observer) { observer_ = observer; }
  /// How fast the bus in front can bring and take data, if not faster than this memory: for what of
  /// its busy time lies within the time measured.
  void set_feed(BytesPerSecond feed) { feed_ = feed; }
  void report(StatisticsSink& sink) const;
  void reset_statistics();
  /// What is booked beyond an idle moment, which is waited for by no one; and the bytes, if they
  /// are kept.
  void archive(Archive& a);

  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);
  /// Bytes that are kept are in payloads.
  DirectAccess* direct(unsigned /*index*/) { return config_.storage ? nullptr : this; }
  Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) final;
  bool access_untimed(std::uint64_t address, Bytes bytes, bool /*write*/) final {
    return holds(address, bytes);
  }

 private:
  /// Performs the access; returns its end and sets the response status.
  Picoseconds access(tlm::tlm_generic_payload& payload, Picoseconds arrival);
  Picoseconds reserve(Picoseconds arrival, Bytes bytes, bool write);
  [[nodiscard]] bool holds(std::uint64_t address, Bytes bytes) const;
  void move(tlm::tlm_generic_payload& payload);

  DramConfig config_;
  EventQueue& event_queue_;
  std::uint64_t base_;
  DramTiming timing_;
  MemoryCounters counters_;
  MemoryObserver* observer_ = nullptr;
  BytesPerSecond feed_ = k_no_limit;
  SparseArray<unsigned char> bytes_;
};

}  // namespace tlmssd
