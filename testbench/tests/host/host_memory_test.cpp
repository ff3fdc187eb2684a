// The host memory buffer on the link: what an access takes to the picosecond, what it takes from
// the host's data, and its counters.
#include "models/host/host_memory.h"

#include <catch2/catch.hpp>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/memory/address_map.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd {
namespace {

using namespace literals;

HostConfig with_buffer(const std::string& link = "pcie3x4") {
  HostConfig config;
  config.link = link;
  config.memory_buffer = 1_MiB;
  config.memory_latency = 70_ns;
  return config;
}

// Of PCIe 3.0 with the default overheads of 10 B: headers of requests (writes among them) and
// completions.
constexpr Bytes k_request = 16 + 10;
constexpr Bytes k_completion = 12 + 10;

}  // namespace

TEST_CASE("a read of the host memory buffer is a request, a round trip, the memory and its completions") {
  for (const auto& [bytes, requests, completions] :
       {std::tuple<Bytes, Bytes, Bytes>{4, 1, 1}, {256, 1, 1}, {512, 1, 2}, {8192, 16, 32}}) {
    INFO(bytes << " B");
    Link link(with_buffer());
    const Picoseconds data = link.wire_time(bytes + completions * k_completion);
    CHECK(link.read_host_memory(1_us, bytes) == 1_us + link.wire_time(k_request) + 2 * 150_ns + 70_ns + data);
    CHECK(link.busy(LinkDirection::to_host) == link.wire_time(requests * k_request));
    CHECK(link.busy(LinkDirection::to_device) == data);
  }
}

TEST_CASE("a write of the host memory buffer is posted") {
  Link link(with_buffer());
  CHECK(link.write_host_memory(1_us, 8) == 1_us + link.wire_time(8 + k_request));
  CHECK(link.write_host_memory(2_us, 600) == 2_us + link.wire_time(600 + 3 * k_request));
  CHECK(link.busy(LinkDirection::to_device) == 0);
  // A read does not pass it.
  Link behind(with_buffer());
  const Picoseconds posted = behind.write_host_memory(0, 8192);
  CHECK(behind.read_host_memory(0, 4) == posted + Link(with_buffer()).read_host_memory(0, 4));
}

TEST_CASE("accesses of the host memory buffer overlap on the link") {
  Link link(with_buffer());
  const Picoseconds alone = Link(with_buffer()).read_host_memory(0, 4);
  // Requests and completions of 26 B each: one behind the other.
  for (int n = 0; n < 10; ++n) CHECK(link.read_host_memory(0, 4) == alone + n * link.wire_time(26));
}

TEST_CASE("packets of the host memory buffer travel between those of the data, and the data pay for it") {
  const Link alone(with_buffer());
  Link link(with_buffer());
  const Link::Fetch first = link.fetch(0, 1_MiB);
  const Link::Answer answer = link.answer(0, 1_MiB);
  CHECK(link.read_host_memory(0, 4) == Link(with_buffer()).read_host_memory(0, 4));
  CHECK(link.write_host_memory(0, 8) == alone.wire_time(k_request) + alone.wire_time(8 + k_request));
  // What comes behind waits for all of it: doorbells and entries of the commands, and the buffer's.
  Link quiet(with_buffer());
  quiet.fetch(0, 1_MiB);
  quiet.answer(0, 1_MiB);
  CHECK(link.fetch(0, 4096).data_start ==
        quiet.fetch(0, 4096).data_start + alone.wire_time(4 + k_completion));
  CHECK(link.answer(0, 4096).data_end ==
        quiet.answer(0, 4096).data_end + alone.wire_time(k_request) + alone.wire_time(8 + k_request));
  CHECK(first.data_start < answer.data_end);
}

