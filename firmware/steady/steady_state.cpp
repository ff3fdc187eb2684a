#include "firmware/steady/steady_state.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "firmware/flash/erase.h"
#include "firmware/flash/flash_await.h"
#include "firmware/flash/program.h"

namespace tlmssd::firmware {

namespace {

/// Host writes that are played, as a share of the valid units: after a draw from the model, and
/// where there is none.
constexpr double k_play = 0.25;
constexpr double k_play_without_model = 3;
/// Playing does not end between two programs of the host.
constexpr std::uint64_t k_no_end = ~std::uint64_t{0};
/// Times that the drive counts as overwritten, for its wear.
constexpr double k_overwritten = 4;
/// A parallel unit with this share less room than there is on average is passed over; so many
/// standard deviations are to lie below that.
constexpr double k_passed_over = 1 - 1.0 / BlockPool::k_scant;
constexpr double k_deviations = 3;

/// Standard deviation of what one of several parallel units holds: each gets the same share of the
/// writes, and loses units at random.
double valid_deviation(double mean) {
  return std::sqrt(mean / 2);
}

/// Valid units of a parallel unit of a full drive, on average, and what it has room for beside
/// them.
double mean_valid(const Layout& layout) {
  return static_cast<double>(layout.logical_units) / layout.pus;
}
double mean_room(const Layout& layout, const BlockPool& pool) {
  return static_cast<double>(pool.usable()) / layout.pus - mean_valid(layout);
}

}  // namespace

SteadyState::SteadyState(Core& core, GcWorker& worker, const SteadyOrder& order)
    : core_(core),
      worker_(worker),
      order_(order),
      layout_(core.layout),
      pool_(core.pool),
      random_(order.seed, "firmware.steady"),
      valid_(layout_.pus),
      mean_valid_(mean_valid(layout_)),
      units_(layout_.block_units) {}

std::string SteadyState::only_by_writing(const Core& core) {
  const MappingScheme& map = *core.map;
  if (!map.can_redirect())
    return fmt::format("firmware.mapping.scheme {} is not modelled", core.config.mapping.scheme);
  if (core.pslc) return "firmware.pslc is not modelled";
  if (core.wear->moves_data())
    return fmt::format("firmware.wear.policy {} moves data", core.config.wear.policy);
  // Played, collection does not pad what fills no program unit, and each parallel unit keeps its
  // number of valid units: with less it might never make room.
  const std::uint64_t kept =
      core.layout.logical_units + std::uint64_t{core.layout.pus} * core.layout.block_units;
  if (core.pool.usable() < kept) {
    return "less than a block of each parallel unit is spare beyond those that are set aside for "
           "collection and open blocks";
  }
  const double room = mean_room(core.layout, core.pool);
  if (core.layout.pus > 1 && k_deviations * valid_deviation(mean_valid(core.layout)) > k_passed_over * room) {
    return "so little is spare that parallel units which hold more than others are passed over, and fall "
           "out of step";
  }
  return {};
}

/// Erases of a block, on average, before `played` units are written.
double SteadyState::erases(double amplification, double played) const {
  const double written = mean_valid_ * (1 + k_overwritten * amplification) - played * amplification;
  const double erases = written / layout_.block_units - (plans_.front().closed + plans_.front().open);
  return std::max(0.0, erases / layout_.blocks);
}

std::uint32_t SteadyState::cycles() {
  prepare();
  return static_cast<std::uint32_t>(std::ceil(erases(model_of(plans_.front()).write_amplification(), 0))) + 1;
}

void SteadyState::prepare() {
  choice_ = core_.victims->stationary().value_or(StationaryChoice{});
  draw_valid();
  make_plans();
}

std::string SteadyState::make() {
  prepare();
  const bool choice = core_.victims->stationary().has_value();
  std::vector<StationaryBlocks> models;
  for (const Plan& plan : plans_) models.push_back(model_of(plan));
  const double share = choice ? k_play : k_play_without_model;
  // Where no time passes, parallel units take turns strictly: all are at the same point of filling
  // a block. A host that never pauses takes them out of step, each in its own play.
  const double phase = random_.uniform() * layout_.block_units;
  const auto programs = static_cast<std::uint64_t>((share * mean_valid_ + phase) / layout_.program_units);
  const double before =
      erases(models.front().write_amplification(), static_cast<double>(programs) * layout_.program_units);
  std::size_t point = 0;
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    core_.hw.event_queue.checkpoint();
    if (pu == 0 || !collect_together()) point = random_.below(plans_.size());
    wear_in(pu, before);
    make_blocks(pu, plans_[point], models[point]);
    play(pu, programs);
    limit_wear(pu);
  }
  write_contents();
  if (choice) return fmt::format("drawn from the mean-field model of {}", core_.config.gc.policy);
  return fmt::format(
      "there is no model of {}: block contents were settled by {:g} times the capacity in overwrites of the "
      "block pool alone",
      core_.config.gc.policy, share);
}

