// What users can read about scenarios without running one, all made from the catalogue: JSON Schema, listing,
// reference.
#pragma once

#include <string>
#include <string_view>

#include "platform/scenario/catalogue.h"

namespace tlmssd {

/// JSON Schema (draft 7, which YAML editors understand): completion, descriptions, units, ranges, policies.
std::string json_schema(const Catalogue& catalogue);

/// For the terminal: sections, their keys with kind, default, range and meaning. `filter`: only sections,
/// keys and policies whose path or name contains this text (letter case not counted); empty: everything.
std::string list_text(const Catalogue& catalogue, std::string_view filter = {});

/// The parameter reference as Markdown.
std::string reference_markdown(const Catalogue& catalogue);

}  // namespace tlmssd
