#include "firmware/features/replicas/replicas.h"

#include <fmt/format.h>

#include "firmware/buffer/flusher.h"
#include "firmware/flash/flash_await.h"
#include "firmware/flash/read_batch.h"
#include "models/base/input_error.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

void check(const Core& core, Bytes capacity) {
  const auto refuse = [](const std::string& why) { throw refusal("firmware.replicas.policy", why, "none"); };
  const Layout& layout = core.layout;
  if (!core.map->can_redirect())
    refuse(fmt::format("copies need the map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (layout.stripe_dies > 1)
    refuse("copies need blocks of one die (firmware.allocation.stripe is not none)");
  if (layout.pus == layout.pus_per_die) refuse("on a drive with one die there is no other for a copy");
  if (capacity % layout.unit_bytes != 0) {
    throw refusal(
        "firmware.replicas.capacity",
        fmt::format("{} B are no whole mapping pages of {} B", capacity, layout.unit_bytes),
        fmt::format("{} B", (capacity + layout.unit_bytes - 1) / layout.unit_bytes * layout.unit_bytes));
  }
  const std::uint64_t least = std::uint64_t{2} * layout.program_units;
  if (layout.feature_units < least) {
    throw refusal(
        "firmware.replicas.capacity",
        fmt::format("{} B are less than the two program units that are gathered at a time", capacity),
        fmt::format("{} B", least * layout.unit_bytes));
  }
}

}  // namespace

const ParameterTable<ReplicasConfig>& ReplicasConfig::parameters() {
  static const auto table = ParameterTable<ReplicasConfig>{}
                                .bytes("capacity", &ReplicasConfig::capacity, {65536, Bytes{1} << 44U},
                                       "room for copies; it is taken from the spare blocks")
                                .shapes_state()
                                .flag("idle_only", &ReplicasConfig::idle_only,
                                      "copies are programmed only into dies that are predicted to stay idle "
                                      "meanwhile, by a moving average of their idle times")
                                .share("gap_weight", &ReplicasConfig::gap_weight, {0.001, 1},
                                       "of the newest idle time in that average (assumption)");
  return table;
}

std::uint64_t Replicas::own_units(const FeatureChoice& choice, const Layout& layout) {
  return choice.read<ReplicasConfig>().capacity / layout.unit_bytes;
}

InputError Replicas::too_many_units(const FeatureChoice& /*choice*/, Bytes bytes, Bytes left) {
  return refusal(
      "firmware.replicas.capacity",
      fmt::format("{} B of copies do not fit into the spare blocks, which have room for {} B beside the data",
                  bytes, left),
      left >= 65536 ? Proposal{"firmware.replicas.capacity", fmt::format("{} B", left)}
                    : Proposal{"firmware.replicas.policy", "none"});
}

Replicas::Replicas(const FeatureContext& context)
    : core_(context.core),
      flusher_(context.flusher),
      policy_name_(context.choice.policy),
      idle_only_(context.choice.read<ReplicasConfig>().idle_only),
      table_(core_.layout.first_feature_unit(), static_cast<std::uint32_t>(core_.layout.feature_units)),
      gatherer_(core_, context.gc_engine, *this, context.dram_address),
      idle_time_(core_.hw.event_queue, core_.layout.pus / core_.layout.pus_per_die,
                 context.choice.read<ReplicasConfig>().gap_weight) {
  check(core_, context.choice.read<ReplicasConfig>().capacity);
  if (idle_only_) core_.hw.flash.watch_dies(idle_time_);
  policy_ = make_policy(replica_family(), "firmware.replicas.policy", policy_name_, context.choice.values,
                        ReadHotContext{core_.layout.unit_bytes});
}

// ---------------------------------------------------------------------------------------------------------------------- reading

Ppn Replicas::choose(Lpn unit, Ppn where) {
  if (!die_writes(core_.hw, die_of(where))) return k_nowhere;
  ++counters_.conflicts;
  policy_->blocked(unit);
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot == ReplicaTable::k_none || !table_.live(slot)) return k_nowhere;
  ++counters_.conflicts_with_copy;
  if (!core_.poisoned.empty() && core_.poisoned.contains(table_.number(slot))) {
    drop(slot);
    return k_nowhere;
  }
  const Ppn copy = core_.lookup(table_.number(slot));
  return !die_writes(core_.hw, die_of(copy)) ? copy : k_nowhere;
}

// Of the copy alone: nothing else joins it, and it joins nothing.
bool Replicas::redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) {
  const Ppn copy = choose(unit, where);
  if (copy == k_nowhere) return false;
  ReadOp& read = reads.add_apart(copy, table_.number(table_.find(unit)), need);
  read.redirector = this;
  read.copy_of = unit;
  read.original = where;
  core_.pool.pin(core_.layout.block_of(where));
  return true;
}

bool Replicas::end_redirected(const ReadOp& read, ReadBatch& again) {
  const bool lost = read.lost(read.low);
  if (lost) {
    const ReplicaTable::Slot slot = table_.find(read.copy_of);
    if (slot != ReplicaTable::k_none && table_.number(slot) == read.wanted[read.low]) drop(slot);
    again.add(read.original, read.copy_of, read.need[read.low]);
  } else {
    ++counters_.reads_of_copies;
  }
  return !lost;
}

