// Files of apps in the cache: sizes of their own, and what deletions do to copies, reads, writes
// and fetches, whatever is under way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/memory_archive.h"
#include "testbench/tests/file_cache/rig.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::filecache_tests {
namespace {

using drive_tests::Step;

RigOptions apps_cache(const std::string& admission, std::uint32_t files, std::uint32_t slots) {
  RigOptions options = small_cache(admission, files, slots);
  options.cache.apps = AppFilesConfig{};
  options.cache.apps->number = 2;
  options.cache.apps->burst = 10;
  options.cache.apps->transient = 60;
  options.cache.apps->rest = 60;
  return options;
}

Step read(const Rig& rig, FileNumber file) {
  return {HostOpcode::read, file * rig.files().file_size, rig.cache.files().apps->bytes(file)};
}
Step remove(const Rig& rig, FileNumber file) {
  return {HostOpcode::trim, file * rig.files().file_size, rig.cache.files().apps->bytes(file)};
}

}  // namespace

TEST_CASE("a file that has been deleted has no copy and comes anew") {
  for (const bool timed : {false, true}) {
    INFO((timed ? "timed" : "untimed"));
    const auto counts = drive_tests::in_child<std::array<std::uint64_t, 8>>([&] {
      Rig rig(apps_cache("all", 6, 3));
      const auto go = [&](const std::vector<Step>& steps) {
        Load load = drive_tests::script(steps, rig.files());
        timed ? rig.run(std::move(load)) : rig.run_untimed(std::move(load));
      };
      go({read(rig, 0), read(rig, 1), read(rig, 0), remove(rig, 0), remove(rig, 5)});
      const std::uint64_t used = rig.cache.store().used();
      go({read(rig, 0)});
      const FileCache::Statistics& s = rig.cache.statistics();
      if (!rig.violations().empty()) throw std::runtime_error(rig.violations());
      const Bytes twice = 2 * rig.cache.files().apps->bytes(0) + rig.cache.files().apps->bytes(1);
      return std::array<std::uint64_t, 8>{
          s.hits,
          s.misses,
          s.deleted,
          s.evicted,
          used,
          rig.cache.store().used(),
          rig.drive.seen[HostOpcode::trim],
          static_cast<std::uint64_t>(s.bytes_fetched == twice && s.bytes_written == twice)};
    });
    CHECK(counts == std::array<std::uint64_t, 8>{1, 3, 2, 0, 1, 2, 1, 1});
  }
}

TEST_CASE("a file that is deleted while it is being written goes when it has been") {
  Rig rig(apps_cache("all", 6, 3));
  rig.run(drive_tests::script({read(rig, 0), remove(rig, 0)}, rig.files()));
  CHECK(rig.cache.statistics().written == 1);  // it was on its way already
  CHECK(rig.drive.seen[HostOpcode::trim] == 1);
  CHECK(rig.cache.store().used() == 0);
}

TEST_CASE("of a copy that goes nothing stays on the drive") {
  Rig rig(apps_cache("all", 6, 3));
  for (FileNumber file = 0; file < 6; ++file)
    rig.run(drive_tests::script({read(rig, file), remove(rig, file)}, rig.files()));
  CHECK(rig.cache.statistics().bytes_written > 6 * 4096);  // they are of several blocks
  CHECK(std::count(rig.drive.content.begin(), rig.drive.content.end(), k_zeros) == 2048);
}

TEST_CASE("a file that is deleted while it comes is not written, unless it is read again") {
  for (const bool again : {false, true}) {
    INFO((again ? "read again" : "not read again"));
    const auto counts = drive_tests::in_child<std::array<std::uint64_t, 3>>([&] {
      RigOptions options = apps_cache("all", 6, 3);
      options.cache.cost = 0;  // so that fetches begin in the order of the commands
      Rig rig(options);
      std::vector<Step> steps = {read(rig, 0), remove(rig, 0)};
      if (again) steps.push_back(read(rig, 0));
      rig.run(drive_tests::script(steps, rig.files(), 3));
      const FileCache::Statistics& s = rig.cache.statistics();
      return std::array<std::uint64_t, 3>{s.misses, s.written, s.rejected};
    });
    CHECK(counts == (again ? std::array<std::uint64_t, 3>{1, 1, 0} : std::array<std::uint64_t, 3>{1, 0, 1}));
  }
}

TEST_CASE("statistics reset are those of the policy, too") {
  RigOptions options = apps_cache("file-classes", 6, 3);
  options.policy = {{"memory", whole(128_KiB)}};
  Rig rig(options);
  rig.run(drive_tests::script({read(rig, 0)}, rig.files()));
  const auto came = [&] { return test::statistics_of(rig.cache).at("file_cache/guessed long living/came"); };
  CHECK(came() == 1);
  rig.cache.reset_statistics();
  CHECK(came() == 0);
}

