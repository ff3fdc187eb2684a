#include "testbench/report/advice/remedies.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_addresses = "the addresses that are asked for";
constexpr const char* k_collection = "collection";
constexpr const char* k_limit = "the limit of commands under way";
constexpr const char* k_own_limit = "the load's own limit of commands under way";
/// From this share of the dies' time on, data on their way in or out are what a single wait for
/// them comes from, of which more may be an erase.
constexpr double k_held_for_wait = 1.0 / 2;

Remedy of_resource(const Resource& resource) {
  return {resource.name, resource.all_keys(), 0};
}

/// The first of these that every byte for the second goes through: with as much to do, neither is
/// any use alone.
constexpr std::pair<std::string_view, std::string_view> k_paths[] = {
    {"bus", "DRAM"}, {"bus", "SCM"}, {"gangs", "channels"}};
constexpr double k_tie = 0.95;  ///< of the busier, from which on both limit

/// `label`, and what is as busy on the same path.
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

/// The busiest of these, which are known.
Remedy of_busiest(const MeasuredDrive& drive, std::initializer_list<std::string_view> labels) {
  const std::string_view busiest = *std::max_element(
      labels.begin(), labels.end(),
      [&](std::string_view a, std::string_view b) { return drive.busy(a) < drive.busy(b); });
  return with_ties(busiest, drive);
}

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

/// Channels, or the lines that some of them share.
Remedy of_channels(const MeasuredDrive& drive) {
  return of_busiest(drive, {"channels", "gangs"});
}

/// What brings data to the dies and away: the channels, unless these wait for the memory behind
/// them.
Remedy of_transfers(const MeasuredDrive& drive) {
  const double memory = std::max(drive.busy("bus"), drive.busy("DRAM"));
  if (memory >= 0.98 * drive.busy("channels") && memory >= drive.busy("gangs"))
    return of_busiest(drive, {"bus", "DRAM"});
  return of_channels(drive);
}

/// `own`, but a die whose array rests is kept busy by the channel: data wait to get in or out.
Remedy of_die_work(const MeasuredDrive& drive, const char* own, const std::string& look_at) {
  if (drive.busy("channels") > drive.busy("die arrays")) return of_transfers(drive);
  return {own, look_at, 0};
}

/// Programs of what the host wrote. A block-mapped region is programmed as a whole: as a rewrite
/// when most of it is copied.
Remedy of_programs(const MeasuredDrive& drive, const std::string& look_at) {
  const Json* const parts = find_group(drive.statistics, "write amplification");
  const bool rewrites = parts != nullptr && number_in(*parts, "region rewrites") > number_in(*parts, "host");
  Remedy remedy = of_die_work(drive, rewrites ? k_rewrites : k_programs, look_at);
  if (remedy.cause == k_rewrites) remedy.look_at_firmware = "firmware.mapping";
  return remedy;
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

/// What makes room for what is written.
Remedy of_making_room(const MeasuredDrive& drive, const Asker& asker) {
  const bool folding = drive.dies_busy_with("migration") > drive.dies_busy_with("gc");
  return folding ? of_migration(drive, asker) : of_collection(drive, asker);
}

/// Pages of a map that is in flash.
Remedy of_map_pages() {
  return {"pages of the map", "", 0, "firmware.mapping.cache"};
}

bool has_map_in_flash(const MeasuredDrive& drive) {
  const Json* const mapping = find_group(drive.statistics, "mapping");
  return mapping != nullptr && mapping->contains("cache_bytes");
}

Remedy of_host_software(const MeasuredDrive& drive) {
  if (find_group(drive.statistics, "file_cache") != nullptr) return {"the file cache", "file_cache.cost", 0};
  return {"the log-structured host layer", "log_structured", 0};
}

Remedy of_reads(const MeasuredDrive& drive) {
  if (has_hot_dies(drive)) return {k_reads, k_addresses, 0};
  return of_die_work(drive, k_reads, "ssd.flash.ways or ssd.flash.channels");
}

/// Of the attempts at reads, those after a decoding failure.
struct Retries {
  double share = 0;
  bool alike = true;  ///< as long as the first attempts, all with one code
};

Retries retries_of(const MeasuredDrive& drive) {
  const Json* const decoders = find_group(drive.statistics, "decoders");
  if (decoders == nullptr) return {};
  double pages = 0;
  int codes = 0;
  for (const auto& [name, code] : decoders->items()) {
    if (!code.is_object() || is_value(code)) continue;
    pages += number_in(code, "pages");
    ++codes;
  }
  const double retries = number_in(drive.statistics, "retries");
  return {pages > 0 ? retries / pages : 0, codes < 2};
}

Remedy of_error_correction() {
  return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
}

/// What keeps the busiest resource busy: whatever waits without a cause of its own waits for that.
/// Nothing: all are idle for most of the time.
std::optional<Remedy> bottleneck(const MeasuredDrive& drive, const Asker& asker) {
  const auto busiest = [&](const auto& measure) {
    double most = k_idle;
    std::optional<Remedy> result;
    for (const Utilisation& use : drive.uses) {
      if (measure(use) <= most) continue;
      const std::optional<Resource> resource = drive.limiting(use);
      if (use.label != "dies" && !resource) continue;
      most = measure(use);
      result = use.label == "dies" ? of_dies(drive, asker) : with_ties(use.label, drive);
      result->share = 0;
    }
    return result;
  };
  const std::optional<Remedy> all = busiest(load_of);
  return all ? all : busiest([](const Utilisation& use) { return use.highest(); });
}

/// A wait that has no cause of its own, and what it is called where nothing is busy.
Remedy of_wait(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  if (std::optional<Remedy> busiest = bottleneck(drive, asker)) return *busiest;
  if (cause == "buffer wait") return {"room in the write buffer", "", 0, "firmware.buffer.capacity"};
  if (cause == "load limit") return own_limit(drive, asker);
  if (cause == "submission" && !drive.limits.commands_under_way.empty())
    return {k_limit, drive.limits.commands_under_way, 0};
  return {cause == "submission" ? "the host's queue" : "earlier commands on the same data", "", 0};
}

}  // namespace

