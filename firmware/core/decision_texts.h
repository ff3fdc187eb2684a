// How decisions of the kernel are worded. Each function tells nothing and costs a test or two when
// decisions of its kind are not wanted.
#pragma once

#include <string_view>

#include "firmware/base/decisions.h"
#include "firmware/base/program_job.h"
#include "firmware/base/read_op.h"

namespace tlmssd::firmware {

class Core;

/// A block is erased, or goes out of use.
void tell_block(const Core& core, DecisionKind kind, std::string_view what, std::string_view why,
                BlockNumber block);
/// The map is about to point `unit` at `to` instead of `from`.
void tell_remap(const Core& core, Lpn unit, Ppn from, Ppn to, std::string_view why);
/// A program unit has its place.
void tell_program(const Core& core, const ProgramJob& job);
/// For which code and read-retry level a page is read.
void tell_code(const Core& core, const ReadOp& read, std::string_view what, std::string_view why);

}  // namespace tlmssd::firmware
