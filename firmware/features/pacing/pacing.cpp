#include "firmware/features/pacing/pacing.h"

#include <algorithm>
#include <utility>

#include "firmware/buffer/flusher.h"
#include "firmware/gc/worker.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

void check(const Core& core, const GcWorker& gc_worker) {
  const auto refuse = [](const std::string& why) { throw refusal("firmware.pacing.policy", why, "none"); };
  if (core.map->log_scheme() != nullptr)
    refuse("log blocks are made room for by merges, not by collection in the background");
  if (core.pslc) refuse("writes go to blocks in SLC mode first (firmware.pslc.policy is not none)");
  if (gc_worker.background_start() == 0) {
    refuse(
        "collection in the background, which writes would be paced by, is switched off or has no room (too "
        "few spare blocks in a parallel unit)");
  }
}

}  // namespace

const ParameterTable<PacingConfig>& PacingConfig::parameters() {
  static const auto table = ParameterTable<PacingConfig>{}.real(
      "free_blocks", &PacingConfig::free_blocks, {0.5, 16},
      "free space that is aimed at, in blocks of each parallel unit beyond gc.low_water: 1 is what victims "
      "and the open block of collection hold on average; more makes bandwidth smoother and costs some of it, "
      "with "
      "less single commands wait longer (assumption)");
  return table;
}

Pacing::Pacing(const FeatureContext& context)
    : config_(context.choice.read<PacingConfig>()),
      core_(context.core),
      flusher_(context.flusher),
      gc_worker_(context.gc_worker),
      policy_name_(context.choice.policy),
      collections_(core_.layout.pus),
      stagger_(core_) {
  check(core_, gc_worker_);
  policy_ = make_policy(pacing_family(), "firmware.pacing.policy", policy_name_, context.choice.values);
  // Collection begins when the host opens the block that leaves less than background_start().
  full_ = gc_worker_.background_start() - core_.pool.reserve() + 1;
  most_ = static_cast<double>(core_.layout.pus) * core_.layout.program_units;
  measure();
}

// ------------------------------------------------------------------------------------------------------------- the account

bool Pacing::active() const {
  return free_ < full_ && !gc_worker_.idle();
}

// Exact when it is looked at; in between, a few programs of each parallel unit old. True: it was.
bool Pacing::measure() {
  if (left_ > 0) {
    --left_;
    return false;
  }
  const Layout& layout = core_.layout;
  left_ = layout.pus - 1;
  double slots = 0;
  std::uint32_t collecting = 0;
  for (std::uint32_t n = 0; n < layout.pus; ++n) {
    if (gc_worker_.running(n)) ++collecting;
    const BlockPool::ParallelUnit& pu = core_.pool.pu(n);
    slots += static_cast<double>(pu.free) * layout.block_units + collections_[n].moved;
    core_.pool.for_each_open(n, [&](const BlockPool::Frontier& open) {
      slots += layout.block_units - std::min(open.next * layout.program_units, layout.block_units);
    });
  }
  free_ = slots / layout.block_units / layout.pus - core_.pool.reserve();
  apart_ = static_cast<double>(layout.pus) / std::max(collecting, 1U);
  return true;
}

void Pacing::grant(double slots) {
  ++grants_;
  account_ = std::min(account_ + slots, most_);
  measure();
  if (held_since_ >= 0) flusher_.pump();
}

void Pacing::on_victim(std::uint32_t pu, BlockNumber block) {
  Collection& collection = collections_[pu];
  const std::uint32_t all = core_.layout.block_units;
  const BlockInfo& info = core_.pool.info(block);
  // A failed block is not erased: moving its data frees nothing.
  collection.worth = info.valid > 0 && !info.failed ? static_cast<double>(all) / info.valid : 0;
  if (info.valid == 0 && !info.failed) collection.due += all;
  // Collection may have begun just now.
  if (!active()) left_ = 0;
  measure();
}

void Pacing::on_moved(std::uint32_t pu, std::uint32_t slots) {
  Collection& collection = collections_[pu];
  const double freed = collection.worth * slots;
  collection.moved += freed;
  const double level = std::max(free_, 0.0) / config_.free_blocks;
  const double granted = policy_->grant(
      {.moved = static_cast<double>(slots), .gained = std::max(freed - slots, 0.0), .level = level});
  // Parallel units that have not begun to collect yet have room to spare: the host may use it as if
  // they had, as long as there is more than is aimed at.
  grant(granted * (1 + (apart_ - 1) * std::clamp(level - 1, 0.0, 1.0)));
}

