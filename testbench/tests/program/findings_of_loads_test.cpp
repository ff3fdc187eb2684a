// Findings of several loads: whose commands others wait for, each load in its own time, and the
// limits that a load sets itself.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <sys/resource.h>
#include <utility>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {

TEST_CASE("reads that wait for folding are told whose writes it is for", "[program]") {
  const Json report = run_with({}, R"(ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 2, ways: 1, user_capacity: 1 GiB, over_provisioning: 40 %, part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 64}}
firmware:
  allocation: {multi_plane: true}
  pslc: {policy: all, static: 5 %, dynamic: 10 %, when_full: wait}
precondition: {fill: 10 %, order: sequential}
load:
  - {name: install, rw: write, bs: 128k, iodepth: 8, offset: 10%, size: 700m}
  - {name: user, rw: randread, bs: 4k, size: 10%, number_ios: 2000, loops: 100}
)");
  bool told = false;
  for (const Json& one : report["findings"]) {
    if (!one["text"].get<std::string>().starts_with("p99.9 of user read")) continue;
    told = true;
    CHECK(one["cause"] == "folding for writes of install");
    CHECK(one["look_at"] == "that load or firmware.pslc");
  }
  CHECK(told);
}

TEST_CASE("a limit of a load is named as its kind knows it", "[program]") {
  const std::string drive =
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"), "");
  const Folder folder;
  std::string trace;
  for (int i = 0; i < 2000; ++i)
    trace += std::to_string(i * 25) + ",R," + std::to_string(i % 97 * 4096) + ",4096\n";
  folder.write("t.csv", trace);
  folder.write("j.fio", "[j]\nrw=randread\nbs=4k\nnumber_ios=2000\niodepth=1\nrate_iops=40000\n");
  const auto look_at = [&](const std::string& load) {
    const std::string scenario = folder.write("s.yaml", drive + k_fill + load);
    const Json report = report_of(folder, scenario, "out", {});
    return report["findings"][0]["look_at"].get<std::string>();
  };
  CHECK(look_at(
            "load: {trace: t.csv, format: csv, columns: {time: 1, op: 2, offset: 3, size: 4, time_unit: us}, "
            "pacing: open-loop, max_outstanding: 1}\n") == "load.max_outstanding");
  CHECK(look_at("load: {fio: j.fio}\n") == "iodepth in the job file");
}

TEST_CASE("a wait for one's turn is for the commands of the others", "[program][figure]") {
  const std::string text = replaced(
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
                 k_fill + "load:\n"
                          "  - {name: heavy, queue: 0, rw: randread, bs: 4k, iodepth: 64, time_based: true, "
                          "runtime: 200 ms}\n"
                          "  - {name: victim, queue: 1, rw: randread, bs: 4k, iodepth: 8, time_based: true, "
                          "runtime: 200 ms}\n"),
      "lba_size: 4 KiB",
      "lba_size: 4 KiB, queues: 2, outstanding_limit: 16, arbitration: weighted, weights: [100, 1]");
  const Json report = run_with({}, text);
  for (const Json& one : report["findings"]) {
    const std::string told = one["text"].get<std::string>();
    INFO(told);
    if (told.starts_with("p99.9 of victim read")) {
      CHECK(one["cause"] == "commands of heavy");
      CHECK(one["look_at"] == "that load, or ssd.host.weights");
    } else {
      CHECK(one["cause"] == "reads of the flash");
    }
  }
  REQUIRE(report["findings"].size() == 3);
}

