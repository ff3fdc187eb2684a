// The section `log_structured` as the program's users meet it: what is refused, what is reported,
// snapshots.
#include <catch2/catch.hpp>

#include "testbench/tests/program/broken.h"
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// A log of 46 segments on line 12 before the load.
const std::string k_log =
    replaced(k_small, "load:",
             "log_structured: {segment: 64 KiB, spare: 20 %, cost: 3 us}\nprecondition: "
             "[{fill: 100 %}, {overwrite: 2x}]\nload:");

}  // namespace

TEST_CASE("scenarios whose log-structured host layer is at fault", "[program]") {
  refuse_all(
      {
          {"segment: 64 KiB", "segmnt: 64 KiB",
           "@:12: key 'segmnt' is not known in log_structured; did you mean 'segment'?"},
          {"log_structured: {", "convertor: {",
           "@:12: key 'convertor' is not known at the top level; there is ..."},
          {"{segment", "{policy: log, segment",
           "@:12: log_structured.policy: 'log' is not one of log-structured or none; did you mean "
           "'log-structured'?"},
          {"64 KiB, spare", "64, spare",
           "@:12: log_structured.segment: '64' has no unit; write for instance '64 KiB'"},
          {"64 KiB, spare", "65 KiB, spare",
           "@:12: log_structured.segment: 66560 B are no whole grains of 4096 B; nearest valid: "
           "65536 B"},
          {"64 KiB, spare", "1 MiB, spare",
           "@:12: log_structured.segment: the drive has 2 segments of 1048576 B, and cleaning "
           "alone needs 4 "
           "(low_water and 2)"},
          {"{segment", "{grain: 6 KiB, segment",
           "@:12: log_structured.grain: 6144 B are no whole logical blocks of 4096 B; nearest "
           "valid: 8192 B"},
          {"{segment", "{grain: 4 MiB, segment",
           "@:12: log_structured.grain: 4194304 B exceed the 2097152 B of ssd.host.max_transfer"},
          {"20 %", "5 %",
           "@:12: log_structured.spare: 5 % of 45 segments are fewer than the 4 that cleaning "
           "needs (low_water "
           "and 2)"},
          {"20 %", "100 %", "@:12: log_structured.spare: 100 % is out of range: must be 0.01 % to 99 %"},
          {"20 %", "20 %, low_water: 1",
           "@:12: log_structured.low_water: 1 is out of range: must be 2 to 1000000"},
          {"20 %", "20 %, low_water: 20",
           "@:12: log_structured.spare: 20 % of 45 segments are fewer than the 22 that cleaning "
           "needs (low_water "
           "and 2)"},
      },
      k_log);
  // Defaults are at fault, too.
  const Folder folder;
  refuse(folder, folder.write("s.yaml", replaced(k_small, "load:", "log_structured: {}\nload:")),
         "@:9: ssd.flash.part.blocks_per_plane: with 32, log_structured.segment: the drive has 2 "
         "segments ...");
}

TEST_CASE("the log-structured host layer's report", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_log);
  const Json report = report_of(folder, scenario, "with", {"--check-protocol"});
  const Json& group = report["statistics"]["log_structured"];
  CHECK(group["write_amplification"]["value"].get<double>() > 1.5);
  CHECK(group["segments_cleaned"]["value"].get<int>() > 10);
  CHECK(group["segments"]["value"].get<int>() == 45);
  CHECK(group["map_bytes"]["value"].get<int>() == 4 * (576 + 45 * 16));
  CHECK(report["drive"].get<std::string>().find("; behind a log-structured host layer: 2.25 MiB") !=
        std::string::npos);
  CHECK(report["checks"]["wrong_reads"] == 0);
  for (const char* kind : {"read", "write"})
    CHECK(report["results"]["total"]["operations"][kind]["ledger"].contains("host software"));
  // The protocol checkers and whether the kernel's clock lags behind change nothing; without the
  // section nothing is said of it.
  CHECK(report_of(folder, scenario, "again") == report);
  const Json without = report_of(folder, scenario, "none", {"--set", "log_structured.policy=none"});
  CHECK_FALSE(without["statistics"].contains("log_structured"));
  const Outcome shown = run(folder, {"run", scenario});
  CHECK(shown.out.find("Host layer          log-structured: write amplification") != std::string::npos);
  // However long the description of the drive is, what loads see of it is not cut off.
  const std::string drive = shown.out.substr(0, shown.out.find("\nLoad"));
  CHECK(drive.find("2.25 MiB") != std::string::npos);
  CHECK(drive.find("...") == std::string::npos);
}

TEST_CASE("a snapshot holds the log-structured host layer", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_log);
  const std::string snapshot = folder / "drive.snap";
  const Json direct = report_of(folder, scenario, "direct", {"--save-snapshot", snapshot});
  CHECK(report_of(folder, scenario, "restored", {"--from-snapshot", snapshot}) == direct);
  const auto refused = [&](const std::string& setting, const std::string& why) {
    const Outcome outcome = run(folder, {"run", scenario, "--from-snapshot", snapshot, "--set", setting});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(why) != std::string::npos);
  };
  refused("log_structured.policy=none", "log_structured.policy is log-structured there, absent here");
  refused("log_structured.spare=30 %", "log_structured.spare is 20 % there, 30 % here");
  refused("log_structured.segment=32 KiB", "log_structured.segment is 64 KiB there, 32 KiB here");
  CHECK(
      run(folder, {"run", scenario, "--from-snapshot", snapshot, "--set", "log_structured.cost=1 us"}).code ==
      0);
}

TEST_CASE("a load of nothing but trims behind a log-structured host layer that takes no time ends",
          "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(replaced(k_log, ", cost: 3 us", ""), "rw: randrw", "rw: randtrim, size: 100 %"));
  const Outcome outcome = run(folder, {"run", scenario});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

}  // namespace tlmssd::program_tests
