#include "testbench/report/advice/waits.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "testbench/report/advice/remedies_parts.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_limit = "the limit of commands under way";
/// Of the time of dies, up to which collection is no matter.
constexpr double k_hardly_collects = 0.1;

/// Parallel units have as many programs under way as they may have, and dies time left.
Remedy of_programs_at_limit(const MeasuredDrive& drive) {
  const std::string own = "firmware.allocation.programs_per_pu";
  const std::string copies = "firmware.gc.parallel_copies";
  const double programs = drive.dies_busy_with("program");
  const double collection = drive.dies_busy_with("gc");
  const std::string both = collection > programs                       ? copies + " or " + own
                           : collection > k_hardly_collects * programs ? own + " or " + copies
                                                                       : own;
  return {"the limit of programs under way", "", 0, both};
}

bool is_memory(std::string_view label) {
  return label == "bus" || label == "DRAM" || label.starts_with("SCM");
}

/// Whether programs that make room in a buffer or a cache may wait for this. What is busy with the
/// host's own accesses to memory, one after another, does not hold them up: these hardly wait.
bool delays_programs(const Utilisation& use, const MeasuredDrive& drive) {
  const std::string& label = use.label;
  constexpr double k_hardly = 0.5;  // of what they take: what they would at random, at half load
  if (is_memory(label)) {
    const std::optional<MeasuredDrive::Access> access = drive.access_to(label);
    return !access || access->waits >= k_hardly * access->takes;
  }
  const bool of_flash =
      label == "dies" || label == "channels" || label == "gangs" || label.ends_with(" decoders");
  return of_flash || load_of(use) >= k_busy_resource;
}

/// Of channels that are taken all the time, the part in which memory has yet to bring the data of
/// programs.
double brought_by_memory(const MeasuredDrive& drive) {
  const double held = drive.channels_held();
  return held >= k_busy_resource ? 1 - drive.busy("channels") / held : 0;
}

/// Channels, and the memory that they wait for, by turns.
std::vector<Remedy> of_channels_and_memory(const MeasuredDrive& drive) {
  std::vector<Remedy> both = {of_channels(drive), of_busiest(drive, {"bus", "DRAM"})};
  both[1].share = brought_by_memory(drive);
  both[0].share = 1 - both[1].share;
  return both;
}

struct Bottleneck {
  std::vector<Remedy> remedies = {};  ///< none: all are idle for most of the time
  double busy = 1;                    ///< of the time
};

/// What keeps the busiest resource busy: whatever waits without a cause of its own waits for that.
/// `for_room`: of what makes room alone.
Bottleneck bottleneck(const MeasuredDrive& drive, const Asker& asker, bool for_programs, bool for_room) {
  constexpr double k_hardly_any = 0.1;
  const double by_memory = brought_by_memory(drive);
  const auto busiest = [&](const auto& measure, double least) {
    const Utilisation* result = nullptr;
    for (const Utilisation& use : drive.uses) {
      if (measure(use) <= (result == nullptr ? least : measure(*result))) continue;
      if (for_room && !delays_programs(use, drive)) continue;
      if (use.label == "dies" || drive.limiting(use)) result = &use;
    }
    return result;
  };
  if (for_programs && drive.programs_at_limit() >= k_busy_resource &&
      busiest(load_of, k_busy_resource) == nullptr) {
    if (by_memory > 0) return {of_channels_and_memory(drive)};
    return {{of_programs_at_limit(drive)}};
  }
  const Utilisation* use = busiest(load_of, k_idle);
  double busy = use == nullptr ? 0 : load_of(*use);
  if (use == nullptr) {
    use = busiest([](const Utilisation& one) { return one.highest(); }, k_idle);
    if (use == nullptr) return {};
    busy = use->highest();
  }
  if (use->label == "dies") return {shared_out(drive, works_of_dies(drive, asker)), busy};
  if (use->label == "channels" && by_memory > k_hardly_any) return {of_channels_and_memory(drive)};
  return {{with_ties(use->label, drive)}, busy};
}

