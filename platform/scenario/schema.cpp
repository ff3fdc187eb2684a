// JSON Schema of scenarios, draft 7.
//
// Completion in editors works best when all keys of a map stand in one `properties`; which of them
// go together (policies, variants) is then said by if/then. Whatever a schema cannot say (files
// named in a scenario) is left to the reader.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/quantity.h"
#include "platform/scenario/reference.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

Json limits(const ParameterSpec& spec, Json schema) {
  constexpr double k_unlimited = 9e15;  // beyond it JSON numbers are not exact anyway
  if (spec.minimum == 0 && spec.maximum == 0) return schema;
  if (spec.kind == Kind::real) {
    schema["minimum"] = spec.minimum;
    schema["maximum"] = spec.maximum;
    return schema;
  }
  if (spec.minimum > -k_unlimited) schema["minimum"] = static_cast<std::int64_t>(spec.minimum);
  if (spec.maximum < k_unlimited) schema["maximum"] = static_cast<std::int64_t>(spec.maximum);
  return schema;
}

/// Type of one value (of a list: of an element).
Json scalar_schema(const ParameterSpec& spec) {
  switch (spec.kind) {
    case Kind::flag:
      if (spec.one_or_zero) return limits(spec, {{"type", {"boolean", "integer"}}});
      return {{"type", "boolean"}};
    case Kind::integer:
      return limits(spec, {{"type", "integer"}});
    case Kind::real:
      return limits(spec, {{"type", "number"}});
    case Kind::text: {
      Json schema = {
          {"type", {"string", "number", "boolean"}}};  // a YAML editor takes a text of digits for a number
      if (spec.filled) schema["minLength"] = 1;
      return schema;
    }
    case Kind::choice:
      return {{"type", "string"}, {"enum", spec.choices}};
    default:
      return {{"type", "string"}, {"pattern", quantity_pattern(spec.kind)}};
  }
}

std::string description(const ParameterSpec& spec) {
  std::string text = spec.doc;
  const bool unit = !quantity_pattern(spec.kind).empty();
  const std::string range = range_text(spec);
  if (unit) text += (text.empty() ? "" : "\n") + kind_text(spec);
  if (!range.empty()) text += (text.empty() ? "" : "\n") + std::string("range: ") + range;
  return text;
}

Json default_of(const ParameterSpec& spec) {
  const auto one = [&](const std::string& text) -> Json {
    if (spec.kind == Kind::flag || spec.kind == Kind::integer || spec.kind == Kind::real)
      return Json::parse(text);
    return text;
  };
  const std::vector<std::string> texts = format_elements(spec.kind, spec.fallback);
  if (!spec.list) return one(texts.front());
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(one(text));
  return list;
}

Json parameter_schema(const ParameterSpec& spec) {
  Json schema = scalar_schema(spec);
  if (spec.lines_of_file) {
    schema = Json{{"type", {"string", "array"}}, {"items", schema}};
  } else if (spec.list) {
    schema = Json{{"type", "array"}, {"items", schema}};
  }
  if (spec.list && spec.filled) schema["minItems"] = 1;
  const std::string text = description(spec);
  if (!text.empty()) schema["description"] = text;
  if (!spec.required && !spec.optional) schema["default"] = default_of(spec);
  return schema;
}

/// The selecting key of a policy family: one alternative per policy, so that an editor shows each
/// one's summary.
Json family_schema(const KeyGroup& group) {
  const ParameterSpec& key = group.parameters.front();
  Json schema = {{"description", key.doc}, {"oneOf", Json::array()}};
  for (const PolicyInfo& policy : group.policies) {
    schema["oneOf"].push_back({{"const", policy.name}, {"description", described(policy)}});
  }
  if (!key.required) schema["default"] = std::get<std::string>(key.fallback);
  return schema;
}

/// Adds a key; when another policy or variant has one of that name and another meaning, either is
/// taken.
void add_property(Json& properties, const std::string& name, Json schema) {
  if (!properties.contains(name)) {
    properties[name] = std::move(schema);
    return;
  }
  Json& known = properties[name];
  if (known == schema) return;
  if (known.contains("anyOf")) {
    auto& choices = known["anyOf"];
    if (std::find(choices.begin(), choices.end(), schema) == choices.end())
      choices.push_back(std::move(schema));
  } else {
    known = Json{{"anyOf", {known, std::move(schema)}}};
  }
}

bool contains(const std::vector<ParameterSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(),
                     [&](const ParameterSpec& spec) { return spec.name == name; });
}

/// if the key has this policy, then the parameters of the others must not be there.
void add_policy_rules(Json& rules, const Section& section, const KeyGroup& group) {
  const ParameterSpec& key = group.parameters.front();
  for (const PolicyInfo& policy : group.policies) {
    Json forbidden = Json::object();
    for (const PolicyInfo& other : group.policies) {
      for (const ParameterSpec& spec : other.parameters) {
        const bool elsewhere = std::any_of(
            section.groups().begin(), section.groups().end(),
            [&](const KeyGroup& g) { return &g != &group && (contains(g.parameters, spec.name)); });
        if (!contains(policy.parameters, spec.name) && !elsewhere) forbidden[spec.name] = false;
      }
    }
    Json needed = Json::array();
    for (const ParameterSpec& spec : policy.parameters) {
      if (spec.required && !section.is_from_file()) needed.push_back(spec.name);
    }
    if (forbidden.empty() && needed.empty()) continue;
    Json condition = {{"properties", {{key.name, {{"const", policy.name}}}}}};
    const bool by_default = !key.required && std::get<std::string>(key.fallback) == policy.name;
    if (!by_default) condition["required"] = {key.name};
    Json consequence = Json::object();
    if (!forbidden.empty()) consequence["properties"] = std::move(forbidden);
    if (!needed.empty()) consequence["required"] = std::move(needed);
    rules.push_back({{"if", std::move(condition)}, {"then", std::move(consequence)}});
  }
}

