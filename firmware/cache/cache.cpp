#include "firmware/cache/cache.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/make_policy.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

// ------------------------------------------------------------------------------------------------------------------ set-up

namespace {

MemoryKind checked_medium(const CacheConfig& config, Bytes scm) {
  if (!config.lies_in_scm()) return MemoryKind::dram;
  if (scm == 0) {
    throw refusal("firmware.cache.medium",
                  "scm, but the drive has no SCM; give it a section ssd.scm, or write 'medium: dram'",
                  Proposal{"ssd.scm.capacity", "64 MiB"});
  }
  return MemoryKind::scm;
}

Bytes checked_capacity(const CacheConfig& config, const Layout& layout, Bytes scm) {
  Bytes capacity = config.capacity;
  if (config.lies_in_scm()) {
    if (capacity == 0) capacity = scm;
    if (capacity > scm) {
      throw refusal("firmware.cache.capacity", fmt::format("{} B, but the SCM has {} B", capacity, scm),
                    fmt::format("{} B", scm));
    }
  } else if (capacity == 0) {
    throw refusal("firmware.cache.capacity", "a cache in DRAM needs its size", "16 MiB");
  }
  // Room for what is on its way out and as much again that stays.
  const Bytes least = Bytes{2} * layout.program_units * layout.unit_bytes;
  if (capacity < least) {
    throw refusal("firmware.cache.capacity",
                  fmt::format("{} B cannot hold two program units of {} B each", capacity, least / 2),
                  fmt::format("{} B", least));
  }
  return capacity;
}

Bytes checked_grain(const CacheConfig& config, const Layout& layout, Bytes lba_bytes, Bytes capacity) {
  const Bytes grain = config.grain == 0 ? layout.unit_bytes : std::max(config.grain, lba_bytes);
  const bool divides = config.grain == 0 || layout.unit_bytes % config.grain == 0;
  if (!divides || layout.unit_bytes % grain != 0 || grain % lba_bytes != 0) {
    throw refusal(
        "firmware.cache.grain",
        fmt::format("{} B does not divide the mapping page of {} B into whole logical blocks of {} B",
                    config.grain, layout.unit_bytes, lba_bytes),
        fmt::format("{} B", config.grain > layout.unit_bytes ? layout.unit_bytes : lba_bytes));
  }
  if (capacity / grain > 0xFFFFFFFEU) {
    throw refusal("firmware.cache.grain",
                  fmt::format("{} B are more than 4 billion grains of {} B", capacity, grain),
                  fmt::format("{} B", layout.unit_bytes));
  }
  return grain;
}

/// Grains of `capacity` to keep free, as the policy wants them.
std::uint64_t checked_free(const CachePolicy& policy, const std::string& name, std::uint64_t capacity) {
  const double share = policy.keep_free();
  if (!(share >= 0 && share < 1))
    throw objection(
        "firmware.cache.policy",
        fmt::format("{} keeps {} of the cache free, which is no share from 0 to below 1", name, share));
  return static_cast<std::uint64_t>(share * static_cast<double>(capacity));
}

}  // namespace

Cache::Cache(Core& core, Flusher& flusher, const DriveShape& shape, const FirmwareConfig& config)
    : core_(core),
      flusher_(flusher),
      medium_(checked_medium(config.cache, shape.scm_bytes)),
      lba_bytes_(shape.lba_bytes),
      capacity_(checked_capacity(config.cache, core.layout, shape.scm_bytes)),
      copy_waits_(config.cache.copy_waits),
      copy_units_(config.cache.copy_in == "unit"),
      write_all_(config.cache.write_back == "all"),
      programs_take_part_(core.places != nullptr || core.map->log_scheme() != nullptr),
      store_(medium_ == MemoryKind::dram ? flusher.buffer().dram_bytes() : 0, capacity_,
             checked_grain(config.cache, core.layout, lba_bytes_, capacity_), core.layout.sectors,
             lba_bytes_),
      policy_(make_policy(
          cache_family(), "firmware.cache.policy", config.cache.policy, config.cache_policy,
          CacheContext{store_, capacity_ / core.layout.unit_bytes, core.layout.logical_units, config.seed})),
      keep_free_(checked_free(*policy_, config.cache.policy, store_.capacity())) {
  flusher.completions().attach(*this);
}

