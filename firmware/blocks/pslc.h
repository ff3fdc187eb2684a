// The pSLC of a drive with native blocks behind it: how large it may be now, what room there is in
// it, and which data go there.
//
// In every parallel unit a few blocks are always in SLC mode (static, here `statics`), and others
// are lent by the native ones (dynamic). How many may be dynamic follows the share of the
// logical capacity that holds valid data: all up to `full_until`, none from `gone_at` on, in a
// straight line between them, and never more than `of_free_space` of the blocks that the valid data
// would leave empty if they were in native mode. Static blocks are no part of the capacity; dynamic
// ones are, because they come back when they are needed.
//
// How large `of_free_space` can be: with N native blocks beside what is set aside, of B units each,
// V valid units and d dynamic blocks full of s valid units each, native blocks hold V - d s units,
// so that d <= N - (V - d s) / B, which is d <= B / (B - s) (N - V / B). A larger share would
// count on blocks that are not there: the pSLC would never seem full, and folding begin too late.
// Nothing deadlocks at any share, because a block only becomes dynamic while more than the reserve
// of collection is free (leave_free()), and folding one needs less than it gives back.
//
// This class only judges. The BlockPool keeps the blocks; the GC worker erases them into the mode
// that is asked for and folds, that is, moves what is valid in a block in SLC mode into native
// ones; the flusher asks where its next program goes. Sources: Luo et al., Journal of Integration
// Technology 11(3), 2022 (static and dynamic pSLC, data path, folding in idle time and when room
// runs out). Left out: moves from SLC to SLC mode, limits to how often a block changes its mode, a
// pSLC of two bits per cell.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firmware/base/config.h"
#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/slc_victims.h"
#include "firmware/pslc/data_path.h"
#include "models/base/pslc_room.h"

namespace tlmssd::firmware {

class MappingScheme;
struct FtlStatistics;

/// Blocks per parallel unit.
struct PslcSize {
  std::uint32_t statics = 0;
  std::uint32_t dynamic = 0;  ///< at most
};
/// None without a pSLC. Throws InputError when the part has no SLC mode or there are none of
/// either.
PslcSize pslc_size(const PslcConfig& config, const Layout& layout);

class Pslc final : public PathView {
 public:
  /// Throws InputError when the configuration does not go together with `map`, the program unit or
  /// error correction.
  Pslc(const FirmwareConfig& config, const Layout& layout, BlockPool& pool, const MappingScheme& map);

  // ---- size
  /// Throws InputError when the blocks do not suffice for `kept_units` in native mode, of those of
  /// a parallel unit `overhead` being set aside.
  void check_size(std::uint64_t kept_units, std::uint32_t overhead) const;
  [[nodiscard]] const PslcSize& size() const { return size_; }
  /// Blocks of the parallel unit that may be dynamic now.
  [[nodiscard]] std::uint32_t dynamic_limit(std::uint32_t pu) const;
  /// Blocks of the parallel unit that may be in SLC mode now.
  [[nodiscard]] std::uint32_t blocks(std::uint32_t pu) const {
    return pool_.slc(pu).statics_good + dynamic_limit(pu);
  }
  /// Share of these that hold no data, or are about to (`coming`); negative when more are used than
  /// may be.
  [[nodiscard]] double free_share(std::uint32_t pu, std::uint32_t coming) const;
  /// More are dynamic than may be.
  [[nodiscard]] bool too_many(std::uint32_t pu) const {
    return pool_.slc(pu).dynamic().used > dynamic_limit(pu);
  }
  /// A block becomes dynamic only while more than so many are free in native mode.
  void leave_free(std::uint32_t blocks) { leave_free_ = blocks; }
  [[nodiscard]] std::uint32_t leaves_free() const { return leave_free_; }
  /// Some dynamic blocks are ready that may not be used.
  [[nodiscard]] bool surplus(std::uint32_t pu) const {
    const BlockPool::Kind& dynamic = pool_.slc(pu).dynamic();
    return dynamic.ready > 0 && dynamic.used + dynamic.ready > dynamic_limit(pu);
  }

  // ---- room
  /// A multi-plane page of SLC mode can be taken now.
  [[nodiscard]] bool claimable(std::uint32_t pu) const;
  /// A block can be erased into SLC mode now: a static one that never was, or a free one to be
  /// dynamic.
  [[nodiscard]] bool preparable(std::uint32_t pu) const {
    return pool_.slc(pu).raw > 0 || (wants_dynamic(pu) && pool_.pu(pu).free > leave_free_);
  }
  /// One more may be dynamic.
  [[nodiscard]] bool wants_dynamic(std::uint32_t pu) const {
    const BlockPool::Kind& dynamic = pool_.slc(pu).dynamic();
    return dynamic.used + dynamic.ready < dynamic_limit(pu);
  }
  /// Whether there is a multi-plane page that is not promised, ready or soon to be had without
  /// folding.
  [[nodiscard]] bool has_space(std::uint32_t pu) const;
  void promise(std::uint32_t pu) { ++promised_[pu]; }
  void unpromise(std::uint32_t pu) { --promised_[pu]; }

  // ---- what goes where
  [[nodiscard]] DataPath& path() { return *path_; }
  /// Without room in SLC mode, writes wait for folding instead of going to native blocks.
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] bool folds_on_die() const { return folds_on_die_; }
  [[nodiscard]] SlcVictims& victims() { return victims_; }
  [[nodiscard]] const PslcConfig& config() const { return config_; }

  [[nodiscard]] std::uint64_t valid_units() const override { return pool_.valid_units(); }
  [[nodiscard]] double free_share() const override;
  [[nodiscard]] PslcRoom room() const;

  // ---- the cliff
  /// Of the measured time, that is, since statistics were reset.
  struct Moment {
    bool met = false;
    std::uint64_t host_blocks = 0;  ///< logical blocks that the host had written until then
    Picoseconds after = 0;          ///< 0: untimed
  };
  /// Where writes slow down.
  struct Cliff {
    /// Data of a block in SLC mode are moved while the host is not idle.
    Moment folding;
    /// Data that are to land in SLC mode find no room in any parallel unit: they wait for folding,
    /// or go to native blocks.
    Moment full;
  };
  [[nodiscard]] const Cliff& cliff() const { return cliff_; }
  void folds(std::uint64_t host_blocks, Picoseconds now) { note(cliff_.folding, host_blocks, now); }
  /// Notes that it is full, if it is.
  void no_room(std::uint64_t host_blocks, Picoseconds now);
  void reset_statistics(Picoseconds now) {
    cliff_ = {};
    since_ = now;
  }

  void report(StatisticsSink& sink, const FtlStatistics& statistics) const;
  void archive(Archive& archive);

 private:
  void note(Moment& moment, std::uint64_t host_blocks, Picoseconds now) const {
    if (!moment.met) moment = {true, host_blocks, now - since_};
  }
  PslcConfig config_;
  const Layout& layout_;
  BlockPool& pool_;
  PslcSize size_;
  SlcVictims victims_;
  bool waits_;
  bool folds_on_die_;
  std::uint32_t leave_free_ = 0;
  std::vector<std::uint32_t> promised_;  ///< multi-plane pages of each parallel unit
  std::unique_ptr<DataPath> path_;
  Cliff cliff_;
  Picoseconds since_ = 0;
};

}  // namespace tlmssd::firmware
