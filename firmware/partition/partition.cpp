#include "firmware/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "firmware/make_policy.h"
#include "models/common/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr double k_lately = 1.0 / 4096;  ///< weight of a unit in the share of reads

std::uint32_t dies(const Layout& layout) {
  return layout.groups / layout.groups_per_die;
}

void check(const Core& core) {
  const auto refuse = [](const std::string& why) { throw refusal("firmware.partition.policy", why, "none"); };
  if (core.config.mapping.scheme != "page")
    refuse(fmt::format("data are moved by a map in DRAM (firmware.mapping.scheme is {}, not page)",
                       core.config.mapping.scheme));
  if (core.layout.lanes > 1) refuse("the parts are whole dies (firmware.allocation.stripe is not none)");
  if (dies(core.layout) < 2) refuse("one die cannot be divided");
}

}  // namespace

Partition::Partition(Core& core, Collector& collector, const Destager& destager, std::uint64_t dram_address,
                     const FirmwareConfig& config)
    : core_(core),
      destager_(destager),
      config_(config.partition),
      reading_(core.layout.groups, false),
      gatherer_(core, collector, *this, dram_address) {
  check(core);
  const ReadHotContext context{core.layout.unit_bytes};
  policy_ = make_policy(partition_family(), "firmware.partition.policy", config_.policy,
                        config.partition_policy, context);
  divide();
  core.copies.push_back(this);
}

// The first dies in allocation order, which goes round the channels, unless the user wants otherwise.
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
  for (const std::uint32_t group : layout.sequence()) {
    const DieId die = layout.die_of(group, 0);
    const bool known = std::find(reading.begin(), reading.end(), die) != reading.end();
    if (!known && reading.size() == wanted) continue;
    if (!known) reading.push_back(die);
    reading_[group] = true;
  }
}

// -------------------------------------------------------------------------------------------------------------------- moving

void Partition::read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps) {
  read_share_ += k_lately * (1 - read_share_);
  FtlStatistics& stats = core_.stats;
  const bool reading = reading_[core_.layout.group_of(core_.layout.block_of(where))];
  ++(reading ? stats.units_read_in_reading_part : stats.units_read_in_writing_part);
  const bool belongs = policy_->read(unit);
  if (reading || !belongs || core_.read_only || moving_.contains(unit) || !destager_.current(unit, where))
    return;
  ReadGatherer::Gathering* const gathering = gatherer_.find([](std::uint32_t /*group*/) { return true; });
  if (gathering == nullptr) {
    ++stats.moves_refused;
    return;
  }
  moving_[unit] = ++number_;
  gatherer_.add(*gathering, unit, number_, stamps);
}

void Partition::rewritten(LogicalUnit unit) {
  read_share_ -= k_lately * read_share_;
  policy_->rewritten(unit);
  if (!moving_.empty()) moving_.erase(unit);
}

bool Partition::suits(std::uint32_t group, std::uint32_t /*other*/) const {
  return reading_[group];
}

void Partition::landed(const ProgramJob& job) {
  const Layout& layout = core_.layout;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const LogicalUnit unit = job.spare[layout.program_slot(n, job.mode)];
    const auto found = moving_.find(unit);
    if (found == moving_.end() || found->second != job.source[n]) continue;
    moving_.erase(found);
    core_.pool.invalidate(core_.map->lookup(unit));
    core_.map->update(unit, job.base + n);
    core_.pool.validate(job.base + n, job.block);
    core_.post_map_update(unit, 1);
    if (!core_.poisoned.empty()) core_.poisoned.erase(unit);  // what has been lost since lies here
  }
  core_.stats.units_parted += job.live;
}

void Partition::given_up(const ProgramJob& job, bool refused) {
  if (refused) core_.stats.moves_refused += job.live;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const auto found = moving_.find(job.spare[core_.layout.program_slot(n, job.mode)]);
    if (found != moving_.end() && found->second == job.source[n]) moving_.erase(found);
  }
}

// ------------------------------------------------------------------------------------------------------------------- steering

bool Partition::steers() {
  if (read_share_ < config_.steer_from) return false;
  if (left_ == 0) look_for_room();
  --left_;
  return has_room_;
}

void Partition::look_for_room() {
  left_ = core_.layout.groups;
  std::int64_t room = 0;
  std::uint32_t groups = 0;
  for (std::uint32_t group = 0; group < core_.layout.groups; ++group) {
    if (reading_[group]) continue;
    room += std::max<std::int64_t>(core_.pool.room(group), 0);
    ++groups;
  }
  const double all = static_cast<double>(core_.pool.usable()) / core_.layout.groups * groups;
  has_room_ = static_cast<double>(room) >= config_.keep_room * all;
}

// ---------------------------------------------------------------------------------------------------------- state and reports

void Partition::report(StatisticsSink& sink) const {
  const FtlStatistics& s = core_.stats;
  sink.open("partition", "dies kept for reading");
  sink.text("policy", config_.policy, "which data lie there");
  sink.value("reading groups", static_cast<std::uint64_t>(std::count(reading_.begin(), reading_.end(), true)),
             "", "allocation groups on the dies that are kept for reading");
  sink.value("units moved", s.units_parted, "units", "programmed there because they are only read");
  sink.value("refused", s.moves_refused, "units",
             "left where they were because no group could take a program unit at once or too many were on "
             "their way");
  sink.value("units read there", s.units_read_in_reading_part, "units",
             "that commands of the host read from flash");
  sink.value("units read elsewhere", s.units_read_in_writing_part, "units", "the same from the other dies");
  sink.value("programs kept away", s.programs_steered, "",
             "program units of the write buffer that had to go to the other dies");
  sink.value("programs let in", s.programs_not_steered, "",
             "program units that might go anywhere, because nobody read or the other dies were too full");
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
}

}  // namespace tlmssd::firmware
