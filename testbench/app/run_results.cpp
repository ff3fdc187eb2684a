// What a run has found out: the facts around its measurements, and the files they end in.
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "platform/plugins/loader.h"
#include "testbench/app/drive_view.h"
#include "testbench/app/run.h"
#include "testbench/process/terminal.h"
#include "testbench/report/colour.h"
#include "testbench/report/findings.h"
#include "testbench/report/html_report.h"
#include "testbench/report/json_sink.h"
#include "testbench/report/report.h"
#include "testbench/report/summary.h"

namespace tlmssd {

namespace {

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string counted(std::uint32_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string drive_text(const Ssd& ssd) {
  const SsdConfig& config = ssd.config();
  const firmware::DriveShape& shape = ssd.shape();
  const double physical = static_cast<double>(shape.geometry.bytes());
  const double user = static_cast<double>(ssd.user_bytes());
  return fmt::format("{} over {}, {} x {} of {}, {} user of {} flash (OP {:.1f} %, Sf {:.1f} %)",
                     config.host.is_sata() ? "SATA" : "NVMe", config.host.link,
                     counted(shape.geometry.channels, "channel"),
                     counted(shape.geometry.dies_per_channel(), "die"), config.part.name, bytes_text(user),
                     bytes_text(physical), (physical / user - 1) * 100, (1 - user / physical) * 100);
}

/// Memories from outside, and that run.quantum is not heeded with them.
std::string memories_text(const Ssd& ssd) {
  std::string text;
  for (const ForeignMemory* const memory : ssd.foreign_memories()) {
    const PolicyInfo* const info = memory_models().find(memory->model());
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", memory->basename(),
                        info == nullptr ? memory->model() : described(memory->model(), info->origin));
  }
  return text.empty() ? text : text + ", in step with the SystemC kernel: run.quantum is 0";
}

/// How a load was read and laid onto the drive.
LoadFacts load_facts(const Load& load) {
  LoadFacts facts;
  facts.description = load.description;
  facts.job = load.job.empty() ? load.name : load.job;
  facts.warm_up = load.warm_up;
  const PlacementCounts& counts = load.source->counts();
  const auto add = [&](const char* name, std::uint64_t value) {
    facts.trace.emplace_back(name, std::to_string(value));
  };
  facts.trace.emplace_back("placement", load.source->description());
  add("requests taken", counts.requests);
  add("widened to whole logical blocks", counts.rounded);
  add("moved by wrapping", counts.wrapped);
  add("moved by scaling", counts.scaled);
  add("pieces split off", counts.split);
  add("of other volumes, skipped", counts.other_volume);
  facts.options = {{"iodepth", std::to_string(load.queue_depth)}};
  return facts;
}

constexpr double k_all_of_it = 0.99;  ///< shares of the drive rarely come out whole

/// Bytes that the loads of one job write, between them.
Bytes written_by_job(const std::vector<Load>& loads, const std::string& job) {
  std::vector<std::pair<Bytes, Bytes>> parts;
  for (const Load& load : loads)
    if (load.job == job && load.writes)
      parts.emplace_back(load.writes->offset, load.writes->offset + load.writes->size);
  std::sort(parts.begin(), parts.end());
  Bytes sum = 0;
  Bytes reached = 0;
  for (const auto& [begin, end] : parts) {
    sum += end > reached ? end - std::max(begin, reached) : 0;
    reached = std::max(reached, end);
  }
  return sum;
}

}  // namespace

RunFacts Run::facts() const {
  RunFacts facts;
  facts.version = version();
  facts.title = scenario_.title();
  facts.seed = scenario_.seed();
  for (const LoadedPlugin& plugin : loaded_plugins())
    facts.plugins.push_back(plugin.name + " " + plugin.version);
  facts.drive = drive_text(simulation_->ssd());
  facts.memories = memories_text(simulation_->ssd());
  if (simulation_->log_structured() != nullptr) {
    facts.drive += fmt::format("; behind a log-structured host layer: {}",
                               bytes_text(static_cast<double>(simulation_->drive_size().bytes)));
  }
  if (simulation_->file_cache() != nullptr) {
    facts.drive += fmt::format("; behind a file cache: {}, and {} of files",
                               bytes_text(static_cast<double>(simulation_->drive_size().bytes)),
                               bytes_text(static_cast<double>(simulation_->files_size().bytes)));
  }
  facts.merge = report_section_.merge;
  facts.age = age_text_;
  facts.scenario = source_.resolved_yaml(scenario_, ScenarioSource::PluginNames::files);
  if (run_section_.timed && simulation_->ssd().own_ftl() != nullptr)
    facts.blocks = census(simulation_->ssd());
  for (const Load& load : loads_) facts.loads.push_back(load_facts(load));
  for (const Unread& unread : scenario_.unread()) {
    facts.unread.push_back(unread.line == 0
                               ? fmt::format("{} ({})", unread.path, unread.file)
                               : fmt::format("{} ({}:{})", unread.path, unread.file, unread.line));
  }
  facts.warnings = warnings_;
  facts.simulated = simulation_->ssd().event_queue().now();
  facts.checked_blocks = simulation_->scoreboard().checked_blocks();
  facts.mismatches = simulation_->scoreboard().mismatches();
  return facts;
}

/// Whether the drive is as `state: steady` has left it.
bool Run::drawn_steady() const {
  if (steady_steps_.empty()) return false;
  const auto last = nlohmann::ordered_json::parse(steady_steps_).back();
  if (!last.contains("state")) return false;
  for (std::size_t i = last["step"].get<std::size_t>() + 1; i < scenario_.count("precondition"); ++i) {
    const PreconditionStep step = steps_->read_step(i);
    if (step.fill > 0 || step.overwrite > 0) return false;
  }
  return true;
}

/// In what a load's writes differ from uniform random ones of a mapping page all over the drive, as
/// far as that is known beforehand; empty: in nothing, or it does not write.
std::string Run::unlike_steady(const Load& load) const {
  if (!load.writes) return "";
  const WritePattern& writes = *load.writes;
  const Bytes unit = simulation_->ssd().shape().mapping_page_bytes;
  const Bytes drive = simulation_->drive_size().bytes;
  const double share = static_cast<double>(written_by_job(loads_, load.job)) / static_cast<double>(drive);
  if (!writes.random) return "writes in sequence";
  if (!writes.uniform) return "does not write all places alike (random_distribution, norandommap)";
  if (share < k_all_of_it) return "writes " + share_text(share) + " of the drive";
  if (writes.largest > unit)
    return "writes up to " + bytes_text(static_cast<double>(writes.largest)) + " at once";
  return "";
}

AdviserFacts Run::adviser_facts() const {
  const Ssd& ssd = simulation_->ssd();
  const Geometry& geometry = ssd.shape().geometry;
  AdviserFacts facts;
  facts.user = ssd.user_bytes();
  facts.flash = geometry.bytes();
  if (ssd.own_ftl() != nullptr) facts.write_buffer = ssd.config().firmware.buffer.capacity;
  facts.blocks_of_spare =
      static_cast<double>(facts.flash - facts.user) /
      static_cast<double>(Bytes{geometry.dies()} * geometry.planes * geometry.block_bytes());
  facts.drawn_steady = drawn_steady();
  facts.changed = [this](std::string_view path) { return scenario_.changes(path); };
  const std::vector<StreamEnd> ends = simulation_->driver().stream_ends();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    LoadEnd end;
    end.name = loads_[i].name;
    end.made = loads_[i].made && loads_[i].pacing == Pacing::closed_loop;
    if (i == 0 || loads_[i].job != loads_[i - 1].job) end.unlike_steady = unlike_steady(loads_[i]);
    if (i < ends.size()) {
      end.wanted = loads_[i].wanted - std::min(loads_[i].wanted, loads_[i].warm_up);
      end.issued = ends[i].issued;
      end.lag = ends[i].lag;
      end.lasted = ends[i].lasted;
      end.by_time = ends[i].by_time;
    }
    facts.loads.push_back(std::move(end));
  }
  return facts;
}

