#include "testbench/report/summary.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "models/base/quantity_text.h"
#include "testbench/report/json_values.h"
#include "testbench/report/ledger_json.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t k_columns = 80;
constexpr std::size_t k_lines = 40;         ///< with one part of results
constexpr std::size_t k_lines_of_part = 6;  ///< more for each further one
constexpr std::size_t k_most_parts = 4;
constexpr std::size_t k_lines_of_notes = 6;  ///< at least, however long the rest is

/// Lines of at most 80 characters.
class Page {
 public:
  explicit Page(std::size_t lines = k_lines) : most_(lines) {}
  void line(std::string text) { lines_.push_back(std::move(text)); }
  /// Text that goes on in further lines, indented by `indent`, where it is too long for one; at
  /// most `most` lines.
  void wrapped(std::string_view text, std::size_t indent, std::size_t most) {
    std::string start;
    for (std::size_t n = 0; n < most; ++n) {
      const std::size_t room = k_columns - start.size();
      if (text.size() <= room || n + 1 == most) {
        line(start + cut(text, room));
        return;
      }
      std::size_t end = text.rfind(' ', room);
      if (end == std::string_view::npos || end == 0) end = whole(text, room);
      line(start + std::string(text.substr(0, end)));
      text.remove_prefix(end);
      while (text.starts_with(' ')) text.remove_prefix(1);
      start = std::string(indent, ' ');
    }
  }
  /// Items after a heading, as many to a line as fit.
  void items(const std::string& heading, const std::vector<std::string>& items) {
    std::string text = fmt::format("{:<20}", heading);
    if (text.size() > 20 || text.back() != ' ') {
      line(cut(text, k_columns));
      text = std::string(20, ' ');
    }
    std::size_t at = text.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (at > 20 && at + 2 + items[i].size() > k_columns) {
        line(text);
        text = std::string(20, ' ');
        at = 20;
      }
      if (at > 20) text += ", ";
      text += items[i];
      at = text.size();
    }
    line(text);
  }
  /// Lines that `text` will take in wrapped().
  [[nodiscard]] static std::size_t height(std::string_view text, std::size_t indent, std::size_t most) {
    Page page;
    page.wrapped(text, indent, most);
    return page.lines_.size();
  }
  void gap() { lines_.emplace_back(); }
  /// There is room for so many lines more.
  void make_room(std::size_t lines) { most_ = std::max(most_, lines_.size() + lines); }
  [[nodiscard]] std::size_t left() const { return most_ - std::min(most_, lines_.size()); }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  /// The largest length of at most `length` that does not end within a character.
  static std::size_t whole(std::string_view text, std::size_t length) {
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    return length;
  }
  static std::string cut(std::string_view text, std::size_t room) {
    if (text.size() <= room) return std::string(text);
    return std::string(text.substr(0, whole(text, room - 3))) + "...";
  }
  std::size_t most_;
  std::vector<std::string> lines_;
};

/// A rate as one short word: "13k", "2.0M".
std::string rate_text(double rate) {
  return rate >= 1e6   ? fmt::format("{:.1f}M", rate * 1e-6)
         : rate >= 1e3 ? fmt::format("{:.0f}k", rate * 1e-3)
                       : fmt::format("{:.0f}", rate);
}

