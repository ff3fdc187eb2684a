// DRAM, SCM and system bus against their closed forms, to the picosecond.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "models/base/memory_archive.h"
#include "testbench/tests/memory/memory_rig.h"

namespace tlmssd {
namespace {

using namespace literals;

DramConfig dram_of(BytesPerSecond bandwidth, Picoseconds latency) {
  DramConfig config;
  config.bandwidth = bandwidth;
  config.latency = latency;
  return config;
}

TEST_CASE("DRAM timing is bandwidth in order plus a pipelined latency") {
  DramTiming timing(dram_of(3'200'000'000, 50_ns));
  const Picoseconds page = transfer_time(4096, 3'200'000'000);
  REQUIRE(page == 1'280'000);
  CHECK(timing.reserve(1000, 4096).end == 1000 + page + 50_ns);
  CHECK(timing.reserve(1000, 4096).end == 1000 + 2 * page + 50_ns);  // latency is paid once in a stream
  CHECK(timing.reserve(10_us, 64).end == 10_us + 20_ns + 50_ns);
  Picoseconds end = 0;
  DramTiming odd(dram_of(2'999'999'999, 0));
  for (int i = 0; i < 1000; ++i) end = odd.reserve(0, 4097).end;
  CHECK(end == 1000 * transfer_time(4097, 2'999'999'999));
}

TEST_CASE("SCM timing follows its closed form") {
  ScmConfig config;
  config.banks = 4;
  config.read_latency = 100_ns;
  config.program_latency = 250_ns;
  config.bandwidth = 6'400'000'000;
  const Picoseconds sector = transfer_time(512, config.bandwidth);
  REQUIRE(sector == 80_ns);
  SECTION("one sector costs latency and transfer") {
    CHECK(ScmTiming(config).reserve(7, 3, 1, false, false, false).end == 7 + 100_ns + sector);
    CHECK(ScmTiming(config).reserve(7, 3, 1, true, false, false).end == 7 + 250_ns + sector);
  }
  SECTION("a sector programmed in part is read first") {
    CHECK(ScmTiming(config).reserve(0, 3, 1, true, true, false).end == 350_ns + sector);
    CHECK(ScmTiming(config).reserve(0, 0, 4, true, false, true).end ==
          4 * sector + 250_ns);  // hidden behind the interface
    CHECK(ScmTiming(config).reserve(0, 0, 4, true, true, true).end == 4 * sector + 250_ns);
    CHECK(ScmTiming(config).reserve(0, 0, 2, true, true, false).end == 350_ns + sector);
  }
  SECTION("a long read is limited by the interface, a long program by the banks") {
    CHECK(ScmTiming(config).reserve(0, 0, 64, false, false, false).end == 64 * sector + 100_ns);
    CHECK(ScmTiming(config).reserve(0, 0, 64, true, false, false).end ==
          std::max<Picoseconds>(64 * sector + 250_ns, 16 * 250_ns + sector));
    config.banks = 1;
    CHECK(ScmTiming(config).reserve(0, 0, 64, true, false, false).end == 64 * 250_ns + sector);
  }
  SECTION("saturated bandwidth is the lower of interface and banks") {
    for (const std::uint32_t banks : {1U, 3U, 4U, 16U}) {
      config.banks = banks;
      ScmTiming timing(config);
      Picoseconds end = 0;
      for (std::uint64_t i = 0; i < 10'000; ++i) end = timing.reserve(0, i, 1, true, false, false).end;
      const double rate = 10'000 * 512.0 / (static_cast<double>(end) * 1e-12);
      CHECK(rate == Approx(std::min(6.4e9, banks * 512.0 / 250e-9)).epsilon(0.002));
    }
  }
}

TEST_CASE("an access through the bus ends when the slower of bus and memory is done") {
  SystemBusConfig bus;
  bus.width = 64;
  bus.clock = 400_MHz;
  bus.latency = 10_ns;
  MemoryRig rig(dram_of(1'600'000'000, 50_ns), {}, bus);
  REQUIRE(bus.bandwidth() == 3'200'000'000);
  static Picoseconds slow_memory = 0;
  static Picoseconds slow_bus = 0;
  static MemoryClient* client = &rig.first.client;
  rig.event_queue.at(
      1_us,
      [](void*) {
        slow_memory = client->access(0, 4096, true, nullptr, nullptr);
        slow_bus = client->access(k_scm_base, 4096, false, nullptr, nullptr);
      },
      nullptr);
  rig.run();
  CHECK(slow_memory == 1_us + 10_ns + transfer_time(4096, 1'600'000'000) + 50_ns);
  // The SCM (6.4 GB/s) sees its request once the bus is granted, behind the first transfer.
  const Picoseconds granted = 1_us + transfer_time(4096, 3'200'000'000);
  CHECK(slow_bus == granted + transfer_time(4096, 3'200'000'000) + 10_ns);
  CHECK(rig.bus.counters().busy == 2 * transfer_time(4096, 3'200'000'000));
  CHECK(rig.bus.counters().written_bytes == 4096);
  CHECK(rig.dram.counters().written_bytes == 4096);
  CHECK(rig.scm.counters().read_bytes == 4096);
}

TEST_CASE("saturated bandwidth through the bus is that of the slowest part") {
  static MemoryRig* rig = nullptr;
  static Picoseconds end = 0;
  SystemBusConfig bus;  // 12.8 GB/s
  MemoryRig made(dram_of(3'200'000'000, 50_ns), {}, bus);
  rig = &made;
  made.event_queue.at(
      0,
      [](void*) {
        for (int i = 0; i < 500; ++i) {
          rig->first.client.access(static_cast<std::uint64_t>(i) * 4096, 4096, false, nullptr, nullptr);
          end = rig->second.client.access(static_cast<std::uint64_t>(i) * 4096, 4096, true, nullptr, nullptr);
        }
      },
      nullptr);
  made.run();
  CHECK(end == 1000 * transfer_time(4096, 3'200'000'000) + 50_ns + bus.latency);
}

TEST_CASE("memory that answers later works through the bus to the letter of the protocol") {
  static MemoryRig* rig = nullptr;
  static std::map<int, Picoseconds> ended;
  struct Waiter {
    int number;
  };
  static Waiter waiters[40];
  MemoryRig made;
  rig = &made;
  made.event_queue.at(
      0,
      [](void*) {
        for (int i = 0; i < 40; ++i) {
          waiters[i].number = i;
          MemoryClient& client = i % 2 == 0 ? rig->first.client : rig->second.client;
          const Picoseconds end = client.access(
              k_late_base + static_cast<std::uint64_t>(i) * 512, 512, i % 3 == 0,
              [](void* self) { ended[static_cast<Waiter*>(self)->number] = rig->event_queue.now(); },
              &waiters[i]);
          CHECK(end == k_never);
        }
      },
      nullptr);
  made.run();
  CHECK(ended.size() == 40);
  CHECK(made.late.answered == 40);
  CHECK(made.first.client.outstanding() == 0);
  CHECK(made.second.client.outstanding() == 0);
  // Unloaded, the first: bus latency, acceptance, access; then one request every 30 ns of
  // acceptance.
  CHECK(ended[0] == SystemBusConfig{}.latency + 130_ns);
}

TEST_CASE("a late memory may leave END_REQ to BEGIN_RESP") {
  static MemoryRig* rig = nullptr;
  static int ended = 0;
  MemoryRig made({}, {}, {}, 30'000, 0);
  rig = &made;
  made.event_queue.at(
      0,
      [](void*) {
        for (int i = 0; i < 21; ++i) {
          MemoryClient& client = i % 2 == 0 ? rig->first.client : rig->second.client;
          client.access(
              k_late_base, 512, false, [](void*) { ++ended; }, nullptr);
        }
      },
      nullptr);
  made.run();
  CHECK(ended == 21);
}

TEST_CASE("an address without memory is an error and not a guess") {
  static MemoryRig* rig = nullptr;
  MemoryRig made;
  rig = &made;
  made.event_queue.at(
      0, [](void*) { rig->first.client.access(std::uint64_t{1} << 50U, 512, false, nullptr, nullptr); },
      nullptr);
  CHECK_THROWS_WITH(made.run(), Catch::Contains("TLM_ADDRESS_ERROR_RESPONSE"));
  CHECK_THROWS_AS(made.first.client.access_untimed(DramConfig{}.capacity - 1, 2, false), std::logic_error);
}

TEST_CASE("blocking and debug transport reach memories through the bus and bytes are kept when asked") {
  DramConfig config = dram_of(1'000'000'000, 50_ns);
  config.storage = true;
  MemoryRig rig(config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned char out[16] = "fifteen letters";
  unsigned char in[16] = {};
  tlm::tlm_generic_payload payload;
  payload.set_write();
  payload.set_address(4090);
  payload.set_data_ptr(out);
  payload.set_data_length(16);
  payload.set_streaming_width(16);
  sc_core::sc_time delay(3, sc_core::SC_NS);
  rig.first.client.socket->b_transport(payload, delay);
  CHECK(payload.is_response_ok());
  CHECK(to_picoseconds(delay) == 3_ns + SystemBusConfig{}.latency + 16_ns + 50_ns);
  payload.set_read();
  payload.set_data_ptr(in);
  CHECK(rig.second.client.socket->transport_dbg(payload) == 16);
  CHECK(std::memcmp(in, out, 16) == 0);
  payload.set_address(config.capacity - 15);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  CHECK(rig.second.client.socket->transport_dbg(payload) == 0);
  rig.second.client.socket->b_transport(payload, delay);
  CHECK(payload.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("SCM counts wear by region and keeps it") {
  EventQueue event_queue;
  ScmConfig config;
  config.capacity = 1_MiB + 512;  // odd: the last region is short
  config.wear_region = 64_KiB;
  MemoryRig rig({}, config);
  Scm restored("restored", config, event_queue);
  auto& client = rig.first.client;
  rig.bind(rig.bus.add_memory("restored_isock", std::uint64_t{1} << 45U, 512), restored.bus_tsock);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  client.access_untimed(k_scm_base, 64_KiB + 512, true);
  client.access_untimed(k_scm_base + 1_MiB, 512, true);
  client.access_untimed(k_scm_base + 100, 512, true);  // straddles two sectors
  client.access_untimed(k_scm_base, 4096, false);
  CHECK(rig.scm.wear().size() == 17);
  CHECK(rig.scm.wear()[0] == 128 + 2);
  CHECK(rig.scm.wear()[1] == 1);
  CHECK(rig.scm.wear()[16] == 1);
  const Picoseconds unloaded = rig.scm.access(0, k_scm_base, 4096, false);
  MemoryArchive archive;
  rig.scm.archive(archive);
  archive.rewind();
  restored.archive(archive);
  CHECK(archive.at_end());
  CHECK(restored.wear() == rig.scm.wear());
  CHECK(restored.access(0, k_scm_base, 4096, false) > unloaded);  // behind what was booked
}

TEST_CASE("what an SCM is booked for is saved, of banks and interface; other banks are refused") {
  ScmConfig config;
  ScmTiming timing(config);
  timing.reserve(0, 0, 3, true, false, false);
  MemoryArchive archive;
  timing.archive(archive);
  archive.rewind();
  ScmTiming restored(config);
  restored.archive(archive);
  CHECK(archive.at_end());
  const Picoseconds end = timing.reserve(0, 0, 1, false, false, false).end;
  CHECK(restored.reserve(0, 0, 1, false, false, false).end == end);
  CHECK(ScmTiming(config).reserve(0, 0, 1, false, false, false).end < end);
  config.banks /= 2;
  ScmTiming other(config);
  MemoryArchive again(archive.content());
  CHECK_THROWS_AS(other.archive(again), ArchiveError);
}

}  // namespace
}  // namespace tlmssd
