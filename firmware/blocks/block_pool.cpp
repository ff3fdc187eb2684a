#include "firmware/blocks/block_pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "firmware/blocks/slc_victims.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/victims/victim_policy.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {
constexpr std::uint32_t k_sequence_bits = 40;
constexpr std::uint64_t k_behind = std::uint64_t{1} << 63U;

}  // namespace

void BlockPool::broken(const char* what, std::uint32_t number) {
  throw std::logic_error(std::string("block pool: ") + what + ", number " + std::to_string(number));
}

BlockPool::BlockPool(const Layout& layout, const Options& options)
    : layout_(layout),
      options_(options),
      words_per_block_((layout.block_units + 63) / 64),
      overhead_(options.overhead(layout)),
      info_(layout.total_blocks()),
      pins_(layout.total_blocks()),
      bits_(std::size_t{layout.total_blocks()} * words_per_block_),
      pus_(layout.pus),
      left_(layout.pus),
      free_(layout.pus),
      grown_bad_(layout.pus),
      slc_(options.modes ? layout.pus : 0),
      ready_(slc_.size()),
      slc_erases_(options.modes ? layout.total_blocks() : 0),
      of_handles_(2 * std::size_t{options.handles - 1}),
      handle_frontiers_(layout.pus * of_handles_),
      handle_of_block_(of_handles_ == 0 ? 0 : layout.total_blocks()),
      uses_(of_handles_ == 0 ? 0 : options.handles) {
  for (ParallelUnit& pu : pus_) {
    pu.never_used = options.statics;
    pu.free = pu.good = layout.blocks - options.statics;
    usable_ += usable(pu);
  }
  for (SlcOfPu& pu : slc_) pu.raw = pu.statics_good = options.statics;
  room_ = static_cast<std::int64_t>(usable_);
}

void BlockPool::attach(VictimPolicy& victims, WearPolicy& wear, SlcVictims* slc) {
  victims_ = &victims;
  wear_ = &wear;
  slc_victims_ = slc;
  least_worn_first_ = wear.least_worn_first();
}

// ------------------------------------------------------------------------------------------------- handing out program units

bool BlockPool::can_claim(std::uint32_t n, WriteTarget target) const {
  const ParallelUnit& pu = pus_[n];
  const bool open = frontier(n, target).block != k_no_block;
  switch (kind_of(target)) {
    case WriteTarget::host:
      // What is left of a shared block belongs to garbage collection as long as that has not made
      // up its reserve.
      return open ? !options_.shared_open || pu.free >= options_.reserve : pu.free > options_.reserve;
    case WriteTarget::gc:
      return open || pu.free > 0;
    case WriteTarget::wear:
      return open || pu.free >= options_.reserve;
    default:
      return open || pu.free > options_.reserve;
  }
}

Ppn BlockPool::claim(std::uint32_t n, WriteTarget target, std::int64_t now) {
  Frontier& front = frontier(n, target);
  if (front.block == k_no_block) {
    front.block = target == WriteTarget::move ? take_for_move(n) : take_free(n, target == WriteTarget::wear);
    front.next = 0;
    if (of_handles_ > 0) {
      const std::uint8_t handle = handle_of(target);
      handle_of_block_[front.block] = handle;
      if (&front == &frontier(n, host_target(handle))) ++uses_[handle].opened;
    }
    info_[front.block].state = BlockState::open;
    info_[front.block].full = false;
    info_[front.block].written = now;
  }
  BlockInfo& info = info_[front.block];
  const Ppn unit = layout_.first_unit(front.block) + front.next * layout_.program_units;
  ++info.programs;
  ++info.in_flight;
  ++pus_[n].in_flight;
  if (++front.next == layout_.programs_per_block) {
    info.full = true;
    if (of_handles_ > 0 && &front == &frontier(n, host_target(handle(front.block))))
      ++uses_[handle(front.block)].filled;
    front.block = k_no_block;
  }
  return unit;
}

bool BlockPool::leave(std::uint32_t n, BlockNumber block) {
  const bool of_host = frontier(n, host_target(handle(block))).block == block;
  for (Frontier& front : pus_[n].frontiers) {
    if (front.block == block) front.block = k_no_block;
  }
  for (std::size_t i = 0; i < of_handles_; ++i) {
    Frontier& front = handle_frontiers_[n * of_handles_ + i];
    if (front.block == block) front.block = k_no_block;
  }
  if (!slc_.empty() && slc_[n].open == block) slc_[n].open = k_no_block;
  return of_host;
}

