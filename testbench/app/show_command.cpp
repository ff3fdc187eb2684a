// `tlmssd show DIR`: the summary of a run that is over, from its results.
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "models/base/suggest.h"
#include "testbench/app/commands.h"
#include "testbench/process/terminal.h"
#include "testbench/report/colour.h"
#include "testbench/report/report.h"
#include "testbench/report/summary.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

std::string whole_text(const std::string& path) {
  InputFile file(path);
  std::string text;
  constexpr std::size_t k_piece = 65536;
  for (std::size_t got = k_piece; got != 0;) {
    const std::size_t before = text.size();
    text.resize(before + k_piece);
    got = file.read(text.data() + before, k_piece);
    text.resize(before + got);
  }
  return text;
}

Json read_json(const std::string& path) {
  Json json = Json::parse(whole_text(path), nullptr, false);
  if (!json.is_object()) throw InputError(path, 0, "is not JSON as tlmssd writes it");
  return json;
}

/// Looks for what the summary takes for granted; throws Json::exception where it is not there.
void check_operation(const Json& operation) {
  for (const char* key : {"bandwidth", "latency", "errors", "ledger", "percentiles"})
    static_cast<void>(operation.at(key).get_ref<const Json::object_t&>());
  const Json& tail = operation.at("percentiles").at("p99.9");
  for (const char* key : {"ledger", "behind"})
    static_cast<void>(tail.at(key).get_ref<const Json::object_t&>());
  if (operation.contains("device")) {
    static_cast<void>(operation.at("device").at("commands").get<std::uint64_t>());
    static_cast<void>(operation.at("device").at("latency").get_ref<const Json::object_t&>());
  }
}

void check_results(const Json& results) {
  static_cast<void>(results.at("queue_depth").at("max").get<std::uint64_t>());
  for (const auto& [name, operation] : results.at("operations").items()) check_operation(operation);
}

void check_report(const Json& report) {
  if (report.at("tlmssd").at("schema").get<int>() != k_report_schema)
    throw InputError("report.json has another layout than this version of tlmssd reads");
  static_cast<void>(report.at("tlmssd").at("version").get<std::string>());
  for (const char* key : {"title", "drive"}) static_cast<void>(report.at(key).get<std::string>());
  for (const char* key : {"measured_time", "simulated_time"})
    static_cast<void>(report.at(key).at("value").get<double>());
  static_cast<void>(report.at("checks").at("wrong_reads").get<std::uint64_t>());
  check_results(report.at("results").at("total"));
  for (const Json& load : report.at("results").at("loads")) {
    static_cast<void>(load.at("name").get<std::string>());
    check_results(load);
  }
  static_cast<void>(report.at("statistics").get_ref<const Json::object_t&>());
  for (const char* key : {"unread_parameters", "warnings"})
    for (const Json& one : report.at(key)) static_cast<void>(one.get<std::string>());
}

}  // namespace

int show_command(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string path = (fs::path(folder) / "report.json").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw InputError(folder, 0, "holds no results: there is no report.json (tlmssd run SCENARIO --out DIR)");
  const Json report = read_json(path);
  HostRun host;
  try {
    check_report(report);
    const std::string run_path = (fs::path(folder) / "run.json").string();
    if (fs::exists(run_path, ignored)) {
      const Json run = read_json(run_path);
      host.seconds = run.at("wall_clock").at("value").get<double>();
      host.commands = run.at("commands").get<std::uint64_t>();
    }
    const std::string text = printable(summary(report, host));
    std::cout << (shows_colour(STDOUT_FILENO) ? coloured(text) : text);
  } catch (const Json::exception&) {
    throw InputError(path, 0, "is not a report of this version of tlmssd");
  }
  return k_exit_ok;
}

}  // namespace tlmssd
