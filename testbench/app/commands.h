// What the program can be asked to do. Each command returns the process's exit code (see ExitCode).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tlmssd {

enum ExitCode : int {
  k_exit_ok = 0,
  k_exit_internal = 1,  ///< the emulator is at fault: wrong data read, illegal NAND operation, internal error
  k_exit_input = 2,     ///< the scenario, a trace or the command line is at fault
  k_exit_stalled = 3,   ///< commands are outstanding and nothing can complete them
  k_exit_advice = 4,    ///< with --strict: the adviser has spoken, or a target is missed
  k_exit_failed = 5,    ///< the results are there, but commands failed (run.errors: accept)
  k_exit_memory = 6,    ///< this machine has too little memory for it; the input may be as it should
  k_exit_disk = 7,      ///< a disk is full; the input may be as it should
  k_exit_signal = 128,  ///< and the signal's number: a signal has ended the run
};

struct RunOptions {
  std::string scenario;
  std::vector<std::string> overrides;  ///< --set a.b.c=value
  std::string out;                     ///< folder of results; empty: none is written
  std::string from_snapshot;
  std::string save_snapshot;
  bool prepare_only = false;    ///< ends when the drive is preconditioned and saved
  bool use_first = false;       ///< the loads are carried out once before the drive is saved
  bool short_form = false;      ///< loads and preconditioning cut so that any scenario takes seconds
  bool fill_by_pages = false;   ///< SimulationConfig::fill_by_pages
  bool check_protocol = false;  ///< a TLM-2.0 protocol checker on every socket
  bool quiet = false;
  bool json = false;    ///< report.json goes to standard output, and nothing else does
  bool strict = false;  ///< advice and missed targets turn into exit code 4
  bool force = false;   ///< replace files of the user's that stand where a snapshot or results are to be
  std::vector<std::string> breaks;        ///< --break time=1.2s
  std::string show;                       ///< --show lba=N or map=FIRST-LAST: what a break shows beside
  bool drive_only = false;                ///< inspect: the loads are not looked at
  std::string scenario_text;              ///< of a snapshot; empty: `scenario` names a file
  bool with_parent = false;               ///< ends when the process that started it ends, however that ends
  std::vector<std::string> command_line;  ///< for run.json
};

int run_command(const RunOptions& options);

struct InspectOptions {
  std::string target;                  ///< snapshot or scenario
  std::vector<std::string> overrides;  ///< --set a.b.c=value
  std::string map;                     ///< LPNs FIRST-LAST; empty: none
  std::string lba;                     ///< logical block; empty: none
  bool blocks = false;
  bool json = false;
};
/// Prints the state of the drive in a snapshot, or of the one that a scenario's preconditioning
/// leaves.
int inspect_command(const InspectOptions& options);

struct TraceInfoOptions {
  std::string file;
  std::string format = "auto";
  std::vector<std::string> settings;  ///< key=value of the load section's trace words, e.g. columns.time=1
  bool json = false;
};
int trace_info_command(const TraceInfoOptions& options);

struct ProfileOptions {
  std::string name;  ///< of the volume; empty: list them
  double scale = 1;
  std::uint64_t requests = 0;
  std::uint64_t seed = 1;
  bool json = false;
};
int profile_command(const ProfileOptions& options);

struct CheckOptions {
  std::string scenario;
  std::vector<std::string> overrides;  ///< --set a.b.c=value
  bool json = false;                   ///< JSON in any case, errors included
  /// Comes before the scenario, and may refuse: loads plug-ins.
  std::function<void()> prepare = {};
};
/// Refuses what run would refuse before it simulates, else prints the scenario with every default
/// filled in.
int check_command(const CheckOptions& options);
/// Answers one request after another, for programs that need many scenarios filled in: each line of
/// standard input is a JSON list of settings ("a.b=value") over `scenario`, each line of standard
/// output {"scenario": {...}} or {"errors": [{"file", "line", "key", "message", "proposal",
/// "text"}]}, with a proposal where there is one. A line that is no such list ends it with
/// k_exit_input.
int resolve_command(const std::string& scenario);
/// Builds the drive without running anything, and prints the report of that (JSON): the figures
/// that a run has.
int figures_command(const RunOptions& options);
struct ConformOptions {
  std::string family;                  ///< timing, reliability, victim, ...
  std::string policy;                  ///< which of the family
  std::string part;                    ///< data sheet of the flash; empty: the default one
  std::vector<std::string> overrides;  ///< --set a.b.c=value, such as the policy's own parameters
  bool quick = false;                  ///< without whole drives
};
/// Holds a model or policy to its family's contract; exit code 1 when it does not keep it.
int conform_command(const ConformOptions& options);

struct NewOptions {
  std::string kind;  ///< of a template: timing-model, ...
  std::string name;  ///< of what the project is for
  std::string language = "c++";
  std::string folder;  ///< empty: one of the name
};
/// Writes a project of one's own from a template.
int new_command(const NewOptions& options);
int list_command(const std::string& filter);
/// The summary of a run that is over, from its folder of results.
int show_command(const std::string& folder);
int schema_command();
int reference_command();

/// Runs `command` and turns what it throws, and a standard output that could not be written, into
/// one line on stderr and an exit code.
int guarded(const std::function<int()>& command);

/// The program's version, such as 0.1.0+12.g0019e99 (cmake/TlmssdVersion.cmake).
const char* version();

}  // namespace tlmssd
