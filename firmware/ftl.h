// The flash translation layer: the whole of the page-mapped firmware behind two entry points,
// submit() and drain().
//
// A command becomes one coroutine that reads from top to bottom; flushing, garbage collection and
// wear levelling are coroutines of their own. The same code runs timed (every await sleeps on the
// event queue) and untimed (every await is ready at once; submit() then returns with the command
// completed). Models: page mapping with its table in DRAM or in flash, write buffer in DRAM,
// garbage collection and wear levelling per allocation parallel unit, ECC selection with retries,
// refresh, block retirement, read-only end of life. Leaves out: power that fails in the middle of a
// program, the time to rebuild the map, bad blocks from the factory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "firmware/base/config.h"
#include "firmware/base/drive_shape.h"
#include "firmware/base/ftl_statistics.h"
#include "firmware/base/hardware.h"
#include "firmware/pslc/room.h"
#include "models/base/archive.h"
#include "models/base/ecc_code.h"
#include "models/base/statistics.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

class BlockPool;
class Cache;
class Feature;
class MappingScheme;

class Ftl {
 public:
  /// Throws InputError, naming the scenario key and the nearest valid value, when shape and
  /// configuration do not go together.
  Ftl(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& config);
  ~Ftl();
  Ftl(const Ftl&) = delete;

  /// Takes a command from the mailbox. It must stay where it is until
  /// hardware.host.complete(command) is called.
  void submit(HostCommand& command);
  /// Writes everything out and waits until no command, program or collection is under way. In
  /// untimed mode it is done when start() or the first resume returns. Afterwards archive() may be
  /// called.
  Task<> drain();

  /// The power fails and comes back: what has not reached flash or SCM is gone. No command and no
  /// program may be under way (the moment lies between them); the map is taken to be rebuilt from
  /// the spare areas.
  void power_cycle();

  /// Every block has been through `cycles` more P/E cycles and `nanoseconds` have passed, which the
  /// simulation has not seen. Firmware knows both: it counts cycles, and the host tells it the
  /// time.
  void rest(std::uint32_t cycles, std::int64_t nanoseconds);
  /// Idle time, as much as firmware has use for. Drained and untimed.
  void idle_time();
  /// Every page that holds data has been read so many times.
  void disturb(std::uint32_t reads);
  /// Looks for blocks that have to be refreshed, as it does by itself from time to time while it
  /// serves the host.
  void patrol();
  /// Seconds until such a look finds the first block, if nothing is read or written meanwhile;
  /// infinity: none. What is already due does not count: the last look has dealt with it, or
  /// cannot.
  [[nodiscard]] double next_refresh();
  /// Seconds between two such looks; 0: it makes none.
  [[nodiscard]] double patrol_interval() const;
  /// Codes that reads may ask for.
  [[nodiscard]] EccCodes codes() const;
  /// Times that a page is read until it is decoded or given up, at most.
  [[nodiscard]] std::uint32_t most_attempts() const;

  /// Firmware's clock, in nanoseconds, which goes on while the drive rests.
  [[nodiscard]] std::int64_t clock() const;
  /// Nothing under way and nothing in the write buffer that still has to reach flash.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool read_only() const;

  /// DRAM that firmware uses, from address 0: the map, the write buffer, a cache if it lies in
  /// DRAM. Payload buffers may follow.
  [[nodiscard]] Bytes dram_bytes() const;
  /// The most logical blocks a drive of this shape can offer with this configuration
  /// (shape.logical_blocks is not looked at).
  [[nodiscard]] static std::uint64_t largest_logical_blocks(const DriveShape& shape,
                                                            const FirmwareConfig& config);

  /// Placement handles that a drive of this configuration has; 1: data of all streams lie together.
  [[nodiscard]] static std::uint32_t placement_handles(const FirmwareConfig& config);

  /// Appends, for the exit report of a run that cannot go on: what each outstanding command waits
  /// for, and the free blocks.
  void describe_stall(std::string& text) const;
  /// Saves or restores everything that lives across an idle moment; the drive must be drained.
  /// Restoring needs an Ftl built from the same shape and configuration, otherwise ArchiveError.
  void archive(Archive& archive);
  void report(StatisticsSink& sink) const;
  void reset_statistics();
  [[nodiscard]] const FtlStatistics& statistics() const;
  [[nodiscard]] const MappingScheme& map() const;
  /// Null when there is none.
  [[nodiscard]] const Cache* cache() const;
  /// The feature whose section has this path; null when it has not been chosen.
  [[nodiscard]] const Feature* feature(std::string_view path) const;
  [[nodiscard]] const BlockPool& blocks() const;
  /// Mapping units in the write buffer, those under way to flash included.
  [[nodiscard]] std::uint32_t buffered_units() const;
  /// How large the pSLC is now and what of it is free; nothing on a drive without one.
  [[nodiscard]] std::optional<PslcRoom> pslc_room() const;
  /// Bytes programmed (live and padding) per byte that the host wrote; 0 before the first.
  [[nodiscard]] double write_amplification() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tlmssd::firmware