void BlockPool::programmed(BlockNumber block, bool failed) {
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  --info.in_flight;
  --pus_[n].in_flight;
  if (failed && !info.failed) {
    info.failed = true;
    ++pus_[n].failing;
    if (leave(n, block) && of_handles_ > 0) ++uses_[handle(block)].failed;
    lose_block(block);
  }
  if (info.in_flight > 0) return;
  if (info.failed) {
    info.state = BlockState::grown_bad;
    grown_bad_[n].push_back(block);
  } else if (info.full) {
    close(block);
  }
}

bool BlockPool::fresh() const {
  if (options_.owned || options_.modes) return false;
  return std::all_of(pus_.begin(), pus_.end(), [this](const ParallelUnit& pu) {
    return pu.never_used == 0 && pu.good == layout_.blocks;
  });
}

BlockNumber BlockPool::fill(std::uint32_t n, std::int64_t now) {
  Frontier& front = frontier(n, WriteTarget::host);
  if (front.block != k_no_block || pus_[n].never_used == layout_.blocks)
    broken("filled without a block for it: parallel unit", n);
  const BlockNumber block = take_free(n, false);
  front.next = layout_.programs_per_block;
  if (of_handles_ > 0) {
    handle_of_block_[block] = 0;
    ++uses_[0].opened;
    ++uses_[0].filled;
  }
  BlockInfo& info = info_[block];
  info.full = true;
  info.written = now;
  info.programs = layout_.programs_per_block;
  info.valid = layout_.block_units;
  std::uint64_t* const bits = bits_of(block);
  std::fill_n(bits, layout_.block_units / 64, ~std::uint64_t{0});
  if (const std::uint32_t rest = layout_.block_units % 64; rest != 0)
    bits[layout_.block_units / 64] = (std::uint64_t{1} << rest) - 1;
  pus_[n].valid += layout_.block_units;
  room_ -= layout_.block_units;
  close(block);
  return block;
}

void BlockPool::close_early(BlockNumber block) {
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  if (options_.owned) return;  // its owner goes on writing to it
  if (info.state != BlockState::open || info.failed || info.in_flight > 0 || pus_[n].free == 0) return;
  if (leave(n, block) && of_handles_ > 0) ++uses_[handle(block)].cut_short;
  info.full = true;
  close(block);
}

void BlockPool::close(BlockNumber block) {
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  info.state = BlockState::closed;
  if (info.mode == BlockMode::slc) {
    slc_[n].invalid += gain(block);
    ++kind(n, block).closed;
    slc_victims_->insert(n, block, info.valid, is_static(block));
    return;
  }
  pus_[n].invalid += layout_.block_units - info.valid;
  if (!options_.owned) victims_->insert(n, block, info.valid);
  wear_->closed(n, block, worn(block));
}

BlockNumber BlockPool::take_free(std::uint32_t n, bool most_worn) {
  ParallelUnit& pu = pus_[n];
  if (pu.free == 0) broken("no free block in parallel unit", n);
  --pu.free;
  auto& heap = free_[n];
  if (most_worn && !heap.empty()) {
    const auto worst = std::max_element(heap.begin(), heap.end(), [this](const Free& a, const Free& b) {
      return worn(a.block) < worn(b.block);
    });
    return take_out_of_heap(n, worst);
  }
  // Never used blocks have no erase and have been free the longest: first in both orders.
  if (pu.never_used < layout_.blocks) return BlockNumber(n * layout_.blocks + pu.never_used++);
  std::pop_heap(heap.begin(), heap.end());
  const BlockNumber block = heap.back().block;
  heap.pop_back();
  return block;
}

BlockNumber BlockPool::take_out_of_heap(std::uint32_t n, std::vector<Free>::iterator which) {
  auto& heap = free_[n];
  const BlockNumber block = which->block;
  *which = heap.back();
  heap.pop_back();
  std::make_heap(heap.begin(), heap.end());
  return block;
}

// Never used blocks have neither erases nor reads: no other can have a smaller burden.
BlockNumber BlockPool::take_for_move(std::uint32_t n) {
  auto& heap = free_[n];
  BlockNumber block = k_no_block;
  if (pus_[n].never_used < layout_.blocks || heap.empty()) {
    block = take_free(n, false);
  } else {
    const auto better = [this](const Free& a, const Free& b) {
      const double one = for_moves_->burden(a.block, worn(a.block));
      const double other = for_moves_->burden(b.block, worn(b.block));
      return one != other ? one < other : a.key < b.key;
    };
    --pus_[n].free;
    block = take_out_of_heap(n, std::min_element(heap.begin(), heap.end(), better));
  }
  for_moves_->placed(block, worn(block));
  return block;
}

