// The tree of sections and its consistency.
#include "platform/scenario/catalogue.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"

namespace tlmssd {
namespace {

bool same_meaning(const ParameterSpec& a, const ParameterSpec& b) {
  return a.kind == b.kind && a.list == b.list && a.required == b.required && a.optional == b.optional &&
         a.fallback == b.fallback && a.choices == b.choices && a.minimum == b.minimum &&
         a.maximum == b.maximum;
}

[[noreturn]] void wrong(const Section& section, const std::string& what) {
  throw std::logic_error("catalogue: section '" + section.path() + "': " + what);
}

/// A key, and what declares it.
struct Declared {
  const KeyGroup& group;
  const ParameterSpec& spec;
  const PolicyInfo* policy;  ///< null: a table, or the key that selects a policy
};

/// The plug-in that declares it; empty: the program.
const std::string& origin_of(const Section& section, const Declared& key) {
  return key.policy != nullptr && !key.policy->origin.empty() ? key.policy->origin : section.origin();
}

/// "firmware.gc", or "'second-chance' (firmware.gc.policy)".
std::string declarer_of(const Section& section, const Declared& key) {
  if (key.policy == nullptr) return section.path();
  return in_quotes(key.policy->name) + " (" + join_path(section.path(), key.group.parameters.front().name) +
         ")";
}

/// What a plug-in declares is its user's matter; all else is a mistake of the program.
[[noreturn]] void wrong(const Section& section, const Declared& key, const std::string& what) {
  const std::string& origin = origin_of(section, key);
  if (origin.empty()) wrong(section, in_quotes(key.spec.name) + " " + what);
  throw InputError("plug-in " + origin + ": parameter " + in_quotes(key.spec.name) + " of " +
                   declarer_of(section, key) + " " + what);
}

/// The numbers of a value; none of another kind.
std::vector<double> numbers_in(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::vector<double> {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::int64_t> || std::is_same_v<Held, double>) {
          return {static_cast<double>(held)};
        } else if constexpr (std::is_same_v<Held, std::vector<std::int64_t>> ||
                             std::is_same_v<Held, std::vector<double>>) {
          return {held.begin(), held.end()};
        } else {
          return {};
        }
      },
      value);
}

/// Range and default go together, and what the value is read into can hold the range.
void check_range(const Section& section, const Declared& key, bool has_default) {
  const ParameterSpec& spec = key.spec;
  using Any = std::numeric_limits<std::int64_t>;
  const bool limits = has_limits(spec);
  const double minimum = limits ? spec.minimum : static_cast<double>(Any::lowest());
  const double maximum = limits ? spec.maximum : static_cast<double>(Any::max());
  const std::string range = limits ? fmt::format("the range {} to {}", minimum, maximum) : "no range";
  if (!(minimum <= maximum)) wrong(section, key, "has " + range + ", which is none");
  if (minimum < spec.least || maximum > spec.most) {
    wrong(section, key,
          fmt::format("has {}, but what it is read into holds {} to {}", range, spec.least, spec.most));
  }
  if (!has_default) return;
  for (const double number : numbers_in(spec.fallback)) {
    if (limits ? number >= minimum && number <= maximum : !std::isnan(number)) continue;
    wrong(section, key,
          fmt::format("has the default {}, which is {}", number, limits ? "not in " + range : "no number"));
  }
}

/// The default is one of what may be given.
void check_values(const Section& section, const Declared& key) {
  const ParameterSpec& spec = key.spec;
  const bool has_default = !spec.required && !spec.optional;
  if (spec.kind == Kind::choice) {
    if (spec.choices.empty()) wrong(section, key, "has no choices");
    const auto& fallback = std::get<std::string>(spec.fallback);
    if (has_default && std::find(spec.choices.begin(), spec.choices.end(), fallback) == spec.choices.end())
      wrong(section, key, "has the default " + in_quotes(fallback) + ", which is none of its choices");
  }
  if (is_number(spec.kind)) check_range(section, key, has_default);
}

