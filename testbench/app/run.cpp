#include "testbench/app/run.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <sys/prctl.h>
#include <unistd.h>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "platform/memory_estimate.h"
#include "platform/plugins/loader.h"
#include "testbench/app/drive_view.h"
#include "testbench/app/scenario_plugins.h"
#include "testbench/app/scenario_targets.h"
#include "testbench/host/load_instants.h"
#include "testbench/process/interrupt.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/report/steadiness.h"

namespace tlmssd {

namespace {

/// The present moment, ISO 8601, UTC.
std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// Whether one of `notes` contains `text`.
bool says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

Run::Run(const RunOptions& options)
    : options_(options),
      started_(now_text()),
      source_(options),
      scenario_(source_.read()),
      run_section_(RunSection::parameters().read(scenario_.values("run"))),
      report_section_(ReportSection::parameters().read(scenario_.values("report"))),
      age_(AgeConfig::parameters().read(scenario_.values("age"))),
      until_(SteadyConfig::read(scenario_.values("run"))) {
  check_plugins(scenario_);
  silenced_ = located(scenario_, "report", [&] { return report_section_.silenced(); });
  try {
    build();
  } catch (const InputError& error) {
    throw_advised(source_, error);
  }
  if (!options_.save_snapshot.empty() || !options_.from_snapshot.empty())
    located(scenario_, "ssd", [&] { simulation_->ssd().check_archives(); });
  read_breaks();
  if (!options_.save_snapshot.empty()) check_snapshot_target(options_.save_snapshot, replaces());
  if (!options_.out.empty())
    directory_ = std::make_unique<RunDirectory>(options_.out, replaces(), other_files());
  if (report_section_.timeline)
    window_ = TimelineSection::parameters().read(scenario_.values("report.window"));
  make_writers();
  if (directory_) make_repeatable();
  if (!directory_ && (report_section_.timeline || report_section_.logs_commands() ||
                      !report_section_.decisions.empty() || !writers_.empty()))
    warnings_.emplace_back("report: files beside the report are written only with --out");
}

/// What the results may not take the place of.
OtherFiles Run::other_files() const {
  OtherFiles others;
  others.read = source_.files();
  if (!options_.from_snapshot.empty()) others.read.push_back(options_.from_snapshot);
  for (const std::string& file : steps_->files()) others.read.push_back(file);
  others.snapshot = options_.save_snapshot;
  return others;
}

/// Where the run is to stop, and which decisions are to be written.
void Run::read_breaks() {
  if (!options_.breaks.empty() && (options_.prepare_only || loads_.empty()))
    throw InputError(options_.prepare_only ? "--break: there is no measured run with --prepare-only"
                                           : "--break: there is no measured run without a load");
  for (const std::string& text : options_.breaks) breaks_.push_back(parse_break(text));
  if (run_section_.pause_at > 0) breaks_.push_back({.time = run_section_.pause_at, .text = "run.pause_at"});
  for (const Break& one : breaks_) {
    if (one.what == Break::What::time && !run_section_.timed)
      throw InputError(one.text +
                       ": an untimed run (run.timed: false) has no times; break at a command or a decision");
  }
  const std::string& show = options_.show;
  if (show.starts_with("lba=")) {
    shown_.lba = parse_range("--show", show.substr(4)).first;
  } else if (show.starts_with("map=")) {
    shown_.map = parse_range("--show", show.substr(4));
  } else if (show == "blocks") {
    shown_.blocks = true;
  } else if (!show.empty()) {
    throw InputError("--show " + in_quotes(show) + ": expected lba=N, map=FIRST-LAST or blocks");
  }
  check_query(shown_, simulation_->ssd(), "--show");
  located(scenario_, "report", [&] { static_cast<void>(decision_kinds(report_section_.decisions)); });
  if (report_section_.decisions.empty()) return;
  filter_ = DecisionFilter::parameters().read(scenario_.values("report.decision_filter"));
  located(scenario_, "report.decision_filter", [&] {
    filter_.check();
    check_within_drive(filter_, simulation_->ssd());
  });
}

/// The scenario that the results hold.
void Run::make_repeatable() {
  try {
    repeatable_ = source_.resolved_yaml(scenario_, ScenarioSource::FileNames::full);
  } catch (const InputError& error) {  // a folder whose name is no text
    repeatable_ = source_.resolved_yaml(scenario_, ScenarioSource::FileNames::portable);
    warnings_.push_back(fmt::format(
        "scenario.yaml names plug-ins without their folders and files of loads as the scenario does: {}",
        error.what()));
  }
}

/// Those of plug-ins that the scenario names.
void Run::make_writers() {
  for (const auto& writer : report_writers().files()) {
    const std::string path = "report." + writer.first;
    if (!scenario_.has(path)) continue;
    located(scenario_, path, [&] {
      writers_.emplace_back(writer.second, report_writers().make(writer.first, scenario_.values(path)));
    });
  }
}

/// Drive, steps and loads: everything that can be refused for what the scenario says.
void Run::build() {
  SsdConfig config = read_drive(scenario_, options_);
  config.check_protocol = options_.check_protocol;
  SimulationConfig simulation = read_simulation(scenario_);
  simulation.fill_by_pages = options_.fill_by_pages;
  const LoadSpace space = located(scenario_, "ssd", [&] {
    simulation_ = std::make_unique<Simulation>(config, simulation);
    return load_space(config, simulation);
  });
  steps_ = std::make_unique<ScenarioLoads>(scenario_, space, options_.short_form);
  if (options_.from_snapshot.empty()) {
    steps_->check_steps();
    check_memory();
  }
  if (options_.drive_only) return;
  ScenarioLoads::Made made = steps_->make_all();
  loads_ = std::move(made.loads);
  entries_ = std::move(made.entries);
  warnings_.insert(warnings_.end(), made.warnings.begin(), made.warnings.end());
  targets_ = read_targets(scenario_, loads_, config, simulation);
}

/// For what the steps will write. A fill whose outcome is known takes none that would count.
void Run::check_memory() const {
  PreconditionStep::Written all;
  bool written = false;
  std::size_t longest = 0;  // which writes the most
  for (std::size_t i = 0; i < scenario_.count("precondition"); ++i) {
    const PreconditionStep step = steps_->read_step(i);
    const bool known = !written && step.fill > 0 && simulation_->knows_fill(steps_->make_step(i).front());
    written = written || step.makes_requests() || step.to_steady_state();
    const PreconditionStep::Written more = step.written(known);
    if (more.touched > all.touched) longest = i;
    all.touched = std::max(all.touched, more.touched);
    all.programmed += more.programmed;
  }
  const firmware::DriveShape& shape = simulation_->ssd().shape();
  const auto unit = static_cast<double>(shape.mapping_page_bytes);
  const double user = static_cast<double>(simulation_->drive_size().bytes) / unit;
  const double flash = static_cast<double>(shape.geometry.bytes()) / unit;
  located(scenario_, fmt::format("precondition.{}", longest),
          [&] { check_memory_of_units(all.touched * user, std::min(all.programmed * user, flash)); });
}

Run::~Run() = default;

void Run::look_ahead() {
  if (run_section_.timed && !until_.wanted()) at_entries([&] { tlmssd::look_ahead(loads_); });
}

/// Does `work` with all loads; an error about one of them gets the place of its entry.
void Run::at_entries(const std::function<void()>& work) const {
  const auto at_entry = [&] {
    try {
      work();
    } catch (const LoadTooLong& error) {
      const auto load = std::find_if(loads_.begin(), loads_.end(),
                                     [&](const Load& one) { return one.name == error.load(); });
      if (load == loads_.end()) throw;
      const std::size_t entry = entries_[static_cast<std::size_t>(load - loads_.begin())];
      throw scenario_.complaint(fmt::format("load.{}", entry), error);
    }
  };
  located(scenario_, "load", at_entry);
}

double Run::seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Replace Run::replaces() const {
  return options_.force ? Replace::any_file : Replace::own;
}

// ---- measuring

Progress::Shows Run::shows_progress() const {
  return options_.quiet ? Progress::Shows::nothing : Progress::on_stderr();
}

/// Of all loads together; 0: there is no telling.
std::uint64_t Run::expected_requests(const std::vector<Load>& loads) {
  std::uint64_t sum = 0;
  for (const Load& load : loads) {
    std::uint64_t expected = load.source->expected();
    expected -= std::min(expected, load.warm_up);
    if (load.requests != 0) expected = expected == 0 ? load.requests : std::min(expected, load.requests);
    if (expected == 0 || load.runtime != k_never) return 0;
    sum += expected;
  }
  return sum;
}

void Run::observe_completions() {
  if (until_.wanted()) {
    rounds_.emplace(rounds(until_));
    begin_rounds(*rounds_);
  }
  HostDriver& driver = simulation_->driver();
  if (log_ || timeline_ || rounds_) {
    driver.set_completion_hook([this, &driver](const Completed& command) {
      if (timeline_) timeline_->command(command, loads_[command.load].name, driver.measuring());
      if (!driver.measuring()) return;
      if (log_) log_->record(command);
      if (rounds_) note_round(command);
    });
  }
  if (timeline_) {
    driver.set_submission_hook(
        [this] { timeline_->outstanding_changed(simulation_->ssd().event_queue().now()); });
  }
  driver.set_measurement_hook([this] {
    begin_log();  // of rounds that were only looked at nothing stays
    if (rounds_) {
      begin_rounds(*rounds_);
    } else {
      simulation_->reset_statistics();
    }
  });
}

/// Rounds until they are steady, then five that are measured: chosen without looking at them.
void Run::note_round(const Completed& command) {
  if (!rounds_->count(command)) return;
  HostDriver& driver = simulation_->driver();
  if (steady_) {
    if (rounds_->rounds() >= k_pts_rounds) driver.stop_loads();
  } else if (rounds_->steady()) {
    steady_ = rounds_->json();
    rounds_.emplace(rounds(until_));
    driver.measure_anew();
  } else if (rounds_->exhausted()) {
    driver.stop_loads();
  }
}

/// What sees firmware's decisions, and what stops the run.
void Run::watch_firmware() {
  Ssd& ssd = simulation_->ssd();
  const std::uint32_t kinds = decision_kinds(report_section_.decisions);
  if (directory_ && kinds != 0)
    decisions_ = std::make_unique<DecisionLog>(directory_->file("decisions.jsonl"), kinds, filter_, ssd);
  if (!breaks_.empty()) {
    pauser_ = std::make_unique<Pauser>(*simulation_, breaks_, shown_, run_section_.timed, decisions_.get(),
                                       decisions_ ? kinds : 0);
    ssd.observe_decisions(pauser_.get());
  } else if (decisions_) {
    ssd.observe_decisions(decisions_.get());
  }
}

void Run::end_watch() {
  simulation_->ssd().observe_decisions(nullptr);
  if (pauser_) {
    for (const std::string& one : pauser_->not_reached()) {
      warnings_.push_back("the run has ended before the break at " + one);
      // Where the summary, which has the warnings, is not shown.
      if (options_.quiet || options_.json)
        std::cerr << "tlmssd: " << printable(warnings_.back()) << std::endl;
    }
    pauser_.reset();
  }
  if (!decisions_) return;
  decisions_->close();
  if (decisions_->passed() == 0 && decisions_->seen() > 0)
    warnings_.push_back(
        fmt::format("report.decision_filter: lets none of the {} decisions of report.decisions pass, and "
                    "decisions.jsonl is empty",
                    decisions_->seen()));
  if (decisions_->left_out() > 0)
    warnings_.push_back(
        fmt::format("report.decision_filter.most: {} decisions were left out of decisions.jsonl",
                    decisions_->left_out()));
}

/// Of a run that fails: they may say why. Earlier results are not replaced.
void Run::keep_decisions() noexcept {
  try {
    simulation_->ssd().observe_decisions(nullptr);
    pauser_.reset();
    if (!decisions_ || !directory_) return;
    decisions_->close();
    if (std::filesystem::exists(std::filesystem::path(options_.out) / "report.json")) return;
    directory_->commit_only("decisions.jsonl");
    if (!options_.quiet)
      std::cerr << "tlmssd: decisions until the run failed: " << options_.out << "/decisions.jsonl\n";
  } catch (const std::exception&) {
    return;  // what has failed the run is what is told
  }
}

/// A log of commands from here on; what an earlier one holds is gone.
void Run::begin_log() {
  log_.reset();  // which would write its rest into the new file
  if (directory_ && report_section_.logs_commands())
    log_ = std::make_unique<CommandLog>(directory_->file("commands." + report_section_.command_log));
}

/// Commands that are measured.
std::uint64_t Run::measure_timed() {
  begin_log();
  if (directory_ && report_section_.timeline) {
    const Picoseconds from = simulation_->ssd().event_queue().now() + window_.from;
    timeline_ = std::make_unique<TimelineObserver>(
        directory_->file("timeline.perfetto"),
        TimelineWindow{from, from + window_.length, window_.slowest, window_.margin}, simulation_->ssd(),
        [this] { return simulation_->driver().outstanding(); });
    simulation_->ssd().observe({timeline_.get(), timeline_.get(), timeline_.get()});
  }
  observe_completions();
  try {
    at_entries([&] { simulation_->run(loads_, *measurement_); });
  } catch (const Interrupted& interrupted) {
    end_early(interrupted);
  }
  if (log_) log_->close();
  if (timeline_) timeline_->close();
  if (timeline_ && timeline_->incomplete())
    warnings_.emplace_back(
        "report.window: more surrounds the slowest commands than the timeline can hold; ask for fewer, or "
        "for a smaller margin");
  return measurement_->completed();
}

/// Its ramp is a number of requests: no time passes.
std::uint64_t Run::measure_untimed() {
  const HostDriver& driver = simulation_->driver();
  std::uint64_t begun = driver.completed();
  simulation_->driver().set_measurement_hook([&] {
    simulation_->reset_statistics();
    begun = driver.completed();
  });
  simulation_->run_untimed_together(loads_, measurement_.get());
  simulation_->driver().set_measurement_hook(nullptr);
  measurement_->finish(0);
  return driver.completed() - begun;
}

/// What has been measured so far is worth keeping, but not in place of earlier results.
void Run::end_early(const Interrupted& interrupted) {
  if (!simulation_->driver().measuring() || measurement_->completed() == 0) throw interrupted;
  interrupted_ = interrupted;
  measurement_->finish(simulation_->ssd().event_queue().now());
  warnings_.push_back(
      fmt::format("{}: these are the results up to then, of a part of the run", interrupted.what()));
  if (directory_ && std::filesystem::exists(std::filesystem::path(options_.out) / "report.json")) {
    warnings_.push_back(options_.out + " keeps its earlier results");
    log_.reset();
    timeline_.reset();
    directory_.reset();
  }
}

void Run::begin_measurement() {
  if (run_section_.long_requests == "refuse") simulation_->driver().send_long_whole();
  std::vector<std::string> names;
  for (const Load& load : loads_) names.push_back(load.name);
  measurement_ = std::make_unique<Measurement>(names);
  measurement_->set_drive([this](Picoseconds now) { return sample(simulation_->ssd(), now); });
  measurement_->set_busy([this](BusySink& sink) { simulation_->ssd().tell_busy(sink); });
}

void Run::measure() {
  begin_measurement();
  const HostDriver& driver = simulation_->driver();
  const std::uint64_t before = driver.completed();
  const std::uint64_t failed_before = driver.failed();
  Progress progress("run", until_.wanted() ? 0 : expected_requests(loads_), shows_progress());
  simulation_->driver().set_progress_hook([&, first = driver.requests_done()](std::uint64_t done) {
    progress.update(done - first, simulation_->ssd().event_queue().now());
  });
  const auto start = std::chrono::steady_clock::now();
  watch_firmware();
  std::uint64_t measured = 0;
  try {
    measured = run_section_.timed ? measure_timed() : measure_untimed();
  } catch (...) {
    keep_decisions();
    throw;
  }
  end_watch();
  run_seconds_ = seconds_since(start);
  run_commands_ = driver.completed() - before;
  progress.finish();
  note_failures(warnings_, "", failed_before);
  warn_of_small_trims();
  all_ramp_ = run_commands_ > 0 && measured == 0;
  if (const std::string why = why_read_only(); !why.empty() && !says(warnings_, why))
    warnings_.push_back(why);
  warn_of_clock();
}

/// Of loads that asked for nothing but trims in which no logical block lies.
void Run::warn_of_small_trims() {
  for (const Load& load : loads_) {
    const PlacementCounts& counts = load.source->counts();
    if (counts.too_small > 0 && counts.too_small == counts.requests)
      warnings_.push_back(fmt::format(
          "{}: in none of its {} trims lies a whole logical block (ssd.host.lba_size), and nothing "
          "was trimmed",
          load.name, counts.too_small));
  }
}

/// Of data that would be older than the clock of retention can tell.
void Run::warn_of_clock() {
  const FlashArray& flash = simulation_->ssd().flash();
  if (!flash.retention_ended()) return;
  const double reference = flash.retention_clock().reference_temperature();
  warnings_.push_back(fmt::format(
      "{}: the clock of retention has come to its end, {:.0f} years at {} "
      "(ssd.flash.reliability.reference_temperature); data age no further, and what is written now "
      "not at all",
      age_.retention > 0 ? "age.retention" : "precondition.rest", RetentionClock::k_most_days / 365,
      format_value(Kind::temperature, Value(reference))));
}

ExitCode Run::exit_code() const {
  if (failures_ && run_section_.errors == "fail") {
    if (options_.quiet) std::cerr << "tlmssd: " << printable(first_failure_) << std::endl;  // else a warning
    return k_exit_failed;
  }
  return (advised_ || missed_) && options_.strict ? k_exit_advice : k_exit_ok;
}

/// Errors about a key that come up while the drive works get the place where it was given.
template <class Work>
auto Run::placed(Work work) {
  try {
    return work();
  } catch (const InputError& error) {
    if (error.complaint().key.empty() || !error.complaint().file.empty()) throw;
    throw scenario_.complaint("", error);
  }
}

void Run::execute() {
  placed([this] {
    prepare();
    if (loads_.empty() || options_.prepare_only) return;
    warm_up();
    measure();
    write_results();
  });
}

nlohmann::ordered_json Run::inspect(const StateQuery& query) {
  check_query(query, simulation_->ssd(), query.lba ? "--lba" : query.map ? "--map" : "--blocks");
  placed([this] { prepare(); });
  return drive_state(*simulation_, query);
}

int inspect_command(const InspectOptions& options) {
  const InterruptGuard guard(&plugin_on_stack);
  StateQuery query;
  query.blocks = options.blocks;
  if (!options.map.empty()) query.map = parse_range("--map", options.map);
  if (!options.lba.empty()) query.lba = parse_range("--lba", options.lba).first;
  query.overview = !query.lba && !query.map && !query.blocks;
  RunOptions run;
  run.scenario = options.target;
  run.overrides = options.overrides;
  run.drive_only = true;
  run.quiet = true;
  if (is_snapshot(options.target)) {
    run.from_snapshot = options.target;
    run.scenario_text = snapshot_scenario(options.target);
  }
  const nlohmann::ordered_json state = Run(run).inspect(query);
  std::cout << (options.json ? to_text(state) : state_text(state));
  return state.contains("consistency") && !state["consistency"]["consistent"].get<bool>() ? k_exit_internal
                                                                                          : k_exit_ok;
}

int figures_command(const RunOptions& options) {
  std::cout << to_text(Run(options).empty_report());
  return k_exit_ok;
}

int run_command(const RunOptions& options) {
  const InterruptGuard guard(&plugin_on_stack);
  if (options.with_parent) prctl(PR_SET_PDEATHSIG, SIGKILL);
  Run run(options);
  run.execute();
  if (run.interrupted()) throw Interrupted(*run.interrupted());
  return run.exit_code();
}

}  // namespace tlmssd