void head(Page& page, const Json& report, const HostRun& run) {
  page.wrapped(fmt::format("tlmssd {}: {}", report["tlmssd"]["version"].get<std::string>(),
                           report["title"].get<std::string>()),
               8, 1);
  page.wrapped("Drive   " + report["drive"].get<std::string>(), 8, 3);
  const Json& loads = report["results"]["loads"];
  for (std::size_t i = 0; i < loads.size() && i < 3; ++i) {
    const std::string text =
        loads[i].contains("description") ? loads[i]["description"].get<std::string>() : "";
    page.wrapped(fmt::format("Load    {}: {}", loads[i]["name"].get<std::string>(), text), 8,
                 loads.size() == 1 ? 3 : 2);
  }
  if (loads.size() > 3) page.line(fmt::format("        and {} more", loads.size() - 3));
  if (report.contains("memories")) page.wrapped("Memory  " + report["memories"].get<std::string>(), 8, 2);
  if (report.contains("age")) page.wrapped("Age     " + report["age"].get<std::string>(), 8, 2);
  double warm_up = 0;
  for (const Json& load : loads) warm_up += number(load, "warm_up_requests");
  if (warm_up > 0) page.line(fmt::format("Warm-up {:.0f} requests untimed", warm_up));
  const double measured = number(report["measured_time"], "value");
  const double simulated = number(report["simulated_time"], "value");
  const std::string times =
      measured > 0
          ? fmt::format("{} simulated, {} measured", time_text(simulated * 1e12), time_text(measured * 1e12))
      : simulated > 0 && report["results"]["total"]["commands"] == 0
          ? fmt::format("{} simulated, nothing measured", time_text(simulated * 1e12))
          : "untimed";
  page.line(fmt::format("Time    {}; took {:.1f} s, {} commands/s", times, run.seconds,
                        rate_text(static_cast<double>(run.commands) / std::max(run.seconds, 1e-9))));
  page.line(fmt::format("Checks  {} blocks read and compared, {} wrong reads",
                        count_text(number(report["checks"], "blocks_compared")),
                        report["checks"]["wrong_reads"].get<std::uint64_t>()));
}

std::string table_row(std::string_view name, const Json& operation) {
  const Json& latency = operation["latency"];
  std::string row = fmt::format("{:<12}{:>8}{:>11}", name, count_text(number(operation, "iops")),
                                bandwidth_text(number(operation["bandwidth"], "value")));
  for (const char* key : {"mean", "p50", "p99", "p99.9", "max"})
    row += fmt::format("{:>9}", time_text(number(latency, key) * 1e3));
  return row;
}

/// What the drive saw of requests that were split.
std::string pieces_row(const Json& device) {
  const Json& latency = device["latency"];
  std::string row =
      fmt::format("{:<31}", fmt::format("  in pieces: {} commands", device["commands"].get<std::uint64_t>()));
  for (const char* key : {"mean", "p50", "p99", "p99.9", "max"})
    row += fmt::format("{:>9}", time_text(number(latency, key) * 1e3));
  return row;
}

void operations(Page& page, const ShownResults& part) {
  const Json& results = *part.results;
  if (!part.name.empty()) page.wrapped(part.name, 0, 1);
  const char* indent = part.name.empty() ? "" : "  ";
  for (const auto& [name, operation] : results["operations"].items()) {
    page.line(table_row(indent + name, operation));
    if (operation.contains("device")) page.line(pieces_row(operation["device"]));
  }
  bool failed = false;
  std::string depth =
      fmt::format("{}queue depth {:.1f} on average, {} at most", indent,
                  number(results["queue_depth"], "mean"), results["queue_depth"]["max"].get<std::uint64_t>());
  for (const auto& [name, operation] : results["operations"].items()) {
    for (const auto& [status, count] : operation["errors"].items()) {
      depth += fmt::format("; {} failed: {} ({})", name, count.get<std::uint64_t>(), status);
      failed = true;
    }
  }
  if (failed) depth += "; latencies are with them, IOPS and bandwidth without";
  page.wrapped(depth, 2, 2);
}

using Shares = std::vector<std::pair<double, std::string>>;

/// "sense 41 %" and so on, largest first.
std::vector<std::string> share_items(Shares parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> result;
  for (const auto& [share, what] : parts) {
    if (share >= 0.005 || result.empty()) result.push_back(fmt::format("{} {:.0f} %", what, share * 100));
  }
  return result;
}