// --------------------------------------------------------------------------------------------------------------- blocks by name

BlockNumber BlockPool::open(std::uint32_t n, bool most_worn, std::int64_t now) {
  const BlockNumber block = take_free(n, most_worn);
  BlockInfo& info = info_[block];
  info.state = BlockState::open;
  info.full = false;
  info.written = now;
  return block;
}

Ppn BlockPool::claim_in(BlockNumber block, std::uint32_t n) {
  BlockInfo& info = info_[block];
  if (info.state != BlockState::open || info.failed || n >= layout_.programs_per_block)
    broken("a block that is not open was to be written", block);
  ++info.programs;
  ++info.in_flight;
  ++pus_[layout_.pu_of(block)].in_flight;
  if (n + 1 == layout_.programs_per_block) info.full = true;
  return layout_.first_unit(block) + n * layout_.program_units;
}

void BlockPool::seal(BlockNumber block) {
  BlockInfo& info = info_[block];
  if (info.state != BlockState::open) return;
  if (info.in_flight > 0) broken("closed while programs are under way", block);
  info.full = true;
  close(block);
}

void BlockPool::take_out(BlockNumber block) {
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  if (info.valid != 0) broken("erased with valid units in it", block);
  if (info.state == BlockState::closed) pus_[n].invalid -= layout_.block_units;
  if (info.state == BlockState::grown_bad) std::erase(grown_bad_[n], block);
  info.state = BlockState::victim;
}

// ---------------------------------------------------------------------------------------------------------------- validity

void BlockPool::validate(Ppn unit, BlockNumber block) {
  const std::uint32_t n = unit - layout_.first_unit(block);
  bits_of(block)[n / 64] |= std::uint64_t{1} << (n % 64);
  ++info_[block].valid;
  ++pus_[layout_.pu_of(block)].valid;
  --room_;
}

void BlockPool::invalidate(Ppn unit) {
  const BlockNumber block = layout_.block_of(unit);
  const std::uint32_t n = unit - layout_.first_unit(block);
  std::uint64_t& word = bits_of(block)[n / 64];
  const std::uint64_t bit = std::uint64_t{1} << (n % 64);
  if ((word & bit) == 0) broken("a unit was invalidated twice", block);
  word &= ~bit;
  BlockInfo& info = info_[block];
  const std::uint32_t g = layout_.pu_of(block);
  --info.valid;
  --pus_[g].valid;
  ++room_;
  if (info.state != BlockState::closed) return;
  if (info.mode == BlockMode::slc) {
    invalidated_in_slc(g, block);
    return;
  }
  ++pus_[g].invalid;
  if (!options_.owned) victims_->invalidated(g, block, info.valid);
}

// --------------------------------------------------------------------------------------------------------- emptying blocks

BlockNumber BlockPool::take_victim(std::uint32_t n) {
  const BlockNumber block = victims_->select(n);
  left_[n] = block == k_no_block ? pus_[n].invalid : 0;
  if (block == k_no_block) return block;
  if (!may_choose(n, block)) refuse_choice("firmware.gc.policy", options_.victims, n, block);
  BlockInfo& info = info_[block];
  info.state = BlockState::victim;
  full_victims_ = info.valid == layout_.block_units ? full_victims_ + 1 : 0;
  pus_[n].invalid -= layout_.block_units - info.valid;
  return block;
}

std::uint64_t BlockPool::left_by_policy() const {
  return std::accumulate(left_.begin(), left_.end(), std::uint64_t{0});
}

BlockNumber BlockPool::due_for_wear(std::uint32_t n) {
  const BlockNumber block = wear_->due(n, *this);
  if (block != k_no_block && !may_choose(n, block))
    refuse_choice("firmware.wear.policy", options_.wear, n, block);
  return block;
}

void BlockPool::refuse_choice(const char* key, const std::string& policy, std::uint32_t pu,
                              BlockNumber block) {
  throw objection(key, policy + " chose block " + std::to_string(block) + " of parallel unit " +
                           std::to_string(pu) + ", which is none of those that may be chosen there");
}

