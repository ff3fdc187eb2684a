// The summary in colour, for terminals: what to notice, what is wrong, headings.
#pragma once

#include <string>
#include <string_view>

namespace tlmssd {

/// `summary` with the terminal's codes around whole lines; without them it is the same text.
std::string coloured(std::string_view summary);

}  // namespace tlmssd
