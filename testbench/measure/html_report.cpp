#include "testbench/measure/html_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "testbench/measure/quantities.h"
#include "testbench/measure/statistics_view.h"
#include "testbench/measure/svg_charts.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_style = R"(<style>
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#667;--line:#d9dde3;--bed:#eef1f5}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--paper:#14171b;--soft:#9aa3af;--line:#333a44;--bed:#22272e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin-bottom:0}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:.2rem .5rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
td:first-child,th:first-child,td.l{text-align:left}.doc{color:var(--soft);text-align:left}
svg{width:100%;height:auto;display:block}pre{background:var(--bed);padding:1rem;overflow:auto}details{margin:.3rem 0 .3rem 1rem}
.tick{font-size:11px;fill:var(--ink)}.label{font-size:12px;fill:var(--soft);color:var(--soft);margin:0}
.grid{stroke:var(--line)}.bed{fill:var(--bed)}.spread{stroke:var(--ink);stroke-width:2}.heat{fill:#d6402b}polyline{fill:none;stroke-width:1.6}
.legend{margin:.3rem 0}.legend span{margin-right:1rem;font-size:13px;white-space:nowrap}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.35em}
.warn{border-left:4px solid #d6902b;padding-left:.8rem}
)";

constexpr const char* k_palette[] = {"#3b76c4", "#d6702b", "#3c9a5f", "#b5478f", "#8a6d3b", "#7a5cc0",
                                     "#c23b3b", "#2f9aa0", "#9aa12f", "#58b0e0", "#e0a21b", "#6b7785"};

std::string nanoseconds_text(double ns) {
  return time_text(ns * 1e3);
}
std::string seconds_text(double s) {
  return time_text(s * 1e12);
}
std::string percent_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}
std::string number_text(double value) {
  return fmt::format("{:g}", value);
}

