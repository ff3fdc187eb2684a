// The command line: `tlmssd run scenario.yaml` and its neighbours.
#include <systemc>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "models/common/input_error.h"
#include "testbench/commands.h"
#include "testbench/process/standard_output.h"
#include "testbench/python_package.h"

namespace {

struct Arguments {
  tlmssd::RunOptions run;
  tlmssd::TraceInfoOptions trace_info;
  tlmssd::ProfileOptions profile;
  tlmssd::CheckOptions check;
  std::string filter;
};

/// "" is no name, and no way to leave an option out.
const CLI::Validator k_not_empty(
    [](const std::string& text) {
      return text.empty() ? std::string("is empty, expected a name") : std::string();
    },
    "", "not empty");

void add_run(CLI::App& app, Arguments& arguments) {
  CLI::App* run = app.add_subcommand("run", "run a scenario and report what the drive did");
  run->add_option("scenario", arguments.run.scenario, "scenario file (YAML)")->required()->check(k_not_empty);
  run->add_option("--set", arguments.run.overrides,
                  "override a parameter, e.g. --set firmware.gc.policy=fifo")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  run->add_option("-o,--out", arguments.run.out,
                  "folder for report.json, fio.json, report.html and the resolved scenario")
      ->check(k_not_empty);
  run->add_option("--save-snapshot", arguments.run.save_snapshot, "save the drive after preconditioning")
      ->check(k_not_empty);
  run->add_flag("--prepare-only", arguments.run.prepare_only,
                "end when the drive is preconditioned and saved")
      ->needs("--save-snapshot");
  run->add_option("--from-snapshot", arguments.run.from_snapshot,
                  "start from a saved drive instead of preconditioning")
      ->check(k_not_empty);
  run->add_flag("--force", arguments.run.force,
                "let a snapshot replace any file, and results the files of their names in any folder");
  run->add_flag("--short", arguments.run.short_form,
                "cut preconditioning and loads so that the run takes seconds");
  run->add_flag("--check-protocol", arguments.run.check_protocol,
                "check the TLM-2.0 base protocol on every socket (slow)");
  run->add_flag("--with-parent", arguments.run.with_parent,
                "end when the process that started it ends, however that ends");
  run->add_flag("-q,--quiet", arguments.run.quiet, "print nothing but errors");
}

void add_profile(CLI::App& app, Arguments& arguments) {
  CLI::App* profile = app.add_subcommand(
      "profile", "compare the requests made up for a volume with its published statistics; list the volumes");
  profile->add_option("name", arguments.profile.name, "volume, e.g. prxy_0; none lists them")
      ->check(k_not_empty);
  profile->add_option("--scale", arguments.profile.scale, "share of footprint and number of requests")
      ->check(CLI::Range(0.000001, 1.0));
  profile->add_option("--requests", arguments.profile.requests, "requests to make at most; 0: no such limit")
      ->check(CLI::NonNegativeNumber);
  profile->add_option("--seed", arguments.profile.seed, "seed of the random streams");
  profile->add_flag("--json", arguments.profile.json, "print JSON");
}

void add_others(CLI::App& app, Arguments& arguments) {
  CLI::App* check = app.add_subcommand(
      "check", "say everything that is wrong with a scenario, or print it with every default filled in");
  check->add_option("scenario", arguments.check.scenario, "scenario file (YAML)")
      ->required()
      ->check(k_not_empty);
  check->add_option("--set", arguments.check.overrides, "override a parameter")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  check->add_flag("--json", arguments.check.json, "print JSON: the scenario, or the errors");

  CLI::App* resolve = app.add_subcommand(
      "resolve",
      "fill in a scenario many times, for programs: each line of standard input is a JSON list of "
      "settings, each line of standard output the scenario or what is wrong");
  resolve->add_option("scenario", arguments.check.scenario, "scenario file (YAML)")
      ->required()
      ->check(k_not_empty);

  CLI::App* figures = app.add_subcommand(
      "figures", "build the drive without running it, and print the figures that a report of it has (JSON)");
  figures->add_option("scenario", arguments.run.scenario, "scenario file (YAML)")->required();
  figures->add_option("--set", arguments.run.overrides, "override a parameter")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");

  CLI::App* info = app.add_subcommand("trace-info", "say what is in a trace file and how it is understood");
  info->add_option("file", arguments.trace_info.file, "trace file; may be compressed (.gz, .xz, .zst, .bz2)")
      ->required()
      ->check(k_not_empty);
  info->add_option("--format", arguments.trace_info.format,
                   "format of the trace; auto: found out from its first lines");
  info->add_option("--set", arguments.trace_info.settings,
                   "a word of the load section, e.g. --set columns.time=1")
      ->allow_extra_args(false)
      ->type_name("WORD=VALUE");
  info->add_flag("--json", arguments.trace_info.json, "print JSON");

  CLI::App* list = app.add_subcommand("list", "list sections, parameters and policies");
  list->add_option("filter", arguments.filter, "only what contains this text");
  app.add_subcommand("schema", "print the JSON Schema of scenarios, for editors");
  app.add_subcommand("reference", "print the parameter reference (Markdown)");
  for (const tlmssd::PythonCommand& command : tlmssd::k_python_commands)
    app.add_subcommand(command.name, std::string(command.description) + " (Python)");
}

int dispatch(const CLI::App& app, Arguments& arguments) {
  using namespace tlmssd;
  if (app.got_subcommand("run")) return run_command(arguments.run);
  if (app.got_subcommand("check")) return check_command(arguments.check);
  if (app.got_subcommand("resolve")) return resolve_command(arguments.check.scenario);
  if (app.got_subcommand("figures")) return figures_command(arguments.run);
  if (app.got_subcommand("trace-info")) return trace_info_command(arguments.trace_info);
  if (app.got_subcommand("profile")) return profile_command(arguments.profile);
  if (app.got_subcommand("list")) return list_command(arguments.filter);
  if (app.got_subcommand("schema")) return schema_command();
  return reference_command();
}

int carry_out(int argc, char* argv[]) {
  // Before parsing: every word behind the command is Python's, a folder of results named like a command too.
  if (argc > 1 && tlmssd::is_python_command(argv[1])) tlmssd::hand_over_to_python(argv);
  CLI::App app{"tlmssd: transaction-level SSD emulator"};
  app.set_version_flag("--version", std::string("tlmssd ") + tlmssd::version());
  app.require_subcommand(1);
  Arguments arguments;
  arguments.run.command_line.assign(argv, argv + argc);
  add_run(app, arguments);
  add_profile(app, arguments);
  add_others(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw tlmssd::InputError(error.what());
    return app.exit(error);  // prints the help or the version
  }
  return dispatch(app, arguments);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  return tlmssd::guarded([&] { return carry_out(argc, argv); });
}

/// The kernel's own main would print a banner first.
int main(int argc, char* argv[]) {
  tlmssd::prepare_standard_streams();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
