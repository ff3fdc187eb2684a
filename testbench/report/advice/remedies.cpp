#include "testbench/report/advice/remedies.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "testbench/report/advice/latencies.h"
#include "testbench/report/advice/remedies_parts.h"
#include "testbench/report/advice/waits.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_addresses = "the addresses that are asked for";
constexpr const char* k_collection = "collection";
constexpr const char* k_own_limit = "the load's own limit of commands under way";
/// Of the programs and erases that a read waits for as they have gone on for too short a time, from
/// which on those that it waits for until they end are what its long waits are.
constexpr double k_until_the_end = 0.1;
constexpr const char* k_more_dies = "ssd.flash.ways or ssd.flash.channels";
/// Of what collection takes of the dies: with more in erases that any amount of spare flash leaves,
/// these are what it takes.
constexpr double k_mostly_erases = 1.0 / 2;

Remedy of_resource(const Resource& resource) {
  return {resource.name, resource.all_keys(), 0};
}

/// The first of these that every byte for the second goes through: with as much to do, neither is
/// any use alone.
constexpr std::pair<std::string_view, std::string_view> k_paths[] = {
    {"bus", "DRAM"}, {"bus", "SCM"}, {"gangs", "channels"}};
constexpr double k_tie = 0.95;  ///< of the busier, from which on both limit

}  // namespace

Remedy with_ties(std::string_view label, const MeasuredDrive& drive) {
  const auto remedy = [&](std::string_view one) {
    const Utilisation* const use = drive.use_of(one);
    return of_resource(use == nullptr ? *find_resource(one, drive.statistics) : *drive.limiting(*use));
  };
  for (const auto& [first, second] : k_paths) {
    if (label != first && label != second) continue;
    const double most = std::max(drive.busy(first), drive.busy(second));
    if (most == 0 || std::min(drive.busy(first), drive.busy(second)) < k_tie * most) continue;
    const Remedy one = remedy(first);
    const Remedy other = remedy(second);
    return {one.cause + " and " + other.cause, one.look_at + " together with " + other.look_at, 0};
  }
  return remedy(label);
}

Remedy of_busiest(const MeasuredDrive& drive, std::initializer_list<std::string_view> labels) {
  const std::string_view busiest = *std::max_element(
      labels.begin(), labels.end(),
      [&](std::string_view a, std::string_view b) { return drive.busy(a) < drive.busy(b); });
  return with_ties(busiest, drive);
}

namespace {

/// Decoders that are waited for: those with most to do.
Remedy of_decoders(const MeasuredDrive& drive) {
  const Utilisation* busiest = nullptr;
  for (const Utilisation& use : drive.uses) {
    if (use.label.ends_with(" decoders") && (busiest == nullptr || use.mean() > busiest->mean()))
      busiest = &use;
  }
  if (busiest == nullptr) return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
  return of_resource(*find_resource(busiest->label, drive.statistics));
}

Remedy of_memory(const MeasuredDrive& drive) {
  return of_busiest(drive, {"bus", "DRAM", "SCM", "SCM banks"});
}

/// What look-ups in a map in memory wait for. They are short: where memory has time left, it is for
/// all of a long access.
Remedy of_look_ups(const MeasuredDrive& drive) {
  constexpr double k_time_left = 0.7;
  Remedy remedy = of_memory(drive);
  if (drive.limits.memory_in_order && std::max(drive.busy("bus"), drive.busy("DRAM")) < k_time_left)
    remedy.look_at = joined("ssd.dram.arbitration together with ssd.bus.arbitration", " or ", remedy.look_at);
  return remedy;
}

}  // namespace

Remedy of_channels(const MeasuredDrive& drive) {
  return of_busiest(drive, {"channels", "gangs"});
}

