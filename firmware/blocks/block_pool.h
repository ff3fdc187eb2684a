// The block pool: which blocks of each parallel unit are free, open, closed, being emptied or
// retired, and which of their units are valid.
//
// A block here is the block of a parallel unit: one physical block, or the same block number in
// every plane of a die, programmed, erased and retired as one. Memory: 36 bytes per block and one
// bit per unit, touched only when a block is first used; blocks never used are a counter per
// parallel unit. Free blocks are handed out in the order they were freed, or least worn first.
//
// With Options::modes a block may be in SLC mode, where it holds fewer units. The first `statics`
// blocks of a parallel unit are only ever used so; any other can be dynamic: it is taken from the
// free ones and erased into SLC mode, and comes back by an erase into native mode. What a parallel
// unit can keep (usable(), room()) is what its native blocks could hold if nothing were dynamic;
// where the data lie at the moment makes no difference.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/base/layout.h"
#include "firmware/base/write_target.h"
#include "firmware/blocks/free_block_choice.h"
#include "models/base/archive.h"
#include "models/base/prefetch.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class SlcVictims;
class VictimPolicy;
class WearPolicy;

enum class BlockState : std::uint8_t {
  free,       ///< erased, or never used
  open,       ///< being written, or programs still under way
  closed,     ///< written; may be chosen as a victim
  victim,     ///< being emptied in order to be erased
  grown_bad,  ///< failed; to be emptied and retired
  retired,    ///< out of use for good
};

struct BlockInfo {
  std::uint32_t valid;      ///< units that the map points at
  std::uint32_t erases;     ///< in either mode
  std::uint32_t in_flight;  ///< program operations under way
  BlockState state;
  bool full;               ///< every program unit has been handed out
  bool failed;             ///< a program failed: to be retired
  BlockMode mode;          ///< that it was last erased into; never used: native
  std::int64_t written;    ///< nanoseconds on firmware's clock when it was opened for writing
  std::uint64_t programs;  ///< program units handed out since its last erase
};

class BlockPool {
 public:
  struct Options {
    bool shared_open = false;   ///< host and garbage collection write into the same block
    std::uint32_t reserve = 1;  ///< free blocks per parallel unit that the host leaves to garbage collection
    bool wear_stream = false;   ///< static wear levelling writes a block of its own
    bool move_stream = false;   ///< so does what features have moved, into blocks chosen for it
    std::uint32_t handles = 1;  ///< kinds of host data that have open blocks of their own
    bool apart = false;         ///< what is moved of a handle's data stays among them
    bool owned = false;         ///< blocks are opened, closed and taken out by name; there are no victims
    bool modes = false;         ///< blocks may be in SLC mode
    std::uint32_t statics =
        0;                ///< blocks per parallel unit that are only ever used in SLC mode: the first ones
    double slc_wear = 1;  ///< cycles in native mode that one in SLC mode counts for
    std::string victims = {};  ///< name of the victim policy, for messages
    std::string wear = {};     ///< and of the wear-levelling policy
    /// Blocks per parallel unit that cannot hold data: the reserve, the open block of collection,
    /// with wear levelling and moves of features their own, with two modes the open block of the
    /// one while a program waits for the other, and those of other handles, of which handle 0 can
    /// use nothing. Data that stay apart need one more for what is moved of each, and one for the
    /// padding of program units that are gathered for all of them (WorkerState::gains).
    [[nodiscard]] std::uint32_t overhead(const Layout& layout) const {
      std::uint32_t blocks =
          reserve + 1 + (wear_stream ? 1 : 0) + (move_stream ? 1 : 0) + (modes ? 1 : 0) + handles - 1;
      if (apart)
        blocks +=
            handles - 1 + (handles * layout.program_units + layout.block_units - 1) / layout.block_units;
      return blocks;
    }
  };
  BlockPool(const Layout& layout, const Options& options);
  /// Who wants to know about closed blocks and erases; must be called before anything else. `slc`:
  /// of blocks in SLC mode.
  void attach(VictimPolicy& victims, WearPolicy& wear, SlcVictims* slc = nullptr);
  /// Who chooses the blocks of WriteTarget::move.
  void attach(FreeBlockChoice& choice) { for_moves_ = &choice; }
  /// What features have moved goes to blocks of its own.
  [[nodiscard]] bool moves_apart() const { return options_.move_stream; }
  /// Blocks that are open in a parallel unit for what the host writes and for what is collected.
  [[nodiscard]] std::uint32_t streams() const { return options_.shared_open ? 1 : 2; }

