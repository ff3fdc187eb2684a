#include "firmware/features/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "models/base/input_error.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

constexpr double k_lately = 1.0 / 4096;  ///< weight of a unit in the share of reads

std::uint32_t dies(const Layout& layout) {
  return layout.pus / layout.pus_per_die;
}

void check(const Core& core) {
  const auto refuse = [](const std::string& why) { throw refusal("firmware.partition.policy", why, "none"); };
  if (!core.map->can_redirect())
    refuse(fmt::format("data are moved by a map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (core.layout.stripe_dies > 1)
    refuse("the parts are whole dies (firmware.allocation.stripe is not none)");
  if (dies(core.layout) < 2) refuse("one die cannot be divided");
}

}  // namespace

const ParameterTable<PartitionConfig>& PartitionConfig::parameters() {
  static const auto table =
      ParameterTable<PartitionConfig>{}
          .share("read_dies", &PartitionConfig::read_dies, {0, 1}, "share of the dies that are read dies")
          .share(
              "placement_from", &PartitionConfig::placement_from, {0, 1},
              "reads, as a share of the mapping pages lately read from and written to flash, from which on "
              "the host's writes are kept away from these dies; 0: always")
          .share("keep_room", &PartitionConfig::keep_room, {0, 1},
                 "room on the other dies, as a share of what they can hold, below which writes go "
                 "everywhere");
  return table;
}

Partition::Partition(const FeatureContext& context)
    : core_(context.core),
      flusher_(context.flusher),
      policy_name_(context.choice.policy),
      config_(context.choice.read<PartitionConfig>()),
      reading_(core_.layout.pus, false),
      gatherer_(core_, context.gc_engine, *this, context.dram_address) {
  check(core_);
  policy_ = make_policy(partition_family(), "firmware.partition.policy", policy_name_, context.choice.values,
                        ReadHotContext{core_.layout.unit_bytes});
  divide();
}

// The first dies in allocation order, which goes round the channels, unless the user wants
// otherwise.
void Partition::divide() {
  const Layout& layout = core_.layout;
  const std::uint32_t all = dies(layout);
  const auto wanted = static_cast<std::uint32_t>(std::lround(config_.read_dies * all));
  if (wanted == 0 || wanted == all) {
    throw refusal("firmware.partition.read_dies",
                  fmt::format("{:g} % of {} dies leaves no die to {}", 100 * config_.read_dies, all,
                              wanted == 0 ? "reading" : "writing"),
                  fmt::format("{:.2f} %", 100.0 * (wanted == 0 ? 1 : all - 1) / all));
  }
  std::vector<DieId> reading;
  for (const std::uint32_t pu : layout.sequence()) {
    const DieId die = layout.die_of(pu, 0);
    const bool known = std::find(reading.begin(), reading.end(), die) != reading.end();
    if (!known && reading.size() == wanted) continue;
    if (!known) reading.push_back(die);
    reading_[pu] = true;
  }
}

// -------------------------------------------------------------------------------------------------------------------- moving

void Partition::on_host_read(Lpn unit, Ppn where, const Stamp* stamps) {
  read_share_ += k_lately * (1 - read_share_);
  const bool reading = reading_[core_.layout.pu_of(core_.layout.block_of(where))];
  ++(reading ? counters_.units_read_there : counters_.units_read_elsewhere);
  const bool belongs = policy_->read(unit);
  if (reading || !belongs || core_.read_only || moving_.contains(unit) || !flusher_.current(unit, where))
    return;
  ReadGatherer::Gathering* const gathering = gatherer_.find([](std::uint32_t /*pu*/) { return true; });
  if (gathering == nullptr) {
    ++counters_.refused;
    return;
  }
  moving_[unit] = ++number_;
  gatherer_.add(*gathering, unit, number_, stamps);
}

void Partition::on_rewritten(Lpn unit) {
  read_share_ -= k_lately * read_share_;
  policy_->rewritten(unit);
  if (!moving_.empty()) moving_.erase(unit);
}

bool Partition::suits(std::uint32_t pu, std::optional<std::uint32_t> /*other*/) const {
  return reading_[pu];
}

void Partition::committed(const ProgramJob& job, Picoseconds /*took*/) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const Lpn unit = job.lpn(n);
    const auto found = moving_.find(unit);
    if (found == moving_.end() || found->second != job.source[n]) continue;
    moving_.erase(found);
    core_.remap(unit, core_.lookup(unit), job, n, "moved to the read dies");
    core_.post_map_update(unit, 1);
    if (!core_.poisoned.empty()) core_.poisoned.erase(unit);  // what has been lost since lies here
  }
  counters_.units_moved += job.live;
}

void Partition::aborted(const ProgramJob& job, bool refused) {
  if (refused) counters_.refused += job.live;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const auto found = moving_.find(job.lpn(n));
    if (found != moving_.end() && found->second == job.source[n]) moving_.erase(found);
  }
}

// ------------------------------------------------------------------------------------------------------------------- write placement

bool Partition::restricts_writes() {
  restricting_ = false;
  if (read_share_ < config_.placement_from) return false;
  if (left_ == 0) look_for_room();
  --left_;
  restricting_ = has_room_;
  return restricting_;
}

void Partition::look_for_room() {
  left_ = core_.layout.pus;
  std::int64_t room = 0;
  std::uint32_t pus = 0;
  for (std::uint32_t pu = 0; pu < core_.layout.pus; ++pu) {
    if (reading_[pu]) continue;
    room += std::max<std::int64_t>(core_.pool.room(pu), 0);
    ++pus;
  }
  const double all = static_cast<double>(core_.pool.usable()) / core_.layout.pus * pus;
  has_room_ = static_cast<double>(room) >= config_.keep_room * all;
}

// ---------------------------------------------------------------------------------------------------------- state and reports

void Partition::report(StatisticsSink& sink) const {
  sink.open("partition", "read dies");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("reading parallel units",
             static_cast<std::uint64_t>(std::count(reading_.begin(), reading_.end(), true)), "",
             "parallel units on the read dies");
  sink.value("units moved", counters_.units_moved, "units", "programmed there because they are only read");
  sink.value(
      "refused", counters_.refused, "units",
      "left where they were because no parallel unit could take a program unit at once or too many were on "
      "their way");
  sink.value("units read there", counters_.units_read_there, "units",
             "that commands of the host read from flash");
  sink.value("units read elsewhere", counters_.units_read_elsewhere, "units", "the same from the other dies");
  sink.value("programs kept away", counters_.programs_kept_away, "",
             "program units of the write buffer that had to go to the other dies");
  sink.value(
      "programs let in", counters_.programs_let_in, "",
      "program units that might go anywhere, because there were no reads or the other dies were too full");
  sink.value("share of reads", read_share_, "share",
             "of the units that the host read from and wrote to flash, lately");
  sink.close();
}

void Partition::archive(Archive& a) {
  policy_->archive(a);
  gatherer_.archive(a);
  a(number_);
  a(read_share_);
  a(has_room_);
  a(left_);
  a(counters_);
}

}  // namespace tlmssd::firmware
