#include "firmware/replicas/replicas.h"

#include <fmt/format.h>

#include "firmware/buffer/destager.h"
#include "firmware/make_policy.h"
#include "models/common/input_error.h"

namespace tlmssd::firmware {

namespace {

void check(const Core& core) {
  const auto refuse = [](const std::string& why) {
    throw InputError(fmt::format("firmware.replicas.policy: {}; nearest valid: none", why));
  };
  const Layout& layout = core.layout;
  if (core.config.mapping.scheme != "page")
    refuse(fmt::format("copies need the map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (layout.lanes > 1) refuse("copies need blocks of one die (firmware.allocation.stripe is not none)");
  if (layout.groups == layout.groups_per_die) refuse("on a drive with one die there is no other for a copy");
  const Bytes capacity = core.config.replicas.capacity;
  if (capacity % layout.unit_bytes != 0) {
    throw InputError(fmt::format(
        "firmware.replicas.capacity: {} B are no whole mapping units of {} B; nearest valid: {} B", capacity,
        layout.unit_bytes, (capacity + layout.unit_bytes - 1) / layout.unit_bytes * layout.unit_bytes));
  }
  const std::uint64_t least = std::uint64_t{2} * layout.program_units;
  if (layout.replica_units < least) {
    throw InputError(fmt::format(
        "firmware.replicas.capacity: {} B are less than the two program units that are gathered at "
        "a time; nearest valid: {} B",
        capacity, least * layout.unit_bytes));
  }
}

}  // namespace

Replicas::Replicas(Core& core, Collector& collector, const Destager& destager, std::uint64_t dram_address,
                   const FirmwareConfig& config)
    : core_(core),
      destager_(destager),
      policy_name_(config.replicas.policy),
      table_(core.layout.first_replica(), static_cast<std::uint32_t>(core.layout.replica_units)),
      gatherer_(core, collector, *this, dram_address) {
  check(core);
  const ReadHotContext context{core.layout.unit_bytes};
  policy_ = make_policy(replica_family(), "firmware.replicas.policy", policy_name_, config.replicas_policy,
                        context);
  core.copies.push_back(this);
}

// ---------------------------------------------------------------------------------------------------------------------- reading

PhysicalUnit Replicas::choose(LogicalUnit unit, PhysicalUnit where) {
  if (core_.hw.flash.writing(die_of(where)) == 0) return k_nowhere;
  ++core_.stats.reads_in_conflict;
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot == ReplicaTable::k_none || !table_.live(slot)) return k_nowhere;
  ++core_.stats.conflicts_with_copy;
  if (!core_.poisoned.empty() && core_.poisoned.contains(table_.number(slot))) {
    drop(slot);
    return k_nowhere;
  }
  const PhysicalUnit copy = core_.map->lookup(table_.number(slot));
  return core_.hw.flash.writing(die_of(copy)) == 0 ? copy : k_nowhere;
}

// Of the copy alone: nothing else joins it, and it joins nothing.
void Replicas::add_read(ReadList& list, LogicalUnit unit, PhysicalUnit where, PhysicalUnit copy,
                        std::uint64_t need) {
  ReadList one;
  ReadOp& read = core_.add_read(one, copy);
  read.wanted[read.low] = table_.number(table_.find(unit));
  read.need[read.low] = need;
  read.copy_of = unit;
  read.original = where;
  core_.pool.pin(core_.layout.block_of(where));
  list.push(read);
}

bool Replicas::settle(const ReadOp& read, ReadList& again) {
  const bool lost = read.lost(read.low);
  if (lost) {
    const ReplicaTable::Slot slot = table_.find(read.copy_of);
    if (slot != ReplicaTable::k_none && table_.number(slot) == read.wanted[read.low]) drop(slot);
    ReadOp& original = core_.add_read(again, read.original);
    const std::uint32_t at = core_.layout.in_row(read.original, original.row);
    original.wanted[at] = read.copy_of;
    original.need[at] = read.need[read.low];
  } else {
    ++core_.stats.reads_of_copies;
  }
  return !lost;
}

void Replicas::read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps) {
  const bool hot = policy_->read(unit);
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot != ReplicaTable::k_none) {
    if (table_.live(slot)) table_.used(slot);
  } else if (hot && !core_.read_only && destager_.current(unit, where)) {
    gather(unit, where, stamps);
  }
}