  // ---- handing out program units
  /// Whether `target` may take a program unit of `pu` now.
  [[nodiscard]] bool can_claim(std::uint32_t pu, WriteTarget target) const;
  /// Takes the next program unit of the target's open block, opening one when there is none.
  /// can_claim() must hold. The program must be submitted before the next claim in the parallel
  /// unit, and be followed by programmed(). `now`: nanoseconds on firmware's clock.
  Ppn claim(std::uint32_t pu, WriteTarget target, std::int64_t now = 0);
  /// Whether data may be moved out of a static block, which gives nothing back that collection
  /// could use: it then has its reserve.
  [[nodiscard]] bool can_fold(std::uint32_t pu, WriteTarget target = WriteTarget::gc) const {
    return frontier(pu, target).block != k_no_block ? pus_[pu].free >= options_.reserve
                                                    : pus_[pu].free > options_.reserve;
  }
  /// The program of a claimed unit of `block` has ended. `failed`: the block must be retired.
  void programmed(BlockNumber block, bool failed);

  /// A never used block of the parallel unit, in which no block is open for what the host writes,
  /// is written by the host from end to end, all of it valid.
  BlockNumber fill(std::uint32_t pu, std::int64_t now);
  /// Whether blocks can be written so: they are all alike, and none was ever used.
  [[nodiscard]] bool fresh() const;

  /// Ends an open block with no program under way before it is full; what is left of it is lost
  /// until it is erased. Nothing happens when the parallel unit cannot spare the block.
  void close_early(BlockNumber block);

  /// The block counts as erased so many times.
  void wear_in(BlockNumber block, std::uint32_t erases) { info_[block].erases = erases; }

  // ---- SLC mode (Options::modes)
  struct Kind {
    std::uint32_t ready = 0;   ///< blocks that are free and erased into SLC mode
    std::uint32_t used = 0;    ///< other blocks in SLC mode
    std::uint32_t closed = 0;  ///< of these, that may be chosen as a victim
  };
  struct SlcOfPu {
    Kind kinds[2];                   ///< dynamic, static
    std::uint32_t raw = 0;           ///< static blocks never erased into SLC mode
    std::uint32_t statics_good = 0;  ///< static blocks neither retired nor failed
    BlockNumber open = k_no_block;
    std::uint32_t next = 0;     ///< multi-plane pages of it handed out
    std::uint64_t invalid = 0;  ///< units that emptying the closed dynamic blocks would give to native mode
    [[nodiscard]] const Kind& dynamic() const { return kinds[0]; }
    [[nodiscard]] const Kind& statics() const { return kinds[1]; }
    [[nodiscard]] std::uint32_t used() const { return kinds[0].used + kinds[1].used; }
    [[nodiscard]] std::uint32_t ready() const { return kinds[0].ready + kinds[1].ready; }
    [[nodiscard]] std::uint32_t closed() const { return kinds[0].closed + kinds[1].closed; }
  };
  [[nodiscard]] const SlcOfPu& slc(std::uint32_t pu) const { return slc_[pu]; }
  [[nodiscard]] bool is_static(BlockNumber block) const {
    return options_.statics > 0 && block % layout_.blocks < options_.statics;
  }
  /// Units that native mode gains when the block is emptied and erased.
  [[nodiscard]] std::uint32_t gain(BlockNumber block) const {
    return is_static(block) ? 0 : layout_.block_units - info_[block].valid;
  }
  [[nodiscard]] BlockMode mode(BlockNumber block) const { return info_[block].mode; }
  /// Takes the next multi-plane page of the parallel unit's open block in SLC mode, or of a ready
  /// one: a static one, if there is one. Then as after claim().
  Ppn claim_slc(std::uint32_t pu, std::int64_t now);
  /// Takes out a static block that was never erased into SLC mode, or else a free one to be
  /// dynamic; it is to be erased into SLC mode.
  BlockNumber take_to_prepare(std::uint32_t pu);
  /// Takes out a dynamic block that is ready; it is to be erased into native mode.
  BlockNumber take_to_return(std::uint32_t pu);
  /// The next block in SLC mode to be emptied; `dynamic`: of these only. k_no_block when there is
  /// none.
  BlockNumber take_slc_victim(std::uint32_t pu, bool dynamic);
  /// What the block's past cycles are worth in native ones.
  [[nodiscard]] std::uint32_t worn(BlockNumber block) const {
    const std::uint32_t erases = info_[block].erases;
    if (!options_.modes) return erases;
    const std::uint32_t slc = slc_erases_[block];
    return erases - slc + static_cast<std::uint32_t>(slc * options_.slc_wear);
  }