std::vector<std::string> ledger_items(const Json& ledger) {
  Shares parts;
  for (const auto& [cause, part] : ledger.items()) parts.emplace_back(number(part, "share"), cause);
  return share_items(std::move(parts));
}

/// The same of a percentile; where it is known whose work kept a die busy, or whose commands SATA
/// ran alone, that stands in place of the cause.
std::vector<std::string> blame(const Json& percentile, bool several) {
  Shares parts;
  std::map<std::string, double> known_of;  // of a cause
  for (const auto& [who, part] : percentile["behind"].items()) {
    const bool is_read = who.starts_with(k_reads_of);
    const bool alone = who.starts_with(k_alone_of);
    if (is_read && !several) continue;
    known_of[is_read ? "die busy: read" : alone ? "submission" : "die busy: gc"] += number(part, "share");
    parts.emplace_back(number(part, "share"), who);
  }
  for (const auto& [cause, part] : percentile["ledger"].items()) {
    const double known = known_of[cause];
    const double rest = number(part, "share") - known;
    if (known == 0 || rest > 1e-9) parts.emplace_back(rest, cause);
  }
  return share_items(std::move(parts));
}

void ledger(Page& page, const ShownResults& part) {
  for (const auto& [name, operation] : (*part.results)["operations"].items()) {
    if (number(operation["latency"], "max") == 0) continue;
    page.items("  " + part.of(name), ledger_items(operation["ledger"]));
    const Json& tail = operation["percentiles"]["p99.9"];
    page.items(fmt::format("    p99.9 {}", time_text(number(tail, "latency_ns") * 1e3)),
               blame(tail, !part.name.empty()));
  }
}

void findings(Page& page, const Json& report) {
  constexpr std::size_t k_most_findings = 4;
  const Json found = report.value("findings", Json::array());
  if (found.empty()) return;
  page.gap();
  for (std::size_t i = 0; i < std::min(found.size(), k_most_findings); ++i) {
    const std::string& look_at = found[i]["look_at"].get<std::string>();
    page.wrapped("> " + found[i]["text"].get<std::string>() +
                     (look_at.empty() ? "" : fmt::format(" (look at {})", look_at)),
                 2, 5);
  }
  if (found.size() > k_most_findings)
    page.line(fmt::format("> and {} more, in report.json", found.size() - k_most_findings));
}

void rounds(Page& page, const Json& report) {
  for (const Json& step : report.value("preconditioning", Json::array()))
    page.wrapped("Prepared  " + step["text"].get<std::string>(), 10, 3);
  if (report.contains("steady"))
    page.wrapped("Rounds    " + report["steady"]["text"].get<std::string>(), 10, 3);
}

void targets(Page& page, const Json& report) {
  const Json judged = report.value("targets", Json::array());
  if (judged.empty()) return;
  page.gap();
  for (const Json& target : judged) {
    page.wrapped(fmt::format("Target  {}  {}", target["met"].get<bool>() ? "met   " : "MISSED",
                             target["text"].get<std::string>()),
                 16, 2);
  }
}

void results(Page& page, const std::vector<ShownResults>& parts) {
  page.gap();
  page.line(fmt::format("{:<12}{:>8}{:>11}{:>9}{:>9}{:>9}{:>9}{:>9}", "", "IOPS", "bandwidth", "mean", "p50",
                        "p99", "p99.9", "max"));
  const std::size_t told = std::min(parts.size(), k_most_parts);
  for (std::size_t i = 0; i < told; ++i) operations(page, parts[i]);
  if (told < parts.size()) page.line(fmt::format("and {} more loads, in the report", parts.size() - told));
  page.gap();
  page.line("Where the time goes, on average and at p99.9");
  for (std::size_t i = 0; i < told; ++i) ledger(page, parts[i]);
}

