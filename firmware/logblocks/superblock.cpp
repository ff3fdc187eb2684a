#include "firmware/logblocks/superblock.h"

#include <algorithm>
#include <bit>

#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

const ParameterTable<Superblock::Config>& Superblock::Config::parameters() {
  static const auto table =
      ParameterTable<Config>{}
          .integer("adjacent", &Config::adjacent, {1, 1024},
                   "neighbouring block-mapped regions of a superblock")
          .shapes_state()
          .integer("log_blocks", &Config::log_blocks, {1, 1'000'000},
                   "update blocks that the superblocks of each parallel unit may have in all")
          .integer("update_blocks", &Config::update_blocks, {1, 1024},
                   "update blocks that one superblock may have before it cleans itself")
          .flag("copyback", &Config::copyback, k_copyback_help);
  return table;
}

Superblock::Superblock(const Config& config, const Layout& layout)
    : LogScheme(layout, config.adjacent, config.log_blocks, config.copyback),
      update_blocks_(config.update_blocks),
      state_(layout.pus) {}

// Per superblock its blocks, per page its place among their pages.
Bytes Superblock::dram_bytes() const {
  const Bytes blocks = (layout_.logical_units + layout_.block_units - 1) / layout_.block_units;
  const Bytes supers = (blocks + adjacent_ - 1) / adjacent_;
  const std::uint64_t places = std::uint64_t{adjacent_ + update_blocks_} * layout_.block_units;
  const Bytes page_entry = (static_cast<Bytes>(std::bit_width(places - 1)) + 7) / 8;
  return k_entry_bytes * supers * (adjacent_ + update_blocks_) + page_entry * layout_.logical_units;
}

bool Superblock::together(const ProgramJob& job, Lpn unit) const {
  return super_of(unit) == super_of(unit_of(job, 0));
}

void Superblock::recount(std::uint32_t number, Super& super, std::uint32_t before) {
  ParallelUnit& pu = state_[number];
  const std::uint32_t now = extra(super);
  pu.extra += now - before;
  if ((now > 0) == (before > 0)) return;
  const Supers::iterator at = find_.at(super.number);
  if (now > 0) {
    pu.loose.splice(pu.loose.end(), pu.tight, at);
  } else {
    pu.tight.splice(pu.tight.end(), pu.loose, at);
  }
}

bool Superblock::open(const Super& super) const {
  return !super.members.empty() && super.members.back().written < layout_.programs_per_block &&
         !blocks_->pool().info(super.members.back().block).failed;
}

void Superblock::seal(Super& super) {
  if (!open(super)) return;
  super.members.back().written = layout_.programs_per_block;
  blocks_->close(super.members.back().block);
}

// Program units are padded, so that a gain in units need not be one in program units: then more
// blocks are taken together.
std::vector<BlockNumber> Superblock::victims(const Super& super, std::uint32_t gain) const {
  std::vector<BlockNumber> full;
  for (const Member& member : super.members) full.push_back(member.block);
  std::uint32_t room = 0;
  if (open(super)) {
    full.pop_back();
    room = layout_.programs_per_block - super.members.back().written;
  }
  const auto valid = [this](BlockNumber block) { return blocks_->pool().info(block).valid; };
  std::stable_sort(full.begin(), full.end(),
                   [&](BlockNumber a, BlockNumber b) { return valid(a) < valid(b); });
  std::uint64_t units = 0;
  for (std::size_t n = 0; n < full.size(); ++n) {
    units += valid(full[n]);
    const std::uint64_t programs = (units + layout_.die_units - 1) / layout_.die_units;
    if (programs + gain > room + (n + 1) * std::uint64_t{layout_.programs_per_block}) continue;
    full.resize(n + 1);
    return full;
  }
  return {};
}

std::vector<Lpn> Superblock::valid_in(const Member& member) const {
  std::vector<Lpn> units;
  for (std::uint32_t n = 0; n < member.slots.size(); ++n) {
    const Lpn unit = member.slots[n];
    if (unit != k_no_unit && lookup(unit) == layout_.first_unit(member.block) + n) units.push_back(unit);
  }
  return units;
}

Task<bool> Superblock::add_block(std::uint32_t pu, Super& super, bool to_worn) {
  const BlockNumber block = co_await blocks_->take_block(pu, to_worn);
  if (block == k_no_block) co_return false;
  const std::uint32_t before = extra(super);
  super.members.push_back({block, 0, {}});
  own(block, super.number);
  recount(pu, super, before);
  co_return true;
}

Task<bool> Superblock::collect(std::uint32_t pu, Super& super, std::vector<BlockNumber> blocks,
                               bool to_worn) {
  co_await blocks_->programs_ended(pu);
  for (bool first = true;; first = false) {
    std::vector<Lpn> units;
    const std::uint32_t before = extra(super);
    std::erase_if(super.members, [&](const Member& member) {
      if (std::find(blocks.begin(), blocks.end(), member.block) == blocks.end()) return false;
      const std::vector<Lpn> valid = valid_in(member);
      units.insert(units.end(), valid.begin(), valid.end());
      if (!valid.empty()) return false;
      if (first) ++counts_.dead;  // nothing is copied out of it
      disown(member.block);
      std::erase(blocks, member.block);  // which may come back at once, to be written
      blocks_->discard(member.block);
      return true;
    });
    recount(pu, super, before);
    if (units.empty()) co_return true;
    if (!open(super)) {
      const bool added = co_await add_block(pu, super, to_worn);
      if (!added) co_return false;
    }
    Member& target = super.members.back();
    const std::uint32_t room = (layout_.programs_per_block - target.written) * layout_.die_units;
    const std::size_t count = std::min<std::size_t>(units.size(), room);
    const std::span<const Lpn> part(units.data(), count);
    target.written += static_cast<std::uint32_t>((count + layout_.die_units - 1) / layout_.die_units);
    target.slots.insert(target.slots.end(), part.begin(), part.end());
    target.slots.resize(std::size_t{target.written} * layout_.die_units, k_no_unit);
    counts_.full_units += count;
    const bool copied = co_await blocks_->append(target.block, part);
    if (!copied && blocks_->read_only()) co_return false;
  }
}