namespace {

/// What brings data to the dies and away: the channels, unless these wait for the memory behind
/// them.
Remedy of_transfers(const MeasuredDrive& drive) {
  const double memory = std::max(drive.busy("bus"), drive.busy("DRAM"));
  if (memory >= k_idle && memory >= 0.98 * drive.busy("channels") && memory >= drive.busy("gangs"))
    return of_busiest(drive, {"bus", "DRAM"});
  return of_channels(drive);
}

/// Programs of what the host wrote. A block-mapped region is programmed as a whole: as a rewrite
/// when most of it is copied.
Remedy of_programs(const MeasuredDrive& drive, const std::string& look_at) {
  const Json* const parts = find_group(drive.statistics, "write amplification");
  if (parts != nullptr && number_in(*parts, "region rewrites") > number_in(*parts, "host"))
    return {k_rewrites, look_at, 0, "firmware.mapping"};
  return {k_programs, look_at, 0};
}

/// Collection of a drive with log blocks, as long as its data take on the channels. A merge is more
/// than these: no wait for it is one for the channels alone.
Remedy of_merges(const MeasuredDrive& drive, const Asker& asker) {
  Remedy remedy = of_collection(drive, asker);
  if (drive.transfers_limit()) remedy.look_at = joined(of_transfers(drive).look_at, ", ", remedy.look_at);
  return remedy;
}

/// Whether what makes room is merges of log blocks, which have settings of their own.
bool has_log_blocks(const MeasuredDrive& drive) {
  const Json* const mapping = find_group(drive.statistics, "mapping");
  return mapping != nullptr && mapping->contains("merges");
}

/// What moves data that are not collected, and erases for that: out of blocks in SLC mode, or as a
/// feature has it; of several, what moves the most. Where nothing is folded, free blocks may be
/// erased so that they can be written in SLC mode.
Remedy of_migration(const MeasuredDrive& drive, const Asker& asker) {
  struct Mover {
    const char* part;   ///< of the write amplification
    const char* group;  ///< of the statistics, which it alone has; of folding: none
    const char* cause;
    const char* firmware;
  };
  static constexpr Mover k_movers[] = {
      {"folding", "", k_folding, "firmware.pslc"},
      {"parity", "parity", "parity over dies", "firmware.parity"},
      {"copies", "replicas", "replicas", "firmware.replicas"},
      {"partition", "partition", "moves to read dies", "firmware.partition"},
      {"replicas of contents", "redirection", "replicas of popular contents", "firmware.redirection"}};
  const Json* const parts = find_group(drive.statistics, "write amplification");
  const Mover* most = nullptr;
  double moved = 0;
  for (const Mover& mover : k_movers) {
    const double units = parts == nullptr ? 0 : number_in(*parts, mover.part);
    if (units <= moved) continue;
    most = &mover;
    moved = units;
  }
  if (most != nullptr) return {most->cause, "", 0, most->firmware};
  if (number_in(drive.statistics, "blocks folded") > 0) return {k_folding, "", 0, "firmware.pslc"};
  // Where the host wrote nothing there is no write amplification.
  for (const Mover& mover : k_movers)
    if (find_group(drive.statistics, mover.group) != nullptr) return {mover.cause, "", 0, mover.firmware};
  if (number_in(drive.statistics, "blocks prepared") > 0)
    return {"erases for SLC mode", suspend_key(drive, asker, false, true), 0, "firmware.pslc"};
  return {"moves between blocks", "", 0};
}

/// Pages of a map that is in flash.
Remedy of_map_pages() {
  return {"pages of the map", "", 0, "firmware.mapping.cache"};
}

Remedy of_host_software(const MeasuredDrive& drive) {
  if (find_group(drive.statistics, "file_cache") != nullptr) return {"the file cache", "file_cache.cost", 0};
  return {"the log-structured host layer", "log_structured", 0};
}

Remedy of_reads(const MeasuredDrive& drive) {
  if (has_hot_dies(drive)) return {k_reads, k_addresses, 0};
  return {k_reads, k_more_dies, 0};
}

/// What pages are sensed for, as shares of all senses that decoders were given.
struct Senses {
  double again = 0;    ///< after a decoding failure
  double further = 0;  ///< of first attempts, beside the first, because their code asks for them
  bool alike = true;   ///< all for one code, so that attempts take equally long
  /// Of what first attempts take, what the code asks for.
  [[nodiscard]] double further_of_first() const { return further > 0 ? further / (1 - again) : 0; }
};

Senses senses_of(const MeasuredDrive& drive) {
  const Json* const decoders = find_group(drive.statistics, "decoders");
  if (decoders == nullptr) return {};
  double pages = 0;
  int codes = 0;
  for (const auto& [name, code] : decoders->items()) {
    if (!code.is_object() || is_value(code)) continue;
    pages += number_in(code, "pages");
    ++codes;
  }
  const double further = number_in(*decoders, "further senses of first attempts");
  const double further_again = number_in(*decoders, "further senses") - further;
  const double all = pages + further + further_again;
  if (all == 0) return {};
  return {(number_in(drive.statistics, "retries") + further_again) / all, further / all, codes < 2};
}

Remedy of_error_correction() {
  return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
}

Remedy of_further_senses() {
  Remedy remedy = {k_further_senses, "ssd.flash.ecc", 0, "firmware.ecc"};
  remedy.takes_its_own = true;
  return remedy;
}

}  // namespace

