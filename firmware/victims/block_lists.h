// Lists of blocks for victim policies: intrusive, in memory that appears when first touched, O(1)
// for everything.
//
// BlockList: one list per parallel unit, in the order of insertion. ValidBuckets: one list per
// parallel unit and valid count, with bitmaps that find the next list that is not empty. BlockSet:
// one unordered set per parallel unit with random access.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "firmware/victims/victim_policy.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

/// Neighbours of every block in whatever list it is in. 0: none; otherwise block number plus one.
class BlockLinks {
 public:
  struct Ends {
    std::uint32_t first;
    std::uint32_t last;
  };
  explicit BlockLinks(const VictimContext& context)
      : blocks_(context.blocks), links_(std::size_t{context.pus} * context.blocks) {}
  void push(Ends& ends, BlockNumber block) {
    links_[block] = {ends.last, 0};
    (ends.last == 0 ? ends.first : links_[ends.last - 1].next) = block.entry();
    ends.last = block.entry();
  }
  void remove(Ends& ends, BlockNumber block) {
    const Link link = links_[block];
    (link.previous == 0 ? ends.first : links_[link.previous - 1].next) = link.next;
    (link.next == 0 ? ends.last : links_[link.next - 1].previous) = link.previous;
  }
  /// The block after `block` in its list; k_no_block at the end.
  [[nodiscard]] BlockNumber next(BlockNumber block) const {
    return BlockNumber::of_entry(links_[block].next);
  }
  [[nodiscard]] static BlockNumber first(const Ends& ends) { return BlockNumber::of_entry(ends.first); }
  /// Saves or restores a list of a parallel unit in its order. `met`: blocks of the lists restored
  /// so far.
  void archive(Archive& a, Ends& ends, std::uint32_t pu, std::vector<bool>& met) {
    BlockNumber block = a.saving() ? first(ends) : k_no_block;
    if (!a.saving()) ends = {};
    for (;;) {
      a(block);
      if (block == k_no_block) return;
      if (a.saving()) {
        block = next(block);
      } else {
        if (block >= links_.size() || block / blocks_ != pu)
          throw ArchiveError("snapshot is damaged: block beyond the drive");
        met.resize(links_.size());
        if (met[block]) throw ArchiveError("snapshot is damaged: block met twice");
        met[block] = true;
        push(ends, block);
      }
    }
  }

 private:
  struct Link {
    std::uint32_t previous;
    std::uint32_t next;
  };
  std::uint32_t blocks_;  ///< of a parallel unit
  ZeroPages<Link> links_;
};

/// One list per parallel unit in the order of insertion.
class BlockList {
 public:
  explicit BlockList(const VictimContext& context) : links_(context), ends_(context.pus) {}
  void push(std::uint32_t pu, BlockNumber block) { links_.push(ends_[pu], block); }
  void remove(std::uint32_t pu, BlockNumber block) { links_.remove(ends_[pu], block); }
  [[nodiscard]] BlockNumber first(std::uint32_t pu) const { return BlockLinks::first(ends_[pu]); }
  [[nodiscard]] BlockNumber next(BlockNumber block) const { return links_.next(block); }
  void archive(Archive& a) {
    std::vector<bool> met;
    for (std::uint32_t pu = 0; pu < ends_.size(); ++pu) links_.archive(a, ends_[pu], pu, met);
  }

 private:
  BlockLinks links_;
  std::vector<BlockLinks::Ends> ends_;
};

/// One list per parallel unit and number of valid units.
class ValidBuckets {
 public:
  explicit ValidBuckets(const VictimContext& context)
      : pus_(context.pus),
        counts_(context.block_units + 1),
        words_((counts_ + 63) / 64),
        links_(context),
        ends_(std::size_t{pus_} * counts_),
        bits_(std::size_t{pus_} * words_),
        from_(pus_, 0) {}

