// Checks a tree of nodes against the catalogue and fills the scenario.
#include <algorithm>
#include <set>

#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "platform/scenario/advice.h"
#include "platform/scenario/overlay.h"
#include "platform/scenario/renamed.h"

namespace tlmssd {
namespace {

/// "ssd.flash", or what the top level is called in messages.
std::string where(const std::string& path) {
  return path.empty() ? "at the top level" : "in " + path;
}
std::string subject(const std::string& path) {
  return path.empty() ? "the scenario" : path;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(in_quotes(name));
  return any_of(shown);
}

std::string section_help(const std::string& path, const Node& node) {
  std::string message = subject(path) + " must be a section (key: value ...), not ";
  return message + (node.type == Node::Type::sequence ? "a list" : in_quotes(node.text));
}

/// Which keys of a section apply, given its nodes: the active variant and policies.
struct Active {
  std::string variant;
  bool variant_set = false;                 ///< by --set
  std::vector<const ParameterSpec*> specs;  ///< in order of declaration
  struct Choice {
    const KeyGroup* family;
    const PolicyInfo* policy;
    bool set;  ///< by --set
  };
  std::vector<Choice> policies;  ///< of each family that applies

  [[nodiscard]] bool has(std::string_view name) const {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const ParameterSpec* spec) { return spec->name == name; });
  }
  void add(const ParameterSpec& spec) {
    if (!has(spec.name)) specs.push_back(&spec);
  }
};

/// Finds a key that is not known here anywhere else in the catalogue.
const Section* owner_of(const Section& section, std::string_view key) {
  for (const ParameterSpec* spec : section.all_parameters()) {
    if (spec->name == key) return &section;
  }
  for (const auto& child : section.children()) {
    if (child->name() == key) return &section;
    if (const Section* owner = owner_of(*child, key)) return owner;
  }
  return nullptr;
}

}  // namespace

class ScenarioReader {
 public:
  ScenarioReader(const Catalogue& catalogue, const ReadOptions& options, const std::string& file)
      : catalogue_(catalogue), parts_(options, file), file_(std::make_shared<const std::string>(file)) {
    scenario_.catalogue_ = &catalogue;
    scenario_.file_ = file_;
  }

  Scenario read(std::string_view text, const std::vector<std::string>& overrides) {
    Node root = parse_document(text, file_);
    if (root.type == Node::Type::null)
      throw InputError(*file_, 1, "is empty; a scenario begins with title: ...");
    if (root.type != Node::Type::map) throw root.origin.error(section_help("", root));
    for (const std::string& setting : overrides)
      errors_.attempt([&] { apply_setting(root, catalogue_, setting); });
    errors_.attempt([&] { read_map(catalogue_.root(), "", &root, root.origin); });
    sort_by_place(errors_.errors(), *file_);
    errors_.throw_if_any();
    return std::move(scenario_);
  }

 private:
  // ---- what is wrong, all of it

  /// Not when an unknown key is probably meant to be it.
  void add_missing(const Origin& place, const std::string& path, const std::string& doc) {
    if (!meant_.contains(path)) errors_.add(place.error(path + " is missing" + explained(doc)));
  }

  // ---- sections

  /// `node` null: the section is absent.
  void read_section(const Section& section, const std::string& path, const Node* node, const Origin& parent) {
    const bool absent = node == nullptr || (node->type == Node::Type::null && section.is_list());
    if (absent && section.is_required()) return add_missing(parent, path, section.doc());
    if (absent && section.is_optional()) {
      if (section.is_list()) scenario_.counts_[path] = 0;
      return;
    }
    if (section.is_list()) {
      read_list(section, path, node, parent);
    } else {
      read_expanded(section, path, node, parent);
    }
  }

  void read_expanded(const Section& section, const std::string& path, const Node* node,
                     const Origin& parent) {
    if (node == nullptr || !section.is_from_file()) {
      read_map(section, path, node, parent);
      return;
    }
    const Node whole = parts_.expanded(*node, path);
    read_map(section, path, &whole, parent);
  }

