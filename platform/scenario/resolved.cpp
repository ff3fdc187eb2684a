// The resolved scenario: everything in use, defaults filled in, as YAML with an explanation beside
// each key, and as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "platform/scenario/scenario.h"
#include "platform/scenario/yaml_text.h"

namespace tlmssd {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string yaml_scalar(const ParameterSpec& spec, const std::string& text) {
  return spec.kind == Kind::text || spec.kind == Kind::choice ? yaml_text(text) : text;
}

std::string yaml_value(const ParameterSpec& spec, const Value& value) {
  const std::vector<std::string> elements = format_elements(spec.kind, value);
  if (!spec.list) return yaml_scalar(spec, elements.front());
  std::string result = "[";
  for (const std::string& element : elements) {
    if (result.size() > 1) result += ", ";
    result += yaml_scalar(spec, element);
  }
  return result + "]";
}

nlohmann::ordered_json json_scalar(const ParameterSpec& spec, const Value& value) {
  if (spec.kind == Kind::flag) return std::get<bool>(value);
  if (spec.kind == Kind::integer) return std::get<std::int64_t>(value);
  if (spec.kind == Kind::real) return std::get<double>(value);
  return format_value(spec.kind, value);
}

nlohmann::ordered_json json_value(const ParameterSpec& spec, const Value& value) {
  if (!spec.list) return json_scalar(spec, value);
  auto result = nlohmann::ordered_json::array();
  std::visit(
      [&]<class T>(const T& held) {
        if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
          for (const auto& element : held) result.push_back(json_scalar(spec, Value(element)));
        }
      },
      value);
  return result;
}

std::string comment(const std::string& text) {
  return text.empty() ? text : "  # " + one_line(text);
}

std::string explanation(const ParameterSpec& spec, const SectionValues& values) {
  std::string text = spec.doc;
  for (const KeyGroup& group : values.section->groups()) {
    if (!group.is_family() || group.parameters.front().name != spec.name) continue;
    const SectionValues::Setting* setting = values.setting(spec.name);
    const PolicyInfo* policy = group.policy(std::get<std::string>(*setting->effective()));
    if (policy != nullptr) text += (text.empty() ? "" : "; ") + described(*policy);
    return text;
  }
  const std::string range = spec.kind == Kind::choice ? any_of(spec.choices, 40) : range_text(spec);
  if (!range.empty()) text += (text.empty() ? "" : "; ") + range;
  return text;
}

}  // namespace

/// Walks the sections in use in the order of the catalogue.
class ScenarioWriter {
 public:
  explicit ScenarioWriter(const Scenario& scenario) : scenario_(scenario) {}

  [[nodiscard]] std::string yaml() const {
    std::string text;
    for (const std::string& line : yaml_lines(scenario_.catalogue_->root(), "")) text += line + "\n";
    return text;
  }
  [[nodiscard]] std::string json() const { return json_of(scenario_.catalogue_->root(), "").dump(2) + "\n"; }

 private:
  using Lines = std::vector<std::string>;

  /// The lines of one section's map, not indented; none when nothing is in it.
  [[nodiscard]] Lines yaml_lines(const Section& section, const std::string& path) const {
    Lines lines;
    Lines absent;
    const SectionValues& values = *scenario_.find(path);
    for (const SectionValues::Setting& setting : values.settings) {
      const ParameterSpec& spec = *setting.spec;
      if (!scenario_.counts(values, spec.name)) continue;
      const std::string text = comment(explanation(spec, values));
      if (const Value* value = setting.effective()) {
        lines.push_back(spec.name + ": " + yaml_value(spec, *value) + text);
      } else {
        absent.push_back("# " + spec.name + ": not set" + text);
      }
    }
    for (const auto& child : section.children()) append_child(lines, *child, join_path(path, child->name()));
    if (!lines.empty()) lines.insert(lines.end(), absent.begin(), absent.end());
    return lines;
  }

  /// Not when none of its keys counts; sections without keys are.
  [[nodiscard]] bool is_written(const std::string& path) const {
    const SectionValues& values = *scenario_.find(path);
    const auto counts = [&](const SectionValues::Setting& setting) {
      return scenario_.counts(values, setting.spec->name);
    };
    return values.settings.empty() || std::any_of(values.settings.begin(), values.settings.end(), counts);
  }

  void append_child(Lines& lines, const Section& child, const std::string& path) const {
    const std::string doc = comment(child.doc());
    if (child.is_list()) {
      append_list(lines, child, path, doc);
      return;
    }
    if (scenario_.find(path) == nullptr) return;
    const Lines inner = yaml_lines(child, path);
    if (inner.empty() && !is_written(path)) return;
    if (inner.empty()) {
      lines.push_back(child.name() + ": {}" + doc);
      return;
    }
    lines.push_back(child.name() + ":" + doc);
    for (const std::string& line : inner) lines.push_back("  " + line);
  }

  void append_list(Lines& lines, const Section& child, const std::string& path,
                   const std::string& doc) const {
    const std::size_t count = scenario_.count(path);
    if (count == 0) {
      if (!child.is_optional()) lines.push_back(child.name() + ": []" + doc);
      return;
    }
    lines.push_back(child.name() + ":" + doc);
    for (std::size_t i = 0; i < count; ++i) {
      const Lines inner = yaml_lines(child, join_path(path, std::to_string(i)));
      if (inner.empty()) lines.push_back("  - {}");
      for (std::size_t j = 0; j < inner.size(); ++j) lines.push_back((j == 0 ? "  - " : "    ") + inner[j]);
    }
  }

  [[nodiscard]] nlohmann::ordered_json json_of(const Section& section, const std::string& path) const {
    auto result = nlohmann::ordered_json::object();
    const SectionValues& values = *scenario_.find(path);
    for (const SectionValues::Setting& setting : values.settings) {
      const Value* value = setting.effective();
      if (value != nullptr && scenario_.counts(values, setting.spec->name))
        result[setting.spec->name] = json_value(*setting.spec, *value);
    }
    for (const auto& child : section.children()) {
      const std::string inner = join_path(path, child->name());
      if (child->is_list()) {
        const std::size_t count = scenario_.count(inner);
        if (count == 0 && child->is_optional()) continue;
        auto& list = result[child->name()] = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < count; ++i)
          list.push_back(json_of(*child, join_path(inner, std::to_string(i))));
      } else if (scenario_.find(inner) != nullptr && is_written(inner)) {
        result[child->name()] = json_of(*child, inner);
      }
    }
    return result;
  }

  const Scenario& scenario_;
};

std::string Scenario::resolved_yaml() const {
  return ScenarioWriter(*this).yaml();
}
std::string Scenario::resolved_json() const {
  return ScenarioWriter(*this).json();
}

}  // namespace tlmssd
