#include "firmware/features/redirection/redirection.h"

#include <fmt/format.h>

#include "firmware/flash/flash_await.h"
#include "firmware/flash/read_batch.h"
#include "models/base/content.h"
#include "models/base/input_error.h"
#include "models/base/mixing.h"

namespace tlmssd::firmware {

namespace {

constexpr const char* k_duplicates = "duplicates";
constexpr const char* k_selective = "selective";

void check(const FeatureContext& context, Bytes capacity) {
  const Core& core = context.core;
  const Layout& layout = core.layout;
  const auto refuse = [](const std::string& why) {
    throw refusal("firmware.redirection.policy", why, "none");
  };
  if (!core.map->can_redirect())
    refuse(fmt::format("redirection needs the map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (layout.stripe_dies > 1)
    refuse("redirection needs blocks of one die (firmware.allocation.stripe is not none)");
  if (layout.pus == layout.pus_per_die) refuse("on a drive with one die there is no other for a read");
  for (const char* const path : {"firmware.replicas", "firmware.parity"}) {
    if (context.config.choice(path).is_on())
      refuse(
          fmt::format("reads of busy dies are served in another way as well ({}.policy is not none)", path));
  }
  if (context.choice.policy != k_selective) return;
  if (capacity % layout.unit_bytes != 0) {
    throw refusal(
        "firmware.redirection.capacity",
        fmt::format("{} B are no whole mapping pages of {} B", capacity, layout.unit_bytes),
        fmt::format("{} B", (capacity + layout.unit_bytes - 1) / layout.unit_bytes * layout.unit_bytes));
  }
  const std::uint64_t least = std::uint64_t{2} * layout.program_units;
  if (layout.feature_units < least) {
    throw refusal(
        "firmware.redirection.capacity",
        fmt::format("{} B are less than the two program units that are gathered at a time", capacity),
        fmt::format("{} B", least * layout.unit_bytes));
  }
}

}  // namespace

const ParameterTable<RedirectionConfig>& RedirectionConfig::parameters() {
  using C = RedirectionConfig;
  static const auto table =
      ParameterTable<C>{}
          .bytes("capacity", &C::capacity, {65536, Bytes{1} << 44U},
                 "room for replicas, with selective; it is taken from the spare blocks")
          .shapes_state()
          .integer("contents", &C::contents, {1, 1 << 24}, "contents that the table has room for")
          .shapes_state()
          .integer("places", &C::places, {1, 1 << 28}, "places on flash that it has room for")
          .shapes_state()
          .integer(
              "list", &C::list, {1, 1 << 28},
              "fingerprints of what the host wrote last that are remembered, to find out which are popular")
          .shapes_state()
          .integer("writes", &C::writes, {1, 1'000'000},
                   "writes of a content while it is on that list, from which on it is in the table")
          .integer("uses", &C::uses, {0, 1'000'000'000},
                   "reads and writes of a content in the table, from which on it gets replicas")
          .integer("dies", &C::dies, {2, 4096}, "dies on which it lies, at which it gets no more")
          .choice("target", &C::target, {"least-loaded", "random"},
                  "which of the dies with the content is read: the one with the least before it, if that is "
                  "less than before the read's own die, or any of the others")
          .time("hash_time", &C::hash_time, {0, 1'000'000'000'000},
                "the hash engine's, for the fingerprint of a mapping page")
          .integer("hash_queue", &C::hash_queue, {0, 1'000'000},
                   "mapping pages that may wait for it; others are not looked at")
          .bytes("content_entry", &C::content_entry, {1, 4096},
                 "DRAM for a content in the table, or a fingerprint on the list")
          .shapes_state()
          .bytes("place_entry", &C::place_entry, {1, 4096}, "DRAM for a place")
          .shapes_state();
  return table;
}

std::vector<PolicyInfo> Redirection::policies() {
  return {{"none", "a read goes where its own data lie", {}},
          {k_duplicates, "none: only what the host has written more than once", {}},
          {k_selective, "popular ones that lie on few dies (RR-SSD: Elyasi et al. 2018)", {}}};
}

std::uint64_t Redirection::own_units(const FeatureChoice& choice, const Layout& layout) {
  return choice.policy == k_selective ? choice.read<RedirectionConfig>().capacity / layout.unit_bytes : 0;
}

InputError Redirection::too_many_units(const FeatureChoice& /*choice*/, Bytes bytes, Bytes left) {
  return refusal(
      "firmware.redirection.capacity",
      fmt::format("{} B of replicas do not fit into the spare blocks, which have room for {} B beside the "
                  "data",
                  bytes, left),
      left >= 65536 ? Proposal{"firmware.redirection.capacity", fmt::format("{} B", left)}
                    : Proposal{"firmware.redirection.policy", k_duplicates});
}

Redirection::Redirection(const FeatureContext& context)
    : core_(context.core),
      policy_name_(context.choice.policy),
      config_(context.choice.read<RedirectionConfig>()),
      replicates_(policy_name_ == k_selective),
      at_random_(config_.target == "random"),
      dies_(core_.layout.pus / core_.layout.pus_per_die),
      table_address_(context.dram_address),
      written_(config_.list),
      table_(dies_, config_.contents, config_.places),
      replicas_(core_.layout.first_feature_unit(),
                replicates_ ? static_cast<std::uint32_t>(core_.layout.feature_units) : 0),
      gatherer_(core_, context.gc_engine, *this,
                context.dram_address + table_bytes() + core_.layout.unit_bytes),
      engine_(config_.hash_time, config_.hash_queue) {
  check(context, config_.capacity);
}

Bytes Redirection::table_bytes() const {
  return (Bytes{config_.contents} + config_.list) * config_.content_entry +
         Bytes{config_.places} * config_.place_entry;
}

/// Bandwidth is taken, nothing waits.
void Redirection::access_table(bool write) {
  core_.hw.memory.access(MemoryKind::dram, table_address_, static_cast<std::uint32_t>(config_.place_entry),
                         write, posted_);
}

// ---------------------------------------------------------------------------------------------------------------------- reading

std::uint64_t Redirection::load(std::uint32_t die) const {
  const auto id = static_cast<DieId>(die);
  const std::uint64_t waits = core_.hw.flash.pending(id);
  return die_writes(core_.hw, id) ? waits | std::uint64_t{1} << 32U : waits;
}

/// The place to read instead; k_none: the original.
ContentTable::Index Redirection::choose(ContentTable::Index place) {
  const ContentTable::Place& original = table_.place(place);
  const std::uint32_t others = table_.dies_of(original.content) - 1;
  if (others == 0) return ContentTable::k_none;
  const auto chance = static_cast<unsigned __int128>(at_random_ ? mixed(++drawn_ * k_golden) : 0);
  auto skip = static_cast<std::uint32_t>(chance * others >> 64U);
  ContentTable::Index best = ContentTable::k_none;
  std::uint64_t least = load(original.die);
  // From the next die on, so that those with as little to do are chosen in turn.
  for (std::uint32_t n = 1; n < dies_; ++n) {
    const std::uint32_t die = (original.die + n) % dies_;
    const ContentTable::Index there = table_.on_die(original.content, die);
    if (there == ContentTable::k_none) continue;
    if (at_random_ && skip-- == 0) return there;
    if (at_random_ || load(die) >= least) continue;
    least = load(die);
    best = there;
  }
  return best;
}

// Of the copy alone: nothing else joins it, and it joins nothing.
bool Redirection::redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) {
  if (core_.hw.flash.pending(static_cast<DieId>(die_of(where))) == 0) return false;
  ++counters_.busy;
  access_table(false);
  const ContentTable::Index original = table_.at(where);
  if (original == ContentTable::k_none) return false;
  ++counters_.popular;
  const ContentTable::Index chosen = choose(original);
  if (chosen == ContentTable::k_none) return false;
  ++counters_.redirected;
  const ContentTable::Place& copy = table_.place(chosen);
  ReadOp& read = reads.add_apart(Ppn(copy.where), copy.unit, need);
  read.redirector = this;
  read.copy_of = unit;
  read.original = where;
  core_.pool.pin(core_.layout.block_of(where));
  const bool own = copy.unit >= core_.layout.first_feature_unit();
  if (own && core_.lookup(copy.unit) == Ppn(copy.where)) replicas_.used(replicas_.slot_of(copy.unit));
  return true;
}

bool Redirection::end_redirected(const ReadOp& read, ReadBatch& again) {
  if (!read.lost(read.low)) return true;
  ++counters_.lost;
  const ContentTable::Index place = table_.at(core_.layout.ppn_of_mp_page(read.mp_page) + read.low);
  if (place != ContentTable::k_none) table_.drop_place(place);
  again.add(read.original, read.copy_of, read.need[read.low]);
  return false;
}

void Redirection::on_host_read(Lpn /*unit*/, Ppn where, const Stamp* stamps) {
  const ContentTable::Index place = table_.at(where);
  if (place == ContentTable::k_none) return;
  const ContentTable::Index content = table_.place(place).content;
  table_.use(content);
  const bool popular = table_.uses(content) >= config_.uses && table_.dies_of(content) < config_.dies;
  if (replicates_ && popular && !core_.read_only && lacks_dies(content)) gather(content, stamps);
}

// -------------------------------------------------------------------------------------------------------------------- the table

void Redirection::on_programmed(const ProgramJob& job) {
  if (job.parts[0].copy_from != k_nowhere) return;  // what is copied on the die is not seen
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const Lpn unit = job.lpn(n);
    if (unit == k_no_unit || (!core_.poisoned.empty() && core_.poisoned.contains(unit))) continue;
    if (hashes()) {
      learn(job.base + n, unit, job.content(n), job.purpose == Purpose::host);
    } else {
      ++counters_.not_hashed;
    }
  }
}

/// The hash engine takes another page, and fetches it from DRAM. What takes no time is untimed.
bool Redirection::hashes() {
  const Picoseconds now = core_.hw.event_queue.now();
  const Picoseconds fetched = core_.hw.memory.access(MemoryKind::dram, table_address_ + table_bytes(),
                                                     core_.layout.unit_bytes, false, posted_);
  return fetched == now || engine_.take(now);
}

void Redirection::learn(Ppn where, Lpn unit, const Stamp* stamps, bool by_host) {
  const std::uint32_t number = shared_content(stamps, core_.layout.sectors);
  const ContentTable::Index content = entry_of(number, unit, stamps[0], by_host);
  if (content == ContentTable::k_none) return;
  while (!table_.has_room_for_place() && table_.oldest() != content) forget(table_.oldest());
  if (!table_.has_room_for_place()) return;
  table_.add_place(content, die_of(where), where, unit);
  access_table(true);
}

/// The entry of a content that is popular; k_none when it is not. What the host writes counts.
ContentTable::Index Redirection::entry_of(std::uint32_t number, Lpn unit, Stamp first, bool by_host) {
  const ContentTable::Index known = number == 0 ? ContentTable::k_none : table_.find(number);
  if (known != ContentTable::k_none) {
    if (by_host) table_.use(known);
    return known;
  }
  if (!by_host) return ContentTable::k_none;
  // Data that are there once take their room on the list, under a number that contents have not.
  constexpr std::uint32_t k_own = 0xFFFFFFFEU - k_shared_contents;
  const auto own = static_cast<std::uint32_t>(mixed(std::uint64_t{unit} << 16U | first) % k_own);
  const std::uint32_t writes = written_.access(number != 0 ? number : k_shared_contents + 1 + own);
  if (number == 0 || writes < config_.writes) return ContentTable::k_none;
  written_.forget(number);
  if (!table_.has_room_for_content()) forget(table_.oldest());
  return table_.add(number);
}

void Redirection::forget(ContentTable::Index content) {
  const std::uint32_t number = table_.number_of(content);
  for (std::uint32_t die = 0; replicates_ && die < dies_; ++die) {
    const ReplicaTable::Slot slot = replicas_.find(key(number, die));
    if (slot != ReplicaTable::k_none) drop_replica(slot);
  }
  table_.drop(content);
  ++counters_.forgotten;
}

void Redirection::on_erase(BlockNumber block) {
  const Ppn first = core_.layout.first_unit(block);
  for (std::uint32_t n = 0; n < core_.layout.block_units; ++n) {
    const ContentTable::Index place = table_.at(first + n);
    if (place != ContentTable::k_none) table_.drop_place(place);
  }
}

void Redirection::on_power_lost() {
  while (replicas_.oldest() != ReplicaTable::k_none) drop_replica(replicas_.oldest());
  while (table_.oldest() != ContentTable::k_none) table_.drop(table_.oldest());
  written_ = AccessHistory(config_.list);
  engine_.restart();
}

// --------------------------------------------------------------------------------------------------------------------- replicas

/// It lies on fewer dies than wanted, with the replicas that are on their way.
bool Redirection::lacks_dies(ContentTable::Index content) const {
  std::uint32_t dies = 0;
  for (std::uint32_t die = 0; die < dies_; ++die) dies += has_die(content, die) ? 1 : 0;
  return dies < config_.dies;
}

void Redirection::gather(ContentTable::Index content, const Stamp* stamps) {
  const std::uint32_t number = table_.number_of(content);
  const auto lacks_it = [&](std::uint32_t pu) { return !has_die(content, die_of_pu(pu)); };
  ReadGatherer::Gathering* const gathering = gatherer_.find(lacks_it);
  if (gathering == nullptr) {
    ++counters_.refused;
    return;
  }
  if (!replicas_.has_free()) {
    const ReplicaTable::Slot oldest = replicas_.oldest();
    if (oldest == ReplicaTable::k_none) return;  // all of them are on their way
    drop_replica(oldest);
    ++counters_.displaced;
  }
  const ReplicaTable::Slot slot = replicas_.take(key(number, die_of_pu(gathering->job->pu)));
  gatherer_.add(*gathering, replicas_.number(slot), slot, stamps);
}

bool Redirection::suits(std::uint32_t pu, std::optional<std::uint32_t> other) const {
  return !other || die_of_pu(*other) != die_of_pu(pu);
}

void Redirection::committed(const ProgramJob& job, Picoseconds /*took*/) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const ReplicaTable::Slot slot = job.source[n];
    if (!replicas_.committed(slot)) continue;
    core_.remap(replicas_.number(slot), k_nowhere, job, n, "a replica");
    core_.post_map_update(replicas_.number(slot), 1);
  }
  counters_.units_copied += job.live;
}

