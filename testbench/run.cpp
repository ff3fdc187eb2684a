#include "testbench/run.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

#include "models/common/input_error.h"
#include "models/common/suggest.h"
#include "testbench/measure/html_report.h"
#include "testbench/measure/json_sink.h"
#include "testbench/measure/quantities.h"
#include "testbench/measure/report.h"
#include "testbench/measure/snapshot.h"
#include "testbench/measure/summary.h"
#include "testbench/precondition.h"
#include "testbench/process/interrupt.h"
#include "testbench/scenarios_folder.h"

namespace tlmssd {

namespace {

/// Requests of a load, and writes of a preconditioning step as a share of its region, in the short form.
constexpr std::uint64_t k_short_requests = 20'000;
constexpr double k_short_overwrite = 0.1;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Scenario read(const RunOptions& options) {
  ReadOptions reading;
  reading.folders = {scenarios_folder().string()};
  return read_scenario(options.scenario, scenario_catalogue(), options.overrides, reading);
}

/// The folder in which a load's file lies: the scenario's own, or the one that TLMSSD_TRACES names.
std::string folder_of(const std::string& file, const Scenario& scenario) {
  namespace fs = std::filesystem;
  const fs::path own = fs::path(scenario.folder()) / file;
  if (file.empty() || fs::path(file).is_absolute() || fs::exists(own)) return scenario.folder();
  const char* traces = std::getenv("TLMSSD_TRACES");
  if (traces == nullptr || *traces == '\0') {
    throw InputError(fmt::format("there is no file {}; TLMSSD_TRACES may name a folder of traces to look in",
                                 own.string()));
  }
  if (fs::exists(fs::path(traces) / file)) return traces;
  throw InputError(fmt::format("there is no file {}, nor {} (where TLMSSD_TRACES points)", own.string(),
                               (fs::path(traces) / file).string()));
}

/// Gives an InputError that names no file the place of `path` in the scenario.
template <class Make>
auto placed(const Scenario& scenario, const std::string& path, Make make) {
  try {
    return make();
  } catch (const SnapshotMismatch&) {
    throw;
  } catch (const InputError& error) {
    const std::string text = error.what();
    const bool has_place =
        text.find(".yaml:") != std::string::npos || std::filesystem::exists(text.substr(0, text.find(':')));
    if (has_place) throw;
    throw scenario.complaint(path, text);
  }
}

/// The section `converter`; nothing when there is none.
std::optional<ConverterConfig> read_converter(const Scenario& scenario) {
  if (!scenario.has("converter")) return {};
  const ParameterValues& values = scenario.values("converter");
  if (ConverterChoice::parameters().read(values).policy == "none") return {};
  return ConverterConfig::parameters().read(values);
}

/// The section `file_cache`; nothing when there is none.
std::optional<FileCacheConfig> read_file_cache(const Scenario& scenario) {
  if (!scenario.has("file_cache")) return {};
  if (read_converter(scenario))
    throw scenario.error("file_cache",
                         "cannot be given together with converter; nearest valid: converter.policy: none");
  FileCacheConfig config = FileCacheConfig::parameters().read(scenario.values("file_cache"));
  config.admission = scenario.policy("file_cache");
  config.admission_policy = &scenario.values("file_cache");
  return config;
}

/// The present moment, ISO 8601, UTC.
std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

LoadConfig read_load(const Scenario& scenario, std::size_t number) {
  const std::string path = fmt::format("load.{}", number);
  const std::string columns = path + ".columns";
  return LoadConfig::read(scenario.values(path), scenario.has(columns) ? &scenario.values(columns) : nullptr);
}

Run::Run(const RunOptions& options)
    : options_(options),
      started_(now_text()),
      scenario_(read(options)),
      run_section_(RunSection::parameters().read(scenario_.values("run"))),
      report_section_(ReportSection::parameters().read(scenario_.values("report"))),
      age_(AgeConfig::parameters().read(scenario_.values("age"))) {
  SsdConfig config = SsdConfig::from(scenario_);
  config.check_protocol = options.check_protocol;
  if (options_.from_snapshot.empty()) {
    for (std::size_t i = 0; i < scenario_.count("precondition"); ++i)
      config.written_share = std::max(config.written_share, read_step(i).fill);
  }
  SimulationConfig simulation;
  simulation.quantum = run_section_.quantum;
  simulation.stall_after = run_section_.stall_after;
  simulation.converter = read_converter(scenario_);
  simulation.file_cache = read_file_cache(scenario_);
  simulation_ = placed(scenario_, "ssd", [&] { return std::make_unique<Simulation>(config, simulation); });
  if (options_.from_snapshot.empty()) {
    for (std::size_t i = 0; i < scenario_.count("precondition"); ++i)
      static_cast<void>(make_step(i));  // finds what is wrong before anything is carried out
  }
  make_all_loads();
  if (!options_.save_snapshot.empty()) check_snapshot_target(options_.save_snapshot, replaces());
  if (!options_.out.empty()) directory_ = std::make_unique<RunDirectory>(options_.out, replaces());
  if (report_section_.timeline)
    window_ = TimelineSection::parameters().read(scenario_.values("report.window"));
  if (!directory_ && (report_section_.timeline || report_section_.command_log != "none"))
    warnings_.emplace_back("report: the command log and the timeline are written only with --out");
}

Run::~Run() = default;

Replace Run::replaces() const {
  return options_.force ? Replace::any_file : Replace::own;
}

void Run::shorten(Load& load) const {
  if (!options_.short_form) return;
  load.requests = load.requests == 0 ? k_short_requests : std::min(load.requests, k_short_requests);
  load.warm_up = std::min(load.warm_up, k_short_requests);
  load.ramp_time = 0;
  load.ramp_requests = 0;
}

/// The phase that comes after all loads there are so far.
std::uint32_t Run::phase_after_all() const {
  std::uint32_t phase = 0;
  for (const Load& load : loads_) phase = std::max(phase, load.phase + 1);
  return phase;
}

/// What the load's addresses are.
DriveSize Run::addresses_of(const LoadConfig& load) const {
  if (load.kind.target == "drive") return simulation_->drive_size();
  if (simulation_->file_cache() == nullptr)
    throw InputError("target: there are no files without the section file_cache; nearest valid: drive");
  return simulation_->files_size();
}

void Run::make_all_loads() {
  const std::size_t count = scenario_.count("load");
  if (count == 0 && options_.save_snapshot.empty()) {
    throw scenario_.error("load",
                          "there is no load, and no --save-snapshot to make the preconditioning worth while");
  }
  std::uint32_t phase = 0;  // in which an entry begins; a job file counts phases of its own from there
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = fmt::format("load.{}", i);
    placed(scenario_, path, [&] {
      const LoadConfig config = read_load(scenario_, i);
      if (config.kind.stonewall) phase = phase_after_all();
      const std::string& file = !config.kind.trace.empty() ? config.kind.trace
                                : !config.kind.fio.empty() ? config.kind.fio
                                                           : config.profile.traces_folder;
      for (Load& load :
           make_loads(config, addresses_of(config), scenario_.seed(), folder_of(file, scenario_))) {
        for (const std::string& warning : load.warnings) warnings_.push_back(load.name + ": " + warning);
        shorten(load);
        if (load.endless() && !run_section_.timed)
          throw InputError(
              fmt::format("time_based: {} would never end, because no time passes with run.timed: false; "
                          "nearest valid: false",
                          load.name));
        load.phase += phase;
        loads_.push_back(std::move(load));
        entries_.push_back(i);
      }
    });
  }
}

// ---- preparing

PreconditionStep Run::read_step(std::size_t number) const {
  return PreconditionStep::parameters().read(scenario_.values(fmt::format("precondition.{}", number)));
}

/// The loads of one preconditioning step.
std::vector<Load> Run::make_step(std::size_t number) const {
  PreconditionStep step = read_step(number);
  if (options_.short_form) step.overwrite = std::min(step.overwrite, k_short_overwrite);
  return placed(scenario_, fmt::format("precondition.{}", number), [&] {
    if (step.idle && simulation_->ssd().config().firmware.gc.idle_after == 0) {
      throw InputError(
          fmt::format("precondition.{}.idle: the firmware does nothing in idle time (firmware.gc.idle_after "
                      "is 0); nearest "
                      "valid: false",
                      number));
    }
    return make_precondition_loads(step, number, simulation_->drive_size(), simulation_->unit_bytes(),
                                   scenario_.seed());
  });
}

void Run::precondition() {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < scenario_.count("precondition"); ++i) {
    std::vector<Load> loads = make_step(i);
    const std::uint64_t before = simulation_->driver().completed();
    Progress progress(fmt::format("precondition {}/{}", i + 1, scenario_.count("precondition")), 0);
    simulation_->driver().set_progress_hook([&](std::uint64_t done) { progress.update(done - before, 0); });
    simulation_->run_untimed(loads);
    if (read_step(i).idle) simulation_->idle();
    progress.finish();
  }
  simulation_->driver().set_progress_hook(nullptr);
  precondition_commands_ = simulation_->driver().completed();
  precondition_seconds_ = seconds_since(start);
  note_failures(preparation_, "preconditioning: ", 0);
}

