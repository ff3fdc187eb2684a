#include "testbench/app/completion.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <vector>

namespace tlmssd {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App* /*every*/) { return true; });
  return commands;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty() || !option->get_snames().empty()) options.push_back(option);
  }
  return options;
}

/// "-o" and "--out".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// `text` with a backslash before each of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// As one word of a POSIX shell.
std::string quoted_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string option_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : options_of(app)) {
    const std::vector<std::string> names = names_of(*option);
    words.insert(words.end(), names.begin(), names.end());
  }
  return joined(words, " ");
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    cases += fmt::format("    {}) options={} ;;\n", command->get_name(), quoted_word(option_words(*command)));
  }
  return fmt::format(
      "# bash completion of tlmssd, made by `tlmssd completion bash`\n"
      "_tlmssd() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} options={}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _tlmssd tlmssd\n",
      quoted_word(option_words(app)), quoted_word(joined(names, " ") + " " + option_words(app)), cases);
}

std::string zsh_options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : names_of(*option)) {
      const std::string what = escaped(option->get_description(), "[]:\\");
      text += " \\\n        " +
              quoted_word("*" + name + "[" + what + "]" + (takes_value(*option) ? ":value:_files" : ""));
    }
  }
  return text;
}

std::string zsh(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    commands +=
        "    " + quoted_word(escaped(command->get_name(), ":") + ":" + command->get_description()) + "\n";
    cases += fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n", command->get_name(),
                         zsh_options(*command));
  }
  return fmt::format(
      "#compdef tlmssd\n"
      "# zsh completion of tlmssd, made by `tlmssd completion zsh`\n"
      "_tlmssd() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n{}  esac\n"
      "}}\n"
      "_tlmssd \"$@\"\n",
      commands, cases);
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion of tlmssd, made by `tlmssd completion fish`\n";
  const auto word = [](const std::string& what) { return "'" + escaped(what, "'\\") + "'"; };
  const auto add_options = [&](const CLI::App& of, const std::string& condition) {
    for (const CLI::Option* option : options_of(of)) {
      text += "complete -c tlmssd -n " + word(condition);
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      text += (takes_value(*option) ? " -r -d " : " -d ") + word(option->get_description()) + "\n";
    }
  };
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c tlmssd -f -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                        word(command->get_description()));
    add_options(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  add_options(app, "__fish_use_subcommand");
  return text;
}

/// Text for troff: no line begins with a request, no dash breaks.
std::string troff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return !result.empty() && (result.front() == '.' || result.front() == '\'') ? "\\&" + result : result;
}

std::string manual_options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    const std::string name = names.empty() ? option->get_name(true) : joined(names, ", ");
    text += ".TP\n.B " + troff(name) + "\n" + troff(option->get_description()) + "\n";
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(
      ".TH TLMSSD 1 \"\" \"tlmssd {}\" \"User Commands\"\n.SH NAME\ntlmssd \\- transaction\\-level SSD "
      "emulator\n.SH SYNOPSIS\n.B tlmssd\n.I COMMAND\n.RI [ OPTIONS ]\n.SH OPTIONS\n{}.SH COMMANDS\n",
      troff(version), manual_options(app));
  for (const CLI::App* command : commands_of(app)) {
    text += ".SS " + troff(command->get_name()) + "\n" + troff(command->get_description()) + ".\n" +
            manual_options(*command);
  }
  text +=
      ".SH \"EXIT STATUS\"\n0 done; 1 the emulator is at fault; 2 the input is; 3 the drive has stalled; 4 "
      "with \\-\\-strict the adviser has something to say or a target is missed; 5 commands failed; 6 this "
      "machine has too little memory; 7 a disk is full; 128 + n "
      "signal n has ended the run.\n.SH ENVIRONMENT\n.TP\n.B TLMSSD_TRACES\nfolder in which traces are "
      "looked up\n.TP\n.B TLMSSD_PLUGINS\nplug\\-ins to load, with colons between them\n.TP\n.B "
      "NO_COLOR\nno colour on terminals\n";
  return text;
}

}  // namespace tlmssd
