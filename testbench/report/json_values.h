// Values as reports write and read them.
#pragma once

#include <nlohmann/json.hpp>

namespace tlmssd {

/// An object with room for so many members. One that grows beyond its room copies all that its
/// members hold.
inline nlohmann::ordered_json object_for(std::size_t members) {
  nlohmann::ordered_json made = nlohmann::ordered_json::object();
  made.get_ref<nlohmann::ordered_json::object_t&>().reserve(members);
  return made;
}

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