// ------------------------------------------------------------------------------------------------------------------- reads

bool Cache::covers(std::uint64_t lba, std::uint64_t blocks) const {
  const std::uint32_t sectors = core_.layout.sectors;
  const std::uint64_t end = lba + blocks;
  for (std::uint64_t unit = lba / sectors; unit * sectors < end; ++unit) {
    const Index i = store_.find(static_cast<Lpn>(unit));
    if (!store_.has(i, core_.layout.sectors_of(unit, lba, end))) return false;
  }
  return true;
}

std::uint64_t Cache::take(HostCommand& command, Lpn unit, std::uint64_t want, MemorySpans& where) {
  ++stats_.reads;
  const Index i = store_.find(unit);
  if (i == LineStore::k_none) return want;
  const std::uint64_t here = want & store_.line(i).present;
  if (here == 0) return want;
  ++(here == want ? stats_.read_hits : stats_.read_partial);
  copy_sectors(command, std::uint64_t{unit} * core_.layout.sectors, here, store_.stamps(i));
  store_.locate(i, here, where);
  if (store_.line(i).state == State::resident) policy_->used(i, false);
  return want & ~here;
}

std::uint32_t Cache::grains_to_copy(std::uint64_t lba, std::uint64_t blocks) const {
  if (!copy_waits_ || !policy_->copies_reads()) return 0;
  const std::uint32_t sectors = core_.layout.sectors;
  const std::uint64_t end = lba + blocks;
  std::uint64_t grains = 0;
  for (std::uint64_t unit = lba / sectors; unit * sectors < end; ++unit) {
    const Index i = store_.find(static_cast<Lpn>(unit));
    const std::uint64_t held = ~core_.partial_trims.of(static_cast<Lpn>(unit));
    const std::uint64_t want = core_.layout.sectors_of(unit, lba, end) & held;
    if (store_.has(i, want) || core_.lookup(static_cast<Lpn>(unit)) == k_nowhere) continue;
    grains += store_.missing(i, copy_units_ ? store_.all_sectors() & held : want);
  }
  // A read that would fill a good part of the cache copies what there is room for.
  return grains <= store_.capacity() / 8 ? static_cast<std::uint32_t>(grains) : 0;
}

void Cache::copy_in(Lpn unit, Ppn place, std::uint64_t need, const Stamp* stamps, Hold* hold) {
  auto* const promised = static_cast<Reservation*>(hold);
  // The host may have written or trimmed the unit since it was read.
  if (core_.lookup(unit) != place || flusher_.buffer().find(unit) != WriteBuffer::k_none) return;
  if (!core_.poisoned.empty() && core_.poisoned.contains(unit)) return;
  Index i = store_.find(unit);
  if (copy_units_) need = store_.all_sectors();
  need &= ~core_.partial_trims.of(unit);
  if (i != LineStore::k_none) need &= ~store_.line(i).present;
  if (need == 0 || !policy_->admits_read(unit)) return;
  const std::uint32_t more = store_.missing(i, need);
  if (promised != nullptr && promised->left_ >= more) {
    promised->use(more);
  } else if (room() < more || awaited()) {
    ++stats_.copies_skipped;
    return;
  }
  const bool fresh = i == LineStore::k_none;
  if (fresh) i = store_.add(unit);
  if (store_.line(i).state == State::leaving) leaving_grains_ += more;
  MemorySpans where;
  store_.lay(i, need, stamps, false, where);
  for (const MemorySpans::Span& span : where)
    core_.hw.memory.access(medium_, span.address, span.bytes, true, posted_);
  ++stats_.copies_in;
  if (fresh) {
    tell(unit, "admitted", "a read");
    policy_->added(i, false);
  } else if (store_.line(i).state == State::resident) {
    policy_->used(i, false);
  }
}

// ------------------------------------------------------------------------------------------------------------------ writes

bool Cache::takes(Lpn unit) {
  ++stats_.writes;
  if (holds(unit)) {
    ++stats_.write_hits;
    return true;
  }
  if (policy_->admits_write(unit)) {
    tell(unit, "admitted", "a write");
    return true;
  }
  tell(unit, "not admitted", "a write");
  ++stats_.around;
  return false;
}