  // ---- blocks by name (Options::owned)
  [[nodiscard]] bool by_name() const { return options_.owned; }
  /// Opens a free block of the parallel unit, which must have one.
  BlockNumber open(std::uint32_t pu, bool most_worn, std::int64_t now);
  /// Takes program unit `n` of an open block, the next one. Then as after claim().
  Ppn claim_in(BlockNumber block, std::uint32_t n);
  /// Closes an open block, full or not, with no program under way. Nothing happens to one that is
  /// not open.
  void seal(BlockNumber block);
  /// A closed or failed block is going to be erased or retired.
  void take_out(BlockNumber block);
  /// Blocks of the parallel unit in which a program failed and that are not yet retired.
  [[nodiscard]] std::uint32_t failing(std::uint32_t pu) const { return pus_[pu].failing; }

  /// Units of the block that have been handed out since its last erase, from the first one on.
  [[nodiscard]] std::uint32_t written_units(BlockNumber block) const {
    const BlockInfo& info = info_[block];
    return static_cast<std::uint32_t>(info.programs * layout_.units_of_program(info.mode));
  }

  // ---- validity
  void validate(Ppn unit, BlockNumber block);
  void invalidate(Ppn unit);
  /// Has the processor fetch what invalidate() changes.
  void prefetch(Ppn unit) const {
    const BlockNumber block = layout_.block_of(unit);
    prefetch_line(&words(block)[(unit - layout_.first_unit(block)) / 64]);
    prefetch_line(&info_[block]);
  }
  [[nodiscard]] bool valid(Ppn unit) const {
    const BlockNumber block = layout_.block_of(unit);
    const std::uint32_t n = unit - layout_.first_unit(block);
    return ((words(block)[n / 64] >> (n % 64)) & 1U) != 0;
  }
  /// Valid bits of `block`, 64 units to a word.
  [[nodiscard]] const std::uint64_t* words(BlockNumber block) const {
    return &bits_[std::size_t{block} * words_per_block_];
  }

