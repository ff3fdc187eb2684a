// The slowest commands of one load and one operation, each with its whole ledger: at most so many,
// whatever the run's length.
//
// They explain the tail exactly: as long as a percentile lies among them, its ledger comes from the
// commands that are there. Of equally slow commands the earlier are kept.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/host_command.h"
#include "models/base/ledger.h"
#include "models/base/types.h"

namespace tlmssd {

struct SlowCommand {
  Picoseconds latency = 0;
  Picoseconds submitted = 0;
  std::uint64_t lba = 0;
  Bytes bytes = 0;
  HostStatus status = HostStatus::success;
  std::uint16_t load = 0;
  std::uint16_t queue = 0;
  std::array<Picoseconds, k_causes> spent{};
  std::array<Picoseconds, k_blockers> behind{};
};

class SlowestCommands {
 public:
  static constexpr std::size_t k_most = 1000;
  /// Whether a command that takes so long is to be kept.
  [[nodiscard]] bool wants(Picoseconds latency) const {
    return commands_.size() < k_most || latency > commands_[heap_.front()].latency;
  }
  void add(const SlowCommand& command);
  void merge(const SlowestCommands& other);
  [[nodiscard]] std::size_t size() const { return commands_.size(); }
  /// Of the `place`-th slowest; 0: the slowest.
  [[nodiscard]] Picoseconds latency(std::size_t place) const;
  /// Of the fastest of them; there must be one.
  [[nodiscard]] Picoseconds least() const { return commands_[heap_.front()].latency; }
  /// From the `first`-th slowest to the `last`-th, both included, in no order; valid until the next
  /// add().
  [[nodiscard]] std::vector<const SlowCommand*> between(std::size_t first, std::size_t last) const;
  /// From the slowest down; valid until the next add().
  [[nodiscard]] std::vector<const SlowCommand*> sorted() const;

 private:
  [[nodiscard]] std::vector<const SlowCommand*> all() const;

  std::vector<SlowCommand> commands_;
  std::vector<std::uint16_t> heap_;  ///< their places, that of the least in front
};

}  // namespace tlmssd