std::vector<Work> works_of_dies(const MeasuredDrive& drive, const Asker& asker) {
  const auto time = [&](std::string_view work) { return drive.dies_busy_with(work); };
  const Senses senses = senses_of(drive);
  const double reads = time("read");
  return {{has_log_blocks(drive) ? of_merges(drive, asker) : of_collection(drive, asker), time("gc")},
          {of_programs(drive, k_more_dies), time("program") + time("erase"), false},
          {of_reads(drive), reads * (1 - senses.again - senses.further), false},
          {of_migration(drive, asker), time("migration")},
          {of_map_pages(), time("map")},
          {{"refresh", "", 0, "firmware.refresh"}, time("refresh")},
          {{"wear levelling", "", 0, "firmware.wear"}, time("wear")},
          {of_error_correction(), reads * senses.again},
          {of_further_senses(), reads * senses.further}};
}

std::vector<Remedy> shared_out(const MeasuredDrive& drive, const std::vector<Work>& works) {
  const double transfers = drive.share_of_transfers();
  double sum = 0;
  for (const Work& work : works) sum += work.time;
  std::vector<Remedy> remedies;
  for (const Work& work : works) {
    if (work.time == 0) continue;
    remedies.push_back(work.remedy);
    remedies.back().share = (1 - transfers) * work.time / sum;
    remedies.back().along = transfers * work.time / sum;
  }
  if (remedies.empty()) return {};
  if (transfers > 0) {
    remedies.push_back(of_transfers(drive));
    remedies.back().share = transfers;
  }
  return remedies;
}

namespace {

/// As far as it is not one for data on their way.
std::vector<Remedy> of_die_wait(const MeasuredDrive& drive, const Remedy& own) {
  return shared_out(drive, {{own, 1}});
}

/// Of reads, which are as long as their senses.
std::vector<Remedy> of_wait_for_reads(const MeasuredDrive& drive) {
  const double further = senses_of(drive).further;
  return shared_out(drive, {{of_reads(drive), 1 - further}, {of_further_senses(), further}});
}

/// Of what a command's own reads take, `own` and what the code asks for beside that.
std::vector<Remedy> with_further_senses(Remedy own, const MeasuredDrive& drive) {
  Remedy further = of_further_senses();
  further.share = senses_of(drive).further_of_first();
  own.share = 1 - further.share;
  if (further.share == 0) return {own};
  return {own, further};
}

/// What makes room for what is written. What collection itself waits for is charged apart, so that
/// the programs of rewrites have no part in it.
std::vector<Remedy> of_making_room(const MeasuredDrive& drive, const Asker& asker) {
  std::vector<Work> works = {{of_collection(drive, asker), drive.dies_busy_with("gc")},
                             {of_migration(drive, asker), drive.dies_busy_with("migration")}};
  std::vector<Remedy> all = shared_out(drive, works);
  return all.empty() ? of_die_wait(drive, works.front().remedy) : all;
}

/// What a die takes to stop what it does for a read.
std::string suspend_latencies(const MeasuredDrive& drive) {
  return joined(drive.limits.suspends_erases ? "ssd.flash.part.erase_suspend_latency" : "", " or ",
                drive.limits.suspends_programs ? "ssd.flash.part.program_suspend_latency" : "");
}

/// Of a cause that has one remedy.
Remedy remedy_of(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  if (cause == "die busy: map" || (cause == "map fetch" && has_map_in_flash(drive.statistics)))
    return of_map_pages();
  if (cause == "map fetch") return of_look_ups(drive);
  if (cause == "memory") return of_memory(drive);
  if (cause == "link") return {"the host link", "ssd.host.link", 0};
  if (cause == "interrupt wait")
    return {"interrupt coalescing", "ssd.host.coalesce_time or ssd.host.coalesce_count", 0};
  if (cause == "host software" || cause == k_waits_in_host_software) return of_host_software(drive);
  if (cause == "network")
    return {"the network", "file_cache.bandwidth, file_cache.latency or file_cache.admission", 0};
  if (cause == "firmware" || cause == "core wait") {
    const Utilisation* const cores = drive.use_of("cores");
    if (cores != nullptr && uneven(*cores)) return of_resource(*drive.limiting(*cores));
    return {"the controller's cores", "ssd.cpu.clock", 0};
  }
  if (cause == "bus wait" || cause == "transfer" || cause == "flash command") return of_channels(drive);
  if (cause == "die busy: migration") return of_migration(drive, asker);
  if (cause == "die busy: refresh") return {"refresh", "", 0, "firmware.refresh"};
  if (cause == "die busy: wear") return {"wear levelling", "", 0, "firmware.wear"};
  if (cause == "sense" || cause == "program" || cause == "erase")
    return {"the flash's own time", "ssd.flash.part", 0};
  if (cause == "power budget")
    return {"the power budget, which programs and erases of other dies spend", "ssd.flash.read_power", 0};
  if (cause == "read ahead") return {"read-ahead", "firmware.read_ahead.window", 0};
  if (cause == "batch wait") return {"batches of reads", "", 0, "firmware.parallel_issue"};
  if (cause == "decoder wait") return of_decoders(drive);
  if (cause == "decode" || cause == "retry") return of_error_correction();
  if (cause == "suspend" && asker.reads) return {cause, suspend_latencies(drive), 0};
  if (cause == "suspend")
    return {"being suspended for reads",
            "ssd.flash.suspend, ssd.flash.part.max_suspends or ssd.flash.scheduling", 0};
  return {cause, "", 0};
}

}  // namespace

