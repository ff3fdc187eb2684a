// The command line: `tlmssd run scenario.yaml` and its neighbours.
#include "platform/plugins/main.h"

#include <systemc>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "platform/plugins/loader.h"
#include "platform/plugins/project_template.h"
#include "platform/plugins/sc_main.h"
#include "testbench/app/commands.h"
#include "testbench/app/completion.h"
#include "testbench/app/python_package.h"
#include "testbench/app/scenario_plugins.h"
#include "testbench/process/interrupt.h"
#include "testbench/process/last_words.h"
#include "testbench/process/standard_output.h"
#include "testbench/report/files/snapshot.h"

namespace {

struct Arguments {
  tlmssd::RunOptions run;
  tlmssd::TraceInfoOptions trace_info;
  tlmssd::ProfileOptions profile;
  tlmssd::CheckOptions check;
  tlmssd::NewOptions project;
  tlmssd::ConformOptions conform;
  tlmssd::InspectOptions inspect;
  std::vector<std::string> plugins;
  std::string filter;
  std::string shown;  ///< folder of results
  std::string shell;  ///< that completes the command line
  std::string json;   ///< where report.json is to go
};

/// "" is no name, and no way to leave an option out.
const CLI::Validator k_not_empty(
    [](const std::string& text) {
      return text.empty() ? std::string("is empty, expected a name") : std::string();
    },
    "", "not empty");

/// The parser takes "" for 0.
const CLI::Validator k_whole_number(
    [](const std::string& text) {
      const bool digits =
          !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!digits) return tlmssd::in_quotes(text) + " is no whole number";
      return text.size() <= 19 ? std::string() : text + " is too large, expected 19 digits at most";
    },
    "", "whole number");

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
  // For tlmssd conform: what a snapshot must hold is more than a fill leaves. Not in the help.
  run->add_flag("--use-first", arguments.run.use_first)->needs("--save-snapshot")->group("");
  run->add_option("--from-snapshot", arguments.run.from_snapshot,
                  "start from a saved drive instead of preconditioning")
      ->check(k_not_empty);
  run->add_flag("--force", arguments.run.force,
                "let a snapshot replace any file, and results the files of their names in any folder");
  run->add_flag("--short", arguments.run.short_form,
                "cut preconditioning and loads so that the run takes seconds");
  run->add_flag("--fill-by-pages", arguments.run.fill_by_pages,
                "write sequential fills page by page, also where their outcome is known (slow)");
  run->add_flag("--check-protocol", arguments.run.check_protocol,
                "check the TLM-2.0 base protocol on every socket (slow)");
  run->add_option("--break", arguments.run.breaks,
                  "stop in a debugger, or say what the drive is doing, at time=1.2s, event=N, command=N, "
                  "decision=gc or decision=gc:N of the measured run")
      ->allow_extra_args(false)
      ->type_name("WHEN")
      ->check(k_not_empty);
  run->add_option("--show", arguments.run.show, "what a break shows beside: lba=N, map=FIRST-LAST, blocks")
      ->check(k_not_empty)
      ->needs("--break");
  run->add_flag("--with-parent", arguments.run.with_parent,
                "end when the process that started it ends, however that ends");
  run->add_flag("--strict", arguments.run.strict,
                "end with exit code 4 when the adviser has something to say or a target is missed");
  run->add_option("--json", arguments.json, "with -: print report.json to standard output, and nothing else")
      ->check(CLI::IsMember({"-"}));
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
      ->check(k_whole_number);
  profile->add_option("--seed", arguments.profile.seed, "seed of the random streams")->check(k_whole_number);
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
  figures->add_option("scenario", arguments.run.scenario, "scenario file (YAML)")
      ->required()
      ->check(k_not_empty);
  figures->add_option("--set", arguments.run.overrides, "override a parameter")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");

  CLI::App* info = app.add_subcommand("trace-info", "say what is in a trace file and how it is understood");
  info->add_option("file", arguments.trace_info.file, "trace file; may be compressed (.gz, .xz, .zst, .bz2)")
      ->required()
      ->check(k_not_empty);
  info->add_option("--format", arguments.trace_info.format,
                   "format of the trace; auto: found out from its first lines")
      ->check(k_not_empty);
  info->add_option("--set", arguments.trace_info.settings,
                   "a word of the load section, e.g. --set columns.time=1")
      ->allow_extra_args(false)
      ->type_name("WORD=VALUE");
  info->add_flag("--json", arguments.trace_info.json, "print JSON");

  CLI::App* show = app.add_subcommand("show", "print the summary of a run that is over again");
  show->add_option("folder", arguments.shown, "folder of results (run --out)")
      ->required()
      ->check(k_not_empty);

  CLI::App* inspect =
      app.add_subcommand("inspect",
                         "show the state of the drive in a snapshot, or of the one that a scenario's "
                         "preconditioning leaves: blocks, wear, free pool, map, and whether they agree");
  inspect->add_option("target", arguments.inspect.target, "snapshot, or scenario file (YAML)")
      ->required()
      ->check(k_not_empty);
  inspect->add_option("--set", arguments.inspect.overrides, "override a parameter")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  inspect->add_option("--lba", arguments.inspect.lba, "only where this logical block is")
      ->check(k_whole_number);
  inspect->add_option("--map", arguments.inspect.map, "only the map of these mapping pages (LPN)")
      ->type_name("FIRST-LAST")
      ->check(k_not_empty);
  inspect->add_flag("--blocks", arguments.inspect.blocks, "only the blocks, one by one");
  inspect->add_option("--json", arguments.json, "with -: print JSON")->check(CLI::IsMember({"-"}));

  CLI::App* list =
      app.add_subcommand("list", "list sections, parameters and policies, or search in what they mean");
  list->add_option("filter", arguments.filter, "only what has this text in its name or meaning")
      ->check(k_not_empty);
  CLI::App* completion =
      app.add_subcommand("completion", "print a script by which a shell completes the command line");
  completion->add_option("shell", arguments.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_subcommand("man", "print the manual page (troff)");
  app.add_subcommand("schema", "print the JSON Schema of scenarios, for editors");
  app.add_subcommand("reference", "print the parameter reference (Markdown)");
  for (const tlmssd::PythonCommand& command : tlmssd::k_python_commands)
    app.add_subcommand(command.name, std::string(command.description) + " (Python)");
}

