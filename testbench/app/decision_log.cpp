#include "testbench/app/decision_log.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firmware/blocks/block_pool.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "testbench/app/drive_view.h"

namespace tlmssd {

namespace {

using firmware::Decision;
using firmware::DecisionKind;
using Json = nlohmann::ordered_json;

bool within(const std::vector<std::int64_t>& range, std::uint64_t number) {
  return range.empty() || (number >= static_cast<std::uint64_t>(range.front()) &&
                           number <= static_cast<std::uint64_t>(range.back()));
}

}  // namespace

std::uint32_t decision_kinds(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < firmware::k_decision_kinds; ++i)
    known.emplace_back(name_of(static_cast<DecisionKind>(i)));
  known.emplace_back("all");
  std::uint32_t kinds = 0;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw objection("report.decisions", in_quotes(name) + " is no kind of decision, expected " +
                                              any_of(known) + did_you_mean(name, known));
    kinds |= name == "all" ? (1U << firmware::k_decision_kinds) - 1
                           : 1U << static_cast<unsigned>(found - known.begin());
  }
  return kinds;
}

void check_within_drive(const DecisionFilter& filter, const Ssd& ssd) {
  const firmware::Layout layout = layout_of(ssd);
  const auto check = [](const char* key, const std::vector<std::int64_t>& range, const char* what,
                        std::uint64_t count) {
    const auto beyond = [&](std::int64_t number) { return static_cast<std::uint64_t>(number) >= count; };
    const auto found = std::find_if(range.begin(), range.end(), beyond);
    if (found == range.end()) return;
    throw refusal(key, fmt::format("{} is beyond the drive, whose last {} is {}", *found, what, count - 1),
                  found == range.begin() ? fmt::format("[{}]", count - 1)
                                         : fmt::format("[{}, {}]", range.front(), count - 1));
  };
  check("report.decision_filter.lpn", filter.lpn, "mapping page", layout.kept_units());
  check("report.decision_filter.block", filter.block, "block", layout.total_blocks());
}

DecisionLog::DecisionLog(const std::string& path, std::uint32_t kinds, const DecisionFilter& filter, Ssd& ssd)
    : DecisionObserver(kinds),
      file_(path),
      filter_(filter),
      event_queue_(ssd.event_queue()),
      layout_(layout_of(ssd)),
      start_(event_queue_.now()) {}

bool DecisionLog::passes(const Decision& decision) const {
  const Picoseconds when = event_queue_.now() - start_;
  if (when < filter_.from || (filter_.length > 0 && when >= filter_.from + filter_.length)) return false;
  if (!filter_.lpn.empty() && std::none_of(decision.lpns.begin(), decision.lpns.end(), [this](Lpn unit) {
        return unit != k_no_unit && within(filter_.lpn, unit);
      }))
    return false;
  if (filter_.block.empty()) return true;
  const auto lies_there = [this](const std::optional<firmware::Ppn>& unit) {
    return unit && unit->valid() && within(filter_.block, layout_.block_of(*unit));
  };
  return (decision.block != firmware::k_no_block && within(filter_.block, decision.block)) ||
         lies_there(decision.from) || lies_there(decision.to);
}

void DecisionLog::decided(const Decision& decision) {
  if (!wants(decision.kind)) return;
  ++number_;
  if (!passes(decision)) return;
  if (written_ == filter_.most) {
    ++left_out_;
    return;
  }
  ++written_;
  Json line = {{"time_ps", event_queue_.now() - start_},
               {"n", number_},
               {"kind", name_of(decision.kind)},
               {"what", decision.what}};
  if (!decision.why.empty()) line["why"] = decision.why;
  if (decision.pu) line["pu"] = *decision.pu;
  if (decision.block != firmware::k_no_block) line["block"] = std::uint32_t{decision.block};
  if (decision.valid) line["valid"] = *decision.valid;
  if (decision.score && std::isfinite(*decision.score)) line["score"] = *decision.score;
  for (const firmware::Candidate& one : decision.others)
    line["others"].push_back({{"block", std::uint32_t{one.block}}, {"score", one.score}});
  for (const Lpn unit : decision.lpns) line["lpns"].push_back(unit == k_no_unit ? Json() : Json(unit));
  const auto place = [&](const char* key, const std::optional<firmware::Ppn>& unit) {
    if (unit) line[key] = unit->valid() ? Json(unit->number()) : Json();
  };
  place("from", decision.from);
  place("to", decision.to);
  file_.write(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void DecisionLog::close() {
  if (left_out_ > 0) file_.write(Json{{"left_out", left_out_}, {"most", filter_.most}}.dump() + "\n");
  file_.close();
}

}  // namespace tlmssd