void Run::note_failures(std::vector<std::string>& notes, const char* when, std::uint64_t failed_before) const {
  const HostDriver& driver = simulation_->driver();
  if (driver.failed() == failed_before) return;
  notes.push_back(fmt::format("{}{} commands failed, the first: {}", when,
                                  driver.failed() - failed_before, driver.first_failure()));
}

/// Rest after preconditioning, and what firmware did meanwhile: the measured run's statistics do not contain it.
void Run::age() {
  const firmware::FtlStatistics& s = simulation_->ssd().ftl().statistics();
  const auto written = [&] { return s.units_programmed[static_cast<std::size_t>(Purpose::refresh)]; };
  const std::uint64_t blocks = s.refreshes;
  const std::uint64_t units = written();
  const std::uint64_t lost = s.lost_reads;
  simulation_->rest(age_);
  age_text_ = age_text(age_);
  if (s.refreshes > blocks) {
    age_text_ += fmt::format("; meanwhile {} blocks refreshed, {:.2f}x the user capacity written",
                             s.refreshes - blocks,
                             static_cast<double>(written() - units) *
                                 static_cast<double>(simulation_->ssd().shape().mapping_unit_bytes) /
                                 static_cast<double>(simulation_->ssd().user_bytes()));
  }
  if (s.lost_reads > lost) age_text_ += fmt::format(", {} reads lost", s.lost_reads - lost);
}

