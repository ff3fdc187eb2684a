#include "testbench/report/page/html_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>

#include "models/base/quantity_text.h"
#include "testbench/report/json_values.h"
#include "testbench/report/page/assets.h"
#include "testbench/report/page/html_figures.h"
#include "testbench/report/page/html_text.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

std::string nanoseconds_text(double ns) {
  return time_text(ns * 1e3);
}
std::string seconds_text(double s) {
  return time_text(s * 1e12);
}
std::string percent_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
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
  if (report.contains("memories")) line("Memories", {report["memories"].get<std::string>()});
  if (report.contains("age")) line("Age", {report["age"].get<std::string>()});
  line("Cache", cache_items(report["statistics"]));
  line("pSLC", pslc_items(report["statistics"]));
  line("Mapping", map_items(report["statistics"]));
  line("Log-structured host layer", log_structured_items(report["statistics"]));
  line("File cache", file_cache_items(report["statistics"]));
  line("Error correction", error_correction_items(report["statistics"]));
  for (const Json& target : report.value("targets", Json::array())) {
    const bool met = target["met"].get<bool>();
    html += fmt::format("<p{}>Target {}: {}</p>", met ? "" : " class=\"warn\"", met ? "met" : "missed",
                        html_text(target["text"].get<std::string>()));
  }
  for (const Json& name : report["unread_parameters"]) {
    html +=
        "<p class=\"warn\">Parameter set that plays no part: " + html_text(name.get<std::string>()) + "</p>";
  }
  for (const Json& warning : report["warnings"])
    html += "<p class=\"warn\">" + html_text(warning.get<std::string>()) + "</p>";
  for (const Json& advice : report.value("advice", Json::array())) {
    html += fmt::format("<p class=\"warn\">{}. <span class=\"doc\">Look at <code>{}</code>. [{}]</span></p>",
                        html_text(advice["text"].get<std::string>()),
                        html_text(advice["look_at"].get<std::string>()),
                        html_text(advice["name"].get<std::string>()));
  }
  return html;
}

std::string device_table_row(const Json& device) {
  const Json& latency = device["latency"];
  std::string html = fmt::format(
      "<tr><td></td><td class=\"text doc\">as the drive sees it, in "
      "pieces</td><td>{}</td><td>{}</td><td></td>",
      device["commands"].get<std::uint64_t>(), count_text(number(device, "iops")));
  for (const char* key : {"mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"})
    html += "<td>" + nanoseconds_text(number(latency, key)) + "</td>";
  return html + "</tr>";
}

void operation_rows(std::string& html, const std::string& load, const Json& operations) {
  for (const auto& [name, operation] : operations.items()) {
    if (!operation.contains("latency")) {  // of an untimed run
      html += fmt::format("<tr><td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td>",
                          html_text(load), html_text(name), operation["commands"].get<std::uint64_t>());
      for (int column = 0; column < 9; ++column) html += "<td>-</td>";
      html += "</tr>";
      continue;
    }
    const Json& latency = operation["latency"];
    html += fmt::format(
        "<tr><td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td>",
        html_text(load), html_text(name), operation["commands"].get<std::uint64_t>(),
        count_text(number(operation, "iops")), bandwidth_text(number(operation["bandwidth"], "value")));
    for (const char* key : {"mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"}) {
      html += "<td>" + nanoseconds_text(number(latency, key)) + "</td>";
    }
    html += "</tr>";
    if (operation.contains("device")) html += device_table_row(operation["device"]);
  }
}

std::string findings_text(const Json& report) {
  const Json found = report.value("findings", Json::array());
  if (found.empty()) return "";
  std::string html = "<h2>What limits</h2><ul>";
  for (const Json& one : found) {
    html += "<li>" + html_text(one["text"].get<std::string>());
    if (const std::string look_at = one["look_at"].get<std::string>(); !look_at.empty())
      html += " <span class=\"doc\">Look at " + html_text(look_at) + ".</span>";
    html += "</li>";
  }
  return html + "</ul>";
}

std::string operations_table(const std::vector<ShownResults>& parts) {
  std::string html =
      "<h2>Operations</h2><div "
      "class=\"scroll\"><table><tr><th>load</th><th>operation</th><th>commands</th><th>IOPS</"
      "th><th>bandwidth</th>"
      "<th>mean</th><th>p50</th><th>p95</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>max</th></tr>";
  for (const ShownResults& part : parts)
    operation_rows(html, part.name.empty() ? "all" : part.name, (*part.results)["operations"]);
  return html + "</table></div>";
}

template <class Use>
void for_each_operation(const std::vector<ShownResults>& parts, Use&& use) {
  for (const ShownResults& part : parts) {
    for (const auto& [name, operation] : (*part.results)["operations"].items()) use(part.of(name), operation);
  }
}

/// "collection's programs 41 %, reads of backup 7 %".
std::string behind_text(const Json& behind) {
  std::vector<std::string> items;
  for (const auto& [who, part] : behind.items()) {
    if (number(part, "share") >= 0.005) items.push_back(who + " " + percent_text(number(part, "share")));
  }
  return list_text(items);
}

