// Superblock mapping (Kang, Jo, Kim & Lee, EMSOFT 2006): N neighbouring block-mapped regions form a
// superblock, which is mapped coarsely; inside it, pages go anywhere in its blocks, in the order of
// writing.
//
// A superblock has N blocks and, while it is written to, some more (update blocks) from a pool that
// all superblocks of a parallel unit share. When it may have no more, it cleans itself: the blocks
// with the fewest valid units are copied to a new one. When the pool is empty, the superblock that
// was written to least recently is packed into N blocks again. The original keeps the page tables
// in spare areas and caches them; here they count as DRAM.
#pragma once

#include <list>
#include <unordered_map>
#include <vector>

#include "firmware/logblocks/log_scheme.h"

namespace tlmssd::firmware {

class Superblock final : public LogScheme {
 public:
  static constexpr std::string_view k_name = "superblock";
  static constexpr std::string_view k_summary =
      "neighbouring block-mapped regions mapped together, pages free inside";
  struct Config {
    std::uint32_t adjacent = 4;
    std::uint32_t log_blocks = 8;
    std::uint32_t update_blocks = 2;
    bool copyback = false;
    static const ParameterTable<Config>& parameters();
  };
  Superblock(const Config& config, const Layout& layout);

  [[nodiscard]] Bytes dram_bytes() const override;
  [[nodiscard]] bool together(const ProgramJob& job, Lpn unit) const override;
  Task<BlockNumber> place(const ProgramJob& job) override;
  void claimed(const ProgramJob& job) override;
  Task<bool> evacuate(BlockNumber block, bool to_worn) override;
  Task<bool> tidy(std::uint32_t pu) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;
  void archive(Archive& archive) override;

 private:
  struct Member {
    BlockNumber block;
    std::uint32_t written;   ///< program units
    std::vector<Lpn> slots;  ///< unit of each slot
  };
  struct Super {
    std::uint32_t number = 0;
    std::vector<Member> members;  ///< the last one is being written, unless it is full
  };
  using Supers = std::list<Super>;
  struct ParallelUnit {
    Supers tight;             ///< superblocks with at most N blocks
    Supers loose;             ///< with more, least recently written first
    std::uint32_t extra = 0;  ///< blocks beyond N of all of them
  };
  [[nodiscard]] std::uint32_t super_of(Lpn unit) const { return block_of(unit) / adjacent_; }
  /// Blocks beyond N that a superblock has.
  [[nodiscard]] std::uint32_t extra(const Super& super) const {
    const auto count = static_cast<std::uint32_t>(super.members.size());
    return count > adjacent_ ? count - adjacent_ : 0;
  }
  /// The superblock has more or fewer blocks than `before` beyond N.
  void recount(std::uint32_t pu, Super& super, std::uint32_t before);
  [[nodiscard]] bool open(const Super& super) const;
  /// Nothing more goes to the block that is being written.
  void seal(Super& super);
  /// The fewest full members, emptiest first, whose units can be written elsewhere with a gain of
  /// `gain` program units; none: there are no such.
  [[nodiscard]] std::vector<BlockNumber> victims(const Super& super, std::uint32_t gain) const;
  [[nodiscard]] std::vector<Lpn> valid_in(const Member& member) const;
  Task<bool> add_block(std::uint32_t pu, Super& super, bool to_worn = false);
  /// Copies what is valid in some members, none of which is being written, to the one that is and
  /// to new ones, and erases them.
  Task<bool> collect(std::uint32_t pu, Super& super, std::vector<BlockNumber> members, bool to_worn = false);
  Task<bool> pack(std::uint32_t pu, Super& super);
  void archive(Archive& archive, Supers& supers);

  std::uint32_t update_blocks_;
  std::vector<ParallelUnit> state_;
  std::unordered_map<std::uint32_t, Supers::iterator> find_;  ///< by number
  std::uint64_t collections_ = 0;
  std::uint64_t packings_ = 0;
};

}  // namespace tlmssd::firmware