Remedy own_limit(const MeasuredDrive& drive, const Asker& asker) {
  for (const LimitOfLoad& limit : drive.limits.loads) {
    if (!asker.load.empty() && limit.load != asker.load) continue;
    const MeasuredLoad* const load = drive.find(limit.load);
    const double under_way = load == nullptr ? 0 : load->under_way;
    // Which of them holds it back, how many there were on average says.
    if (!limit.pause_key.empty() && under_way < k_idle * limit.most) return {"thinktime", limit.pause_key, 0};
    return {k_own_limit, limit.key, 0};
  }
  return {k_own_limit, "", 0};
}

Remedy of_alone(const MeasuredDrive& drive, const std::string& whose, const std::string& asker) {
  bool flushes = false;
  bool trims = false;
  std::size_t issuers = 0;
  std::string issuer;
  std::string keys;
  for (const MeasuredLoad& load : drive.loads) {
    if ((!load.flushes && !load.trims) || (!whose.empty() && load.name != whose)) continue;
    ++issuers;
    issuer = load.name;
    flushes = flushes || load.flushes;
    trims = trims || load.trims;
    if (keys.find(load.alone_keys) == std::string::npos) keys = joined(keys, " or ", load.alone_keys);
  }
  const std::string what = !trims ? "flushes" : flushes ? "flushes and trims" : "trims";
  const bool of_one = issuers == 1 && drive.loads.size() > 1 && issuer != asker;
  return {what + (of_one ? " of " + issuer : "") + ", which SATA runs alone",
          joined(keys, " or ", "ssd.host.protocol"), 0};
}

std::string joined(const std::string& a, const std::string& by, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : by) + b;
}

std::string suspend_key(const MeasuredDrive& drive, const Asker& asker, bool programs, bool erases) {
  if (!asker.reads) return "";
  const ChosenLimits& now = drive.limits;
  if ((programs && !now.suspends_programs) || (erases && !now.suspends_erases)) return "ssd.flash.suspend";
  const Json* const limits = find_group(drive.statistics, "not suspended");
  const auto times = [&](const char* limit) { return limits == nullptr ? 0 : number_in(*limits, limit); };
  const double often = times("most suspends");
  const double late = times("starvation");
  const double soon = times("resume time");
  if (std::max(often, late) > k_until_the_end * soon)
    return often >= late ? "ssd.flash.part.max_suspends" : "ssd.flash.scheduling.starvation_bound";
  if (programs && now.finishes_pulse) return "ssd.flash.part.suspend_point";
  return soon > 0 ? "ssd.flash.part.min_resume_time" : "";
}

Remedy of_collection(const MeasuredDrive& drive, const Asker& asker) {
  if (has_log_blocks(drive))
    return {"merges of log blocks", suspend_key(drive, asker, true, true), 0, "firmware.mapping.log_blocks"};
  if (drive.share_of_needed_erases() >= k_mostly_erases)
    return {"erases",
            joined(suspend_key(drive, asker, false, true), ", ",
                   "ssd.flash.part.erase_latency or ssd.flash.ways"),
            0};
  return {k_collection, joined("ssd.flash.spare_factor", ", ", suspend_key(drive, asker, true, true)), 0,
          "firmware.gc"};
}

