// What a run has found out: the facts around its measurements, and the files they end in.
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "platform/plugins/loader.h"
#include "testbench/app/drive_view.h"
#include "testbench/app/run.h"
#include "testbench/app/unused_parameters.h"
#include "testbench/process/terminal.h"
#include "testbench/report/colour.h"
#include "testbench/report/json_sink.h"
#include "testbench/report/page/html_report.h"
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

/// What rounding to logical blocks has done to a load, to be added to its description.
std::string rounding_text(const PlacementCounts& counts) {
  std::string text;
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count > 0)
      text += fmt::format("{}{}: {}", text.empty() ? "; to whole logical blocks " : ", ", what, count);
  };
  add(counts.widened, "widened");
  add(counts.narrowed, "trims narrowed");
  if (counts.too_small > 0)
    text += fmt::format("; trims of no whole logical block passed over: {}", counts.too_small);
  return text;
}

/// How a load was read and laid onto the drive.
LoadFacts load_facts(const Load& load) {
  LoadFacts facts;
  facts.description = load.description + rounding_text(load.source->counts());
  facts.job = load.job_name();
  facts.warm_up = load.warm_up;
  facts.group = load.phase;
  const PlacementCounts& counts = load.source->counts();
  const auto add = [&](const char* name, std::uint64_t value) {
    facts.trace.emplace_back(name, std::to_string(value));
  };
  facts.trace.emplace_back("placement", load.source->description());
  add("requests taken", counts.requests);
  add("widened to whole logical blocks", counts.widened);
  add("trims narrowed to whole logical blocks", counts.narrowed);
  add("trims of no whole logical block, passed over", counts.too_small);
  add("moved by wrapping", counts.wrapped);
  add("moved by scaling", counts.scaled);
  add("pieces split off", counts.split);
  add("of other volumes, skipped", counts.other_volume);
  facts.options = {{"iodepth", std::to_string(load.queue_depth)}};
  return facts;
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
  facts.scenario = source_.resolved_yaml(scenario_, ScenarioSource::FileNames::portable);
  if (simulation_->ssd().own_ftl() != nullptr) facts.blocks = census(simulation_->ssd());
  for (const Load& load : loads_) facts.loads.push_back(load_facts(load));
  for (const Unread& unread : unused_parameters(scenario_)) {
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

/// What ends a run without a summary with the exit code of --strict.
void Run::tell_why_strict(const nlohmann::ordered_json& report) const {
  if (!options_.strict) return;
  for (const auto& target : report.value("targets", nlohmann::ordered_json::array())) {
    if (!target["met"].get<bool>())
      std::cerr << printable("tlmssd: target missed: " + target["text"].get<std::string>()) << "\n";
  }
  for (const auto& advice : report["advice"])
    std::cerr << printable(fmt::format("tlmssd: {} [{}]", advice["text"].get<std::string>(),
                                       advice["name"].get<std::string>()))
              << "\n";
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
  if (options_.quiet || options_.json) return tell_why_strict(report);
  const std::string text = printable(summary(report, host));
  std::cout << (shows_colour(STDOUT_FILENO) ? coloured(text) : text);
  if (directory_) std::cout << "Results in " << options_.out << ": report.html, report.json, and more\n";
}

}  // namespace tlmssd