void BlockPool::take_closed(BlockNumber block) {
  const std::uint32_t n = layout_.pu_of(block);
  BlockInfo& info = info_[block];
  if (info.mode == BlockMode::slc) {
    --kind(n, block).closed;
    slc_[n].invalid -= gain(block);
    slc_victims_->remove(n, block, info.valid, is_static(block));
  } else {
    pus_[n].invalid -= layout_.block_units - info.valid;
    victims_->remove(n, block, info.valid);
  }
  info.state = BlockState::victim;
}

BlockNumber BlockPool::take_grown_bad(std::uint32_t n) {
  auto& list = grown_bad_[n];
  if (list.empty()) return k_no_block;
  const BlockNumber block = list.front();
  list.erase(list.begin());
  return block;
}

void BlockPool::check_erasable(BlockNumber block) const {
  const BlockInfo& info = info_[block];
  if (info.valid != 0 || pinned(block) || info.state != BlockState::victim)
    broken("erased while in use", block);
}

void BlockPool::erased(BlockNumber block, BlockMode mode) {
  check_erasable(block);
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  ++info.erases;
  info.state = BlockState::free;
  info.full = false;
  info.programs = 0;
  if (info.mode == BlockMode::slc) --kind(n, block).used;
  info.mode = mode;
  std::uint64_t key = freed_++ & ((std::uint64_t{1} << k_sequence_bits) - 1);
  if (mode == BlockMode::slc) {
    ++slc_erases_[block];
    ++kind(n, block).ready;
    const bool statics = is_static(block);
    if (least_worn_first_) key |= std::uint64_t{statics ? info.erases : worn(block)} << k_sequence_bits;
    // Static blocks first: they bear more, and a dynamic one may be asked for.
    ready_[n].push_back({statics ? key : key | k_behind, block});
    std::push_heap(ready_[n].begin(), ready_[n].end());
  } else {
    ++pus_[n].free;
    if (least_worn_first_) key |= std::uint64_t{worn(block)} << k_sequence_bits;
    free_[n].push_back({key, block});
    std::push_heap(free_[n].begin(), free_[n].end());
  }
  if (!is_static(block)) wear_->erased(n, block, worn(block));
}

void BlockPool::retire(BlockNumber block) {
  BlockInfo& info = info_[block];
  const std::uint32_t n = layout_.pu_of(block);
  if (info.failed) {
    --pus_[n].failing;
  } else {
    info.failed = true;
    lose_block(block);
  }
  if (info.mode == BlockMode::slc) --kind(n, block).used;
  info.state = BlockState::retired;
  ++retired_;
}

// ------------------------------------------------------------------------------------------------- balance between parallel units

std::uint64_t BlockPool::usable(const ParallelUnit& pu) const {
  return pu.good > overhead_ ? std::uint64_t{pu.good - overhead_} * layout_.block_units : 0;
}

void BlockPool::lose_block(BlockNumber block) {
  const std::uint32_t n = layout_.pu_of(block);
  if (is_static(block)) {
    --slc_[n].statics_good;
    return;
  }
  const std::uint64_t before = usable(pus_[n]);
  --pus_[n].good;
  const std::uint64_t lost = before - usable(pus_[n]);
  usable_ -= lost;
  room_ -= static_cast<std::int64_t>(lost);
}

std::int64_t BlockPool::room(std::uint32_t n) const {
  const ParallelUnit& pu = pus_[n];
  return static_cast<std::int64_t>(usable(pu)) - static_cast<std::int64_t>(pu.valid + pu.pending);
}

bool BlockPool::accepts(std::uint32_t n) const {
  const std::int64_t room_here = room(n);
  return room_here >= layout_.program_units && k_scant * room_here * layout_.pus >= room_;
}

// ---------------------------------------------------------------------------------------------------------- state and reports

void BlockPool::archive(Archive& a) {
  a(freed_);
  a(retired_);
  a(usable_);
  a(room_);
  for (std::uint32_t n = 0; n < layout_.pus; ++n) {
    a(pus_[n]);
    a(free_[n]);
    a(grown_bad_[n]);
    const BlockNumber first(n * layout_.blocks);
    if (pus_[n].never_used > layout_.blocks)
      throw ArchiveError("snapshot is damaged: block counts do not fit");
    a.bytes(&info_[first], pus_[n].never_used * sizeof(BlockInfo));
    a.bytes(bits_of(first), std::size_t{pus_[n].never_used} * words_per_block_ * sizeof(std::uint64_t));
    if (of_handles_ > 0) a.bytes(&handle_of_block_[first], pus_[n].never_used);
    if (slc_.empty()) continue;
    a(slc_[n]);
    a(ready_[n]);
    a.bytes(&slc_erases_[first], pus_[n].never_used * sizeof(std::uint32_t));
  }
  if (of_handles_ != 0) {
    std::uint32_t handles = options_.handles;
    a(handles);
    if (handles != options_.handles)
      throw ArchiveError("the snapshot has another number of placement handles");
    a(handle_frontiers_);
    a(uses_);
    if (!a.saving()) {
      restored(handle_frontiers_.size() == layout_.pus * of_handles_);
      restored(uses_.size() == options_.handles);
    }
  }
  if (a.saving()) return;
  for (std::uint32_t n = 0; n < layout_.pus; ++n) check_restored(n);
}

