#include "platform/memory_estimate.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <string>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

// Measured as resident memory of drives of 1 to 1024 channels, of 1 to 16384 dies, and of full
// drives of 16 to 256 GiB, filled once and in steady state, with 7 to 100 % of spare flash; rounded
// down.
constexpr Bytes k_channel = 14'000;
constexpr Bytes k_die = 18'000;
constexpr double k_mapped = 6.2;      // of a mapping page: its map entry and what the host knows of it
constexpr double k_programmed = 6.1;  // of one in flash, valid or not: its content
constexpr Bytes k_unknown = std::numeric_limits<Bytes>::max();

/// The number after `name` in /proc/meminfo, bytes.
Bytes meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  Bytes kibibytes = 0;
  while (file >> word) {
    if (word == name && file >> kibibytes) return kibibytes * 1024;
  }
  return k_unknown;
}

/// The number in a file of the container's control group; unknown when there is none, or no limit.
Bytes in_group(const char* name) {
  std::ifstream file(std::string("/sys/fs/cgroup/") + name);
  Bytes bytes = 0;
  return file >> bytes ? bytes : k_unknown;
}

double gigabytes(Bytes bytes) {
  return static_cast<double>(bytes) * 1e-9;
}

/// `nearest`: a value of `key` that fits; empty: none is known.
InputError too_large(const std::string& key, const std::string& nearest, const std::string& what) {
  Complaint complaint{{}, 0, key, what, {}, Blame::memory};
  if (!nearest.empty()) complaint.proposal = Proposal{key, nearest};
  return InputError(complaint);
}

}  // namespace

Bytes memory_of_drive(const Geometry& geometry) {
  return Bytes{geometry.channels} * (k_channel + Bytes{geometry.dies_per_channel()} * k_die);
}

Bytes memory_of_units(double mapped, double programmed) {
  return static_cast<Bytes>(mapped * k_mapped + programmed * k_programmed);
}

Bytes memory_available() {
  Bytes available = meminfo("MemAvailable:");
  if (available != k_unknown) {
    const Bytes swap = meminfo("SwapFree:");
    available += swap == k_unknown ? 0 : swap;
  }
  const Bytes most = in_group("memory.max");
  const Bytes used = in_group("memory.current");
  if (most != k_unknown && used != k_unknown) available = std::min(available, most - std::min(most, used));
  return available;
}

void check_memory(const Geometry& geometry) {
  const Bytes drive = memory_of_drive(geometry);
  const Bytes available = memory_available();
  if (drive <= available) return;
  // What fits beside the rest as it is.
  const Bytes dies_of_way = Bytes{geometry.dies_per_way} * k_die;
  const Bytes channel = available / geometry.channels;
  const Bytes ways = channel > k_channel ? (channel - k_channel) / dies_of_way : 0;
  const Bytes channels = std::max<Bytes>(available / (k_channel + geometry.ways * dies_of_way), 1);
  throw too_large(
      ways > 0 ? "ssd.flash.ways" : "ssd.flash.channels", std::to_string(ways > 0 ? ways : channels),
      fmt::format("{} channels x {} ways x {} dies take about {:.1f} GB of memory, of which {:.1f} GB are "
                  "available",
                  geometry.channels, geometry.ways, geometry.dies_per_way, gigabytes(drive),
                  gigabytes(available)));
}

void check_memory_of_units(double mapped, double programmed) {
  const Bytes needed = memory_of_units(mapped, programmed);
  const Bytes available = memory_available();
  if (needed <= available) return;
  throw too_large("precondition", "",
                  fmt::format("writing {:.0f} mapping pages takes about {:.1f} GB of memory, of which {:.1f} "
                              "GB are available; a smaller drive, larger mapping pages or a smaller fill",
                              std::max(mapped, programmed), gigabytes(needed), gigabytes(available)));
}

}  // namespace tlmssd
