// fio.json: fio's fields and bins, figures by hand, and agreement with the measurement.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "testbench/tests/measure/support.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;
using namespace test;

std::set<std::string> keys(const Json& json) {
  std::set<std::string> result;
  for (const auto& [key, member] : json.items()) result.insert(key);
  return result;
}

}  // namespace

TEST_CASE("fio.json has fio's fields and is consistent with itself") {
  const Measurement m = example_measurement();
  const Json fio = fio_json(example_facts(), m);
  CHECK(keys(fio) == std::set<std::string>{"fio version", "timestamp", "timestamp_ms", "time",
                                           "global options", "jobs", "disk_util"});
  REQUIRE(fio["jobs"].size() == 2);
  for (const Json& job : fio["jobs"]) {
    CHECK(keys(job) == [&] {
      std::set<std::string> expected = {"jobname",
                                        "groupid",
                                        "job_start",
                                        "error",
                                        "eta",
                                        "elapsed",
                                        "job options",
                                        "read",
                                        "write",
                                        "trim",
                                        "sync",
                                        "job_runtime",
                                        "usr_cpu",
                                        "sys_cpu",
                                        "ctx",
                                        "majf",
                                        "minf",
                                        "iodepth_level",
                                        "iodepth_submit",
                                        "iodepth_complete",
                                        "latency_ns",
                                        "latency_us",
                                        "latency_ms",
                                        "latency_depth",
                                        "latency_target",
                                        "latency_percentile",
                                        "latency_window"};
      if (job["error"] != 0) expected.insert({"total_err", "first_error"});
      return expected;
    }());
    for (const char* direction : {"read", "write", "trim"}) {
      const Json& d = job[direction];
      CHECK(keys(d) == std::set<std::string>{
                           "io_bytes",  "io_kbytes", "bw_bytes",  "bw",          "iops",        "runtime",
                           "total_ios", "short_ios", "drop_ios",  "slat_ns",     "clat_ns",     "lat_ns",
                           "bw_min",    "bw_max",    "bw_agg",    "bw_mean",     "bw_dev",      "bw_samples",
                           "iops_min",  "iops_max",  "iops_mean", "iops_stddev", "iops_samples"});
      // Latencies are with the one that failed.
      const std::uint64_t completed = d["clat_ns"]["N"].get<std::uint64_t>();
      CHECK(completed - d["total_ios"].get<std::uint64_t>() ==
            (job.contains("total_err") && direction == std::string("read") ? 1 : 0));
      if (d["total_ios"] == 0) {
        CHECK_FALSE(d["clat_ns"].contains("bins"));
        continue;
      }
      CHECK(d["clat_ns"]["percentile"].size() == 17);
      CHECK(d["clat_ns"]["percentile"].contains("99.950000"));
      std::uint64_t in_bins = 0;
      for (const auto& [value, count] : d["clat_ns"]["bins"].items()) {
        in_bins += count.get<std::uint64_t>();
        CHECK(std::stoull(value) > 0);
      }
      CHECK(in_bins == completed);
      CHECK(d["iops_min"].get<double>() <= d["iops_mean"].get<double>());
      CHECK(d["iops_mean"].get<double>() == Approx(d["iops"].get<double>()).epsilon(0.02));
      CHECK(d["clat_ns"]["min"].get<double>() <= d["clat_ns"]["mean"].get<double>());
    }
    double percent = 0;
    for (const char* range : {"latency_ns", "latency_us", "latency_ms"}) {
      for (const auto& [name, share] : job[range].items()) percent += share.get<double>();
    }
    CHECK(percent == Approx(100));
    CHECK(job["latency_ms"].size() == 12);
    double depth = 0;
    for (const auto& [name, share] : job["iodepth_level"].items()) depth += share.get<double>();
    CHECK(depth == Approx(100));
  }
  CHECK(fio["jobs"][0]["job options"]["rw"] == "randread");
  CHECK(fio["jobs"][1]["sync"]["total_ios"].get<int>() > 0);
  CHECK(fio["disk_util"][0]["read_ios"] == fio["jobs"][0]["read"]["total_ios"]);
}

