#include "testbench/app/commands.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

#include "firmware/foreign/crash_watch.h"
#include "models/base/ecc_code.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "models/nand/violation.h"
#include "platform/plugins/loader.h"
#include "platform/plugins/project_template.h"
#include "platform/scenario/reference.h"
#include "platform/scenario/scenario.h"
#include "testbench/app/run.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_check.h"
#include "testbench/app/scenario_loads.h"
#include "testbench/host/host_driver.h"
#include "testbench/loads/profiles/profile_report.h"
#include "testbench/loads/traces/trace_info.h"
#include "testbench/process/exit_watch.h"
#include "testbench/process/interrupt.h"
#include "testbench/process/last_words.h"
#include "testbench/process/staging.h"
#include "testbench/process/standard_output.h"
#include "testbench/process/terminal.h"
#include "testbench/report/report_writer.h"

namespace tlmssd {

namespace {

using Json = nlohmann::ordered_json;

static_assert(int{k_exit_memory} == k_exit_out_of_memory);

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

/// What is wrong, for tools: place, key, text and proposal of each error, and the line that users
/// read.
Json errors_json(const InputError& error) {
  Json errors = Json::array();
  for (const InputError& one : errors_of(error)) {
    const Complaint& complaint = one.complaint();
    Json entry = {{"file", complaint.file}, {"line", complaint.line}, {"key", complaint.key}};
    entry["message"] = complaint.what;
    if (complaint.proposal)
      entry["proposal"] = {{"key", complaint.proposal->key}, {"value", complaint.proposal->value}};
    entry["text"] = one_line(one.what());
    errors.push_back(std::move(entry));
  }
  return errors;
}

/// The exit code of a refusal: whose fault it is.
int refused(const InputError& error) {
  const std::vector<InputError> all = errors_of(error);
  const Blame blame = all.front().complaint().blame;
  if (std::any_of(all.begin(), all.end(),
                  [&](const InputError& one) { return one.complaint().blame != blame; }))
    return k_exit_input;
  switch (blame) {
    case Blame::memory:
      return k_exit_memory;
    case Blame::disk:
      return k_exit_disk;
    case Blame::input:
      break;
  }
  return k_exit_input;
}

/// Bytes that are no text become U+FFFD.
std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Whose fault the exception under way is: "plug-in acme 1.0: ", or nothing.
std::string blamed() {
  const std::string plugin = thrown_by_plugin();
  return plugin.empty() ? plugin : "plug-in " + plugin + ": ";
}

/// Who has called exit().
std::string caller_of_exit() {
  const std::string plugin = calling_plugin();
  return plugin.empty() ? plugin : "plug-in " + plugin;
}

/// What the exception under way says.
std::string current_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "threw an exception without a text" : text;
  } catch (...) {
    return "threw something that is no std::exception";
  }
}

/// Message and exit code of the exception under way, which is no user's fault.
int reported_fault() {
  try {
    throw;
  } catch (const Stalled& error) {
    return complain(k_exit_stalled, std::string("stalled: ") + error.what());
  } catch (const DataMismatch& error) {
    return complain(k_exit_internal, std::string("a read returned wrong data: ") + error.what());
  } catch (const NandViolation& error) {
    return complain(k_exit_internal, std::string("NAND rules violated: ") + error.what());
  } catch (const std::bad_alloc&) {
    return say_out_of_memory();
  } catch (const std::exception& error) {
    return complain(k_exit_internal, std::string("internal error: ") + error.what());
  }
}

/// The exit code of `command`; what it throws becomes a message.
int reported(const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError& error) {
    const std::string plugin = blamed();
    for (const InputError& one : errors_of(error)) {
      const std::string line = one_line(one.what());
      complain(k_exit_input, line.starts_with(plugin) ? line : plugin + line);  // it may name itself
    }
    return refused(error);
  } catch (const Interrupted& interrupted) {
    return complain(k_exit_signal + interrupted.signal(), interrupted.what());
  } catch (...) {
    if (const std::string plugin = blamed(); !plugin.empty())
      return complain(k_exit_input, plugin + one_line(current_text()));
    return reported_fault();
  }
}

/// Words of a load's section that say how its file is read; the others are about its replay.
void check_trace_word(const Scenario& scenario, const std::string& setting) {
  const std::string word = setting.substr(0, setting.find('='));
  if (word.starts_with("columns") || !scenario.has_parameter("load.0." + word)) return;
  std::vector<std::string> words = {"columns"};
  for (const auto& specs : {TraceConfig::parameters().specs(), BlkparseConfig::parameters().specs()}) {
    for (const ParameterSpec& spec : specs) words.push_back(spec.name);
  }
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  throw InputError("--set " + setting + ": " + in_quotes(word) +
                   " says nothing of how the file is read; there is " + any_of(words));
}

/// The scenario that a trace's words make up: `settings` are "columns.time=1" and the like.
Scenario trace_scenario(const TraceInfoOptions& options) {
  std::vector<std::string> overrides = {"load.0.trace=" + options.file, "load.0.format=" + options.format};
  for (const std::string& setting : options.settings) overrides.push_back("load.0." + setting);
  Scenario scenario = parse_scenario("title: trace-info\n", "trace-info", scenario_catalogue(), overrides);
  for (const std::string& setting : options.settings) check_trace_word(scenario, setting);
  return scenario;
}