  void read_list(const Section& section, const std::string& path, const Node* node, const Origin& parent) {
    std::size_t count = 0;
    if (node != nullptr && node->type == Node::Type::sequence) {
      for (const Node::Child& child : node->children) {
        if (child.value.type == Node::Type::null)
          throw node->origin.error(path + " has an empty entry: " + join_path(path, std::to_string(count)));
        const std::string entry = join_path(path, std::to_string(count++));
        errors_.attempt([&] { read_expanded(section, entry, &child.value, node->origin); });
      }
    } else if (node != nullptr && node->type == Node::Type::map) {
      read_expanded(section, join_path(path, std::to_string(count++)), node, parent);
    } else if (node != nullptr && node->type != Node::Type::null) {
      throw node->origin.error(path + " must be a list of sections (- key: value ...), not " +
                               in_quotes(node->text));
    }
    if (count < section.minimum_count() && !meant_.contains(path)) {
      const Origin& place = node == nullptr ? parent : node->origin;
      throw place.error(path + " needs at least " + std::to_string(section.minimum_count()) +
                        (section.minimum_count() == 1 ? " entry" : " entries") + explained(section.doc()));
    }
    scenario_.counts_[path] = count;
  }

  void read_map(const Section& section, const std::string& path, const Node* node, const Origin& parent) {
    static const Node k_nothing;
    const Node& map = node == nullptr ? k_nothing : *node;
    if (map.type != Node::Type::map && map.type != Node::Type::null)
      throw map.origin.error(section_help(path, map));
    const Origin& place = node == nullptr ? parent : map.origin;
    errors_.attempt([&] { read_keys(section, path, node, map, place); });
    for (const auto& child : section.children()) {
      const Node::Child* given = map.find(child->name());
      errors_.attempt([&] {
        read_section(*child, join_path(path, child->name()), given == nullptr ? nullptr : &given->value,
                     place);
      });
    }
  }

  void read_keys(const Section& section, const std::string& path, const Node* node, const Node& map,
                 const Origin& place) {
    const Active active = find_active(section, path, map, place);
    auto values = std::make_unique<SectionValues>();
    values->path = path;
    values->section = &section;
    values->variant = active.variant;
    if (node != nullptr) values->origin = map.origin;
    for (const ParameterSpec* spec : active.specs)
      values->settings.push_back({spec, std::nullopt, {}, false});
    for (const Node::Child& child : map.children) {
      if (section.child(child.key) != nullptr) continue;
      errors_.attempt([&] { read_key(*values, active, child); });
    }
    check_required(*values, place);
    scenario_.positions_.emplace(path, scenario_.sections_.size());
    scenario_.sections_.push_back(std::move(values));
  }

  // ---- keys

  Active find_active(const Section& section, const std::string& path, const Node& map,
                     const Origin& place) const {
    Active active;
    active.variant = find_variant(section, path, map, place);
    const Node::Child* chosen = active.variant.empty() ? nullptr : map.find(active.variant);
    active.variant_set = chosen != nullptr && chosen->value.origin.set;
    for (const KeyGroup& group : section.groups()) {
      if (!group.goes_with(active.variant)) continue;
      for (const ParameterSpec& spec : group.parameters) {
        if (!section.is_variant_key(spec.name) || spec.name == active.variant) active.add(spec);
      }
      if (!group.is_family()) continue;
      const PolicyInfo* policy = find_policy(group, path, map, place);
      const Node::Child* given = map.find(group.parameters.front().name);
      active.policies.push_back({&group, policy, given != nullptr && given->value.origin.set});
      for (const ParameterSpec& spec : policy->parameters) active.add(spec);
    }
    return active;
  }

