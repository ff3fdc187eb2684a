// What limits the rate of a drive when it is busy all the time, and the parameters that widen it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tlmssd {

/// A resource of the drive whose use is in the statistics.
struct Resource {
  std::string label;  ///< as in plain_utilisations()
  std::string name;
  std::vector<std::string> keys;  ///< parameters that say how fast it is
  std::string part = "";          ///< which of its parts this is of, where they work side by side
  std::string one = "";           ///< what one of several is called, before its number; empty: not told apart
  std::vector<std::string> keys_of_one = {};  ///< what helps where one of them is busier than the others
  [[nodiscard]] std::string full_name() const { return name + part; }
  [[nodiscard]] std::string all_keys() const;  ///< joined by "or"
};
/// What limits under this label of plain_utilisations(statistics); nothing where no parameter
/// would widen it, or of a direction of a link that is half duplex, which both share.
std::optional<Resource> find_resource(std::string_view label, const nlohmann::ordered_json& statistics);

}  // namespace tlmssd
