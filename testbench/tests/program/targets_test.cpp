// Quality-of-service targets: met or missed, in report, summary and exit code; bad ones are
// refused.
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

std::string with_targets(const std::string& targets) {
  return replaced(k_small, "load: {", "load: {name: oltp, ") + "targets: [" + targets + "]\n";
}

std::string refused(const std::string& targets, const std::string& more = {}) {
  const Folder folder;
  const Outcome outcome = run(folder, {"check", folder.write("s.yaml", with_targets(targets) + more)});
  CHECK(outcome.code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  return outcome.err;
}

}  // namespace

TEST_CASE("targets are judged by the figures of the report", "[program]") {
  const Folder folder;
  const Json plain = report_of(folder, folder.write("p.yaml", with_targets("")), "plain");
  CHECK_FALSE(plain.contains("targets"));
  const Json& read = plain["results"]["loads"][0]["operations"]["read"];
  const auto p99 = static_cast<std::int64_t>(read["latency"]["p99"].get<double>() * 1000);
  const std::string scenario = folder.write(
      "s.yaml",
      with_targets("{load: oltp, metric: read.p99, at_most: " + std::to_string(p99) + " ps}, " +
                   "{load: oltp, metric: read.p99, at_most: " + std::to_string(p99 - 1) + " ps}, " +
                   "{metric: write.bandwidth, at_least: 1 B/s, at_most: 1000 GB/s}, " +
                   "{metric: write_amplification, at_most: 100}, " +
                   "{load: oltp, metric: iops, at_least: 1e9}, {metric: queue_depth.mean, at_most: 1}"));
  const Json targets = report_of(folder, scenario, "out")["targets"];
  REQUIRE(targets.size() == 6);
  const std::vector<bool> expected = {true, false, true, true, false, true};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(targets[i].dump());
    CHECK(targets[i]["met"] == expected[i]);
  }
  CHECK(targets[0]["value"] == read["latency"]["p99"]);
  CHECK(targets[4]["value"] == plain["results"]["loads"][0]["iops"]);
}

TEST_CASE("a target that is missed by little is told with the digits that show it", "[program]") {
  const Folder folder;
  const Json plain = report_of(folder, folder.write("p.yaml", with_targets("")), "plain");
  const double found = plain["results"]["loads"][0]["operations"]["read"]["latency"]["p99"].get<double>();
  const auto ps = static_cast<std::int64_t>(found * 1000);
  const std::string limit = std::to_string(ps - ps / 10'000);
  const Json target =
      report_of(folder, folder.write("s.yaml", with_targets("{metric: read.p99, at_most: " + limit + " ps}")),
                "out")["targets"][0];
  CHECK(target["met"] == false);
  const std::string text = target["text"];
  const std::size_t at_most = text.find(", at most ");
  REQUIRE(at_most != std::string::npos);
  CHECK(text.substr(0, at_most) != "read.p99 " + text.substr(at_most + 10));
}

TEST_CASE("write amplification of a run in which the host wrote nothing is not measured", "[program]") {
  const Folder folder;
  // Refresh programs all the same.
  const std::string scenario = folder.write("r.yaml", R"(
ssd:
  host: {lba_size: 4 KiB}
  flash:
    {channels: 1, ways: 1, over_provisioning: 25 %,
     part: {planes: 1, blocks_per_plane: 64, pages_per_block: 64, page_size: 4 KiB, endurance: 0}}
firmware: {refresh: {policy: limits, reads: 1000, retention: 0 s, patrol: 0 s}}
precondition: [{fill: 100 %, order: sequential}]
targets: [{metric: write_amplification, at_most: 1.5}]
load: {trace: t.csv, repeat: 1000, pacing: closed-loop, queue_depth: 1}
)");
  // What a trace holds is not known beforehand.
  folder.write("t.csv",
               "0,h,0,Read,0,65536,0\n1,h,0,Read,65536,65536,0\n2,h,0,Read,131072,65536,0\n"
               "3,h,0,Read,196608,65536,0\n");
  const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "out"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("MISSED  write_amplification not measured") != std::string::npos);
  CHECK_THAT(outcome.out, Catch::Contains("Write amplification none: the host wrote nothing, and ") &&
                              Catch::Contains(" mapping pages were programmed"));
  const Json report = Json::parse(read_file(folder.path() / "out/report.json"));
  CHECK(report["write_amplification"]["total"]["value"].is_null());
  CHECK(report["write_amplification"]["refresh"]["value"].is_null());
  CHECK(report["statistics"]["firmware"]["flash"]["refresh"]["units_programmed"]["value"] > 0);
}