/// The prepared drive, and what the report says of it.
void Run::archive(Archive& archive) {
  simulation_->archive(archive);
  archive(age_text_);
  archive(preparation_);
}

void Run::prepare() {
  Identity identity = simulation_->identity();
  identity.insert(identity.end(), {{"age.cycles", std::to_string(age_.cycles)},
                                   {"age.retention", fmt::format("{} s", age_.retention)},
                                   {"age.temperature", fmt::format("{} C", age_.temperature)},
                                   {"age.powered", age_.powered ? "true" : "false"},
                                   {"age.reads", std::to_string(age_.reads)}});
  if (options_.from_snapshot.empty()) {
    simulation_->wear(age_);
    precondition();
    age();
  } else {
    // The steps had their say when the snapshot was made; asking for them keeps them from being reported as unused.
    for (std::size_t i = 0; i < scenario_.count("precondition"); ++i) read_step(i);
    load_snapshot(options_.from_snapshot, identity, [&](Archive& archive) { this->archive(archive); });
  }
  warnings_.insert(warnings_.end(), preparation_.begin(), preparation_.end());
  if (!options_.save_snapshot.empty()) {
    save_snapshot(
        options_.save_snapshot, identity, [&](Archive& archive) { this->archive(archive); }, replaces());
    if (!options_.quiet)
      std::cout << "snapshot of the preconditioned drive: " << options_.save_snapshot << std::endl;
  }
}

