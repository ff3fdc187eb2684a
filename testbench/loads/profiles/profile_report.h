// What a made-up volume was meant to be, and what came of it, side by side.
//
// Request counts, sizes, footprint, sequentiality and overwrites are those of trace_info.h; this
// adds what needs a count for each start offset. Nothing here depends on a drive.
#pragma once

#include <string>

#include "testbench/loads/profiles/profiles.h"
#include "testbench/loads/traces/trace_info.h"

namespace tlmssd {

struct ProfileFigures {
  TraceInfo info;
  std::uint64_t offsets = 0;      ///< distinct start offsets
  std::uint64_t cold_reads = 0;   ///< reads at offsets where no request began before
  double fifth_most_written = 0;  ///< share of writes at the 20 % most written of the written offsets
  [[nodiscard]] double mean_bytes(HostOpcode opcode) const;
  [[nodiscard]] double write_share() const;
  [[nodiscard]] double sequential_share() const;
  [[nodiscard]] double cold_read_share() const;
  [[nodiscard]] double accesses_per_offset() const;
  [[nodiscard]] double accesses_per_byte() const;
};

/// Takes all requests of `source`.
ProfileFigures measure_requests(RequestSource& source);

/// Which requests were made.
struct ProfileRun {
  double scale = 1;
  std::uint64_t requests = 0;  ///< at most; 0: the published number times scale
  std::uint64_t seed = 1;
};

/// Makes the requests of `volume` and prints targets, their marks and what was generated, as a
/// table or as JSON. Throws InputError.
std::string profile_text(const VolumeProfile& volume, const ProfileRun& run);
std::string profile_json(const VolumeProfile& volume, const ProfileRun& run);
/// All volumes, one line each, or as a JSON array.
std::string profile_list_text();
std::string profile_list_json();

}  // namespace tlmssd