/// Room in the cache: reads wait for it where they are told to. In a cache that keeps none a write
/// waits until what it drives out is in flash, however large the cache is.
Remedy of_cache(const MeasuredDrive& drive, const Asker& asker) {
  if (!asker.reads && !drive.limits.cache_keeps_room)
    return {"evictions from a full cache", "ssd.flash.part.program_latency", 0, "firmware.cache.policy"};
  const Json* const cache = find_group(drive.statistics, "cache");
  const Json* const medium = cache == nullptr ? nullptr : find_value(*cache, "medium");
  const bool in_scm = medium != nullptr && (*medium)["value"] == "SCM";
  return {"room in the cache", in_scm ? "ssd.scm.capacity" : "", 0,
          asker.reads ? "firmware.cache.copy_waits or firmware.cache.capacity" : "firmware.cache.capacity"};
}

/// Of a write's wait for room in a cache in SCM, which is the busiest: what drives lines out waits
/// for that, and then takes its time in flash.
std::vector<Remedy> with_evictions(Remedy memory, const MeasuredDrive& drive, const Asker& asker) {
  const std::optional<MeasuredDrive::Access> access = drive.access_to("SCM");
  if (!access || drive.limits.program_seconds == 0) return {memory};
  memory.share = access->waits / (access->waits + drive.limits.program_seconds);
  Remedy evictions = of_cache(drive, asker);
  evictions.share = 1 - memory.share;
  return {memory, evictions};
}

/// Whether the queue of SATA stands for commands that run alone for most of the time, and for more
/// of it than anything is busy.
bool alone_limits(const MeasuredDrive& drive) {
  double most = k_idle;
  for (const Utilisation& use : drive.uses)
    if (use.label == "dies" || drive.limiting(use)) most = std::max(most, load_of(use));
  return drive.held_up() > most;
}

/// What such a wait is for itself, where nothing is busy.
Remedy of_limit(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  if (cause == "buffer wait") return {"room in the write buffer", "", 0, "firmware.buffer.capacity"};
  if (cause == "cache wait") return of_cache(drive, asker);
  if (cause == "load limit") return own_limit(drive, asker);
  if (cause == "submission" && !drive.limits.commands_under_way.empty())
    return {k_limit, drive.limits.commands_under_way, 0};
  if (cause == "submission") return {"the host's queue", drive.limits.queue_depth, 0};
  return {"earlier commands on the same data", "", 0};
}

/// The part that a limit has in a wait, beside what is `busy` for so much of the time. With more
/// commands under way that would be busy all the time. A write buffer holds programs that dies
/// carry out, which more dies would not do earlier, and others, that wait for these.
double share_of_limit(const std::string& cause, double busy, const MeasuredDrive& drive) {
  if (busy >= k_busy_resource) return 0;
  if (cause == "load limit" || cause == "submission") return 1 - busy;
  if (cause != "buffer wait" || drive.limits.dies_of_buffer == 0) return 0;
  return std::min(drive.dies_busy_with("program") / drive.limits.dies_of_buffer, 1.0);
}

}  // namespace

std::vector<Remedy> of_wait(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  if ((cause == "load limit" || cause == "submission") && alone_limits(drive))
    return {of_alone(drive, "", asker.load)};
  const bool for_programs =
      !asker.reads || cause == "buffer wait" || cause == "cache wait" || cause == "LBA hazard wait";
  const bool for_room = cause == "buffer wait" || cause == "cache wait";
  auto [remedies, busy] = bottleneck(drive, asker, for_programs, for_room);
  if (remedies.empty()) return {of_limit(cause, drive, asker)};
  const bool of_scm = remedies.size() == 1 && remedies.front().cause.ends_with("the SCM");
  if (cause == "cache wait" && of_scm && !asker.reads) return with_evictions(remedies.front(), drive, asker);
  const double of_itself = share_of_limit(cause, busy, drive);
  if (of_itself == 0) return remedies;
  if (remedies.size() == 1) remedies.front().share = 1;
  for (Remedy& remedy : remedies) {
    remedy.share *= 1 - of_itself;
    remedy.along *= 1 - of_itself;
  }
  remedies.push_back(of_limit(cause, drive, asker));
  remedies.back().share = of_itself;
  return remedies;
}

}  // namespace tlmssd
