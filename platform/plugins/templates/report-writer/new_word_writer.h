// new-name: a line of comma-separated values for each operation of the host.
#pragma once

#include "testbench/report/report_writer.h"

struct NewTypeConfig {
  std::string separator = ",";
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<NewTypeConfig>{}
                                  .text("separator", &NewTypeConfig::separator, "stands between values")
                                  .filled();
    return table;
  }
};

class NewTypeWriter final : public tlmssd::ReportWriter {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "operations of the host as a table";
  static constexpr std::string_view k_file = "new_word.csv";  // in the folder of results
  using Config = NewTypeConfig;
  explicit NewTypeWriter(const Config& config) : config_(config) {}

  // `report` is what report.json holds.
  [[nodiscard]] std::string text(const nlohmann::ordered_json& report) const override {
    const std::string& next = config_.separator;
    std::string text = "operation" + next + "commands" + next + "iops\n";
    for (const auto& [name, operation] : report.at("results").at("total").at("operations").items())
      text += name + next + operation.at("commands").dump() + next + operation.at("iops").dump() + "\n";
    return text;
  }

 private:
  Config config_;
};
