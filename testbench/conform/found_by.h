// The frame of checks: first whether there can be at all what is to be checked.
#pragma once

#include <memory>

#include "testbench/conform/conformance.h"

namespace tlmssd {

/// What `Checks(arguments...).all()` finds; one check alone, `can_be_made`, when it cannot be made.
template <class Checks, class... Arguments>
Conformance found_by(const char* can_be_made, const Arguments&... arguments) {
  Conformance found;
  std::unique_ptr<Checks> checks;
  found.check(can_be_made, [&] {
    checks = std::make_unique<Checks>(arguments...);
    return "";
  });
  if (checks) found.add(checks->all());
  return found;
}

}  // namespace tlmssd
