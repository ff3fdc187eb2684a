// Which results people are shown first: each load by itself, or all of them together.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tlmssd {

/// Of the commands of its load, from which on an operation is worth a word.
inline constexpr double k_share_of_commands = 0.05;

struct ShownResults {
  std::string name;  ///< of the load; empty: nothing needs to be told apart
  const nlohmann::ordered_json* results;
  /// "read", or "oltp read".
  [[nodiscard]] std::string of(const std::string& operation) const {
    return name.empty() ? operation : name + " " + operation;
  }
};

/// As `results.shown` of the report says, in order. A report without it shows the total.
inline std::vector<ShownResults> shown_results(const nlohmann::ordered_json& report) {
  const nlohmann::ordered_json& results = report["results"];
  const std::string shown = results.value("shown", "total");
  std::vector<ShownResults> parts;
  if (shown == "total") return {{"", &results["total"]}};
  for (const auto& load : results["loads"]) parts.push_back({load["name"].get<std::string>(), &load});
  if (shown == "both") parts.push_back({"all loads", &results["total"]});
  return parts;
}

}  // namespace tlmssd