Task<bool> Superblock::pack(std::uint32_t pu, Super& super) {
  while (extra(super) > 0) {
    std::vector<BlockNumber> chosen = victims(super, layout_.programs_per_block);
    if (chosen.empty()) {
      co_await blocks_->programs_ended(pu);
      seal(super);
      chosen = victims(super, layout_.programs_per_block);
    }
    const bool collected = co_await collect(pu, super, std::move(chosen));
    if (!collected) co_return false;
  }
  co_return true;
}

Task<BlockNumber> Superblock::place(const ProgramJob& job) {
  const std::uint32_t number = super_of(unit_of(job, 0));
  ParallelUnit& pu = state_[job.pu];
  auto found = find_.find(number);
  if (found == find_.end())
    found = find_.emplace(number, pu.tight.insert(pu.tight.end(), {number, {}})).first;
  Super& super = *found->second;
  while (!open(super)) {
    bool done = false;
    const bool may_grow = extra(super) < update_blocks_ && pu.extra < allowed(job.pu);
    if (super.members.size() < adjacent_ || may_grow) {
      done = co_await add_block(job.pu, super);
    } else if (extra(super) == 0) {
      ++packings_;
      done = co_await pack(job.pu, pu.loose.front());
    } else {
      ++collections_;
      co_await blocks_->programs_ended(job.pu);
      std::vector<BlockNumber> chosen = victims(super, 1);
      done = co_await collect(job.pu, super, std::move(chosen));
    }
    if (!done) co_return k_no_block;
  }
  co_return super.members.back().block;
}

void Superblock::claimed(const ProgramJob& job) {
  Supers& loose = state_[job.pu].loose;
  const Supers::iterator super = find_.at(super_of(unit_of(job, 0)));
  Member& member = super->members.back();
  ++member.written;
  for (std::uint32_t n = 0; n < layout_.die_units; ++n)
    member.slots.push_back(n < job.live ? unit_of(job, n) : k_no_unit);
  if (extra(*super) > 0) loose.splice(loose.end(), loose, super);
}

Task<bool> Superblock::evacuate(BlockNumber block, bool to_worn) {
  const std::uint32_t pu = blocks_->pu_of(block);
  co_await blocks_->programs_ended(pu);
  const auto number = owner_of(block);
  if (!number) co_return true;
  Super& super = *find_.at(*number);
  if (super.members.back().block == block) seal(super);
  std::vector<BlockNumber> one{block};
  co_return co_await collect(pu, super, std::move(one), to_worn);
}

Task<bool> Superblock::tidy(std::uint32_t pu) {
  Supers& loose = state_[pu].loose;
  if (loose.empty()) co_return false;
  ++packings_;
  co_return co_await pack(pu, loose.front());
}

void Superblock::report(StatisticsSink& sink) const {
  report_blocks(sink);
  sink.value("superblock", Bytes{adjacent_} * layout_.block_units * layout_.unit_bytes, "B",
             "size of a superblock");
  sink.value("collections", collections_, "", "blocks of a superblock that were emptied to write on in it");
  sink.value("packings", packings_, "",
             "superblocks packed because others wanted their update blocks, or while idle");
  sink.value("units copied", counts().full_units, "units", "copied out of blocks that were emptied");
  sink.value("dead", counts().dead, "", "blocks erased without any copy, because nothing in them was valid");
}

void Superblock::reset_statistics() {
  LogScheme::reset_statistics();
  collections_ = packings_ = 0;
}

void Superblock::archive(Archive& a) {
  LogScheme::archive(a);
  a(collections_);
  a(packings_);
  if (!a.saving()) find_.clear();
  for (ParallelUnit& pu : state_) {
    a(pu.extra);
    archive(a, pu.tight);
    archive(a, pu.loose);
  }
}

void Superblock::archive(Archive& a, Supers& supers) {
  std::uint64_t count = supers.size();
  a(count);
  if (count > regions()) throw ArchiveError("snapshot is damaged: too many superblocks");
  if (!a.saving()) supers.assign(count, {});
  for (auto super = supers.begin(); super != supers.end(); ++super) {
    a(super->number);
    std::uint64_t members = super->members.size();
    a(members);
    if (members > layout_.blocks || super->number >= regions())
      throw ArchiveError("snapshot is damaged: too many superblocks");
    if (!a.saving()) super->members.assign(members, {});
    for (Member& member : super->members) {
      a(member.block);
      a(member.written);
      a(member.slots);
      if (a.saving()) continue;
      check_block(member.block, member.written);
      check_slots(member.slots, member.written);
    }
    find_[super->number] = super;
  }
}

}  // namespace tlmssd::firmware
