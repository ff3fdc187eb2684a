// `tlmssd new timing-model acme`: a project of one's own that builds against the installed package,
// with a model that works, its test and a README, made from the folder templates/timing-model.
#pragma once

#include <string>
#include <vector>

namespace tlmssd {

/// Kinds of projects there are templates for: "timing-model", ...
std::vector<std::string> template_kinds();

/// Writes the project `name` (a letter, then letters, digits, - and _) into `folder`, which must
/// not exist or be empty. InputError; nothing is left behind then.
void write_project(const std::string& kind, const std::string& name, const std::string& folder);

}  // namespace tlmssd