/// Whether parallel units that have begun to collect at the same time, as after a fill, do so for
/// good: each collection frees as many blocks as any other. Not where it leaves a remainder that
/// fills no program unit, which the host may overwrite or which becomes the first part of another
/// program, nor where its blocks are also the host's.
bool SteadyState::collect_together() const {
  return layout_.program_units == 1 && pool_.streams() > 1;
}

StationaryBlocks SteadyState::model_of(const Plan& plan) const {
  return {plan.closed, layout_.block_units, mean_valid_ - plan.open * layout_.block_units / 2.0, mean_valid_,
          choice_};
}

// ---------------------------------------------------------------------------------------------------------------- drawing

void SteadyState::draw_valid() {
  const double most = std::max(0.0, mean_room(layout_, pool_) / 2 - layout_.program_units);
  const double deviation = layout_.pus > 1 ? valid_deviation(mean_valid_) : 0;
  std::int64_t left = static_cast<std::int64_t>(layout_.logical_units);
  for (std::uint32_t& valid : valid_) {
    const double by = std::clamp(random_.normal() * deviation, -most, most);
    valid = static_cast<std::uint32_t>(std::max(0.0, mean_valid_ + by));
    left -= valid;
  }
  for (std::uint32_t pu = 0; left != 0; pu = pu + 1 == layout_.pus ? 0 : pu + 1) {
    const std::int64_t by = left / layout_.pus != 0 ? left / static_cast<std::int64_t>(layout_.pus)
                            : left > 0              ? 1
                                                    : -1;
    if (by < 0 && valid_[pu] < static_cast<std::uint32_t>(-by)) continue;
    valid_[pu] = static_cast<std::uint32_t>(valid_[pu] + by);
    left -= by;
  }
}

/// One for each point of the cycle of collection, which leaves blocks free until the host has taken
/// them; where the spare is too small for that, with as many closed blocks as the host may write.
void SteadyState::make_plans() {
  const std::uint32_t good = pool_.pu(0).good;
  const std::uint32_t streams = pool_.streams();
  const std::uint32_t most = *std::max_element(valid_.begin(), valid_.end());
  const auto fits = [&](std::uint32_t closed) {
    return std::uint64_t{closed} * layout_.block_units > most + layout_.block_units / 2;
  };
  const std::uint32_t last = std::max(background_stop(), pool_.reserve() + 1);
  const std::uint32_t first = background_start() > 0 ? background_start() : last;
  for (std::uint32_t free = first; free <= last; ++free) {
    const std::uint32_t closed = good > free + streams ? good - free - streams : 0;
    if (fits(closed) && mean_valid_ > 2.0 * streams * layout_.block_units)
      plans_.push_back({free, streams, closed});
  }
  if (!plans_.empty()) return;
  const std::uint32_t closed = good - pool_.reserve() - 1;
  plans_.push_back(fits(closed) ? Plan{pool_.reserve() + 1, 0, closed}
                                : Plan{pool_.reserve(), 0, closed + 1});
}

void SteadyState::wear_in(std::uint32_t pu, double erases) {
  for (std::uint32_t n = 0; n < layout_.blocks; ++n)
    pool_.wear_in(BlockNumber(pu * layout_.blocks + n),
                  static_cast<std::uint32_t>(erases + random_.uniform()));
}