/// What was carried out without simulated time.
void counts(Page& page, const std::vector<ShownResults>& parts) {
  page.gap();
  const std::size_t told = std::min(parts.size(), k_most_parts);
  for (std::size_t i = 0; i < told; ++i) {
    std::vector<std::string> items;
    for (const auto& [name, operation] : (*parts[i].results)["operations"].items()) {
      std::string item = fmt::format("{} {}", name, count_text(number(operation, "commands")));
      if (const double bytes = number(operation, "bytes"); bytes > 0) item += " (" + bytes_text(bytes) + ")";
      for (const auto& [status, count] : operation["errors"].items())
        item += fmt::format(", {} failed ({})", count.get<std::uint64_t>(), status);
      items.push_back(std::move(item));
    }
    page.items(parts[i].name.empty() ? "Commands" : "Commands " + parts[i].name,
               items.empty() ? std::vector<std::string>{"none"} : items);
  }
  if (told < parts.size()) page.line(fmt::format("and {} more loads, in the report", parts.size() - told));
}

/// The numbers of a group as "name value", those left out that are none.
std::vector<std::string> group_items(const Json& group) {
  std::vector<std::string> result;
  for (const auto& [name, member] : group.items()) {
    if (is_value(member) && !member["value"].is_null())
      result.push_back(plain_name(name) + " " + value_text(member, name));
  }
  return result;
}

/// The lifetime; where advice says so, that it is reckoned from a write amplification that has not
/// settled.
std::vector<std::string> lifetime_with_doubt(const Json& report) {
  std::vector<std::string> items = lifetime_items(report["statistics"]);
  const Json* const open =
      report.contains("lifetime") ? find_value(report["lifetime"], "not settled") : nullptr;
  if (!items.empty() && open != nullptr)
    items.front() += fmt::format(" if all were as in this run, which is too little to tell [{}]",
                                 (*open)["value"].get<std::string>());
  return items;
}

/// Why there is no write amplification, and what was programmed all the same.
std::string no_amplification(const Json& statistics) {
  double programmed = 0;
  const Json* const firmware = find_group(statistics, "firmware");
  if (firmware != nullptr && firmware->contains("flash")) {
    for (const auto& [purpose, group] : (*firmware)["flash"].items()) {
      if (group.is_object() && !is_value(group))
        programmed += number_in(group, "units programmed") + number_in(group, "units padded");
    }
  }
  const std::string none = "none: the host wrote nothing";
  return programmed > 0 ? none + ", and " + count_text(programmed) + " mapping pages were programmed" : none;
}

void drive(Page& page, const Json& report, bool timed) {
  const Json& statistics = report["statistics"];
  page.gap();
  static constexpr std::pair<const char*, const char*> k_groups[] = {
      {"write amplification", "Write amplification"},
      {"garbage collection", "Garbage collection"},
      {"streams", "Streams"}};
  for (const auto& [name, heading] : k_groups) {
    if (const Json* group = find_group(statistics, name)) {
      const std::vector<std::string> items = group_items(*group);
      page.items(heading, items.empty() ? std::vector<std::string>{no_amplification(statistics)} : items);
    } else if (const Json* value = find_value(statistics, name)) {
      page.items(heading, {value_text(*value, name)});
    }
  }
  const std::vector<std::string> cache = cache_items(statistics);
  if (!cache.empty()) page.items("Cache", cache);
  const std::vector<std::string> log_structured = log_structured_items(statistics);
  if (!log_structured.empty()) page.items("Host layer", log_structured);
  const std::vector<std::string> files = file_cache_items(statistics);
  if (!files.empty()) page.items("File cache", files);
  const std::vector<std::string> pslc = pslc_items(statistics);
  if (!pslc.empty()) page.items("pSLC", pslc);
  const std::vector<std::string> map = map_items(statistics);
  if (!map.empty()) page.items("Mapping", map);
  const std::vector<std::string> errors = error_correction_items(statistics);
  if (!errors.empty()) page.items("Error correction", errors);
  std::vector<std::string> erases;
  for (const auto& [name, value] : erase_counts(statistics))
    erases.push_back(name + " " + value_text(*value, name));
  if (const Json* const group = find_group(statistics, "blocks"); group != nullptr && !erases.empty()) {
    if (const double before = number_in(*group, "cycles before"); before > 0)
      erases.push_back(fmt::format("beside {} of age", before));
  }
  if (const Json* const group = find_group(statistics, "pslc")) {  // static blocks are counted apart
    for (const char* which : {"mean", "max"}) {
      if (const Json* const value = find_value(*group, std::string("static erases ") + which))
        erases.push_back(fmt::format("static SLC {} {}", which, value_text(*value, which)));
    }
  }
  if (!erases.empty()) page.items("Erase counts", erases);
  const std::vector<std::string> lifetime = lifetime_with_doubt(report);
  if (!lifetime.empty()) page.items("Lifetime", lifetime);
  if (!timed) return;
  std::vector<std::string> busy;
  for (const Utilisation& u : plain_utilisations(statistics)) {
    busy.push_back(u.shares.size() == 1
                       ? fmt::format("{} {:.0f} %", u.label, u.mean() * 100)
                       : fmt::format("{} {:.0f} % (max {:.0f})", u.label, u.mean() * 100, u.highest() * 100));
  }
  if (!busy.empty()) page.items("Utilisation", busy);
}