double number(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

std::string style() {
  std::string css = k_style;
  for (std::size_t i = 0; i < std::size(k_palette); ++i) {
    css += fmt::format(".c{0}{{stroke:{1}}}.f{0}{{fill:{1}}}.b{0}{{background:{1}}}\n", i, k_palette[i]);
  }
  return css + "</style>";
}

std::string facts(const Json& report) {
  std::string html = fmt::format(
      "<h1>{}</h1><p class=\"doc\">tlmssd {}, seed {}, {} simulated, {} measured</p>",
      html_text(report["title"].get<std::string>()),
      html_text(report["tlmssd"]["version"].get<std::string>()), report["seed"].get<std::uint64_t>(),
      seconds_text(number(report["simulated_time"], "value")),
      seconds_text(number(report["measured_time"], "value")));
  html += "<p>" + html_text(report["drive"].get<std::string>()) + "</p><ul>";
  for (const Json& load : report["results"]["loads"]) {
    html += "<li><b>" + html_text(load["name"].get<std::string>()) + "</b> ";
    if (load.contains("description")) html += html_text(load["description"].get<std::string>());
    if (load.contains("warm_up_requests"))
      html += fmt::format("; warm-up: {} requests untimed", load["warm_up_requests"].get<std::uint64_t>());
    html += "</li>";
  }
  html += "</ul>";
  const auto line = [&html](const char* what, const std::vector<std::string>& items) {
    if (!items.empty()) html += fmt::format("<p>{}: {}</p>", what, html_text(list_text(items)));
  };
  if (report.contains("age")) line("Age", {report["age"].get<std::string>()});
  line("Cache", cache_items(report["statistics"]));
  line("pSLC", pslc_items(report["statistics"]));
  line("Mapping", map_items(report["statistics"]));
  line("Converter", converter_items(report["statistics"]));
  line("File cache", file_cache_items(report["statistics"]));
  line("Error correction", error_correction_items(report["statistics"]));
  for (const Json& name : report["unread_parameters"]) {
    html += "<p class=\"warn\">Parameter set but never read: " + html_text(name.get<std::string>()) + "</p>";
  }
  for (const Json& warning : report["warnings"])
    html += "<p class=\"warn\">" + html_text(warning.get<std::string>()) + "</p>";
  return html;
}

void operation_rows(std::string& html, const std::string& load, const Json& operations) {
  for (const auto& [name, operation] : operations.items()) {
    const Json& latency = operation["latency"];
    html += fmt::format("<tr><td>{}</td><td class=\"l\">{}</td><td>{}</td><td>{}</td><td>{}</td>",
                        html_text(load), html_text(name), operation["commands"].get<std::uint64_t>(),
                        count_text(number(operation, "iops")),
                        bandwidth_text(number(operation["bandwidth"], "value")));
    for (const char* key : {"mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"}) {
      html += "<td>" + nanoseconds_text(number(latency, key)) + "</td>";
    }
    html += "</tr>";
  }
}

std::string operations_table(const Json& results) {
  std::string html =
      "<h2>Operations</h2><table><tr><th>load</th><th>operation</th><th>commands</th><th>IOPS</"
      "th><th>bandwidth</th>"
      "<th>mean</th><th>p50</th><th>p95</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>max</th></tr>";
  operation_rows(html, "all", results["total"]["operations"]);
  if (results["loads"].size() > 1) {
    for (const Json& load : results["loads"])
      operation_rows(html, load["name"].get<std::string>(), load["operations"]);
  }
  return html + "</table>";
}

std::string latency_chart(const Json& total) {
  std::vector<Curve> curves;
  for (const auto& [name, operation] : total["operations"].items()) {
    Curve curve{name, {}};
    for (const Json& point : operation["distribution"])
      curve.points.emplace_back(point[0].get<double>(), point[1].get<double>());
    curves.push_back(std::move(curve));
  }
  return "<h2>Latency distribution</h2>" + line_chart(curves, {"latency", true, &nanoseconds_text},
                                                      {"share of commands not slower", false, &percent_text},
                                                      1);
}

/// The causes that are worth a colour: those that make up half a per cent of some bar, the largest first; the rest is "other".
std::map<std::string, std::size_t> cause_colours(const std::vector<const Json*>& ledgers) {
  std::map<std::string, double> largest;
  for (const Json* ledger : ledgers) {
    for (const auto& [cause, part] : ledger->items())
      largest[cause] = std::max(largest[cause], number(part, "share"));
  }
  std::vector<std::pair<std::string, double>> sorted(largest.begin(), largest.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::map<std::string, std::size_t> colours;
  for (const auto& [cause, share] : sorted) {
    if (share >= 0.005 && colours.size() + 1 < std::size(k_palette)) colours[cause] = colours.size();
  }
  return colours;
}

std::vector<BarPart> bar_parts(const Json& ledger, const std::map<std::string, std::size_t>& colours) {
  std::vector<BarPart> parts;
  double other = 0;
  for (const auto& [cause, part] : ledger.items()) {
    const auto colour = colours.find(cause);
    if (colour == colours.end()) {
      other += number(part, "share");
    } else {
      parts.push_back({cause, number(part, "share"), colour->second});
    }
  }
  if (other > 0) parts.push_back({"other", other, std::size(k_palette) - 1});
  return parts;
}

std::string ledger_chart(const Json& total) {
  std::vector<const Json*> ledgers;
  for (const auto& [name, operation] : total["operations"].items()) {
    ledgers.push_back(&operation["ledger"]);
    ledgers.push_back(&operation["tail"]["ledger"]);
  }
  const std::map<std::string, std::size_t> colours = cause_colours(ledgers);
  std::vector<StackedBar> bars;
  for (const auto& [name, operation] : total["operations"].items()) {
    bars.push_back({name + ", mean " + nanoseconds_text(number(operation["latency"], "mean")),
                    bar_parts(operation["ledger"], colours)});
    bars.push_back({fmt::format("slowest {}", share_text(number(operation["tail"], "share"))),
                    bar_parts(operation["tail"]["ledger"], colours)});
  }
  return "<h2>Where the time goes</h2>" + stacked_bars(bars);
}

Curve series_curve(const std::string& name, const Json& values, double step) {
  Curve curve{name, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    curve.points.emplace_back((static_cast<double>(i) + 0.5) * step, values[i].get<double>());
  }
  return curve;
}

std::string series_charts(const Json& series) {
  const double step = number(series["step"], "value");
  std::vector<Curve> bandwidth;
  std::vector<Curve> iops;
  for (const auto& [name, values] : series.items()) {
    if (!values.is_object() || !values.contains("iops")) continue;
    bandwidth.push_back(series_curve(name, values["bandwidth"], step));
    iops.push_back(series_curve(name, values["iops"], step));
  }
  const Axis time{"time since measurement began", false, &seconds_text};
  return "<h2>Over time</h2>" + line_chart(bandwidth, time, {"bandwidth", false, &bandwidth_text}, 0) +
         line_chart(iops, time, {"commands per second", false, &count_text}, 0) +
         line_chart({series_curve("queue depth", series["queue_depth"], step)}, time,
                    {"commands outstanding", false, &number_text}, 0);
}

std::string utilisation_chart(const std::vector<Utilisation>& all) {
  if (all.empty()) return "";
  std::vector<RangeBar> bars;
  for (const Utilisation& u : all) {
    const std::string label =
        u.shares.size() == 1 ? u.label : fmt::format("{} (mean of {})", u.label, u.shares.size());
    bars.push_back({label, u.mean(), *std::min_element(u.shares.begin(), u.shares.end()), u.highest(),
                    share_text(u.mean())});
  }
  return "<h2>Utilisation</h2>" + range_bars(bars, 1);
}

std::string die_map(const std::vector<Utilisation>& all) {
  std::size_t channels = 0;
  const Utilisation* dies = nullptr;
  for (const Utilisation& u : all) {
    if (u.label == "channels") channels = u.shares.size();
    if (dies == nullptr && u.label == "dies") dies = &u;
  }
  if (dies == nullptr) return "";
  const std::size_t columns =
      channels > 0 && dies->shares.size() % channels == 0 ? dies->shares.size() / channels : 16;
  return "<h2>Busy share of each die</h2><p class=\"doc\">One row for each channel; point at a cell for its "
         "value.</p>" +
         heat_map(dies->shares, columns, "die");
}

std::string wear_chart(const Json& statistics) {
  std::vector<RangeBar> bars;
  double top = 0;
  for (const auto& [name, value] : erase_counts(statistics)) {
    const double count = (*value)["value"].get<double>();
    bars.push_back({name, count, count, count, value_text(*value, name)});
    top = std::max(top, count);
  }
  return bars.empty() ? "" : "<h2>Erase counts</h2>" + range_bars(bars, top);
}

void statistics_tree(std::string& html, const Json& group) {
  bool table = false;
  for (const auto& [name, member] : group.items()) {
    if (!is_value(member)) continue;
    if (!table) html += "<table>";
    table = true;
    const std::string doc = member.contains("doc") ? member["doc"].get<std::string>() : "";
    html += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"doc\">{}</td></tr>",
                        html_text(plain_name(name)), html_text(value_text(member, name)), html_text(doc));
  }
  if (table) html += "</table>";
  for (const auto& [name, member] : group.items()) {
    if (!member.is_object() || is_value(member)) continue;
    const std::string doc =
        member.contains("doc") && member["doc"].is_string() ? member["doc"].get<std::string>() : "";
    html += fmt::format("<details><summary>{} <span class=\"doc\">{}</span></summary>",
                        html_text(plain_name(name)), html_text(doc));
    statistics_tree(html, member);
    html += "</details>";
  }
}

}  // namespace

std::string html_report(const Json& report) {
  const Json& total = report["results"]["total"];
  const std::vector<Utilisation> busy = plain_utilisations(report["statistics"]);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>" +
      html_text(report["title"].get<std::string>()) + "</title>" + style() + "</head><body>\n";
  html += facts(report) + "\n" + operations_table(report["results"]) + "\n";
  if (!total["operations"].empty()) {
    html += latency_chart(total) + "\n" + ledger_chart(total) + "\n" + series_charts(total["series"]) + "\n";
  }
  html += utilisation_chart(busy) + "\n" + die_map(busy) + "\n" + wear_chart(report["statistics"]) + "\n";
  html += "<h2>Statistics</h2>";
  statistics_tree(html, report["statistics"]);
  html += "<h2>Scenario</h2><details><summary>resolved</summary><pre>" +
          html_text(report["scenario"].get<std::string>()) + "</pre></details>\n</body></html>\n";
  return html;
}

}  // namespace tlmssd