void SteadyState::limit_wear(std::uint32_t pu) {
  for (std::uint32_t n = 0; n < layout_.blocks; ++n) {
    const BlockNumber block(pu * layout_.blocks + n);
    if (pool_.info(block).erases > order_.most_erases) pool_.wear_in(block, order_.most_erases);
  }
}

void SteadyState::make_blocks(std::uint32_t pu, const Plan& plan, const StationaryBlocks& model) {
  for (std::uint32_t n = 0; n < plan.free; ++n) make_free(pu);
  std::vector<std::uint32_t> counts = model.draw(random_);
  std::uint32_t programs[2] = {};
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < plan.open; ++n) {
    programs[n] = static_cast<std::uint32_t>(n == 0 ? layout_.programs_per_block / 2
                                                    : random_.below(layout_.programs_per_block));
    sum += std::uint64_t{programs[n]} * layout_.program_units;
  }
  for (const std::uint32_t count : counts) sum += count;
  // The parallel unit has its own number of valid units: a block here and there takes the
  // difference.
  while (sum != valid_[pu]) {
    std::uint32_t& count = counts[random_.below(counts.size())];
    if (sum < valid_[pu] && count < layout_.block_units) {
      ++count;
      ++sum;
    } else if (sum > valid_[pu] && count > 0) {
      --count;
      --sum;
    }
  }
  for (const std::uint32_t count : counts) make_closed(pu, count);
  for (std::uint32_t n = 0; n < plan.open; ++n)
    make_open(pu, n == 0 ? WriteTarget::host : WriteTarget::gc, programs[n]);
}

/// Free blocks have been used, too.
void SteadyState::make_free(std::uint32_t pu) {
  make_closed(pu, 0);
  const BlockNumber block(pu * layout_.blocks + pool_.pu(pu).never_used - 1);
  pool_.take_closed(block);
  pool_.erased(block);
}

/// A block with `valid` valid units anywhere in it.
void SteadyState::make_closed(std::uint32_t pu, std::uint32_t valid) {
  const Ppn first = pool_.claim(pu, WriteTarget::host, core_.clock());
  const BlockNumber block = layout_.block_of(first);
  for (std::uint32_t n = 1; n < layout_.programs_per_block; ++n)
    static_cast<void>(pool_.claim(pu, WriteTarget::host, core_.clock()));
  for (std::uint32_t n = 0; n < layout_.block_units && valid > 0; ++n) {
    if (random_.below(layout_.block_units - n) >= valid) continue;
    pool_.validate(first + n, block);
    --valid;
  }
  for (std::uint32_t n = 0; n < layout_.programs_per_block; ++n) pool_.programmed(block, false);
}

void SteadyState::make_open(std::uint32_t pu, WriteTarget target, std::uint32_t programs) {
  for (; programs > 0; --programs) {
    const Ppn first = pool_.claim(pu, target, core_.clock());
    const BlockNumber block = layout_.block_of(first);
    for (std::uint32_t n = 0; n < layout_.program_units; ++n) pool_.validate(first + n, block);
    pool_.programmed(block, false);
  }
}

// ---------------------------------------------------------------------------------------------------------------- playing

void SteadyState::play(std::uint32_t pu, std::uint64_t programs) {
  victims_.clear();
  played_ = 0;
  until_ = k_no_end;
  for (std::uint64_t n = 0; n < programs; ++n) write(pu);
  if (order_.sustained && programs > 0)
    play_on(pu, static_cast<double>(played_) / static_cast<double>(programs));
  for (const Victim& victim : victims_) worker_.leave_unfinished(pu, victim.block);
}

/// Under a host that never pauses a parallel unit always has something to do: it fills a block,
/// then collects until there is room for another, whatever the others do, which it soon is not in
/// step with. Goes on to a point of such a cycle that is drawn, most often in the midst of
/// collection. The cycle is measured in programs, as long as any other (A): reads and erases go
/// with them.
void SteadyState::play_on(std::uint32_t pu, double amplification) {
  const double cycle = amplification * layout_.programs_per_block;
  until_ = played_ + static_cast<std::uint64_t>(random_.uniform() * cycle);
  while (played_ < until_) write(pu);
}

