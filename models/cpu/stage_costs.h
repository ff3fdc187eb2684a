// Cycles of firmware stages by table (ssd.cpu.costs), written line by line as in a CSV file:
//
//   stage,     policy, cached, entries, cycles
//   translate, page,   any,    1,       42
//   translate, dftl,   hit,    1,       118
//   translate, dftl,   miss,   1,       655
//   victim,    greedy, any,    64,      1310
//
// The columns may come in any order; `policy`, `cached` and `entries` may be missing, which is the
// same as "any" in each line. A line with the drive's policy goes before one for any policy, a line
// with hit or miss before one for any. Between two numbers of entries the answer is linear, beyond
// the first and the last it stays as there. What no line is for costs what ssd.cpu.cycles says.
// `victim` is the choice of a victim among so many blocks (entries); without lines for it a choice
// costs as much as one execution of `gc`. Empty lines and lines that begin with # are passed over.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/stage.h"

namespace tlmssd {

/// The policies that costs depend on (empty: the drive has none that a line could name): the
/// mapping scheme (all stages but these), the cache in front of the write buffer (stage buffer),
/// and the victim policy (victim).
struct StagePolicies {
  std::string mapping;
  std::string cache;
  std::string victims;
};

class StageCosts {
 public:
  /// Throws InputError naming ssd.cpu.costs and the line.
  StageCosts(const std::vector<std::string>& lines, const StagePolicies& policies);
  /// Cycles of one execution; nothing: the table does not say.
  [[nodiscard]] std::optional<double> cycles(Stage stage, const StageWork& work) const {
    return at(curves_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(work.cached)], work.entries);
  }
  /// Cycles of a victim's choice; nothing: the table does not say.
  [[nodiscard]] std::optional<double> choice(std::uint32_t candidates) const {
    return at(curves_[k_victim][0], candidates);
  }
  /// Every policy that the lines name, with the kind of stage that it stands in.
  struct Named {
    std::string policy;
    std::size_t line;
    bool victim;
    bool buffer;
  };
  [[nodiscard]] const std::vector<Named>& named() const { return named_; }

 private:
  class Parser;
  static constexpr std::size_t k_victim = k_stages;
  static constexpr std::size_t k_cached = 3;             // as StageWork::Cached
  using Curve = std::vector<std::pair<double, double>>;  // (entries, cycles), ascending
  [[nodiscard]] static std::optional<double> at(const Curve& curve, double entries);
  std::array<std::array<Curve, k_cached>, k_stages + 1> curves_;
  std::vector<Named> named_;
};

}  // namespace tlmssd
