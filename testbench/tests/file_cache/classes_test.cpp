// Learned classes of files: naive Bayes against its closed form, and the policy on lives whose
// classes are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "models/base/input_error.h"
#include "models/base/random.h"
#include "testbench/host/file_cache/file_classes.h"

namespace tlmssd::filecache_tests {
namespace {

using namespace literals;
using Features = std::vector<std::uint32_t>;

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

/// What became of the lives of `events`, after as many to learn from.
FileClasses::Statistics lived(FileClasses policy, const AppFiles& files, int events = 300'000) {
  FileLives lives(files, 17);
  std::vector<bool> written(files.files(), false);
  for (int n = 0; n < 2 * events; ++n) {
    if (n == events) policy.reset_statistics();
    const FileLives::Event event = lives.next();
    if (event.deletes) {
      policy.deleted(event.file);
      written[event.file] = false;
    } else if (!policy.accessed(event.file) && !written[event.file]) {
      for (const AdmissionPolicy::Verdict& verdict : policy.fetched(event.file)) {
        if (verdict.write) written[verdict.file] = true;
      }
    }
  }
  return policy.statistics();
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
    while (files->file_class(from) != wanted) ++from;
    return from;
  };
  FileClasses oracle = policy("oracle", files, 2_MiB);
  const auto come = [&](FileNumber file) {
    CHECK_FALSE(oracle.accessed(file));
    return oracle.fetched(file);
  };
  const FileNumber lasting = file_of(FileClass::long_living, 0);
  const auto verdicts = come(lasting);
  REQUIRE(verdicts.size() == 1);
  CHECK((verdicts[0].file == lasting && verdicts[0].write));
  CHECK_FALSE(oracle.accessed(lasting));  // it is not held besides
  const FileNumber burst = file_of(FileClass::burst_reading, 0);
  CHECK(come(burst).empty());
  CHECK(oracle.accessed(burst));
  // Its period goes by; the next that comes finds it over, though there would be room.
  for (int n = 0; n < 150; ++n) static_cast<void>(oracle.accessed(lasting));
  CHECK(oracle.accessed(burst));
  const FileNumber transient = file_of(FileClass::transient, burst + 1);
  const auto over = come(transient);
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
  static_cast<void>(come(burst));
  for (int n = 0; n < 20; ++n) static_cast<void>(oracle.accessed(lasting));
  static_cast<void>(come(transient));
  CHECK(oracle.accessed(burst));
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