TEST_CASE("a missed target shows in summary, page and, with --strict, in the exit code", "[program]") {
  const Folder folder;
  const std::string silence =
      "report: {silence: 'unwritten-reads, short-for-amplification, few-blocks, buffer-holds-load, "
      "default-matters, few-for-tail'}\n";
  const std::string missed =
      folder.write("m.yaml", with_targets("{load: oltp, metric: read.p99.9, at_most: 1 ns}") + silence);
  const std::string met =
      folder.write("o.yaml", with_targets("{load: oltp, metric: read.p99.9, at_most: 1 h}") + silence);
  const Outcome outcome = run(folder, {"run", missed, "-o", folder / "out"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("MISSED  oltp read.p99.9 ") != std::string::npos);
  CHECK(read_file(folder.path() / "out/report.html").find("Target missed: oltp read.p99.9") !=
        std::string::npos);
  const Outcome strict = run(folder, {"run", missed, "-q", "--strict"});
  CHECK(strict.code == 4);
  CHECK(strict.err.starts_with("tlmssd: target missed: oltp read.p99.9 "));
  CHECK(strict.err.find(", at most 1") != std::string::npos);
  CHECK(run(folder, {"run", missed, "-q"}).err.empty());
  CHECK(run(folder, {"run", met, "-q", "--strict"}).code == 0);
  CHECK(run(folder, {"run", met}).out.find("met     oltp read.p99.9 ") != std::string::npos);
}

TEST_CASE("a target of a job is about all of its loads", "[program]") {
  const Folder folder;
  const std::string jobs = replaced(with_targets("{load: oltp, metric: iops, at_least: 1}"), "name: oltp,",
                                    "name: oltp, numjobs: 3,");
  const Json report = report_of(folder, folder.write("s.yaml", jobs), "out");
  CHECK(report["results"]["loads"].size() == 3);
  CHECK(report["targets"][0]["value"].get<double>() ==
        Approx(report["results"]["total"]["iops"].get<double>()).epsilon(1e-9));
}

TEST_CASE("targets that a run cannot meet are refused before it", "[program]") {
  CHECK(refused("{metric: cliff.time, at_most: 3 s}")
            .find("targets.0.metric: 'cliff.time' needs a pSLC, which the drive does not have "
                  "(firmware.pslc.policy: none); nearest valid: read.p99") != std::string::npos);
  CHECK(refused("{metric: cliff.written, at_least: 1 GB}").find("nearest valid: lifetime.written") !=
        std::string::npos);
  CHECK(refused("{metric: write_amplification.by_mode.slc, at_most: 3}")
            .find("nearest valid: write_amplification") != std::string::npos);
  CHECK(refused("{load: oltp, metric: write_amplification, at_most: 3}")
            .find("targets.0.load: 'write_amplification' is of the drive, not of a load: leave load out") !=
        std::string::npos);
  const auto of_load = [](const std::string& rw, const std::string& metric) {
    const Folder folder;
    const std::string scenario = replaced(with_targets("{load: oltp, metric: " + metric + "}"), "name: oltp,",
                                          "name: oltp, " + rw + ",");
    return run(folder, {"check", folder.write("s.yaml", scenario)}).err;
  };
  const std::string reads = "rwmixread: 100";
  CHECK(of_load(reads, "write.p99, at_most: 1 ms")
            .find("targets.0.metric: 'write.p99' is of commands that oltp does not have, only read; nearest "
                  "valid: read.p99\n") != std::string::npos);
  CHECK(of_load(reads, "write.own_time.iops, at_least: 1").find("nearest valid: read.own_time.iops") !=
        std::string::npos);
  CHECK(of_load("rwmixread: 99", "write.p99, at_most: 1 ms").empty());
  CHECK_FALSE(of_load("rwmixread: 100, rate_iops: '1000,1000'", "write.p99, at_most: 1 ms").empty());
  CHECK(of_load("rwmixread: 99, rate_iops: '1000,1000'", "write.p99, at_most: 1 ms").empty());
  CHECK(of_load("rwmixread: 50", "flush.p99, at_most: 1 ms").find("only read or write") != std::string::npos);
  CHECK(of_load("fsync: 8", "flush.p99, at_most: 1 ms").empty());
  CHECK(of_load("end_fsync: true", "flush.max, at_most: 1 ms").empty());
  for (const std::string metric : {"write_amplification", "lifetime.written", "lifetime.drive_writes"}) {
    const std::string target = metric + (metric.ends_with("written") ? ", at_least: 1 TB" : ", at_least: 1");
    const auto of_drive = [&](const std::string& rw, const std::string& more = {}) {
      const std::string scenario =
          replaced(with_targets("{metric: " + target + "}"), "name: oltp,", "name: oltp, " + rw + ",");
      const Folder folder;
      return run(folder, {"check", folder.write("s.yaml", scenario + more)}).err;
    };
    const std::string said =
        "targets.0.metric: '" + metric + "' is of what the host writes, and no load writes";
    CHECK(of_drive(reads).find(said + "; nearest valid: read.p99\n") != std::string::npos);
    CHECK(of_drive(reads, "run: {timed: false}\n").find(said + "\n") != std::string::npos);
    CHECK(of_drive("rwmixread: 99").empty());
    // Software of the host that writes for itself.
    CHECK(of_drive(reads, "log_structured: {policy: greedy}\n").find(said) == std::string::npos);
  }
  // What a trace holds is not known beforehand.
  const Folder folder;
  folder.write("t.csv", "128166372003061629,h,0,Read,0,4096,0\n");
  const std::string scenario =
      replaced(k_small, k_small_load, "{trace: t.csv}") + "targets: [{metric: write.p99, at_most: 1 ms}]\n";
  CHECK(run(folder, {"check", folder.write("s.yaml", scenario)}).code == 0);
}

TEST_CASE("bad targets are refused in one line", "[program]") {
  CHECK(refused("{load: olpt, metric: iops, at_least: 1}").find("targets.0.load: 'olpt'") !=
        std::string::npos);
  CHECK(refused("{load: olpt, metric: iops, at_least: 1}").find("nearest valid: oltp") != std::string::npos);
  CHECK(refused("{metric: read.p9x9, at_most: 1 ms}").find("targets.0.metric: 'read.p9x9'") !=
        std::string::npos);
  for (const char* metric : {"read.p0", "read.p101", "read.pnan", "raed.p99", "p99", "read.", "read.p99 "})
    CHECK(refused(std::string("{metric: '") + metric + "', at_most: 1 ms}").find(".metric: ") !=
          std::string::npos);
  CHECK(refused("{metric: iops}").find("targets.0.metric: has no limit") != std::string::npos);
  CHECK(refused("{metric: read.p99, at_most: 2}").find("targets.0.at_most: ") != std::string::npos);
  const auto proposed = [](const std::string& target) {
    const std::string said = refused("{metric: " + target + "}");
    const std::string words = "nearest valid: ";
    const std::size_t at = said.find(words);
    return at == std::string::npos ? "" : said.substr(at + words.size());
  };
  CHECK(proposed("write_amplification, at_most: 3x") == "3\n");
  CHECK(proposed("iops, at_least: 50k") == "50000\n");
  CHECK(proposed("lifetime.written, at_least: 600 TBW") == "600 TB\n");
  CHECK(proposed("bandwidth, at_least: 500 MB") == "500 MB/s\n");
  CHECK(proposed("read.p99, at_most: 2") == "2 ms\n");
  CHECK(proposed("read.p99, at_most: soon").empty());
  CHECK(proposed("iops, at_most: -2").empty());
  CHECK(refused("{metric: read.p99.99999, at_most: 1 ms}").find("nearest valid: read.p99.99") !=
        std::string::npos);
  CHECK(refused("{metric: iops, at_most: 2 ms}").find("targets.0.at_most: ") != std::string::npos);
  CHECK(refused("{metric: iops, at_least: 3, at_most: 2}").find("targets.0.at_least: ") != std::string::npos);
  CHECK(refused("{metric: iops, at_least: 3}", "run: {timed: false}").find("targets.0.metric: ") !=
        std::string::npos);
  CHECK(refused("{at_least: 3}").find("targets.0.metric") != std::string::npos);
}

}  // namespace tlmssd::program_tests