void add_plugins(CLI::App& app, Arguments& arguments) {
  app.add_option(
         "--plugin", arguments.plugins,
         "load a shared library with models and policies of one's own (also TLMSSD_PLUGINS=a.so:b.so)")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->check(k_not_empty);
  CLI::App* project = app.add_subcommand(
      "new",
      "write a project for a model or policy of one's own, which builds against the installed package");
  project->add_option("kind", arguments.project.kind, "what: one of those below")
      ->required()
      ->check(k_not_empty);
  project->footer([] {
    std::string kinds;
    for (const std::string& kind : tlmssd::template_kinds())
      if (kind != "firmware-c") kinds += "\n  " + kind;  // that is firmware with --language c
    return "Kinds:" + kinds;
  });
  project->add_option("name", arguments.project.name, "its name in scenarios, e.g. acme-nand")
      ->required()
      ->check(k_not_empty);
  project->add_option("--language", arguments.project.language, "c++, or c for firmware")
      ->check(CLI::IsMember({"c++", "c"}));
  project->add_option("--folder", arguments.project.folder, "where to; by default a folder of the name")
      ->check(k_not_empty);
}

void add_conform(CLI::App& app, Arguments& arguments) {
  CLI::App* conform = app.add_subcommand(
      "conform", "hold a model or policy to the contract of its family, and say in words what was found");
  conform
      ->add_option(
          "family", arguments.conform.family,
          "timing, reliability, victim, mapping, cache, scheduling, wear, ecc-code, feature, memory, ...")
      ->required()
      ->check(k_not_empty);
  conform->add_option("name", arguments.conform.policy, "the model or policy, as scenarios call it")
      ->required()
      ->check(k_not_empty);
  conform->add_option("--part", arguments.conform.part, "data sheet of the flash (YAML), as in a scenario")
      ->check(k_not_empty);
  conform->add_option("--set", arguments.conform.overrides, "set a parameter, e.g. of the model itself")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  conform->add_flag("--quick", arguments.conform.quick, "without runs of whole drives");
}

/// Those of the environment, the command line and the scenario, before anything is looked up in the
/// catalogue.
void load_plugins(const CLI::App& app, const Arguments& arguments) {
  using namespace tlmssd;
  load_plugins_of_environment();
  for (const std::string& name : arguments.plugins) load_plugin(name);
  const bool of_run = app.got_subcommand("run") || app.got_subcommand("figures");
  const std::string& scenario = of_run                          ? arguments.run.scenario
                                : app.got_subcommand("inspect") ? arguments.inspect.target
                                                                : arguments.check.scenario;
  if (is_snapshot(scenario)) return;
  if (!scenario.empty()) load_plugins_of_scenario(scenario);
}