  // ---- emptying blocks
  /// Chooses a victim by the policy and takes it out of the candidates; k_no_block when there is
  /// none.
  BlockNumber take_victim(std::uint32_t pu);
  /// Invalid units in blocks of the parallel units where the policy, asked last, chose none.
  [[nodiscard]] std::uint64_t left_by_policy() const;
  /// Victims chosen last, one after the other, of which every unit was valid.
  [[nodiscard]] std::uint64_t full_victims() const { return full_victims_; }
  /// A closed native block of the parallel unit whose data should move now, as the wear-levelling
  /// policy says; k_no_block when there is none.
  BlockNumber due_for_wear(std::uint32_t pu);
  /// Takes a given closed block out of the candidates in order to empty it.
  void take_closed(BlockNumber block);
  /// The failed block of the parallel unit that take_grown_bad() would name.
  [[nodiscard]] BlockNumber next_grown_bad(std::uint32_t pu) const {
    return grown_bad_[pu].empty() ? k_no_block : grown_bad_[pu].front();
  }
  /// Next failed block of the parallel unit that has to be emptied; k_no_block when there is none.
  BlockNumber take_grown_bad(std::uint32_t pu);
  /// Throws std::logic_error unless the block was taken out, nothing in it is valid and nothing of
  /// it is being read.
  void check_erasable(BlockNumber block) const;
  /// A block that was taken out has been erased into `mode`.
  void erased(BlockNumber block, BlockMode mode = BlockMode::native);
  void retire(BlockNumber block);

  // ---- what there is
  struct Frontier {
    BlockNumber block = k_no_block;
    std::uint32_t next = 0;  ///< program units handed out
  };
  struct ParallelUnit {
    Frontier frontiers[k_own_targets];
    std::uint32_t never_used = 0;  ///< blocks from here on were never used
    std::uint32_t free = 0;        ///< free blocks in native mode, never used ones included
    std::uint32_t good = 0;        ///< blocks neither retired nor failed, without the static ones in SLC mode
    std::uint32_t failing = 0;     ///< blocks in which a program failed and that are not yet retired
    std::uint64_t in_flight = 0;   ///< programs under way
    std::uint64_t valid = 0;       ///< valid units, those in failed blocks included
    std::uint64_t pending = 0;     ///< slots promised to host program units that are not yet programmed
    std::uint64_t invalid = 0;     ///< invalid units in closed native blocks
  };
  [[nodiscard]] const ParallelUnit& pu(std::uint32_t n) const { return pus_[n]; }
  [[nodiscard]] const BlockInfo& info(BlockNumber block) const { return info_[block]; }
  /// Calls `f(Frontier)` for every open block of a parallel unit in native mode.
  template <class F>
  void for_each_open(std::uint32_t n, F&& f) const {
    for (const Frontier& front : pus_[n].frontiers) {
      if (front.block != k_no_block) f(front);
    }
    for (std::size_t i = 0; i < of_handles_; ++i) {
      const Frontier& front = handle_frontiers_[n * of_handles_ + i];
      if (front.block != k_no_block) f(front);
    }
  }
  /// The same with the target that each is open for: `f(WriteTarget, Frontier)`.
  template <class F>
  void for_each_target(std::uint32_t n, F&& f) const {
    for (std::size_t i = 0; i < k_own_targets; ++i) {
      if (pus_[n].frontiers[i].block != k_no_block) f(static_cast<WriteTarget>(i), pus_[n].frontiers[i]);
    }
    for (std::size_t i = 0; i < of_handles_; ++i) {
      const Frontier& front = handle_frontiers_[n * of_handles_ + i];
      if (front.block != k_no_block) f(static_cast<WriteTarget>(k_own_targets + i), front);
    }
  }

