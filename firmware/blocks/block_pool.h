// The block pool: which blocks of each allocation group are free, open, closed, being emptied or retired, and which of their
// units are valid.
//
// A block here is the block of a group: one physical block, or the same block number in every plane of a die, programmed,
// erased and retired as one. Memory: 28 bytes per block and one bit per unit, touched only when a block is first used; blocks
// never used are a counter per group. Free blocks are handed out in the order they were freed, or least worn first.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/layout.h"
#include "models/common/archive.h"
#include "models/common/sparse_array.h"

namespace tlmssd::firmware {

class VictimPolicy;
class WearPolicy;

/// What data a program unit carries; decides the block that it goes to.
enum class Stream : std::uint8_t { host, gc, wear };
inline constexpr std::size_t k_streams = 3;

enum class BlockState : std::uint8_t {
  free,     ///< erased, or never used
  open,     ///< being written, or programs still under way
  closed,   ///< written; may be chosen as a victim
  victim,   ///< being emptied in order to be erased
  doomed,   ///< failed; to be emptied and retired
  retired,  ///< out of use for good
};

struct BlockInfo {
  std::uint32_t valid;      ///< units that the map points at
  std::uint32_t erases;     ///<
  std::uint32_t in_flight;  ///< program operations under way
  BlockState state;         ///<
  bool full;                ///< every program unit has been handed out
  bool failed;              ///< a program failed: to be retired
  std::uint8_t unused;      ///< here and below: keeps snapshots free of indeterminate bytes
  std::int64_t written;     ///< nanoseconds on firmware's clock when it was opened for writing
};

class BlockPool {
 public:
  struct Options {
    bool shared_streams = false;  ///< host and garbage collection write into the same block
    std::uint32_t reserve = 1;    ///< free blocks per group that the host leaves to garbage collection
    bool wear_stream = false;     ///< static wear levelling writes a block of its own
    bool owned = false;           ///< blocks are opened, closed and taken out by name; there are no victims
  };
  BlockPool(const Layout& layout, const Options& options);
  /// Who wants to know about closed blocks and erases; must be called before anything else.
  void attach(VictimPolicy& victims, WearPolicy& wear);

  // ---- handing out program units
  /// Whether `stream` may take a program unit of `group` now.
  [[nodiscard]] bool can_claim(std::uint32_t group, Stream stream) const;
  /// Takes the next program unit of the stream's open block, opening one when there is none. can_claim() must hold. The program must
  /// be submitted before the next claim in the group, and be followed by programmed().
  /// `now`: nanoseconds on firmware's clock.
  PhysicalUnit claim(std::uint32_t group, Stream stream, std::int64_t now = 0);
  /// The program of a claimed unit of `block` has ended. `failed`: the block must be retired.
  void programmed(BlockNumber block, bool failed);

  /// Ends an open block with no program under way before it is full; what is left of it is lost until it is erased. Nothing happens
  /// when the group cannot spare the block.
  void close_early(BlockNumber block);

  // ---- blocks by name (Options::owned)
  [[nodiscard]] bool by_name() const { return options_.owned; }
  /// Opens a free block of the group, which must have one.
  BlockNumber open(std::uint32_t group, bool most_worn, std::int64_t now);
  /// Takes program unit `n` of an open block, the next one. Then as after claim().
  PhysicalUnit claim_in(BlockNumber block, std::uint32_t n);
  /// Closes an open block, full or not, with no program under way. Nothing happens to one that is not open.
  void seal(BlockNumber block);
  /// A closed or failed block is going to be erased or retired.
  void take_out(BlockNumber block);
  /// Blocks of the group in which a program failed and that are not yet retired.
  [[nodiscard]] std::uint32_t failing(std::uint32_t group) const { return groups_[group].failing; }

  // ---- validity
  void validate(PhysicalUnit unit, BlockNumber block);
  void invalidate(PhysicalUnit unit);
  [[nodiscard]] bool valid(PhysicalUnit unit) const {
    const BlockNumber block = layout_.block_of(unit);
    const std::uint32_t n = unit - layout_.first_unit(block);
    return ((words(block)[n / 64] >> (n % 64)) & 1U) != 0;
  }
  /// Valid bits of `block`, 64 units to a word.
  [[nodiscard]] const std::uint64_t* words(BlockNumber block) const {
    return &bits_[std::size_t{block} * words_per_block_];
  }

  // ---- emptying blocks
  /// Chooses a victim by the policy and takes it out of the candidates; k_no_block when there is none.
  BlockNumber take_victim(std::uint32_t group);
  /// Takes a given closed block out of the candidates in order to empty it.
  void take_closed(BlockNumber block);
  /// Next failed block of the group that has to be emptied; k_no_block when there is none.
  BlockNumber take_doomed(std::uint32_t group);
  void erased(BlockNumber block);
  void retire(BlockNumber block);

