// Reads issued in batches that meet on no die, and before writes (Gao et al., "Exploiting
// parallelism in I/O scheduling for access conflict minimization in flash-based solid state
// drives", MSST 2014: Parallel Issue Queuing; Luo et al. 2022: [18]).
//
// Published (abstract): requests without conflicts go into the same batch, requests with conflicts
// into different ones; those of a batch are served at the same time. It is the host's scheduler
// there, which knows where requests will go. All else here is assumed:
//
//   who         firmware, once the map has said where a read lies: a host would have to be told.
//   conflict    two commands read of the same die; what one command reads never is in its own way.
//   batch       from the oldest that waits to the youngest, each that meets none before it on a die;
//               what is left keeps its order. This is the same as to put each read, when it comes,
//               into the first batch in which nothing conflicts with it.
//   closed      a batch is issued as a whole, and the next one when all of it has ended, or while fewer
//               than `at_once` are under way; what comes meanwhile waits, also for dies that are idle.
//   writes      have no die of their own: firmware chooses it when the write buffer is written out.
//               So programs of the write buffer are what waits: while reads wait that are in no batch
//               yet, but no longer than the starvation bound, which lets one go each time.
//   fairness    the oldest is always in the next batch: with n reads before it, a read waits for n + at_once
//               batches at most.
//
// Reads of the background (collection, the map) are in no batch. Nothing can deadlock: a batch
// waits for nothing but flash, which works without anything that is held here; and reads that wait
// hold only blocks against being erased.
//
// Waits have a cause of their own in the ledger, batch_wait, whatever the batches before wait
// for: without the policy a read would wait for its own die alone. Left out: what forming batches
// takes of the cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/buffer/flusher.h"
#include "firmware/core/feature_info.h"
#include "firmware/flash/read_turn.h"

namespace tlmssd::firmware {

struct ParallelIssueConfig {
  std::uint32_t at_once = 1;
  Picoseconds starvation_bound = 20'000'000'000;
  static const ParameterTable<ParallelIssueConfig>& parameters();
};

class ParallelIssue final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.parallel_issue";
  static constexpr const char* k_doc = "in which groups reads of the host go to flash";
  static constexpr const char* k_choice_doc = "how they are grouped";
  using Config = ParallelIssueConfig;
  static std::vector<PolicyInfo> policies();
  struct Counters {
    std::uint64_t batches = 0;      ///< issued
    std::uint64_t commands = 0;     ///< that read in them
    std::uint64_t held = 0;         ///< of these, commands that had to wait
    Picoseconds waited = 0;         ///< time in which they did
    Picoseconds longest = 0;        ///< longest of these waits
    std::uint64_t writes_held = 0;  ///< times that the next program had to wait for reads
    std::uint64_t starved = 0;      ///< programs sent out because they had waited for the bound
    Picoseconds longest_write = 0;  ///< longest wait of a program
  };

  explicit ParallelIssue(const FeatureContext& context);

  bool holds_read(ReadTurn& turn) override;
  void on_read_turn_end(const ReadTurn& turn) override;
  bool holds_program(std::uint32_t slots) override;
  void on_program(const ProgramJob& job, bool kept_away) override;
  void on_power_lost() override { held_since_ = -1; }
  [[nodiscard]] bool knows_fill() const override { return true; }
  [[nodiscard]] bool idle() const override { return under_way_ == 0 && waiting_.empty(); }

  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override { archive(counters_); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void form_batches();
  void next_batch();
  std::uint32_t begin(std::uint32_t commands);
  bool claim(const ReadTurn& turn);
  [[nodiscard]] bool overdue() const;
  void write_due();
  void let_writes_go();

  Core& core_;
  Flusher& flusher_;
  std::string policy_name_;
  ParallelIssueConfig config_;
  IntrusiveQueue<ReadTurn> waiting_;  ///< in no batch, oldest first
  std::vector<std::uint32_t> left_;   ///< of each batch under way, commands that have not ended; 0: free
  std::uint32_t under_way_ = 0;       ///< batches
  bool forming_ = false;              ///< form_batches() will be called
  std::vector<bool> claimed_;         ///< by die: the batch that is formed reads of it
  Picoseconds held_since_ = -1;       ///< the next program waits; -1: none does
  bool armed_ = false;                ///< write_due() will be called
  Counters counters_;
};

}  // namespace tlmssd::firmware
