// What users can read about scenarios without running one, all made from the catalogue: JSON
// Schema, listing, reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/scenario/catalogue.h"

namespace tlmssd {

/// JSON Schema (draft 7, which YAML editors understand): completion, descriptions, units, ranges,
/// policies.
std::string json_schema(const Catalogue& catalogue);

/// For the terminal: sections, their keys with kind, default, range and meaning. `filter`: only
/// sections, keys and policies of whose path, name, meaning and topics it is a part; letter case,
/// "-" and "_" are not counted. Empty: everything. `columns`: lines are broken there; 0: nowhere.
std::string list_text(const Catalogue& catalogue, std::string_view filter = {}, std::size_t columns = 0);

/// The parameter reference as Markdown.
std::string reference_markdown(const Catalogue& catalogue);

}  // namespace tlmssd