TEST_CASE("behind a stone wall, jobs of fio.json are a group of their own") {
  const Measurement m = example_measurement();
  RunFacts facts = example_facts();
  facts.loads[1].group = 1;
  const Json fio = fio_json(facts, m);
  for (int i = 0; i < 2; ++i) {
    const Json& job = fio["jobs"][i];
    CHECK(job["groupid"] == i);
    for (const char* direction : {"read", "write"}) {
      const Json& d = job[direction];
      if (d["total_ios"] == 0) continue;
      CHECK(d["bw_agg"].get<double>() ==
            Approx(std::min(100.0, 100 * d["bw_mean"].get<double>() / d["bw"].get<double>())).epsilon(0.01));
    }
  }
}

TEST_CASE("a job of fio.json has the rates of its own runtime, not of the whole run") {
  Measurement m({"first", "second"});
  constexpr Picoseconds k_latency = 1'000'000'000;
  Picoseconds now = 0;
  const auto run = [&](std::uint16_t load, int commands) {
    for (int i = 0; i < commands; ++i) {
      m.submitted(load, now);
      Ledger ledger(now);
      ledger.charge(Cause::sense, now + k_latency);
      m.record({HostOpcode::read, HostStatus::success, load, 0, 0, 4096, now, now + k_latency, &ledger});
      now += k_latency;
    }
  };
  run(0, 100);
  now += 5'000'000'000'000;
  run(1, 200);
  m.finish(now);
  const Json fio = fio_json(RunFacts{}, m);
  const int commands[] = {100, 200};
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& job = fio["jobs"][i];
    CHECK(job["job_runtime"] == commands[i]);
    CHECK(job["elapsed"] == 1);  // seconds, begun ones
    CHECK(job["read"]["runtime"] == commands[i]);
    CHECK(job["read"]["iops"].get<double>() == Approx(1000));
    CHECK(job["read"]["bw_bytes"] == 4'096'000);
    CHECK(job["read"]["iops_mean"].get<double>() == Approx(1000).epsilon(0.1));
  }
  const Json& disk = fio["disk_util"][0];
  CHECK(disk["read_ios"] == 300);
  CHECK(disk["read_sectors"] == 300 * 8);
  CHECK(disk["read_ticks"] == 300);
  CHECK(disk["in_queue"] == 300);
  CHECK(disk["util"].get<double>() == Approx(100 * 0.3 / 5.3));
}

