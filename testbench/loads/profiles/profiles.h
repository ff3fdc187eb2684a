// The seven MSR Cambridge volumes that can be made up from published statistics, and the constants
// of the model that does so.
//
// Every figure carries a mark that says where it comes from (Mark). A week of block requests of
// each volume was recorded by Narayanan, Donnelly and Rowstron (Write Off-Loading, FAST 2008); the
// originals are at SNIA and are not part of this project. What the figures do not fix is chosen
// once for all volumes (ProfileModel). Left out: arrival times, holes between the places that a
// volume uses, requests that do not start and end on 4 KiB, change of popularity over the week.
// Units: KB, MB, GB are powers of 1000, KiB and so on of 1024, as written in the sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// Where a figure comes from.
enum class Mark : char {
  none = '-',       ///< there is no such figure
  published = 'V',  ///< read in a public source
  memory = 'M',     ///< remembered from a paper, not checked again
  derived = 'D',    ///< worked out from published figures
  assumed = 'A',    ///< chosen; the reason is where it stands
};

struct Figure {
  double value = 0;
  Mark mark = Mark::none;
  [[nodiscard]] bool known() const { return mark != Mark::none; }
};

/// What is known of one volume.
struct VolumeProfile {
  std::string_view name;
  std::string_view label;  ///< what it stored (M), and what papers that use it call it
  Figure requests;
  Figure write_share;      ///< of requests
  Figure mean_bytes;       ///< of a request
  Figure mean_read_bytes;  ///< the same as mean_bytes (A) when nothing is published of reads alone
  Figure mean_write_bytes;
  Figure offsets;              ///< distinct start offsets of requests
  Figure footprint_bytes;      ///< distinct bytes read or written
  Figure accesses_per_offset;  ///< requests / offsets
  Figure accesses_per_byte;    ///< bytes read and written / footprint_bytes
  Figure cold_reads;           ///< share of reads that are the first request at their start offset
  std::string_view note;       ///< what contradicts what, and what was done about it; empty: nothing does
};

const std::vector<VolumeProfile>& volume_profiles();
std::vector<std::string> volume_names();
/// Throws InputError "profile: 'x' is not known, expected ...".
const VolumeProfile& find_volume(std::string_view name);

/// What the published figures leave open: the same for every volume. All of it A.
struct ProfileModel {
  /// Zipf's exponent over the extents that an operation uses. A fifth of the extents then gets four
  /// fifths of the requests, because 0.2^(1 - skew) = 0.8: the rule of thumb, in want of a
  /// published distribution.
  static constexpr double k_skew = 0.86;
  /// Share of requests that start where the one before has ended and do the same. Excerpts of hm_0
  /// (7,016 requests) and proj_0 (1,000) have 4.5 and 4.6 %. The sizes of prxy_0 leave room for 9
  /// %: its extents are of 14 KB, its requests of 5.2 KiB.
  static constexpr double k_sequential = 0.05;
  /// Extents that a run goes on for after its first, on average.
  static constexpr double k_run_extents = 4;
  /// Neighbouring extents that share a popularity and the operations that touch them.
  static constexpr std::uint32_t k_cluster = 16;
  /// Share of extents that are both read and written; the rest is touched by one operation only.
  static constexpr double k_shared = 0.2;
  /// Sizes and places are multiples of this; it is also the size of a small request.
  static constexpr Bytes k_page = 4096;
  /// Lengths of extents: 4 to 64 KiB in powers of two, the commonest sizes in these excerpts, and
  /// enough for the largest published mean of 59.2 KiB.
  static constexpr std::uint32_t k_extent_pages[] = {1, 2, 4, 8, 16};
};

/// A volume at a scale: what the generator aims at.
struct ProfilePlan {
  std::uint64_t requests = 0;
  std::uint32_t extents = 0;  ///< start offsets
  Bytes footprint = 0;        ///< roughly: extents are whole pages
  double write_share = 0;
  double mean_bytes[2] = {};  ///< of reads and of writes
  double first_reads = 0;     ///< share of extents whose first request is a read
  double read_only = 0;       ///< share of extents that only reads touch
  double write_only = 0;
};

/// `scale` (above 0, at most 1) multiplies requests, offsets and footprint; all ratios stay. Throws
/// InputError when it is not, or leaves nothing.
ProfilePlan plan_profile(const VolumeProfile& volume, double scale);

/// "requests V, writes V, mean size D, offsets V, footprint V".
std::string marks_text(const VolumeProfile& volume);

}  // namespace tlmssd