void Pacing::on_erased(std::uint32_t pu) {
  Collection& collection = collections_[pu];
  const std::uint64_t all = core_.layout.block_units;
  if (collection.due >= all && collection.moved < static_cast<double>(all)) {
    collection.due -= all;
    grant(static_cast<double>(all));
    return;
  }
  collection.moved = std::max(collection.moved - static_cast<double>(all), 0.0);
}

void Pacing::on_collected(std::uint32_t /*pu*/) {
  if (held_since_ >= 0) flusher_.pump();
}

// ----------------------------------------------------------------------------------------------------------- holding programs

bool Pacing::holds_program(std::uint32_t /*slots*/) {
  if (!active()) account_ = std::max(account_, 0.0);
  if (!active() || account_ >= 0) {
    let_go();
    return false;
  }
  if (held_since_ < 0) {
    held_since_ = core_.hw.event_queue.now();
    ++counters_.held;
  }
  if (!std::exchange(waiting_, true)) {
    seen_ = grants_;
    core_.hw.event_queue.at(core_.hw.event_queue.now() + k_patience, &Pacing::patience_over, this);
  }
  return true;
}

void Pacing::let_go() {
  if (held_since_ < 0) return;
  const Picoseconds wait = core_.hw.event_queue.now() - std::exchange(held_since_, -1);
  counters_.waited += wait;
  counters_.longest = std::max(counters_.longest, wait);
}

void Pacing::on_program(const ProgramJob& job, bool /*kept_away*/) {
  stagger_.on_program(job.pu);
  if (!active()) return;
  ++counters_.paced;
  account_ -= core_.layout.program_units;
}

// A fill leaves more blocks free than pacing looks for, and it is looked at again while the rest,
// twice what the write buffer holds, is written: as many programs as there are parallel units.
bool Pacing::knows_fill() const {
  const Layout& layout = core_.layout;
  return std::uint64_t{2} * flusher_.buffer().capacity() >= std::uint64_t{layout.pus} * layout.program_units;
}

// --------------------------------------------------------------------------------------------------- out of step

bool Pacing::restricts_writes() {
  const bool measured = measure();
  if (active()) {
    stagger_.stop();
  } else if (measured && free_ < full_ + 1) {
    stagger_.begin_if_in_step();
  }
  return stagger_.on();
}

void Pacing::patience_over(void* self) {
  Pacing& pacing = *static_cast<Pacing*>(self);
  pacing.waiting_ = false;
  if (pacing.held_since_ < 0) return;
  if (pacing.grants_ == pacing.seen_) {
    pacing.account_ = 0;
    ++pacing.counters_.released;
  }
  pacing.flusher_.pump();
}

// ---------------------------------------------------------------------------------------------------------- state and reports

void Pacing::on_power_lost() {
  held_since_ = -1;
}

void Pacing::report(StatisticsSink& sink) const {
  constexpr double k_us = 1e-6;
  sink.open("pacing", "writes of the host while free blocks are few");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("programs paced", counters_.paced, "",
             "program units of the write buffer sent out while collection worked and free space was low");
  sink.value("holds", counters_.held, "", "times that the next one had to wait for collection");
  sink.value("held for", static_cast<double>(counters_.waited) * k_us, "us", "sum of these waits");
  sink.value("longest hold", static_cast<double>(counters_.longest) * k_us, "us", "longest of them");
  sink.value("released", counters_.released, "",
             "program units sent out because collection itself made no progress");
  sink.value("free space", free_, "blocks",
             "of a parallel unit, on average, beyond the reserve: in free and open blocks, and in victims as "
             "far as they have been moved");
  sink.value("free space aimed at", config_.free_blocks, "blocks",
             "the same, where the host gets just what is freed");
  sink.close();
}

void Pacing::archive(Archive& a) {
  for (Collection& collection : collections_) {
    a(collection.worth);
    a(collection.moved);
    a(collection.due);
  }
  policy_->archive(a);
  a(free_);
  a(account_);
  a(left_);
  a(apart_);
  stagger_.archive(a);
  a(counters_);
}

}  // namespace tlmssd::firmware