  // ---- what there is
  struct Frontier {
    BlockNumber block = k_no_block;
    std::uint32_t next = 0;  ///< program units handed out
  };
  struct Group {
    Frontier frontiers[k_streams];
    std::uint32_t pristine = 0;   ///< blocks from here on were never used
    std::uint32_t free = 0;       ///< free blocks, pristine ones included
    std::uint32_t good = 0;       ///< blocks neither retired nor failed
    std::uint32_t failing = 0;    ///< blocks in which a program failed and that are not yet retired
    std::uint64_t in_flight = 0;  ///< programs under way
    std::uint64_t valid = 0;      ///< valid units, those in failed blocks included
    std::uint64_t pending = 0;    ///< slots promised to host program units that are not yet programmed
    std::uint64_t stale = 0;      ///< invalid units in closed blocks
  };
  [[nodiscard]] const Group& group(std::uint32_t n) const { return groups_[n]; }
  [[nodiscard]] const BlockInfo& info(BlockNumber block) const { return info_[block]; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t reserve() const { return options_.reserve; }
  [[nodiscard]] std::uint64_t retired() const { return retired_; }
  [[nodiscard]] bool doomed_waiting(std::uint32_t group) const { return !doomed_[group].empty(); }
  [[nodiscard]] bool used(BlockNumber block) const {
    return block % layout_.blocks < groups_[block / layout_.blocks].pristine;
  }

  // ---- balance between groups
  /// Units that the group can still take in without its collection grinding to a halt (may be negative).
  [[nodiscard]] std::int64_t room(std::uint32_t group) const;
  /// Sum over the groups of the units they can keep.
  [[nodiscard]] std::uint64_t usable() const { return usable_; }
  [[nodiscard]] bool accepts(std::uint32_t group) const;
  void promise(std::uint32_t group) { change_pending(group, layout_.program_units); }
  void unpromise(std::uint32_t group) { change_pending(group, -std::int64_t{layout_.program_units}); }

  // ---- pins: a block is not erased while a read of it is on its way
  void pin(BlockNumber block) { ++pins_[block]; }
  /// True: that was the last pin.
  bool unpin(BlockNumber block) { return --pins_[block] == 0; }
  [[nodiscard]] bool pinned(BlockNumber block) const { return pins_[block] != 0; }

  void archive(Archive& archive);
  struct Wear {
    std::uint64_t minimum = 0;
    double mean = 0;
    std::uint64_t maximum = 0;
    double deviation = 0;
  };
  /// Erase counts over all blocks, never used ones included. Looks at every block: for reports only.
  [[nodiscard]] Wear wear() const;

 private:
  struct Free {
    std::uint64_t key;  ///< sorts before later ones
    BlockNumber block;
    std::uint32_t unused = 0;
    bool operator<(const Free& other) const { return key > other.key; }  // std heaps have the largest on top
  };
  [[nodiscard]] Frontier& frontier(std::uint32_t group, Stream stream) {
    return groups_[group]
        .frontiers[stream == Stream::gc && options_.shared_streams ? 0 : static_cast<std::size_t>(stream)];
  }
  [[nodiscard]] const Frontier& frontier(std::uint32_t group, Stream stream) const {
    return const_cast<BlockPool*>(this)->frontier(group, stream);
  }
  BlockNumber take_free(std::uint32_t group, bool most_worn);
  void close(BlockNumber block);
  [[nodiscard]] std::uint64_t usable(const Group& group) const;
  void change_pending(std::uint32_t group, std::int64_t by) {
    groups_[group].pending += static_cast<std::uint64_t>(by);
    room_ -= by;
  }
  void lose_block(std::uint32_t group);
  std::uint64_t* bits_of(BlockNumber block) { return &bits_[std::size_t{block} * words_per_block_]; }

  Layout layout_;
  Options options_;
  std::uint32_t words_per_block_;
  std::uint32_t overhead_;  ///< blocks per group that cannot hold data: reserve and open blocks
  VictimPolicy* victims_ = nullptr;
  WearPolicy* wear_ = nullptr;
  bool least_worn_first_ = false;
  ZeroPages<BlockInfo> info_;
  ZeroPages<std::uint32_t> pins_;  // apart, because every read touches them and nothing else here
  ZeroPages<std::uint64_t> bits_;
  std::vector<Group> groups_;
  std::vector<std::vector<Free>> free_;  ///< heap per group: blocks that have been used
  std::vector<std::vector<BlockNumber>> doomed_;
  std::uint64_t freed_ = 0;  ///< blocks freed so far: order of the free blocks
  std::uint64_t retired_ = 0;
  std::uint64_t usable_ = 0;
  std::int64_t room_ = 0;  ///< sum of room() over the groups
};

}  // namespace tlmssd::firmware
