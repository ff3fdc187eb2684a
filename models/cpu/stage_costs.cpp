#include "models/cpu/stage_costs.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "models/base/table_lines.h"

namespace tlmssd {

namespace {

constexpr std::string_view k_any = "any";

struct Row {
  std::size_t cost = 0;  // stage, or k_stages: victim
  std::string policy;
  std::size_t cached = 0;
  double entries = 1;
  double cycles = 0;
  std::size_t line = 0;
};

const std::vector<std::string>& column_names() {
  static const std::vector<std::string> names = {"stage", "policy", "cached", "entries", "cycles"};
  return names;
}

const std::vector<std::string>& cost_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < k_stages; ++i) all.emplace_back(name_of(static_cast<Stage>(i)));
    all.emplace_back("victim");
    return all;
  }();
  return names;
}

/// As StageWork::Cached.
const std::vector<std::string>& cached_names() {
  static const std::vector<std::string> names = {std::string(k_any), "miss", "hit"};
  return names;
}

}  // namespace

class StageCosts::Parser {
 public:
  std::vector<Row> read(const std::vector<std::string>& lines) {
    std::vector<Row> rows;
    lines_.read(
        lines, [this](const std::vector<std::string>& names) { read_header(names); },
        [&](const std::vector<std::string>& fields) { rows.push_back(read_row(fields)); });
    return rows;
  }
  [[noreturn]] void refuse_line(std::size_t line, const std::string& what) const {
    lines_.refuse_line(line, what);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { lines_.refuse(what); }

  void read_header(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      choose(name, column_names(), "column");
      if (std::find(columns_.begin(), columns_.end(), name) != columns_.end())
        refuse(in_quotes(name) + " is there twice");
      columns_.push_back(name);
    }
    for (const char* const needed : {"stage", "cycles"}) {
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end())
        refuse("has no column " + in_quotes(needed));
    }
  }

  Row read_row(const std::vector<std::string>& fields) const {
    if (fields.size() != columns_.size())
      refuse(fmt::format("has {} values for {} columns", fields.size(), columns_.size()));
    Row row;
    row.line = lines_.line();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& field = fields[i];
      if (columns_[i] == "stage") {
        row.cost = choose(field, cost_names(), "stage");
      } else if (columns_[i] == "policy") {
        row.policy = field == k_any ? "" : field;
      } else if (columns_[i] == "cached") {
        row.cached = choose(field, cached_names(), "state of the cache");
      } else if (columns_[i] == "entries") {
        row.entries = field == k_any ? 1 : number(field, "entries", 1e9);
      } else {
        row.cycles = number(field, "cycles", 1e8);
      }
    }
    const bool looks = row.cost == static_cast<std::size_t>(Stage::translate) ||
                       row.cost == static_cast<std::size_t>(Stage::buffer);
    if (row.cached != 0 && !looks) {
      refuse(fmt::format("{} looks for nothing that may be cached; {} is for translate and buffer",
                         cost_names()[row.cost], cached_names()[row.cached]));
    }
    return row;
  }

  std::size_t choose(const std::string& name, const std::vector<std::string>& names, const char* what) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      refuse(fmt::format("{} is no {}, expected {}{}", in_quotes(name), what, any_of(names),
                         did_you_mean(name, names)));
    return static_cast<std::size_t>(found - names.begin());
  }

  double number(const std::string& text, const char* what, double most) const {
    ParameterSpec spec;
    spec.kind = Kind::real;
    spec.minimum = 0;
    spec.maximum = most;
    try {
      return std::get<double>(parse_value(spec, text));
    } catch (const InputError& problem) {
      refuse(fmt::format("{}: {}", what, problem.complaint().what));
    }
  }

  TableLines lines_{"ssd.cpu.costs", "stage, entries, cycles"};
  std::vector<std::string> columns_;
};

StageCosts::StageCosts(const std::vector<std::string>& lines, const StagePolicies& policies) {
  Parser parser;
  const std::vector<Row> rows = parser.read(lines);
  for (const Row& row : rows) {
    const bool buffer = row.cost == static_cast<std::size_t>(Stage::buffer);
    if (!row.policy.empty()) named_.push_back({row.policy, row.line, row.cost == k_victim, buffer});
  }
  for (std::size_t cost = 0; cost < curves_.size(); ++cost) {
    const std::string& policy = cost == k_victim                                  ? policies.victims
                                : cost == static_cast<std::size_t>(Stage::buffer) ? policies.cache
                                                                                  : policies.mapping;
    const auto lines_for = [&](const std::string& of, std::size_t cached) {
      Curve curve;
      for (const Row& row : rows) {
        if (row.cost != cost || row.policy != of || row.cached != cached) continue;
        for (const auto& point : curve) {
          if (point.first != row.entries) continue;
          parser.refuse_line(row.line, "says again what an earlier line says");
        }
        curve.emplace_back(row.entries, row.cycles);
      }
      std::sort(curve.begin(), curve.end());
      return curve;
    };
    for (std::size_t cached = 0; cached < k_cached; ++cached) {
      Curve& curve = curves_[cost][cached];
      curve = lines_for(policy, cached);
      if (curve.empty()) curve = lines_for(policy, 0);
      if (curve.empty()) curve = lines_for("", cached);
      if (curve.empty()) curve = lines_for("", 0);
    }
  }
}

std::optional<double> StageCosts::at(const Curve& curve, double entries) {
  if (curve.empty()) return {};
  const auto above = std::upper_bound(curve.begin(), curve.end(), entries,
                                      [](double value, const auto& point) { return value < point.first; });
  if (above == curve.begin()) return curve.front().second;
  const auto below = above - 1;
  if (above == curve.end()) return below->second;
  const double share = (entries - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace tlmssd
