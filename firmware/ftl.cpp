#include "firmware/ftl.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>
#include <utility>

#include "firmware/core/ecc_watcher.h"
#include "firmware/core/pslc_watcher.h"
#include "firmware/destinations/destinations.h"
#include "firmware/fill/sequential_writes.h"
#include "firmware/ftl_parts.h"
#include "firmware/steady/steady_state.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

/// What the pool can keep with nothing worn out, in units.
std::uint64_t keepable_units(const DriveShape& shape, const Layout& layout, const FirmwareConfig& config) {
  const auto wear = make_wear(config, layout);
  const auto map = make_map(config, layout);
  if (const LogScheme* logs = map->log_scheme()) return logs->most_units(layout);
  const BlockPool::Options options = pool_options(config, shape, layout, *wear, *map);
  const std::uint64_t overhead = options.overhead(layout) + options.statics;
  const std::uint64_t per_pu = layout.blocks > overhead ? (layout.blocks - overhead) * layout.block_units : 0;
  const std::uint64_t all = per_pu * layout.pus;
  const std::uint64_t on_the_way = std::uint64_t{layout.pus} * layout.program_units;
  // Whole program units where these are placed as a whole.
  const std::uint64_t grain = layout.operations > 1 ? layout.program_units : 1;
  return all > on_the_way ? (all - on_the_way) / grain * grain : 0;
}

/// The same without the units that the map itself takes.
std::uint64_t largest_logical_units(const DriveShape& shape, const Layout& layout,
                                    const FirmwareConfig& config) {
  const std::uint64_t kept = keepable_units(shape, layout, config);
  const std::uint64_t units = kept - std::min(kept, layout.feature_units);
  const std::uint64_t entries = make_map(config, layout)->entries_per_page();
  // Every map page, the last one perhaps not full, is one unit less for the host.
  return entries == 0 ? units
                      : units / (entries + 1) * entries + units % (entries + 1) * entries / (entries + 1);
}

/// Over-provisioning with which no more than `most` logical units have to be kept.
std::string spare_for(const Layout& layout, std::uint64_t most) {
  const double ratio = static_cast<double>(layout.total_units()) / static_cast<double>(most);
  return fmt::format("{:.2f} %", std::ceil((ratio - 1) * 1e4) / 1e2);
}

/// Throws when the logical units would fit but for those of a feature. One that names nothing to
/// change about itself needs more spare flash.
void check_own_units(const DriveShape& shape, const Layout& layout, const FirmwareConfig& config) {
  Layout without = layout;
  without.feature_units = 0;
  const std::uint64_t room = largest_logical_units(shape, without, config);
  if (layout.feature_units == 0 || layout.logical_units > room) return;
  const std::uint64_t left = (room - layout.logical_units) * layout.unit_bytes;
  for (const FeatureInfo& info : features()) {
    const FeatureChoice choice = config.choice(info.path);
    if (!choice.is_on() || info.too_many_units == nullptr) continue;
    const auto error = [&] {
      return info.too_many_units(choice, layout.feature_units * layout.unit_bytes, left);
    };
    const std::uint64_t most = largest_logical_units(shape, layout, config);
    if (error().complaint().proposal || most == 0) throw error();
    throw refusal("ssd.flash.over_provisioning", error().complaint().what, spare_for(layout, most));
  }
}

void check_capacity(const Core& core, const DriveShape& shape, const FirmwareConfig& config) {
  if (shape.logical_blocks == 0)
    throw InputError("ssd.flash.over_provisioning: the drive offers no capacity at all");
  if (core.pslc) core.pslc->check_size(core.needed_units(), core.pool.overhead());
  const std::uint64_t most = largest_logical_units(shape, core.layout, config);
  if (core.layout.logical_units <= most) return;
  const Layout& l = core.layout;
  const LogScheme* const logs = core.map->log_scheme();
  if (logs != nullptr && logs->most_logs() > 0) {
    throw refusal(
        "firmware.mapping.log_blocks",
        fmt::format("{} are too many for parallel units of {} blocks that keep {} mapping pages in all",
                    logs->logs(), l.blocks, l.logical_units),
        std::to_string(logs->most_logs()));
  }
  check_own_units(shape, l, config);
  const std::uint32_t overhead = core.pool.set_aside();
  const char* const purpose = logs != nullptr ? "log blocks and merges"
                              : core.pslc     ? "garbage collection, open blocks and static pSLC"
                                              : "garbage collection and open blocks";
  if (most == 0) {
    throw refusal("ssd.flash.part.blocks_per_plane",
                  fmt::format("{} are too few, {} of them are set aside for {}", l.blocks, overhead, purpose),
                  std::to_string(logs != nullptr ? logs->least_blocks() : overhead + 2));
  }
  throw refusal(
      "ssd.flash.over_provisioning",
      fmt::format("{} logical blocks need {} mapping pages, but of the {} on flash only {} can be kept ({} "
                  "parallel units x {} blocks, of which {} per parallel unit are set aside for {})",
                  shape.logical_blocks, l.logical_units, l.total_units(), most, l.pus, l.blocks, overhead,
                  purpose),
      spare_for(l, most));
}

}  // namespace