void check_parameter(const Section& section, const Declared& key) {
  const ParameterSpec& spec = key.spec;
  if (spec.name.empty() || spec.name.find_first_of(". \t:") != std::string::npos || is_position(spec.name)) {
    wrong(section, key, "cannot be a key of a scenario");
  }
  if (const Section* const child = section.child(spec.name)) {
    if (!child->origin().empty() && origin_of(section, key).empty())
      throw InputError("plug-in " + child->origin() + ": its section " + child->path() + " is a key already");
    wrong(section, key, "has the name of a section: " + child->path());
  }
  if (spec.list && (spec.kind == Kind::flag || spec.kind == Kind::bytes_or_share)) {
    wrong(section, key, "is a list of a kind that has no lists");
  }
  check_values(section, key);
  if (section.is_from_file() && spec.name == "file") wrong(section, key, "is taken: it names a file");
}

/// A policy's name can be written in a scenario, a list of values and a file's name.
void check_policy_name(const Section& section, const KeyGroup& group, const PolicyInfo& policy) {
  const auto usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '+';
  };
  if (!policy.name.empty() && std::all_of(policy.name.begin(), policy.name.end(), usual)) return;
  const std::string what = "the name " + in_quotes(policy.name) + " in " +
                           join_path(section.path(), group.parameters.front().name) +
                           ": write letters, digits, -, _, . and +";
  if (policy.origin.empty()) wrong(section, what);
  throw InputError("plug-in " + policy.origin + ": " + what);
}

/// `key` and one declared before it have one name and mean different things.
[[noreturn]] void wrong_twice(const Section& section, const Declared& key, const Declared& before) {
  const bool later = !origin_of(section, key).empty() || origin_of(section, before).empty();
  const Declared& at_fault = later ? key : before;
  const Declared& other = later ? before : key;
  wrong(section, at_fault,
        "is a " +
            (other.policy == nullptr ? "key of " + section.path()
                                     : "parameter of " + declarer_of(section, other)) +
            " too, with another meaning");
}

/// Two keys that can be active together must not share a name unless they mean the same.
void check_names(const Section& section) {
  std::vector<Declared> seen;
  const auto add = [&](const Declared& key, std::size_t same_family_from) {
    check_parameter(section, key);
    const KeyGroup& group = key.group;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Declared& other = seen[i];
      if (other.spec.name == key.spec.name && &other.group == &group && other.policy == key.policy)
        wrong(section, key, "is declared twice");
      if (other.spec.name != key.spec.name || (i >= same_family_from && &other.group == &group)) continue;
      const bool together =
          group.only_with.empty() || other.group.only_with.empty() ||
          std::any_of(group.only_with.begin(), group.only_with.end(),
                      [&theirs = other.group](const std::string& v) { return theirs.goes_with(v); });
      if (together && !same_meaning(other.spec, key.spec)) wrong_twice(section, key, other);
    }
    seen.push_back(key);
  };
  constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  for (const KeyGroup& group : section.groups()) {
    for (const ParameterSpec& spec : group.parameters) add({group, spec, nullptr}, k_none);
    const std::size_t from = seen.size();  // policies of one family never apply together
    for (const PolicyInfo& policy : group.policies) {
      check_policy_name(section, group, policy);
      for (const ParameterSpec& spec : policy.parameters) add({group, spec, &policy}, from);
    }
  }
}

void check_section(const Section& section) {
  check_names(section);
  for (const Variant& variant : section.variants()) {
    if (variant.key.empty()) continue;
    const auto all = section.all_parameters();
    if (std::none_of(all.begin(), all.end(),
                     [&](const ParameterSpec* spec) { return spec->name == variant.key; })) {
      wrong(section, "the variant's key '" + variant.key + "' is not a parameter");
    }
  }
  for (const KeyGroup& group : section.groups()) {
    for (const std::string& name : group.only_with) {
      if (std::none_of(section.variants().begin(), section.variants().end(),
                       [&](const Variant& variant) { return variant.key == name; })) {
        wrong(section, "keys of an unknown variant '" + name + "'");
      }
    }
    if (!group.is_family() || group.parameters.front().required) continue;
    const std::string& fallback = std::get<std::string>(group.parameters.front().fallback);
    if (group.policy(fallback) == nullptr)
      wrong(section, "the default policy '" + fallback + "' does not exist");
  }
  for (const auto& child : section.children()) check_section(*child);
}

}  // namespace

