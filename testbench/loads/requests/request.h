// What a load asks of a drive, and where requests come from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/base/host_command.h"
#include "models/base/types.h"

namespace tlmssd {

/// One request of a load, in bytes of the load's own address space (before it is laid onto the
/// drive).
struct Request {
  HostOpcode opcode = HostOpcode::read;
  bool force_unit_access = false;  ///< write that must reach non-volatile media before it completes
  std::uint32_t device = 0;        ///< which of the recording's volumes, counted in order of appearance
  std::uint64_t offset = 0;        ///< bytes
  std::uint64_t bytes = 0;         ///< 0 for a flush only
  Picoseconds time =
      0;  ///< since the first request of the load; 0 throughout when the source has no time stamps
  bool operator==(const Request&) const = default;
};

/// Writes of the same size, one behind the other, with placement handle 0.
struct SequentialRun {
  std::uint64_t offset = 0;    ///< of the first, bytes
  std::uint64_t bytes = 0;     ///< of each
  std::uint64_t requests = 0;  ///< 0: something else comes next
};

/// What is known of a load's writes before they are made.
struct WritePattern {
  bool random = false;   ///< all of them
  bool uniform = false;  ///< each place as likely as any other, whatever came before
  Bytes offset = 0;
  Bytes size = 0;     ///< of what they touch, from `offset` on
  Bytes largest = 0;  ///< one of them
};

/// A stream of requests. Files are read as the run proceeds; nothing holds a whole trace.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// The next request; false at the end. Bad input throws InputError.
  virtual bool next(Request& request) = 0;
  /// How many requests there will be, when that is known (for the progress bar); 0: unknown.
  [[nodiscard]] virtual std::uint64_t expected() const { return 0; }
  /// What the next requests are, when they are known to be sequential writes with no times, and
  /// that these need not be made: `requests` of them.
  [[nodiscard]] virtual SequentialRun sequential_writes() const { return {}; }
  virtual void skip(std::uint64_t requests) { static_cast<void>(requests); }
  /// Where the last request came from, as "file:line", for messages; empty when it was made up.
  [[nodiscard]] virtual std::string where() const { return {}; }
};

}  // namespace tlmssd