/// What the host overwrites lies anywhere, on average as much in each parallel unit as it gets.
void SteadyState::write(std::uint32_t pu) {
  if (!pool_.can_claim(pu, WriteTarget::host)) collect(pu);
  if (played_ == until_) return;
  if (!pool_.can_claim(pu, WriteTarget::host))
    throw std::logic_error("steady state: collection makes no room");
  const Ppn first = pool_.claim(pu, WriteTarget::host, core_.clock());
  const BlockNumber block = layout_.block_of(first);
  for (std::uint32_t n = 0; n < layout_.program_units; ++n) invalidate_any(pu);
  for (std::uint32_t n = 0; n < layout_.program_units; ++n) pool_.validate(first + n, block);
  pool_.programmed(block, false);
  ++played_;
  if (pool_.pu(pu).free < background_start()) collect(pu);
}

void SteadyState::invalidate_any(std::uint32_t pu) {
  const Ppn first = layout_.first_unit(BlockNumber(pu * layout_.blocks));
  for (;;) {
    const Ppn unit = first + static_cast<std::uint32_t>(
                                 random_.below(std::uint64_t{layout_.blocks} * layout_.block_units));
    if (!pool_.valid(unit)) continue;
    pool_.invalidate(unit);
    return;
  }
}

/// As GcWorker has it: victims are read, some multi-plane pages at a time, until enough blocks are
/// free, and what fills program units is moved. What does not stays where it is, and the next
/// collection begins with the victims that are left.
void SteadyState::collect(std::uint32_t pu) {
  for (Victim& victim : victims_) victim.at = 0;
  gathered_.clear();
  erase_empty();
  while (wants_more(pu) && read_batch(pu)) {
    while (gathered_.size() >= layout_.program_units) {
      if (!move_gathered(pu)) return;
    }
    erase_empty();
  }
}

bool SteadyState::wants_more(std::uint32_t pu) const {
  return background_start() > 0 ? pool_.pu(pu).free < background_stop()
                                : !pool_.can_claim(pu, WriteTarget::host);
}

/// Gathers the valid units of the next multi-plane pages of the victim that is being read, or of
/// another. False: there is none.
bool SteadyState::read_batch(std::uint32_t pu) {
  auto next = std::find_if(victims_.begin(), victims_.end(),
                           [this](const Victim& v) { return v.at < layout_.block_units; });
  if (next == victims_.end()) {
    const BlockNumber block = pool_.take_victim(pu);
    if (block == k_no_block) return false;
    next = victims_.insert(victims_.end(), {block});
  }
  const Ppn first = layout_.first_unit(next->block);
  for (std::uint32_t pages = 0; pages < core_.config.gc.parallel_copies && next->at < layout_.block_units;) {
    bool any = false;
    do {
      if (!pool_.valid(first + next->at)) continue;  // with the increment
      gathered_.push_back(first + next->at);
      any = true;
    } while (++next->at % layout_.mp_page_units != 0);
    pages += any ? 1 : 0;
  }
  return true;
}

/// Moves what fills the next program unit. False: there is no room for it, or playing ends here.
bool SteadyState::move_gathered(std::uint32_t pu) {
  if (played_ == until_ || !pool_.can_claim(pu, WriteTarget::gc)) return false;
  const Ppn first = pool_.claim(pu, WriteTarget::gc, core_.clock());
  const BlockNumber block = layout_.block_of(first);
  for (std::uint32_t n = 0; n < layout_.program_units; ++n) {
    pool_.invalidate(gathered_[n]);
    pool_.validate(first + n, block);
  }
  pool_.programmed(block, false);
  ++played_;
  gathered_.erase(gathered_.begin(), gathered_.begin() + layout_.program_units);
  return true;
}

