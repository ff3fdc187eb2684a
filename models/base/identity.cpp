#include "models/base/identity.h"

#include "models/base/quantity.h"

namespace tlmssd {

void identify(Identity& identity, const std::string& section, const ParameterSpec& spec, const Value& value) {
  std::string text;
  for (const std::string& element : format_elements(spec.kind, value))
    text += (text.empty() ? "" : ", ") + element;
  identity.emplace_back(section + "." + spec.name, std::move(text));
}

void identify(Identity& identity, const std::string& section, const std::vector<ParameterSpec>& specs,
              const ParameterValues* values) {
  for (const ParameterSpec& spec : specs) {
    if (!spec.shapes_state) continue;
    const Value* const given = values == nullptr ? nullptr : values->find(spec.name);
    identify(identity, section, spec, given == nullptr ? spec.fallback : *given);
  }
}

void identify_choice(Identity& identity, const std::string& section, const char* key,
                     const std::string& policy, const std::vector<PolicyInfo>& policies,
                     const ParameterValues* values) {
  identity.emplace_back(section + "." + key, policy);
  for (const PolicyInfo& info : policies) {
    if (info.name == policy) identify(identity, section, info.parameters, values);
  }
}

}  // namespace tlmssd
