// Instants at which a load issues: sums that cannot overflow, and the last that can be counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/input_error.h"
#include "testbench/loads/load.h"

namespace tlmssd {

/// `when` and `by` together; k_never where that is beyond all instants.
inline Picoseconds later(Picoseconds when, Picoseconds by) {
  return by > k_never - when ? k_never : when + by;
}

/// When `load` begins, by when the phases up to its own have begun: in its own, and `start` after
/// that from which it counts.
Picoseconds begin_of(const Load& load, const std::vector<Picoseconds>& phase_begins);

/// Requests come no later, so that sums of two times stay numbers: 53 days.
constexpr Picoseconds k_last_request = (Picoseconds{1} << 62) - 1;

/// Requests of a load that are drawn at most to see what becomes of it: a tenth of a second's
/// worth.
constexpr std::uint64_t k_drawn_ahead = 1'000'000;

/// A load would issue later than k_last_request. Which entry of the scenario it comes from, the
/// caller knows.
class LoadTooLong : public InputError {
 public:
  /// `remedy`: what there is to be done, or what else has taken the time.
  LoadTooLong(const std::string& load, const std::string& key, const std::string& remedy);
  [[nodiscard]] const std::string& load() const { return load_; }

 private:
  std::string load_;
};

/// Throws LoadTooLong when `load` would issue later than k_last_request; `key`: what makes it so
/// late, where that is known.
void check_instant(const Load& load, Picoseconds when, const char* key = "");

/// Throws LoadTooLong when the drive has come so far by carrying out the commands of `load`.
void check_clock(const Load& load, Picoseconds now);

/// Throws what HostDriver::start() would throw in time about loads that go on longer than time can
/// be counted, as far as it follows from the loads alone: on a drive that takes no time. Draws
/// their requests: afterwards they cannot be run.
void look_ahead(std::vector<Load>& loads);

}  // namespace tlmssd
