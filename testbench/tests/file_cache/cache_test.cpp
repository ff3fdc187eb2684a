// The file cache between a host and a memory: what becomes of each access and how long it takes,
// what the drive sees, errors, and that nothing hangs under everything a host can ask for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/memory_archive.h"
#include "testbench/tests/file_cache/rig.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::filecache_tests {
namespace {

using drive_tests::mixed_load;
using drive_tests::Step;

constexpr Picoseconds k_file_time = transfer_time(64_KiB, 100'000'000);

/// Where the file's copy lies, or the end.
std::uint64_t place_of(const Rig& rig, FileNumber file) {
  const std::optional<FileStore::Slot> slot = rig.cache.store().find(file);
  return slot ? rig.cache.blocks() + *slot * 16ULL : rig.drive.content.size();
}

/// A cache of four files that takes no more than what is `free` of a pSLC.
RigOptions small_cache_within(const Bytes& free) {
  RigOptions options = small_cache("dfcache", 10, 4);
  options.policy = {{"accesses", whole(1)}};
  options.free_pslc = [&free] { return std::optional<Bytes>(free); };
  return options;
}

/// What the drive holds of the file.
std::vector<Stamp> copy_of(const Rig& rig, FileNumber file) {
  const auto begin = rig.drive.content.begin() + static_cast<std::ptrdiff_t>(place_of(rig, file));
  return {begin, begin + 16};
}

}  // namespace

TEST_CASE("a cache lies behind whole units of its drive") {
  FileCacheConfig config;
  config.files = 1000;
  config.file_size = 4_KiB;
  config.space = 0.25;
  // A quarter of 2001 blocks of 512 B: 500 whole ones, of which 62 files of 8 blocks are made. Of
  // the 1501 before them, loads see what is whole units of 8.
  const FileCacheShape shape = file_cache_shape(config, {2001, 512, 32_KiB, 1, 8, 4096});
  CHECK(shape.slots == 62);
  CHECK(shape.file_blocks == 8);
  CHECK(shape.drive_blocks == 1496);
  config.files = 10;  // more slots are of no use
  CHECK(file_cache_shape(config, {2001, 512, 32_KiB, 1, 8, 4096}).slots == 10);
}

