// A measured run made up for the tests of reports, and a folder for their files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include "models/base/random.h"
#include "testbench/report/json_sink.h"
#include "testbench/report/report.h"

namespace tlmssd::test {

/// A folder that goes away with the test.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("tlmssd-measure-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// Two loads: reads with a slow tail, and writes with trims and flushes.
inline Measurement example_measurement(std::uint64_t seed = 1) {
  Measurement m({"readers", "writers"});
  RandomStream random(seed, "example");
  Picoseconds now = 0;
  for (int i = 0; i < 20000; ++i) {
    now += 1'000'000 + static_cast<Picoseconds>(random.below(10'000'000));
    const std::uint64_t pick = random.below(100);
    const HostOpcode opcode = pick < 60   ? HostOpcode::read
                              : pick < 95 ? HostOpcode::write
                              : pick < 98 ? HostOpcode::trim
                                          : HostOpcode::flush;
    const auto load = static_cast<std::uint16_t>(opcode == HostOpcode::read ? 0 : 1);
    const Picoseconds latency = 60'000'000 + static_cast<Picoseconds>(random.below(40'000'000)) +
                                (random.below(100) == 0 ? 2'000'000'000 : 0);
    m.submitted(load, now);
    Ledger ledger(now);
    ledger.charge(Cause::submission, now + 1'000'000);
    ledger.charge(Cause::sense, now + 60'000'000);
    ledger.charge(latency > 1'000'000'000 ? Cause::die_gc : Cause::transfer, now + latency);
    const Bytes bytes = opcode == HostOpcode::flush ? 0 : 4096;
    const HostStatus status =
        i == 777 && opcode == HostOpcode::read ? HostStatus::media_error : HostStatus::success;
    m.record({opcode, status, load, load, random.below(1000), bytes, now, now + latency, &ledger});
    now += latency;
  }
  m.finish(now + 5'000'000);
  return m;
}

inline nlohmann::ordered_json example_statistics() {
  JsonSink sink;
  sink.open("cpu", "controller cores");
  for (int i = 0; i < 2; ++i) {
    sink.open("core " + std::to_string(i), "one core");
    sink.value("utilisation", 0.25 + 0.5 * i, "", "share of time executing");
    sink.close();
  }
  sink.close();
  sink.open("dram", "controller DRAM");
  sink.value("utilisation", 0.125, "", "share of time in use");
  sink.value("bytes_read", std::uint64_t{123456789}, "B", "bytes <read> & \"more\"");
  sink.close();
  sink.open("flash", "flash");
  for (int c = 0; c < 2; ++c) {
    sink.open("channel_" + std::to_string(c), "one channel");
    sink.value("bus_utilisation", 0.5, "", "share of time held");
    for (int d = 0; d < 3; ++d) {
      sink.open("die_" + std::to_string(3 * c + d), "one die");
      sink.value("utilisation", 0.1 * (3 * c + d), "", "share of time busy");
      sink.close();
    }
    sink.close();
  }
  sink.open("erase_counts", "wear");
  sink.value("min", std::uint64_t{1}, "erases", "least");
  sink.value("mean", 2.5, "erases", "average");
  sink.value("max", std::uint64_t{4}, "erases", "most");
  sink.close();
  sink.close();
  sink.open("firmware", "");
  sink.open("write_amplification", "by cause");
  sink.value("total", 1.75, "", "all");
  sink.value("gc", 0.75, "", "garbage collection");
  sink.close();
  sink.text("mapping", "page", "scheme");
  sink.value("undefined", 0.0 / 0.0, "", "no divisor");
  sink.close();
  return sink.take();
}

/// The same of a drive with a cache; `writes` and `reads`: units that it was asked for.
inline nlohmann::ordered_json hybrid_statistics(std::uint64_t writes, std::uint64_t reads,
                                                std::uint64_t evictions) {
  nlohmann::ordered_json statistics = example_statistics();
  JsonSink sink;
  sink.text("policy", "nv-wb", "rules");
  sink.text("medium", "SCM", "memory");
  sink.value("capacity", std::uint64_t{302} << 20U, "B", "size");
  sink.value("reads", reads, "units", "");
  sink.value("read hit share", reads > 0 ? 0.704 : 0.0, "share", "");
  sink.value("writes", writes, "units", "");
  sink.value("write hit share", writes > 0 ? 0.876 : 0.0, "share", "");
  sink.value("evictions", evictions, "units", "");
  sink.value("incomplete evictions", evictions * 3 / 4, "units", "");
  sink.value("free share", 0.2, "share", "");
  statistics["firmware"]["cache"] = sink.take();
  return statistics;
}

inline RunFacts example_facts() {
  RunFacts facts;
  facts.version = "0.1.0";
  facts.title = "reads & <writes>";
  facts.seed = 42;
  facts.drive = "NVMe pcie3x4, 16 GiB, 2 channels x 3 dies";
  facts.scenario = "title: reads & <writes>\nseed: 42\n";
  facts.loads = {
      {"random read 4 KiB, queue depth 1", {}, {{"rw", "randread"}, {"bs", "4k"}, {"iodepth", "1"}}},
      {"trace example.csv", {{"requests", "8000"}}, {{"rw", "randwrite"}}}};
  facts.unread = {"ssd.scm.latency"};
  facts.warnings = {"addresses beyond the drive were wrapped (12 requests)"};
  facts.simulated = 2'000'000'000'000;
  facts.checked_blocks = 12345;
  return facts;
}

}  // namespace tlmssd::test
