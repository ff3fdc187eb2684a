// The controller's DRAM: a memory-mapped TLM-2.0 target with a capacity, a bandwidth and a latency.
//
// Modelled: the data interface as a reservation, bytes / bandwidth per access in the order of
// arrival or in turns (turns.h), and a latency that is pipelined behind it: in order, end =
// max(free, arrival) + bytes / bandwidth + latency. Left out: banks, rows and refresh; their cost
// belongs into the effective bandwidth (DRAMSys or any other TLM-2.0 memory can take this module's
// place). Bytes are kept only when `storage` is on: the emulator moves stamps by value, not through
// memory.
#pragma once

#include <systemc>

#include "models/base/archive.h"
#include "models/base/booked.h"
#include "models/base/parameters.h"
#include "models/base/sparse_array.h"
#include "models/memory/address_map.h"
#include "models/memory/memory_target.h"
#include "models/memory/transfer_times.h"
#include "models/memory/turns.h"

namespace tlmssd {

/// Scenario section ssd.dram: with the model built-in.
struct DramConfig {
  Bytes capacity = Bytes{256} << 20U;
  BytesPerSecond bandwidth = 3'200'000'000;
  Picoseconds latency = 50'000;
  std::string arbitration = k_in_order;
  bool storage = false;  ///< keep real bytes (not a scenario parameter: for tests and other initiators)
  static const ParameterTable<DramConfig>& parameters();         ///< of every model
  static const ParameterTable<DramConfig>& timing_parameters();  ///< of this one
};

/// When a DRAM of this configuration is free and when an access ends. Plain: no kernel needed.
class DramTiming {
 public:
  explicit DramTiming(const DramConfig& config)
      : times_(config.bandwidth),
        latency_(config.latency),
        turns_(config.arbitration),
        rate_(config.bandwidth) {}
  struct Span {
    Picoseconds waited;  ///< for other accesses
    Picoseconds start;   ///< of what it adds to the interface's work; in turns that is not when it is served
    Picoseconds free;    ///< end of that
    Picoseconds end;     ///< last byte has arrived
  };
  Span reserve(Picoseconds arrival, Bytes bytes);
  /// Of what is reserved, what lies beyond `now`; `feed`: see booked_ahead().
  [[nodiscard]] Picoseconds ahead(Picoseconds now, BytesPerSecond feed) const {
    return booked_ahead(turns_.free(), now, feed, rate_);
  }
  void archive(Archive& a) { a(turns_); }

 private:
  TransferTimes times_;
  Picoseconds latency_;
  Turns turns_;
  BytesPerSecond rate_;
};

class Dram : public MemoryTarget {
 public:
  Dram(const sc_core::sc_module_name& name, const DramConfig& config, EventQueue& event_queue,
       std::uint64_t base = k_dram_base);

  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const;
  void reset_statistics();
  /// What is booked beyond an idle moment, which is waited for by no one; and the bytes, if they
  /// are kept.
  void archive(Archive& a);

  Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) final;
  bool access_untimed(std::uint64_t address, Bytes bytes, bool /*write*/) final {
    return holds(address, bytes);
  }

 private:
  [[nodiscard]] bool keeps_bytes() const override { return storage_; }
  void move(tlm::tlm_generic_payload& payload) override;

  bool storage_;
  DramTiming timing_;
  SparseArray<unsigned char> bytes_;
};

}  // namespace tlmssd
