// What firmware decides, for those who want to see it: one call per decision, in the order in which
// they are made.
//
// A decision is told through Hardware::decisions (note(), below); null, as it is unless a log or
// break asks, costs one test of a pointer. An observer must not change anything and must not wait.
// Firmware that is not ours, features and policies tell theirs in the same way: kind `own` and a
// few words of `what` and `why`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "firmware/base/hardware.h"
#include "firmware/base/layout.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

enum class DecisionKind : std::uint8_t {
  gc,      ///< which block is emptied next
  write,   ///< where a program goes
  wear,    ///< which block wear levelling moves
  move,    ///< which block or part of one is written anew for a feature
  remap,   ///< what the map says of a unit from now on
  erase,   ///< a block is erased
  retire,  ///< a block has failed, or goes out of use
  cache,   ///< what a cache takes in, and what it gives up
  ecc,     ///< the code and read-retry level that a page is read for
  own,     ///< of a plug-in, or of other firmware
  count
};
inline constexpr std::size_t k_decision_kinds = static_cast<std::size_t>(DecisionKind::count);
constexpr std::string_view name_of(DecisionKind kind) {
  constexpr std::string_view k_names[] = {"gc",    "write",  "wear",  "move", "remap",
                                          "erase", "retire", "cache", "ecc",  "own"};
  static_assert(std::size(k_names) == k_decision_kinds);
  return k_names[static_cast<std::size_t>(kind)];
}

/// A block that may be chosen, and what the policy that chooses makes of it.
struct Candidate {
  BlockNumber block;
  double score;  ///< the policy's own figure
};

/// What is not set does not belong to the decision. Everything pointed at is valid during the call
/// alone.
struct Decision {
  DecisionKind kind = DecisionKind::own;
  std::string_view what;                 ///< "victim", "program", ...
  std::string_view why = {};             ///< in words
  std::optional<std::uint32_t> pu = {};  ///< parallel unit
  BlockNumber block = k_no_block;
  std::optional<std::uint32_t> valid = {};  ///< valid units of the block
  std::optional<double> score = {};         ///< the policy's figure for the block
  std::span<const Candidate> others = {};   ///< the runners-up, best first
  std::span<const Lpn> lpns = {};           ///< units that it is about; k_no_unit among them: padding
  std::optional<Ppn> from = {};             ///< k_nowhere: from nowhere
  std::optional<Ppn> to = {};
};

class DecisionObserver {
 public:
  /// `kinds`: bit n for DecisionKind n.
  explicit DecisionObserver(std::uint32_t kinds) : kinds_(kinds) {}
  virtual ~DecisionObserver() = default;
  [[nodiscard]] bool wants(DecisionKind kind) const {
    return ((kinds_ >> static_cast<unsigned>(kind)) & 1U) != 0;
  }
  /// Only of kinds that it wants.
  virtual void decided(const Decision& decision) = 0;

 private:
  std::uint32_t kinds_;
};

/// Whether decisions of the kind are to be seen: to be asked before one is put together.
[[nodiscard]] inline bool wanted(const Hardware& hw, DecisionKind kind) {
  return hw.decisions != nullptr && hw.decisions->wants(kind);
}
/// Tells of a decision, if anybody wants it.
inline void note(const Hardware& hw, const Decision& decision) {
  if (wanted(hw, decision.kind)) hw.decisions->decided(decision);
}

}  // namespace tlmssd::firmware
