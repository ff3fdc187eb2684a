// How busy the parts of the drive were in a run: which of them limit it, all of a kind or some.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "testbench/report/advice/chosen_limits.h"
#include "testbench/report/advice/resources.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {

constexpr double k_busy_resource = 0.85;  ///< of the time, from which on a resource limits
/// What is idle for longer than this makes nothing wait that has no cause of its own.
constexpr double k_idle = 0.5;

/// Some of a kind are busy all the time, while all together are not, or have work of their own:
/// these limit.
bool uneven(const Utilisation& use);

/// How busy is what limits: all of a kind together, or the busiest. Between 0 and 1.
double load_of(const Utilisation& use);

/// Numbers of those of an uneven kind that are busy all the time.
std::vector<std::string> busy_ones(const Utilisation& use);

/// "one of " or "3 of ".
std::string some_of(std::size_t number);

/// As plain_utilisations(), of each part what it does itself: a channel is held while a program's
/// data come out of memory, which is none of its work.
std::vector<Utilisation> working_utilisations(const nlohmann::ordered_json& statistics);

/// What the time of commands goes to, in nanoseconds of all of them together.
struct TimeOfCommands {
  double all = 0;
  double arrays = 0;  ///< work of dies for the command itself
  double senses = 0;  ///< of that, reads
  double map = 0;     ///< of a map in flash
  double waits = 0;   ///< for dies, be it for the room that they make
  double behind = 0;  ///< of those, behind traffic of the map
};

/// Of the ledger's `host software` what is a wait for earlier commands, or for room that cleaning
/// makes: all but the processor's time for the command itself.
constexpr const char* k_waits_in_host_software = "host software wait";

/// Whether a command waits for dies under this cause, be it for the room that they make.
bool waits_for_dies(const std::string& cause);

/// Whether an array works for the command itself under this cause.
bool works_for(const std::string& cause);

/// Whether the map lies in flash, of which commands fetch pages.
bool has_map_in_flash(const nlohmann::ordered_json& statistics);

/// What is worked out of the results of a load once, for each load is held against each other one.
struct MeasuredLoad {
  /// What its commands of one operation spent under one cause, or under k_waits_in_host_software.
  struct Spent {
    bool reads;  ///< the operation is a read
    std::string cause;
    double time;      ///< nanoseconds
    double commands;  ///< of that operation
  };
  std::string name;
  std::optional<std::pair<double, double>> at_work;  ///< seconds; nothing: that is not known
  double written = 0;                                ///< bytes
  double sensed = 0;                                 ///< bytes that were read, if flash was for that
  double occupied = 0;   ///< nanoseconds in which the drive had its commands, behind the queues
  double under_way = 0;  ///< commands, on average
  bool flushes = false;
  bool trims = false;
  bool waits_for_programs = false;  ///< some commands waited until data were in flash
  std::vector<Spent> spent;
  TimeOfCommands time;
  std::string alone_keys;  ///< as in LoneCommands
  LinkLatency link;
  DemandOfLoad demand;  ///< without `times` and `paused` where it asks for all it can get
};

/// The statistics of a run, and what is worked out of them once. Refers to the report it was made
/// of.
struct MeasuredDrive {
  MeasuredDrive(const nlohmann::ordered_json& report, const ChosenLimits& chosen);
  /// The same in the own time of a load, or of all of them (their results): all of a kind are
  /// scaled alike. Nothing where that time is not known, or nearly all that was measured.
  [[nodiscard]] std::optional<MeasuredDrive> in_time_of(const nlohmann::ordered_json& load) const;
  /// Of the resource with this label; none: the drive has no such resource.
  [[nodiscard]] const Utilisation* use_of(std::string_view label) const;
  /// Mean utilisation of a resource, by its label; 0 where there is none.
  [[nodiscard]] double busy(std::string_view label) const;
  /// Share of the dies' time that goes to this work ("read", "gc", ...).
  [[nodiscard]] double dies_busy_with(std::string_view work) const;
  /// The load of this name; null: there is none, as of an empty name.
  [[nodiscard]] const MeasuredLoad* find(const std::string& name) const;
  /// Whether `load` was at work while `asker` was, or with `or_before` before that; it was, if
  /// there is no asker.
  [[nodiscard]] static bool meet(const MeasuredLoad* asker, const MeasuredLoad& load, bool or_before = false);
  /// What limits under this label, where some of a kind do by their numbers; nothing where no
  /// parameter would widen it.
  [[nodiscard]] std::optional<Resource> limiting(const Utilisation& use) const;
  /// Of the time in which dies are taken, the share in which their arrays rest.
  [[nodiscard]] double held() const;
  /// Of the time, what channels are taken, be it while data come out of memory.
  [[nodiscard]] double channels_held() const;
  /// Seconds that an access to this memory, or to the bus, waits for others, and that it takes
  /// itself, on average over all of the time measured; nothing: that is not known.
  struct Access {
    double waits;
    double takes;
  };
  [[nodiscard]] std::optional<Access> access_to(std::string_view label) const;
  /// Of a wait for dies, what is one for data on their way in or out: the time in which arrays
  /// rest, and the more of the rest the less what moves the data has left to give.
  [[nodiscard]] double share_of_transfers() const;
  /// Whether the rate at which dies work is that of the data on their way.
  [[nodiscard]] bool transfers_limit() const;
  /// Of the time that collection takes of the dies, what no spare flash would save: each block is
  /// erased once before the host's data fill it.
  [[nodiscard]] double share_of_needed_erases() const;
  /// Share of the time in which no parallel unit could take another program of the write buffer.
  [[nodiscard]] double programs_at_limit() const;
  /// Share of the time in which commands stood in the queue for one that SATA runs alone.
  [[nodiscard]] double held_up() const;

  const nlohmann::ordered_json& statistics;
  std::vector<Utilisation> uses;
  std::string time = "the time";  ///< what the shares are of
  std::string rate = "the rate";  ///< what they bound
  std::string whose = "";         ///< the load in whose own time that was; empty: in that of all loads

 private:
  /// What is the same in the own time of any load.
  struct Common {
    ChosenLimits limits;
    std::vector<MeasuredLoad> loads;
    std::unordered_map<std::string_view, std::size_t> by_name;
  };
  [[nodiscard]] static std::shared_ptr<const Common> common_of(const nlohmann::ordered_json& report,
                                                               const ChosenLimits& chosen);
  std::shared_ptr<const Common> common_;

 public:
  const ChosenLimits& limits;
  const std::vector<MeasuredLoad>& loads;

 private:
  double measured_;                              ///< seconds
  double whose_part_ = 1;                        ///< of that, which was that load's own time
  double channels_work_ = 1;                     ///< of the time in which they are held
  const nlohmann::ordered_json* own_ = nullptr;  ///< utilisation in a load's own time; null: in all of it
};

}  // namespace tlmssd
