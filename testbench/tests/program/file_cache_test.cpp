// The section `file_cache` as the program's users meet it: what is refused, what is reported,
// snapshots, traces.
#include <catch2/catch.hpp>
#include <set>
#include <string>

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

/// The same with files of apps, read by their lives.
const std::string k_apps = replaced(
    replaced(
        replaced(
            k_files, "admission: dfcache, files: 40,",
            "admission: file-classes, memory: 64 KiB, burst: 10, transient: 60, apps: {number: 4, burst: "
            "10, transient: 60, rest: 80}, files: 400,"),
        "bs: 64k, io_size: 20m, random_distribution: \"zipf:1.1\"",
        "random_distribution: lives, io_size: 1g, number_ios: 2000"),
    "io_size: 1m", "number_ios: 256");

}  // namespace

TEST_CASE("scenarios whose files of apps are at fault", "[program]") {
  refuse_all(
      {
          {"number: 4", "numbers: 4",
           "@:12: key 'numbers' is not known in file_cache.apps; did you mean 'number'?"},
          {"number: 4", "number: 401",
           "@:12: file_cache.apps.number: 401 apps have only 400 files; nearest valid: 400"},
          {"number: 4", "long_living: 50 %",
           "@:12: file_cache.apps.long_living: 50 % of files beside 60 % burst-reading ones are more than "
           "all; "
           "nearest valid: 40 %"},
          {"burst: 10, transient: 60, rest", "burst: 40, transient: 60, rest",
           "@:12: file_cache.apps.transient: 60 accesses are less than twice the 40 of burst-reading files; "
           "nearest valid: 80"},
          {"burst: 10, transient: 60, apps", "burst: 60, transient: 60, apps",
           "@:12: file_cache.transient: 60 accesses are not more than the 60 of burst-reading files; nearest "
           "valid: 61"},
          {"memory: 64 KiB", "memory: 60 KiB",
           "@:12: file_cache.memory: 61440 B hold no file of 65536 B; nearest valid: 65536 B"},
          {"random_distribution: lives", "random_distribution: random",
           "@:14: load.0.random_distribution: files of apps (file_cache.apps) are read and deleted by their "
           "lives, "
           "not by random; nearest valid: lives"},
          {"rw: randread, random", "rw: read, random",
           "@:14: load.0.rw: read is not how files of apps are read; nearest valid: randread"},
          {"lives, io_size", "lives, numjobs: 2, io_size",
           "@:14: load.0.numjobs: a file of an app has one life at a time, whose load is one job; nearest "
           "valid: 1"},
          {"lives, io_size", "lives, offset: 64k, io_size",
           "@:14: load.0.offset: lives are of all files of the apps; nearest valid: 0"},
          {"lives, io_size", "lives, size: 50%, io_size",
           "@:14: load.0.size: lives are of all files of the apps; nearest valid: 100%"},
          {"rw: randrw", "rw: randrw, random_distribution: lives",
           "@:15: load.1.random_distribution: lives are those of files of apps (target: files, and "
           "file_cache.apps); nearest valid: random"},
      },
      k_apps);
}

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
           "@:12: file_cache: cannot be given together with log_structured; nearest valid: "
           "log_structured.policy: none"},
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
          {"rw: randread, bs: 64k, io_size: 20m, random_distribution: \"zipf:1.1\"",
           "profile: hm_0, addresses: wrap",
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

TEST_CASE("a file cache whose software takes long is what its files wait for", "[program]") {
  const Folder folder;
  const Json report =
      report_of(folder, folder.write("s.yaml", k_files), "slow", {"--set", "file_cache.cost=50 ms"});
  const Json& ledger = report["results"]["loads"][0]["operations"]["read"]["ledger"];
  CHECK(ledger["host software"]["share"].get<double>() > 0.9);
  std::set<std::string> look_at;
  for (const Json& one : report["findings"]) look_at.insert(one["look_at"].get<std::string>());
  CHECK(look_at.contains("file_cache.cost"));
  CHECK_FALSE(look_at.contains("log_structured"));
}

TEST_CASE("the report of learned classes", "[program]") {
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_apps);
  const Json report = report_of(folder, scenario, "learned", {"--check-protocol"});
  const Json& group = report["statistics"]["file_cache"];
  const auto number = [&](const char* name) { return group[name]["value"].get<double>(); };
  CHECK(number("accesses") == 2000);
  CHECK(number("deleted") > 300);
  CHECK(number("lives_ended") > 300);
  CHECK(number("examples") == number("lives_ended"));
  CHECK(number("bytes_kept_from_flash") > 0);
  double all = 0;
  double right = 0;
  double came = 0;
  for (const std::string guessed : {"burst_reading", "transient", "long_living"}) {
    const Json& of = group["guessed_" + guessed];
    came += of["came"]["value"].get<double>();
    right += of["was_" + guessed]["value"].get<double>();
    for (const std::string was : {"burst_reading", "transient", "long_living"})
      all += of["was_" + was]["value"].get<double>();
  }
  CHECK(all == number("lives_ended"));
  CHECK(number("accuracy") == Approx(right / all));
  CHECK(came <= number("misses"));
  CHECK(report["checks"]["wrong_reads"] == 0);
  // A snapshot fits the same files only: another seed has others.
  const std::string snapshot = folder / "drive.snap";
  const Json direct = report_of(folder, scenario, "direct", {"--save-snapshot", snapshot});
  CHECK(report_of(folder, scenario, "restored", {"--from-snapshot", snapshot}) == direct);
  const Outcome outcome = run(folder, {"run", scenario, "--from-snapshot", snapshot, "--set", "seed=9"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.find("seed is 1 there, 9 here") != std::string::npos);
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
