// Write pacing: when free blocks run low, the write buffer sends out what the host writes at the
// rate at which collection frees space, so that a full drive goes over into its steady state
// without standing still. The buffer fills, and commands get room in it at that same rate.
//
// Why a drive without it stands still: the host takes whole free blocks, at full speed. Collection
// gives one back only after it has moved the valid data of several victims, in all parallel units
// at about the same time; until then nothing is written.
//
// The account. Each program of collection brings its victim nearer to being erased: of a block of N
// units with v valid ones, n units moved are worth n N / v, of which n have been used up again. The
// policy says how many slots the host gets for that (pacing_policy.h); a program unit of the host
// takes its slots from the account, and waits while it is overdrawn. A victim without anything
// valid counts when it has been erased.
//
// The level. Free space is what lies in free blocks, in the open blocks of host and collection, and
// in victims as far as they have been moved, less the reserve of collection: smooth, where free
// blocks come and go as a whole. Programs are held only while collection works and free space is
// below what collection in the background begins at. The level aimed at (free_blocks) is low,
// because blocks that are kept free make collection work harder.
//
// Out of step. The level is an average, but a block comes back as a whole. So the parallel units
// are kept from wanting blocks, and collecting, all at the same time (stagger.h).
//
// Why nothing waits for ever: nothing is held while no collection is under way, and its end and
// each of its programs have the buffer pump. Should collection itself wait for the buffer (map
// pages), a program goes out after `k_patience` without progress.
//
// Left out: pacing of writes into blocks in SLC mode, and of log blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firmware/core/feature_info.h"
#include "firmware/features/pacing/pacing_policy.h"
#include "firmware/features/pacing/stagger.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

struct PacingConfig {
  double free_blocks = 0.9;
  static const ParameterTable<PacingConfig>& parameters();
};

class Pacing final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.pacing";
  static constexpr const char* k_doc = "writes of the host while free blocks are few";
  static constexpr const char* k_choice_doc = "at which rate they go to flash";
  using Config = PacingConfig;
  static std::vector<PolicyInfo> policies() {
    return with_none(pacing_family(), "writes go on at full speed until no block is free");
  }
  struct Counters {
    std::uint64_t paced = 0;     ///< programs of the write buffer sent out while free space was low
    std::uint64_t held = 0;      ///< times that the next one had to wait
    std::uint64_t released = 0;  ///< programs sent out because collection made no progress
    Picoseconds waited = 0;      ///< time during which a program had to wait
    Picoseconds longest = 0;     ///< longest of these waits
  };

  explicit Pacing(const FeatureContext& context);

  void on_program(const ProgramJob& job, bool kept_away) override;
  void on_victim(std::uint32_t pu, BlockNumber block) override;
  void on_moved(std::uint32_t pu, std::uint32_t slots) override;
  void on_erased(std::uint32_t pu) override;
  void on_collected(std::uint32_t pu) override;
  void on_power_lost() override;
  [[nodiscard]] bool knows_fill() const override;
  bool holds_program(std::uint32_t slots) override;
  bool restricts_writes() override;
  [[nodiscard]] bool allows_write(std::uint32_t pu) const override { return stagger_.allows(pu); }

  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  static constexpr Picoseconds k_patience = 50'000'000'000;
  /// What is known of collection in a parallel unit.
  struct Collection {
    double worth = 0;       ///< slots that moving one unit brings nearer to being free; failed blocks: 0
    double moved = 0;       ///< such slots of victims that are not yet erased
    std::uint64_t due = 0;  ///< slots that count when the next block is erased
  };
  [[nodiscard]] bool active() const;
  bool measure();
  void grant(double slots);
  void let_go();
  static void patience_over(void* self);

  PacingConfig config_;
  Core& core_;
  Flusher& flusher_;
  GcWorker& gc_worker_;
  std::string policy_name_;
  std::unique_ptr<PacingPolicy> policy_;
  std::vector<Collection> collections_;  ///< by parallel unit
  Stagger stagger_;
  Counters counters_;
  double full_;                  ///< from here on nothing is paced
  double most_;                  ///< slots that the account holds
  double free_ = 0;              ///< free space, in blocks of a parallel unit, on average
  double apart_ = 1;             ///< parallel units for each that collects
  double account_ = 0;           ///< slots that the host may fill
  std::uint32_t left_ = 0;       ///< events until free space is measured again
  Picoseconds held_since_ = -1;  ///< -1: nothing is held
  bool waiting_ = false;         ///< patience_over() will be called
  std::uint64_t grants_ = 0;     ///< so far
  std::uint64_t seen_ = 0;       ///< grants when patience began
};

}  // namespace tlmssd::firmware