Remedy own_limit(const MeasuredDrive& drive, const Asker& asker) {
  for (const LimitOfLoad& limit : drive.limits.loads) {
    if (!asker.load.empty() && limit.load != asker.load) continue;
    double under_way = 0;
    for (const Json& load : drive.loads) {
      if (load["name"] == limit.load) under_way = load["queue_depth"]["mean"].get<double>();
    }
    // Which of them holds it back, how many there were on average says.
    if (!limit.pause_key.empty() && under_way < k_idle * limit.most) return {"thinktime", limit.pause_key, 0};
    return {k_own_limit, limit.key, 0};
  }
  return {k_own_limit, "", 0};
}

std::string joined(const std::string& a, const std::string& by, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : by) + b;
}

std::string suspend_key(const MeasuredDrive& drive, const Asker& asker, bool programs, bool erases) {
  if (!asker.reads) return "";
  const ChosenLimits& now = drive.limits;
  if ((programs && !now.suspends_programs) || (erases && !now.suspends_erases)) return "ssd.flash.suspend";
  return programs && now.finishes_pulse ? "ssd.flash.part.suspend_point" : "";
}

Remedy of_collection(const MeasuredDrive& drive, const Asker& asker) {
  if (has_log_blocks(drive))
    return {"merges of log blocks", suspend_key(drive, asker, true, true), 0, "firmware.mapping.log_blocks"};
  return {k_collection, joined("ssd.flash.spare_factor", ", ", suspend_key(drive, asker, true, true)), 0,
          "firmware.gc"};
}

bool has_hot_dies(const MeasuredDrive& drive) {
  const Utilisation* const dies = drive.use_of("dies");
  return dies != nullptr && uneven(*dies) && !drive.transfers_limit() &&
         drive.dies_busy_with("read") > dies->mean() / 2;
}

