// The section `file_cache` as the program's users meet it: what is refused, what is reported,
// snapshots, traces.
#include <catch2/catch.hpp>

#include "testbench/tests/program/broken.h"
#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

/// A cache of 7 files on line 12, its load on line 14.
const std::string k_files =
    replaced(k_small, "load: {rw: randrw, number_ios: 500}",
             "file_cache: {admission: dfcache, files: 40, file_size: 64 KiB, space: 16 %, latency: 1 ms}\n"
             "precondition: {fill: 100 %}\n"
             "load: [{name: web, target: files, rw: randread, bs: 64k, io_size: 20m, random_distribution: "
             "\"zipf:1.1\"},\n"
             "       {name: local, rw: randrw, io_size: 1m}]");

}  // namespace

TEST_CASE("scenarios whose file cache is at fault", "[program]") {
  refuse_all(
      {
          {"admission: dfcache", "admision: dfcache",
           "@:12: key 'admision' is not known in file_cache; did you mean 'admission'?"},
          {"admission: dfcache", "admission: dfcash",
           "@:12: file_cache.admission: 'dfcash' is not known; did you mean 'dfcache'?"},
          {"64 KiB", "65 KiB",
           "@:12: file_cache.file_size: 66560 B are no whole logical blocks of 4096 B; nearest valid: 65536 "
           "B"},
          {"16 %", "1 %", "@:12: file_cache.space: 1 % of 2994176 B hold no file of 65536 B"},
          {"16 %", "100 %", "@:12: file_cache.space: 100 % is out of range: must be 0.01 % to 99 %"},
          {"files: 40", "files: 0", "@:12: file_cache.files: 0 is out of range: must be 1 to 16000000"},
          {"admission: dfcache", "admission: dfcache, window: 0",
           "@:12: file_cache.window: 0 is out of range: must be 1 to 100000000"},
          {"admission: dfcache", "admission: cachesifter, memory: 60 KiB",
           "@:12: file_cache.memory: 61440 B hold no file of 65536 B; nearest valid: 65536 B"},
          {"admission: dfcache", "admission: all, memory: 64 KiB", "@:12: ..."},
          {"precondition:", "log_structured: {segment: 64 KiB}\nprecondition:",
           "@:12: file_cache: cannot be given together with log-structured host layer; nearest valid: "
           "log_structured.policy: "
           "none"},
          {"target: files", "target: network",
           "@:14: load.0.target: 'network' is not one of drive or files..."},
          {"rw: randread, bs", "rw: randwrite, bs",
           "@:14: load.0.rw: randwrite changes data, and target: files can only be read; nearest valid: "
           "randread"},
          {"bs: 64k", "bs: 128k",
           "@:14: load.0.bs: 131072 B exceed the 65536 B of a file (file_cache.file_size); nearest valid: "
           "65536"},
          {"bs: 64k", "bs: 48k",
           "@:14: load.0.bs: requests of up to 49152 B at multiples of 49152 B cross the boundaries of files "
           "of "
           "65536 B; nearest valid: 65536"},
          {"bs: 64k", "bs: 64k, offset: 4k",
           "@:14: load.0.offset: 4096 B are no whole files of 65536 B; nearest valid: 0"},
          {"rw: randread, bs: 64k, io_size: 20m, random_distribution: \"zipf:1.1\"", "profile: hm_0",
           "@:14: load.0.target: files can only be read, and a profile writes; nearest valid: drive"},
      },
      k_files);
  const Folder folder;
  refuse(folder, folder.write("s.yaml", replaced(k_small, "rw: randrw", "target: files, rw: randread")),
         "@:12: load.0.target: there are no files without the section file_cache; nearest valid: drive");
}

