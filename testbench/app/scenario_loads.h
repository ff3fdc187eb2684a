// The loads and preconditioning steps that a scenario asks for, as they can be carried out.
#pragma once

#include <string>
#include <vector>

#include "platform/scenario/scenario.h"
#include "testbench/app/load_space.h"
#include "testbench/app/precondition.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/loads/config/load_config.h"
#include "testbench/loads/load.h"

namespace tlmssd {

/// Where `file`, named in a file of `folder`, lies: there, or in the folder that TLMSSD_TRACES
/// names. Throws InputError about `key`.
std::string found_file(const std::string& folder, const std::string& file, const char* key);
/// Step `number` of the scenario's list `precondition`.
PreconditionStep read_step(const Scenario& scenario, std::size_t number);
/// Entry `number` of the scenario's list `load`.
LoadConfig read_load(const Scenario& scenario, std::size_t number);

/// A file or folder that an entry of the list `load` names.
struct LoadFile {
  std::string key;   ///< of the scenario: "load.0.trace"
  std::string path;  ///< absolute
};
/// Those that the scenario names from its own folder.
std::vector<LoadFile> files_beside(const Scenario& scenario);

class ScenarioLoads {
 public:
  /// `short_form`: cut so that any scenario takes seconds. The scenario must outlive this.
  ScenarioLoads(const Scenario& scenario, const LoadSpace& space, bool short_form)
      : scenario_(scenario),
        space_(space),
        short_form_(short_form),
        timed_(RunSection::parameters().read(scenario.values("run")).timed),
        until_steady_(SteadyConfig::read(scenario.values("run")).wanted()) {}

  struct Made {
    std::vector<Load> loads;
    std::vector<std::size_t> entries;  ///< which entry of the scenario's list each of them comes from
    std::vector<std::string> warnings;
  };
  /// All loads. Throws InputError, or InputErrors for several entries.
  [[nodiscard]] Made make_all() const;

  /// Traces and job files of the loads.
  [[nodiscard]] std::vector<std::string> files() const;

  [[nodiscard]] PreconditionStep read_step(std::size_t number) const;
  /// The loads of one preconditioning step. Throws InputError.
  [[nodiscard]] std::vector<Load> make_step(std::size_t number) const;
  /// What is written for a step to steady state where the drive can only be settled so, and how
  /// many times the capacity is overwritten by that.
  [[nodiscard]] std::vector<Load> make_settling(std::size_t number) const;
  [[nodiscard]] double settling_overwrites() const;
  /// What the step writes until it is steady.
  [[nodiscard]] std::vector<Load> make_steady(std::size_t number) const;
  /// Throws what is wrong with the steps, before anything is carried out.
  void check_steps() const;

 private:
  [[nodiscard]] const DriveSize& addresses_of(const LoadConfig& load) const;
  void shorten(Load& load) const;
  void let_go_on(LoadConfig& config) const;
  void check_warm_up(const LoadConfig& config) const;
  [[nodiscard]] std::vector<Load> named_apart(LoadConfig config, const std::vector<Load>& before) const;
  void make_entry(std::size_t number, std::uint32_t& phase, Made& made) const;

  const Scenario& scenario_;
  LoadSpace space_;
  bool short_form_;
  bool timed_;
  bool until_steady_;
};

}  // namespace tlmssd