/// What `tlmssd resolve` says to line `number` of its input.
Json answer(const ScenarioSource& source, const std::string& line, std::uint64_t number) {
  const Json request = Json::parse(line, nullptr, false);
  const auto is_text = [](const Json& setting) { return setting.is_string(); };
  if (!request.is_array() || !std::all_of(request.begin(), request.end(), is_text))
    throw InputError("standard input:" + std::to_string(number) +
                     R"(: a request is a JSON list of settings on one line, such as ["seed=2"])");
  try {
    const Scenario scenario = source.read(request.get<std::vector<std::string>>());
    return {{"scenario", Json::parse(scenario.resolved_json())}};
  } catch (const InputError& error) {
    return {{"errors", errors_json(error)}};
  }
}

}  // namespace

int guarded(const std::function<int()>& command) {
  try {
    StandardOutput output;
    static_cast<void>(loaded_plugins());  // made before the watch, to be there when it asks
    firmware::foreign::on_crash({&plugin_on_stack, &Staging::remove_all});
    const ExitWatch watch(&caller_of_exit, k_exit_input);
    const int code = reported(command);
    const int told = reported([&] {
      output.finish();
      return k_exit_ok;
    });
    return code == k_exit_ok ? told : code;
  } catch (const std::bad_alloc&) {  // of the message
    return say_out_of_memory();
  }
}

int trace_info_command(const TraceInfoOptions& options) {
  const Scenario scenario = trace_scenario(options);
  const LoadConfig config = read_load(scenario, 0);
  const TraceInfo info = inspect_trace(
      TraceFile{found_file("", config.kind.trace, "file"), config.trace, config.blkparse, config.columns});
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

int check_command(const CheckOptions& options) {
  RunOptions run;
  run.scenario = options.scenario;
  run.overrides = options.overrides;
  try {
    if (options.prepare) options.prepare();
    Run built(run);  // as far as run goes before it simulates
    built.look_ahead();
    if (!options.json) {
      std::cout << built.scenario().resolved_yaml();
    } else {
      std::cout << R"({"valid": true, "scenario": )" << built.scenario().resolved_json() << "}\n";
    }
  } catch (const InputError& error) {
    if (!options.json) throw;
    std::cout << dumped({{"valid", false}, {"errors", errors_json(error)}}, 2) << "\n";
    return refused(error);
  }
  return k_exit_ok;
}

int resolve_command(const std::string& path) {
  RunOptions options;
  options.scenario = path;
  const ScenarioSource source(options);
  std::string line;
  // Answers that cannot be written are not worth making; guarded() says why there are no more.
  for (std::uint64_t number = 1; std::cout && std::getline(std::cin, line); ++number)
    std::cout << dumped(answer(source, line, number), -1) << std::endl;
  return k_exit_ok;
}

namespace {

/// Where a scenario names what a project of a kind is for.
struct PlaceOfKind {
  std::string_view kind;
  std::string_view section;
  std::string_view key;  ///< that chooses it; empty: it is a key or section there
};
constexpr PlaceOfKind k_places_of_kinds[] = {{"timing-model", "ssd.flash.part", "timing"},
                                             {"reliability-model", "ssd.flash.reliability", "model"},
                                             {"scheduling-policy", "ssd.flash.scheduling", "policy"},
                                             {"victim-policy", "firmware.gc", "policy"},
                                             {"wear-policy", "firmware.wear", "policy"},
                                             {"cache-policy", "firmware.cache", "policy"},
                                             {"data-path", "firmware.pslc", "policy"},
                                             {"ecc-policy", "firmware.ecc", "policy"},
                                             {"ecc-code", "ssd.flash.ecc", {}},
                                             {"mapping-scheme", "firmware.mapping", "scheme"},
                                             {"feature", "firmware", {}},
                                             {"load", "load", "source"},
                                             {"trace-format", "load", "format"},
                                             {"report-writer", "report", {}},
                                             {"memory", "ssd.dram", "model"},
                                             {"firmware", "firmware", "model"}};

/// Sections and files are written with _.
std::string word_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Whether a scenario knows that name there already.
bool is_taken(const PlaceOfKind& place, const std::string& name) {
  const Section* const section = scenario_catalogue().find(place.section);
  if (section == nullptr) return false;
  const std::string word = word_of(name);
  if (place.kind == "ecc-code" && name == name_of(EccCode::none)) return true;
  if (place.key.empty() && (section->child(name) != nullptr || section->child(word) != nullptr)) return true;
  const std::vector<const ParameterSpec*> keys = section->all_parameters();
  return std::any_of(keys.begin(), keys.end(), [&](const ParameterSpec* key) {
    if (place.key.empty()) return key->name == name || key->name == word;
    return key->name == place.key &&
           std::find(key->choices.begin(), key->choices.end(), name) != key->choices.end();
  });
}

}  // namespace

int new_command(const NewOptions& options) {
  for (const PlaceOfKind& place : k_places_of_kinds) {
    if (place.kind != options.kind || !is_taken(place, options.name)) continue;
    throw InputError(fmt::format("there is a {} {} already; take another name, such as my-{}", options.kind,
                                 in_quotes(options.name), options.name));
  }
  const std::string file = word_of(options.name) + ".csv";  // of the template
  if (options.kind == "report-writer" && !ReportWriterFamily::is_free(file))
    throw InputError(
        fmt::format("{} of results is the program's own; take another name than {}, such as my-{}", file,
                    in_quotes(options.name), options.name));
  const std::string folder = options.folder.empty() ? options.name : options.folder;
  write_project(options.language == "c" ? options.kind + "-c" : options.kind, options.name, folder);
  std::cout << "Wrote " << printable(folder) << "; its README.md says how to build and run it.\n";
  return k_exit_ok;
}

int list_command(const std::string& filter) {
  const std::string text = list_text(scenario_catalogue(), filter, terminal_columns(STDOUT_FILENO));
  if (text.empty())
    throw InputError("nothing is called " + in_quotes(filter) +
                     ", and nothing says so of itself; tlmssd list shows everything");
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
