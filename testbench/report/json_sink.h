// Modules' statistics as JSON: a group is an object, a value an object of value, unit and doc.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/base/statistics.h"

namespace tlmssd {

class JsonSink : public StatisticsSink {
 public:
  void open(std::string_view group, std::string_view doc) override {
    nlohmann::ordered_json& made = place(group);
    made = nlohmann::ordered_json::object();
    if (!doc.empty()) made["doc"] = std::string(doc);
    path_.push_back(&made);
  }
  void close() override {
    if (path_.size() > 1) path_.pop_back();
  }
  void value(std::string_view name, double value, std::string_view unit, std::string_view doc) override {
    // JSON has no infinity; a quotient without a divisor is "no value".
    put(name, std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(), unit, doc);
  }
  void value(std::string_view name, std::uint64_t value, std::string_view unit,
             std::string_view doc) override {
    put(name, value, unit, doc);
  }
  void text(std::string_view name, std::string_view value, std::string_view doc) override {
    place(name) = {{"value", std::string(value)}, {"doc", std::string(doc)}};
  }
  /// What has been reported; the sink is empty afterwards.
  nlohmann::ordered_json take() {
    nlohmann::ordered_json result = std::move(*root_);
    root_ = std::make_unique<nlohmann::ordered_json>(nlohmann::ordered_json::object());
    path_ = {root_.get()};
    return result;
  }

 private:
  /// A member of the present group, its name with '_' for blanks; one that is taken gets a number,
  /// so that nothing is lost.
  nlohmann::ordered_json& place(std::string_view name) {
    nlohmann::ordered_json& group = *path_.back();
    std::string plain(name);
    std::erase(plain, ',');
    std::replace(plain.begin(), plain.end(), ' ', '_');
    std::string key = plain;
    for (int number = 2; group.contains(key); ++number) key = plain + "_" + std::to_string(number);
    return group[key];
  }
  void put(std::string_view name, nlohmann::ordered_json value, std::string_view unit, std::string_view doc) {
    nlohmann::ordered_json& entry = place(name);
    entry["value"] = std::move(value);
    entry["unit"] = std::string(unit);
    entry["doc"] = std::string(doc);
  }
  // Only the innermost open group grows, so the pointers to the outer ones stay valid.
  std::unique_ptr<nlohmann::ordered_json> root_ =
      std::make_unique<nlohmann::ordered_json>(nlohmann::ordered_json::object());
  std::vector<nlohmann::ordered_json*> path_{root_.get()};
};

}  // namespace tlmssd
