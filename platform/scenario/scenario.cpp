// Questions to a scenario that has been read.
#include "platform/scenario/scenario.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace tlmssd {
namespace {

[[noreturn]] void unknown(std::string_view path) {
  throw std::logic_error("scenario: the catalogue has no '" + std::string(path) + "'");
}

struct SplitPath {
  std::string_view section;
  std::string_view key;
};
SplitPath split_last(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {{}, path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

const Value* SectionValues::find(std::string_view name) const {
  const Setting* found = setting(name);
  if (found == nullptr) return nullptr;
  found->read = true;
  return found->given_value();
}

const Value* SectionValues::given(std::string_view name) const {
  const Setting* found = setting(name);
  return found == nullptr ? nullptr : found->given_value();
}

const SectionValues::Setting* SectionValues::setting(std::string_view name) const {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.spec->name == name; });
  return found == settings.end() ? nullptr : &*found;
}

const SectionValues* Scenario::find(std::string_view path) const {
  const auto found = positions_.find(path);
  return found == positions_.end() ? nullptr : sections_[found->second].get();
}

std::string Scenario::title() const {
  const Value* given = values("").find("title");
  return given == nullptr ? std::string() : std::get<std::string>(*given);
}

std::uint64_t Scenario::seed() const {
  const Value* given = values("").find("seed");
  return static_cast<std::uint64_t>(given == nullptr ? 1 : std::get<std::int64_t>(*given));
}

std::vector<std::string> Scenario::plugins() const {
  const Value* given = values("").find("plugins");
  return given == nullptr ? std::vector<std::string>() : std::get<std::vector<std::string>>(*given);
}

std::string Scenario::folder() const {
  const std::string folder = std::filesystem::path(*file_).parent_path().string();
  return folder.empty() ? "." : folder;
}

const ParameterValues& Scenario::values(std::string_view path) const {
  static const NoValues k_defaults;
  if (const SectionValues* section = find(path)) return *section;
  if (catalogue_->find(path) == nullptr) unknown(path);
  return k_defaults;
}

std::string Scenario::policy(std::string_view path, std::string_view key) const {
  const Section* section = catalogue_->find(path);
  if (section == nullptr) unknown(path);
  for (const KeyGroup& group : section->groups()) {
    if (!group.is_family()) continue;
    const ParameterSpec& spec = group.parameters.front();
    if (!key.empty() && spec.name != key) continue;
    const Value* given = values(path).find(spec.name);
    return std::get<std::string>(given == nullptr ? spec.fallback : *given);
  }
  unknown(key.empty() ? std::string(path) + " (policy)" : join_path(path, key));
}

bool Scenario::has(std::string_view path) const {
  const Section* declared = catalogue_->find(path);
  if (declared != nullptr && declared->is_list() && counts_.contains(path)) return count(path) > 0;
  if (declared != nullptr) return find(path) != nullptr;
  const auto [section_path, key] = split_last(path);
  const Section* owner = catalogue_->find(section_path);
  if (owner == nullptr) unknown(path);
  const auto all = owner->all_parameters();
  if (std::none_of(all.begin(), all.end(),
                   [name = key](const ParameterSpec* spec) { return spec->name == name; })) {
    unknown(path);
  }
  const SectionValues* section = find(section_path);
  const SectionValues::Setting* setting = section == nullptr ? nullptr : section->setting(key);
  return setting != nullptr && setting->effective() != nullptr;
}

std::size_t Scenario::count(std::string_view path) const {
  const Section* declared = catalogue_->find(path);
  if (declared == nullptr || !declared->is_list()) unknown(path);
  const auto found = counts_.find(path);
  return found == counts_.end() ? 0 : found->second;
}

InputError Scenario::error(std::string_view path, const std::string& message) const {
  return InputError(place_of(path, {{}, 0, std::string(path), message, {}}));
}

/// `complaint` with the place of `path`.
Complaint Scenario::place_of(std::string_view path, Complaint complaint) const {
  const auto at = [&](const Origin& origin) {
    complaint.file = *origin.file;
    complaint.line = origin.line;
    return complaint;
  };
  const SectionValues::Setting* setting = find_setting(path);
  if (setting != nullptr && complaint.table_line && !setting->lines_of.empty()) {
    place_in_file(complaint, setting->lines_of);
    return complaint;
  }
  if (setting != nullptr && setting->given) return at(setting->origin);
  // Else the innermost section around it that was given; the scenario as a whole only when it is
  // meant.
  for (std::string_view around = path;; around = split_last(around).section) {
    const SectionValues* section = find(around);
    const bool meant = !around.empty() || path.empty();
    if (meant && section != nullptr && section->origin.file) return at(section->origin);
    if (around.empty()) break;
  }
  complaint.file = *file_;
  return complaint;
}

const SectionValues::Setting* Scenario::find_setting(std::string_view path) const {
  const auto [section, key] = split_last(path);
  const SectionValues* owner = find(section);
  return owner == nullptr ? nullptr : owner->setting(key);
}

InputError Scenario::complaint(std::string_view path, const InputError& error) const {
  Complaint complaint = error.complaint();
  if (!complaint.file.empty()) return InputError(complaint);
  std::string word = complaint.key;
  if (word.empty()) {
    const std::size_t end = complaint.what.find_first_of(": ");
    word = complaint.what.substr(0, end);
    const bool section = end != std::string::npos && complaint.what[end] == ':';
    const bool of_plugin = !complaint.thrower.empty();  // whose words may begin with a key by chance
    const std::string key = section || !of_plugin ? whole_path(path, word, section) : std::string();
    if (of_plugin && key.empty()) return InputError(complaint);
    if (end == std::string::npos || key.empty()) return this->error(path, complaint.what);
    return this->error(key, complaint.what.substr(complaint.what.find_first_not_of(": ", end)));
  }
  const std::string key = whole_path(path, word, true);
  if (complaint.proposal) {
    const std::string change = whole_path(path, complaint.proposal->key, true);
    if (!change.empty()) complaint.proposal->key = change;
  }
  if (!key.empty()) complaint.key = key;
  // A bare word that is no key here, as an option of a fio job file: the place is the section's.
  const bool foreign = key.empty() && complaint.key.find('.') == std::string::npos;
  return InputError(place_of(foreign ? path : complaint.key, complaint));
}

/// The path of the parameter (or section) that `word` names, whole or from `path` on; empty when
/// there is none.
std::string Scenario::whole_path(std::string_view path, const std::string& word, bool section) const {
  for (const std::string& candidate : {word, join_path(path, word)}) {
    if (find_setting(candidate) != nullptr || (section && find(candidate) != nullptr)) return candidate;
  }
  return {};
}

bool Scenario::counts(const SectionValues& section, std::string_view key) const {
  const std::string& owner = section.section->owner();
  if (owner.empty()) return true;
  const Section* const declared = catalogue_->find(owner);
  if (declared == nullptr) unknown(owner);
  const auto family = std::find_if(declared->groups().begin(), declared->groups().end(),
                                   [](const KeyGroup& group) { return group.is_family(); });
  if (family == declared->groups().end()) unknown(owner + " (policy)");
  const ParameterSpec& spec = family->parameters.front();
  const Value* given = glance(owner).find(spec.name);
  return section.section->counts_with(std::get<std::string>(given == nullptr ? spec.fallback : *given), key);
}

std::vector<Scenario::Written> Scenario::written() const {
  std::vector<Written> result;
  for (const auto& section : sections_) {
    for (const SectionValues::Setting& setting : section->settings) {
      if (setting.given)
        result.push_back({join_path(section->path, setting.spec->name), section.get(), &setting});
    }
  }
  return result;
}

std::vector<Unread> Scenario::unread(const Idle& idle) const {
  std::vector<Unread> result;
  for (const auto& section : sections_) {
    for (const SectionValues::Setting& setting : section->settings) {
      const bool title = section->path.empty() && setting.spec->name == "title";
      if (!setting.given || title) continue;
      const ParameterSpec& spec = *setting.spec;
      // A resolved scenario gives everything; what says no more than the default has been
      // understood.
      if (!spec.required && !spec.optional && *setting.given == spec.fallback) continue;
      if (setting.read && !(idle && idle(*section, setting))) continue;
      result.push_back(
          {join_path(section->path, setting.spec->name), *setting.origin.file, setting.origin.line});
    }
  }
  result.insert(result.end(), replaced_.begin(), replaced_.end());
  return result;
}

}  // namespace tlmssd