void BlockPool::restored(bool sound) {
  if (!sound) throw ArchiveError("snapshot is damaged: block counts do not fit");
}

/// Of a drained drive: nothing is under way.
void BlockPool::check_restored(std::uint32_t n) const {
  const ParallelUnit& pu = pus_[n];
  const auto is_here = [&](BlockNumber block) {
    return block != k_no_block && block / layout_.blocks == n && used(block);
  };
  const auto is_block = [&](BlockNumber block) { return block == k_no_block || is_here(block); };
  const auto are_free = [&](const std::vector<Free>& heap) {
    return heap.size() <= layout_.blocks && std::all_of(heap.begin(), heap.end(), [&](const Free& one) {
             return is_here(one.block) && info_[one.block].state == BlockState::free;
           });
  };
  restored(pu.in_flight == 0 && pu.pending == 0 && pu.good <= layout_.blocks);
  restored(pu.free == free_[n].size() + layout_.blocks - pu.never_used);
  restored(are_free(free_[n]));
  restored(std::all_of(grown_bad_[n].begin(), grown_bad_[n].end(), is_here));
  const auto check_frontier = [&](const Frontier& front) {
    restored(is_block(front.block));
    restored(front.block == k_no_block || front.next < layout_.programs_per_block);
  };
  std::for_each(std::begin(pu.frontiers), std::end(pu.frontiers), check_frontier);
  for (std::size_t i = 0; i < of_handles_; ++i) check_frontier(handle_frontiers_[n * of_handles_ + i]);
  if (!slc_.empty()) restored(is_block(slc_[n].open) && are_free(ready_[n]));
  std::uint64_t valid = 0;
  for (std::uint32_t i = 0; i < pu.never_used; ++i) {
    const BlockNumber block(n * layout_.blocks + i);
    const BlockInfo& info = info_[block];
    restored(info.state <= BlockState::retired &&
             info.mode <= (slc_.empty() ? BlockMode::native : BlockMode::slc) && info.in_flight == 0);
    // In SLC mode a block takes a program for each page, however native ones are programmed.
    restored(info.programs <= layout_.block_units &&
             written_units(block) <= layout_.units_of_block(info.mode));
    std::uint32_t bits = 0;
    for (std::uint32_t w = 0; w < words_per_block_; ++w)
      bits += static_cast<std::uint32_t>(std::popcount(words(block)[w]));
    const std::uint32_t last = layout_.block_units % 64;
    restored(last == 0 || words(block)[words_per_block_ - 1] >> last == 0);
    restored(info.valid == bits);
    restored(of_handles_ == 0 || handle_of_block_[block] < options_.handles);
    valid += info.valid;
  }
  restored(pu.valid == valid);
}

BlockPool::Wear BlockPool::wear(std::uint32_t from, std::uint32_t end) const {
  Wear wear;
  double sum = 0;
  double squares = 0;
  bool any = false;
  const auto count = [&](std::uint64_t erases) {
    sum += static_cast<double>(erases);
    squares += static_cast<double>(erases) * static_cast<double>(erases);
    wear.maximum = std::max(wear.maximum, erases);
    wear.minimum = any ? std::min(wear.minimum, erases) : erases;
    any = true;
  };
  for (std::uint32_t n = 0; n < layout_.pus; ++n) {
    const std::uint32_t used = std::min(pus_[n].never_used, end);
    for (std::uint32_t b = from; b < used; ++b) count(info_[n * layout_.blocks + b].erases);
    if (used < end) {
      wear.minimum = 0;
      any = true;
    }
  }
  const double blocks = std::max<double>(1, static_cast<double>(layout_.pus) * (end - from));
  wear.mean = sum / blocks;
  wear.deviation = std::sqrt(std::max(0.0, squares / blocks - wear.mean * wear.mean));
  return wear;
}

}  // namespace tlmssd::firmware