std::string way_text(const Json& command) {
  std::vector<std::string> items;
  for (const Json& hop : command["way"])
    items.push_back(hop["cause"].get<std::string>() + " " + time_text(number(hop, "ps")));
  return list_text(items);
}

std::string slowest_table(const std::vector<ShownResults>& parts) {
  std::string html =
      "<h2>The slowest commands</h2><p class=\"doc\">Submitted at simulated time, as in the timeline; causes "
      "in the "
      "order of a command's way.</p>";
  for_each_operation(parts, [&](const std::string& name, const Json& operation) {
    html += "<details><summary>" + html_text(name) +
            "</summary><div "
            "class=\"scroll\"><table><tr><th>submitted</th><th>latency</th><th>LBA</th><th>bytes</th>"
            "<th>where the time went</th><th>dies were busy with</th></tr>";
    for (const Json& command : operation["slowest"]) {
      html += fmt::format(
          "<tr><td>{:.9f} s</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td>"
          "<td class=\"text\">{}</td></tr>",
          number(command, "submitted_ps") * 1e-12, time_text(number(command, "latency_ps")),
          command["lba"].get<std::uint64_t>(), command["bytes"].get<std::uint64_t>(),
          html_text(way_text(command)), html_text(behind_text(command["behind"])));
    }
    html += "</table></div></details>";
  });
  return html;
}

void statistics_tree(std::string& html, const Json& group) {
  static const std::string k_doc = "doc";
  bool table = false;
  for (const auto& [name, member] : group.items()) {
    if (!is_value(member)) continue;
    if (!table) html += "<div class=\"scroll\"><table>";
    table = true;
    html += "<tr><td class=\"text\">";
    append_html_text(html, plain_name(name));
    html += "</td><td class=\"number\">";
    append_html_text(html, value_text(member, name));
    html += "</td><td class=\"text doc\">";
    if (const auto doc = member.find(k_doc); doc != member.end())
      append_html_text(html, doc->get_ref<const std::string&>());
    html += "</td></tr>";
  }
  if (table) html += "</table></div>";
  for (const auto& [name, member] : group.items()) {
    if (!member.is_object() || is_value(member)) continue;
    const auto found = member.find(k_doc);
    const std::string doc = found != member.end() && found->is_string() ? found->get<std::string>() : "";
    html += fmt::format("<details><summary>{} <span class=\"doc\">{}</span></summary>",
                        html_text(plain_name(name)), html_text(doc));
    statistics_tree(html, member);
    html += "</details>";
  }
}

/// A heading, and the place where scripts put its figures.
std::string figures(const char* heading, std::initializer_list<const char*> sections) {
  std::string html = fmt::format("<h2>{}</h2>\n", heading);
  for (const char* section : sections) html += fmt::format("<div class=\"grid\" id=\"{}\"></div>\n", section);
  return html;
}

void scripts(std::string& html, const Json& report) {
  const Json content = {
      {"charts", Json::object()}, {"tables", Json::object()}, {"data", {{"report", figure_data(report)}}}};
  html += "<script type=\"application/json\" id=\"content\">";
  append_html_json(html, content);
  html += "</script>\n<script type=\"module\">";
  html += asset("vega.js");
  html += "</script>\n<script type=\"module\">";
  for (const char* name : {"page.js", "base.js", "latency.js", "over_time.js", "drive.js", "report.js"})
    html += asset(name);
  html += "</script>\n";
}

}  // namespace

std::string html_report(const Json& report) {
  const std::vector<ShownResults> parts = shown_results(report);
  constexpr std::size_t k_usual_size = 2'000'000;  // not copied while it grows; costs only what is used
  std::string html;
  html.reserve(k_usual_size);
  html +=
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>" +
      html_text(report["title"].get<std::string>()) + "</title>\n<style>";
  html += asset("page.css");
  html += asset("report.css");
  html += "</style></head><body>\n" + facts(report) + "\n" + operations_table(parts) + findings_text(report) +
          "<noscript><p class=\"warn\">The figures need JavaScript.</p></noscript>\n";
  if (number(report["measured_time"], "value") > 0 && !report["results"]["total"]["operations"].empty()) {
    html += figures("Latency", {"latency"}) + figures("Where the time goes", {"blame"}) +
            slowest_table(parts) + figures("Over time", {"over-time"}) + figures("Queue depth", {"queues"});
  }
  html += figures("Utilisation", {"busy", "dies"});
  if (report.contains("blocks")) html += figures("Blocks", {"wear", "blocks"});
  html += "<h2>Statistics</h2>";
  statistics_tree(html, report["statistics"]);
  html += "<h2>Scenario</h2><details><summary>resolved</summary><pre>" +
          html_text(report["scenario"].get<std::string>()) + "</pre></details>\n";
  scripts(html, report);
  html += "</body></html>\n";
  return html;
}

}  // namespace tlmssd
