// Whether an expression is a latency for every operation of a part in a drive: readable, of
// arguments that the operation has, a time, above 0 and below k_longest_work.
#pragma once

#include <string>

#include "models/nand/part/array_operation.h"

namespace tlmssd {

/// What is said of a time that nothing may take.
std::string too_long(double picoseconds);

/// InputError with `key`, the position in `text` and the part of it that is wrong.
void check_formula(const std::string& key, const std::string& text, const NandPart& part,
                   const Geometry& drive, ArrayCommand command, bool slc);

}  // namespace tlmssd
