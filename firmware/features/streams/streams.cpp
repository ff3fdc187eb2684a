#include "firmware/features/streams/streams.h"

#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

constexpr const char* k_initially = "initially-isolated";
constexpr const char* k_persistently = "persistently-isolated";

void check(const FeatureContext& context) {
  const Core& core = context.core;
  const auto refuse = [](const std::string& why) { throw refusal("firmware.streams.policy", why, "none"); };
  if (core.map->log_scheme() != nullptr || core.places != nullptr)
    refuse("a handle's data are placed page by page (firmware.mapping.scheme is neither page nor dftl)");
  if (core.pslc) refuse("writes go to blocks in SLC mode first (firmware.pslc.policy is not none)");
  if (is_chosen(context.config.cache.policy))
    refuse("the cache does not keep the handles of what it holds (firmware.cache.policy is not none)");
  if (!core.pool.apart()) return;
  const auto mixes = [](const char* why) {
    throw refusal("firmware.streams.policy", fmt::format("data of several handles would be mixed: {}", why),
                  k_initially);
  };
  if (core.wear->moves_data()) mixes("wear levelling moves data into a block of its own");
  if (core.pool.moves_apart())
    mixes("refresh moves data into blocks of its own (firmware.placement.policy is not none)");
  const auto chosen = [&](const char* path) { return context.config.choice(path).is_on(); };
  if (chosen("firmware.partition")) mixes("what is only read is moved together");
  if (chosen("firmware.replicas")) mixes("replicas lie together");
}

/// The buffer must hold a program unit of each handle that is not yet full, and one that is.
void check_buffer(const FeatureContext& context) {
  const Layout& layout = context.core.layout;
  const Bytes least = (Bytes{context.core.pool.handles()} + 1) * layout.program_units * layout.unit_bytes;
  const Bytes capacity = context.config.buffer.capacity;
  if (capacity >= least) return;
  throw refusal(
      "firmware.buffer.capacity",
      fmt::format("{} B cannot hold a program unit of {} B for each of {} placement handles and one more",
                  capacity, Bytes{layout.program_units} * layout.unit_bytes, context.core.pool.handles()),
      fmt::format("{} B", least));
}

}  // namespace

const ParameterTable<StreamsConfig>& StreamsConfig::parameters() {
  static const auto table =
      ParameterTable<StreamsConfig>{}
          .integer("handles", &StreamsConfig::handles, {2, k_most_handles},
                   "placement handles that the drive has; loads name them by stream, from 0 on")
          .shapes_state();
  return table;
}

std::vector<PolicyInfo> Streams::policies() {
  return {{"none", "data of all streams share open blocks", {}},
          {k_initially, "what collection moves of all handles goes to shared blocks", {}},
          {k_persistently, "what collection moves of a handle goes to blocks of that handle", {}}};
}

Handles Streams::handles(const FeatureChoice& choice) {
  return {.count = choice.read<StreamsConfig>().handles, .apart = choice.policy == k_persistently};
}

Streams::Streams(const FeatureContext& context)
    : core_(context.core), policy_name_(context.choice.policy), written_(core_.pool.handles()) {
  check(context);
  check_buffer(context);
}

void Streams::on_host_command(const HostCommand& command) {
  if (command.opcode == HostOpcode::write && !exists(command)) ++counters_.invalid;
}

void Streams::on_program(const ProgramJob& job, bool /*kept_away*/) {
  written_[handle_of(job.target)] += job.live - job.map_units;
}

void Streams::on_victim(std::uint32_t /*pu*/, BlockNumber block) {
  if (core_.pool.info(block).valid > 0) ++counters_.moved;
}

// ---------------------------------------------------------------------------------------------------------- state and reports

void Streams::report(StatisticsSink& sink) const {
  const FtlStatistics& s = core_.stats;
  const std::uint64_t unit = core_.layout.unit_bytes;
  const std::uint64_t host = s.host_blocks_written * unit / core_.layout.sectors;
  const std::uint64_t media = s.slots_programmed() * unit;
  BlockPool::HandleUse all;
  const auto handles = static_cast<std::uint8_t>(written_.size());  // 64 at most
  for (std::uint8_t handle = 0; handle < handles; ++handle) {
    all.cut_short += use(handle).cut_short;
    all.failed += use(handle).failed;
  }
  sink.open("streams", "data by placement handle, with the statistics and events of NVMe FDP (TP4146)");
  sink.text("policy", policy_name_, k_choice_doc);
  sink.value("handles", std::uint64_t{written_.size()}, "", "placement handles that the drive has");
  sink.value("reclaim unit", std::uint64_t{core_.layout.block_units} * unit, "B",
             "data of a block of a parallel unit, which is written by one handle and erased as one");
  sink.value("host bytes with metadata written", host, "B",
             "HBMW: data of the host's writes (logical blocks have no metadata)");
  sink.value("media bytes with metadata written", media, "B",
             "MBMW: mapping pages programmed by the host and the drive, padding included");
  sink.value("media bytes erased", counters_.erased * core_.layout.block_units * unit, "B",
             "MBE: of blocks emptied by collection and moves");
  sink.value("reclaim units not fully written", all.cut_short, "",
             "event 00h: blocks closed while some of what a handle was to write there was left");
  sink.value("invalid placement handles", counters_.invalid, "",
             "event 03h: writes with a handle that the drive has not, placed by handle 0");
  sink.value("media reallocated", counters_.moved, "",
             "event 80h: reclaim units of which collection moved what was still valid");
  sink.value("handles implicitly modified", all.failed, "",
             "event 81h: times that a handle got another block because a program failed");
  report_handles(sink);
  sink.close();
}

void Streams::report_handles(StatisticsSink& sink) const {
  const auto handles = static_cast<std::uint8_t>(written_.size());  // 64 at most
  for (std::uint8_t handle = 0; handle < handles; ++handle) {
    const BlockPool::HandleUse& used = use(handle);
    if (handle > 0 && written_[handle] == 0 && used.opened == 0 && used.moved == 0) continue;
    sink.open(fmt::format("handle {}", handle), "what was written with this placement handle");
    sink.value("units written", written_[handle], "units", "mapping pages of the host sent to flash");
    sink.value("reclaim units opened", used.opened, "", "blocks that the handle began to write");
    sink.value("reclaim units filled", used.filled, "", "of its blocks, those written to the end");
    if (core_.pool.apart())
      sink.value("units moved", used.moved, "units", "moved to other blocks of the handle");
    sink.close();
  }
}

void Streams::reset_statistics() {
  counters_ = {};
  written_.assign(written_.size(), 0);
  core_.pool.reset_uses();
}

void Streams::archive(Archive& a) {
  a(written_);
  a(counters_);
}

}  // namespace tlmssd::firmware