Ftl::Parts::Parts(Hardware& hardware, const DriveShape& drive, const FirmwareConfig& config)
    : hw(hardware),
      shape(drive),
      core(hardware, drive, config, *this),
      flusher(core),
      gc_worker(core),
      logs(core.map->log_scheme() == nullptr ? nullptr
                                             : std::make_unique<LogBlocks>(core, *core.map->log_scheme())),
      gc_engine(logs ? static_cast<GcEngine&>(*logs) : gc_worker),
      map_pages(core, flusher),
      cache(is_chosen(config.cache.policy) ? std::make_unique<Cache>(core, flusher, drive, config) : nullptr),
      commands(core, shape, flusher, cache.get()) {
  if (core.ecc) core.correction = &correction.emplace(core, drive.frames_per_unit);
  make_features(config);
  for (const auto& [key, value] : Ftl::identity(config)) identity += key + " " + value + "\n";
  check_capacity(core, drive, config);
  hw.host.on_quiet([](void* self) { static_cast<Parts*>(self)->arm_idle_timer(); }, this);
  flusher.send_to(make_destination(flusher, gc_worker, logs.get()));
  core.map->attach(map_pages);
}

void Ftl::Parts::make_features(const FirmwareConfig& config) {
  for (const FeatureInfo& info : features()) {
    const FeatureChoice choice = config.choice(info.path);
    if (!choice.is_on()) continue;
    const FeatureContext context{core,        flusher, gc_worker, gc_engine,   commands.plane_joiner(),
                                 cache.get(), config,  choice,    dram_bytes()};
    chosen.push_back({&info, choice.policy, info.make(context, core.hooks)});
  }
  const auto watch = [this](auto watcher) {
    core.hooks.add(*watcher);
    watchers.push_back(std::move(watcher));
  };
  if (core.ecc && core.ecc->watches_host()) watch(std::make_unique<EccWatcher>(*core.ecc));
  if (core.pslc) watch(std::make_unique<PslcWatcher>(core));
}

Bytes Ftl::Parts::dram_bytes() const {
  Bytes bytes = flusher.buffer().dram_bytes() + (cache ? cache->dram_bytes() : 0);
  for (const Chosen& one : chosen) bytes += one.feature->dram_bytes();
  return bytes;
}

void Ftl::Parts::drop_gathered() {
  for (const Chosen& one : chosen) one.feature->drop();
}

void Ftl::Parts::now_read_only() {
  flusher.now_read_only();
  gc_engine.now_read_only();
  drop_gathered();
  if (cache) cache->now_read_only();
}

void Ftl::Parts::work_ended() {
  begin_map_eviction();
  while (const auto waiter = quiet.pop()) hw.event_queue.soon(waiter);
}

Task<> Ftl::Parts::drain() {
  while (!idle()) {
    if (flusher.buffer().waiting() > 0 && !core.read_only) {
      Flushed flushed(flusher);
      co_await flushed;
    } else {
      co_await quiet.wait();
    }
  }
  drop_gathered();
  timer_wanted = false;
}

// ------------------------------------------------------------------------------------------------------------------ idle time

// The host has become idle: it has nothing outstanding any more. Nothing polls for that.
void Ftl::Parts::arm_idle_timer() {
  if (core.config.gc.idle_after == 0 || !commands.active.empty()) return;
  last_activity = hw.event_queue.now();
  timer_wanted = true;
  if (timer_pending) return;
  timer_pending = true;
  hw.event_queue.at(last_activity + core.config.gc.idle_after, &Parts::idle_timer, this);
}

void Ftl::Parts::idle_timer(void* self) {
  Parts& parts = *static_cast<Parts*>(self);
  parts.timer_pending = false;
  if (!parts.timer_wanted || !parts.commands.active.empty() || parts.core.read_only) return;
  const Picoseconds due = parts.last_activity + parts.core.config.gc.idle_after;
  if (due > parts.hw.event_queue.now()) {
    parts.timer_pending = true;
    parts.hw.event_queue.at(due, &Parts::idle_timer, &parts);
    return;
  }
  parts.timer_wanted = false;
  if (parts.hw.host.outstanding() > 0) return;  // it will be idle anew
  parts.begin_idle();
}