Remedy of_dies(const MeasuredDrive& drive, const Asker& asker) {
  struct Work {
    Remedy remedy;
    double time = 0;
    bool takes_its_own = true;  ///< as in Remedy
  };
  const auto time = [&](std::string_view work) { return drive.dies_busy_with(work); };
  const Retries retries = retries_of(drive);
  const double reads = time("read");
  const Remedy again = of_error_correction();
  const std::vector<Work> works = {
      {of_collection(drive, asker), time("gc")},
      {of_programs(drive, "ssd.flash.ways or ssd.flash.channels"), time("program") + time("erase"), false},
      {of_reads(drive), reads * (1 - retries.share), false},
      {of_migration(drive, asker), time("migration")},
      {of_map_pages(), time("map")},
      {{"refresh", "", 0, "firmware.refresh"}, time("refresh")},
      {{"wear levelling", "", 0, "firmware.wear"}, time("wear")},
      {again, reads * retries.share}};
  const Work& longest = *std::max_element(works.begin(), works.end(),
                                          [](const Work& a, const Work& b) { return a.time < b.time; });
  const bool retried = longest.remedy.cause == again.cause;
  Remedy remedy = longest.remedy;
  double own = longest.time;
  const Remedy transfers = of_transfers(drive);
  const double transferring = drive.held() * drive.busy("dies");
  // Reading again brings its data over the channels again.
  if (drive.transfers_limit() && !(retried && own > transferring)) remedy = transfers;
  const bool transfer = remedy.cause == transfers.cause;
  if (transfer) own = transferring;
  remedy.takes_its_own = longest.takes_its_own && !transfer;
  remedy.without = retried && remedy.takes_its_own && !retries.alike ? reads : own;
  remedy.share = own;
  return remedy;
}

Remedy remedy_of(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  const bool collects = cause == "die busy: gc" || cause == "space wait";
  if (collects && has_log_blocks(drive)) return of_merges(drive, asker);
  if (cause == "die busy: gc")
    return drive.held() >= k_held_for_wait ? of_transfers(drive) : of_collection(drive, asker);
  if (cause == "space wait")
    return drive.transfers_limit() ? of_transfers(drive) : of_making_room(drive, asker);
  if (cause == "buffer wait" || cause == "load limit" || cause == "submission" || cause == "LBA hazard wait")
    return of_wait(cause, drive, asker);
  if (cause == "die busy: map" || (cause == "map fetch" && has_map_in_flash(drive))) return of_map_pages();
  if (cause == "memory" || cause == "map fetch") return of_memory(drive);
  if (cause == "link") return {"the host link", "ssd.host.link", 0};
  if (cause == "interrupt wait")
    return {"interrupt coalescing", "ssd.host.coalesce_time or ssd.host.coalesce_count", 0};
  if (cause == "host software") return of_host_software(drive);
  if (cause == "network")
    return {"the network", "file_cache.bandwidth, file_cache.latency or file_cache.admission", 0};
  if (cause == "firmware" || cause == "core wait") {
    const Utilisation* const cores = drive.use_of("cores");
    if (cores != nullptr && uneven(*cores)) return of_resource(*drive.limiting(*cores));
    return {"the controller's cores", "ssd.cpu.clock", 0};
  }
  if (cause == "bus wait" || cause == "transfer" || cause == "flash command") return of_channels(drive);
  if (cause == "die busy: read") return of_reads(drive);
  if (cause == "die busy: program" || cause == "die busy: erase")
    return of_programs(
        drive, joined(suspend_key(drive, asker, cause == "die busy: program", cause == "die busy: erase"),
                      " or ", "ssd.flash.ways"));
  if (cause == "die busy: migration") return of_migration(drive, asker);
  if (cause == "die busy: refresh") return {"refresh", "", 0, "firmware.refresh"};
  if (cause == "die busy: wear") return {"wear levelling", "", 0, "firmware.wear"};
  if (cause == "sense" || cause == "program" || cause == "erase")
    return {"the flash's own time", "ssd.flash.part", 0};
  if (cause == "read ahead") return {"read-ahead", "firmware.read_ahead.window", 0};
  if (cause == "batch wait") return {"batches of reads", "", 0, "firmware.parallel_issue"};
  if (cause == "decoder wait") return of_decoders(drive);
  if (cause == "decode" || cause == "retry") return of_error_correction();
  if (cause == "suspend" && asker.reads)
    return {cause, "ssd.flash.suspend, ssd.flash.part.suspend_point or ssd.flash.part", 0};
  if (cause == "suspend")
    return {"being suspended for reads",
            "ssd.flash.suspend, ssd.flash.part.max_suspends or ssd.flash.scheduling", 0};
  return {cause, "", 0};
}

}  // namespace tlmssd
