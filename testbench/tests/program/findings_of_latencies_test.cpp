// Latencies of link, interrupts and memory are told as such: more bandwidth does not shorten them.
#include <catch2/catch.hpp>

#include "testbench/tests/program/finding.h"
#include "testbench/tests/program/planted.h"

namespace tlmssd::program_tests {
namespace {

/// Times the rate with this changed.
double gain(const Settings& settings, const std::string& operation, Settings changed,
            const std::string& text) {
  const auto rate = [&](const Settings& all) {
    return run_with(all, text)["results"]["loads"][0]["operations"][operation]["iops"].get<double>();
  };
  changed.insert(changed.begin(), settings.begin(), settings.end());
  return rate(changed) / rate(settings);
}

const std::string k_reading = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  flash: {user_capacity: 256 MiB, channels: 4, ways: 2, bus: 1200 MT/s, part: {pages_per_block: 64}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, bs: 4k, iodepth: 1, number_ios: 3000}
)";

}  // namespace

TEST_CASE("a slow link is told apart from a narrow one", "[program][figure]") {
  const auto look_at = [](const Settings& settings) {
    return told(run_with(settings, k_reading), "p99.9 of read", "look_at");
  };
  const std::string far = "ssd.host.link_latency=50 us";
  CHECK(look_at({far}) == "ssd.host.link_latency");
  CHECK(gain({far}, "read", {"ssd.host.link_latency=0 ns"}, k_reading) > 2);
  CHECK(gain({far}, "read", {"ssd.host.link=pcie5x16"}, k_reading) < 1.01);
  const std::string busy_host = "ssd.host.interrupt_latency=500 us";
  CHECK(look_at({busy_host}) == "ssd.host.interrupt_latency");
  CHECK(gain({busy_host}, "read", {"ssd.host.interrupt_latency=0 ns"}, k_reading) > 2);
  const Settings narrow = {"ssd.host.link=pcie1x1", "load.bs=128k", "load.iodepth=8", "load.number_ios=1500"};
  CHECK(look_at(narrow) == "ssd.host.link");
  // What a link takes where one command behind another has its data.
  const Settings alone = {"ssd.host.link=pcie1x1", "load.bs=512k", "load.number_ios=300"};
  CHECK(look_at(alone) == "ssd.host.link");
}

TEST_CASE("each frame of SATA has the latency of the link four times", "[program]") {
  const Settings settings = {"ssd.host={protocol: sata, link: sata6, lba_size: 4 KiB, link_latency: 20 us}"};
  CHECK(told(run_with(settings, k_reading), "p99.9 of read", "look_at") == "ssd.host.link_latency");
  CHECK(gain(settings, "read", {"ssd.host.link_latency=0 ns"}, k_reading) > 2);
}

TEST_CASE("trims, which move next to no data, wait for the latencies of link and interrupts", "[program]") {
  const std::string text =
      "ssd: {flash: {user_capacity: 1 GiB}}\n"
      "load: {rw: randtrim, bs: 4k, iodepth: 1, number_ios: 3000}\n";
  const Json report = run_with({}, text);
  const std::string found = finding(report, "p99.9 of trim")["text"];
  INFO(found);
  CHECK(told(report, "p99.9 of trim", "look_at") == "ssd.host.interrupt_latency");
  CHECK(found.find("the latency of the host link 35 %") != std::string::npos);
  CHECK(found.find("the host link 3 %") == std::string::npos);
  CHECK(gain({}, "trim", {"ssd.host.interrupt_latency=0 ns"}, text) > 1.5);
  CHECK(gain({}, "trim", {"ssd.host.link_latency=0 ns"}, text) > 1.3);
  CHECK(gain({}, "trim", {"ssd.host.link=pcie5x16"}, text) < 1.05);
}

TEST_CASE("the latency of memory is told apart from its bandwidth", "[program][figure]") {
  const auto look_at = [](const Settings& settings) {
    return told(run_with(settings, k_reading), "p99.9 of read", "look_at");
  };
  for (const std::string depth : {"1", "16"}) {
    for (const std::string key : {"ssd.dram.latency", "ssd.bus.latency"}) {
      INFO(key << ", depth " << depth);
      const Settings slow = {key + "=200 us", "load.iodepth=" + depth};
      CHECK(look_at(slow) == key);
      CHECK(gain(slow, "read", {key + "=0 ns"}, k_reading) > 2);
      CHECK(gain(slow, "read", {"ssd.dram.bandwidth=50 GB/s", "ssd.bus.width=64"}, k_reading) < 1.1);
    }
  }
  CHECK(look_at({"ssd.dram.bandwidth=20 MB/s"}).find("ssd.dram.bandwidth") != std::string::npos);
}

}  // namespace tlmssd::program_tests