bool has_hot_dies(const MeasuredDrive& drive) {
  const Utilisation* const dies = drive.use_of("dies");
  return dies != nullptr && uneven(*dies) && !drive.transfers_limit() &&
         drive.dies_busy_with("read") > dies->mean() / 2;
}

double busiest_beside(const Remedy& remedy, const MeasuredDrive& drive) {
  double most = 0;
  for (const Utilisation& use : drive.uses) {
    const std::optional<Resource> resource = drive.limiting(use);
    if (!resource || remedy.cause.find(resource->name) != std::string::npos) continue;
    if (!remedy.takes_its_own || use.label.starts_with("link")) most = std::max(most, use.mean());
  }
  return most;
}

namespace {

/// Of the dies' time, what rewrites take: copies of what was there, and the erases behind them.
/// What the host has written itself is programmed all the same.
double without_rewrites(const MeasuredDrive& drive) {
  const Json* const parts = find_group(drive.statistics, "write amplification");
  const double all = parts == nullptr ? 0 : number_in(*parts, "total");
  const double copied = all > 0 ? number_in(*parts, "region rewrites") / all : 0;
  return copied * drive.dies_busy_with("program") + drive.dies_busy_with("erase") +
         drive.dies_busy_with("gc");
}

}  // namespace

Remedy of_dies(const MeasuredDrive& drive, const Asker& asker) {
  const std::vector<Work> works = works_of_dies(drive, asker);
  const Work& longest = *std::max_element(works.begin(), works.end(),
                                          [](const Work& a, const Work& b) { return a.time < b.time; });
  const double dies = drive.busy("dies");
  const auto left_without = [&](const Remedy& remedy) {
    return std::max(dies - remedy.without, busiest_beside(remedy, drive));
  };
  Remedy work = longest.remedy;
  const bool retried = work.cause == of_error_correction().cause;
  work.takes_its_own = longest.takes_its_own;
  work.more_dies = work.look_at == k_more_dies && work.cause != k_rewrites;
  work.share = longest.time;
  work.without = retried && !senses_of(drive).alike ? drive.dies_busy_with("read") : longest.time;
  if (work.cause == k_rewrites) work.without = without_rewrites(drive);
  Remedy transfers = of_transfers(drive);
  transfers.share = transfers.without = drive.held() * dies;
  return left_without(transfers) < left_without(work) ? transfers : work;
}

std::vector<Remedy> remedies_for(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  const auto remedies = [&]() -> std::vector<Remedy> {
    if (cause == "buffer wait" || cause == "cache wait" || cause == "load limit" || cause == "submission" ||
        cause == "LBA hazard wait")
      return of_wait(cause, drive, asker);
    const bool collects = cause == "die busy: gc" || cause == "space wait";
    if (collects && has_log_blocks(drive)) return {of_merges(drive, asker)};
    if (cause == "die busy: gc") return of_die_wait(drive, of_collection(drive, asker));
    if (cause == "space wait") return of_making_room(drive, asker);
    if (cause == "die busy: read" && has_hot_dies(drive)) return {of_reads(drive)};
    if (cause == "die busy: read") return of_wait_for_reads(drive);
    if (cause == "die busy: program" || cause == "die busy: erase") {
      const std::string suspends =
          suspend_key(drive, asker, cause == "die busy: program", cause == "die busy: erase");
      return of_die_wait(drive, of_programs(drive, joined(suspends, " or ", "ssd.flash.ways")));
    }
    if (cause == "sense" || (asker.reads && (cause == "transfer" || cause == "flash command")))
      return with_further_senses(remedy_of(cause, drive, asker), drive);
    return with_latencies(cause, remedy_of(cause, drive, asker), drive, asker);
  };
  std::vector<Remedy> all = remedies();
  if (all.size() == 1) all.front().share = 1;
  return all;
}

double share_that_ends(const Remedy& remedy, const std::vector<Remedy>& all) {
  if (all.front().cause == remedy.cause) return 1;
  for (const Remedy& one : all)
    if (one.cause == k_further_senses && one.cause == remedy.cause) return one.share;
  return 0;
}

}  // namespace tlmssd