void SteadyState::erase_empty() {
  std::erase_if(victims_, [this](const Victim& victim) {
    if (pool_.info(victim.block).valid > 0) return false;
    pool_.erased(victim.block);
    return true;
  });
}

// --------------------------------------------------------------------------------------------------------------- contents

namespace {

// The map learns of places in an order of its own: entries lie anywhere, and one after another, as
// they are drawn, each would wait for the processor's address translation.
constexpr std::uint64_t k_region = std::uint64_t{1} << 19U;  ///< entries that lie near one another
constexpr std::size_t k_together = 8192;                     ///< of one region at a time

}  // namespace

/// Blocks with the same number one after another, as a fill goes.
void SteadyState::write_contents() {
  for (std::uint64_t unit = 0; unit < layout_.logical_units; ++unit)
    core_.map->update(static_cast<Lpn>(unit), k_nowhere);  // entries lie in their order
  placed_.resize(layout_.logical_units / k_region + 1);
  const Permutation permutation(layout_.logical_units, random_);
  ProgramJob& job = core_.jobs.take();
  for (std::uint32_t n = 0; n < layout_.blocks; ++n) {
    for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
      const BlockNumber block(pu * layout_.blocks + n);
      if (!pool_.used(block)) continue;
      erase(block);
      const BlockState state = pool_.info(block).state;
      if (state == BlockState::free) continue;
      std::uint32_t written = layout_.programs_per_block;
      if (state == BlockState::open) {
        pool_.for_each_open(pu, [&](const BlockPool::Frontier& front) {
          if (front.block == block) written = front.next;
        });
      }
      draw_contents(block, permutation);
      write_block(block, written, job);
    }
  }
  for (std::vector<Placed>& placed : placed_) tell_map(placed);
  core_.jobs.give(job);
  if (laid_ != layout_.logical_units) throw std::logic_error("steady state: units were left over");
}

void SteadyState::draw_contents(BlockNumber block, const Permutation& permutation) {
  const Ppn first = layout_.first_unit(block);
  for (std::uint32_t i = 0; i < layout_.block_units; ++i) {
    const bool valid = pool_.valid(first + i);
    units_[i] = static_cast<Lpn>(valid ? permutation(laid_++) : random_.below(layout_.logical_units));
    if (valid) place(units_[i], first + i);
  }
}

void SteadyState::place(Lpn unit, Ppn where) {
  std::vector<Placed>& placed = placed_[unit / k_region];
  placed.push_back({unit, where});
  if (placed.size() == k_together) tell_map(placed);
}

void SteadyState::tell_map(std::vector<Placed>& placed) {
  for (const Placed& one : placed) core_.map->update(one.unit, one.where);
  placed.clear();
}

void SteadyState::write_block(BlockNumber block, std::uint32_t programs, ProgramJob& job) {
  std::vector<Stamp> stamps(layout_.sectors);
  for (std::uint32_t program = 0; program < programs; ++program) {
    job.pu = layout_.pu_of(block);
    job.live = 0;
    job.base = layout_.first_unit(block) + program * layout_.program_units;
    for (std::uint32_t n = 0; n < layout_.program_units; ++n) {
      const Ppn where = job.base + n;
      const Lpn unit = units_[program * layout_.program_units + n];
      const bool valid = pool_.valid(where);
      order_.content(unit, !valid, stamps);
      job.put(unit, where.number(), stamps.data());
    }
    prepare_program(core_, job, Purpose::gc, core_.map->dram_bytes());
    for (std::uint32_t n = 0; n < job.operations; ++n) submit_untimed(core_.hw, job.parts[n].op);
  }
}

/// As often as the pool says.
void SteadyState::erase(BlockNumber block) {
  for (std::uint32_t n = 0; n < pool_.info(block).erases; ++n) {
    for (std::uint32_t stripe_die = 0; stripe_die < layout_.stripe_dies; ++stripe_die) {
      FlashTransaction op(block_op(layout_, FlashCommand::erase, block, stripe_die));
      op.purpose = Purpose::gc;
      submit_untimed(core_.hw, op);
    }
  }
}

}  // namespace tlmssd::firmware
