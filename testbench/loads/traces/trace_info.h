// What is in a trace, in figures that show at a glance whether it was read as it was meant:
// operations, sizes, spans, footprint, overwrites, alignment.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "testbench/loads/traces/trace_reader.h"

namespace tlmssd {

struct TraceInfo {
  struct Operation {
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
    std::uint64_t aligned_4k = 0;   ///< requests that start and end on a multiple of 4 KiB
    std::uint64_t aligned_512 = 0;  ///< of 512 B
  };
  struct Volume {
    std::string name;
    std::uint64_t requests = 0;
    Bytes end = 0;  ///< one past the last byte addressed
  };
  struct Size {
    Bytes bytes = 0;
    std::uint64_t requests = 0;
  };

  std::string file;
  std::string description;                        ///< format as understood
  std::string polarity;                           ///< how the format writes operations, and what came of it
  std::array<Operation, k_opcodes> operations{};  ///< by HostOpcode
  std::vector<Volume> volumes;
  std::vector<Size> sizes;  ///< the commonest sizes of reads and writes, most frequent first, at most 12
  Bytes size_min = 0;
  Bytes size_max = 0;
  Bytes size_p50 = 0;
  Bytes size_p99 = 0;
  double size_mean = 0;
  bool has_times = true;
  __int128 span = 0;        ///< picoseconds from first to last request
  Bytes address_first = 0;  ///< least and one past the greatest address of any volume
  Bytes address_end = 0;
  Bytes footprint = 0;             ///< distinct bytes read or written, in 512 B sectors
  std::uint64_t footprint_4k = 0;  ///< distinct 4 KiB pages read or written
  Bytes written_footprint = 0;     ///< distinct bytes written
  std::uint64_t sequential = 0;  ///< reads and writes that start where the last one on the same volume ended
  std::uint64_t out_of_order = 0;  ///< stamps that were raised to their predecessor's
  Picoseconds largest_disorder = 0;
  std::uint64_t zero_size = 0;  ///< requests without size that were skipped

  [[nodiscard]] const Operation& of(HostOpcode opcode) const {
    return operations[static_cast<std::size_t>(opcode)];
  }
  [[nodiscard]] std::uint64_t requests() const;
  /// Reads plus writes: what sizes, alignment and sequentiality are shares of.
  [[nodiscard]] std::uint64_t transfers() const;
  /// Written bytes per distinct written byte; 0 when nothing is written.
  [[nodiscard]] double overwrite_rate() const;
  [[nodiscard]] double seconds() const { return static_cast<double>(span) * 1e-12; }
  [[nodiscard]] double requests_per_second() const;
};

/// Reads the file from end to end, or its first `most` requests (0: all). Throws InputError.
TraceInfo inspect_trace(const TraceFile& file, std::uint64_t most = 0);
TraceInfo inspect_trace(TraceReader& reader, std::uint64_t most = 0);

/// The same of requests from anywhere: what a file would be asked for stays empty.
TraceInfo inspect_requests(RequestSource& source, std::uint64_t most = 0);

/// A screenful for the terminal.
std::string to_text(const TraceInfo& info);
/// The same as a JSON object.
std::string to_json(const TraceInfo& info);

}  // namespace tlmssd
