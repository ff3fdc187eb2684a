// Stopping a run where one wants to look: run --break "time=1.2s", "event=N", "command=N",
// "decision=gc" or "decision=gc:N", and run.pause_at.
//
// Where a debugger is attached, SIGTRAP is raised there. Otherwise the state of the drive goes to
// standard error, as tlmssd inspect prints it, and the run goes on; with a terminal it asks what to
// do next: step [N], continue, inspect, quit. Times and counts begin with the measured run. An
// untimed run has no events of the queue; its steps are commands that begin and flash operations.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "firmware/base/decisions.h"
#include "testbench/app/drive_state.h"
#include "testbench/app/simulation.h"

namespace tlmssd {

struct Break {
  enum class What : std::uint8_t { time, event, command, decision };
  What what = What::time;
  Picoseconds time = 0;
  std::uint64_t number = 1;  ///< of events, commands, decisions; counted from 1
  firmware::DecisionKind kind = firmware::DecisionKind::gc;
  std::string text;  ///< as it was given
};

/// Throws InputError.
Break parse_break(const std::string& text);

class Pauser final : public firmware::DecisionObserver {
 public:
  /// `next` also sees all decisions; null: none does. `query`: what a pause shows. Without `timed`
  /// no break may be at a time.
  Pauser(Simulation& simulation, std::vector<Break> breaks, StateQuery query, bool timed,
         DecisionObserver* next, std::uint32_t kinds_of_next);
  ~Pauser() override;
  Pauser(const Pauser&) = delete;
  Pauser& operator=(const Pauser&) = delete;
  void decided(const firmware::Decision& decision) override;
  /// Breaks that the run did not come to, for a warning.
  [[nodiscard]] std::vector<std::string> not_reached() const;

 private:
  struct Timer {
    Pauser* owner;
    std::size_t which;
  };
  void arm();
  void arm_command();
  void look();
  void stop(std::size_t which);
  [[nodiscard]] nlohmann::ordered_json state_of(const StateQuery& query) const;
  void pause(const std::string& why);
  void ask();
  bool obey(const std::string& line);
  [[nodiscard]] std::uint64_t steps() const;
  static void checkpoint();
  static void due(void* timer);

  Simulation& simulation_;
  std::vector<Break> breaks_;
  std::vector<bool> reached_;
  std::vector<Timer> timers_;
  std::vector<std::uint64_t> decisions_;  ///< of each break's kind, so far
  StateQuery query_;
  bool timed_;
  DecisionObserver* next_;
  std::uint64_t first_event_ = 0;
  std::uint64_t first_command_ = 0;
  std::uint64_t untimed_steps_ = 0;
  std::optional<std::uint64_t> step_at_;  ///< of steps(): the prompt's step
  bool quit_ = false;
};

}  // namespace tlmssd