// ---- warming up

/// The first requests of the loads, untimed: part of every run, also of one from a snapshot.
void Run::warm_up() {
  std::uint64_t requests = 0;
  for (const Load& load : loads_) requests += load.warm_up;
  if (requests == 0) return;
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t before = simulation_->driver().completed();
  const std::uint64_t failed_before = simulation_->driver().failed();
  Progress progress("warm-up", requests);
  simulation_->driver().set_progress_hook([&](std::uint64_t done) { progress.update(done - before, 0); });
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i].warm_up == 0) continue;
    placed(scenario_, fmt::format("load.{}", entries_[i]), [&] { simulation_->warm_up(loads_[i]); });
  }
  simulation_->driver().set_progress_hook(nullptr);
  progress.finish();
  precondition_seconds_ += seconds_since(start);
  note_failures(warnings_, "warm-up: ", failed_before);
}

// ---- measuring

std::uint64_t Run::expected_requests() const {
  std::uint64_t sum = 0;
  for (const Load& load : loads_) {
    std::uint64_t expected = load.source->expected();
    expected -= std::min(expected, load.warm_up);
    if (load.requests != 0) expected = expected == 0 ? load.requests : std::min(expected, load.requests);
    if (expected == 0 || load.runtime != k_never) return 0;
    sum += expected;
  }
  return sum;
}

void Run::measure_timed() {
  if (directory_ && report_section_.command_log != "none") {
    log_ = std::make_unique<CommandLog>(directory_->file("commands." + report_section_.command_log));
  }
  if (directory_ && report_section_.timeline) {
    const Picoseconds from = simulation_->ssd().agenda().now() + window_.from;
    timeline_ = std::make_unique<TimelineObserver>(directory_->file("timeline.perfetto"), from,
                                                   from + window_.length);
    simulation_->ssd().observe({timeline_.get(), timeline_.get(), timeline_.get()});
  }
  if (log_ || timeline_) {
    simulation_->driver().set_completion_hook([this](const Completed& command) {
      if (log_) log_->record(command);
      if (timeline_) timeline_->command(command);
    });
  }
  simulation_->driver().set_measurement_hook([this] { simulation_->reset_statistics(); });
  placed(scenario_, "load", [&] { simulation_->run(loads_, *measurement_); });
  if (log_) log_->close();
  if (timeline_) timeline_->close();
}

void Run::measure() {
  std::vector<std::string> names;
  for (const Load& load : loads_) names.push_back(load.name);
  measurement_ = std::make_unique<Measurement>(names);
  const std::uint64_t before = simulation_->driver().completed();
  const std::uint64_t failed_before = simulation_->driver().failed();
  Progress progress("run", expected_requests());
  simulation_->driver().set_progress_hook(
      [&](std::uint64_t done) { progress.update(done - before, simulation_->ssd().agenda().now()); });
  const auto start = std::chrono::steady_clock::now();
  if (run_section_.timed) {
    measure_timed();
  } else {
    simulation_->run_untimed_together(loads_);
    measurement_->finish(0);
  }
  run_seconds_ = seconds_since(start);
  run_commands_ = simulation_->driver().completed() - before;
  progress.finish();
  note_failures(warnings_, "", failed_before);
  if (run_section_.timed && run_commands_ > 0 && measurement_->completed() == 0)
    warnings_.emplace_back(
        "nothing was measured: the ramp (ramp_time, ramp_requests) takes up the whole run");
  if (simulation_->ssd().ftl().read_only()) {
    warnings_.emplace_back("the drive has gone read-only: no spare blocks are left");
  }
}

