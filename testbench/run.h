// One run of a scenario, from the file to the results: read, build, precondition (or restore), warm up, measure, report.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/scenario/scenario.h"
#include "testbench/commands.h"
#include "testbench/loads/load.h"
#include "testbench/measure/command_log.h"
#include "testbench/measure/progress.h"
#include "testbench/measure/report.h"
#include "testbench/measure/run_directory.h"
#include "testbench/measure/snapshot.h"
#include "testbench/scenario_catalogue.h"
#include "testbench/scenario_check.h"
#include "testbench/scenario_loads.h"
#include "testbench/simulation.h"
#include "testbench/timeline_observer.h"

namespace tlmssd {

class Run {
 public:
  /// Reads the scenario and builds the drive. Throws InputError.
  explicit Run(const RunOptions& options);
  ~Run();
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  /// The rest, up to the results. Throws InputError, DataMismatch, NandViolation, Stalled.
  void execute();
  /// The report of a run in which nothing happened: every figure of the drive, all of them nought or absent. And
  /// the causes that ledgers know ("causes").
  [[nodiscard]] nlohmann::ordered_json empty_report();

 private:
  [[nodiscard]] Replace replaces() const;
  void build();
  void prepare();
  void age();
  void archive(Archive& archive);
  void precondition();
  void warm_up();
  void note_failures(std::vector<std::string>& notes, const char* when, std::uint64_t failed_before) const;
  void begin_measurement();
  void measure();
  void measure_timed();
  [[nodiscard]] RunFacts facts() const;
  void write_results();
  [[nodiscard]] std::uint64_t expected_requests() const;

  RunOptions options_;
  std::string started_;  ///< when, ISO 8601
  ScenarioSource source_;
  Scenario scenario_;
  RunSection run_section_;
  ReportSection report_section_;
  TimelineSection window_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RunDirectory> directory_;
  std::unique_ptr<ScenarioLoads> steps_;
  AgeConfig age_;
  std::string age_text_;                  ///< what became of the drive while it aged
  std::vector<std::string> preparation_;  ///< warnings about preconditioning; a snapshot holds both
  std::vector<Load> loads_;
  std::vector<std::size_t> entries_;  ///< which entry of the scenario's list each of loads_ comes from
  std::unique_ptr<Measurement> measurement_;
  std::unique_ptr<CommandLog> log_;
  std::unique_ptr<TimelineObserver> timeline_;
  std::vector<std::string> warnings_;
  std::uint64_t precondition_commands_ = 0;
  double precondition_seconds_ = 0;  ///< host time, or that of loading a snapshot; with the warm-up
  double run_seconds_ = 0;           ///< host time
  std::uint64_t run_commands_ = 0;
};

}  // namespace tlmssd