  static std::string find_variant(const Section& section, const std::string& path, const Node& map,
                                  const Origin& place) {
    if (section.variants().empty()) return {};
    const Node::Child* chosen = nullptr;
    std::vector<std::string> keys;
    bool may_be_none = false;
    for (const Variant& variant : section.variants()) {
      may_be_none = may_be_none || variant.key.empty();
      if (variant.key.empty()) continue;
      keys.push_back(in_quotes(variant.key));
      const Node::Child* given = map.find(variant.key);
      if (given == nullptr) continue;
      if (chosen != nullptr && chosen->value.origin.set != given->value.origin.set) {
        if (given->value.origin.set) chosen = given;  // --set replaces the file's choice
        continue;
      }
      if (chosen != nullptr) {
        const Node::Child* later =
            given->origin.set || given->origin.line > chosen->origin.line ? given : chosen;
        throw later->origin.error(path + " has both " + in_quotes(chosen->key) + " and " +
                                  in_quotes(given->key) + "; give one");
      }
      chosen = given;
    }
    if (chosen == nullptr && !may_be_none) throw place.error(path + " needs " + any_of(keys));
    return chosen == nullptr ? std::string() : chosen->key;
  }

  static const PolicyInfo* find_policy(const KeyGroup& group, const std::string& path, const Node& map,
                                       const Origin& place) {
    const ParameterSpec& key = group.parameters.front();
    const Node::Child* given = map.find(key.name);
    if (given == nullptr) {
      if (key.required) throw place.error(missing(path, key));
      return group.policy(std::get<std::string>(key.fallback));
    }
    const std::string name = join_path(path, key.name);
    const Node& node = given->value;
    if (node.type != Node::Type::scalar) throw node.origin.error(wrong_type(name, key, node));
    if (const PolicyInfo* policy = group.policy(node.text)) return policy;
    if (const auto now = renamed(name, node.text); !now.empty())
      throw node.origin.error(name + ": " + in_quotes(node.text) + " is called " + in_quotes(now) + " now");
    std::string hint = did_you_mean(node.text, key.choices);
    if (hint.empty()) {
      hint = "; there is " + any_of(key.choices, 40);
      if (!group.closed) hint += "; one of your own needs its plug-in (plugins:, --plugin or TLMSSD_PLUGINS)";
    }
    throw node.origin.error(name + ": " + in_quotes(node.text) + " is not known" + hint);
  }

  void read_key(SectionValues& values, const Active& active, const Node::Child& child) {
    const auto setting =
        std::find_if(values.settings.begin(), values.settings.end(),
                     [&](const SectionValues::Setting& s) { return s.spec->name == child.key; });
    if (setting == values.settings.end()) {
      refuse_unless_replaced(values, active, child);
      return;
    }
    const std::string name = join_path(values.path, child.key);
    try {
      if (const auto now = renamed(name, child.value.text); !now.empty())
        throw InputError(in_quotes(child.value.text) + " is called " + in_quotes(now) + " now");
      if (setting->spec->lines_of_file && child.value.type == Node::Type::scalar) {
        parse_value(*setting->spec, child.value.text);  // is it filled?
        PartFiles::Lines read = parts_.lines(child.value.text, child.value.origin);
        setting->given = Value(std::move(read.lines));
        setting->lines_of = std::move(read.file);
      } else {
        setting->given = read_value(*setting->spec, child.value);
      }
    } catch (const InputError& problem) {
      wrong_.insert(name);
      Complaint complaint = problem.complaint();
      complaint.file = *child.value.origin.file;
      complaint.line = child.value.origin.line;
      complaint.key = name;
      throw InputError(complaint);
    }
    setting->origin = child.value.origin;
  }

  Value read_value(const ParameterSpec& spec, const Node& node) const {
    if (!spec.list) {
      if (node.type == Node::Type::scalar) return parse_value(spec, node.text);
      // A text may be empty; anything else that is empty was forgotten.
      if (node.type == Node::Type::null && spec.kind == Kind::text && node.origin.set)
        return parse_value(spec, "");
      throw InputError(type_problem(spec, node));
    }
    if (node.type != Node::Type::sequence) throw InputError(type_problem(spec, node));
    if (spec.filled && node.children.empty())
      throw InputError("is an empty list; give it entries, or leave the key out");
    std::vector<Value> elements;
    for (const Node::Child& child : node.children) {
      if (child.value.type != Node::Type::scalar)
        throw InputError("an entry of the list is not a single value");
      elements.push_back(parse_value(spec, child.value.text));
    }
    return make_list(spec, elements);
  }