int dispatch(const CLI::App& app, Arguments& arguments) {
  using namespace tlmssd;
  for (const PythonCommand& command : k_python_commands) {
    if (app.got_subcommand(command.name))
      throw InputError(std::string("--plugin does not reach ") + command.name +
                       "; name it in TLMSSD_PLUGINS");
  }
  if (app.got_subcommand("new")) return new_command(arguments.project);
  if (app.got_subcommand("conform")) return conform_command(arguments.conform);
  if (app.got_subcommand("run")) return run_command(arguments.run);
  if (app.got_subcommand("check")) return check_command(arguments.check);
  if (app.got_subcommand("resolve")) return resolve_command(arguments.check.scenario);
  if (app.got_subcommand("figures")) return figures_command(arguments.run);
  if (app.got_subcommand("trace-info")) return trace_info_command(arguments.trace_info);
  if (app.got_subcommand("profile")) return profile_command(arguments.profile);
  if (app.got_subcommand("inspect")) return inspect_command(arguments.inspect);
  if (app.got_subcommand("show")) return show_command(arguments.shown);
  if (app.got_subcommand("completion")) {
    std::cout << completion_script(app, arguments.shell);
    return k_exit_ok;
  }
  if (app.got_subcommand("man")) {
    std::cout << manual_page(app, version());
    return k_exit_ok;
  }
  if (app.got_subcommand("list")) return list_command(arguments.filter);
  if (app.got_subcommand("schema")) return schema_command();
  return reference_command();
}

/// The parser would only say that a command is missing.
void check_command_word(const CLI::App& app, const std::string& word) {
  if (word.empty() || word.front() == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw tlmssd::InputError("there is no command " + tlmssd::in_quotes(word) + ", only " +
                           tlmssd::any_of(names, names.size()) + tlmssd::did_you_mean(word, names));
}

/// "; did you mean '--set'?" for an option that the command has not.
std::string option_hint(const CLI::App& app, int argc, char* argv[]) {
  std::vector<std::string> names = {"--help"};
  const auto gather = [&](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  gather(app);
  for (const CLI::App* command : app.get_subcommands()) gather(*command);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (word.starts_with("--") && std::find(names.begin(), names.end(), word) == names.end())
      return tlmssd::did_you_mean(word, names);
  }
  return {};
}

int carry_out(int argc, char* argv[]) {
  // Before parsing: every word behind the command is Python's, a folder of results named like a
  // command too.
  if (argc > 1 && tlmssd::is_python_command(argv[1])) tlmssd::hand_over_to_python(argv);
  CLI::App app{"tlmssd: transaction-level SSD emulator"};
  app.set_version_flag("--version", std::string("tlmssd ") + tlmssd::version());
  app.require_subcommand(1);
  app.fallthrough();  // --plugin behind the command; what is added from here on inherits it
  Arguments arguments;
  arguments.run.command_line.assign(argv, argv + argc);
  add_run(app, arguments);
  add_profile(app, arguments);
  add_others(app, arguments);
  add_plugins(app, arguments);
  add_conform(app, arguments);
  if (argc > 1) check_command_word(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    throw tlmssd::InputError(error.what() + option_hint(app, argc, argv));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw tlmssd::InputError(error.what());
    return app.exit(error);  // prints the help or the version
  }
  arguments.run.json = arguments.inspect.json = !arguments.json.empty();
  const auto load = [&] { load_plugins(app, arguments); };
  if (app.got_subcommand("check")) {
    arguments.check.prepare = load;
  } else {
    load();
  }
  return dispatch(app, arguments);
}

/// What the kernel and models from outside report: standard output is for results.
void report_to_errors(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if ((actions & sc_core::SC_DISPLAY) != 0) std::cerr << sc_core::sc_report_compose_message(report) << "\n";
  sc_core::sc_report_handler::default_handler(
      report, actions & ~static_cast<sc_core::sc_actions>(sc_core::SC_DISPLAY));
}

/// Fatal reports end the run as errors do, not the process.
void take_over_reports() {
  using Handler = sc_core::sc_report_handler;
  Handler::set_handler(&report_to_errors);
  Handler::set_actions(sc_core::SC_FATAL, sc_core::SC_DEFAULT_ERROR_ACTIONS);
  Handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // of sc_stop()
}

int run_program(int argc, char* argv[]) {
  take_over_reports();
  const tlmssd::InterruptNotice notice(&tlmssd::plugin_on_stack);
  return tlmssd::guarded([&] { return carry_out(argc, argv); });
}

}  // namespace

/// The kernel's own main would print a banner first.
int tlmssd::main(int argc, char* argv[]) {
  install_last_words();
  prepare_standard_streams();
  kernel_main() = &run_program;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
