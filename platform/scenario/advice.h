// What a user is told about a scenario that is refused: all that is wrong with it, each with a
// value that has been tried.
//
// A check knows its own key and a value that satisfies it. Whether the scenario is accepted with
// that value, and whether the user wrote the key at all, only the whole scenario shows. So every
// proposal is put into the scenario, which is then examined again: a value that is refused is
// replaced by what that refusal proposes, then by one that is searched for; a key that the user did
// not write makes way for the one that is to blame; and with all proposals in place the errors
// behind the first ones show too.
//
// Leaves out: that only several values changed together may be right; then a proposal is missing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/scenario/scenario.h"

namespace tlmssd {

/// Everything that is found wrong with the scenario when these settings ("a.b.c=value") are made in
/// addition; several errors may be hidden behind one. `loads` false: drive and host software are
/// enough.
using Examine = std::function<std::vector<InputError>(const std::vector<std::string>& settings, bool loads)>;

/// The errors of `scenario`, in the order of the file.
std::vector<InputError> advised_errors(const Scenario& scenario, const Examine& examine);

/// By file, `first` before all others, and line.
void sort_by_place(std::vector<InputError>& errors, const std::string& first);

}  // namespace tlmssd
