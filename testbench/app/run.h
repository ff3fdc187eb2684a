// One run of a scenario, from the file to the results: read, build, precondition (or restore), warm
// up, measure, report.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/scenario/scenario.h"
#include "testbench/app/commands.h"
#include "testbench/app/decision_log.h"
#include "testbench/app/drive_state.h"
#include "testbench/app/pause.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_check.h"
#include "testbench/app/scenario_loads.h"
#include "testbench/app/simulation.h"
#include "testbench/app/steady_rounds.h"
#include "testbench/app/timeline_observer.h"
#include "testbench/loads/load.h"
#include "testbench/process/interrupt.h"
#include "testbench/report/advice/adviser.h"
#include "testbench/report/advice/findings.h"
#include "testbench/report/files/command_log.h"
#include "testbench/report/files/run_directory.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/report/progress.h"
#include "testbench/report/report.h"
#include "testbench/report/report_writer.h"
#include "testbench/report/targets.h"

namespace tlmssd {

class Run {
 public:
  /// Reads the scenario and builds the drive. Throws InputError.
  explicit Run(const RunOptions& options);
  ~Run();
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  /// What the process says at its end, after execute().
  [[nodiscard]] ExitCode exit_code() const;
  /// What has ended the measured run before its time; its results are there and marked partial.
  [[nodiscard]] const std::optional<Interrupted>& interrupted() const { return interrupted_; }
  /// Throws what execute() would throw in time, as far as it follows from the loads alone; then
  /// there is nothing to execute any more.
  void look_ahead();
  /// The prepared drive, as it is before the load.
  [[nodiscard]] nlohmann::ordered_json inspect(const StateQuery& query);
  /// The rest, up to the results. Throws InputError, DataMismatch, NandViolation, Stalled.
  void execute();
  /// The report of a run in which nothing happened: every figure of the drive, all of them nought
  /// or absent. And the causes that ledgers know ("causes").
  [[nodiscard]] nlohmann::ordered_json empty_report();

 private:
  [[nodiscard]] Replace replaces() const;
  void tell_why_strict(const nlohmann::ordered_json& report) const;
  [[nodiscard]] static double seconds_since(std::chrono::steady_clock::time_point start);
  [[nodiscard]] OtherFiles other_files() const;
  void build();
  void check_memory() const;
  void read_breaks();
  void make_repeatable();
  template <class Work>
  auto placed(Work work);
  void make_writers();
  void prepare();
  void use();
  bool write_until_steady(std::size_t step);
  std::vector<Load> make_steady_state(std::size_t number, bool sustained);
  void tell_step(const nlohmann::ordered_json& told);
  void tell_lost(std::size_t number, std::uint64_t lost);
  [[nodiscard]] std::string lost_before() const;
  [[nodiscard]] SteadyRounds rounds(const SteadyConfig& config);
  void begin_rounds(SteadyRounds& rounds);
  [[nodiscard]] Identity identity(const AgeConfig& age) const;
  void restore();
  std::string rest(const AgeConfig& age);
  void age();
  [[nodiscard]] std::string prepared_by() const;
  void compare_steps(const std::string& scenario_there);
  void archive(Archive& archive);
  void precondition();
  void warm_up();
  [[nodiscard]] std::string why_read_only() const;
  void note_failures(std::vector<std::string>& notes, const char* when, std::uint64_t failed_before);
  void warn_of_small_trims();
  void warn_of_clock();
  void at_entries(const std::function<void()>& work) const;
  void begin_measurement();
  void measure();
  void begin_log();
  std::uint64_t measure_timed();
  std::uint64_t measure_untimed();
  void watch_firmware();
  void end_watch();
  void keep_decisions() noexcept;
  void observe_completions();
  void note_round(const Completed& command);
  void end_early(const Interrupted& interrupted);
  [[nodiscard]] RunFacts facts() const;
  [[nodiscard]] AdviserFacts adviser_facts() const;
  [[nodiscard]] std::vector<PreconditionStep> steps_carried_out() const;
  [[nodiscard]] bool drawn_steady() const;
  [[nodiscard]] bool came_to_rest() const;
  [[nodiscard]] std::string unlike_steady(const Load& load) const;
  [[nodiscard]] LinkLatency link_latency_of(std::size_t load) const;
  [[nodiscard]] ChosenLimits chosen_limits() const;
  [[nodiscard]] std::vector<DemandOfLoad> demands() const;
  [[nodiscard]] std::string key_of_queue_depth() const;
  [[nodiscard]] std::map<std::string, double> numbers_of_feature(std::string_view section) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> refresh_out_of_reach() const;
  void advise_on(nlohmann::ordered_json& report);
  void tell_rounds(nlohmann::ordered_json& report);
  void judge_targets(nlohmann::ordered_json& report);
  void write_results();
  [[nodiscard]] static std::uint64_t expected_requests(const std::vector<Load>& loads);
  [[nodiscard]] Progress::Shows shows_progress() const;

  RunOptions options_;
  std::string started_;  ///< when, ISO 8601
  ScenarioSource source_;
  std::string repeatable_;  ///< the scenario with all files by their paths
  Scenario scenario_;
  RunSection run_section_;
  ReportSection report_section_;
  TimelineSection window_;
  DecisionFilter filter_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RunDirectory> directory_;
  std::vector<std::pair<std::string, std::unique_ptr<ReportWriter>>> writers_;  ///< with their files
  std::unique_ptr<ScenarioLoads> steps_;
  AgeConfig age_;
  std::string age_text_;                  ///< what became of the drive while it aged
  std::string steady_steps_;              ///< JSON: the rounds of steps until steady
  std::string other_steps_;               ///< JSON: the snapshot's steps, where they are others
  std::vector<std::string> preparation_;  ///< warnings about preconditioning; a snapshot holds both
  std::vector<Load> loads_;
  std::vector<std::size_t> entries_;  ///< which entry of the scenario's list each of loads_ comes from
  std::unique_ptr<Measurement> measurement_;
  std::unique_ptr<CommandLog> log_;
  std::unique_ptr<TimelineObserver> timeline_;
  std::unique_ptr<DecisionLog> decisions_;
  std::vector<Break> breaks_;
  StateQuery shown_;  ///< at breaks
  std::unique_ptr<Pauser> pauser_;
  std::vector<std::string> warnings_;
  bool failures_ = false;      ///< commands have failed
  std::string first_failure_;  ///< in words, of these
  std::optional<Interrupted> interrupted_;
  bool advised_ = false;   ///< the adviser has spoken
  bool all_ramp_ = false;  ///< commands were carried out, and none was measured
  SteadyConfig until_;
  std::optional<SteadyRounds> rounds_;            ///< with until: steady
  std::optional<nlohmann::ordered_json> steady_;  ///< what became of that, when it is known
  std::vector<Target> targets_;
  bool missed_ = false;  ///< a target
  std::vector<std::string> silenced_;
  std::uint64_t precondition_commands_ = 0;
  double precondition_seconds_ = 0;  ///< host time, or that of loading a snapshot; with the warm-up
  double run_seconds_ = 0;           ///< host time
  std::uint64_t run_commands_ = 0;
};

}  // namespace tlmssd
