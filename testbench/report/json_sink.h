// Modules' statistics as JSON: a group is an object, a value an object of value, unit and doc.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/base/statistics.h"
#include "testbench/report/json_values.h"

namespace tlmssd {

class JsonSink : public StatisticsSink {
 public:
  void open(std::string_view group, std::string_view doc) override {
    open_.push_back({free_key(group), {}});
    if (!doc.empty()) open_.back().members.emplace_back("doc", std::string(doc));
  }
  void close() override {
    if (open_.size() == 1) return;
    Group done = std::move(open_.back());
    open_.pop_back();
    open_.back().members.emplace_back(std::move(done.key), object(std::move(done.members)));
  }
  void value(std::string_view name, double value, std::string_view unit, std::string_view doc) override {
    // JSON has no infinity; a quotient without a divisor is "no value".
    put(name, std::isfinite(value) ? Json(value) : Json(), unit, doc);
  }
  void value(std::string_view name, std::uint64_t value, std::string_view unit,
             std::string_view doc) override {
    put(name, value, unit, doc);
  }
  void text(std::string_view name, std::string_view value, std::string_view doc) override {
    add(name, object_of(std::pair{"value", std::string(value)}, std::pair{"doc", std::string(doc)}));
  }
  /// What has been reported; the sink is empty afterwards.
  nlohmann::ordered_json take() {
    while (open_.size() > 1) close();
    Json result = object(std::move(open_.back().members));
    open_.assign(1, {});
    return result;
  }

 private:
  using Json = nlohmann::ordered_json;
  using Members = std::vector<std::pair<std::string, Json>>;
  /// A group that has not ended. It becomes an object of JSON when it does: those copy all that
  /// they hold, whole groups, whenever they grow.
  struct Group {
    std::string key;
    Members members;
  };

  static Json object(Members members) {
    Json made = object_for(members.size());
    auto& map = made.get_ref<Json::object_t&>();
    for (auto& [key, value] : members) map.emplace_back(std::move(key), std::move(value));
    return made;
  }
  template <class... Pairs>
  static Json object_of(Pairs&&... pairs) {
    Json made = object_for(sizeof...(pairs));
    auto& map = made.get_ref<Json::object_t&>();
    (map.emplace_back(pairs.first, std::move(pairs.second)), ...);
    return made;
  }
  /// Of a new member of the present group: its name with '_' for blanks; one that is taken gets a
  /// number, so that nothing is lost.
  std::string free_key(std::string_view name) {
    const Members& members = open_.back().members;
    std::string plain(name);
    std::erase(plain, ',');
    std::replace(plain.begin(), plain.end(), ' ', '_');
    std::string key = plain;
    const auto taken = [&key](const auto& member) { return member.first == key; };
    for (int number = 2; std::any_of(members.begin(), members.end(), taken); ++number)
      key = plain + "_" + std::to_string(number);
    return key;
  }
  void add(std::string_view name, Json value) {
    open_.back().members.emplace_back(free_key(name), std::move(value));
  }
  void put(std::string_view name, Json value, std::string_view unit, std::string_view doc) {
    add(name, object_of(std::pair{"value", std::move(value)}, std::pair{"unit", std::string(unit)},
                        std::pair{"doc", std::string(doc)}));
  }

  std::vector<Group> open_ = std::vector<Group>(1);  ///< the outermost first
};

}  // namespace tlmssd