std::string join_path(std::string_view path, std::string_view key) {
  std::string result(path);
  if (!result.empty()) result += '.';
  return result.append(key);
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> words;
  if (path.empty()) return words;
  for (std::size_t begin = 0;;) {
    const std::size_t dot = path.find('.', begin);
    words.emplace_back(path.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return words;
    begin = dot + 1;
  }
}

bool is_position(std::string_view word) {
  return !word.empty() && word.size() <= 6 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool KeyGroup::goes_with(std::string_view variant) const {
  return only_with.empty() || std::find(only_with.begin(), only_with.end(), variant) != only_with.end();
}

const PolicyInfo* KeyGroup::policy(std::string_view name) const {
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const PolicyInfo& info) { return info.name == name; });
  return found == policies.end() ? nullptr : &*found;
}

std::string described(const std::string& text, const std::string& origin) {
  return text + (origin.empty() ? "" : " [plug-in " + origin + "]");
}

std::string described(const PolicyInfo& policy) {
  return described(policy.summary, policy.origin);
}

Section& Section::keys(std::vector<ParameterSpec> parameters, std::vector<std::string> only_with) {
  KeyGroup group;
  group.parameters = std::move(parameters);
  group.only_with = std::move(only_with);
  groups_.push_back(std::move(group));
  return *this;
}

Section& Section::policy(const std::string& key, std::vector<PolicyInfo> policies,
                         const std::string& default_policy, std::string doc,
                         std::vector<std::string> only_with) {
  if (policies.empty()) wrong(*this, "the policy family '" + key + "' is empty");
  // A configuration struct may hold the policy's name too; the family's own declaration says more.
  for (KeyGroup& group : groups_) {
    if (group.only_with == only_with)
      std::erase_if(group.parameters, [&](const ParameterSpec& known) { return known.name == key; });
  }
  ParameterSpec spec;
  spec.name = key;
  spec.kind = Kind::choice;
  spec.required = default_policy.empty();
  spec.fallback = default_policy;
  spec.doc = std::move(doc);
  for (const PolicyInfo& info : policies) spec.choices.push_back(info.name);
  KeyGroup group;
  group.parameters.push_back(std::move(spec));
  group.policies = std::move(policies);
  group.only_with = std::move(only_with);
  groups_.push_back(std::move(group));
  return *this;
}

Section& Section::closed() {
  groups_.back().closed = true;
  return *this;
}

Section& Section::variant(std::string key, std::string doc) {
  variants_.push_back({std::move(key), std::move(doc)});
  return *this;
}
Section& Section::list(std::size_t at_least) {
  list_ = true;
  minimum_count_ = at_least;
  return *this;
}
Section& Section::from_file() {
  from_file_ = true;
  return *this;
}
Section& Section::optional() {
  optional_ = true;
  return *this;
}
Section& Section::required() {
  required_ = true;
  return *this;
}
Section& Section::only_of(std::string owner, std::string policy, std::vector<std::string> always) {
  owner_ = std::move(owner);
  owner_policy_ = std::move(policy);
  always_ = std::move(always);
  return *this;
}
Section& Section::of_plugin(std::string origin) {
  origin_ = std::move(origin);
  return *this;
}

std::string Section::name() const {
  return path_.substr(path_.rfind('.') + 1);
}

const Section* Section::child(std::string_view name) const {
  for (const auto& section : children_) {
    if (section->name() == name) return section.get();
  }
  return nullptr;
}

bool Section::counts_with(std::string_view policy, std::string_view key) const {
  return owner_.empty() || owner_policy_ == policy ||
         std::find(always_.begin(), always_.end(), key) != always_.end();
}