ChosenLimits Run::chosen_limits() const {
  const SsdConfig& config = simulation_->ssd().config();
  ChosenLimits limits{config.flash.suspends_programs(), config.flash.suspends_erases(),
                      config.part.finishes_pulse(), ""};
  std::uint64_t wanted = 0;  // by all loads
  bool open_loop = false;    // with a limit of its own
  for (const Load& load : loads_) {
    const bool unlimited = load.queue_depth == 0;
    open_loop |= load.pacing == Pacing::open_loop && !unlimited;
    wanted += unlimited ? std::numeric_limits<std::uint32_t>::max() : load.queue_depth;
  }
  const std::uint64_t at_once = config.host.outstanding_limit;
  const std::uint64_t queued = std::uint64_t{config.host.effective_depth()} * config.host.effective_queues();
  if (at_once > 0 && at_once < std::min(wanted, queued)) {
    limits.commands_under_way = "ssd.host.outstanding_limit";
  } else if (queued < wanted) {
    const bool as_deep_as_can_be = config.host.is_sata() && config.host.queue_depth > queued;
    limits.commands_under_way = as_deep_as_can_be ? "ssd.host.protocol" : "ssd.host.queue_depth";
  } else if (open_loop) {
    limits.commands_under_way = "load.iodepth or load.max_outstanding";
  }
  return limits;
}

