// How long a die's array works: the interface of timing models.
//
// A model answers for one plane; a multi-plane operation takes as long as its slowest plane. It
// must be a pure function of the operation: the same question gives the same answer, in timed and
// untimed mode. A program is asked for page by page, or word line by
// word line where the part programs those as a whole. Blocks in SLC mode are asked about, too
// (op.slc()); data_sheet_latency() knows what the data sheet says of them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "models/base/parameters.h"
#include "models/nand/part/array_operation.h"
#include "models/nand/part/part.h"

namespace tlmssd {

/// A quarter of an hour and more, 1000 s: what a model may answer at most.
inline constexpr Picoseconds k_longest_work = 1'000'000'000'000'000;

class TimingModel {
 public:
  virtual ~TimingModel() = default;
  [[nodiscard]] virtual ArrayAnswer answer(const ArrayOperation& op) const = 0;
  /// Whether the answer depends on more than command, mode, page, pages, cycles and die. If not,
  /// dies leave the rest as it is by default, which saves the time to work it out, and ask once for
  /// planes whose blocks have as many cycles.
  [[nodiscard]] virtual bool looks_at_history() const { return true; }
  /// InputError when it cannot answer for every die and block of this drive, as a table that lacks
  /// a die. Asked before a drive is made.
  virtual void check_drive(const Geometry& /*drive*/) const {}
  /// What physics says and this model does not follow; the conformance kit leaves it out. Of "read
  /// by age", "read by retry level" and "erase by cycles": which must not become faster as the
  /// latter grows.
  [[nodiscard]] virtual std::vector<std::string_view> exceptions() const { return {}; }
};

using TimingFamily = PolicyFamily<TimingModel, const NandPart&>;
/// All timing models by name; timing_models.cpp lists those of the program.
TimingFamily& timing_models();

/// The model that `part.timing` names; InputError when there is none. The part must outlive it.
std::unique_ptr<TimingModel> make_timing_model(const NandPart& part,
                                               const ParameterValues& values = NoValues{});

}  // namespace tlmssd