bool Cache::put(Lpn unit, std::uint64_t sectors, const Stamp* stamps, std::uint32_t command,
                MemorySpans& where, Reservation* promised) {
  Index i = store_.find(unit);
  const std::uint32_t more = store_.missing(i, sectors);
  if (promised != nullptr) {
    promised->use(more);
  } else if (more > 0 && (awaited() || room() < more)) {
    return false;
  }
  const bool fresh = i == LineStore::k_none;
  if (fresh) {
    i = store_.add(unit);
  } else if (store_.line(i).state == State::leaving) {
    stay(i);
  }
  const auto written = static_cast<std::uint64_t>(std::popcount(sectors));
  stats_.sectors_written += written;
  stats_.sectors_dirtied += static_cast<std::uint64_t>(std::popcount(sectors & ~store_.line(i).dirty));
  store_.line(i).command = command;
  store_.lay(i, sectors, stamps, true, where);
  if (fresh) {
    policy_->added(i, true);
  } else {
    policy_->used(i, true);
  }
  pump();
  return true;
}

bool Cache::Reservation::await_ready() {
  Cache& c = cache_;
  if (c.core_.read_only) return true;
  if (!c.awaited() && c.room() >= wanted_) {
    left_ = wanted_;
    c.reserved_ += left_;
    return true;
  }
  before_ = c.flusher_.space().collection_wait();
  c.waiting_.push(*this);
  c.wanted_ += wanted_;
  ++c.stats_.full_waits;
  c.pump();
  return left_ > 0 || c.core_.read_only;
}

Cache::Reservation::~Reservation() {
  if (next != nullptr) cache_.forget(*this);
  if (left_ == 0) return;
  cache_.reserved_ -= left_;
  cache_.grant();
}

/// Who waits goes away (the drive is taken down while commands are under way).
void Cache::forget(Reservation& room) {
  waiting_.erase(room);
  wanted_ -= room.wanted_;
}

void Cache::grant() {
  while (awaited() && room() >= waiting_.front()->wanted_) {
    Reservation& next = waiting_.pop();
    wanted_ -= next.wanted_;
    next.left_ = next.wanted_;
    reserved_ += next.left_;
    if (next.waiter_) core_.hw.event_queue.soon(next.waiter_);
  }
}

/// A line goes, whatever it holds.
void Cache::remove(Index i) {
  if (store_.line(i).state == State::leaving) {
    leaving_grains_ -= grains(i);
  } else {
    policy_->removed(i);
  }
  store_.remove(i);
  grant();
}

bool Cache::discard(Lpn unit) {
  const Index i = store_.find(unit);
  if (i == LineStore::k_none) return false;
  stats_.sectors_discarded += static_cast<std::uint64_t>(std::popcount(store_.line(i).dirty));
  remove(i);
  return core_.lookup(unit) == k_nowhere && flusher_.buffer().find(unit) == WriteBuffer::k_none;
}

std::uint64_t Cache::discard(std::uint64_t first, std::uint64_t end) {
  std::uint64_t unknown = 0;
  if (end - first <= store_.lines()) {
    for (std::uint64_t unit = first; unit < end; ++unit) unknown += discard(static_cast<Lpn>(unit)) ? 1 : 0;
    return unknown;
  }
  for (Index i = 0; i < store_.used(); ++i) {
    const LineStore::Line& line = store_.line(i);
    if (line.state == State::free || line.unit < first || line.unit >= end) continue;
    unknown += discard(line.unit) ? 1 : 0;
  }
  return unknown;
}

void Cache::trim(Lpn unit, std::uint64_t sectors) {
  const Index i = store_.find(unit);
  if (i == LineStore::k_none) return;
  const LineStore::Line& line = store_.line(i);
  const bool was_dirty = line.dirty != 0;
  stats_.sectors_discarded += static_cast<std::uint64_t>(std::popcount(line.dirty & sectors));
  if ((line.present & ~sectors) == 0) {
    remove(i);
    return;
  }
  const std::uint32_t freed = store_.trim(i, sectors);
  if (line.state == State::leaving) leaving_grains_ -= freed;
  // What an earlier eviction has staged counts as clean, but flash has it only when that has ended:
  // until now the line could not go before.
  const bool staged = flusher_.buffer().find(unit) != WriteBuffer::k_none;
  if (was_dirty && line.dirty == 0 && staged && line.state == State::resident) {
    stats_.sectors_back += static_cast<std::uint64_t>(std::popcount(line.present));
    store_.set_dirty(i, line.present);
  }
  grant();
}