TEST_CASE("sizes of files that do not fit are refused with the nearest valid ones") {
  const auto complaint = [](const FileCacheConfig& config, std::uint64_t blocks) -> std::string {
    try {
      file_cache_shape(config, {blocks, 4096, 32_KiB, 1, 8, 4096});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  FileCacheConfig config;
  config.file_size = 16 * 4096 + 3000;
  CHECK(complaint(config, 2048) ==
        "file_cache.file_size: 68536 B are no whole logical blocks of 4096 B; nearest valid: 69632 B");
  // A slot of 1 GiB behind the drive's blocks, and 2^32 - 2 blocks in all: 16000 files beside
  // 100663294 blocks, but not beside one more.
  constexpr std::uint64_t k_file_blocks = 262'144;
  constexpr std::uint64_t k_drive_blocks = (std::uint64_t{1} << 32U) - 2 - 16'000 * k_file_blocks;
  config.file_size = 1_GiB;
  config.files = 16'000;
  config.space = (k_file_blocks + 0.5) / (k_drive_blocks + k_file_blocks);
  CHECK(complaint(config, k_drive_blocks + k_file_blocks).empty());
  CHECK(complaint(config, k_drive_blocks + 1 + k_file_blocks) ==
        "file_cache.files: 16000 files of 1073741824 B are more than can be told apart, 4294967294 units of "
        "4096 B together with the drive; nearest valid: 15999");
}

TEST_CASE("the slot that was freed longest ago is taken next") {
  FileStore store(4, 3);
  for (FileStore::Slot slot = 0; slot < 3; ++slot) CHECK(store.take_free() == slot);
  CHECK_FALSE(store.take_free());
  for (const FileStore::Slot slot : {1U, 2U, 0U}) store.freed(slot);
  for (const FileStore::Slot slot : {1U, 2U, 0U}) CHECK(store.take_free() == slot);
}

TEST_CASE("the file used longest ago makes room") {
  for (const bool timed : {false, true}) {
    INFO((timed ? "timed" : "untimed"));
    const auto held = drive_tests::in_child<std::array<bool, 6>>([&] {
      Rig rig(small_cache("all", 6, 3));
      const std::vector<FileNumber> sequence = {0, 1, 2, 0, 3, 1, 0, 4};  // 3 for 1, 1 for 2, 4 for 3
      timed ? rig.run(rig.reads(sequence)) : rig.run_untimed(rig.reads(sequence));
      const FileCache::Statistics& s = rig.cache.statistics();
      if (s.accesses != 8 || s.hits != 2 || s.misses != 6 || s.evicted != 3 || s.written != 6)
        throw std::runtime_error(fmt::format("{} hits, {} evicted", s.hits, s.evicted));
      if (rig.drive.seen[HostOpcode::trim] != 3) throw std::runtime_error("not trimmed");
      std::array<bool, 6> result{};
      for (FileNumber file = 0; file < 6; ++file) result[file] = place_of(rig, file) < 2048;
      return result;
    });
    CHECK(held == std::array<bool, 6>{true, true, false, false, true, false});
  }
}

TEST_CASE("what is trimmed and written where") {
  Rig rig(small_cache("all", 4, 2));
  rig.run(rig.reads({0, 1}));
  const std::uint64_t place = place_of(rig, 0);
  REQUIRE(place < 2048);
  const std::vector<Stamp> before = copy_of(rig, 0);
  rig.run(rig.reads({2}));
  CHECK(place_of(rig, 2) == place);  // the slot of the file that went
  CHECK(place_of(rig, 0) == 2048);
  const std::vector<Stamp> after = copy_of(rig, 2);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(before[i] != k_zeros);
    CHECK(after[i] != k_zeros);
    CHECK(after[i] != before[i]);
  }
  CHECK(rig.violations().empty());
}

TEST_CASE("a file that comes again has other data") {
  Rig rig(small_cache("all", 4, 1));
  rig.run(rig.reads({0}));
  const std::vector<Stamp> before = copy_of(rig, 0);
  rig.run(rig.reads({1, 0}));
  const std::vector<Stamp> after = copy_of(rig, 0);
  for (std::size_t i = 0; i < 16; ++i) CHECK(after[i] != before[i]);
}

TEST_CASE("a miss takes wait, latency and size by bandwidth") {
  Rig rig(small_cache("none", 10, 2));
  rig.run(rig.reads({0, 1, 2}, 3));  // all at once
  REQUIRE(rig.seen.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const drive_tests::Seen& one = rig.seen[static_cast<std::size_t>(i)];
    const Picoseconds network = i * k_file_time + 1_ms + k_file_time;
    CHECK(one.ledger.spent(Cause::network) == network);
    CHECK(one.ledger.spent(Cause::host_software) == 7_us);
    CHECK(one.latency == 7_us + network);
    CHECK(one.ledger.total() == one.latency);
  }
  CHECK(rig.cache.statistics().network == 3 * 1_ms + 6 * k_file_time);
}

TEST_CASE("what comes over the network untimed does not hold up what comes in time") {
  Rig rig(small_cache("none", 10, 2));
  rig.run_untimed(rig.reads({0, 1, 2, 3}));
  rig.run(rig.reads({4}));
  REQUIRE(rig.seen.size() == 1);
  CHECK(rig.seen[0].latency == 7_us + 1_ms + k_file_time);
}

TEST_CASE("accesses to a file on its way wait for their part of it") {
  Rig rig(small_cache("all", 10, 2));
  const std::vector<Step> steps = {
      {HostOpcode::read, 0, 4_KiB}, {HostOpcode::read, 32_KiB, 16_KiB}, {HostOpcode::read, 0, 64_KiB}};
  rig.run(drive_tests::script(steps, rig.files(), 3));
  REQUIRE(rig.seen.size() == 3);
  CHECK(rig.seen[0].latency == 7_us + 1_ms + transfer_time(4_KiB, 100'000'000));
  CHECK(rig.seen[1].latency == 7_us + 1_ms + transfer_time(48_KiB, 100'000'000));
  CHECK(rig.seen[2].latency == 7_us + 1_ms + k_file_time);
  CHECK(rig.cache.statistics().misses == 1);
  CHECK(rig.cache.statistics().joined == 2);
  CHECK(rig.cache.statistics().written == 1);
  CHECK(rig.cache.statistics().bytes_fetched == 64_KiB);  // the whole file, once
}

TEST_CASE("a hit takes the slowest of its commands to the drive") {
  Rig rig(small_cache("all", 10, 2));
  const std::uint64_t begin = rig.cache.blocks();
  rig.drive.time = [=](const HostCommand& command) {
    return command.opcode == HostOpcode::read && command.lba > begin ? 90_us : 50_us;
  };
  rig.run(rig.reads({0}));
  rig.run(rig.reads({0}));
  REQUIRE(rig.seen.size() == 2);
  CHECK(rig.cache.statistics().hits == 1);
  CHECK(rig.drive.seen[HostOpcode::read] == 2);  // of 32 KiB each
  CHECK(rig.seen[1].latency == 97_us);
  CHECK(rig.seen[1].ledger.spent(Cause::firmware) == 90_us);
  CHECK(rig.seen[1].ledger.spent(Cause::host_software) == 7_us);
  CHECK(rig.seen[1].ledger.spent(Cause::network) == 0);
}

TEST_CASE("an error response to an untimed command counts as to a timed one") {
  Rig rig(small_cache("all", 10, 2));
  rig.run_untimed(drive_tests::script({{HostOpcode::write, 0, 4_KiB}}, rig.size()));
  CHECK(rig.driver.failed() == 0);  // a drive need not say anything but its status
  rig.drive.untimed_response = tlm::TLM_GENERIC_ERROR_RESPONSE;
  rig.run_untimed(drive_tests::script({{HostOpcode::write, 0, 4_KiB}}, rig.size()));
  CHECK(rig.driver.failed() == 1);
  CHECK_THAT(rig.driver.take_first_failure(), Catch::Contains("invalid field"));
}

TEST_CASE("until the drive has a copy, the host's memory answers") {
  Rig rig(small_cache("all", 10, 2));
  rig.drive.time = [](const HostCommand&) { return 100_ms; };
  rig.run(rig.reads({0, 0}));
  CHECK(rig.seen.at(1).latency == 7_us);
  CHECK(rig.cache.statistics().hits_unwritten == 1);
  CHECK(rig.cache.statistics().misses == 1);
}

TEST_CASE("a file held in the host's memory costs neither drive nor network") {
  RigOptions options = small_cache("cachesifter", 10, 2);
  options.policy = {{"memory", whole(128_KiB)}};
  Rig rig(options);
  rig.run(rig.reads({0, 0, 1, 2, 3, 3}));  // 0 goes for 2 and was read again, 1 goes for 3 and was not
  const FileCache::Statistics& s = rig.cache.statistics();
  CHECK(s.memory_hits == 2);
  CHECK(rig.seen.at(1).latency == 7_us);
  CHECK(s.written == 1);
  CHECK(s.rejected == 1);
  CHECK(place_of(rig, 0) < 2048);
  CHECK(place_of(rig, 1) == 2048);
}

TEST_CASE("the report counts hits of memory, waits and room") {
  RigOptions options = small_cache("cachesifter", 10, 2);
  options.policy = {{"memory", whole(128_KiB)}};
  Rig rig(options);
  rig.run(rig.reads({0, 0, 1, 2, 3, 3, 0}));  // as before, and 0 from the drive
  const auto reported = test::statistics_of(rig.cache);
  CHECK(reported.at("file_cache/hits") == 1);
  CHECK(reported.at("file_cache/memory hits") == 2);
  CHECK(reported.at("file_cache/hit ratio") == Approx(3. / 7));
  CHECK(reported.at("file_cache/network wait") == Approx(4 * (1e-3 + 655.36e-6)));
  CHECK(reported.at("file_cache/network bytes") == 4 * 65536);
  CHECK(reported.at("file_cache/space used") == 65536);
  CHECK(reported.at("file_cache/space limit") == 2 * 65536);
  CHECK(reported.at("file_cache/files in memory") == 2);
}

TEST_CASE("a limit that falls empties the cache, one that rises fills it again") {
  Bytes free = 10 * 64_KiB;
  Rig rig(small_cache_within(free));
  rig.run(rig.reads({0, 1, 2, 3, 4}));
  CHECK(rig.cache.store().used() == 4);  // space
  free = 2 * 64_KiB + 5;
  rig.run(rig.reads({5}));
  CHECK(rig.cache.store().used() == 2);
  CHECK(place_of(rig, 5) < 2048);
  CHECK(place_of(rig, 4) < 2048);
  free = 64_KiB - 1;
  rig.run(rig.reads({6}));
  CHECK(rig.cache.store().used() == 0);
  CHECK(rig.cache.statistics().without_room == 1);
  free = 1_GiB;
  rig.run(rig.reads({0, 1, 2, 3}));
  CHECK(rig.cache.store().used() == 4);
  CHECK(rig.cache.limit() == 4 * 64_KiB);
  CHECK(rig.violations().empty());
}

TEST_CASE("a copy that cannot be read is fetched anew") {
  Rig rig(small_cache("all", 10, 3));
  rig.run(rig.reads({0, 1}));
  rig.drive.unreadable.insert(place_of(rig, 0) + 3);
  rig.run(rig.reads({0, 0}, 2));  // both at once: one copy is dropped, one fetch made
  const FileCache::Statistics& s = rig.cache.statistics();
  CHECK(s.refetched == 2);
  CHECK(s.misses == 3);
  CHECK(s.joined == 1);
  CHECK(s.evicted == 0);
  CHECK(rig.driver.failed() == 0);
  CHECK(rig.drive.seen[HostOpcode::trim] == 1);
  CHECK(rig.cache.store().used() == 2);
  for (const drive_tests::Seen& one : rig.seen) CHECK(one.ledger.total() == one.latency);
  rig.run(rig.reads({0}));
  CHECK(s.hits == 1);
  CHECK(rig.violations().empty());
}

TEST_CASE("a copy with wrong data is noticed") {
  for (const bool timed : {false, true}) {
    const bool noticed = drive_tests::in_child<bool>([&] {
      Rig rig(small_cache("all", 10, 3));
      rig.run(rig.reads({0, 1}));
      std::swap(rig.drive.content[place_of(rig, 0)], rig.drive.content[place_of(rig, 1)]);
      try {
        timed ? rig.run(rig.reads({0})) : rig.run_untimed(rig.reads({0}));
      } catch (const DataMismatch& error) {
        return std::string(error.what()).find("the copy of file 0 holds") != std::string::npos;
      }
      return false;
    });
    CHECK(noticed);
  }
}

TEST_CASE("a drive that takes no writes is no cache") {
  Rig rig(small_cache("all", 10, 3));
  rig.run(rig.reads({0}));
  rig.drive.writes_allowed = 0;
  rig.run(rig.reads({1, 2, 0, 1}));
  const FileCache::Statistics& s = rig.cache.statistics();
  CHECK(rig.driver.failed() == 0);
  CHECK(s.written == 1);
  CHECK(s.failed_writes == 1);
  CHECK(s.without_room == 2);
  CHECK(s.hits == 1);
  CHECK(rig.cache.store().used() == 1);
  MemoryArchive saved;  // which is read back only when no slot is missing
  rig.cache.archive(saved);
  saved.rewind();
  CHECK_NOTHROW(rig.cache.archive(saved));
}

TEST_CASE("a drive that takes no trims is no cache") {
  Bytes free = 10 * 64_KiB;
  Rig rig(small_cache_within(free));
  rig.run(rig.reads({0, 1}));
  rig.drive.writes_allowed = 0;
  free = 0;
  rig.run(rig.reads({2}));  // both copies go, which the drive refuses
  free = 10 * 64_KiB;
  rig.run(rig.reads({3}));
  CHECK(rig.cache.statistics().evicted == 2);
  CHECK(rig.cache.statistics().without_room == 2);
  CHECK(rig.cache.statistics().failed_writes == 0);
}

TEST_CASE("a file cache restored knows whether its drive takes writes, and the number of the next fetch") {
  Rig rig(small_cache("all", 10, 3));
  rig.run(rig.reads({0}));
  MemoryArchive saved;
  rig.cache.archive(saved);
  rig.run(rig.reads({1}));
  const std::vector<Stamp> first = copy_of(rig, 1);
  rig.drive.writes_allowed = 0;
  rig.run(rig.reads({2}));
  REQUIRE(rig.cache.statistics().failed_writes == 1);
  rig.drive.writes_allowed = ~std::uint64_t{0};
  saved.rewind();
  rig.cache.archive(saved);
  rig.run(rig.reads({1}));
  CHECK(rig.cache.statistics().written == 3);
  CHECK(rig.cache.statistics().without_room == 0);
  CHECK(copy_of(rig, 1) == first);
}

TEST_CASE("commands for the drive keep their placement handles") {
  Rig rig(small_cache("all", 10, 3));
  std::vector<std::uint16_t> handles;
  rig.drive.time = [&](const HostCommand& command) {
    handles.push_back(command.placement_handle);
    return 1_us;
  };
  LoadConfig config;
  config.kind.stream = "3";
  config.generator.rw = "write";
  config.generator.number_ios = 2;
  DriveSize drive = rig.size();
  drive.handles = 4;
  rig.run(std::move(make_loads(config, drive, 1).front()));
  CHECK(handles == std::vector<std::uint16_t>{3, 3});
}

TEST_CASE("a queue that the drive does not have is refused") {
  Rig rig(small_cache("all", 10, 3));
  for (const std::uint64_t lba : {std::uint64_t{0}, rig.cache.blocks()}) {
    PayloadPool<HostExtension, HostTransaction> pool;
    HostTransaction& command = pool.take();
    std::vector<Stamp> data(1);
    command.opcode = HostOpcode::read;
    command.queue = 3;
    command.lba = lba;
    command.blocks = 1;
    command.set_data(data);
    rig.driver.device_isock->transport_dbg(command);
    CHECK(command.status == HostStatus::invalid_field);
    command.release();
  }
}

TEST_CASE("files can only be read, each on its own") {
  Rig rig(small_cache("all", 10, 3));
  DriveSize files = rig.files();
  const Bytes end = files.bytes;
  files.bytes += 64_KiB;
  const std::vector<Step> steps = {{HostOpcode::write, 0, 4_KiB},          {HostOpcode::trim, 0, 4_KiB},
                                   {HostOpcode::write_zeroes, 0, 4_KiB},   {HostOpcode::read, 60_KiB, 8_KiB},
                                   {HostOpcode::read, end - 4_KiB, 8_KiB}, {HostOpcode::read, 0, 64_KiB}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // Addresses beyond the files are none of the scoreboard's: only the module itself is asked.
    PayloadPool<HostExtension, HostTransaction> pool;
    HostTransaction& command = pool.take();
    command.opcode = steps[i].opcode;
    command.lba = rig.cache.blocks() + steps[i].offset / 4096;
    command.blocks = static_cast<std::uint32_t>(steps[i].bytes / 4096);
    const LbaRange range{command.lba, command.blocks};
    std::vector<Stamp> data(command.blocks);
    if (command.opcode == HostOpcode::trim) {
      command.set_ranges({&range, 1});
    } else {
      command.set_data(data);
    }
    rig.driver.device_isock->transport_dbg(command);
    const HostStatus expected[] = {HostStatus::invalid_field,    HostStatus::lba_out_of_range,
                                   HostStatus::invalid_field,    HostStatus::invalid_field,
                                   HostStatus::lba_out_of_range, HostStatus::success};
    INFO("step " << i);
    CHECK(command.status == expected[i]);
    command.release();
  }
  CHECK(rig.cache.statistics().accesses == 1);
}

namespace {

/// Everything a host can ask for, on the drive and on the files, with hardly any room in the cache.
void survives(RigOptions options, bool stalls, bool errors = false) {
  options.drive.stalls = stalls;
  Rig rig(options);
  RandomStream chance(6, "errors");
  if (errors) {  // now and then a block of the cache goes bad, until it is written again
    rig.drive.time = [&](const HostCommand& /*command*/) {
      if (chance.below(8) == 0)
        rig.drive.unreadable.insert(rig.cache.blocks() + chance.below(options.cache.files * 16 / 3));
      return static_cast<Picoseconds>(10 + chance.below(200)) * 1_us;
    };
  }
  std::vector<Load> loads;
  auto random = std::make_shared<RandomStream>(5, "parts of files");
  auto left = std::make_shared<int>(6000);
  loads.push_back(drive_tests::make_load(
      [=](Request& request) {
        if ((*left)-- == 0) return false;
        const std::uint64_t first = random->below(16);
        request = {};
        request.offset = random->below(30) * 64_KiB + first * 4096;
        request.bytes = (1 + random->below(16 - first)) * 4096;
        return true;
      },
      rig.files(), 7));
  for (std::uint32_t i = 0; i < 2; ++i)
    loads.push_back(mixed_load({.requests = 4000, .depth = 7, .longest = 32_KiB}, rig.size(), 20 + i));
  rig.run(loads);
  rig.run(drive_tests::read_all(rig.size(), 4));
  const auto must = [](bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
  };
  must(rig.violations().empty(), rig.violations());
  must(rig.driver.failed() == 0, rig.driver.take_first_failure());
  const FileCache::Statistics& s = rig.cache.statistics();
  must(s.accesses == 6000, "accesses are missing");
  must(s.hits + s.memory_hits + s.misses + s.joined == s.accesses, "accesses do not add up");
  must(s.refetched > 20 || !errors, "hardly any errors");
  must(s.evicted > 20 && s.joined > 20 && s.hits > 20, "hardly anything happened");
}

}  // namespace

TEST_CASE("random commands while the cache has hardly any room") {
  survives(small_cache("all", 30, 4), false);
}
TEST_CASE("random commands when the drive holds requests back") {
  survives(small_cache("all", 30, 6), true);
}
TEST_CASE("random commands while the limit goes up and down") {
  auto calls = std::make_shared<std::uint64_t>(0);
  RigOptions options = small_cache("dfcache", 30, 12);
  options.free_pslc = [calls] { return std::optional<Bytes>((*calls)++ / 10 % 12 * 64_KiB); };
  survives(options, true);
}
TEST_CASE("random commands while copies cannot be read") {
  RigOptions options = small_cache("cachesifter", 30, 10);
  options.policy = {{"memory", whole(192_KiB)}};
  survives(options, true, true);
}
TEST_CASE("random commands while copies of every file cannot be read") {
  survives(small_cache("all", 30, 10), false, true);
}

TEST_CASE("a stalled run says what accesses wait for") {
  Rig rig(small_cache("all", 10, 3));
  rig.run(rig.reads({0}));
  rig.drive.time = [](const HostCommand&) { return 1000_s; };
  CHECK_THROWS_AS(rig.run(rig.reads({0, 0}, 2)), Stalled);
  std::string text;
  rig.cache.describe_stall(text);
  CHECK(text.find("file cache: 2 commands under way, 0 fetches") == 0);
  CHECK(text.find("read of LBA 1") != std::string::npos);
  CHECK(text.find("waits for reads of the drive") != std::string::npos);
}

TEST_CASE("a stalled run tells fetches from all that goes on beside commands") {
  Rig rig(small_cache("all", 10, 3));
  rig.drive.time = [](const HostCommand&) { return 100_ms; };
  std::string text;
  rig.driver.set_completion_hook([&](const Completed&) {
    text.clear();
    rig.cache.describe_stall(text);
  });
  rig.run(rig.reads({0, 0}));  // the second finds the file being written
  CHECK(text ==
        "file cache: 0 commands under way, 0 fetches, 1 fetches, writes and trims in all, 1 of 3 slots used");
}

}  // namespace tlmssd::filecache_tests
