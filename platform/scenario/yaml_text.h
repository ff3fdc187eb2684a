// How a text is written in YAML.
#pragma once

#include <string>

namespace tlmssd {

/// As a scalar that reads back as the same text, in block and in flow context.
std::string yaml_text(const std::string& text);

}  // namespace tlmssd
