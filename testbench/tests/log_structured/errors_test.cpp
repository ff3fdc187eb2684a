// The log-structured host layer where something fails or makes no sense: what cannot be read,
// drives that take no more writes, commands and sizes that are refused.
#include <catch2/catch.hpp>
#include <span>

#include "models/base/memory_archive.h"
#include "testbench/tests/log_structured/small_segments.h"

namespace tlmssd::log_structured_tests {
TEST_CASE("what cleaning cannot read is lost until it is written anew") {
  Rig rig(small_log());
  const Bytes all = rig.size().bytes;
  std::vector<Load> fill = make_loads({.rw = "write", .bs = 64_KiB}, rig.size());
  rig.driver.run_untimed(fill);
  // The log is in the order of addresses, so grain 5 lies at place 5; half of its segment is
  // overwritten, so that cleaning takes it.
  rig.drive.unreadable = {5 * 8 + 3};
  rig.run_untimed(script({{HostOpcode::write, 32_KiB, 32_KiB}}, rig.size()));
  std::vector<Step> rest;
  for (Bytes at = 64_KiB; at < all; at += 64_KiB) rest.push_back({HostOpcode::write, at, 32_KiB});
  rig.run_untimed(script(rest, rig.size()));
  CHECK(rig.log_structured.statistics().grains_lost == 1);
  CHECK(rig.driver.failed() == 0);
  rig.run_untimed(script({{HostOpcode::read, 16_KiB, 4_KiB}, {HostOpcode::read, 24_KiB, 4_KiB}}, rig.size()));
  CHECK(rig.driver.failed() == 0);
  rig.run_untimed(script({{HostOpcode::read, 16_KiB, 16_KiB}}, rig.size()));
  CHECK(rig.driver.failed() == 1);
  rig.run_untimed(script({{HostOpcode::write, 20_KiB, 1_KiB}}, rig.size()));  // cannot be completed
  CHECK(rig.driver.failed() == 2);
  rig.run_untimed(
      script({{HostOpcode::write, 20_KiB, 4_KiB}, {HostOpcode::read, 16_KiB, 16_KiB}}, rig.size()));
  CHECK(rig.driver.failed() == 2);
}

TEST_CASE("what the host writes while cleaning fails to read it is not lost") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  rig.drive.unreadable = {8};                            // grain 1
  rig.run(script({write(0), write(1)}, rig.size(), 2));  // it is being read
  CHECK(rig.log_structured.statistics().segments_cleaned == 1);
  CHECK(rig.log_structured.statistics().grains_lost == 0);
  rig.run(read_all(rig.size(), 1));
  CHECK(rig.driver.failed() == 0);
}

TEST_CASE("a read fails with any of its pieces") {
  Rig rig(small_log());
  rig.run(script({write(0), write(2), write(1)}, rig.size()));  // grains 0 and 1 lie apart
  rig.drive.time = [](const HostCommand&) { return 1_us; };
  for (const std::uint64_t bad : {0, 16}) {
    rig.drive.unreadable = {bad};
    const std::vector<Seen> seen = seen_of(rig, {{HostOpcode::read, 0, 8_KiB}}, 1);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].status == HostStatus::media_error);
  }
}

TEST_CASE("a drive that has refused a write is not trimmed either") {
  Rig rig(small_log());
  rig.run(script({write(0), write(1)}, rig.size()));
  rig.drive.writes_allowed = 0;
  const std::vector<Seen> seen = seen_of(rig,
                                         {write(1),
                                          {HostOpcode::trim, 0, 4_KiB},
                                          {HostOpcode::write_zeroes, 0, 8_KiB},
                                          {HostOpcode::read, 0, 8_KiB}},
                                         1);
  REQUIRE(seen.size() == 4);
  for (int i = 0; i < 3; ++i) CHECK(seen[static_cast<std::size_t>(i)].status == HostStatus::write_protected);
  CHECK(seen[3].status == HostStatus::success);
  CHECK(rig.log_structured.log().mapped() == 2);
}

TEST_CASE("a victim whose copies the drive refuses stays as it is") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  rig.drive.writes_allowed = 13;
  rig.run(script({write(0)}, rig.size()));  // the last that is taken
  CHECK(rig.log_structured.statistics().segments_cleaned == 0);
  MemoryArchive archive;  // which is read back only when no segment is missing
  rig.log_structured.archive(archive);
  archive.rewind();
  CHECK_NOTHROW(rig.log_structured.archive(archive));
  rig.run(read_all(rig.size(), 1));
  CHECK(rig.driver.failed() == 0);
}

TEST_CASE("when the drive goes read-only, nothing hangs and what was written stays") {
  for (const std::uint64_t allowed : {0U, 1U, 500U, 3000U, 5555U}) {
    INFO(allowed << " writes allowed");
    CHECK(in_child<bool>([allowed] {
      RigOptions options = tight(10, 2);
      options.drive.seed = allowed + 1;
      Rig rig(options);
      rig.drive.writes_allowed = allowed;
      std::vector<Load> loads;
      for (std::uint32_t i = 0; i < 3; ++i)
        loads.push_back(mixed_load({.requests = 3000, .depth = 9, .hot_blocks = 1'000'000}, rig.size(), i));
      rig.run(loads);
      rig.run(read_all(rig.size(), 4));
      return rig.violations().empty() && rig.driver.failed() > 0 && rig.scoreboard.mismatches() == 0;
    }));
  }
}