/// if a variant's key is there (or none is), then the keys of the other variants must not be there.
void add_variant_rules(Json& rules, const Section& section) {
  Json all_keys = Json::array();
  for (const Variant& variant : section.variants()) {
    if (!variant.key.empty()) all_keys.push_back({{"required", {variant.key}}});
  }
  for (const Variant& variant : section.variants()) {
    std::vector<std::string> allowed;
    std::vector<std::string> forbidden;
    Json needed = Json::array();
    for (const KeyGroup& group : section.groups()) {
      auto& names = group.goes_with(variant.key) ? allowed : forbidden;
      for (const ParameterSpec& spec : group.parameters) {
        names.push_back(spec.name);
        const bool applies = group.goes_with(variant.key) && !section.is_variant_key(spec.name);
        if (applies && spec.required && !section.is_from_file()) needed.push_back(spec.name);
      }
      for (const PolicyInfo& policy : group.policies) {
        for (const ParameterSpec& spec : policy.parameters) names.push_back(spec.name);
      }
    }
    Json rule = Json::object();
    for (const std::string& name : forbidden) {
      if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) rule["properties"][name] = false;
    }
    for (const Variant& other : section.variants()) {
      if (!other.key.empty() && other.key != variant.key && !variant.key.empty())
        rule["properties"][other.key] = false;
    }
    if (!needed.empty()) rule["required"] = needed;
    Json condition =
        variant.key.empty() ? Json{{"not", {{"anyOf", all_keys}}}} : Json{{"required", {variant.key}}};
    if (!rule.empty()) rules.push_back({{"if", std::move(condition)}, {"then", std::move(rule)}});
  }
  const bool may_be_none = std::any_of(section.variants().begin(), section.variants().end(),
                                       [](const Variant& variant) { return variant.key.empty(); });
  if (!may_be_none && !section.variants().empty()) rules.push_back({{"oneOf", std::move(all_keys)}});
}

/// Whether a section has to be written even when nothing in it differs from the defaults.
bool must_be_given(const Section& section) {
  if (section.is_optional()) return false;
  return section.is_required() || (section.is_list() && section.minimum_count() > 0);
}

Json section_schema(const Section& section);

Json map_schema(const Section& section) {
  Json properties = Json::object();
  Json rules = Json::array();
  Json needed = Json::array();
  for (const KeyGroup& group : section.groups()) {
    for (const ParameterSpec& spec : group.parameters) {
      add_property(properties, spec.name, group.is_family() ? family_schema(group) : parameter_schema(spec));
      const bool always = group.only_with.empty() && !section.is_variant_key(spec.name);
      if (spec.required && always && !section.is_from_file()) needed.push_back(spec.name);
    }
    for (const PolicyInfo& policy : group.policies) {
      for (const ParameterSpec& spec : policy.parameters) {
        Json schema = parameter_schema(spec);
        schema["description"] = "(" + policy.name + ") " + description(spec);
        add_property(properties, spec.name, std::move(schema));
      }
    }
    if (group.is_family()) add_policy_rules(rules, section, group);
  }
  if (section.is_from_file()) {
    properties["file"] = {{"type", "string"},
                          {"description", "YAML file with these keys; keys beside it override the file's"}};
  }
  for (const auto& child : section.children()) {
    properties[child->name()] = section_schema(*child);
    if (must_be_given(*child) && !section.is_from_file()) needed.push_back(child->name());
  }
  if (!section.variants().empty()) add_variant_rules(rules, section);
  Json schema = {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!needed.empty()) {
    schema["required"] = std::move(needed);
  } else {
    schema["type"] = {"object", "null"};
  }
  if (!rules.empty()) schema["allOf"] = std::move(rules);
  return schema;
}

Json section_schema(const Section& section) {
  Json schema = map_schema(section);
  if (section.is_from_file()) {
    schema = {{"anyOf", {{{"type", "string"}, {"description", "path of a YAML file"}}, std::move(schema)}}};
  }
  if (section.is_list()) {
    Json list = {{"type", "array"}, {"items", schema}};
    if (section.minimum_count() > 0) list["minItems"] = section.minimum_count();
    schema = {{"anyOf", {std::move(list), schema}}};
  }
  if (!section.doc().empty()) schema["description"] = section.doc();
  return schema;
}

}  // namespace

std::string json_schema(const Catalogue& catalogue) {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "tlmssd scenario"}};
  schema.update(map_schema(catalogue.root()));
  return schema.dump(2) + "\n";
}

}  // namespace tlmssd
