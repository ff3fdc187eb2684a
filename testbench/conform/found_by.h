// The frame of a model's checks: first whether there can be a model at all.
#pragma once

#include <cstdint>
#include <memory>

#include "testbench/conform/conformance.h"

namespace tlmssd {

/// What `Checks(make, part, seed).all()` finds of a model; one check alone when it cannot be made.
template <class Checks, class Make>
Conformance found_by(const Make& make, const NandPart& part, std::uint64_t seed) {
  Conformance found;
  std::unique_ptr<Checks> checks;
  found.check("can be made for the part", [&] {
    checks = std::make_unique<Checks>(make, part, seed);
    return "";
  });
  if (checks) found.add(checks->all());
  return found;
}

}  // namespace tlmssd
