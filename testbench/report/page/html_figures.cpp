#include "testbench/report/page/html_figures.h"

#include <algorithm>

#include "testbench/report/page/assets.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

Json ledger_shares(const Json& ledger) {
  Json json = Json::object();
  for (const auto& [cause, part] : ledger.items()) json[cause] = part["share"];
  return json;
}

Json operation(const Json& results) {
  Json json = {{"commands", results["commands"]},
               {"mean", results["latency"]["mean"]},
               {"distribution", results["distribution"]},
               {"ledger", ledger_shares(results["ledger"])}};
  json["percentiles"] = Json::object();
  for (const auto& [name, told] : results["percentiles"].items()) {
    if (told.is_object())
      json["percentiles"][name] = {{"latency_ns", told["latency_ns"]},
                                   {"ledger", ledger_shares(told["ledger"])}};
  }
  return json;
}

Json part(const ShownResults& shown) {
  const Json& results = *shown.results;
  Json json = {{"name", shown.name}, {"queue_depth", results["queue_depth"]}, {"series", results["series"]}};
  json["operations"] = Json::object();
  for (const auto& [name, measured] : results["operations"].items())
    if (measured.contains("latency")) json["operations"][name] = operation(measured);
  return json;
}

/// A line for each channel, if there are equally many dies in each.
Json dies(const std::vector<Utilisation>& all) {
  std::size_t channels = 0;
  const Utilisation* dies = nullptr;
  for (const Utilisation& use : all) {
    if (use.label == "channels") channels = use.shares.size();
    if (dies == nullptr && use.label == "dies") dies = &use;
  }
  if (dies == nullptr) return nullptr;
  const std::size_t count = dies->shares.size();
  const std::size_t columns =
      channels > 0 && count % channels == 0 ? count / channels : std::min<std::size_t>(count, 16);
  return {{"columns", columns}, {"shares", dies->shares}};
}

}  // namespace

Json figure_data(const Json& report) {
  Json data = {{"seconds", report["measured_time"]["value"]}, {"causes", Json::parse(asset("causes.json"))}};
  data["parts"] = Json::array();
  for (const ShownResults& shown : shown_results(report)) data["parts"].push_back(part(shown));
  if (report.contains("series")) data["drive"] = report["series"];
  if (report.contains("utilisation")) data["utilisation_over_time"] = report["utilisation"];
  if (report.contains("blocks")) data["blocks"] = report["blocks"];
  const std::vector<Utilisation> busy = plain_utilisations(report["statistics"]);
  data["utilisation"] = Json::array();
  for (const Utilisation& use : busy)
    data["utilisation"].push_back({{"label", use.label}, {"shares", use.shares}});
  data["dies"] = dies(busy);
  return data;
}

}  // namespace tlmssd