TEST_CASE("a load that waits for its own iodepth is told so, not whose commands the drive has",
          "[program][figure]") {
  const std::string text = replaced(
      drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
                 k_fill + "load:\n"
                          "  - {name: heavy, queue: 0, rw: randread, bs: 64k, iodepth: 64, time_based: true, "
                          "runtime: 400 ms}\n"
                          "  - {name: oltp, queue: 1, rw: randread, bs: 4k, iodepth: 4, rate_iops: 4000, "
                          "time_based: true, runtime: 400 ms}\n"),
      "lba_size: 4 KiB",
      "lba_size: 4 KiB, queues: 2, outstanding_limit: 16, arbitration: weighted, weights: [1, 4]");
  const auto tail = [](const Json& report) {
    return report["results"]["loads"][1]["operations"]["read"]["percentiles"]["p99.9"];
  };
  const std::string whose = "p99.9 of oltp read";
  for (const std::string seed : {"seed=1", "seed=2", "seed=3"}) {
    const Json report = run_with({seed}, text);
    CHECK(told(report, whose) == "the load's own limit of commands under way");
    CHECK(told(report, whose, "look_at") == "load.iodepth");
    CHECK(tail(report)["ledger"]["load limit"]["share"].get<double>() > 0.9);
    const Json deep = run_with({seed, "load.1.iodepth=256"}, text);
    CHECK(told(deep, whose) == "reads of heavy");
    CHECK_FALSE(tail(deep)["ledger"].contains("load limit"));
    CHECK(tail(deep)["latency_ns"].get<double>() < tail(report)["latency_ns"].get<double>() / 10);
    const Json preferred = run_with({seed, "ssd.host.weights=[1, 64]"}, text);
    CHECK(tail(preferred)["latency_ns"].get<double>() > tail(report)["latency_ns"].get<double>() / 2);
  }
}

TEST_CASE("what limits a burst is told of its own time, however long the drive rests behind it",
          "[program]") {
  const std::string drive = drive_with(
      flash_of("channels: 2, ways: 2, bus: 50 MT/s, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
      k_fill);
  const auto run_behind = [&](const char* pauses) {
    return run_with({}, drive +
                            "load:\n"
                            "  - {name: burst, rw: read, bs: 128k, iodepth: 16, size: 32 MiB}\n"
                            "  - {name: user, rw: randread, bs: 4k, thinktime: 10 ms, number_ios: " +
                            pauses + "}\n");
  };
  // As long as the burst, and thirty times as long.
  const Json together = run_behind("30");
  const Json alone = run_behind("1000");
  const auto of_burst = [](const Json& report) { return report["results"]["loads"][0]["own_time"]; };
  const Json own = of_burst(alone)["utilisation"];
  CHECK(own["channels"].get<double>() > 0.95);
  CHECK(own["channels"].get<double>() ==
        Approx(of_burst(together)["utilisation"]["channels"].get<double>()).epsilon(0.02));
  CHECK(told(alone, "p99.9 of burst read") == told(together, "p99.9 of burst read"));
  bool limit = false;
  for (const Json& one : alone["findings"]) {
    const std::string text = one["text"];
    if (text.starts_with("the flash channels: ")) {
      CHECK_THAT(text, Catch::Contains(" of the time of burst busy, which bounds its rate at 1.0"));
      limit = true;
    }
  }
  CHECK(limit);
  // Over all the time the channels rest, and the intervals of the report add up to that.
  double seconds = 0;
  double busy = 0;
  const Json& over_time = alone["utilisation"];
  const Json& channels = over_time["resources"]["channels"];
  REQUIRE(channels.size() == over_time["time"].size());
  CHECK(channels.size() <= 64);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const double end = over_time["time"][i].get<double>();
    busy += channels[i].get<double>() * (end - std::exchange(seconds, end));
  }
  CHECK(seconds == Approx(alone["measured_time"]["value"].get<double>()));
  CHECK(busy / seconds ==
        Approx(alone["statistics"]["flash"]["bus_utilisation"]["value"].get<double>()).epsilon(0.01));
}