TEST_CASE("a fetch takes as long as its file's own size, and that is written") {
  Rig rig(apps_cache("all", 40, 20));
  for (FileNumber file = 0; file < 40; file += 7) {
    const Bytes bytes = rig.cache.files().apps->bytes(file);
    INFO("file " << file << " of " << bytes << " B");
    rig.seen.clear();
    const Bytes before = rig.cache.statistics().bytes_written;
    rig.run(drive_tests::script({read(rig, file)}, rig.files()));
    REQUIRE(rig.seen.size() == 1);
    CHECK(rig.seen[0].latency == 7_us + 1_ms + transfer_time(bytes, 100'000'000));
    CHECK(rig.cache.statistics().bytes_written - before == bytes);
  }
}

TEST_CASE("only whole files are deleted, and only those of apps") {
  const auto status = [](Rig& rig, const std::vector<LbaRange>& ranges) {
    PayloadPool<HostExtension, HostTransaction> pool;
    HostTransaction& command = pool.take();
    command.opcode = HostOpcode::trim;
    command.set_ranges(ranges);
    rig.driver.device_isock->transport_dbg(command);
    const HostStatus result = command.status;
    command.release();
    return result;
  };
  Rig rig(apps_cache("all", 6, 3));
  const std::uint64_t first = rig.cache.blocks();
  const std::uint32_t blocks = rig.cache.files().apps->blocks(0);
  CHECK(status(rig, {{first, blocks}}) == HostStatus::success);
  CHECK(status(rig, {{first, blocks + 1}}) == HostStatus::lba_out_of_range);
  CHECK(status(rig, {{first + 1, blocks}}) == HostStatus::lba_out_of_range);
  CHECK(status(rig, {{first, blocks}, {0, 1}}) == HostStatus::lba_out_of_range);
  CHECK(status(rig, {{first + rig.cache.file_blocks(), 1}}) == HostStatus::lba_out_of_range);
  CHECK(rig.cache.statistics().deleted == 1);
}

TEST_CASE("deletions at any time lose no slot and leave nothing behind") {
  for (const char* admission : {"all", "cachesifter", "file-classes"}) {
    for (const bool stalls : {false, true}) {
      INFO(admission << (stalls ? ", the drive holds requests back" : ""));
      const auto counts = drive_tests::in_child<std::array<std::uint64_t, 2>>([&] {
        RigOptions options = apps_cache(admission, 16, 5);
        options.policy = {{"memory", whole(128_KiB)}};
        options.drive.stalls = stalls;
        Rig rig(options);
        auto random = std::make_shared<RandomStream>(5, "reads and deletions");
        auto left = std::make_shared<int>(8000);
        rig.run(drive_tests::make_load(
            [=, &rig](Request& request) {
              if ((*left)-- == 0) return false;
              const auto file = static_cast<FileNumber>(random->below(16));
              const Step step = random->below(4) == 0 ? remove(rig, file) : read(rig, file);
              request = {};
              request.opcode = step.opcode;
              request.offset = step.offset;
              request.bytes = step.bytes;
              return true;
            },
            rig.files(), 7));
        const FileCache::Statistics s = rig.cache.statistics();
        if (!rig.violations().empty()) throw std::runtime_error(rig.violations());
        if (rig.driver.failed() > 0) throw std::runtime_error(rig.driver.take_first_failure());
        if (s.hits + s.memory_hits + s.misses + s.joined != s.accesses || s.accesses + s.deleted != 8000)
          throw std::runtime_error("accesses do not add up");
        if (s.written + s.memory_hits < 200 || s.joined < 20)
          throw std::runtime_error("hardly anything happened");
        std::vector<Step> all;
        for (FileNumber file = 0; file < 16; ++file) all.push_back(remove(rig, file));
        rig.run(drive_tests::script(all, rig.files()));
        MemoryArchive saved;  // which is read back only when no slot is missing
        rig.cache.archive(saved);
        saved.rewind();
        rig.cache.archive(saved);
        return std::array<std::uint64_t, 2>{rig.cache.store().used(), s.deleted};
      });
      CHECK(counts[0] == 0);
      CHECK(counts[1] > 1500);
    }
  }
}

TEST_CASE("the lives of files as a load") {
  Rig rig(apps_cache("all", 100, 60));
  LoadConfig config;
  config.kind.name = "files";
  config.generator.random_distribution = "lives";
  config.generator.number_ios = 3000;
  config.generator.io_size = "1g";
  config.generator.iodepth = 4;
  rig.run(std::move(make_loads(config, rig.cache.files(), 3).front()));
  const FileCache::Statistics& s = rig.cache.statistics();
  CHECK(s.accesses == 3000);  // deletions come on top
  CHECK(s.deleted > 500);
  CHECK(s.hits > 1000);
  CHECK(rig.violations().empty());
}

}  // namespace tlmssd::filecache_tests
