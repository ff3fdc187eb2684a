// The value of a parameter nearest to a refused one that is accepted, found by trying.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

/// `accepts` is asked about values as a scenario writes them. Numbers: outwards by doubling and
/// halving, sizes to powers of two as well, then by bisection (takes it that what is accepted has
/// no gap next to what is found). Choices: the default, then one after another. Text: the default.
/// Lists: nothing. Nothing when none is found.
std::optional<std::string> nearest_accepted(const ParameterSpec& spec, const Value& refused,
                                            const std::function<bool(const std::string&)>& accepts);

/// A value as a scenario writes it: "4 KiB", "[1, 2]".
std::string written_text(const ParameterSpec& spec, const Value& value);

}  // namespace tlmssd
