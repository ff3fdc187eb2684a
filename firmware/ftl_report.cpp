// What the Ftl tells of itself: statistics, the report of a stall, snapshots.
#include <algorithm>
#include <fmt/format.h>

#include "firmware/ftl_parts.h"
#include "models/base/report_within.h"

namespace tlmssd::firmware {

namespace {

constexpr std::uint32_t k_snapshot_version = 16;

std::uint64_t sum(const std::array<std::uint64_t, k_purposes>& counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  return total;
}

std::string line_at(const std::string& text, std::size_t start) {
  return start < text.size() ? text.substr(start, text.find('\n', start) - start) : std::string("nothing");
}

/// `programs_at_limit`: share of the time.
void report_traffic(StatisticsSink& sink, const FtlStatistics& s, std::uint32_t sectors,
                    double programs_at_limit) {
  sink.value("commands", s.commands, "", "host commands completed");
  sink.value("host units read", s.host_units_read, "units", "mapping pages looked up by reads");
  sink.value("host units written", s.host_units_written, "units",
             "mapping pages touched by writes, wholly or in part");
  sink.value("host units written, net", static_cast<double>(s.host_blocks_written) / sectors, "units",
             "data written by the host, in mapping pages");
  sink.value("units trimmed", s.units_trimmed, "units", "mapping pages that trim and write zeroes gave up");
  sink.value("units emptied in parts", s.units_emptied_in_parts, "units",
             "of these, mapping pages that lost the last of their logical blocks to a trim of a part");
  sink.value("partial trims", s.partial_trims, "",
             "times that trim and write zeroes took only some logical blocks of a mapping page with data: "
             "they are remembered as zeros, and nothing is programmed");
  sink.value("unmapped reads", s.unmapped_reads, "units", "reads answered with zeros without touching flash");
  sink.open("write buffer", "mapping pages accepted and not yet on flash");
  sink.value("read hits", s.buffer_read_hits, "units", "units read from the buffer, wholly or in part");
  sink.value("overwrites", s.buffer_overwrites, "units", "writes merged into a unit that was still waiting");
  sink.value("waits for room", s.full_waits, "", "times a command waited for a free place");
  sink.value("read-modify-write reads", s.rmw_reads, "units",
             "units read back because they were written only in part");
  sink.value("programs at limit", programs_at_limit, "",
             "share of the time in which every parallel unit had as many programs of the buffer under way as "
             "it may have (allocation.programs_per_pu)");
  sink.close();
}

/// Kinds of moves that there may be.
struct Moves {
  bool map = false;
  bool folding = false;
  bool regions = false;
  std::vector<MovedUnits> by_features;
};

void report_amplification(StatisticsSink& sink, const FtlStatistics& s, std::uint32_t sectors,
                          const Moves& moves) {
  const double written = static_cast<double>(s.host_blocks_written) / sectors;
  const auto part = [&](Purpose purpose) {
    return quotient(static_cast<double>(s.units_programmed[static_cast<std::size_t>(purpose)]), written);
  };
  const auto padding = static_cast<double>(sum(s.units_padded));
  sink.open(
      "write amplification",
      "bytes programmed per byte that the host wrote; none where it wrote nothing. Programs count when they "
      "have ended, those of block-mapped regions when they are ordered");
  sink.value("total", quotient(static_cast<double>(sum(s.units_programmed)) + padding, written), "",
             "all causes together");
  const auto share = [&](std::uint64_t units) { return quotient(static_cast<double>(units), written); };
  sink.value(
      "host", share(s.units_programmed[static_cast<std::size_t>(Purpose::host)] - s.units_rewritten), "",
      "the host's own data: below 1 through overwrites in the buffer, above through partly written units");
  if (moves.regions)
    sink.value("region rewrites", share(s.units_rewritten), "",
               "data copied because some other unit of their block-mapped region was written");
  sink.value("garbage collection", part(Purpose::gc), "", "data moved to free blocks");
  sink.value("wear levelling", part(Purpose::wear), "", "data moved to even out wear");
  for (const FeatureInfo& info : features()) {
    if (info.moves == nullptr) continue;
    std::uint64_t units = s.units_programmed[static_cast<std::size_t>(info.moves->purpose)];
    if (info.moves->purpose == Purpose::migration) {
      units -= std::min(units, s.units_folded + s.units_folded_on_die);
      for (const MovedUnits& moved : moves.by_features) units -= std::min(units, moved.units);
    }
    sink.value(name_of(info.moves->purpose), share(units), "", info.moves->doc);
  }
  if (moves.folding)
    sink.value("folding", share(s.units_folded + s.units_folded_on_die), "",
               "data moved out of blocks in SLC mode");
  for (const MovedUnits& moved : moves.by_features) sink.value(moved.name, share(moved.units), "", moved.doc);
  if (moves.map) sink.value("map", part(Purpose::map), "", "map pages written for dirty entries");
  sink.value("padding", quotient(padding, written), "",
             "slots programmed with nothing in them, to fill a program unit");
  if (moves.folding) {
    const std::uint64_t all = s.slots_programmed();
    sink.open("by mode", "the total, by the mode of the blocks that were programmed");
    sink.value("slc", share(s.units_in_slc), "", "in SLC mode");
    sink.value("native", share(all - s.units_in_slc), "", "in native mode");
    sink.close();
  }
  sink.close();
}

void report_reliability(StatisticsSink& sink, const FtlStatistics& s) {
  sink.value("reads retried", s.retried_reads, "", "flash reads that were not decoded at the first attempt");
  sink.value("retries", s.retries, "", "further attempts at these");
  sink.value("reads lost", s.lost_reads, "",
             "flash reads given up now, firmware's own among them: the host gets a media error when it reads "
             "the data, unless a replica has them");
  sink.value("frames lost", s.lost_frames, "",
             "ECC frames of these that could not be decoded, in the attempt with the fewest");
  sink.value("wrong bits per frame",
             ratio(static_cast<double>(s.corrected_bits), static_cast<double>(s.decoded_frames)), "bits",
             "corrected in an ECC frame on average; reads given up or decoded in parts left out");
  sink.value("units lost", s.units_lost, "units",
             "mapping pages whose data were lost for good as they were moved, merged or completed, each once "
             "until it is written anew");
  sink.value("host units lost", s.host_units_lost, "units",
             "mapping pages that commands of the host read and did not get, once for each command");
  sink.value("host units lost before", s.host_units_lost_before, "units",
             "of these, those whose data had been lost before, as they were moved, merged or completed");
  sink.value(
      "uber",
      ratio(static_cast<double>(s.host_lost_frames + s.host_units_lost_before),
            static_cast<double>(s.host_decoded_bits)),
      "",
      "uncorrectable bit error rate (JEDEC JESD218): data errors that the host gets per data bit that it "
      "reads from flash; an error is a frame lost in a read for it, or a mapping page lost before");
}

}  // namespace

void Ftl::Parts::report_map(StatisticsSink& sink) const {
  sink.open("mapping", "how logical units find their place");
  sink.text("scheme", core.config.mapping.scheme, "the mapping scheme");
  sink.value("tables", core.map->dram_bytes(), "B", "DRAM that the tables of the scheme take");
  sink.value("partly trimmed", core.partial_trims.size(), "units",
             "mapping pages with data of which some logical blocks are trimmed, at the end");
  if (core.layout.map_units > 0) {
    sink.value("map pages", core.layout.map_units, "units", "mapping pages that hold the whole map");
    sink.value("map pages moved", core.stats.map_units_moved, "units",
               "by garbage collection, wear levelling and features");
    sink.value("map pages lost", core.stats.map_pages_lost, "units",
               "map pages that could not be read back, rebuilt from the spare areas");
  }
  report_within(sink, "mapping scheme " + core.config.mapping.scheme, *core.map);
  if (core.map->copies_on_die())
    sink.value("copybacks", core.stats.copybacks, "", "programs of pages that were copied on their die");
  if (core.places != nullptr)
    sink.value("units rewritten", core.stats.units_rewritten, "units",
               "copied because some other unit of their block-mapped region was written");
  sink.close();
}

void Ftl::Parts::report(StatisticsSink& sink) const {
  const FtlStatistics& s = core.stats;
  sink.open("firmware", "flash translation layer");
  report_traffic(sink, s, core.layout.sectors, flusher.turns().share_all_busy());
  Moves moves{core.layout.map_units > 0, core.pslc != nullptr, core.places != nullptr, {}};
  for (const Chosen& one : chosen) {
    if (const auto moved = one.feature->moved()) moves.by_features.push_back(*moved);
  }
  report_amplification(sink, s, core.layout.sectors, moves);
  report_map(sink);
  if (cache) cache->report(sink);
  if (core.pslc) core.pslc->report(sink, s);
  for (const Chosen& one : chosen) report_within(sink, one.info->path, *one.feature);
  sink.open("flash", "operations ordered, by purpose");
  std::array<bool, k_purposes> purposes{};
  const auto there_is = [&](Purpose purpose) { purposes.at(static_cast<std::size_t>(purpose)) = true; };
  for (const Purpose purpose : {Purpose::host, Purpose::gc, Purpose::wear}) there_is(purpose);
  for (const FeatureInfo& info : features()) {
    if (info.moves != nullptr) there_is(info.moves->purpose);
  }
  if (moves.folding || !moves.by_features.empty()) there_is(Purpose::migration);
  if (moves.map) there_is(Purpose::map);
  for (std::size_t p = 0; p < k_purposes; ++p) {
    if (!purposes.at(p)) continue;
    sink.open(name_of(static_cast<Purpose>(p)), "operations for this purpose");
    sink.value("units programmed", s.units_programmed[p], "units", "mapping pages written");
    sink.value("units padded", s.units_padded[p], "units", "slots written with nothing in them");
    sink.value("programs", s.programs[p], "", "program operations, those that are under way too");
    sink.value("reads", s.reads[p], "", "read operations, further attempts (retries) left out");
    sink.close();
  }
  sink.value("erases", s.erases, "",
             "erase operations (of one die: a block in every plane of the parallel unit)");
  sink.value("program failures", s.program_failures, "", "programs that failed; their block is retired");
  sink.value("erase failures", s.erase_failures, "", "erases that failed; the block is retired");
  sink.value("uncorrectable units", s.uncorrectable_units, "units", "units that could not be read back");
  sink.close();
  if (core.ecc) {
    sink.open("error correction",
              "reads through the decoders, those of garbage collection and other moves included");
    sink.text("policy", core.config.ecc.policy, "which codes pages are read for");
    report_reliability(sink, s);
    report_within(sink, "ECC policy " + core.config.ecc.policy, *core.ecc);
    sink.close();
  }
  sink.open("garbage collection", "emptying of blocks");
  sink.value("victims", s.gc_victims, "", "blocks chosen");
  sink.value("victim mean valid",
             ratio(static_cast<double>(s.gc_victim_valid),
                   static_cast<double>(s.gc_victims) * core.layout.block_units),
             "share", "share of a victim's units that was valid when it was chosen");
  sink.value("invalid copies", s.gc_invalid_copies, "units",
             "units overwritten or trimmed while they were being moved");
  sink.value("foreground waits", s.space_waits, "", "program units of the host that waited for a free block");
  sink.value("parallel units passed over", s.rerouted, "",
             "times a parallel unit was too full to take its program unit in turn");
  sink.value("wear moves", s.wear_moves, "", "blocks moved by static wear levelling");
  for (const FeatureInfo& info : features()) {
    if (info.moves == nullptr) continue;
    const auto p = static_cast<std::size_t>(info.moves->purpose);
    sink.value(info.moves->blocks, s.moves.at(p), "", info.moves->blocks_doc);
    if (core.hooks.moves_parts())
      sink.value(info.moves->parts, s.part_moves.at(p), "", info.moves->parts_doc);
  }
  sink.close();
  const BlockPool::Wear erases = core.pool.wear();
  sink.open("blocks", "state of the blocks");
  if (core.cycles_before > 0)
    sink.value("cycles before", std::uint64_t{core.cycles_before}, "cycles",
               "P/E cycles of every block by age.cycles, which the counts of erases do not contain");
  sink.value("erases min", erases.minimum, "", "erase count of the least erased block");
  sink.value("erases mean", erases.mean, "", "mean erase count");
  sink.value("erases max", erases.maximum, "", "erase count of the most erased block");
  sink.value("erases deviation", erases.deviation, "", "standard deviation of the erase counts");
  std::uint64_t free = 0;
  for (std::uint32_t g = 0; g < core.layout.pus; ++g) free += core.pool.pu(g).free;
  sink.value("free", free, "", "blocks ready to be written");
  sink.value("retired", core.pool.retired(), "", "blocks out of use after a failure");
  sink.text("read only", core.read_only ? "yes" : "no",
            "whether too many blocks have failed for the drive to accept writes");
  sink.close();
  sink.close();
}

// ---------------------------------------------------------------------------------------------------------------------- stall

void Ftl::Parts::describe_stall(std::string& text) const {
  constexpr std::uint32_t k_most = 16;
  constexpr std::uint64_t k_telling_victims = 16;  // fewer come together by chance, where little is spare
  text += fmt::format(
      "firmware: {} commands under way, {} program units on their way, write buffer {} of {} units free{}\n",
      commands.active.size(), flusher.jobs_in_flight(), flusher.buffer().free(), flusher.buffer().capacity(),
      core.read_only ? ", drive is read-only" : "");
  core.map->describe_stall(text);
  if (cache) cache->describe_stall(text);
  std::uint32_t shown = 0;
  for (const Commands::Active& a : commands.active) {
    if (shown++ == k_most) break;
    // Untimed no core takes time: what waits for none of what waits_for names is at work.
    const bool at_work = !timed && a.waits_for == k_waits_for_core;
    text += fmt::format("  {} of {} blocks at {} {}{}\n", name_of(a.command.opcode), a.command.blocks,
                        a.command.lba, at_work ? "is under way" : "waits for ", at_work ? "" : a.waits_for);
  }
  if (commands.active.size() > k_most)
    text += fmt::format("  and {} more\n", commands.active.size() - k_most);
  if (const std::uint64_t victims = core.pool.full_victims(); victims >= k_telling_victims) {
    text += fmt::format(
        "  the last {} victims of firmware.gc.policy {} held nothing but valid units: to empty them gains no "
        "room\n",
        victims, core.config.gc.policy);
  }
  shown = 0;
  std::uint32_t others = 0;
  for (std::uint32_t g = 0; g < core.layout.pus; ++g) {
    const BlockPool::ParallelUnit& pu = core.pool.pu(g);
    const bool telling = gc_engine.running(g) || gc_engine.waiting(g) > 0 || pu.free <= core.pool.reserve();
    if (!telling || shown >= k_most) {
      ++others;
      continue;
    }
    ++shown;
    std::string dies;
    for (std::uint32_t stripe_die = 0; stripe_die < core.layout.stripe_dies; ++stripe_die)
      dies += fmt::format("{}{}", stripe_die == 0 ? "die " : "+", index(core.layout.die_of(g, stripe_die)));
    text += fmt::format(
        "  parallel unit {} ({}, plane {}): {} of {} good blocks free, {} valid units, {} waiting, "
        "collection "
        "{}\n",
        g, dies, index(core.layout.plane_of(g)), pu.free, pu.good, pu.valid, gc_engine.waiting(g),
        gc_engine.running(g) ? "running" : "at rest");
    if (!core.pslc) continue;
    const BlockPool::SlcOfPu& slc = core.pool.slc(g);
    text += fmt::format(
        "    SLC mode: {} blocks allowed, {} in use ({} of them to be emptied), {} ready, {} never "
        "prepared\n",
        core.pslc->blocks(g), slc.used(), slc.closed(), slc.ready(), slc.raw);
  }
  if (others > 0) text += fmt::format("  and {} parallel units more\n", others);
}

// ------------------------------------------------------------------------------------------------------------------- snapshots

void Ftl::Parts::archive(Archive& a) {
  if (!idle()) throw ArchiveError("the firmware is at work: drain it before a snapshot");
  std::uint32_t version = k_snapshot_version;
  std::uint64_t fits[] = {core.layout.pus,
                          core.layout.blocks,
                          core.layout.block_units,
                          core.layout.program_units,
                          core.layout.sectors,
                          core.layout.logical_units,
                          flusher.buffer().capacity(),
                          shape.logical_blocks,
                          cache ? cache->store().capacity() : 0,
                          cache ? cache->store().grains_per_line() : 0,
                          core.pslc ? core.pslc->size().statics : 0,
                          core.pslc ? core.pslc->size().dynamic : 0,
                          core.layout.feature_units};
  static constexpr const char* k_what[] = {"parallel units",
                                           "blocks per parallel unit",
                                           "units per block",
                                           "units per program unit",
                                           "logical blocks per unit",
                                           "logical units",
                                           "write buffer units",
                                           "logical blocks",
                                           "cache grains",
                                           "cache grains per unit",
                                           "static SLC blocks per parallel unit",
                                           "dynamic SLC blocks per parallel unit",
                                           "units of features"};
  std::string lines = identity;
  a(version);
  if (version != k_snapshot_version)
    throw ArchiveError("the snapshot's firmware part has another format version");
  a(lines);
  if (lines != identity) {
    const auto differs = std::mismatch(lines.begin(), lines.end(), identity.begin(), identity.end()).first;
    const std::size_t start = std::string(lines.begin(), differs).rfind('\n') + 1;
    throw ArchiveError(fmt::format("the snapshot was made with other firmware policies: {} instead of {}",
                                   line_at(lines, start), line_at(identity, start)));
  }
  for (std::size_t i = 0; i < std::size(fits); ++i) {
    const std::uint64_t own = fits[i];
    a(fits[i]);
    if (fits[i] != own)
      throw ArchiveError(fmt::format("the snapshot has {} {}, this drive has {}", fits[i], k_what[i], own));
  }
  core.map->archive(a);
  core.pool.archive(a);
  core.victims->archive(a);
  core.wear->archive(a);
  flusher.archive(a);
  if (cache) cache->archive(a);
  gc_engine.archive(a);
  a(core.end_of_life);
  core.read_only = core.end_of_life != EndOfLife::none;
  std::int64_t clock = core.clock();  // the restored drive's event queue may stand elsewhere
  a(clock);
  core.rested += clock - core.clock();
  a(core.cycles_before);
  if (core.ecc) core.ecc->archive(a);
  if (core.pslc) core.pslc->archive(a);
  for (const Chosen& one : chosen) one.feature->archive(a);
  std::vector<Lpn> poisoned(core.poisoned.begin(), core.poisoned.end());
  std::sort(poisoned.begin(), poisoned.end());
  a(poisoned);
  core.poisoned = {poisoned.begin(), poisoned.end()};
  core.partial_trims.archive(a, core.layout);
  a(core.stats);
}

}  // namespace tlmssd::firmware