  void push(std::uint32_t pu, BlockNumber block, std::uint32_t valid) {
    links_.push(ends(pu, valid), block);
    word(pu, valid) |= bit(valid);
    if (valid < from_[pu]) from_[pu] = valid;
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t valid) {
    auto& list = ends(pu, valid);
    links_.remove(list, block);
    if (list.first == 0) word(pu, valid) &= ~bit(valid);
  }
  /// One unit of `block` has become invalid; `valid` are left. The block becomes the youngest of
  /// its new list.
  void lower(std::uint32_t pu, BlockNumber block, std::uint32_t valid) {
    remove(pu, block, valid + 1);
    push(pu, block, valid);
  }
  static constexpr std::uint32_t k_none = 0xFFFFFFFFU;
  /// Lowest valid count that some block of the parallel unit has; k_none when there is no block.
  [[nodiscard]] std::uint32_t lowest(std::uint32_t pu) {
    const std::uint32_t found = lowest_from(pu, from_[pu]);
    from_[pu] = found == k_none ? counts_ : found;
    return found;
  }
  /// Lowest valid count of `from` or more that some block of the parallel unit has; k_none when
  /// there is none.
  [[nodiscard]] std::uint32_t lowest_from(std::uint32_t pu, std::uint32_t from) const {
    if (from >= counts_) return k_none;
    std::uint32_t w = from / 64;
    std::uint64_t bits = bits_[std::size_t{pu} * words_ + w] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++w == words_) return k_none;
      bits = bits_[std::size_t{pu} * words_ + w];
    }
    return w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  /// The block that has been in the list for `valid` the longest.
  [[nodiscard]] BlockNumber oldest(std::uint32_t pu, std::uint32_t valid) const {
    return BlockLinks::first(ends_[std::size_t{pu} * counts_ + valid]);
  }
  /// The block after `block` in its list; k_no_block at the end.
  [[nodiscard]] BlockNumber next(BlockNumber block) const { return links_.next(block); }
  /// Blocks with the fewest valid units first, up to `most`, below `end` valid units; their score
  /// is that number.
  void rank(std::uint32_t pu, std::uint32_t end, std::size_t most, std::vector<Candidate>& into) const {
    for (std::uint32_t valid = lowest_from(pu, 0); valid < end && into.size() < most;
         valid = lowest_from(pu, valid + 1)) {
      for (BlockNumber b = oldest(pu, valid); b != k_no_block && into.size() < most; b = next(b))
        into.push_back({b, static_cast<double>(valid)});
    }
  }
  void archive(Archive& a) {
    std::vector<bool> met;
    for (std::uint32_t pu = 0; pu < pus_; ++pu) {
      std::uint32_t valid = a.saving() ? lowest_from(pu, 0) : 0;
      for (;;) {
        a(valid);
        if (valid == k_none) break;
        if (valid >= counts_) throw ArchiveError("snapshot is damaged: valid count beyond the block");
        auto& list = ends(pu, valid);
        links_.archive(a, list, pu, met);
        if (!a.saving() && list.first != 0) word(pu, valid) |= bit(valid);
        if (a.saving()) valid = lowest_from(pu, valid + 1);
      }
      if (!a.saving()) from_[pu] = 0;
    }
  }

 private:
  static std::uint64_t bit(std::uint32_t valid) { return std::uint64_t{1} << (valid % 64); }
  BlockLinks::Ends& ends(std::uint32_t pu, std::uint32_t valid) {
    return ends_[std::size_t{pu} * counts_ + valid];
  }
  std::uint64_t& word(std::uint32_t pu, std::uint32_t valid) {
    return bits_[std::size_t{pu} * words_ + valid / 64];
  }
  std::uint32_t pus_;
  std::uint32_t counts_;
  std::uint32_t words_;
  BlockLinks links_;
  ZeroPages<BlockLinks::Ends> ends_;
  ZeroPages<std::uint64_t> bits_;
  std::vector<std::uint32_t> from_;  ///< no block of the parallel unit has fewer valid units
};

/// One unordered set per parallel unit with random access by index.
class BlockSet {
 public:
  explicit BlockSet(const VictimContext& context)
      : members_(context.pus), places_(std::size_t{context.pus} * context.blocks) {}
  void insert(std::uint32_t pu, BlockNumber block) {
    places_[block] = static_cast<std::uint32_t>(members_[pu].size());
    members_[pu].push_back(block);
  }
  void remove(std::uint32_t pu, BlockNumber block) {
    auto& members = members_[pu];
    const BlockNumber last = members.back();
    members[places_[block]] = last;
    places_[last] = places_[block];
    members.pop_back();
  }
  [[nodiscard]] const std::vector<BlockNumber>& members(std::uint32_t pu) const { return members_[pu]; }
  [[nodiscard]] std::uint32_t pus() const { return static_cast<std::uint32_t>(members_.size()); }
  void archive(Archive& a) {
    for (auto& members : members_) {
      a(members);
      for (std::uint32_t i = 0; i < members.size(); ++i) {
        if (members[i] == k_no_block || members[i] >= places_.size())
          throw ArchiveError("snapshot is damaged: block beyond the drive");
        places_[members[i]] = i;
      }
    }
  }

 private:
  std::vector<std::vector<BlockNumber>> members_;
  ZeroPages<std::uint32_t> places_;
};

}  // namespace tlmssd::firmware