TEST_CASE("what limits a load that is the only one is told of its own time behind a pause", "[program]") {
  const std::string drive = drive_with(
      flash_of("channels: 2, ways: 2, bus: 50 MT/s, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
      k_fill);
  const auto behind = [&](const std::string& pause, const char* jobs = "") {
    return run_with({}, drive + "load: {rw: read, bs: 128k, iodepth: 16, size: 32 MiB, startdelay: " + pause +
                            jobs + "}\n");
  };
  const auto own = [](const Json& results) { return results.value("own_time", Json::object()); };
  const Json at_once = behind("0 s");
  CHECK_FALSE(own(at_once["results"]["total"]).contains("utilisation"));
  CHECK_FALSE(own(at_once["results"]["loads"][0]).contains("utilisation"));
  for (const char* jobs : {"", ", numjobs: 2"}) {
    INFO(jobs);
    const Json late = behind("10 s", jobs);
    for (const Json& results : {late["results"]["total"], late["results"]["loads"][0]})
      CHECK(own(results)["utilisation"]["channels"].get<double>() > 0.99);
    const std::string p999 = "p99.9 of read";
    CHECK(told(late, p999) == told(at_once, p999));
    CHECK(told(late, p999, "look_at") == told(at_once, p999, "look_at"));
    CHECK_THAT(finding(late, "the flash channels: ").value("text", ""),
               Catch::Contains(" of the time at work busy, which bounds the rate at 1.0"));
  }
}

TEST_CASE("who waits for a turn waits for none that is over", "[program]") {
  const auto cause = [](const std::string& stonewall) -> std::string {
    const std::string text = replaced(
        drive_with(flash_of("channels: 2, ways: 2, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
                   k_fill +
                       "load:\n"
                       "  - {name: heavy, queue: 0, rw: randread, bs: 4k, iodepth: 64, number_ios: 20000}\n"
                       "  - {name: light, queue: 1, rw: randread, bs: 4k, iodepth: 64, " +
                       stonewall + "number_ios: 2000}\n"),
        "lba_size: 4 KiB",
        "lba_size: 4 KiB, queues: 2, outstanding_limit: 16, arbitration: weighted, weights: [100, 1]");
    const Json report = run_with({}, text);
    for (const Json& one : report["findings"]) {
      if (one["text"].get<std::string>().starts_with("p99.9 of light read")) return one["text"];
    }
    return "";
  };
  CHECK_THAT(cause(""), Catch::Contains("commands of heavy"));
  CHECK_THAT(cause("stonewall: true, "), !Catch::Contains("heavy"));
}

TEST_CASE("nothing waits for writes of loads that have not begun", "[program][figure]") {
  const std::string loads =
      "load:\n"
      "  - {name: first, rw: randrw, rwmixread: 50, bs: 4k, iodepth: 8, number_ios: 20000, loops: 100}\n";
  const std::string drive = k_sound.substr(0, k_sound.find("load:"));
  const Json alone = run_with({}, drive + loads);
  const Json before = run_with(
      {},
      drive + loads + "  - {name: later, rw: write, bs: 64k, iodepth: 8, size: 100 MiB, startdelay: 60 s}\n");
  for (const std::string operation : {"read", "write"}) {
    CHECK_FALSE(told(alone, "p99.9 of " + operation).empty());
    CHECK(told(before, "p99.9 of first " + operation) == told(alone, "p99.9 of " + operation));
  }
}

TEST_CASE("what others keep busy does not bound a load that hardly asks for it", "[program]") {
  const auto told = [](const Settings& settings) {
    const Json report = run_with(settings, R"(ssd:
  host: {lba_size: 4 KiB, queues: 2}
  dram: {bandwidth: 400 MB/s}
  flash: {channels: 4, ways: 1, user_capacity: 256 MiB, over_provisioning: 60 %, part: {file: parts/nand/mqsim-mlc.yaml, pages_per_block: 64}}
load:
  - {name: w, rw: randwrite, bs: 16k, iodepth: 16, number_ios: 2000}
  - {name: t, rw: randtrim, bs: 8k, iodepth: 1, rate_iops: 1000, number_ios: 40}
  - {name: rest, rw: randread, bs: 4k, iodepth: 1, rate_iops: 100, number_ios: 60}
)");
    std::string all;
    for (const Json& one : report["findings"]) all += one["text"].get<std::string>() + "\n";
    return all;
  };
  const std::string all = told({});
  INFO(all);
  CHECK(all.find("the time of w busy") != std::string::npos);
  CHECK(all.find("the time of t busy") == std::string::npos);
  // Trims that move data are writes.
  CHECK(told({"load.1.rw=randwrite", "load.1.iodepth=16", "load.1.rate_iops=1000000"})
            .find("the time of t busy") != std::string::npos);
}

TEST_CASE("what limits several loads in their own times is told of each", "[program]") {
  const std::string drive = drive_with(
      flash_of("channels: 2, ways: 2, bus: 50 MT/s, user_capacity: 128 MiB", "planes: 1, page_size: 4 KiB"),
      k_fill);
  const Json report =
      run_with({}, drive +
                       "load:\n"
                       "  - {name: early, rw: read, bs: 128k, iodepth: 16, size: 32 MiB}\n"
                       "  - {name: amid, rw: read, bs: 128k, iodepth: 16, size: 32 MiB, startdelay: 10 s}\n"
                       "  - {name: late, rw: read, bs: 128k, iodepth: 16, size: 32 MiB, startdelay: 60 s}\n");
  std::set<std::string> told;
  for (const Json& one : report["findings"]) {
    const std::string text = one["text"];
    for (const std::string name : {"early", "amid", "late"})
      if (text.starts_with("the flash channels: ") &&
          text.find(" of the time of " + name) != std::string::npos)
        told.insert(name);
  }
  CHECK(told == std::set<std::string>{"early", "amid", "late"});
  // A load is a hundredth of the run and less: begin and end are known all the same.
  const auto own = [&](int load) {
    return report["results"]["loads"][load]["own_time"]["utilisation"]["channels"].get<double>();
  };
  for (const int load : {1, 2}) {
    INFO(load);
    CHECK(own(load) == Approx(own(0)).epsilon(0.01));
    CHECK(own(load) > 0.95);
  }
}

TEST_CASE("writes that reads keep waiting are told whose reads they are, and what prefers them",
          "[program][figure]") {
  const std::string text =
      replaced(replaced(k_tlc_drive, "28 %", "20 %"), "sequential}]",
               "sequential}, {overwrite: 2x, order: random}]") +
      "load:\n"
      "  - {name: reader, rw: randread, bs: 4k, iodepth: 64, time_based: true, runtime: 3 s}\n"
      "  - {name: oltp, rw: randwrite, bs: 4k, iodepth: 4000, rate_iops: 6000, time_based: true, runtime: 3 "
      "s}\n";
  const Json starved = run_with({}, text);
  const Json writes = finding(starved, "p99.9 of oltp write");
  INFO(starved["findings"].dump());
  REQUIRE_FALSE(writes.empty());
  CHECK(writes["cause"] == "reads of reader");
  CHECK(writes["look_at"] == "that load, ssd.flash.scheduling or ssd.flash.channels");
  // Nothing prefers reads, or not for long enough to count.
  for (const std::string scheduling : {"{policy: out-of-order}", "{starvation_bound: 0 s}"}) {
    const Json fair = run_with({"ssd.flash.scheduling=" + scheduling}, text);
    INFO(fair["findings"].dump());
    CHECK(fair["findings"].dump().find("ssd.flash.scheduling") == std::string::npos);
  }
}

TEST_CASE("flushes wait for reads that are preferred to their programs", "[program]") {
  const std::string text = k_tlc_drive +
                           "load:\n"
                           "  - {name: reader, rw: randread, bs: 4k, iodepth: 16, number_ios: 20000}\n"
                           "  - {name: log, rw: write, bs: 4k, fsync: 1, number_ios: 1000}\n";
  const auto look_at = [&](const Settings& settings) {
    const Json report = run_with(settings, text);
    CHECK(told(report, "p99.9 of log flush") == "reads of reader");
    return told(report, "p99.9 of log flush", "look_at");
  };
  CHECK(look_at({}) == "that load, ssd.flash.scheduling or ssd.flash.channels");
  CHECK(look_at({"ssd.flash.scheduling.policy=out-of-order"}) == "that load, or ssd.flash.channels");
}

TEST_CASE("who waits for flushes that SATA runs alone is told so, and of which load they are", "[program]") {
  const std::string drive = R"(ssd:
  host: {protocol: sata, link: sata6, lba_size: 4 KiB}
  flash: {channels: 4, ways: 2, user_capacity: 256 MiB, part: {planes: 1, pages_per_block: 64, page_size: 4 KiB}}
)" + k_fill + "load:\n";
  const std::string reader =
      "  - {name: rd, rw: randread, bs: 4k, iodepth: 16, time_based: true, runtime: 100 ms, size: 40%}\n";
  const auto writer = [](const std::string& more) {
    return "  - {name: wr, rw: randwrite, bs: 4k, iodepth: 1, time_based: true, runtime: 100 ms, offset: "
           "50%, size: 40%" +
           more + "}\n";
  };
  const Json report = run_with({}, drive + reader + writer(", fsync: 1"));
  INFO(report["findings"].dump());
  CHECK(told(report, "p99.9 of rd read") == "flushes of wr, which SATA runs alone");
  CHECK(told(report, "p99.9 of rd read", "look_at") == "load.fsync or ssd.host.protocol");
  const Json unflushed = run_with({}, drive + reader + writer(""));
  CHECK(unflushed["findings"].dump().find("alone") == std::string::npos);

  // More than the queue holds, and nothing but the load's own flushes holds it up.
  const std::string deep = drive +
                           "  - {name: s, rw: randrw, bs: 4k, iodepth: 64, fsync: 5, number_ios: 5000, "
                           "io_size: 1g}\n";
  const Json own = run_with({}, deep);
  INFO(own["findings"].dump());
  CHECK(told(own, "p99.9 of read") == "flushes, which SATA runs alone");
  CHECK(own["findings"].dump().find("the limit of commands under way") == std::string::npos);
  CHECK(own["statistics"]["host"]["queue_held_up"]["value"].get<double>() > 0.5);
  // What is due waits for the flushes as well, in the host or in the load's own limit.
  for (const std::string depth : {"16", "1000"}) {
    const Json late = run_with({"load.0.rate_iops=1000000", "load.0.iodepth=" + depth}, deep);
    INFO(late["findings"].dump());
    CHECK(told(late, "p99.9 of read") == "flushes, which SATA runs alone");
    CHECK(told(late, "p99.9 of read", "look_at") == "load.fsync or ssd.host.protocol");
  }
}

TEST_CASE("no more is promised to a load than it asks for", "[program][figure]") {
  const std::string drive =
      drive_with(flash_of("channels: 1, ways: 1, user_capacity: 64 MiB", "planes: 1, page_size: 4 KiB"),
                 k_fill) +
      "load: {name: r, rw: randread, bs: 4k, iodepth: 16, number_ios: 20000, io_size: 10g}\n";
  const auto iops = [](const Json& report) { return report["results"]["total"]["iops"].get<double>(); };
  const double most = iops(run_with({}, drive));
  const auto rated = [&](double rate) {
    return run_with({"load.rate_iops=" + std::to_string(std::lround(rate))}, drive);
  };
  const auto times = [](const Json& report) {
    double largest = 0;
    for (const Json& one : report["findings"]) {
      const std::string text = one["text"];
      const std::string at_most = " at most ";
      if (text.find(at_most) != std::string::npos)
        largest = std::max(largest, std::stod(text.substr(text.find(at_most) + at_most.size())));
    }
    return largest;
  };
  const Json beyond = rated(1.5 * most);
  INFO(beyond["findings"].dump());
  CHECK(times(beyond) == Approx(1.5).margin(0.1));
  CHECK(told(beyond, "r: ").empty());
  const Json within = rated(0.9 * most);
  INFO(within["findings"].dump());
  CHECK(within["findings"][0]["cause"] == "the times of requests");
  CHECK(within["findings"][0]["look_at"] == "load.rate_iops or load.rate");
  CHECK(times(within) <= 1.02);

  // What is due and not issued is not outstanding: alone, a read takes as long as the flash does.
  const Json shallow =
      run_with({"load.iodepth=2", "load.rate_iops=" + std::to_string(std::lround(10 * most))}, drive);
  INFO(shallow["findings"].dump());
  CHECK(times(shallow) < 3);

  // Pauses stay: each load has a request at a time, and at least its pause between two.
  const Json pausing =
      run_with({"load.iodepth=1", "load.numjobs=7", "load.thinktime=300 us", "load.number_ios=3000"}, drive);
  INFO(pausing["findings"].dump());
  REQUIRE(times(pausing) > 1);
  CHECK(times(pausing) < 7 / 300e-6 / iops(pausing));
}

TEST_CASE("findings of a thousand loads do not take longer than their runs", "[program][figure]") {
  std::string text = "load:\n";
  for (int i = 0; i < 1200; ++i)
    text += "  - {rw: randread, number_ios: 1, name: l" + std::to_string(i) + "}\n";
  const auto spent = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_utime.tv_sec;
  };
  const auto before = spent();
  const Json report = run_with({}, text);
  CHECK(report["results"]["loads"].size() == 1200);
  CHECK(spent() - before < 20);  // a minute where each load is looked for among all, for each other one
}

}  // namespace tlmssd::program_tests
