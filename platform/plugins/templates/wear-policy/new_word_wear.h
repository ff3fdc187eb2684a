// new-name: the least erased free block is used first, and once in so many erases of a parallel
// unit the data of the block that was written longest ago move into a worn block.
#pragma once

#include <deque>
#include <vector>

#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/wear_policy.h"

struct NewTypeConfig {
  std::uint32_t every = 64;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<NewTypeConfig>{}.integer(
        "every", &NewTypeConfig::every, {1, 1'000'000},
        "erases of a parallel unit for each block that is moved");
    return table;
  }
};

class NewTypeWear final : public tlmssd::firmware::WearPolicy {
 public:
  using BlockNumber = tlmssd::firmware::BlockNumber;
  using BlockPool = tlmssd::firmware::BlockPool;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "least erased block first, and the oldest data move on";
  using Config = NewTypeConfig;
  NewTypeWear(const Config& config, std::uint32_t pus) : every_(config.every), pus_(pus) {}

  [[nodiscard]] bool least_worn_first() const override { return true; }
  [[nodiscard]] bool moves_data() const override { return true; }

  void closed(std::uint32_t pu, BlockNumber block, std::uint32_t erases) override {
    pus_[pu].line.push_back({block, erases});
  }
  void erased(std::uint32_t pu, BlockNumber /*block*/, std::uint32_t /*erases*/) override {
    ++pus_[pu].since;
  }
  // Asked after erases: a closed block whose data should move now, or none.
  BlockNumber due(std::uint32_t pu, const BlockPool& pool) override {
    ParallelUnit& unit = pus_[pu];
    if (unit.since < every_) return tlmssd::firmware::k_no_block;
    if (unit.line.size() > unit.tidied) {
      std::erase_if(unit.line, [&](const Entry& entry) { return !holds(entry, pool); });
      unit.tidied = static_cast<std::uint32_t>(std::max<std::size_t>(64, 2 * unit.line.size()));
    }
    while (!unit.line.empty() && !holds(unit.line.front(), pool)) unit.line.pop_front();
    if (unit.line.empty()) return tlmssd::firmware::k_no_block;
    unit.since = 0;
    return unit.line.front().block;
  }
  // What must survive a snapshot, one function for both directions.
  void archive(tlmssd::Archive& a) override {
    for (ParallelUnit& unit : pus_) {
      a(unit.line);
      a(unit.since);
      a(unit.tidied);
    }
  }

 private:
  struct Entry {
    BlockNumber block;
    std::uint32_t erases;  // of the block when it was closed
  };
  struct ParallelUnit {
    std::deque<Entry> line;
    std::uint32_t since = 0;    // erases since the last move
    std::uint32_t tidied = 64;  // length of the line at which stale entries are thrown out
  };
  // Whether the block still has the data it was closed with.
  static bool holds(const Entry& entry, const BlockPool& pool) {
    const tlmssd::firmware::BlockInfo& info = pool.info(entry.block);
    return info.state == tlmssd::firmware::BlockState::closed && info.mode == tlmssd::BlockMode::native &&
           pool.worn(entry.block) == entry.erases;
  }

  std::uint32_t every_;
  std::vector<ParallelUnit> pus_;
};