/// A shortened run means nothing, and is not advised on. Other firmware has none of our own's keys.
void Run::advise_on(nlohmann::ordered_json& report) {
  const bool own_firmware = simulation_->ssd().own_ftl() != nullptr;
  report["findings"] = nlohmann::ordered_json::array();
  for (const Finding& one : findings(report, chosen_limits()))
    report["findings"].push_back({{"cause", one.cause},
                                  {"text", one.text},
                                  {"look_at", own_firmware ? one.look_at_all() : one.look_at}});
  report["advice"] = nlohmann::ordered_json::array();
  if (interrupted_) report["partial"] = interrupted_->what();
  if (options_.short_form || interrupted_) return;
  for (const Advice& one : advise(report, adviser_facts(), silenced_)) {
    report["advice"].push_back({{"name", one.name}, {"text", one.text}, {"look_at", one.look_at}});
    advised_ = true;
  }
}

/// What became of `until: steady`, in preconditioning and in the run.
void Run::tell_rounds(nlohmann::ordered_json& report) {
  if (!steady_steps_.empty()) report["preconditioning"] = nlohmann::ordered_json::parse(steady_steps_);
  if (!rounds_) return;
  report["steady"] = steady_ ? *steady_ : rounds_->json();
  if (steady_) report["steady"]["measured"] = rounds_->json()["rounds"];
}

void Run::judge_targets(nlohmann::ordered_json& report) {
  for (const Target& target : targets_) {
    report["targets"].push_back(target.judged(*measurement_, report));
    missed_ |= !report["targets"].back()["met"].get<bool>();
  }
}

nlohmann::ordered_json Run::empty_report() {
  begin_measurement();
  measurement_->finish(0);
  JsonSink sink;
  simulation_->report(sink);
  nlohmann::ordered_json report = build_report(facts(), *measurement_, sink.take());
  for (std::size_t i = 0; i < k_causes; ++i) report["causes"].push_back(name_of(static_cast<Cause>(i)));
  return report;
}

void Run::write_results() {
  const RunFacts facts = this->facts();
  JsonSink sink;
  simulation_->report(sink);
  nlohmann::ordered_json report = build_report(facts, *measurement_, sink.take());
  tell_rounds(report);
  judge_targets(report);
  advise_on(report);
  if (options_.check_protocol &&
      !interrupted_) {  // what the drive still has to do must not show in the report
    simulation_->drain();
    simulation_->finish_checks();
  }
  HostRun host;
  host.seconds = run_seconds_;
  host.precondition_seconds = precondition_seconds_;
  host.commands = run_commands_;
  host.events = simulation_->ssd().event_queue().executed();
  host.peak_memory = peak_memory();
  host.started = started_;
  host.command_line = options_.command_line;
  if (directory_) {
    directory_->write("scenario.yaml", repeatable_);
    directory_->write("report.json", to_text(report));
    directory_->write("fio.json", to_text(fio_json(facts, *measurement_)));
    directory_->write("run.json", to_text(build_run(facts, host)));
    directory_->write("report.html", html_report(report));
    for (const auto& [file, writer] : writers_) directory_->write(file, writer->text(report));
    directory_->commit();
  }
  if (options_.json) std::cout << to_text(report);
  if (options_.quiet || options_.json) return;
  const std::string text = printable(summary(report, host));
  std::cout << (shows_colour(STDOUT_FILENO) ? coloured(text) : text);
  if (directory_) std::cout << "Results in " << options_.out << ": report.html, report.json, and more\n";
}

}  // namespace tlmssd
