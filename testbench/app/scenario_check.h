// A scenario read, and all that is wrong with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/scenario/scenario.h"
#include "testbench/app/commands.h"
#include "testbench/app/simulation.h"

namespace tlmssd {

/// The scenario of a run, which can be read again with other settings; files are read from disk
/// once.
class ScenarioSource {
 public:
  explicit ScenarioSource(const RunOptions& options);
  /// How a resolved scenario names plug-ins and the files of its loads.
  enum class FileNames : std::uint8_t {
    portable,  ///< plug-ins without folders, files as given: the same wherever they lie
    full,      ///< by their absolute paths, so that the scenario can be run wherever it lies
  };
  /// `scenario`, as it was read, resolved. Read again only where there are files to name.
  [[nodiscard]] std::string resolved_yaml(const Scenario& scenario, FileNames names) const;
  /// With `settings` after those of the command line. Throws InputError, or InputErrors.
  [[nodiscard]] Scenario read(const std::vector<std::string>& settings = {}) const;
  /// Those that have been read.
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] const RunOptions& options() const { return options_; }

 private:
  RunOptions options_;
  std::shared_ptr<std::map<std::string, std::optional<std::string>>> texts_;
};

/// The drive, with what the preconditioning is going to write of it. Throws InputError, or
/// InputErrors.
SsdConfig read_drive(const Scenario& scenario, const RunOptions& options);
/// How the run is carried out and which software of the host sits in front of the drive. Throws
/// InputError.
SimulationConfig read_simulation(const Scenario& scenario);

/// Throws all that is wrong with a scenario, each error with a proposal that has been tried where
/// there is one. `original`: what building it has thrown; thrown again where the scenario alone
/// shows nothing wrong.
[[noreturn]] void throw_advised(const ScenarioSource& source, const InputError& original);

}  // namespace tlmssd
