// Storage-class memory: sector-addressable (512 B), non-volatile, wear-counted, a memory-mapped
// TLM-2.0 target like the DRAM.
//
// Modelled: `banks` independent banks, sectors dealt to them in turn (sector number modulo banks), each bank
// busy for one read or program latency per sector; one interface of a given bandwidth that moves whole
// sectors. Bank work and transfer overlap sector by sector (cut-through). With I = max(interface free,
// arrival) + n * 512 / bandwidth and B = the last of the banks involved to finish its sectors, an access of n
// sectors ends at
//     max(I + latency, B + 512 / bandwidth):
// one sector costs latency + transfer, many sectors the slower of the interface and banks * 512 / latency. A
// program that covers a sector partly reads it first. Left out: write verify, drift, media errors. Source:
// latency of 100 ns per sector as used by Fukuchi et al. for the SCM of hybrid SSDs; bank interleaving is a
// generic assumption.
#pragma once

#include <systemc>

#include <vector>

#include "models/base/archive.h"
#include "models/base/booked.h"
#include "models/base/parameters.h"
#include "models/memory/address_map.h"
#include "models/memory/memory_target.h"

namespace tlmssd {

/// Scenario section ssd.scm: with the model built-in.
struct ScmConfig {
  Bytes capacity = Bytes{1} << 30U;
  double share = 0;  ///< of the drive's flash, in place of `capacity` when not 0
  Picoseconds read_latency = 100'000;
  Picoseconds program_latency = 100'000;
  std::uint32_t banks = 8;
  BytesPerSecond bandwidth = 6'400'000'000;
  Bytes wear_region = Bytes{1} << 20U;
  static const ParameterTable<ScmConfig>& parameters();       ///< of every model
  static const ParameterTable<ScmConfig>& bank_parameters();  ///< of this one
};

inline constexpr Bytes k_scm_sector = 512;

/// Bank and interface reservations. Plain: no kernel needed.
class ScmTiming {
 public:
  explicit ScmTiming(const ScmConfig& config);
  struct Span {
    Picoseconds start;  ///< the interface begins to be occupied
    Picoseconds free;   ///< and is free again
    Picoseconds end;
    Picoseconds waited;  ///< by how much later that is for what was reserved before, of interface and banks
  };
  /// `partial`: sectors covered only in part by a program, which are read first (0, 1 or 2: the
  /// ends).
  Span reserve(Picoseconds arrival, std::uint64_t first_sector, std::uint64_t sectors, bool write,
               bool first_partial, bool last_partial);
  /// Of what is reserved of the interface, what lies beyond `now`; `feed`: see booked_ahead().
  [[nodiscard]] Picoseconds ahead(Picoseconds now, BytesPerSecond feed) const {
    return booked_ahead(interface_free_, now, feed, bandwidth_);
  }
  /// Time for which banks have been reserved since restart_banks(), all together, and what of it
  /// lies beyond `now`.
  [[nodiscard]] Picoseconds banks_booked() const { return banks_booked_; }
  [[nodiscard]] Picoseconds banks_ahead(Picoseconds now) const;
  [[nodiscard]] std::size_t banks() const { return bank_free_.size(); }
  /// Counts from `now` on, beginning with what lies ahead.
  void restart_banks(Picoseconds now) { banks_booked_ = banks_ahead(now); }
  void archive(Archive& a);

 private:
  std::vector<Picoseconds> bank_free_;
  Picoseconds banks_booked_ = 0;
  Picoseconds interface_free_ = 0;
  Picoseconds read_latency_;
  Picoseconds program_latency_;
  Picoseconds sector_time_;
  BytesPerSecond bandwidth_;
};

class Scm : public MemoryTarget {
 public:
  Scm(const sc_core::sc_module_name& name, const ScmConfig& config, EventQueue& event_queue,
      std::uint64_t base = k_scm_base);

  /// Sector programs so far, region by region (`wear_region` bytes each; the last may be shorter).
  /// Never reset.
  [[nodiscard]] const std::vector<std::uint64_t>& wear() const { return wear_; }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const;
  void reset_statistics();
  void archive(Archive& a);

  Picoseconds access(Picoseconds arrival, std::uint64_t address, Bytes bytes, bool write) final;
  /// A write wears the sectors all the same.
  bool access_untimed(std::uint64_t address, Bytes bytes, bool write) final;

 private:
  void add_wear(std::uint64_t first_sector, std::uint64_t sectors);

  ScmTiming timing_;
  Bytes wear_region_;
  std::vector<std::uint64_t> wear_;
};

}  // namespace tlmssd
