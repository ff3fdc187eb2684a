// What a module reports, as numbers by name.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/base/statistics.h"

namespace tlmssd::test {

/// Values by their groups' names and their own, with '/' in between.
class NumbersSink final : public StatisticsSink {
 public:
  std::map<std::string, double> numbers;
  void open(std::string_view group, std::string_view /*doc*/) override {
    path_.emplace_back(std::string(group) + "/");
  }
  void close() override { path_.pop_back(); }
  void value(std::string_view name, double value, std::string_view /*unit*/,
             std::string_view /*doc*/) override {
    std::string whole;
    for (const std::string& group : path_) whole += group;
    numbers[whole + std::string(name)] = value;
  }
  void value(std::string_view name, std::uint64_t count, std::string_view unit,
             std::string_view doc) override {
    value(name, static_cast<double>(count), unit, doc);
  }
  void text(std::string_view /*name*/, std::string_view /*value*/, std::string_view /*doc*/) override {}

 private:
  std::vector<std::string> path_;
};

/// `where`: what report() of the module is given beside the sink.
template <class Module, class... Where>
std::map<std::string, double> statistics_of(const Module& module, Where... where) {
  NumbersSink sink;
  module.report(sink, where...);
  return std::move(sink.numbers);
}

}  // namespace tlmssd::test
