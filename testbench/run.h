// One run of a scenario, from the file to the results: read, build, precondition (or restore), warm up, measure, report.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/scenario/scenario.h"
#include "testbench/commands.h"
#include "testbench/loads/load.h"
#include "testbench/measure/command_log.h"
#include "testbench/measure/progress.h"
#include "testbench/measure/run_directory.h"
#include "testbench/measure/snapshot.h"
#include "testbench/precondition.h"
#include "testbench/scenario_catalogue.h"
#include "testbench/simulation.h"
#include "testbench/timeline_observer.h"

namespace tlmssd {

/// Entry `number` of the scenario's list `load`.
LoadConfig read_load(const Scenario& scenario, std::size_t number);

class Run {
 public:
  /// Reads the scenario and builds the drive. Throws InputError.
  explicit Run(const RunOptions& options);
  ~Run();
  /// The rest, up to the results. Throws InputError, DataMismatch, NandViolation, Stalled.
  void execute();

 private:
  [[nodiscard]] Replace replaces() const;
  void prepare();
  void age();
  void archive(Archive& archive);
  PreconditionStep read_step(std::size_t number) const;
  [[nodiscard]] std::vector<Load> make_step(std::size_t number) const;
  void precondition();
  void warm_up();
  void note_failures(std::vector<std::string>& notes, const char* when, std::uint64_t failed_before) const;
  [[nodiscard]] DriveSize addresses_of(const LoadConfig& load) const;
  void make_all_loads();
  [[nodiscard]] std::uint32_t phase_after_all() const;
  void measure();
  void measure_timed();
  void write_results();
  void shorten(Load& load) const;
  [[nodiscard]] std::uint64_t expected_requests() const;

  RunOptions options_;
  std::string started_;  ///< when, ISO 8601
  Scenario scenario_;
  RunSection run_section_;
  ReportSection report_section_;
  TimelineSection window_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RunDirectory> directory_;
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
  double precondition_seconds_ = 0;  ///< host time, with the warm-up
  double run_seconds_ = 0;           ///< host time
  std::uint64_t run_commands_ = 0;
};

}  // namespace tlmssd
