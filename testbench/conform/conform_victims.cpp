#include "testbench/conform/conform_victims.h"

#include <fmt/format.h>
#include <map>

#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/conform/call_cost.h"

namespace tlmssd {

namespace {

using firmware::BlockNumber;
using firmware::k_no_block;
using firmware::VictimContext;
using firmware::VictimPolicy;

constexpr std::uint32_t k_pus = 3;
constexpr std::uint32_t k_blocks = 200;
constexpr std::uint32_t k_units = 64;
constexpr int k_victim_steps = 20'000;

[[noreturn]] void refuse_choice(std::uint32_t pu, BlockNumber block) {
  throw std::runtime_error(
      fmt::format("chooses block {} of parallel unit {}, which may not be chosen", std::uint64_t{block}, pu));
}

/// A policy under a random load, and what it must know of the blocks.
class Drive {
 public:
  Drive(const MakeVictims& make, std::uint64_t seed, std::uint64_t choices_seed)
      : random_(seed, "conformance of victims"),
        policy_(make(VictimContext{k_pus, k_blocks, k_units, choices_seed})) {
    for (std::uint32_t pu = 0; pu < k_pus; ++pu)
      for (std::uint32_t i = 0; i < k_blocks; ++i) free_[pu].push_back(BlockNumber{pu * k_blocks + i});
  }

  /// One call at random; what it chose, if it was a choice. Throws std::runtime_error when the
  /// choice is wrong.
  BlockNumber step() {
    const auto pu = static_cast<std::uint32_t>(random_.below(k_pus));
    const std::uint64_t kind = random_.below(100);
    auto& blocks = closed_[pu];
    if (kind < 12 && !free_[pu].empty()) {
      const BlockNumber block = free_[pu].back();
      free_[pu].pop_back();
      const auto valid = static_cast<std::uint32_t>(1 + random_.below(k_units));
      blocks[block] = valid;
      policy_->insert(pu, block, valid);
    } else if (kind < 88 && !blocks.empty()) {
      auto at = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random_.below(blocks.size())));
      if (at->second > 0) policy_->invalidated(pu, at->first, --at->second);
    } else if (kind < 91 && !blocks.empty()) {
      const auto at = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random_.below(blocks.size())));
      policy_->remove(pu, at->first, at->second);
      free_[pu].push_back(at->first);
      blocks.erase(at);
    } else if (kind >= 91) {
      return choose(pu);
    }
    return k_no_block;
  }

  /// Empties all of them: with nothing valid each block is worth choosing.
  void drain() {
    for (std::uint32_t pu = 0; pu < k_pus; ++pu) {
      for (auto& [block, valid] : closed_[pu])
        while (valid > 0) policy_->invalidated(pu, block, --valid);
      while (!closed_[pu].empty()) {
        const std::size_t left = closed_[pu].size();
        if (choose(pu) == k_no_block)
          throw std::runtime_error(fmt::format("chooses none of {} blocks without valid data", left));
      }
      if (choose(pu) != k_no_block) throw std::runtime_error("chooses a block when there is none");
    }
  }

  VictimPolicy& policy() { return *policy_; }
  void replace(std::unique_ptr<VictimPolicy> policy) { policy_ = std::move(policy); }

 private:
  BlockNumber choose(std::uint32_t pu) {
    const BlockNumber block = policy_->select(pu);
    if (block == k_no_block) return block;
    const auto found = closed_[pu].find(block);
    if (found == closed_[pu].end()) refuse_choice(pu, block);
    closed_[pu].erase(found);
    free_[pu].push_back(block);
    return block;
  }

  RandomStream random_;
  std::unique_ptr<VictimPolicy> policy_;
  std::map<BlockNumber, std::uint32_t> closed_[k_pus];  // with their valid units
  std::vector<BlockNumber> free_[k_pus];
};

std::string legal(const MakeVictims& make, std::uint64_t seed) {
  Drive drive(make, seed, 1);
  for (int i = 0; i < k_victim_steps; ++i) static_cast<void>(drive.step());
  return {};
}

std::string all_chosen(const MakeVictims& make, std::uint64_t seed) {
  Drive drive(make, seed, 1);
  for (int i = 0; i < k_victim_steps / 10; ++i) static_cast<void>(drive.step());
  drive.drain();
  return {};
}

std::string repeatable(const MakeVictims& make, std::uint64_t seed) {
  Drive first(make, seed, 1);
  Drive second(make, seed, 1);
  for (int i = 0; i < k_victim_steps; ++i)
    if (first.step() != second.step())
      return fmt::format("other choices from the same seed, after {} calls", i + 1);
  return {};
}

std::string across_snapshot(const MakeVictims& make, std::uint64_t seed) {
  Drive straight(make, seed, 1);
  Drive restored(make, seed, 1);
  for (int i = 0; i < k_victim_steps; ++i) {
    if (i % (k_victim_steps / 4) == k_victim_steps / 8) {
      MemoryArchive archive;
      restored.policy().archive(archive);
      archive.rewind();
      auto other = make(VictimContext{k_pus, k_blocks, k_units, 1});
      other->archive(archive);
      if (!archive.at_end()) return "archive() restores less than it saves";
      restored.replace(std::move(other));
    }
    if (straight.step() != restored.step())
      return fmt::format("other choices after a snapshot, at call {}", i + 1);
  }
  return {};
}

double nanoseconds_of(const MakeVictims& make, std::uint32_t blocks) {
  auto policy = make(VictimContext{1, blocks, k_units, 1});
  RandomStream random(1, "conformance of victims, cost");
  for (std::uint32_t i = 0; i < blocks; ++i) policy->insert(0, BlockNumber{i}, 1 + i % (k_units - 1));
  constexpr std::size_t k_rounds = 2000;
  return nanoseconds_of_call(k_rounds, [&](std::size_t) -> std::uint64_t {
    const BlockNumber block = policy->select(0);
    if (block == k_no_block) return 0;
    if (block >= blocks) refuse_choice(0, block);
    policy->insert(0, block, static_cast<std::uint32_t>(1 + random.below(k_units - 1)));
    return 1;
  });
}

}  // namespace

Conformance conform_victims(const MakeVictims& make, std::uint64_t seed) {
  Conformance found;
  found.check("chooses only blocks that may be chosen", [&] { return legal(make, seed); });
  found.check("in the end chooses every block, then none", [&] { return all_chosen(make, seed); });
  found.check("the same seed makes the same choices", [&] { return repeatable(make, seed); });
  found.check("a snapshot in the middle changes no choice", [&] { return across_snapshot(make, seed); });
  double large = 0;
  found.check("a choice among 20000 blocks takes at most 20 us", [&]() -> std::string {
    large = nanoseconds_of(make, 20'000);
    return large <= 20'000 ? "" : fmt::format("{:.0f} ns: it seems to look at all blocks", large);
  });
  found.note(fmt::format("{:.0f} ns", large));
  return found;
}

}  // namespace tlmssd
