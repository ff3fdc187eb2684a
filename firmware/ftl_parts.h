// The inside of the Ftl: its parts.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "firmware/buffer/buffered_map_pages.h"
#include "firmware/buffer/flusher.h"
#include "firmware/cache/cache.h"
#include "firmware/commands/commands.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/flash/error_correction.h"
#include "firmware/ftl.h"
#include "firmware/gc/worker.h"
#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

struct Ftl::Parts final : CoreEvents {
  Parts(Hardware& hardware, const DriveShape& drive, const FirmwareConfig& config);

  Task<> drain();

  // ---- events
  void unpinned(std::uint32_t pu, BlockNumber block) override { gc_engine.unpinned(pu, block); }
  void now_read_only() override;
  void work_ended() override;
  void host_idle() override { arm_idle_timer(); }
  /// Makes those that the scenario has chosen.
  void make_features(const FirmwareConfig& config);
  /// What features have gathered and is not yet on its way to flash is given up.
  void drop_gathered();
  [[nodiscard]] bool features_idle() const {
    return std::all_of(chosen.begin(), chosen.end(), [](const Chosen& c) { return c.feature->idle(); });
  }
  void arm_idle_timer();
  static void idle_timer(void* self);
  void begin_idle();
  /// Once in an idle time, when collection has ended, which makes the most of it: what programs and
  /// moves have put into the map's cache beyond its capacity is written out.
  void begin_map_eviction();
  Task<> evict_map();

  // ---- what is asked from outside
  [[nodiscard]] bool idle() const {
    return commands.active.empty() && flusher.idle() && gc_engine.idle() && (!cache || cache->idle()) &&
           features_idle() && !evicting_map;
  }
  [[nodiscard]] Bytes dram_bytes() const;
  void describe_stall(std::string& text) const;
  void archive(Archive& archive);
  void report(StatisticsSink& sink) const;
  void report_map(StatisticsSink& sink) const;

  Hardware& hw;
  DriveShape shape;
  Core core;
  std::optional<ErrorCorrection> correction;  ///< none: nothing is decoded
  Flusher flusher;
  GcWorker gc_worker;
  std::unique_ptr<LogBlocks> logs;  ///< null: the mapping scheme has no log blocks
  GcEngine& gc_engine;              ///< the one of the two that makes space
  BufferedMapPages map_pages;
  std::unique_ptr<Cache> cache;  ///< null: none
  Commands commands;
  /// A feature that the scenario has chosen.
  struct Chosen {
    const FeatureInfo* info;
    std::string policy;
    std::unique_ptr<Feature> feature;
  };
  std::vector<Chosen> chosen;  ///< in the order of the list of features
  std::string identity;        ///< keys and values that a snapshot must have, too, a line each
  std::vector<std::unique_ptr<Feature>>
      watchers;     ///< by which policies of the kernel see the host's commands
  WaitQueue quiet;  ///< drain() waits here
  Picoseconds last_activity = 0;
  bool timed = true;  ///< time passes
  bool timer_pending = false;
  bool timer_wanted = false;
  bool map_eviction_due = false;  ///< in this idle time, so far
  bool evicting_map = false;      ///< evict_map() is under way
  TaskSet tasks;
};

}  // namespace tlmssd::firmware