  // ---- placement handles (Options::handles)
  [[nodiscard]] std::uint8_t handles() const { return static_cast<std::uint8_t>(options_.handles); }
  /// Data of a handle stay apart when they are moved.
  [[nodiscard]] bool apart() const { return options_.apart; }
  /// The handle whose data a block was opened for; 0 also where they are mixed.
  [[nodiscard]] std::uint8_t handle(BlockNumber block) const {
    return of_handles_ == 0 ? 0 : handle_of_block_[block];
  }
  /// What became of the blocks that a handle's data were written to.
  struct HandleUse {
    std::uint64_t opened = 0;     ///< blocks opened for what the host writes
    std::uint64_t filled = 0;     ///< of these, handed out to the last program unit
    std::uint64_t cut_short = 0;  ///< closed before they were full
    std::uint64_t failed = 0;     ///< given up because a program failed
    std::uint64_t moved = 0;      ///< units moved to other blocks of the handle, if they stay apart
  };
  [[nodiscard]] const HandleUse& use(std::uint8_t handle) const { return uses_[handle]; }
  void count_moved(std::uint8_t handle, std::uint32_t units) { uses_[handle].moved += units; }
  void reset_uses() { uses_.assign(uses_.size(), {}); }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t reserve() const { return options_.reserve; }
  /// Blocks per parallel unit that cannot hold data (Options::overhead).
  [[nodiscard]] std::uint32_t overhead() const { return overhead_; }
  /// Blocks per parallel unit that are no part of what can be kept.
  [[nodiscard]] std::uint32_t set_aside() const { return overhead_ + options_.statics; }
  [[nodiscard]] std::uint64_t retired() const { return retired_; }
  [[nodiscard]] bool grown_bad_waiting(std::uint32_t pu) const { return !grown_bad_[pu].empty(); }
  [[nodiscard]] bool used(BlockNumber block) const {
    return block % layout_.blocks < pus_[block / layout_.blocks].never_used;
  }

  // ---- balance between parallel units
  /// Units that the parallel unit can still take in without its collection grinding to a halt (may
  /// be negative).
  [[nodiscard]] std::int64_t room(std::uint32_t pu) const;
  /// Sum over the parallel units of the units they can keep.
  [[nodiscard]] std::uint64_t usable() const { return usable_; }
  /// Whether it takes part in new data: it is passed over while it has less than 1/k_scant of the
  /// mean room.
  [[nodiscard]] bool accepts(std::uint32_t pu) const;
  static constexpr std::int64_t k_scant = 4;
  void promise(std::uint32_t pu) { change_pending(pu, layout_.program_units); }
  void unpromise(std::uint32_t pu) { change_pending(pu, -std::int64_t{layout_.program_units}); }
  /// Valid units of the drive.
  [[nodiscard]] std::uint64_t valid_units() const {
    return usable_ - static_cast<std::uint64_t>(room_) - pending_;
  }

  // ---- pins: a block is not erased while a read of it is on its way
  void pin(BlockNumber block) {
    ++pins_[block];
    prefetch_line(&info_[block]);  // who takes the last pin off looks at it
  }
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
  /// Erase counts over all blocks but the static ones in SLC mode, never used ones included. Looks
  /// at every block: for reports only.
  [[nodiscard]] Wear wear() const { return wear(options_.statics, layout_.blocks); }
  /// The same of the static ones.
  [[nodiscard]] Wear slc_wear() const { return wear(0, options_.statics); }
  /// Native cycles that a block has been through, on average and at most, one in SLC mode counted
  /// for what it wears (Options::slc_wear). For reports only.
  struct Cycles {
    double mean = 0;
    double most = 0;
  };
  [[nodiscard]] Cycles cycles() const;
  /// Erases into SLC mode, and valid units in such blocks. For reports only.
  struct SlcCounts {
    std::uint64_t erases = 0;
    std::uint64_t valid = 0;
  };
  [[nodiscard]] SlcCounts slc_counts() const;

