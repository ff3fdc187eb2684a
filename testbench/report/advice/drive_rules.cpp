#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "models/base/quantity_text.h"
#include "testbench/report/advice/adviser_rules.h"
#include "testbench/report/advice/busy_parts.h"
#include "testbench/report/advice/resources.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd::advice {

void unwritten_reads(const Evidence& e) {
  const double unwritten = e.statistic("unmapped reads");
  const double all = e.statistic("host units read");
  if (all == 0 || unwritten < k_share_unwritten * all) return;
  e.say(fmt::format("{} of what was read was not there (never written, or trimmed): the drive answers that "
                    "without touching its flash, far faster than data",
                    share_text(unwritten / all)),
        "precondition");
}

namespace {

/// What the host's data have cost in flash; firmware that does not count it: what does not fit into
/// the write buffer.
double programmed(const Evidence& e) {
  const Json* const amplification = find_group(e.report["statistics"], "write_amplification");
  if (amplification != nullptr && amplification->contains("host"))
    return number_in(*amplification, "host") * e.written();
  return std::max(e.written() - static_cast<double>(e.facts.write_buffer), 0.0);
}

}  // namespace

void short_for_amplification(const Evidence& e) {
  const double flushed = programmed(e);
  if (!e.about_writes() || flushed >= k_turnovers * e.spare()) return;
  e.say(fmt::format("{} were written and {} of them programmed, {:.2g} times the spare flash of {}: write "
                    "amplification and collection need some turnovers to settle",
                    bytes_text(e.written()), bytes_text(flushed), flushed / e.spare(), bytes_text(e.spare())),
        Evidence::longer(e.all_loads(), {}, {"precondition"}));
}

namespace {

constexpr double k_share_of_flushes = 0.1;

/// The part of an operation's latency that is a wait for flash or for room, as a share of it.
double waited_for_flash(const Json& operation) {
  double share = 0;
  for (const auto& [cause, part] : operation["ledger"].items()) {
    if (cause == "buffer wait" || cause == "cache wait" || cause == "space wait" || cause == "program" ||
        cause.starts_with("die busy"))
      share += part["share"].get<double>();
  }
  return share;
}

/// Whether writes waited for flash, of their own or for room: then they are not those of the
/// memory. A write that a flush follows waits in the flush.
bool writes_waited(const Evidence& e) {
  const Json& operations = e.report["results"]["total"]["operations"];
  const Json& writes = operations["write"];
  if (waited_for_flash(writes) >= k_share_of_waits) return true;
  if (!operations.contains("flush")) return false;
  const auto time = [](const Json& operation) {
    return operation["commands"].get<double>() * operation["latency"]["mean"].get<double>();
  };
  const Json& flushes = operations["flush"];
  return waited_for_flash(flushes) * time(flushes) >= k_share_of_flushes * (time(writes) + time(flushes));
}

}  // namespace

void buffer_holds_load(const Evidence& e) {
  const Json* cache = find_group(e.report["statistics"], "cache");
  const Json* held = cache == nullptr ? nullptr : find_value(*cache, "capacity");
  const double buffer = std::max(static_cast<double>(e.facts.write_buffer),
                                 held == nullptr ? 0 : (*held)["value"].get<double>());
  if (!e.about_writes() || e.written() > buffer || writes_waited(e)) return;
  e.say(fmt::format("all that was written, {}, fits into the {} of write buffer or cache: write "
                    "latencies and rates are those of the memory",
                    bytes_text(e.written()), bytes_text(buffer)),
        Evidence::longer(e.all_loads(), {"firmware.buffer.capacity"}));
}

/// A read that may not wait copies nothing into a full cache, and evicts nothing from it. Where
/// reads wait, those do not that would fill a good part of the cache.
void reads_not_cached(const Evidence& e) {
  const Json* const cache = find_group(e.report["statistics"], "cache");
  if (cache == nullptr || find_value(*cache, "copies skipped") == nullptr) return;
  const double skipped = number_in(*cache, "copies skipped");
  const double all = skipped + number_in(*cache, "copies in");
  const double reads = number_in(*cache, "reads");
  if (all == 0 || skipped < k_share_not_copied * all || skipped < k_share_of_reads * reads) return;
  const std::string found = fmt::format(
      "{} of what reads might have brought into the cache, for {} of what they looked up, found no room "
      "there: ",
      share_text(skipped / all), share_text(skipped / reads));
  if (e.facts.copies_wait) {
    e.say(found + "a read that needs more than an eighth of the cache does not wait for room",
          "firmware.cache.capacity");
  } else {
    e.say(found + "it is full, and a read that does not wait makes none", "firmware.cache.copy_waits");
  }
}

namespace {

/// What another's firmware keeps open is not known.
bool has_few_blocks(const Evidence& e) {
  return e.facts.own_firmware && e.facts.blocks_of_spare < k_blocks_of_spare;
}

}  // namespace

