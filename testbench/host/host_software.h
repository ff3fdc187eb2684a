// Software of the host that may stand between the host's commands and a drive: what a Simulation
// asks of it, whatever it does.
#pragma once

#include <tlm>

#include <optional>
#include <string>

#include "models/base/archive.h"
#include "models/base/identity.h"
#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd {

class HostSoftware {
 public:
  virtual ~HostSoftware() = default;
  /// Where the host binds.
  [[nodiscard]] virtual tlm::tlm_target_socket<>& host_socket() = 0;
  /// To be bound to the drive.
  [[nodiscard]] virtual tlm::tlm_initiator_socket<>& drive_socket() = 0;
  /// Logical blocks that loads see as their drive, from LBA 0.
  [[nodiscard]] virtual std::uint64_t blocks() const = 0;
  /// Logical blocks of the network's files, behind those; 0: there are none.
  [[nodiscard]] virtual std::uint64_t file_blocks() const { return 0; }
  /// What of the drive is written as a whole, bytes.
  [[nodiscard]] virtual Bytes unit_bytes() const = 0;
  /// The scenario's key for the time that its commands take of the host.
  [[nodiscard]] virtual std::string cost_key() const = 0;
  /// That time.
  [[nodiscard]] virtual Picoseconds cost() const = 0;
  /// No command is under way, nor work that no command waits for.
  [[nodiscard]] virtual bool at_rest() const = 0;
  /// Bytes of what was written to the drive that loads have written, since measurement started;
  /// nothing: all of it is theirs.
  [[nodiscard]] virtual std::optional<Bytes> written_by_loads() const { return std::nullopt; }
  virtual void report(StatisticsSink& sink) const = 0;
  virtual void reset_statistics() = 0;
  /// Nothing may be under way.
  virtual void archive(Archive& archive) = 0;
  /// What a snapshot must have been made with.
  [[nodiscard]] virtual Identity identity() const = 0;
  /// What commands wait for, one line each.
  virtual void describe_stall(std::string& text) const = 0;
};

}  // namespace tlmssd
