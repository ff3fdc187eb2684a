#include "testbench/commands.h"

#include <fmt/format.h>
#include <iostream>

#include "models/common/input_error.h"
#include "models/common/suggest.h"
#include "models/nand/violation.h"
#include "platform/scenario/reference.h"
#include "platform/scenario/scenario.h"
#include "testbench/host_driver.h"
#include "testbench/loads/profile_report.h"
#include "testbench/loads/trace_info.h"
#include "testbench/process/interrupt.h"
#include "testbench/process/standard_output.h"
#include "testbench/run.h"
#include "testbench/scenario_catalogue.h"
#include "testbench/scenarios_folder.h"

namespace tlmssd {

const char* version() {
  return TLMSSD_VERSION;
}

namespace {

/// All of `text` on one line, so that what is reported can be found and counted by tools.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

/// What files and the command line bring into a message must not steer the terminal.
int complain(int code, const std::string& text) {
  std::cout.flush();
  std::cerr << "tlmssd: " << printable(text) << std::endl;
  return code;
}

/// The exit code of `command`; what it throws becomes a message.
int reported(const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError& error) {
    return complain(k_exit_input, one_line(error.what()));
  } catch (const Interrupted& interrupted) {
    return complain(k_exit_signal + interrupted.signal(), interrupted.what());
  } catch (const Stalled& error) {
    return complain(k_exit_stalled, std::string("stalled: ") + error.what());
  } catch (const DataMismatch& error) {
    return complain(k_exit_internal, std::string("a read returned wrong data: ") + error.what());
  } catch (const NandViolation& error) {
    return complain(k_exit_internal, std::string("NAND rules violated: ") + error.what());
  } catch (const std::bad_alloc&) {
    return complain(k_exit_internal, "out of memory");
  } catch (const std::exception& error) {
    return complain(k_exit_internal, std::string("internal error: ") + error.what());
  }
}

/// The scenario that a trace's words make up: `settings` are "columns.time=1" and the like.
Scenario trace_scenario(const TraceInfoOptions& options) {
  std::vector<std::string> overrides = {"load.0.trace=" + options.file, "load.0.format=" + options.format};
  for (const std::string& setting : options.settings) overrides.push_back("load.0." + setting);
  return parse_scenario("title: trace-info\n", "trace-info", scenario_catalogue(), overrides);
}

}  // namespace

int guarded(const std::function<int()>& command) {
  StandardOutput output;
  const int code = reported(command);
  const int told = reported([&] {
    output.finish();
    return k_exit_ok;
  });
  return code == k_exit_ok ? told : code;
}

int trace_info_command(const TraceInfoOptions& options) {
  const Scenario scenario = trace_scenario(options);
  const LoadConfig config = read_load(scenario, 0);
  const TraceInfo info =
      inspect_trace(TraceFile{config.kind.trace, config.trace, config.blkparse, config.columns});
  std::cout << (options.json ? to_json(info) + "\n" : to_text(info));
  return k_exit_ok;
}

int profile_command(const ProfileOptions& options) {
  if (options.name.empty()) {
    std::cout << (options.json ? profile_list_json() : profile_list_text());
    return k_exit_ok;
  }
  const VolumeProfile& volume = find_volume(options.name);
  const ProfileRun run{options.scale, options.requests, options.seed};
  std::cout << (options.json ? profile_json(volume, run) : profile_text(volume, run));
  return k_exit_ok;
}

int check_command(const std::string& path, const std::vector<std::string>& overrides) {
  ReadOptions options;
  options.folders = {scenarios_folder().string()};
  std::cout << read_scenario(path, scenario_catalogue(), overrides, options).resolved_yaml();
  return k_exit_ok;
}

int list_command(const std::string& filter) {
  const std::string text = list_text(scenario_catalogue(), filter);
  if (text.empty())
    throw InputError(fmt::format("nothing is called '{}'; tlmssd list shows everything", filter));
  std::cout << text;
  return k_exit_ok;
}

int schema_command() {
  std::cout << json_schema(scenario_catalogue()) << "\n";
  return k_exit_ok;
}

int reference_command() {
  std::cout << reference_markdown(scenario_catalogue());
  return k_exit_ok;
}

}  // namespace tlmssd