void few_blocks(const Evidence& e) {
  if (!e.about_writes() || !has_few_blocks(e)) return;
  e.say(fmt::format("each parallel unit has {:.1f} blocks of spare flash, of which four or so are "
                    "always open or in reserve: collection works with less than the drive seems "
                    "to have{}",
                    e.facts.blocks_of_spare,
                    e.facts.background_without_room ? ", and never in the background" : ""),
        "ssd.flash.part.pages_per_block");
}

void no_background(const Evidence& e) {
  // Of few blocks few_blocks() says it.
  if (has_few_blocks(e) || !e.about_writes() || !e.facts.background_without_room) return;
  e.say(
      "nothing is collected in the background: half of the spare blocks of each parallel unit are fewer than "
      "firmware.gc.low_water + 2, so that firmware.gc.background_start and background_stop play no part",
      "ssd.flash.spare_factor, firmware.gc.low_water or ssd.flash.part.pages_per_block");
}

/// Blocks in SLC mode that have failed leave a drive that writes as if it had none.
void pslc_worn_out(const Evidence& e) {
  const Json* const pslc = find_group(e.report["statistics"], "pslc");
  if (pslc == nullptr) return;
  const double lost = number_in(*pslc, "static size lost");
  const double all = lost + number_in(*pslc, "static size");
  if (lost == 0 || lost < k_share_of_pslc_lost * all) return;
  e.say(fmt::format("{} of the {} of static pSLC are worn out or have failed: what does not "
                    "fit into the rest goes to native blocks",
                    bytes_text(lost), bytes_text(all)),
        "firmware.pslc.static or ssd.flash.part.slc_endurance");
}

/// A load that goes on until it is steady has come into the steady state of its own.
void steady_of_another_load(const Evidence& e) {
  if (!e.facts.drawn_steady || !e.about_writes() || e.report.contains("steady")) return;
  for (const LoadEnd& load : e.facts.loads) {
    if (load.unlike_steady.empty()) continue;
    e.say(fmt::format("{} {}, and the drive is in the steady state of uniform random writes of a "
                      "mapping page all over it: write amplification and the speed of writes are "
                      "those of neither until the load has turned its spare flash over some times",
                      load.name, load.unlike_steady),
          "precondition.overwrite or precondition.until");
  }
}

/// Collection in the background had freed blocks before the load, which a host that never pauses
/// would not have found. Those that are taken and not freed again meanwhile are counted, open ones
/// included.
void rested_drive(const Evidence& e) {
  const Json& free = e.report["series"]["free_blocks"];
  if (!e.facts.came_to_rest || !e.about_writes() || free.empty() || !free.back().is_number()) return;
  const double before = free.front().get<double>();
  const double after = free.back().get<double>();
  const Json* const amplification = find_group(e.report["statistics"], "write_amplification");
  if (amplification == nullptr) return;
  const double all = number_in(*amplification, "total") * e.written();
  if ((before - after) * static_cast<double>(e.facts.block) < k_share_found_free * all) return;
  e.say(fmt::format("{} blocks were free at the start, {} at the end: the drive had come to rest before the "
                    "load, and writes found room that collection need not make for them; a host that never "
                    "pauses finds less",
                    before, after),
        "precondition.sustained");
}

/// Limits that were given and that this run could not come to.
void out_of_reach(const Evidence& e) {
  for (const auto& [text, look_at] : e.facts.out_of_reach) e.say(text, look_at);
  const Json* const correction = find_group(e.report["statistics"], "error correction");
  const Json* const windows = correction == nullptr ? nullptr : find_value(*correction, "windows");
  if (windows != nullptr && (*windows)["value"] == 0)
    e.say("the ECC policy has not classified the load: the host has given fewer commands than its window has",
          "firmware.ecc.window");
  const Json* const voltage = find_group(e.report["statistics"], "pass voltage");
  if (voltage == nullptr || find_value(*voltage, "lowered") == nullptr) return;
  if (number_in(*voltage, "lowered") + number_in(*voltage, "raised") > 0) return;
  if (e.facts.simulated >= e.facts.pass_voltage_interval) return;
  e.say(fmt::format(
            "no block was read at a lower pass voltage: that may happen {} after its first reads, and {} "
            "were simulated",
            time_text(e.facts.pass_voltage_interval * 1e12), time_text(e.facts.simulated * 1e12)),
        "firmware.pass_voltage.interval");
}

/// A resource that limits the run at a value that was not chosen.
void default_matters(const Evidence& e) {
  const auto& statistics = e.report["statistics"];
  for (const Utilisation& use : working_utilisations(statistics)) {
    if (use.mean() < k_saturated) continue;
    const std::optional<Resource> resource = find_resource(use.label, statistics);
    if (!resource) continue;
    if (std::any_of(resource->keys.begin(), resource->keys.end(), e.facts.changed)) continue;
    e.say(fmt::format("{}: {} busy, and what it can do is a default of the emulator", resource->full_name(),
                      share_text(use.mean())),
          resource->keys.front());
  }
}

}  // namespace tlmssd::advice
