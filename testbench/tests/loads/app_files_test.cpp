// The synthetic files of apps: that lives are those of their classes, and what the population's
// numbers promise.
#include "testbench/loads/requests/app_files.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "models/base/input_error.h"

namespace tlmssd {
namespace {

constexpr Bytes k_mib = Bytes{1} << 20U;

AppFilesConfig config_with(double told) {
  AppFilesConfig config;
  config.told = told;
  return config;
}

std::array<double, k_file_classes> shares_of(const AppFiles& files) {
  std::array<double, k_file_classes> shares{};
  for (FileNumber file = 0; file < files.files(); ++file)
    shares[static_cast<std::size_t>(files.file_class(file))] += 1.0 / files.files();
  return shares;
}

struct Life {
  std::uint64_t came = 0;
  std::uint64_t last = 0;
  std::uint64_t reads = 0;
};

}  // namespace

TEST_CASE("what app and kind tell of a file's class") {
  const auto agreeing = [](double told) {
    const AppFiles files(config_with(told), 60'000, k_mib, 4096, 5);
    std::map<std::uint32_t, std::array<std::uint32_t, k_file_classes>> groups;
    for (FileNumber file = 0; file < files.files(); ++file) {
      ++groups[files.app(file) * AppFiles::k_kinds + files.kind(file)]
              [static_cast<std::size_t>(files.file_class(file))];
    }
    REQUIRE(groups.size() == 12 * AppFiles::k_kinds);
    double leading = 0;
    for (const auto& [group, counts] : groups) leading += *std::max_element(counts.begin(), counts.end());
    return leading / files.files();
  };
  CHECK(agreeing(1) == 1);
  CHECK(agreeing(0.8) == Approx(0.8 + 0.2 * 0.45).margin(0.06));  // the rest hit the leading class by chance
  CHECK(agreeing(0) == Approx(0.6).margin(0.02));
}

TEST_CASE("shares of classes and sizes of files") {
  const AppFiles files(config_with(0), 60'000, k_mib, 4096, 5);
  const auto shares = shares_of(files);
  CHECK(shares[0] == Approx(0.6).margin(0.01));
  CHECK(shares[1] == Approx(0.25).margin(0.01));
  CHECK(shares[2] == Approx(0.15).margin(0.01));
  std::array<double, AppFiles::k_sizes> sizes{};
  for (FileNumber file = 0; file < files.files(); ++file) {
    const std::uint32_t size = files.size_class(file);
    REQUIRE(files.bytes(file) == k_mib >> size);
    REQUIRE(files.blocks(file) == (256U >> size));
    sizes[size] += 6.0 / files.files();
  }
  // Kind k has size k, or one more or less, within the six: ends get two thirds of theirs and a
  // third of one.
  for (const double share : sizes) CHECK(share == Approx(1).margin(0.03));
  // No file is smaller than a block.
  CHECK(AppFiles(config_with(0), 100, 4096, 4096, 5).blocks(7) == 1);
  // Another seed has other files.
  const AppFiles others(config_with(0), 60'000, k_mib, 4096, 6);
  int differ = 0;
  for (FileNumber file = 0; file < 1000; ++file) differ += others.size_class(file) != files.size_class(file);
  CHECK(differ > 500);
}

TEST_CASE("every life is that of its class") {
  const AppFilesConfig config = config_with(0.8);
  const AppFiles files(config, 60'000, k_mib, 4096, 5);
  FileLives lives(files, 9);
  std::map<FileNumber, Life> alive;
  std::uint64_t reads = 0;
  std::array<std::uint64_t, k_file_classes> ended{};
  std::array<std::uint64_t, k_file_classes> read{};
  std::array<std::uint64_t, k_file_classes> late{};
  for (int n = 0; n < 400'000; ++n) {
    const FileLives::Event event = lives.next();
    REQUIRE(event.file < files.files());
    if (!event.deletes) {
      Life& life = alive.try_emplace(event.file, Life{reads, reads, 0}).first->second;
      life.last = reads++;
      ++life.reads;
      continue;
    }
    const auto found = alive.find(event.file);
    REQUIRE(found != alive.end());  // only what lives is deleted, once
    const Life& life = found->second;
    const auto of_class = static_cast<std::size_t>(files.file_class(event.file));
    const std::uint64_t period = life.last - life.came;
    const std::uint64_t low[] = {0, config.burst + 1, config.transient + 1};
    const std::uint64_t high[] = {config.burst, config.transient, 4 * config.transient};
    if (period < low[of_class] || period > high[of_class]) ++late[of_class];
    ++ended[of_class];
    read[of_class] += life.reads;
    alive.erase(found);
  }
  for (std::size_t c = 0; c < k_file_classes; ++c) {
    INFO("class " << c);
    REQUIRE(ended[c] > 1000);
    CHECK(late[c] * 1000 < ended[c]);  // reads that are due together come a little later
    const double expected[] = {1.7, 3, 7};
    CHECK(static_cast<double>(read[c]) / static_cast<double>(ended[c]) == Approx(expected[c]).epsilon(0.05));
  }
}

TEST_CASE("with all files alive the next life waits for a deletion") {
  AppFilesConfig config = config_with(0.5);
  config.number = 3;
  const AppFiles files(config, 7, k_mib, 4096, 5);
  FileLives lives(files, 9);
  std::map<FileNumber, bool> alive;
  std::uint64_t deleted = 0;
  for (int n = 0; n < 10'000; ++n) {
    const FileLives::Event event = lives.next();
    if (event.deletes) {
      CHECK(alive[event.file]);
      ++deleted;
    }
    alive[event.file] = !event.deletes;
  }
  CHECK(deleted > 100);
}

TEST_CASE("the same seed gives the same lives") {
  const AppFiles files(config_with(0.8), 1000, k_mib, 4096, 5);
  FileLives one(files, 9);
  FileLives same(files, 9);
  FileLives other(files, 10);
  int differ = 0;
  for (int n = 0; n < 5000; ++n) {
    const FileLives::Event a = one.next();
    const FileLives::Event b = same.next();
    REQUIRE((a.file == b.file && a.deletes == b.deletes));
    if (other.next().file != a.file) ++differ;
  }
  CHECK(differ > 1000);
}

TEST_CASE("populations that cannot be") {
  const auto refused = [](AppFilesConfig config, std::uint32_t files) -> std::string {
    try {
      static_cast<void>(AppFiles(config, files, k_mib, 4096, 1));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  AppFilesConfig config;
  CHECK(refused(config, 12).empty());
  CHECK_THAT(refused(config, 11), Catch::StartsWith("file_cache.apps.number: 12 apps have only 11 files"));
  config.long_living = 0.5;
  CHECK_THAT(refused(config, 100),
             Catch::StartsWith("file_cache.apps.long_living: 50 % of files beside 60 % burst-reading"));
  config.long_living = 0.4;
  CHECK(refused(config, 100).empty());
  config.transient = 150;
  CHECK_THAT(refused(config, 100), Catch::StartsWith("file_cache.apps.transient: 150 accesses"));
}

}  // namespace tlmssd
