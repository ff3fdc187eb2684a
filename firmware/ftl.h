// The flash translation layer: the whole of the page-mapped firmware behind two entry points,
// submit() and drain().
//
// A command becomes one coroutine that reads from top to bottom; flushing, garbage collection and
// wear levelling are coroutines of their own. The same code runs timed (every await sleeps on the
// event queue) and untimed (every await is ready at once; submit() then returns with the command
// completed). Models: page mapping with its table in DRAM or in flash, write buffer in DRAM,
// garbage collection and wear levelling per allocation parallel unit, ECC selection with retries,
// features (firmware/features.cpp), block retirement, read-only end of life. Leaves out: power that
// fails in the middle of a program, the time to rebuild the map, bad blocks from the factory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "firmware/base/config.h"
#include "firmware/base/drive_shape.h"
#include "firmware/base/firmware.h"
#include "firmware/base/ftl_statistics.h"
#include "firmware/base/hardware.h"
#include "models/base/archive.h"
#include "models/base/ecc_code.h"
#include "models/base/identity.h"
#include "models/base/pslc_room.h"
#include "models/base/statistics.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

class BlockPool;
class Cache;
class Feature;
class MappingScheme;

class Ftl final : public Firmware {
 public:
  /// Throws InputError, naming the scenario key and the nearest valid value, when shape and
  /// configuration do not go together.
  Ftl(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& config);
  ~Ftl() override;

  void submit(HostCommand& command) override;
  Task<> drain() override;
  /// The moment lies between commands and programs; the map is taken to be rebuilt from the spare
  /// areas.
  bool power_cycle() override;
  void rest(std::uint32_t cycles, std::int64_t nanoseconds) override;
  void set_timed(bool timed) override;
  void put_off_background(bool put_off) override;
  void idle_time() override;
  [[nodiscard]] std::string steady_only_by_writing() const override;
  [[nodiscard]] std::uint32_t steady_cycles(std::uint64_t seed) const override;
  std::string make_steady(const SteadyOrder& order) override;
  std::uint64_t fill(const FillOrder& order) override;
  /// Whether fill() carries out requests of `order`, if they are enough of them.
  [[nodiscard]] bool knows_fill(const FillOrder& order) const;
  void disturb(std::uint32_t reads) override;
  void patrol() override;
  [[nodiscard]] double next_due() override;
  [[nodiscard]] double patrol_interval() const override;
  [[nodiscard]] EccCodes codes() const override;
  [[nodiscard]] std::uint32_t most_attempts() const override;

  /// Firmware's clock, in nanoseconds, which goes on while the drive rests.
  [[nodiscard]] std::int64_t clock() const;
  /// Nothing under way and nothing in the write buffer that still has to reach flash.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool read_only() const override;
  [[nodiscard]] std::string why_read_only() const override;

  [[nodiscard]] Bytes dram_bytes() const override;
  [[nodiscard]] Bytes host_memory_bytes() const override;
  /// The most logical blocks a drive of this shape can offer with this configuration
  /// (shape.logical_blocks is not looked at).
  [[nodiscard]] static std::uint64_t largest_logical_blocks(const DriveShape& shape,
                                                            const FirmwareConfig& config);

  /// What must be the same in the drive that restores a snapshot (ftl_identity.cpp).
  [[nodiscard]] static Identity identity(const FirmwareConfig& config);
  /// Placement handles that a drive of this configuration has; 1: data of all streams lie together.
  [[nodiscard]] static std::uint32_t placement_handles(const FirmwareConfig& config);

  /// And the free blocks.
  void describe_stall(std::string& text) const override;
  [[nodiscard]] bool archives() const override { return true; }
  void archive(Archive& archive) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  [[nodiscard]] const FtlStatistics& statistics() const;
  [[nodiscard]] const MappingScheme& map() const;
  /// First unit at or after `unit` that may be mapped; `end` when there is none before it.
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const;
  /// Null when there is none.
  [[nodiscard]] const Cache* cache() const;
  /// The feature whose section has this path; null when it has not been chosen.
  [[nodiscard]] const Feature* feature(std::string_view path) const;
  [[nodiscard]] const BlockPool& blocks() const;
  /// Background collection is asked for (gc.background_start), and has not the spare blocks for it.
  [[nodiscard]] bool background_without_room() const;
  /// Mapping pages in the write buffer, those under way to flash included.
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
