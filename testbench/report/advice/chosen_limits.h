// What a scenario chose that limits a run and is not in its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tlmssd {

/// How many commands of a load whose requests come at their times may be under way.
struct LimitOfLoad {
  std::string load;
  std::uint32_t most;
  std::string key;        ///< the parameter that says so
  std::string pause_key;  ///< that of its pauses; empty: it makes none
};

/// What has a load ask for commands that SATA runs alone.
struct LoneCommands {
  std::string load;
  std::string keys;  ///< the parameters that say so; empty: its trace
};

/// What a load asks for: no drive gives it more.
struct DemandOfLoad {
  std::string load;
  /// Of a load whose requests come at their times: the rate at which they were due, in those at
  /// which they were done, 1 or more; 0: it asks for all that it can get.
  double times = 0;
  double paused = 0;  ///< share of its time that its own pauses take, below 1
  std::string keys;   ///< parameters of its times
};

/// What link_latency takes of each command of a load that nothing holds up, in seconds.
struct LinkLatency {
  std::string load;
  double of_reads = 0;
  double of_others = 0;
};

/// What the scenario says and the report does not.
struct ChosenLimits {
  // What dies put aside for reads, which is no advice any more.
  bool suspends_programs = false;
  bool suspends_erases = false;
  bool finishes_pulse = false;  ///< reads wait for the end of the pulse (suspend_point: next)
  bool prefers_reads = false;   ///< those of the host overtake programs (ssd.flash.scheduling)
  bool writes_through = false;  ///< a write completes when it is in flash (firmware.buffer.mode)
  bool own_firmware = true;     ///< the program's own, which programs for flushes and force unit access alone
  bool pins_stages = false;     ///< to some of the cores (ssd.cpu.assignment)
  double erase_seconds = 0;     ///< of a block
  double program_seconds = 0;   ///< of a page, on average
  double host_seconds = 0;      ///< of the host's processor, that software there takes for each command
  double interrupt_seconds = 0;  ///< of each command (ssd.host.interrupt_latency)
  double bus_seconds = 0;        ///< of each access to memory, beside its bytes (ssd.bus.latency)
  double dram_seconds = 0;       ///< the same of the DRAM (ssd.dram.latency)
  double dies_of_buffer =
      0;  ///< share of the dies for one program each of which the write buffer has room; 0: none
  bool cache_keeps_room = false;  ///< lines go before others need their room
  bool memory_in_order = false;   ///< a short access to DRAM waits for all of a long one (arbitration)
  /// The drive's parameter that limits how many commands are under way; empty: none that loads
  /// would exceed.
  std::string commands_under_way = "";
  std::string queue_depth = "";          ///< the parameter by which the host's queues would hold more
  std::vector<LoneCommands> alone = {};  ///< of a drive with SATA: of each load
  /// The parameter that says whose turn it is, where several queues wait for one limit; empty: none
  /// do.
  std::string turns = "";
  std::vector<LinkLatency> link = {};
  std::vector<LimitOfLoad> loads = {};     ///< those that have a limit of their own
  std::vector<DemandOfLoad> demands = {};  ///< of loads that pause, or whose requests have times
};

}  // namespace tlmssd