 private:
  struct Free {
    std::uint64_t key;  ///< sorts before later ones
    BlockNumber block;
    std::uint32_t unused = 0;
    bool operator<(const Free& other) const { return key > other.key; }  // std heaps have the largest on top
  };
  [[nodiscard]] Frontier& frontier(std::uint32_t pu, WriteTarget target) {
    if (options_.shared_open && kind_of(target) == WriteTarget::gc) target = host_target(handle_of(target));
    const auto n = static_cast<std::size_t>(target);
    return n < k_own_targets ? pus_[pu].frontiers[n]
                             : handle_frontiers_[pu * of_handles_ + n - k_own_targets];
  }
  [[nodiscard]] const Frontier& frontier(std::uint32_t pu, WriteTarget target) const {
    return const_cast<BlockPool*>(this)->frontier(pu, target);
  }
  /// No program goes to the block any more. Whether it was open for what the host writes.
  bool leave(std::uint32_t pu, BlockNumber block);
  BlockNumber take_free(std::uint32_t pu, bool most_worn);
  BlockNumber take_for_move(std::uint32_t pu);
  BlockNumber take_out_of_heap(std::uint32_t pu, std::vector<Free>::iterator which);
  BlockNumber take_ready(std::uint32_t pu);
  void invalidated_in_slc(std::uint32_t pu, BlockNumber block);
  [[noreturn]] static void broken(const char* what, std::uint32_t number);
  /// Whether a policy may choose the block: a closed native one of the parallel unit.
  [[nodiscard]] bool may_choose(std::uint32_t pu, BlockNumber block) const {
    return block < info_.size() && layout_.pu_of(block) == pu && info_[block].state == BlockState::closed &&
           info_[block].mode != BlockMode::slc;
  }
  [[noreturn]] static void refuse_choice(const char* key, const std::string& policy, std::uint32_t pu,
                                         BlockNumber block);
  void close(BlockNumber block);
  [[nodiscard]] Kind& kind(std::uint32_t pu, BlockNumber block) {
    return slc_[pu].kinds[is_static(block) ? 1 : 0];
  }
  [[nodiscard]] Wear wear(std::uint32_t first, std::uint32_t end) const;
  [[nodiscard]] std::uint64_t usable(const ParallelUnit& pu) const;
  void change_pending(std::uint32_t pu, std::int64_t by) {
    pus_[pu].pending += static_cast<std::uint64_t>(by);
    pending_ += static_cast<std::uint64_t>(by);
    room_ -= by;
  }
  void lose_block(BlockNumber block);
  /// Throws ArchiveError unless what a snapshot says of a parallel unit fits together.
  void check_restored(std::uint32_t pu) const;
  static void restored(bool sound);
  std::uint64_t* bits_of(BlockNumber block) { return &bits_[std::size_t{block} * words_per_block_]; }

  Layout layout_;
  Options options_;
  std::uint32_t words_per_block_;
  std::uint32_t overhead_;  ///< blocks per parallel unit that cannot hold data: reserve and open blocks
  VictimPolicy* victims_ = nullptr;
  WearPolicy* wear_ = nullptr;
  SlcVictims* slc_victims_ = nullptr;
  FreeBlockChoice* for_moves_ = nullptr;
  bool least_worn_first_ = false;
  ZeroPages<BlockInfo> info_;
  ZeroPages<std::uint32_t> pins_;  // apart, because every read touches them and nothing else here
  ZeroPages<std::uint64_t> bits_;
  std::vector<ParallelUnit> pus_;
  std::vector<std::uint64_t> left_;  ///< what left_by_policy() adds up
  std::uint64_t full_victims_ = 0;
  std::vector<std::vector<Free>> free_;  ///< heap per parallel unit: blocks that have been used
  std::vector<std::vector<BlockNumber>> grown_bad_;
  std::vector<SlcOfPu> slc_;              ///< none without modes
  std::vector<std::vector<Free>> ready_;  ///< heap per parallel unit: free blocks in SLC mode
  ZeroPages<std::uint32_t> slc_erases_;   ///< by block
  // Of handles beyond the first.
  std::size_t of_handles_;                  ///< targets in each parallel unit
  std::vector<Frontier> handle_frontiers_;  ///< parallel unit by parallel unit
  ZeroPages<std::uint8_t> handle_of_block_;
  std::vector<HandleUse> uses_;  ///< by handle; none when there is but one
  std::uint64_t freed_ = 0;      ///< blocks freed so far: order of the free blocks
  std::uint64_t retired_ = 0;
  std::uint64_t usable_ = 0;
  std::uint64_t pending_ = 0;  ///< sum over the parallel units
  std::int64_t room_ = 0;      ///< sum of room() over the parallel units
};

}  // namespace tlmssd::firmware
