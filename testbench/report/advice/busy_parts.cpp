#include "testbench/report/advice/busy_parts.h"

#include <algorithm>
#include <utility>

#include "models/base/quantity_text.h"
#include "testbench/measure/measurement.h"

namespace tlmssd {
namespace {

constexpr double k_even = 0.9;  ///< of the busiest, from which on all of a kind are as busy as it
/// Of the busiest, from which on one that has work of its own limits beside it.
constexpr double k_as_busy = 0.98;
/// Of the time, from which on what moves the dies' data has little left for more dies. Calibrated:
/// of three drives on which a faster bus and more dies were tried, it tells both nearest.
constexpr double k_moves_much = 0.7;
/// From this share of waits for dies on, data on their way in or out are what limits them.
constexpr double k_held_for_rate = 1.0 / 3;

/// Scales the shares of a kind to this mean, all alike as far as none is beyond 1; what is beyond
/// it goes to the others, by the room that they have.
void scale_to(double mean, Utilisation& use) {
  const double factor = mean / use.mean();
  double beyond = 0;
  double room = 0;
  for (double& share : use.shares) {
    share *= factor;
    beyond += std::max(share - 1, 0.0);
    share = std::min(share, 1.0);
    room += 1 - share;
  }
  if (room == 0) return;
  for (double& share : use.shares) share = std::min(share + beyond * (1 - share) / room, 1.0);
}

void take_off_waits(Utilisation& channels, const nlohmann::ordered_json& statistics) {
  const nlohmann::ordered_json* const flash = find_group(statistics, "flash");
  if (flash == nullptr) return;
  std::size_t number = 0;
  for (const auto& [name, group] : flash->items()) {
    if (number == channels.shares.size() || !group.is_object() || !group.contains("bus_utilisation"))
      continue;
    double& share = channels.shares[number++];
    share -= std::min(share, number_in(group, "bus memory"));
  }
}

}  // namespace

std::vector<Utilisation> working_utilisations(const nlohmann::ordered_json& statistics) {
  std::vector<Utilisation> uses = plain_utilisations(statistics);
  for (Utilisation& use : uses)
    if (use.label == "channels") take_off_waits(use, statistics);
  return uses;
}

bool waits_for_dies(const std::string& cause) {
  return cause.starts_with("die busy") || cause == "load limit" || cause == "submission" ||
         cause == "buffer wait" || cause == "cache wait" || cause == "space wait" ||
         cause == "LBA hazard wait" || cause == "batch wait" || cause == k_waits_in_host_software;
}

bool works_for(const std::string& cause) {
  return cause == "sense" || cause == "program" || cause == "erase";
}

bool has_map_in_flash(const nlohmann::ordered_json& statistics) {
  const nlohmann::ordered_json* const mapping = find_group(statistics, "mapping");
  return mapping != nullptr && mapping->contains("cache_bytes");
}

namespace {

void add_time(const MeasuredLoad::Spent& spent, bool map_in_flash, MeasuredLoad& load) {
  load.spent.push_back(spent);
  load.time.all += spent.time;
  if (works_for(spent.cause)) {
    load.time.arrays += spent.time;
    if (spent.cause == "sense") load.time.senses += spent.time;
  } else if (spent.cause == "map fetch" && map_in_flash) {
    load.time.map += spent.time;
  } else if (waits_for_dies(spent.cause)) {
    load.time.waits += spent.time;
    if (spent.cause == "die busy: map") load.time.behind += spent.time;
  }
}

void add_operation(const std::string& name, const nlohmann::ordered_json& operation, bool map_in_flash,
                   double host_seconds, MeasuredLoad& load) {
  const auto commands = operation["commands"].get<double>();
  const nlohmann::ordered_json& ledger = operation["ledger"];
  const bool reads = name == "read";
  if (name == "write") load.written = operation["bytes"].get<double>();
  if (reads && ledger.contains("sense")) load.sensed = operation["bytes"].get<double>();
  load.flushes = load.flushes || name == "flush";
  load.trims = load.trims || name == "trim";
  load.waits_for_programs =
      load.waits_for_programs || name == "flush" || (name == "write" && ledger.contains("program"));
  double in_drive = operation["latency"]["mean"].get<double>();
  for (const char* before : {"load limit", "submission"})
    if (ledger.contains(before)) in_drive -= ledger[before]["mean_ns"].get<double>();
  load.occupied += in_drive * commands;
  for (const auto& [cause, part] : ledger.items()) {
    const double time = part["mean_ns"].get<double>() * commands;
    const double waited = cause == "host software" ? std::max(time - 1e9 * host_seconds * commands, 0.0) : 0;
    if (time > waited) add_time({reads, cause, time - waited, commands}, map_in_flash, load);
    if (waited > 0) add_time({reads, k_waits_in_host_software, waited, commands}, map_in_flash, load);
  }
}

}  // namespace

std::shared_ptr<const MeasuredDrive::Common> MeasuredDrive::common_of(const nlohmann::ordered_json& report,
                                                                      const ChosenLimits& chosen) {
  auto common = std::make_shared<Common>();
  common->limits = chosen;
  const nlohmann::ordered_json& results = report["results"]["loads"];
  const bool map_in_flash = has_map_in_flash(report["statistics"]);
  for (const nlohmann::ordered_json& result : results) {
    MeasuredLoad& load = common->loads.emplace_back();
    load.name = result["name"].get<std::string>();
    if (result.contains("own_time") && result["own_time"].contains("start")) {
      const auto start = result["own_time"]["start"]["value"].get<double>();
      load.at_work = {start, start + result["own_time"]["span"]["value"].get<double>()};
    }
    if (result.contains("queue_depth")) load.under_way = result["queue_depth"]["mean"].get<double>();
    if (!result.contains("operations")) continue;
    for (const auto& [name, operation] : result["operations"].items())
      add_operation(name, operation, map_in_flash, chosen.host_seconds, load);
  }
  for (std::size_t i = 0; i < common->loads.size(); ++i) common->by_name.emplace(common->loads[i].name, i);
  const auto load_of = [&](const std::string& name) -> MeasuredLoad* {
    const auto at = common->by_name.find(name);
    return at == common->by_name.end() ? nullptr : &common->loads[at->second];
  };
  for (const LoneCommands& alone : chosen.alone)
    if (MeasuredLoad* const load = load_of(alone.load)) load->alone_keys = alone.keys;
  for (const LinkLatency& link : chosen.link)
    if (MeasuredLoad* const load = load_of(link.load)) load->link = link;
  for (const DemandOfLoad& demand : chosen.demands)
    if (MeasuredLoad* const load = load_of(demand.load)) load->demand = demand;
  return common;
}

MeasuredDrive::MeasuredDrive(const nlohmann::ordered_json& report, const ChosenLimits& chosen)
    : statistics(report["statistics"]),
      uses(working_utilisations(statistics)),
      common_(common_of(report, chosen)),
      limits(common_->limits),
      loads(common_->loads),
      measured_(report["measured_time"]["value"].get<double>()) {
  for (Utilisation& use : uses)
    use.apart = use.label == "cores" && limits.pins_stages && use.shares.size() > 1;
  for (const Utilisation& use : plain_utilisations(statistics))
    if (use.label == "channels" && use.mean() > 0) channels_work_ = busy("channels") / use.mean();
}

std::optional<MeasuredDrive> MeasuredDrive::in_time_of(const nlohmann::ordered_json& load) const {
  if (!load.contains("own_time") || !load["own_time"].contains("utilisation")) return {};
  const auto span = load["own_time"]["span"]["value"].get<double>();
  if (span > k_nearly_all * measured_) return {};
  MeasuredDrive own = *this;
  own.own_ = &load["own_time"]["utilisation"];
  own.whose_part_ = span / measured_;
  for (Utilisation& use : own.uses) {
    if (use.mean() == 0) continue;
    scale_to(own.own_->value(use.label, 0.0) * (use.label == "channels" ? channels_work_ : 1), use);
  }
  if (load.contains("name")) {
    own.whose = load["name"].get<std::string>();
    own.time = "the time of " + own.whose;
    own.rate = "its rate";
  } else {
    own.time = "the time at work";
  }
  return own;
}

const MeasuredLoad* MeasuredDrive::find(const std::string& name) const {
  const auto at = common_->by_name.find(name);
  return at == common_->by_name.end() ? nullptr : &loads[at->second];
}

bool MeasuredDrive::meet(const MeasuredLoad* asker, const MeasuredLoad& load, bool or_before) {
  if (asker == nullptr || !asker->at_work || !load.at_work) return true;
  const auto [from, until] = *asker->at_work;
  const auto [other_from, other_until] = *load.at_work;
  return or_before ? other_from < until : std::max(from, other_from) < std::min(until, other_until);
}

double MeasuredDrive::dies_busy_with(std::string_view work) const {
  if (own_ != nullptr) return own_->value("dies: " + std::string(work), 0.0);
  return number_in(statistics, "busy " + std::string(work));
}

bool uneven(const Utilisation& use) {
  if (use.apart) return use.highest() >= k_busy_resource;
  if (use.label == "cores") return false;  // any of them takes what the busy ones have no time for
  return use.highest() >= k_busy_resource && use.mean() < k_busy_resource &&
         use.mean() < k_even * use.highest();
}

double load_of(const Utilisation& use) {
  return uneven(use) ? use.highest() : use.mean();
}

const Utilisation* MeasuredDrive::use_of(std::string_view label) const {
  for (const Utilisation& use : uses)
    if (use.label == label) return &use;
  return nullptr;
}

std::vector<std::string> busy_ones(const Utilisation& use) {
  std::vector<std::string> numbers;
  const double least = use.apart ? k_as_busy * use.highest() : k_busy_resource;
  for (std::size_t i = 0; i < use.shares.size(); ++i)
    if (use.shares[i] >= least) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string some_of(std::size_t number) {
  return (number == 1 ? "one" : std::to_string(number)) + " of ";
}

double MeasuredDrive::busy(std::string_view label) const {
  const Utilisation* const use = use_of(label);
  return use == nullptr ? 0 : use->mean();
}

std::optional<Resource> MeasuredDrive::limiting(const Utilisation& use) const {
  std::optional<Resource> resource = find_resource(use.label, statistics);
  if (!resource || !uneven(use) || resource->one.empty()) return resource;
  const std::vector<std::string> numbers = busy_ones(use);
  resource->name = some_of(numbers.size()) + "the " + resource->one + "s";
  resource->part = ", " + resource->one + (numbers.size() == 1 ? " " : "s ") + list_text(numbers);
  resource->keys = resource->keys_of_one;
  return resource;
}

double MeasuredDrive::held() const {
  const double dies = busy("dies");
  return dies > 0 ? 1 - busy("die arrays") / dies : 0;
}

double MeasuredDrive::channels_held() const {
  return busy("channels") / channels_work_;
}

std::optional<MeasuredDrive::Access> MeasuredDrive::access_to(std::string_view label) const {
  const char* const name = label == "bus" ? "bus" : label == "DRAM" ? "dram" : "scm";
  const nlohmann::ordered_json* const memory = find_group(statistics, name);
  if (memory == nullptr || find_value(*memory, "mean wait") == nullptr) return {};
  const double busy = number_in(*memory, label == "SCM banks" ? "banks utilisation" : "utilisation");
  const double accesses = number_in(*memory, "reads") + number_in(*memory, "writes");
  return Access{number_in(*memory, "mean wait"), accesses > 0 ? busy * measured_ / accesses : 0};
}

double MeasuredDrive::share_of_transfers() const {
  const double most = std::max({busy("channels"), busy("gangs"), busy("bus"), busy("DRAM")});
  const double left = std::clamp((1 - most) / (1 - k_moves_much), 0.0, 1.0);
  const double own = held();
  return own > 0 ? own / (own + (1 - own) * left) : 0;
}

bool MeasuredDrive::transfers_limit() const {
  return share_of_transfers() >= k_held_for_rate;
}

double MeasuredDrive::share_of_needed_erases() const {
  const nlohmann::ordered_json* const flash = find_group(statistics, "flash");
  const nlohmann::ordered_json* const erases = flash == nullptr ? nullptr : find_group(*flash, "erase");
  const nlohmann::ordered_json* const parts = find_group(statistics, "write amplification");
  const Utilisation* const dies = use_of("dies");
  const double collecting = number_in(statistics, "busy gc") * measured_;
  if (erases == nullptr || !erases->contains("gc") || parts == nullptr || dies == nullptr || collecting <= 0)
    return 0;
  const double erasing = number_in((*erases)["gc"], "operations") * limits.erase_seconds /
                         static_cast<double>(dies->shares.size());
  const double copied = number_in(*parts, "garbage collection");
  const double all = number_in(*parts, "total");
  return all > 0 ? std::min(erasing / collecting, 1.0) * (1 - std::min(copied / all, 1.0)) : 0;
}

double MeasuredDrive::programs_at_limit() const {
  return std::min(number_in(statistics, "programs at limit") / whose_part_, 1.0);
}

double MeasuredDrive::held_up() const {
  const nlohmann::ordered_json* const host = find_group(statistics, "host");
  return host == nullptr ? 0 : std::min(number_in(*host, "queue held up") / whose_part_, 1.0);
}

}  // namespace tlmssd