// -------------------------------------------------------------------------------------------------------------- making copies

void Replicas::gather(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps) {
  const DieId original = die_of(where);
  const auto other_die = [&](std::uint32_t group) { return die_of_group(group) != original; };
  ReadGatherer::Gathering* const gathering = gatherer_.find(other_die);
  if (gathering == nullptr) {
    ++core_.stats.copies_refused;
    return;
  }
  if (!table_.has_free()) {
    const ReplicaTable::Slot oldest = table_.oldest();
    if (oldest == ReplicaTable::k_none) return;  // all of them are on their way
    drop(oldest);
    ++core_.stats.copies_displaced;
  }
  const ReplicaTable::Slot slot = table_.take(unit);
  gatherer_.add(*gathering, table_.number(slot), slot, stamps);
}

bool Replicas::suits(std::uint32_t group, std::uint32_t other) const {
  return other == ReadGatherer::k_no_group || die_of_group(other) != die_of_group(group);
}

void Replicas::landed(const ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const ReplicaTable::Slot slot = job.source[n];
    if (!table_.landed(slot)) continue;
    core_.map->update(table_.number(slot), job.base + n);
    core_.pool.validate(job.base + n, job.block);
    core_.post_map_update(table_.number(slot), 1);
  }
  core_.stats.units_copied += job.live;
}

void Replicas::given_up(const ProgramJob& job, bool refused) {
  if (refused) core_.stats.copies_refused += job.live;
  for (std::uint32_t n = 0; n < job.live; ++n) table_.failed(job.source[n]);
}

// ------------------------------------------------------------------------------------------------------------ giving copies up

void Replicas::rewritten(LogicalUnit unit) {
  policy_->rewritten(unit);
  const ReplicaTable::Slot slot = table_.find(unit);
  if (slot == ReplicaTable::k_none) return;
  ++core_.stats.copies_rewritten;
  drop(slot);
}

void Replicas::drop(ReplicaTable::Slot slot) {
  const LogicalUnit number = table_.number(slot);
  if (!table_.drop(slot)) return;
  core_.pool.invalidate(core_.map->lookup(number));
  core_.map->update(number, k_nowhere);
  if (!core_.poisoned.empty()) core_.poisoned.erase(number);
}

void Replicas::power_lost() {
  while (table_.oldest() != ReplicaTable::k_none) drop(table_.oldest());
}

// -------------------------------------------------------------------------------------------------------------- state and reports

void Replicas::report(StatisticsSink& sink) const {
  const FtlStatistics& s = core_.stats;
  const Bytes unit = core_.layout.unit_bytes;
  sink.open("replicas", "second copies of data that are read often");
  sink.text("policy", policy_name_, "which data have one");
  sink.value("capacity", table_.capacity() * unit, "B", "room for copies, taken from the spare blocks");
  sink.value("size", table_.size() * unit, "B", "copies that there are now");
  sink.value("units copied", s.units_copied, "units", "copies programmed");
  sink.value("rewritten", s.copies_rewritten, "units",
             "copies dropped because the data were written or trimmed");
  sink.value("displaced", s.copies_displaced, "units", "copies dropped to make room for others");
  sink.value(
      "refused", s.copies_refused, "units",
      "copies not made because no group could take a program unit at once or too many were on their way");
  sink.value("conflicts", s.reads_in_conflict, "units",
             "units of reads whose die was writing or erasing, or had that in its queue");
  sink.value("conflicts with copy", s.conflicts_with_copy, "units", "of these, units that had a copy");
  sink.value("reads of copies", s.reads_of_copies, "units",
             "of these, units read from it because its die was not writing");
  sink.close();
}

void Replicas::archive(Archive& a) {
  table_.archive(a);
  policy_->archive(a);
  gatherer_.archive(a);
}

}  // namespace tlmssd::firmware
