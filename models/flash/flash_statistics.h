// What a channel counts: operations and bytes by command and purpose, bus time by use, waits, and
// per die busy time by cause.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/busy_cause.h"
#include "models/base/statistics.h"
#include "models/nand/flash_observer.h"

namespace tlmssd {

inline constexpr std::size_t k_flash_commands = 4;
inline constexpr std::size_t k_most_planes = 64;  // of a part

/// What forbids to suspend a program or erase for a read that waits for it.
enum class SuspendLimit : std::uint8_t { suspends, resume_time, starvation, count };
inline constexpr std::size_t k_suspend_limits = static_cast<std::size_t>(SuspendLimit::count);

struct FlashCounts {
  struct Kind {
    std::uint64_t operations = 0;
    std::uint64_t pages = 0;  ///< counted per plane; erase: blocks
    std::uint64_t bytes = 0;  ///< on the bus, with spare area
  };
  std::array<std::array<Kind, k_purposes>, k_flash_commands> kinds{};
  std::array<std::array<std::uint64_t, k_most_planes>, k_flash_commands>
      by_planes{};                                 ///< operations by the planes that worked together, less 1
  std::array<Picoseconds, k_bus_uses> bus_time{};  ///< bus phases as a whole
  Picoseconds data_time = 0;                       ///< the part of it in which bytes moved
  Picoseconds memory_time = 0;                     ///< the part of it in which memory had yet to bring them
  std::array<Picoseconds, k_flash_commands>
      wait_time{};  ///< from arrival until the command starts on the bus
  std::uint64_t suspends = 0;
  std::array<std::uint64_t, k_suspend_limits> not_suspended{};  ///< by what forbids it, each once per step

  void add(const FlashCounts& other);
  [[nodiscard]] Picoseconds bus_busy() const;
  /// `span`: picoseconds measured, of all the buses that these counts are the sum of: more than
  /// Picoseconds can count. `planes`: tells operations by number of planes apart. `suspending`:
  /// tells what was not suspended.
  void report(StatisticsSink& sink, double span, bool planes, bool suspending) const;

 private:
  void report_planes(StatisticsSink& sink, std::size_t command) const;
  void report_not_suspended(StatisticsSink& sink) const;
};

/// Picoseconds by cause in which a die was busy, or the sum of several.
using BusyTimes = std::array<double, k_busy_causes>;

/// "read", "gc", ...
std::string_view name_of_busy(std::size_t cause);

/// Busy times by cause, as groups of a report; `span`: picoseconds measured, of all the dies.
void report_busy(StatisticsSink& sink, const BusyTimes& busy, double span);

}  // namespace tlmssd