void Ftl::Parts::begin_idle() {
  gc_engine.set_idle(true);
  map_eviction_due = core.map->entries_per_page() > 0;
  begin_map_eviction();
}

void Ftl::Parts::begin_map_eviction() {
  if (!map_eviction_due || !gc_engine.idle() || evicting_map) return;
  map_eviction_due = false;
  if (core.read_only || core.map->resident(0, 0)) return;
  evicting_map = true;
  tasks.start(evict_map());
}

// What is put in while this goes on is left to the next command, or idle time: writing map pages
// may start collection, whose moves put more in, and so on without end.
Task<> Ftl::Parts::evict_map() {
  co_await core.map->fetch(0, 0, nullptr);
  evicting_map = false;
  work_ended();
}

// -------------------------------------------------------------------------------------------------------------- public interface

Ftl::Ftl(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& config)
    : parts_(std::make_unique<Parts>(hardware, shape, config)) {}

Ftl::~Ftl() = default;

void Ftl::submit(HostCommand& command) {
  Parts& p = *parts_;
  if (p.gc_engine.idle_mode()) p.gc_engine.set_idle(false);
  p.map_eviction_due = false;
  p.timer_wanted = false;
  p.commands.submit(command);
}

Task<> Ftl::drain() {
  return parts_->drain();
}

bool Ftl::power_cycle() {
  Parts& p = *parts_;
  const bool staging = p.cache && p.cache->staging();
  if (!p.commands.active.empty() || staging || !p.features_idle() || p.flusher.jobs_in_flight() > 0 ||
      !p.gc_engine.idle() || p.evicting_map)
    throw std::logic_error("firmware: power may only fail between commands and programs");
  if (p.cache) p.cache->power_lost();
  p.flusher.power_lost();
  p.drop_gathered();
  for (const Parts::Chosen& one : p.chosen) one.feature->on_power_lost();
  p.core.map->power_lost();
  p.core.partial_trims.forget_if([&p](Lpn unit) { return !p.commands.holds_data(unit); });
  return true;
}

void Ftl::rest(std::uint32_t cycles, std::int64_t nanoseconds) {
  parts_->core.cycles_before += cycles;
  parts_->core.rested += nanoseconds;
  if (parts_->core.ecc) parts_->core.ecc->rested();
}

// The host may let time pass before its first command: idle time like any other. Whether it does is
// known at the end of this instant; a load that begins at once arms nothing.
void Ftl::set_timed(bool timed) {
  parts_->timed = timed;
  if (!timed || parts_->core.config.gc.idle_after == 0) return;
  parts_->hw.event_queue.soon(
      [](void* self) {
        Parts& parts = *static_cast<Parts*>(self);
        if (parts.timed && parts.hw.host.outstanding() == 0) parts.arm_idle_timer();
      },
      parts_.get());
}

void Ftl::put_off_background(bool put_off) {
  if (put_off) {
    parts_->gc_engine.put_off();
  } else {
    parts_->gc_engine.go_on(parts_->timed);
  }
}

void Ftl::idle_time() {
  parts_->begin_idle();
  parts_->gc_engine.set_idle(false);
}

std::string Ftl::steady_only_by_writing() const {
  if (parts_->cache) return "firmware.cache takes writes before they are mapped";
  for (const Parts::Chosen& one : parts_->chosen) {
    if (one.feature->places_data())
      return fmt::format("{} has its own part in where data lie", one.info->path);
  }
  return SteadyState::only_by_writing(parts_->core);
}

std::uint32_t Ftl::steady_cycles(std::uint64_t seed) const {
  const SteadyOrder order{.seed = seed, .content = nullptr};
  return SteadyState(parts_->core, parts_->gc_worker, order).cycles();
}

std::string Ftl::make_steady(const SteadyOrder& order) {
  return SteadyState(parts_->core, parts_->gc_worker, order).make();
}

bool Ftl::knows_fill(const FillOrder& order) const {
  Parts& p = *parts_;
  const auto in_the_way = [&p](const Parts::Chosen& one) {
    return p.core.hooks.sees_writes(*one.feature) && !one.feature->knows_fill();
  };
  return p.cache == nullptr && p.watchers.empty() && !p.logs &&
         std::none_of(p.chosen.begin(), p.chosen.end(), in_the_way) &&
         SequentialWrites(p.core, p.flusher, p.gc_worker).known(order);
}

std::uint64_t Ftl::fill(const FillOrder& order) {
  if (!knows_fill(order)) return 0;
  Parts& p = *parts_;
  const std::uint64_t done = SequentialWrites(p.core, p.flusher, p.gc_worker).carry_out(order);
  const std::uint64_t units = done * order.units;
  for (const Parts::Chosen& one : p.chosen) one.feature->on_fill(units, units / p.core.layout.program_units);
  return done;
}