TEST_CASE("figures of fio.json are those that a few commands come to by hand") {
  Measurement m({"a", "b", "c"});
  const auto begin = [&m](std::uint16_t load, std::int64_t ns) { m.submitted(load, ns * 1000); };
  const auto end = [&m](std::uint16_t load, HostOpcode opcode, Bytes bytes, std::int64_t from_ns,
                        std::int64_t until_ns, HostStatus status = HostStatus::success) {
    Ledger ledger(from_ns * 1000);
    ledger.charge(Cause::sense, until_ns * 1000);
    m.record({opcode, status, load, 0, 0, bytes, from_ns * 1000, until_ns * 1000, &ledger});
  };
  begin(2, 0);  // a flush for as long as all the rest
  begin(0, 0);
  for (std::int64_t step = 0; step < 10; ++step) {  // half a microsecond of each, from a quarter on
    begin(1, step * 1000 + 250);
    end(1, HostOpcode::read, 4096, step * 1000 + 250, step * 1000 + 750);
    if (step == 4) {
      end(0, HostOpcode::read, 4096, 0, 4000);
      begin(0, 4000);
      begin(0, 4000);
    }
    if (step == 6) end(0, HostOpcode::read, 8192, 4000, 6000);
    if (step == 7) {
      end(0, HostOpcode::read, 4096, 4000, 7000);
      begin(0, 7000);
    }
    if (step == 8) {
      end(0, HostOpcode::write, 4096, 7000, 8000, HostStatus::media_error);
      begin(0, 8000);
    }
    if (step == 9) {
      end(0, HostOpcode::trim, 4096, 8000, 9000, HostStatus::media_error);
      begin(0, 9000);
    }
  }
  end(0, HostOpcode::write_zeroes, 4096, 9000, 12'000);
  begin(0, 12'000);
  end(0, HostOpcode::flush, 0, 12'000, 13'000);
  end(2, HostOpcode::flush, 0, 0, 15'000);
  m.finish(16'000'000);
  const Json fio = fio_json(RunFacts{}, m);
  const auto number = [](const Json& value) { return value.get<double>(); };
  const Json& a = fio["jobs"][0];
  const Json& reads = a["read"];
  CHECK(reads["io_bytes"] == 16384);
  CHECK(number(reads["iops"]) == Approx(3 / 13e-6));
  CHECK(reads["iops_samples"] == 13);  // its 13 us are whole steps
  CHECK(reads["iops_min"] == 0);
  CHECK(reads["iops_max"] == 1'000'000);
  CHECK(number(reads["iops_mean"]) == Approx(3e6 / 13));
  CHECK(number(reads["iops_stddev"]) == Approx(std::sqrt(3e12 / 13 - 9e12 / 169)));
  CHECK(reads["bw_max"] == 8'000'000);  // KiB/s: 8 KiB in a microsecond
  CHECK(number(reads["bw_mean"]) == Approx(16e6 / 13));
  CHECK(number(reads["bw_agg"]) == Approx(100.0 * 16 / (16 + 40)));  // of what both have read in 13 us
  CHECK(a["write"]["total_ios"] == 0);
  CHECK(a["trim"]["io_bytes"] == 4096);  // of the zeroes
  CHECK(a["trim"]["total_ios"] == 1);
  CHECK(a["trim"]["clat_ns"]["N"] == 2);
  CHECK(a["sync"]["total_ios"] == 1);
  CHECK(a["total_err"] == 2);
  CHECK(number(a["iodepth_level"]["1"]) == Approx(100.0 * 11 / 13));
  CHECK(number(a["iodepth_level"]["2"]) == Approx(100.0 * 2 / 13));
  // Histograms tell the middles of their bins: of 1 and 2 us a little less.
  CHECK(number(a["latency_ns"]["1000"]) == Approx(100.0 * 2 / 6));
  CHECK(number(a["latency_us"]["2"]) == Approx(100.0 * 1 / 6));
  CHECK(number(a["latency_us"]["4"]) == Approx(100.0 * 3 / 6));
  const Json& even = fio["jobs"][1]["read"];
  CHECK(even["iops_samples"] == 8);  // of 0.25 to 9.75 us
  CHECK(even["iops_min"] == 1'000'000);
  CHECK(number(even["iops_stddev"]) == Approx(0).margin(1e-6));
  CHECK(even["bw_min"] == 4'000'000);
  CHECK(number(fio["disk_util"][0]["util"]) == Approx(100.0 * 15 / 16));
}

TEST_CASE("percentiles of fio.json are those of the report, of the slowest commands exactly") {
  Measurement m({"a"});
  Picoseconds now = 0;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const Picoseconds latency = 1'000'000 + i * i * 37'000;
    m.submitted(0, now);
    Ledger ledger(now);
    ledger.charge(Cause::sense, now + latency);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, now, now + latency, &ledger});
    now += latency;
  }
  m.finish(now);
  const Json fio = fio_json(RunFacts{}, m);
  const Json report = build_report(RunFacts{}, m, Json::object());
  const Json& read = report["results"]["loads"][0]["operations"]["read"]["latency"];
  for (const std::string percent : {"50", "90", "99", "99.9", "99.99"}) {
    INFO(percent);
    const auto told = read["p" + percent].get<double>();
    const Json& percentile = fio["jobs"][0]["read"]["clat_ns"]["percentile"];
    const std::string name = percent + (percent.size() > 2 ? "" : ".");
    CHECK(percentile[name + std::string(9 - name.size(), '0')] == static_cast<std::uint64_t>(told));
  }
}

TEST_CASE("bins of fio.json are fio's, a nanosecond each up to 128") {
  Measurement m({"a"});
  for (const Picoseconds latency : {100'000, 500'500, 1'000'000}) {
    m.submitted(0, 0);
    Ledger ledger(0);
    ledger.charge(Cause::sense, latency);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, 0, latency, &ledger});
  }
  m.finish(2'000'000);
  const Json job = fio_json(RunFacts{}, m)["jobs"][0];
  CHECK(job["read"]["clat_ns"]["bins"] == Json{{"100", 1}, {"502", 1}, {"996", 1}});
  CHECK(job["latency_ns"]["500"] == 0);  // below, not up to it
  CHECK(job["latency_ns"]["750"].get<double>() == Approx(100.0 / 3));
}

}  // namespace tlmssd
