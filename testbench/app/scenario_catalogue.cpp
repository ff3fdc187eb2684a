#include "testbench/app/scenario_catalogue.h"

#include <algorithm>
#include <sstream>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "platform/drive_catalogue.h"
#include "testbench/app/age.h"
#include "testbench/app/precondition.h"
#include "testbench/app/steady_rounds.h"
#include "testbench/app/topics.h"
#include "testbench/host/file_cache/admission_policy.h"
#include "testbench/host/file_cache/file_cache_config.h"
#include "testbench/host/log_structured/log_structured_config.h"
#include "testbench/loads/config/load_config.h"
#include "testbench/loads/requests/request_family.h"
#include "testbench/report/advice/adviser.h"
#include "testbench/report/report_writer.h"
#include "testbench/report/targets.h"
#include "testbench/scoreboard/contents.h"

namespace tlmssd {

using namespace literals;

const ParameterTable<RunSection>& RunSection::parameters() {
  static const auto table =
      ParameterTable<RunSection>{}
          .flag("timed", &RunSection::timed,
                "false: the load runs through the untimed path, for write amplification and wear without "
                "latencies")
          .time(
              "quantum", &RunSection::quantum, {0, 1_s},
              "how far the models may run ahead of the SystemC kernel's clock; changes speed, never results")
          .time(
              "stall_after", &RunSection::stall_after, {0, 100'000_s},
              "the run stops with exit code 3 when commands are outstanding and none completes for so long; "
              "0 s: a minute, and longer where something slow is still under way")
          .choice("long_requests", &RunSection::long_requests, {"split", "refuse"},
                  "reads and writes longer than ssd.host.max_transfer: split into several commands by the "
                  "host, as Linux does, or sent as they are, which the drive refuses")
          .choice("errors", &RunSection::errors, {"fail", "accept"},
                  "commands that end with an error, preconditioning included: the run ends with exit code 5, "
                  "or with 0 as if none had failed")
          .time("pause_at", &RunSection::pause_at, {0, 100'000_s},
                "instant after the start of the load at which the run stops in a debugger, or says what "
                "the drive is doing (as --break time=...); absent or 0 s: never")
          .optional();
  return table;
}

const ParameterTable<ReportSection>& ReportSection::parameters() {
  static const auto table =
      ParameterTable<ReportSection>{}
          .choice("command_log", &ReportSection::command_log, {"none", "csv", "csv.gz", "csv.zst"},
                  "write one line for every completed command, with the time charged to each cause")
          .flag("timeline", &ReportSection::timeline,
                "write timeline.perfetto: what queues, cores, collection, channels and dies do, for "
                "Perfetto's viewer")
          .flag("merge", &ReportSection::merge,
                "show what all loads did together beside each of them; a single load, or the jobs of one "
                "(numjobs), are always shown together")
          .text("silence", &ReportSection::silence,
                "rules of the adviser that are to keep silent, by their names, with commas between them; "
                "empty: none")
          .texts(
              "decisions", &ReportSection::decisions,
              "write decisions.jsonl: what firmware decides during the load, and why; a list of kinds: gc, "
              "write, wear, move, remap, erase, retire, cache, ecc, own, or all; absent or empty: none")
          .optional();
  return table;
}

std::vector<std::string> ReportSection::silenced() const {
  std::vector<std::string> known;
  for (const auto& [name, what] : adviser_rules()) known.push_back(name);
  std::vector<std::string> names;
  std::istringstream text(silence);
  for (std::string name; std::getline(text, name, ',');) {
    const std::size_t first = name.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    name = name.substr(first, name.find_last_not_of(' ') - first + 1);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError("silence: " + in_quotes(name) + " is no rule of the adviser, expected " +
                       any_of(known, known.size()) + did_you_mean(name, known));
    names.push_back(name);
  }
  return names;
}

const ParameterTable<DecisionFilter>& DecisionFilter::parameters() {
  static const auto table =
      ParameterTable<DecisionFilter>{}
          .integers("lpn", &DecisionFilter::lpn, {0, 4'294'967'294},
                    "mapping pages that decisions must be about: [first, last], or one; empty: any, and none")
          .integers("block", &DecisionFilter::block, {0, 4'294'967'294},
                    "blocks, as the log numbers them, that decisions must be about: [first, last], or one; "
                    "empty: any, and none")
          .time("from", &DecisionFilter::from, {0, 100'000_s},
                "start of the log, after the start of the load")
          .time("length", &DecisionFilter::length, {0, 100'000_s}, "length of the log; 0 s: to the end")
          .integer("most", &DecisionFilter::most, {1, 1'000'000'000},
                   "decisions that are written; the log says how many more there were");
  return table;
}

void DecisionFilter::check() const {
  const auto range = [](const char* key, const std::vector<std::int64_t>& of) {
    if (of.size() > 2) throw objection(key, "has more than two numbers, expected [first, last] or one");
    if (of.size() == 2 && of[1] < of[0]) throw objection(key, "ends before it begins");
  };
  range("report.decision_filter.lpn", lpn);
  range("report.decision_filter.block", block);
}

const ParameterTable<TimelineSection>& TimelineSection::parameters() {
  static const auto table =
      ParameterTable<TimelineSection>{}
          .time("from", &TimelineSection::from, {0, 100'000_s},
                "start of the window, after the start of the load")
          .time("length", &TimelineSection::length, {1_ns, 100'000_s}, "length of the window")
          .integer("slowest", &TimelineSection::slowest, {0, 1000},
                   "show what surrounds so many of the slowest commands of the window; 0: all of it")
          .time("margin", &TimelineSection::margin, {0, 1_s},
                "how much is shown before and after each of the slowest commands");
  return table;
}

namespace {

void add_load(Catalogue& catalogue) {
  Section& load =
      catalogue
          .list("load",
                "what the host asks of the drive; several entries run at once, each on a queue of its own",
                std::vector<ParameterSpec>(), 1)
          .variant("trace", "replay of a recorded trace")
          .variant("profile", "requests made from the published statistics of a recorded volume")
          .variant("fio", "the jobs of a fio job file")
          .variant("", "a load made in fio's own words");
  for (LoadKeys& keys : load_keys()) load.keys(std::move(keys.parameters), std::move(keys.only_with));
  const std::vector<PolicyInfo> sources = request_sources().infos();
  if (!sources.empty()) {
    load.variant("source", "requests made by a plug-in")
        .policy("source", sources, {}, "what makes the requests", {"source"});
  }
  catalogue
      .section("load.columns", "what the columns of a trace of format csv mean", ColumnsConfig::parameters())
      .optional();
}

Catalogue make_catalogue() {
  Catalogue catalogue;
  add_drive_sections(catalogue);
  catalogue
      .section("log_structured",
               "software of the host that turns random writes into sequential ones; absent unless given",
               LogStructuredChoice::parameters())
      .keys(LogStructuredConfig::parameters())
      .optional();
  catalogue
      .section(
          "file_cache",
          "software of the host that keeps copies of the network's files on the drive; absent unless given",
          FileCacheConfig::parameters())
      .policy("admission", admission_family().infos(), "all", "which files are written to the drive")
      .optional();
  catalogue
      .section(
          "file_cache.apps",
          "files that apps of a phone fetch, read again and delete, a synthetic population; its load has "
          "random_distribution: lives",
          AppFilesConfig::parameters())
      .optional();
  catalogue
      .section("contents",
               "which of the data that the host writes, preconditioning included, are the same; without it "
               "all of them differ",
               ContentsConfig::parameters())
      .optional();
  catalogue
      .list("precondition",
            "how the drive is filled before the load, step by step and without simulated time",
            PreconditionStep::parameters())
      .keys(SteadyConfig::parameters())
      .keys(PreconditionStep::steady_parameters())
      .keys(SteadyConfig::round_parameters());
  catalogue.section("age", "wear and time that the drive has behind it when the load begins",
                    AgeConfig::parameters());
  add_load(catalogue);
  catalogue.list(
      "targets",
      "figures that the run is to reach; with --strict one that is missed ends it with exit code 4",
      TargetSection::parameters());
  catalogue.section("run", "how the measured run is carried out", RunSection::parameters())
      .keys(SteadyConfig::parameters())
      .keys(SteadyConfig::round_parameters());
  catalogue.section("report", "what is written beside the report", ReportSection::parameters());
  catalogue.section("report.window", "window of the timeline", TimelineSection::parameters());
  catalogue
      .section("report.decision_filter", "which decisions are written, with report.decisions",
               DecisionFilter::parameters())
      .optional();
  for (const PolicyInfo& info : report_writers().infos())
    catalogue.section_of(info.origin, join_path("report", info.name), info.summary, info.parameters)
        .optional();
  catalogue.topics(scenario_topics());
  catalogue.check();
  return catalogue;
}

}  // namespace

const Catalogue& scenario_catalogue() {
  static const Catalogue catalogue = make_catalogue();
  return catalogue;
}

}  // namespace tlmssd
