// How a drive is brought into the state from which a measurement starts: written once, overwritten
// so many times, trimmed, left to rest; several steps are the phases of a life.
//
// Every step is a load in fio's words that runs untimed through the debug path of the same sockets
// and the same firmware, so a preconditioned drive has a real mapping, real block states and real
// wear. Only what is written `until: steady` takes simulated time.
#pragma once

#include <string>
#include <vector>

#include "models/base/input_error.h"
#include "models/base/parameters.h"
#include "testbench/app/age.h"
#include "testbench/app/steady_rounds.h"
#include "testbench/loads/load.h"

namespace tlmssd {

/// One entry of the scenario's list `precondition`.
struct PreconditionStep {
  std::string state =
      "as-is";           ///< steady: it is brought into steady state, without being written if possible
  double fill = 0;       ///< share of the user capacity written once; 0: no fill
  double overwrite = 0;  ///< bytes to write, as a multiple of the region's size; 0: none
  double trim = 0;       ///< share of the region trimmed at random; 0: none
  double region =
      1;  ///< share of the user capacity, from its start, that overwrite and trim touch; fill sets it too
  std::string order = "random";
  Bytes bs = 0;  ///< 0: 128 KiB sequential, the mapping page random
  std::string random_distribution = "random";
  std::uint64_t hot_set = 0;   ///< as a load's
  std::uint32_t iodepth = 32;  ///< of what is written until steady
  bool sustained = false;      ///< the host never pauses, the load behind it neither
  bool idle = false;           ///< afterwards the firmware does all that it would do in idle time
  double rest = 0;             ///< seconds that then pass; the four are as in AgeConfig
  double temperature = 40;     ///< degrees Celsius, of that time
  bool powered = false;        ///< the firmware patrols and refreshes meanwhile
  std::uint32_t reads = 0;     ///< of every page that holds data
  SteadyConfig steady;         ///< whether, and until when, it writes on in simulated time
  static PreconditionStep read(const ParameterValues& values);
  static const ParameterTable<PreconditionStep>& parameters();
  static const ParameterTable<PreconditionStep>& steady_parameters();  ///< read with until: steady
  [[nodiscard]] bool to_steady_state() const { return state == "steady"; }
  /// Whether it writes or trims.
  [[nodiscard]] bool makes_requests() const {
    return fill > 0 || overwrite > 0 || trim > 0 || steady.wanted();
  }
  /// What the drive goes through at the end of the step.
  [[nodiscard]] AgeConfig age() const {
    return {.cycles = 0, .retention = rest, .temperature = temperature, .powered = powered, .reads = reads};
  }
  [[nodiscard]] bool ages() const { return rest > 0 || reads > 0; }
  /// Whether it says anything to be done.
  [[nodiscard]] bool does_something() const {
    return to_steady_state() || makes_requests() || idle || ages();
  }
  [[nodiscard]] bool is_sequential() const;
  /// Share of the user capacity that its writes touch.
  [[nodiscard]] double touched() const { return fill > 0 ? fill : region; }
  /// What is written page by page for certain, as shares of the user capacity.
  struct Written {
    double touched = 0;
    double programmed = 0;  ///< the same places as often as they are written
  };
  /// By this step; `fill_known`: but for its fill.
  [[nodiscard]] Written written(bool fill_known) const;
};

/// The refusal of `state: steady`, with what the step can be instead: the same without it, or,
/// where nothing would be left of it, one that overwrites the drive.
InputError refusal_of_state(PreconditionStep step, std::size_t number, const std::string& what);

/// The loads of one step, to be run one after another; none if it only rests.
/// @param mapping_page  default block size of random writes, bytes
std::vector<Load> make_precondition_loads(const PreconditionStep& step, std::size_t number,
                                          const DriveSize& drive, Bytes mapping_page, std::uint64_t seed);

/// What is written instead of `state: steady` where a drive can only be settled by writing: all of
/// it in sequence, then at random by the mapping page, `overwrite` times the capacity.
std::vector<Load> make_settling_loads(double overwrite, std::size_t number, const DriveSize& drive,
                                      Bytes mapping_page, std::uint64_t seed);

/// What the step writes in rounds until it is steady, with no end of its own.
std::vector<Load> make_steady_load(const PreconditionStep& step, std::size_t number, const DriveSize& drive,
                                   Bytes mapping_page, std::uint64_t seed);

}  // namespace tlmssd