void Replicas::on_host_read(Lpn unit, Ppn where, const Stamp* stamps) {
  const bool wanted = policy_->read(unit);
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot != ReplicaTable::k_none) {
    if (table_.live(slot)) table_.used(slot);
  } else if (wanted && !core_.read_only && flusher_.current(unit, where)) {
    gather(unit, where, stamps);
  }
}

// -------------------------------------------------------------------------------------------------------------- making copies

void Replicas::gather(Lpn unit, Ppn where, const Stamp* stamps) {
  const DieId original = die_of(where);
  const auto other_die = [&](std::uint32_t pu) { return die_of_pu(pu) != original; };
  ReadGatherer::Gathering* const gathering = gatherer_.find(other_die);
  if (gathering == nullptr) {
    ++counters_.refused;
    return;
  }
  if (!table_.has_free()) {
    const ReplicaTable::Slot oldest = table_.oldest();
    if (oldest == ReplicaTable::k_none) return;  // all of them are on their way
    drop(oldest);
    ++counters_.displaced;
  }
  const ReplicaTable::Slot slot = table_.take(unit);
  gatherer_.add(*gathering, table_.number(slot), slot, stamps);
}

bool Replicas::suits(std::uint32_t pu, std::optional<std::uint32_t> other) const {
  return !other || die_of_pu(*other) != die_of_pu(pu);
}

bool Replicas::may_start(std::uint32_t pu) const {
  if (!idle_only_) return true;
  const DieId die = die_of_pu(pu);
  return core_.hw.flash.pending(die) == 0 && idle_time_.rest(die) >= quickest_;
}

void Replicas::committed(const ProgramJob& job, Picoseconds took) {
  if (quickest_ == 0 || took < quickest_) quickest_ = took;
  ++counters_.programs;
  if (core_.hw.flash.pending(die_of_pu(job.pu)) > 0) ++counters_.programs_in_the_way;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const ReplicaTable::Slot slot = job.source[n];
    if (!table_.committed(slot)) continue;
    core_.remap(table_.number(slot), k_nowhere, job, n, "a replica");
    core_.post_map_update(table_.number(slot), 1);
  }
  counters_.units_copied += job.live;
}

void Replicas::aborted(const ProgramJob& job, bool refused) {
  if (refused) counters_.refused += job.live;
  for (std::uint32_t n = 0; n < job.live; ++n) table_.failed(job.source[n]);
}

// ------------------------------------------------------------------------------------------------------------ giving copies up

void Replicas::on_rewritten(Lpn unit) {
  policy_->rewritten(unit);
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot == ReplicaTable::k_none) return;
  ++counters_.rewritten;
  drop(slot);
}

void Replicas::drop(ReplicaTable::Slot slot) {
  const Lpn number = table_.number(slot);
  if (!table_.drop(slot)) return;
  core_.map_nowhere(number, core_.lookup(number), "a replica is given up");
  if (!core_.poisoned.empty()) core_.poisoned.erase(number);
}

void Replicas::on_power_lost() {
  while (table_.oldest() != ReplicaTable::k_none) drop(table_.oldest());
}

// -------------------------------------------------------------------------------------------------------------- state and reports

void Replicas::report(StatisticsSink& sink) const {
  const Bytes unit = core_.layout.unit_bytes;
  sink.open("replicas", "replicas of data that are read or blocked often");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("capacity", table_.capacity() * unit, "B", "room for copies, taken from the spare blocks");
  sink.value("size", table_.size() * unit, "B", "copies that there are now");
  sink.value("units copied", counters_.units_copied, "units", "copies programmed");
  sink.value("programs", counters_.programs, "", "program units of copies");
  sink.value("programs in the way", counters_.programs_in_the_way, "",
             "of these, those whose die had other operations waiting when they ended");
  sink.value("rewritten", counters_.rewritten, "units",
             "copies dropped because the data were written or trimmed");
  sink.value("displaced", counters_.displaced, "units", "copies dropped to make room for others");
  sink.value("refused", counters_.refused, "units",
             "copies not made because no parallel unit could take a program unit at once or too many were on "
             "their way");
  sink.value("conflicts", counters_.conflicts, "units",
             "units of reads whose die was writing or erasing, or had that in its queue");
  sink.value("conflicts with copy", counters_.conflicts_with_copy, "units",
             "of these, units that had a copy");
  sink.value("reads of copies", counters_.reads_of_copies, "units",
             "of these, units read from it because its die was not writing");
  sink.value("idle time", static_cast<double>(idle_time_.average()) * 1e-6, "us",
             "moving average of the dies' idle times, their mean; 0 without idle_only");
  sink.close();
}

void Replicas::archive(Archive& a) {
  table_.archive(a);
  policy_->archive(a);
  gatherer_.archive(a);
  idle_time_.archive(a);
  a(quickest_);
  a(counters_);
}

}  // namespace tlmssd::firmware