void Run::execute() {
  prepare();
  if (loads_.empty()) return;
  warm_up();
  measure();
  write_results();
}

// ---- reporting

namespace {

std::string counted(std::uint32_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string drive_text(const Ssd& ssd) {
  const SsdConfig& config = ssd.config();
  const firmware::DriveShape& shape = ssd.shape();
  const double physical = static_cast<double>(shape.geometry.bytes());
  const double user = static_cast<double>(ssd.user_bytes());
  return fmt::format("{} over {}, {} x {} of {}, {} user of {} flash (OP {:.1f} %, Sf {:.1f} %)",
                     config.host.protocol == "sata" ? "SATA" : "NVMe", config.host.link,
                     counted(shape.geometry.channels, "channel"),
                     counted(shape.geometry.dies_per_channel(), "die"), config.part.name, bytes_text(user),
                     bytes_text(physical), (physical / user - 1) * 100, (1 - user / physical) * 100);
}

/// How a load was read and laid onto the drive.
LoadFacts load_facts(const Load& load) {
  LoadFacts facts;
  facts.description = load.description;
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

}  // namespace

void Run::write_results() {
  RunFacts facts;
  facts.version = version();
  facts.title = scenario_.title();
  facts.seed = scenario_.seed();
  facts.drive = drive_text(simulation_->ssd());
  if (simulation_->converter() != nullptr) {
    facts.drive += fmt::format("; behind a converter: {}",
                               bytes_text(static_cast<double>(simulation_->drive_size().bytes)));
  }
  if (simulation_->file_cache() != nullptr) {
    facts.drive += fmt::format("; behind a file cache: {}, and {} of files",
                               bytes_text(static_cast<double>(simulation_->drive_size().bytes)),
                               bytes_text(static_cast<double>(simulation_->files_size().bytes)));
  }
  facts.age = age_text_;
  facts.scenario = scenario_.resolved_yaml();
  for (const Load& load : loads_) facts.loads.push_back(load_facts(load));
  for (const Unread& unread : scenario_.unread()) {
    facts.unread.push_back(unread.line == 0
                               ? fmt::format("{} ({})", unread.path, unread.file)
                               : fmt::format("{} ({}:{})", unread.path, unread.file, unread.line));
  }
  facts.warnings = warnings_;
  facts.simulated = simulation_->ssd().agenda().now();
  facts.checked_blocks = simulation_->scoreboard().checked_blocks();
  facts.mismatches = simulation_->scoreboard().mismatches();

  JsonSink sink;
  simulation_->report(sink);
  const nlohmann::ordered_json report = build_report(facts, *measurement_, sink.take());
  if (options_.check_protocol) {  // what the drive still has to do must not show in the report
    simulation_->drain();
    simulation_->finish_checks();
  }
  HostRun host;
  host.seconds = run_seconds_;
  host.precondition_seconds = precondition_seconds_;
  host.commands = run_commands_;
  host.events = simulation_->ssd().agenda().executed();
  host.peak_memory = peak_memory();
  host.started = started_;
  host.command_line = options_.command_line;
  if (directory_) {
    directory_->write("scenario.yaml", facts.scenario);
    directory_->write("report.json", to_text(report));
    directory_->write("fio.json", to_text(fio_json(facts, *measurement_)));
    directory_->write("run.json", to_text(build_run(facts, host)));
    directory_->write("report.html", html_report(report));
    directory_->commit();
  }
  if (options_.quiet) return;
  std::cout << printable(summary(report, host));
  if (directory_) std::cout << "Results in " << options_.out << ": report.html, report.json, and more\n";
}

int run_command(const RunOptions& options) {
  const InterruptGuard guard;
  Run run(options);
  run.execute();
  return k_exit_ok;
}

}  // namespace tlmssd
