#include "testbench/scenario_catalogue.h"

#include "platform/drive_catalogue.h"
#include "testbench/age.h"
#include "testbench/converter/converter_config.h"
#include "testbench/filecache/admission_policy.h"
#include "testbench/filecache/file_cache_config.h"
#include "testbench/loads/load_config.h"
#include "testbench/precondition.h"

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
              "0 s: a minute, and longer where something slow is still under way");
  return table;
}

const ParameterTable<ReportSection>& ReportSection::parameters() {
  static const auto table =
      ParameterTable<ReportSection>{}
          .choice("command_log", &ReportSection::command_log, {"none", "csv", "csv.gz", "csv.zst"},
                  "write one line for every completed command, with the time charged to each cause")
          .flag("timeline", &ReportSection::timeline,
                "write timeline.perfetto: dies, channels, cores and queues over a window of time");
  return table;
}

const ParameterTable<TimelineSection>& TimelineSection::parameters() {
  static const auto table =
      ParameterTable<TimelineSection>{}
          .time("from", &TimelineSection::from, {0, 100'000_s},
                "start of the window, after the start of the load")
          .time("length", &TimelineSection::length, {1_ns, 100'000_s}, "length of the window");
  return table;
}

namespace {

void add_load(Catalogue& catalogue) {
  const std::vector<std::string> trace = {"trace"};
  const std::vector<std::string> fio = {"fio"};
  const std::vector<std::string> made = {""};
  catalogue
      .list("load",
            "what the host asks of the drive; several entries run at once, each on a queue of its own",
            LoadKindConfig::parameters(), 1)
      .variant("trace", "replay of a recorded trace")
      .variant("profile", "requests made from the published statistics of a recorded volume")
      .variant("fio", "the jobs of a fio job file")
      .variant("", "a load made in fio's own words")
      .keys(TraceConfig::parameters(), trace)
      .keys(BlkparseConfig::parameters(), trace)
      .keys(PlacementConfig::parameters(), trace)
      .keys(PacingConfig::parameters(), trace)
      .keys(ClosedLoopConfig::parameters(), {"trace", "profile"})
      .keys(OpenLoopConfig::parameters(), trace)
      .keys(LimitConfig::parameters(), trace)
      .keys(ProfileConfig::parameters(), {"profile"})
      .keys(FioFileConfig::parameters(), fio)
      .keys(GeneratorConfig::parameters(), made)
      .keys(RunConfig::parameters(), {"trace", "profile", ""});
  catalogue
      .section("load.columns", "what the columns of a trace of format csv mean", ColumnsConfig::parameters())
      .optional();
}

Catalogue make_catalogue() {
  Catalogue catalogue;
  add_drive_sections(catalogue);
  catalogue
      .section("converter",
               "software of the host that turns random writes into sequential ones; absent unless given",
               ConverterChoice::parameters())
      .keys(ConverterConfig::parameters())
      .optional();
  catalogue
      .section(
          "file_cache",
          "software of the host that keeps copies of the network's files on the drive; absent unless given",
          FileCacheConfig::parameters())
      .policy("admission", admission_family().infos(), "all", "which files are written to the drive")
      .optional();
  catalogue.list("precondition",
                 "how the drive is filled before the load, step by step and without simulated time",
                 PreconditionStep::parameters());
  catalogue.section("age", "wear and time that the drive has behind it when the load begins",
                    AgeConfig::parameters());
  add_load(catalogue);
  catalogue.section("run", "how the measured run is carried out", RunSection::parameters());
  catalogue.section("report", "what is written beside the report", ReportSection::parameters());
  catalogue.section("report.window", "window of the timeline", TimelineSection::parameters());
  return catalogue;
}

}  // namespace

const Catalogue& scenario_catalogue() {
  static const Catalogue catalogue = make_catalogue();
  return catalogue;
}

}  // namespace tlmssd
