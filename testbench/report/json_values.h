// Values as reports write and read them.
#pragma once

#include <nlohmann/json.hpp>

namespace tlmssd {

/// A value with its unit.
inline nlohmann::ordered_json quantity(const nlohmann::ordered_json& value, const char* unit) {
  return {{"value", value}, {"unit", unit}};
}

/// The number of this key; 0 when there is none, or it is none.
inline double number(const nlohmann::ordered_json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

inline double nanoseconds(double picoseconds) {
  return picoseconds * 1e-3;
}

}  // namespace tlmssd