/// What the user should know beside the results. Advice comes last, but first where a target is
/// missed: it may say why.
std::vector<std::string> notes_of(const Json& report) {
  std::vector<std::string> notes;
  for (const Json& name : report["unread_parameters"])
    notes.push_back("parameter set that plays no part: " + name.get<std::string>());
  for (const Json& warning : report["warnings"]) notes.push_back(warning.get<std::string>());
  const auto given = static_cast<std::ptrdiff_t>(notes.size());
  const Json all_advice = report.value("advice", Json::array());
  for (const Json& advice : all_advice) {
    notes.push_back(fmt::format("{} (look at {}) [{}]", advice["text"].get<std::string>(),
                                advice["look_at"].get<std::string>(), advice["name"].get<std::string>()));
  }
  const Json judged = report.value("targets", Json::array());
  const bool missed = std::any_of(judged.begin(), judged.end(),
                                  [](const Json& target) { return !target["met"].get<bool>(); });
  if (missed) std::rotate(notes.begin(), notes.begin() + given, notes.end());
  return notes;
}

}  // namespace

std::string summary(const Json& report, const HostRun& run) {
  const std::vector<ShownResults> parts = shown_results(report);
  const std::size_t found = report.value("findings", Json::array()).size();
  const std::size_t set = report.value("targets", Json::array()).size();
  const std::size_t steady = report.value("preconditioning", Json::array()).size() + report.count("steady");
  Page page(k_lines + 2 * std::min<std::size_t>(found, 4) + (set == 0 ? 0 : 1 + 2 * set) + 3 * steady +
            k_lines_of_part * (std::min(parts.size(), k_most_parts) - 1));
  head(page, report, run);
  const bool timed = number(report["measured_time"], "value") > 0;
  if (timed) {
    results(page, parts);
    findings(page, report);
  } else if (report["results"]["total"]["commands"] != 0) {
    counts(page, parts);
  }
  rounds(page, report);
  targets(page, report);
  drive(page, report, timed);
  const std::vector<std::string> notes = notes_of(report);
  if (notes.empty()) return page.text();
  page.gap();
  page.make_room(k_lines_of_notes);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const std::size_t others = i + 1 < notes.size() ? 1 : 0;  // a line to say how many more there are
    if (Page::height("! " + notes[i], 2, 3) + others > page.left()) {
      const std::size_t rest = notes.size() - i;
      page.line(fmt::format("! and {} more warning{}, in report.json", rest, rest == 1 ? "" : "s"));
      break;
    }
    page.wrapped("! " + notes[i], 2, 3);
  }
  return page.text();
}

}  // namespace tlmssd
