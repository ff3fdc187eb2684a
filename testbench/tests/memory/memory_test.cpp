// DRAM, SCM and system bus against their closed forms, to the picosecond.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "models/base/memory_archive.h"
#include "testbench/tests/memory/memory_rig.h"
#include "testbench/tests/support/statistics_of.h"

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

/// When the last of these accesses ends that share a resource evenly, by events: `left` of those
/// that are under way.
Picoseconds shared_evenly(std::vector<double> left, double time) {
  left.push_back(time);
  double now = 0;
  for (;;) {
    const double least = *std::min_element(left.begin(), left.end());
    now += least * static_cast<double>(left.size());
    if (left.back() <= least) return std::llround(now);
    for (double& one : left) one -= least;
    std::erase_if(left, [](double one) { return one <= 0; });
  }
}

TEST_CASE("accesses that take turns: each ends as if those before it shared the resource evenly") {
  Turns alone(k_round_robin);
  CHECK(alone.take(5, 100).end == 105);
  CHECK(alone.take(1000, 100).end == 1100);
  SECTION("a short one behind long ones") {
    Turns turns(k_round_robin);
    for (int i = 0; i < 3; ++i) turns.take(0, 100'000);
    CHECK(turns.take(0, 40).end == shared_evenly({100'000, 100'000, 100'000}, 40));
    CHECK(turns.take(0, 40).end == shared_evenly({100'000, 100'000, 100'000, 40}, 40));
    CHECK(turns.free() == 300'080);
  }
  SECTION("a long one behind short ones and a longer one") {
    Turns turns(k_round_robin);
    turns.take(0, 100'000);
    for (int i = 0; i < 5; ++i) turns.take(0, 40);
    CHECK(turns.take(0, 1000).end == shared_evenly({100'000, 40, 40, 40, 40, 40}, 1000));
    // What has ended by the order of arrival is waited for no more.
    CHECK(turns.take(100'130, 1000).end == 100'130 + 70 + 1000 + 1000);
  }
  SECTION("among short ones of which some have ended") {
    Turns turns(k_round_robin);
    for (int i = 0; i < 5; ++i) turns.take(0, 40);
    turns.take(0, 100'000);
    CHECK(turns.take(120, 50).end == 120 + shared_evenly({40, 40, 100'000}, 50));
  }
  SECTION("lengths drawn from four octaves: off by less than an octave of the time it takes") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
      Turns turns(k_round_robin);
      std::vector<double> left;
      for (int i = 0; i < 8; ++i) {
        const Picoseconds time = 100 + random() % 1500;
        turns.take(0, time);
        left.push_back(static_cast<double>(time));
      }
      const Picoseconds time = 100 + random() % 1500;
      const Picoseconds end = turns.take(0, time).end;
      const Picoseconds exact = shared_evenly(left, static_cast<double>(time));
      CHECK(end >= exact);
      CHECK(end <= 2 * exact);
    }
  }
}

TEST_CASE("accesses that take turns use all of the bandwidth, and a snapshot knows what is booked") {
  Turns deep(k_round_robin);
  Picoseconds end = 0;
  for (int i = 0; i < 10'000; ++i) end = std::max(end, deep.take(0, i % 10 == 0 ? 10'000 : 10).end);
  CHECK(end <= 1'000 * 10'000 + 9'000 * 10);
  CHECK(end > 1'000 * 10'000);
  // In closed loop, eight long ones and one short one under way: no more is served than there is
  // time.
  Turns turns(k_round_robin);
  std::array<Picoseconds, 9> ends{};
  Picoseconds served = 0;
  Picoseconds last = 0;
  while (last < 100'000'000) {
    auto next = std::min_element(ends.begin(), ends.end());
    const Picoseconds time = next == ends.begin() ? 40 : 10'000;
    served += time;
    last = *next = turns.take(*next, time).end;
  }
  CHECK(static_cast<double>(served) == Approx(static_cast<double>(turns.free())).epsilon(1e-3));
  MemoryArchive archive;
  turns.archive(archive);
  archive.rewind();
  Turns loaded(k_round_robin);
  loaded.archive(archive);
  CHECK(loaded.take(last, 40).end == turns.take(last, 40).end);
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
  SECTION("an access waits for earlier ones at the interface and at its banks") {
    config.banks = 1;
    ScmTiming timing(config);
    CHECK(timing.reserve(0, 0, 1, false, false, false).waited == 0);
    CHECK(timing.reserve(0, 1, 1, false, false, false).waited == 100_ns);
    CHECK(timing.reserve(50_ns, 2, 2, false, false, false).waited == 150_ns);
    CHECK(timing.reserve(1_us, 2, 2, true, true, true).waited == 0);
    config.banks = 64;
    ScmTiming wide(config);
    CHECK(wide.reserve(0, 0, 32, false, false, false).waited == 0);
    CHECK(wide.reserve(0, 32, 1, false, false, false).waited == 32 * sector);
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

TEST_CASE("a sector read in part takes as long as a whole one, and one written in part is read first") {
  ScmConfig config;
  config.banks = 4;
  config.read_latency = 100_ns;
  config.program_latency = 250_ns;
  config.bandwidth = 6'400'000'000;
  const Picoseconds sector = 80_ns;
  for (const std::uint64_t bank : {0U, 1U}) {
    ScmTiming tail(config);
    tail.reserve(0, 0, 2, true, false, true);
    const Picoseconds busy = bank == 0 ? 250_ns : 350_ns;  // the second sector is the one in part
    CHECK(tail.reserve(0, bank, 1, false, false, false).end == busy + 100_ns + sector);
  }
  MemoryRig rig({}, config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const Picoseconds whole = 250_ns + sector;
  struct Row {
    std::uint64_t offset;
    Bytes bytes;
    bool write;
    Picoseconds takes;
  };
  Picoseconds now = 0;
  for (const Row& row : {Row{512, 512, true, whole}, Row{512, 100, true, 100_ns + whole},
                         Row{600, 100, true, 100_ns + whole}, Row{612, 412, true, 100_ns + whole},
                         Row{256, 512, true, 100_ns + whole}, Row{512, 100, false, 100_ns + sector},
                         Row{600, 424, false, 100_ns + sector}, Row{256, 512, false, 100_ns + 2 * sector}}) {
    INFO(row.bytes << " B at " << row.offset);
    now += 10_us;
    CHECK(rig.scm.access(now, k_scm_base + row.offset, row.bytes, row.write) == now + row.takes);
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

TEST_CASE("a sector of an SCM wears the region in which it begins") {
  ScmConfig config;
  config.capacity = 64_KiB;
  config.wear_region = 1500;  // sectors 0 to 2, 3 to 5, 6 to 8, 9 to 11, ...
  MemoryRig rig({}, config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.first.client.access_untimed(k_scm_base + 512, Bytes{9} * 512, true);
  const auto& wear = rig.scm.wear();
  CHECK(std::vector<std::uint64_t>(wear.begin(), wear.begin() + 5) ==
        std::vector<std::uint64_t>{2, 3, 3, 1, 0});
}

TEST_CASE("memories and bus report accesses, bytes, waits and wear, of what has been since a reset") {
  SystemBusConfig bus;
  bus.width = 64;
  bus.clock = 400_MHz;
  ScmConfig scm;
  scm.capacity = 64_KiB;  // 128 sectors, all of them in a part of one region
  scm.wear_region = 1_MiB;
  MemoryRig rig(dram_of(1'600'000'000, 50_ns), scm, bus);
  rig.event_queue.at(
      1_us,
      [](void* self) {
        auto& on = *static_cast<MemoryRig*>(self);
        on.first.client.access(0, 4096, true, nullptr, nullptr);
        on.first.client.access(0, 512, false, nullptr, nullptr);
        on.second.client.access(k_scm_base + 600, 700, true, nullptr, nullptr);  // sectors 1 and 2
      },
      &rig);
  rig.event_queue.at(
      1_ms, [](void*) {}, nullptr);  // all that is booked has passed
  rig.run();
  const Picoseconds on_bus = transfer_time(4096, 3'200'000'000);
  const Picoseconds on_dram = transfer_time(4096, 1'600'000'000);
  const auto seconds = [](Picoseconds time) { return static_cast<double>(time) * 1e-12; };
  auto dram = test::statistics_of(rig.dram);
  CHECK(dram["dram/reads"] == 1);
  CHECK(dram["dram/writes"] == 1);
  CHECK(dram["dram/bytes read"] == 512);
  CHECK(dram["dram/bytes written"] == 4096);
  CHECK(dram["dram/busy"] == Approx(seconds(on_dram + transfer_time(512, 1'600'000'000))));
  CHECK(dram["dram/mean wait"] == Approx(seconds(on_dram - on_bus) / 2));
  auto own = test::statistics_of(rig.scm);
  CHECK(own["scm/writes"] == 1);
  CHECK(own["scm/bytes written"] == 1024);
  CHECK(own["scm/mean wait"] == 0);
  CHECK(own["scm/mean wear"] == Approx(2.0 / 128));
  CHECK(own["scm/highest wear"] == Approx(2.0 / 128));
  auto shared = test::statistics_of(rig.bus);
  CHECK(shared["bus/reads"] == 1);
  CHECK(shared["bus/writes"] == 2);
  CHECK(shared["bus/bytes read"] == 512);
  CHECK(shared["bus/bytes written"] == 4796);
  CHECK(shared["bus/bytes of master 0"] == 4608);
  CHECK(shared["bus/bytes of master 1"] == 700);
  CHECK(shared["bus/mean wait"] == Approx(seconds(2 * on_bus + transfer_time(512, 3'200'000'000)) / 3));
  rig.dram.reset_statistics();
  rig.scm.reset_statistics();
  rig.bus.reset_statistics();
  for (const auto& told : {test::statistics_of(rig.dram), test::statistics_of(rig.bus)}) {
    for (const auto& [name, value] : told) {
      INFO(name);
      CHECK(value == 0);
    }
  }
  own = test::statistics_of(rig.scm);
  CHECK(own["scm/writes"] == 0);
  CHECK(own["scm/banks utilisation"] == 0);
  CHECK(own["scm/mean wear"] == Approx(2.0 / 128));  // since new
  CHECK(own["scm/highest wear"] == Approx(2.0 / 128));
}

TEST_CASE("what an SCM is booked for is saved, of banks and interface, and other banks are refused") {
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