  /// "write a list: [a, b]", which the parameter accepts; of long ones, what is expected.
  static std::string list_instead(const ParameterSpec& spec, std::string_view text) {
    constexpr std::size_t k_most_shown = 40;
    std::string list;
    bool whole = true;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string element = acceptable(spec, text.substr(begin, end - begin));
      whole = whole && !element.empty();
      list += (begin == 0 ? "" : ", ") + element;
      begin = end + 1;
    }
    if (!whole || list.size() > k_most_shown) return "expected: " + kind_text(spec);
    return "write a list: [" + list + "]";
  }
  static std::string type_problem(const ParameterSpec& spec, const Node& node) {
    switch (node.type) {
      case Node::Type::null:
        return "has no value; expected: " + kind_text(spec);
      case Node::Type::scalar:
        return in_quotes(node.text) + " is a single value; " + list_instead(spec, node.text);
      case Node::Type::sequence:
        return "is a list; expected one value: " + kind_text(spec);
      case Node::Type::map:
        break;
    }
    return "is a section; expected " + std::string(spec.list ? "" : "one value: ") + kind_text(spec);
  }
  static std::string wrong_type(const std::string& name, const ParameterSpec& spec, const Node& node) {
    return name + ": " + type_problem(spec, node);
  }

  // ---- what is wrong with a key

  /// A parameter of a policy or variant that --set has replaced is put aside; every other unknown
  /// key is refused.
  void refuse_unless_replaced(const SectionValues& values, const Active& active, const Node::Child& child) {
    const Section& section = *values.section;
    for (const Active::Choice& choice : active.policies) {
      std::vector<std::string> owners;
      for (const PolicyInfo& info : choice.family->policies) {
        const auto& specs = info.parameters;
        if (std::any_of(specs.begin(), specs.end(),
                        [&](const ParameterSpec& s) { return s.name == child.key; })) {
          owners.push_back(info.name);
        }
      }
      if (owners.empty()) continue;
      if (choice.set && !child.origin.set) {
        scenario_.replaced_.push_back(
            {join_path(values.path, child.key), *child.origin.file, child.origin.line});
        return;
      }
      const std::string& key = choice.family->parameters.front().name;
      throw child.origin.error("key " + in_quotes(child.key) + " " + where(values.path) + " belongs to " +
                               key + " " + quoted_list(owners) + ", but " + key + " is " +
                               in_quotes(choice.policy->name));
    }
    for (const KeyGroup& group : section.groups()) {
      for (const ParameterSpec* spec : parameters_of(group)) {
        if (spec->name != child.key) continue;
        if (active.variant_set && !child.origin.set) {
          put_aside(values, child);
          return;
        }
        if (!group.goes_with(active.variant)) refuse_variant(values, child);
      }
    }
    throw child.origin.error(unknown_key(values, active, child.key));
  }

  void put_aside(const SectionValues& values, const Node::Child& child) {
    scenario_.replaced_.push_back({join_path(values.path, child.key), *child.origin.file, child.origin.line});
  }

  static std::vector<const ParameterSpec*> parameters_of(const KeyGroup& group) {
    std::vector<const ParameterSpec*> result;
    for (const ParameterSpec& spec : group.parameters) result.push_back(&spec);
    for (const PolicyInfo& info : group.policies) {
      for (const ParameterSpec& spec : info.parameters) result.push_back(&spec);
    }
    return result;
  }

  [[noreturn]] static void refuse_variant(const SectionValues& values, const Node::Child& child) {
    std::vector<std::string> keys;  // of the variants that have it
    for (const KeyGroup& group : values.section->groups()) {
      const std::vector<const ParameterSpec*> specs = parameters_of(group);
      if (std::none_of(specs.begin(), specs.end(),
                       [&](const ParameterSpec* spec) { return spec->name == child.key; }))
        continue;
      for (const std::string& name : group.only_with) {
        if (!name.empty() && std::find(keys.begin(), keys.end(), name) == keys.end()) keys.push_back(name);
      }
    }
    const std::string message = "key " + in_quotes(child.key) + " " + where(values.path);
    if (!values.variant.empty())
      throw child.origin.error(message + " does not go with " + in_quotes(values.variant));
    throw child.origin.error(message + " goes only with " + quoted_list(keys));
  }

  /// Which of the `known` keys of the section is what others call `key`; empty: none.
  [[nodiscard]] std::string called_otherwise(const SectionValues& values, const std::string& key,
                                             const std::vector<std::string>& known) const {
    const std::vector<std::string> paths = catalogue_.about(key);
    const auto here = std::find_if(known.begin(), known.end(), [&](const std::string& one) {
      const std::string path = join_path(values.section->path(), one);
      return std::find(paths.begin(), paths.end(), path) != paths.end();
    });
    return here == known.end() ? std::string() : *here;
  }

  std::string unknown_key(const SectionValues& values, const Active& active, const std::string& key) {
    std::vector<std::string> known;
    for (const ParameterSpec* spec : active.specs) known.push_back(spec->name);
    for (const auto& child : values.section->children()) known.push_back(child->name());
    for (const Variant& variant : values.section->variants()) {
      if (!variant.key.empty() && variant.key != active.variant) known.push_back(variant.key);
    }
    const std::string message = "key " + in_quotes(key) + " is not known " + where(values.path);
    if (const auto now = renamed(values.path, key); !now.empty()) {
      meant_.insert(join_path(values.path, std::string(now)));
      return message + ": it is called " + in_quotes(now) + " now";
    }
    const std::string near = nearest(key, known);
    if (!near.empty()) {
      meant_.insert(join_path(values.path, near));
      return message + did_you_mean(key, known);
    }
    if (const std::string meant = called_otherwise(values, key, known); !meant.empty()) {
      meant_.insert(join_path(values.path, meant));
      return message + "; did you mean " + in_quotes(meant) + "?";
    }
    if (const Section* owner = owner_of(catalogue_.root(), key)) {
      return message + "; it belongs " + where(owner->path());
    }
    return known.empty() ? message : message + "; there is " + any_of(known);
  }

  static std::string explained(const std::string& doc) { return doc.empty() ? doc : " (" + doc + ")"; }
  static std::string missing(const std::string& path, const ParameterSpec& spec) {
    return join_path(path, spec.name) + " is missing" + explained(spec.doc);
  }
  void check_required(const SectionValues& values, const Origin& place) {
    for (const SectionValues::Setting& setting : values.settings) {
      const ParameterSpec& spec = *setting.spec;
      if (spec.required && !setting.given && !wrong_.contains(join_path(values.path, spec.name)))
        add_missing(place, join_path(values.path, spec.name), spec.doc);
    }
  }

  const Catalogue& catalogue_;
  PartFiles parts_;
  std::shared_ptr<const std::string> file_;
  Scenario scenario_;
  ErrorList errors_;
  std::set<std::string> meant_;  ///< paths that unknown keys are probably meant to be
  std::set<std::string> wrong_;  ///< paths of parameters that are given, but wrong
};

Scenario parse_scenario(std::string_view text, const std::string& name, const Catalogue& catalogue,
                        const std::vector<std::string>& overrides, const ReadOptions& options) {
  return ScenarioReader(catalogue, options, name).read(text, overrides);
}

Scenario read_scenario(const std::string& path, const Catalogue& catalogue,
                       const std::vector<std::string>& overrides, const ReadOptions& options) {
  const auto text = options.open ? options.open(path) : read_text_file(path);
  if (!text) throw InputError(path, 0, "no such file");
  return parse_scenario(*text, path, catalogue, overrides, options);
}

}  // namespace tlmssd