void Ftl::disturb(std::uint32_t reads) {
  for (const Parts::Chosen& one : parts_->chosen) one.feature->on_disturbed(reads);
}

void Ftl::patrol() {
  for (const Parts::Chosen& one : parts_->chosen) one.feature->patrol();
}

double Ftl::next_due() {
  double soonest = std::numeric_limits<double>::infinity();
  for (const Parts::Chosen& one : parts_->chosen) soonest = std::min(soonest, one.feature->next_due());
  return soonest;
}

double Ftl::patrol_interval() const {
  double shortest = 0;
  for (const Parts::Chosen& one : parts_->chosen) {
    const double interval = one.feature->patrol_interval();
    if (interval > 0 && (shortest == 0 || interval < shortest)) shortest = interval;
  }
  return shortest;
}

EccCodes Ftl::codes() const {
  return parts_->core.ecc ? parts_->core.ecc->codes() : EccCodes();
}

std::uint32_t Ftl::most_attempts() const {
  return parts_->core.ecc ? parts_->core.ecc->most_attempts() : 1;
}

std::int64_t Ftl::clock() const {
  return parts_->core.clock();
}

bool Ftl::background_without_room() const {
  const Parts& p = *parts_;
  return !p.logs && p.core.config.gc.background_start > 0 && p.gc_worker.background_start() == 0;
}

bool Ftl::idle() const {
  return parts_->idle();
}

bool Ftl::read_only() const {
  return parts_->core.read_only;
}

std::string Ftl::why_read_only() const {
  const Core& core = parts_->core;
  if (core.end_of_life == EndOfLife::spare_blocks) return Firmware::why_read_only();
  if (core.end_of_life == EndOfLife::victim_policy) {
    return fmt::format("firmware.gc.policy {} chose none of the blocks, and some held invalid units",
                       core.config.gc.policy);
  }
  return "collection has no free block to work with, though those that are left would keep the capacity; "
         "with more spare flash (ssd.flash.spare_factor) the drive takes more";
}

Bytes Ftl::dram_bytes() const {
  return parts_->dram_bytes();
}

Bytes Ftl::host_memory_bytes() const {
  return parts_->core.map->host_memory_bytes();
}

std::uint64_t Ftl::largest_logical_blocks(const DriveShape& shape, const FirmwareConfig& config) {
  const Layout layout = make_layout(shape, config);
  return largest_logical_units(shape, layout, config) * layout.sectors;
}

std::uint32_t Ftl::placement_handles(const FirmwareConfig& config) {
  return handles_of(config).count;
}

void Ftl::describe_stall(std::string& text) const {
  parts_->describe_stall(text);
}

void Ftl::archive(Archive& archive) {
  parts_->archive(archive);
}

void Ftl::report(StatisticsSink& sink) const {
  parts_->report(sink);
}

void Ftl::reset_statistics() {
  parts_->core.stats = {};
  parts_->flusher.turns().reset_statistics();
  parts_->core.map->reset_statistics();
  if (parts_->core.pslc) parts_->core.pslc->reset_statistics(parts_->hw.event_queue.now());
  if (parts_->cache) parts_->cache->reset_statistics();
  for (const Parts::Chosen& one : parts_->chosen) one.feature->reset_statistics();
}

const FtlStatistics& Ftl::statistics() const {
  return parts_->core.stats;
}

const MappingScheme& Ftl::map() const {
  return *parts_->core.map;
}

std::uint64_t Ftl::next_touched(std::uint64_t unit, std::uint64_t end) const {
  return parts_->core.next_touched(unit, end);
}

const BlockPool& Ftl::blocks() const {
  return parts_->core.pool;
}

std::uint32_t Ftl::buffered_units() const {
  const WriteBuffer& buffer = parts_->flusher.buffer();
  return buffer.capacity() - buffer.free();
}

const Cache* Ftl::cache() const {
  return parts_->cache.get();
}

const Feature* Ftl::feature(std::string_view path) const {
  for (const Parts::Chosen& one : parts_->chosen) {
    if (one.info->path == path) return one.feature.get();
  }
  return nullptr;
}

std::optional<PslcRoom> Ftl::pslc_room() const {
  const auto& pslc = parts_->core.pslc;
  return pslc ? std::optional(pslc->room()) : std::nullopt;
}

double Ftl::write_amplification() const {
  const FtlStatistics& s = parts_->core.stats;
  const double written = static_cast<double>(s.host_blocks_written) / parts_->core.layout.sectors;
  return written > 0 ? static_cast<double>(s.slots_programmed()) / written : 0;
}

}  // namespace tlmssd::firmware
