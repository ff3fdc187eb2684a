// Learned classes of files: naive Bayes against its closed form, and the policy on lives whose
// classes are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/base/random.h"
#include "testbench/host/file_cache/file_classes.h"

namespace tlmssd::filecache_tests {
namespace {

using namespace literals;
using Features = std::vector<std::uint32_t>;
using Ended = std::array<std::uint64_t, k_file_classes>;

constexpr FileNumber k_stranger = 19'999;  ///< accessed, and never fetched

std::shared_ptr<const AppFiles> population(double told, std::uint64_t seed = 3) {
  AppFilesConfig config;
  config.told = told;
  config.rest = 4000;
  return std::make_shared<AppFiles>(config, 20'000, 1_MiB, 4096, seed);
}

FileClasses policy(const std::string& classified_by, const std::shared_ptr<const AppFiles>& files,
                   Bytes memory = 64_MiB) {
  FileClassesConfig config;
  config.classified_by = classified_by;
  config.memory = memory;
  return {config, AdmissionContext{files->files(), files->file_size(), {}, files, 1}};
}

/// A cache that writes what the policy wants written, and drops only what is deleted.
struct Host {
  FileClasses& policy;
  std::vector<bool> written;
  /// What the policy says of an access or a deletion, in words.
  std::string carry_out(const FileLives::Event& event) {
    std::string said;
    if (event.deletes) {
      policy.deleted(event.file);
      written[event.file] = false;
    } else if (!policy.accessed(event.file) && !written[event.file]) {
      for (const AdmissionPolicy::Verdict& verdict : policy.fetched(event.file)) {
        if (verdict.write) written[verdict.file] = true;
        said += std::to_string(verdict.file) + (verdict.write ? " is written, " : " goes, ");
      }
    }
    return said;
  }
};

/// What became of the lives of `events`, after as many to learn from.
FileClasses::Statistics lived(FileClasses policy, const AppFiles& files, int events = 300'000) {
  FileLives lives(files, 17);
  Host host{policy, std::vector<bool>(files.files(), false)};
  for (int n = 0; n < 2 * events; ++n) {
    if (n == events) policy.reset_statistics();
    static_cast<void>(host.carry_out(lives.next()));
  }
  return policy.statistics();
}

/// Lives that have ended, by the class that they had.
Ended ended(const FileClasses& policy) {
  Ended all{};
  for (const auto& guessed : policy.statistics().ended) {
    for (std::size_t had = 0; had < k_file_classes; ++had) all[had] += guessed[had];
  }
  return all;
}

/// So many accesses to a file that nothing is known of.
void pass(FileClasses& policy, int accesses) {
  for (int n = 0; n < accesses; ++n) static_cast<void>(policy.accessed(k_stranger));
}

/// `file` is accessed and comes.
std::vector<AdmissionPolicy::Verdict> come(FileClasses& policy, FileNumber file) {
  CHECK_FALSE(policy.accessed(file));
  return policy.fetched(file);
}

/// The first file from `from` on of which this holds.
template <class Holds>
FileNumber first_file(FileNumber from, Holds holds) {
  while (!holds(from)) ++from;
  return from;
}

double accuracy(const FileClasses::Statistics& s) {
  double right = 0;
  double all = 0;
  for (std::size_t c = 0; c < k_file_classes; ++c) {
    right += static_cast<double>(s.ended[c][c]);
    for (const std::uint64_t count : s.ended[c]) all += static_cast<double>(count);
  }
  REQUIRE(all > 20'000);
  return right / all;
}

/// The share of a class among lives that ended.
double share(const FileClasses::Statistics& s, std::size_t had) {
  double of = 0;
  double all = 0;
  for (const auto& guessed : s.ended) {
    of += static_cast<double>(guessed[had]);
    for (const std::uint64_t count : guessed) all += static_cast<double>(count);
  }
  return of / all;
}

}  // namespace

TEST_CASE("naive Bayes gives the posterior of its counts") {
  NaiveBayes bayes(3, {2, 4});
  CHECK(bayes.posterior(Features{0, 0}) == std::vector<double>(3, 1.0 / 3));
  const struct {
    std::size_t of_class;
    Features features;
    int times;
  } examples[] = {{0, {0, 0}, 5}, {0, {1, 3}, 2}, {1, {1, 1}, 4}, {2, {1, 3}, 1}, {2, {0, 2}, 3}};
  for (const auto& one : examples) {
    for (int n = 0; n < one.times; ++n) bayes.learn(one.of_class, one.features);
  }
  CHECK(bayes.examples() == 15);
  // (n_c + 1) / (15 + 3), times (n_cv + 1) / (n_c + 2) and / (n_c + 4) for the values 1 and 3.
  const double terms[] = {8. / 18 * 3 / 9 * 3 / 11, 5. / 18 * 5 / 6 * 1 / 8, 5. / 18 * 2 / 6 * 2 / 8};
  const double sum = terms[0] + terms[1] + terms[2];
  const std::vector<double> posterior = bayes.posterior(Features{1, 3});
  for (std::size_t c = 0; c < 3; ++c) CHECK(posterior[c] == Approx(terms[c] / sum).epsilon(1e-12));
  CHECK(bayes.prior()[0] == Approx(8. / 18));
}

TEST_CASE("features without information leave the prior") {
  NaiveBayes bayes(3, {1, 1});  // one value each
  for (int n = 0; n < 60; ++n) bayes.learn(n % 6 == 0 ? 2 : n % 3, Features{0, 0});
  const std::vector<double> posterior = bayes.posterior(Features{0, 0});
  for (std::size_t c = 0; c < 3; ++c) CHECK(posterior[c] == Approx(bayes.prior()[c]).epsilon(1e-12));
}

TEST_CASE("separable examples are told apart without a mistake once each has been seen") {
  NaiveBayes bayes(3, {30, 7});
  RandomStream random(4, "examples");
  int mistakes = 0;
  for (int n = 0; n < 20'000; ++n) {
    const auto value = static_cast<std::uint32_t>(random.below(30));
    const Features features{value, static_cast<std::uint32_t>(random.below(7))};  // the second says nothing
    const std::vector<double> posterior = bayes.posterior(features);
    const auto best = std::max_element(posterior.begin(), posterior.end()) - posterior.begin();
    if (n >= 1000 && best != value % 3) ++mistakes;
    bayes.learn(value % 3, features);
  }
  CHECK(mistakes == 0);
}

TEST_CASE("classes are learned as far as the files tell them") {
  const auto telling = population(1);
  const auto mute = population(0);
  const auto some = population(0.8);
  // Everything is told: as good as knowing. Nothing is: as good as always the most frequent class.
  CHECK(accuracy(lived(policy("oracle", telling), *telling)) > 0.97);
  CHECK(accuracy(lived(policy("learned", telling), *telling)) > 0.95);
  const FileClasses::Statistics blind = lived(policy("learned", mute), *mute);
  CHECK(accuracy(blind) ==
        Approx(std::max({share(blind, 0), share(blind, 1), share(blind, 2)})).margin(0.02));
  // Chance is right as often as its shares meet.
  const FileClasses::Statistics chance = lived(policy("random", some), *some);
  double met = 0;
  for (std::size_t c = 0; c < k_file_classes; ++c) met += share(chance, c) * share(chance, c);
  CHECK(accuracy(chance) == Approx(met).margin(0.02));
  const double learned = accuracy(lived(policy("learned", some), *some));
  CHECK(learned > accuracy(chance) + 0.2);
  CHECK(learned < accuracy(lived(policy("oracle", some), *some)));
}

TEST_CASE("files are held for their active period, and only long-living ones are written") {
  const auto files = population(1);
  const auto file_of = [&](FileClass wanted, FileNumber from) {
    return first_file(from, [&](FileNumber file) { return files->file_class(file) == wanted; });
  };
  FileClasses oracle = policy("oracle", files, 2_MiB);
  const FileNumber lasting = file_of(FileClass::long_living, 0);
  const auto verdicts = come(oracle, lasting);
  REQUIRE(verdicts.size() == 1);
  CHECK((verdicts[0].file == lasting && verdicts[0].write));
  CHECK_FALSE(oracle.accessed(lasting));  // it is not held besides
  const FileNumber burst = file_of(FileClass::burst_reading, 0);
  CHECK(come(oracle, burst).empty());
  CHECK(oracle.accessed(burst));
  // Its period goes by; the next that comes finds it over, though there would be room.
  for (int n = 0; n < 150; ++n) static_cast<void>(oracle.accessed(lasting));
  CHECK(oracle.accessed(burst));
  const FileNumber transient = file_of(FileClass::transient, burst + 1);
  const auto over = come(oracle, transient);
  REQUIRE(over.size() == 1);
  CHECK((over[0].file == burst && !over[0].write));
  CHECK(oracle.statistics().kept == files->bytes(burst));
  oracle.deleted(transient);
  CHECK_FALSE(oracle.accessed(transient));
  CHECK(oracle.statistics().kept == files->bytes(burst) + files->bytes(transient));
  // What came again after its deletion is not over when its first life would have been.
  static_cast<void>(oracle.fetched(burst));
  for (int n = 0; n < 90; ++n) static_cast<void>(oracle.accessed(lasting));
  oracle.deleted(burst);
  static_cast<void>(come(oracle, burst));
  for (int n = 0; n < 20; ++n) static_cast<void>(oracle.accessed(lasting));
  static_cast<void>(come(oracle, transient));
  CHECK(oracle.accessed(burst));
  CHECK(oracle.statistics().guessed == Ended{3, 2, 1});  // as often as they came
}

TEST_CASE("a file is held to the last access of its class's active period") {
  const auto files = population(1);
  const auto held_after = [&](FileClass of, int accesses) {
    FileClasses oracle = policy("oracle", files);
    const auto is = [&](FileNumber file) { return files->file_class(file) == of; };
    const FileNumber file = first_file(0, is);
    CHECK(come(oracle, file).empty());
    pass(oracle, accesses - 1);
    return come(oracle, first_file(file + 1, is)).empty();
  };
  CHECK(held_after(FileClass::burst_reading, 100));
  CHECK_FALSE(held_after(FileClass::burst_reading, 101));
  CHECK(held_after(FileClass::transient, 2000));
  CHECK_FALSE(held_after(FileClass::transient, 2001));
}

TEST_CASE("a life has the class of the time until its last access") {
  const auto files = population(1);
  const auto class_after = [&](int accesses) {
    FileClasses learned = policy("learned", files);
    static_cast<void>(come(learned, 0));
    pass(learned, accesses - 1);
    static_cast<void>(learned.accessed(0));
    pass(learned, 10);
    learned.deleted(0);
    return ended(learned);
  };
  CHECK(class_after(100) == Ended{1, 0, 0});
  CHECK(class_after(101) == Ended{0, 1, 0});
  CHECK(class_after(2000) == Ended{0, 1, 0});
  CHECK(class_after(2001) == Ended{0, 0, 1});
}

TEST_CASE("a life is watched for twice the active period of transient files") {
  const auto files = population(1);
  FileClasses learned = policy("learned", files);
  static_cast<void>(come(learned, 0));
  pass(learned, 3999);
  static_cast<void>(learned.accessed(0));
  CHECK(ended(learned) == Ended{0, 0, 0});
  pass(learned, 1);
  CHECK(ended(learned) == Ended{0, 0, 1});
}

TEST_CASE("a life after a deletion is watched from its own beginning") {
  const auto files = population(1);
  FileClasses learned = policy("learned", files);
  static_cast<void>(come(learned, 0));
  learned.deleted(0);
  pass(learned, 999);
  static_cast<void>(come(learned, 0));
  pass(learned, 4000);  // the first would have been over for long
  CHECK(ended(learned) == Ended{1, 0, 0});
  pass(learned, 1);
  CHECK(ended(learned) == Ended{2, 0, 0});
}

TEST_CASE("before anything is learned files are taken for long-living") {
  const auto files = population(1);
  FileClasses learned = policy("learned", files);
  const auto verdicts = come(learned, 7);
  REQUIRE(verdicts.size() == 1);
  CHECK((verdicts[0].file == 7 && verdicts[0].write));
}

TEST_CASE("by their size files up to the largest are taken for long-living") {
  const auto files = population(1);
  FileClassesConfig config;
  config.classified_by = "size";
  config.largest = 256_KiB;
  const auto written = [&](Bytes bytes) {
    FileClasses by_size(config, AdmissionContext{files->files(), files->file_size(), {}, files, 1});
    return !come(by_size, first_file(0, [&](FileNumber file) { return files->bytes(file) == bytes; }))
                .empty();
  };
  CHECK(written(128_KiB));
  CHECK(written(256_KiB));
  CHECK_FALSE(written(512_KiB));
}

// Files that differ in nothing else: those that come right behind another of their app are deleted
// at once, those that come a hundred accesses later are read for long.
TEST_CASE("how long ago an app's last file came tells files apart") {
  const auto files = population(1);
  const auto alike = [&](FileNumber file) {
    return files->app(file) == files->app(0) && files->kind(file) == files->kind(0) &&
           files->size_class(file) == files->size_class(0);
  };
  FileClasses learned = policy("learned", files);
  FileNumber file = 0;
  const auto next = [&] { return file = first_file(file + 1, alike); };
  std::vector<AdmissionPolicy::Verdict> late;
  std::vector<AdmissionPolicy::Verdict> soon;
  for (int round = 0; round < 20; ++round) {
    pass(learned, 100);
    const FileNumber lasting = next();
    late = come(learned, lasting);
    soon = come(learned, next());
    learned.deleted(file);
    pass(learned, 2000);
    static_cast<void>(learned.accessed(lasting));
    learned.deleted(lasting);
    static_cast<void>(come(learned, next()));  // from here the next hundred count
    learned.deleted(file);
  }
  CHECK(late.size() == 1);
  CHECK(soon.empty());
}

// Gaps are told apart by powers of two, up to the fifteenth.
TEST_CASE("an app's file after a very long gap is not taken for one without a gap") {
  const auto files = population(1);
  const auto like_first = [&](FileNumber file, bool alike) {
    return files->app(file) == files->app(0) && (files->kind(file) == files->kind(0)) == alike &&
           (files->size_class(file) == files->size_class(0)) == alike;
  };
  FileClasses learned = policy("learned", files);
  FileNumber file = 0;
  for (int round = 0; round < 20; ++round) {
    pass(learned, 1 << 15);
    file = first_file(file + 1, [&](FileNumber one) { return like_first(one, true); });
    static_cast<void>(come(learned, file));
    learned.deleted(file);
  }
  // All have been burst-reading, which is all that is known of a file that is unlike them and comes
  // at the same time as the last: 21 / 23 by 1 / 92, 1 / 26 and 1 / 36 against 1 / 23 by 1 / 72,
  // 1 / 6 and 1 / 16.
  learned.reset_statistics();
  static_cast<void>(learned.fetched(first_file(0, [&](FileNumber one) { return like_first(one, false); })));
  CHECK(learned.statistics().guessed == Ended{1, 0, 0});
}

TEST_CASE("classes restored go on as those saved") {
  const auto files = population(0.8);
  for (const char* classified_by : {"learned", "random"}) {
    INFO(classified_by);
    FileLives lives(*files, 5);
    FileClasses saved = policy(classified_by, files);
    Host host{saved, std::vector<bool>(files->files(), false)};
    for (int n = 0; n < 20'000; ++n) static_cast<void>(host.carry_out(lives.next()));
    MemoryArchive archive;
    saved.archive(archive);
    archive.rewind();
    FileClasses restored = policy(classified_by, files);
    restored.archive(archive);
    CHECK(archive.at_end());
    saved.reset_statistics();
    Host other{restored, host.written};
    for (int n = 0; n < 20'000; ++n) {
      const FileLives::Event event = lives.next();
      REQUIRE(host.carry_out(event) == other.carry_out(event));
    }
    CHECK(saved.statistics().ended == restored.statistics().ended);
    CHECK(saved.statistics().kept == restored.statistics().kept);
  }
}

TEST_CASE("memory is never overfull") {
  const auto files = population(0.8);
  FileClasses learned = policy("learned", files, 3_MiB);
  FileLives lives(*files, 2);
  std::map<FileNumber, bool> here;
  std::uint64_t rejected = 0;
  for (int n = 0; n < 50'000; ++n) {
    const FileLives::Event event = lives.next();
    if (event.deletes) {
      learned.deleted(event.file);
      here.erase(event.file);
      continue;
    }
    const bool held = learned.accessed(event.file);
    REQUIRE(held == here.contains(event.file));
    if (held) continue;
    bool written = false;
    for (const AdmissionPolicy::Verdict& verdict : learned.fetched(event.file)) {
      written = written || verdict.write;
      if (verdict.write) continue;
      REQUIRE(here.erase(verdict.file) == 1);
      ++rejected;
    }
    if (!written) here[event.file] = true;
    Bytes used = 0;
    for (const auto& [file, yes] : here) used += files->bytes(file);
    REQUIRE(used <= 3_MiB);
  }
  CHECK(rejected > 1000);
}

TEST_CASE("file-classes asks for memory and for files of which something is known") {
  const auto refused = [](const FileClassesConfig& config, const AdmissionContext& context) -> std::string {
    try {
      static_cast<void>(FileClasses(config, context));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  const auto files = population(1);
  FileClassesConfig config;
  CHECK_THAT(refused(config, {10, 1_MiB, {}}), Catch::StartsWith("file_cache.admission: file-classes needs"));
  config.memory = 512_KiB;
  CHECK_THAT(refused(config, {20'000, 1_MiB, {}, files}),
             Catch::StartsWith("file_cache.memory: 524288 B hold no"));
  config.memory = 1_MiB;
  config.transient = config.burst;
  CHECK_THAT(refused(config, {20'000, 1_MiB, {}, files}),
             Catch::StartsWith("file_cache.transient: 100 accesses are not more"));
}

}  // namespace tlmssd::filecache_tests