TEST_CASE("a trace that does more than read files is refused with its line", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write(
      "s.yaml", replaced(k_files, "rw: randread, bs: 64k, io_size: 20m, random_distribution: \"zipf:1.1\"",
                         "trace: t.csv, format: csv, columns: {time: 0, op: 1, offset: 2, size: 3}"));
  folder.write("t.csv", "R,0,65536\nR,131072,4096\nR,69632,61440\n");
  CHECK(report_of(folder, scenario, "good")["statistics"]["file_cache"]["accesses"]["value"] == 3);
  fs::remove_all(folder.path() / "good");
  folder.write("t.csv", "R,0,65536\nW,131072,4096\n");
  refuse(folder, scenario,
         "{folder}/t.csv:2: target: files can only be read, each request within one file of 65536 B; this is "
         "a write of 4096 B, 0 B into a file");
  folder.write("t.csv", "R,0,65536\nR,131072,4096\nR,61440,8192\n");
  refuse(folder, scenario,
         "{folder}/t.csv:3: target: files can only be read, each request within one file of 65536 B; this is "
         "a read of 8192 B, 61440 B into a file");
}

TEST_CASE("the file cache's report", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_files);
  const Json report = report_of(folder, scenario, "with", {"--check-protocol"});
  const Json& group = report["statistics"]["file_cache"];
  const auto number = [&](const char* name) { return group[name]["value"].get<double>(); };
  CHECK(number("accesses") == 320);
  CHECK(number("hits") + number("misses") == 320);
  CHECK(number("hits") > 50);
  CHECK(number("hit_ratio") == Approx(number("hits") / 320));
  CHECK(number("network_bytes") == number("misses") * 65536);
  CHECK(number("bytes_written") == number("files_written") * 65536);
  CHECK(number("files_written") + number("rejected") <= number("misses"));  // some are being written
  CHECK(number("space") == 7 * 65536);
  CHECK(report["checks"]["wrong_reads"] == 0);
  CHECK(report["drive"].get<std::string>().find("; behind a file cache: 2.40 MiB, and 2.50 MiB of files") !=
        std::string::npos);
  CHECK(report["results"]["loads"][0]["operations"]["read"]["commands"] == 320);
  CHECK(report["results"]["loads"][0]["operations"]["read"]["ledger"].contains("network"));
  // The protocol checkers and whether the kernel's clock lags behind change nothing; without the
  // section nothing is said of it.
  CHECK(report_of(folder, scenario, "again") == report);
  CHECK_FALSE(
      report_of(folder, folder.write("n.yaml", k_small), "none")["statistics"].contains("file_cache"));
  const Outcome shown = run(folder, {"run", scenario});
  CHECK(shown.out.find("File cache          dfcache: ") != std::string::npos);
  const Json untimed = report_of(folder, scenario, "untimed", {"--set", "run.timed=false"});
  CHECK(untimed["statistics"]["file_cache"]["accesses"] == group["accesses"]);
  CHECK(untimed["statistics"]["file_cache"]["hits"]["value"].get<double>() ==
        Approx(number("hits")).epsilon(0.05));
}

TEST_CASE("a snapshot holds the file cache", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_files);
  const std::string snapshot = folder / "drive.snap";
  const Json direct = report_of(folder, scenario, "direct", {"--save-snapshot", snapshot});
  CHECK(report_of(folder, scenario, "restored", {"--from-snapshot", snapshot}) == direct);
  const auto refused = [&](const std::string& setting, const std::string& why) {
    const Outcome outcome = run(folder, {"run", scenario, "--from-snapshot", snapshot, "--set", setting});
    CHECK(outcome.code == 2);
    INFO(outcome.err);
    CHECK(outcome.err.find(why) != std::string::npos);
  };
  refused("file_cache.admission=all", "file_cache.admission is dfcache there, all here");
  refused("file_cache.window=5", "file_cache.window is 10000 there, 5 here");
  refused("file_cache.files=41", "file_cache.files is 40 there, 41 here");
  CHECK(
      run(folder, {"run", scenario, "--from-snapshot", snapshot, "--set", "file_cache.latency=1 us"}).code ==
      0);
}

}  // namespace tlmssd::program_tests