// --------------------------------------------------------------------------------------------------------------- all of it

Task<> Cache::stage_all() {
  ++flushes_;
  for (Index i = 0; i < store_.used(); ++i) {
    const LineStore::Line& line = store_.line(i);
    if (line.state == State::resident && line.dirty != 0 && !core_.read_only) write_out(i, nullptr);
  }
  const std::uint64_t target = started_;
  while (ended_ < target) co_await flush_queue_.wait();
  --flushes_;
}

void Cache::now_read_only() {
  while (!waiting_.empty()) {
    const Reservation& next = waiting_.pop();
    if (next.waiter_) core_.hw.event_queue.soon(next.waiter_);
  }
  wanted_ = 0;
}

void Cache::power_lost() {
  if (non_volatile()) return;
  for (Index i = 0; i < store_.used(); ++i) {
    if (store_.line(i).state == State::free) continue;
    stats_.sectors_lost += static_cast<std::uint64_t>(std::popcount(store_.line(i).dirty));
    remove(i);
  }
}

void Cache::archive(Archive& a) {
  a(store_);
  policy_->archive(a);
  a(started_);
  ended_ = started_;
  a(stats_);
}

void Cache::report(StatisticsSink& sink) const {
  const CacheStatistics& s = stats_;
  sink.open("cache", "cache in SCM or DRAM");
  sink.text("policy", core_.config.cache.policy, "what is taken in and what is given up");
  sink.text("medium", non_volatile() ? "SCM" : "DRAM", "memory that it lies in");
  sink.value("capacity", capacity_, "B", "its size");
  sink.value("reads", s.reads, "units", "mapping pages looked up by reads");
  sink.value("read hits", s.read_hits, "units", "of these, units of which everything asked for was here");
  sink.value("read partial hits", s.read_partial, "units", "units of which some logical blocks were here");
  sink.value("read hit share", ratio(s.read_hits, s.reads), "share", "read hits per unit looked up");
  sink.value("copies in", s.copies_in, "units",
             "units of which blocks were copied in after a read from flash");
  sink.value("copies skipped", s.copies_skipped, "units", "copies given up because there was no room");
  sink.value("writes", s.writes, "units", "mapping pages touched by writes");
  sink.value("write hits", s.write_hits, "units", "of these, units that were here");
  sink.value("write hit share", ratio(s.write_hits, s.writes), "share", "write hits per unit touched");
  sink.value("writes around", s.around, "units", "units that the policy sent to flash instead");
  sink.value("waits for room", s.full_waits, "", "times a command waited for free room");
  sink.value("evictions", s.evictions, "units", "units staged to be written to flash");
  sink.value("incomplete evictions", s.incomplete, "units",
             "of these, units that lacked blocks (read-modify-write)");
  sink.value("evictions called off", s.called_off, "units",
             "units written again by the host before they were staged");
  sink.value("dropped clean", s.dropped, "units", "units given up without a write, because flash has them");
  sink.value("blocks written", s.sectors_written, "blocks",
             "logical blocks that the host wrote into the cache");
  sink.value("blocks made dirty", s.sectors_dirtied, "blocks",
             "of these, blocks that were not dirty already");
  sink.value("blocks written out", s.sectors_out, "blocks",
             "dirty logical blocks staged to be written to flash");
  sink.value("blocks discarded", s.sectors_discarded, "blocks", "dirty logical blocks given up by trim");
  sink.value("blocks brought back", s.sectors_back, "blocks",
             "dirty again, because they could not be written out");
  sink.value("dirty", store_.dirty_sectors(), "blocks", "dirty logical blocks at the end");
  sink.value("lines", store_.lines(), "units", "mapping pages here at the end, wholly or in part");
  sink.value("free share", ratio(store_.free(), store_.capacity()), "share", "free room at the end");
  sink.close();
}

void Cache::describe_stall(std::string& text) const {
  text += fmt::format(
      "  cache: {} of {} grains free, {} on their way out, {} set aside, {} wanted; {} evictions not "
      "staged\n",
      store_.free(), store_.capacity(), leaving_grains_, reserved_, wanted_, unstaged_);
}

}  // namespace tlmssd::firmware
