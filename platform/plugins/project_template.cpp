#include "platform/plugins/project_template.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "models/base/input_error.h"
#include "models/base/suggest.h"

namespace tlmssd {

namespace {

namespace fs = std::filesystem;

fs::path templates_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = program.parent_path() / TLMSSD_INSTALLED_TEMPLATES;
    if (fs::is_directory(installed, error)) return fs::weakly_canonical(installed, error);
  }
  return TLMSSD_SOURCE_TEMPLATES;
}

/// What the name stands for in the template: my-nand, my_nand and MyNand.
struct Names {
  std::string name;
  std::string word;
  std::string type;
};

/// Policy CMP0037: no target of a project may be called so.
constexpr std::string_view k_targets_of_cmake[] = {
    "all",        "clean",          "codegen",    "depend",
    "edit_cache", "help",           "install",    "list_install_components",
    "package",    "package_source", "preinstall", "rebuild_cache",
    "test"};

Names names_of(const std::string& name) {
  const auto letter = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  const auto good = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
  };
  if (name.empty() || name.size() > 40 || !letter(name.front()) ||
      !std::all_of(name.begin(), name.end(), good))
    throw InputError(in_quotes(name) +
                     " is no name; write small letters, digits and -, a letter first: acme-nand");
  Names names{name, name, {}};
  std::replace(names.word.begin(), names.word.end(), '-', '_');
  if (std::find(std::begin(k_targets_of_cmake), std::end(k_targets_of_cmake), names.word) !=
      std::end(k_targets_of_cmake))
    throw InputError(in_quotes(name) + " is the name of a target of CMake's own; take another, such as my-" +
                     name);
  bool first = true;
  for (const char c : name) {
    if (c != '-') names.type += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    first = c == '-';
  }
  return names;
}

std::string filled_in(std::string text, const Names& names) {
  const std::pair<std::string, const std::string&> words[] = {
      {"new-name", names.name}, {"new_word", names.word}, {"NewType", names.type}};
  for (const auto& [from, to] : words) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw InputError("cannot read " + file.string());
  return text.str();
}

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw not_written(file.string(), "cannot be written", errno);
}

}  // namespace

std::vector<std::string> template_kinds() {
  std::vector<std::string> kinds;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(templates_folder(), error))
    if (entry.is_directory(error)) kinds.push_back(entry.path().filename().string());
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

void write_project(const std::string& kind, const std::string& name, const std::string& folder) {
  const std::vector<std::string> kinds = template_kinds();
  if (kinds.empty())
    throw InputError("the templates are missing: there is no folder " + templates_folder().string());
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    const std::string hint = did_you_mean(kind, kinds);
    throw InputError("there is no new " + in_quotes(kind) +
                     (hint.empty() ? "; there is " + any_of(kinds) : hint));
  }
  const Names names = names_of(name);
  const fs::path target = folder;
  std::error_code error;
  if (fs::exists(target, error) && !(fs::is_directory(target, error) && fs::is_empty(target, error)))
    throw InputError("there is a " + target.string() + " already; --folder names another place");
  const fs::path source = templates_folder() / kind;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
      if (!entry.is_regular_file()) continue;
      const std::string path = fs::relative(entry.path(), source).string();
      write_file(target / filled_in(path, names), filled_in(text_of(entry.path()), names));
    }
  } catch (const fs::filesystem_error& failure) {
    fs::remove_all(target, error);
    throw not_written(target.string(), "cannot be written", failure.code().value());
  } catch (...) {
    fs::remove_all(target, error);
    throw;
  }
}

}  // namespace tlmssd