TEST_CASE("what the host memory buffer has booked of a link is saved") {
  Link link(with_buffer());
  link.write_host_memory(0, 64_KiB);
  for (int n = 0; n < 100; ++n) link.read_host_memory(0, 4);
  MemoryArchive archive;
  link.archive(archive);
  archive.rewind();
  Link restored(with_buffer());
  restored.archive(archive);
  CHECK(archive.at_end());
  const Picoseconds next = link.read_host_memory(1_ns, 4);
  CHECK(next > 16_us);  // behind what was booked at less than 4 GB/s
  CHECK(restored.read_host_memory(1_ns, 4) == next);
}

TEST_CASE("the link's statistics tell of the host memory buffer where there is one") {
  Link link(with_buffer());
  link.fetch(0, 4096);
  const auto before = test::statistics_of(link, 1_ms);
  link.read_host_memory(0, 4);
  link.write_host_memory(0, 8);
  const auto after = test::statistics_of(link, 1_ms);
  const auto grown = [&](const std::string& name) { return after.at(name) - before.at(name); };
  CHECK(grown("link/to device/host memory bytes") == 4 + k_completion);
  CHECK(grown("link/to device/wire bytes") == 4 + k_completion);
  CHECK(grown("link/to host/host memory bytes") == k_request + 8 + k_request);
  CHECK(grown("link/to host/wire bytes") == k_request + 8 + k_request);
  CHECK(grown("link/to device/payload") == 0);  // of the host's commands
  CHECK(grown("link/to host/utilisation") ==
        Approx(static_cast<double>(link.wire_time(2 * k_request + 8)) / 1e9).epsilon(1e-3));
  link.reset_statistics(1_ms);
  CHECK(test::statistics_of(link, 2_ms).at("link/to host/host memory bytes") == 0);
  HostConfig none = with_buffer();
  none.memory_buffer = 0;
  CHECK(test::statistics_of(Link(none), 1_ms).count("link/to host/host memory bytes") == 0);
}

TEST_CASE("the host memory buffer is a memory of the controller's bus") {
  EventQueue event_queue;
  Link link(with_buffer());
  HostMemory memory("memory", 1_MiB, link, event_queue);
  const Picoseconds read = Link(with_buffer()).read_host_memory(0, 4);
  // What the bus adds shifts the end, and leaves no hole on the link.
  CHECK(memory.access(30_ns, k_host_memory_base, 4, false) == 30_ns + read);
  CHECK(link.answer(0, 4096).data_end ==
        Link(with_buffer()).answer(0, 4096).data_end + link.wire_time(k_request));
  CHECK(memory.access(1_us, k_host_memory_base + 1_MiB - 8, 8, true) ==
        1_us + link.wire_time(k_request) + link.wire_time(8 + k_request));
  CHECK(memory.access(0, k_host_memory_base + 1_MiB - 8, 9, true) == k_never);
  CHECK(memory.access(0, 0, 4, false) == k_never);
  CHECK(memory.access_untimed(k_host_memory_base, 1_MiB, true));
  CHECK_FALSE(memory.access_untimed(k_host_memory_base, 1_MiB + 1, true));
  const auto numbers = test::statistics_of(memory);
  CHECK(numbers.at("host memory/reads") == 1);
  CHECK(numbers.at("host memory/writes") == 1);
  CHECK(numbers.at("host memory/bytes read") == 4);
  CHECK(numbers.at("host memory/bytes written") == 8);
  CHECK(numbers.at("host memory/mean read") == Approx(static_cast<double>(read) * 1e-12));
  memory.reset_statistics();
  CHECK(test::statistics_of(memory).at("host memory/reads") == 0);
  CHECK(test::statistics_of(memory).at("host memory/mean read") == 0);
}

TEST_CASE("SATA has no host memory buffer") {
  HostConfig config = with_buffer("sata6");
  config.protocol = "sata";
  CHECK_THROWS_WITH(config.validate(), Catch::Contains("ssd.host.memory_buffer") && Catch::Contains("sata") &&
                                           Catch::Contains("0 B"));
  config.memory_buffer = 0;
  CHECK_NOTHROW(config.validate());
}

}  // namespace tlmssd