TEST_CASE("commands that make no sense are refused") {
  Rig rig(small_log());
  PayloadPool<HostExtension, HostTransaction> pool;
  std::vector<Stamp> data(1000);
  const auto status_of = [&](HostOpcode opcode, std::uint64_t lba, std::uint32_t blocks,
                             std::uint16_t queue = 0) {
    HostTransaction& payload = pool.take();
    payload.opcode = opcode;
    payload.lba = lba;
    payload.blocks = blocks;
    payload.queue = queue;
    payload.set_data({data.data(), blocks});
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(data.data()));
    payload.set_data_length(2);
    payload.set_streaming_width(2);
    rig.driver.device_isock->transport_dbg(payload);
    const HostStatus status = payload.status;
    payload.release();
    return status;
  };
  const std::uint64_t end = rig.log_structured.blocks();
  CHECK(status_of(HostOpcode::read, end - 8, 8) == HostStatus::success);
  CHECK(status_of(HostOpcode::read, end - 7, 8) == HostStatus::lba_out_of_range);
  CHECK(status_of(HostOpcode::write, end, 1) == HostStatus::lba_out_of_range);
  CHECK(status_of(HostOpcode::write, ~std::uint64_t{0}, 8) == HostStatus::lba_out_of_range);
  CHECK(status_of(HostOpcode::write, 0, 0) == HostStatus::invalid_field);
  CHECK(status_of(HostOpcode::read, 0, 256) == HostStatus::success);
  CHECK(status_of(HostOpcode::read, 0, 257) == HostStatus::invalid_field);  // longer than max_transfer
  CHECK(status_of(HostOpcode::read, 0, 8, 3) == HostStatus::invalid_field);
  CHECK(status_of(HostOpcode::write_zeroes, 0, 0) == HostStatus::invalid_field);
  CHECK(status_of(HostOpcode::write_zeroes, end, 8) == HostStatus::lba_out_of_range);
  CHECK(status_of(HostOpcode::trim, 0, 0) == HostStatus::invalid_field);  // no ranges
  const std::vector<LbaRange> ranges(257, {0, 8});
  const auto status_of_trim = [&](std::size_t count) {
    HostTransaction& payload = pool.take();
    payload.opcode = HostOpcode::trim;
    payload.queue = 0;
    payload.set_ranges(std::span(ranges).first(count));
    rig.driver.device_isock->transport_dbg(payload);
    const HostStatus status = payload.status;
    payload.release();
    return status;
  };
  CHECK(status_of_trim(256) == HostStatus::success);
  CHECK(status_of_trim(257) == HostStatus::invalid_field);
}

TEST_CASE("debug transport returns how many bytes it has moved") {
  Rig rig(small_log());
  PayloadPool<HostExtension, HostTransaction> pool;
  std::vector<Stamp> data(8);
  const auto moved = [&](HostOpcode opcode, std::uint64_t lba) {
    HostTransaction& payload = pool.take();
    payload.fill(tlm::TLM_IGNORE_COMMAND, lba * 512, data.data(), sizeof(Stamp) * data.size());
    payload.opcode = opcode;
    payload.lba = lba;
    payload.blocks = opcode == HostOpcode::flush ? 0 : 8;
    payload.queue = 0;
    payload.set_data(data);
    const unsigned bytes = rig.driver.device_isock->transport_dbg(payload);
    payload.release();
    return bytes;
  };
  CHECK(moved(HostOpcode::write, 0) == 8 * sizeof(Stamp));
  CHECK(moved(HostOpcode::read, 0) == 8 * sizeof(Stamp));
  CHECK(moved(HostOpcode::read, rig.log_structured.blocks()) == 0);
  CHECK(moved(HostOpcode::flush, 0) == 0);
}

TEST_CASE("sizes that do not fit the drive are refused with the nearest valid ones") {
  const auto complaint = [](LogStructuredConfig config, std::uint64_t blocks = 2048,
                            Bytes transfer = 128_KiB) -> std::string {
    try {
      log_shape(config, {blocks, 512, transfer, 1, 32});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  LogStructuredConfig config = small_log().log_structured;
  CHECK(complaint(config).empty());
  config.grain = 4100;
  CHECK(complaint(config) ==
        "log_structured.grain: 4100 B are no whole logical blocks of 512 B; nearest valid: 4096 B");
  config.grain = 4096;
  CHECK(complaint(config, 2048, 2048) ==
        "log_structured.grain: 4096 B exceed the 2048 B of ssd.host.max_transfer; nearest valid: 2048 B");
  // Of what 3 KiB carry, the most that makes segments of 64 KiB.
  CHECK(complaint(config, 2048, 3072) ==
        "log_structured.grain: 4096 B exceed the 3072 B of ssd.host.max_transfer; nearest valid: 2048 B");
  config.segment = 66'000;
  CHECK(complaint(config) ==
        "log_structured.segment: 66000 B are no whole grains of 4096 B; nearest valid: 65536 B");
  config.segment = 256_KiB;
  CHECK(complaint(config) ==
        "log_structured.segment: the drive has 4 segments of 262144 B, and cleaning alone needs 4 "
        "(low_water and 2); nearest valid: 208896 B");
  config.segment = 208'896;
  config.spare = 0.8;
  CHECK(complaint(config).empty());
  config = small_log().log_structured;
  config.spare = 0.1;
  CHECK(
      complaint(config) ==
      "log_structured.spare: 10 % of 16 segments are fewer than the 4 that cleaning needs (low_water and 2); "
      "nearest "
      "valid: 25 %");
  config.spare = 0.25;
  CHECK(complaint(config).empty());
  config.grain = 512;
  config.segment = 4_KiB;
  CHECK(complaint(config, std::uint64_t{1} << 33U) ==
        "log_structured.grain: 512 B make more than 2^32 grains of this drive; nearest valid: 1024 B");
}

}  // namespace tlmssd::log_structured_tests