bool Section::needs_keys() const {
  const auto required = [](const ParameterSpec& spec) { return spec.required; };
  const auto keys = [&](const KeyGroup& group) {
    if (!group.goes_with("")) return false;
    if (std::any_of(group.parameters.begin(), group.parameters.end(), required)) return true;
    if (!group.is_family()) return false;
    const PolicyInfo* policy = group.policy(std::get<std::string>(group.parameters.front().fallback));
    return policy != nullptr && std::any_of(policy->parameters.begin(), policy->parameters.end(), required);
  };
  const bool has_shape = variants_.empty() || std::any_of(variants_.begin(), variants_.end(),
                                                          [](const Variant& v) { return v.key.empty(); });
  return required_ || minimum_count_ > 0 || !has_shape || std::any_of(groups_.begin(), groups_.end(), keys) ||
         std::any_of(children_.begin(), children_.end(), [](const auto& child) {
           return child->is_required() || child->minimum_count() > 0 ||
                  (!child->is_optional() && !child->is_list() && child->needs_keys());
         });
}

std::vector<const ParameterSpec*> Section::all_parameters() const {
  std::vector<const ParameterSpec*> result;
  const auto add = [&](const ParameterSpec& spec) {
    if (std::none_of(result.begin(), result.end(),
                     [&](const ParameterSpec* known) { return known->name == spec.name; })) {
      result.push_back(&spec);
    }
  };
  for (const KeyGroup& group : groups_) {
    for (const ParameterSpec& spec : group.parameters) add(spec);
    for (const PolicyInfo& policy : group.policies) {
      for (const ParameterSpec& spec : policy.parameters) add(spec);
    }
  }
  return result;
}

bool Section::is_variant_key(std::string_view key) const {
  return !key.empty() && std::any_of(variants_.begin(), variants_.end(),
                                     [&](const Variant& variant) { return variant.key == key; });
}

Catalogue::Catalogue() : root_(std::make_unique<Section>("", "scenario")) {
  ParameterSpec title;
  title.name = "title";
  title.kind = Kind::text;
  title.fallback = std::string();
  title.doc = "what the scenario is, in a few words; empty: it has no title";
  ParameterSpec seed;
  seed.name = "seed";
  seed.kind = Kind::integer;
  seed.fallback = std::int64_t{1};
  seed.minimum = 0;
  seed.maximum = static_cast<double>(std::numeric_limits<std::int64_t>::max());
  seed.doc = "of every random stream; the same scenario and seed give the same results to the byte";
  ParameterSpec plugins;
  plugins.name = "plugins";
  plugins.kind = Kind::text;
  plugins.list = true;
  plugins.optional = true;
  plugins.fallback = std::vector<std::string>();
  plugins.doc = "shared libraries with models and policies of one's own, loaded before the rest is read";
  root_->keys({std::move(title), std::move(seed), std::move(plugins)});
}

Section& Catalogue::section(std::string_view path, std::string doc, std::vector<ParameterSpec> parameters) {
  Section* at = root_.get();
  for (const std::string& word : split_path(path)) {
    Section* next = nullptr;
    for (const auto& child : at->children_) {
      if (child->name() == word) next = child.get();
    }
    if (next == nullptr) {
      at->children_.push_back(std::make_unique<Section>(join_path(at->path_, word), std::string()));
      next = at->children_.back().get();
    }
    at = next;
  }
  if (at->doc_.empty()) at->doc_ = std::move(doc);
  if (!parameters.empty()) at->keys(std::move(parameters));
  return *at;
}

Section& Catalogue::section_of(const std::string& origin, const std::string& path, std::string doc,
                               std::vector<ParameterSpec> parameters) {
  if (!origin.empty() && find(path) != nullptr)
    throw InputError("plug-in " + origin + ": there is a section " + path + " already");
  return section(path, described(doc, origin), std::move(parameters)).of_plugin(origin);
}

const Section* Catalogue::find(std::string_view path) const {
  const Section* at = root_.get();
  for (const std::string& word : split_path(path)) {
    if (at->is_list() && is_position(word)) continue;
    at = at->child(word);
    if (at == nullptr) return nullptr;
  }
  return at;
}

void Catalogue::check() const {
  check_section(*root_);
}

std::vector<std::string> Catalogue::about(std::string_view word) const {
  std::vector<std::string> paths;
  for (const Topic& topic : topics_) {
    if (std::any_of(topic.words.begin(), topic.words.end(),
                    [&](const std::string& one) { return folded(one) == folded(word); }))
      paths.insert(paths.end(), topic.paths.begin(), topic.paths.end());
  }
  return paths;
}

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    if (c == '-' || c == '_') return ' ';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

}  // namespace tlmssd