void Redirection::aborted(const ProgramJob& job, bool refused) {
  if (refused) counters_.refused += job.live;
  for (std::uint32_t n = 0; n < job.live; ++n) replicas_.failed(job.source[n]);
}

void Redirection::drop_replica(ReplicaTable::Slot slot) {
  const Lpn number = replicas_.number(slot);
  if (!replicas_.drop(slot)) return;
  core_.map_nowhere(number, core_.lookup(number), "a replica is given up");
  if (!core_.poisoned.empty()) core_.poisoned.erase(number);
}

// -------------------------------------------------------------------------------------------------------------- state and reports

void Redirection::report(StatisticsSink& sink) const {
  const Bytes unit = core_.layout.unit_bytes;
  sink.open("redirection", "reads of busy dies, redirected to the same content on another die");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("contents", std::uint64_t{table_.contents()}, "", "contents in the table now");
  sink.value("places", std::uint64_t{table_.places()}, "", "places on flash where they are known to lie");
  sink.value("table", table_bytes(), "B", "DRAM for the table and the list");
  sink.value("forgotten", counters_.forgotten, "contents", "dropped from the table to make room");
  sink.value("not hashed", counters_.not_hashed, "units",
             "programmed while too many others waited for the hash engine");
  sink.value("busy", counters_.busy, "units", "units of reads whose die had something to do");
  sink.value("popular", counters_.popular, "units", "of these, units whose content is in the table");
  sink.value("redirected", counters_.redirected, "units", "of these, units for which another die was asked");
  sink.value("lost", counters_.lost, "units",
             "redirected units that could not be decoded; the originals were read");
  if (replicates_) {
    sink.value("capacity", replicas_.capacity() * unit, "B",
               "room for replicas, taken from the spare blocks");
    sink.value("size", replicas_.size() * unit, "B", "replicas that there are now");
    sink.value("units copied", counters_.units_copied, "units", "replicas programmed");
    sink.value("displaced", counters_.displaced, "units", "replicas dropped to make room for others");
    sink.value(
        "refused", counters_.refused, "units",
        "replicas not made because no parallel unit could take a program unit at once or too many were "
        "on their way");
  }
  sink.close();
}

void Redirection::archive(Archive& a) {
  written_.archive(a);
  table_.archive(a);
  replicas_.archive(a);
  gatherer_.archive(a);
  engine_.archive(a);
  a(drawn_);
  a(counters_);
}

}  // namespace tlmssd::firmware
