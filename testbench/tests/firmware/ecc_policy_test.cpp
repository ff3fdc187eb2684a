// ECC selection policies against the contract of their interface and against what their authors
// describe, and the classifier of workloads.
#include <cmath>
#include <unordered_set>

#include "firmware/ecc/aoa.h"
#include "firmware/ecc/conventional.h"
#include "firmware/ecc/fixed.h"
#include "firmware/ecc/retry_only.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/model_host.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_known_blocks = 16;
const EccContext k_context{k_known_blocks, 512, 1'000'000};

using Maker = std::function<std::unique_ptr<EccPolicy>()>;

/// Every registered policy as it comes, and some with their parameters at the edge.
std::vector<std::pair<std::string, Maker>> makers() {
  std::vector<std::pair<std::string, Maker>> all;
  for (const PolicyInfo& info : ecc_family().infos())
    all.emplace_back(info.name,
                     [name = info.name] { return ecc_family().make(name, NoValues(), k_context); });
  all.emplace_back("retry-only that remembers", [] {
    return std::make_unique<RetryOnlyEcc>(RetryOnlyConfig{"hard-ldpc", 7, true}, k_context);
  });
  all.emplace_back("aoa-ecc of short windows", [] {
    AoaEccConfig config;
    config.window = 50;
    return std::make_unique<AoaEcc>(config, k_context);
  });
  all.emplace_back("aoa-ecc to which everything is read-dominant", [] {
    AoaEccConfig config;
    config.read_dominant = 0;
    return std::make_unique<AoaEcc>(config, k_context);
  });
  all.emplace_back("conventional with little to go by", [] {
    return std::make_unique<ConventionalEcc>(ConventionalEccConfig{"bch", "bch", 3, 1, 1}, k_context);
  });
  return all;
}

PageFacts some_page(RandomStream& random) {
  return {static_cast<BlockNumber>(random.below(k_known_blocks)),
          static_cast<std::uint32_t>(random.below(6000)), 400 * random.uniform()};
}

/// One read with failures at random and what goes with it; its attempts, each with the code it asks
/// for.
std::vector<ReadAttempt> use(EccPolicy& policy, RandomStream& random) {
  if (policy.watches_host()) {
    const std::uint64_t lba = random.below(10'000);
    if (random.below(3) == 0) {
      policy.host_writes(lba, 1 + random.below(64));
    } else {
      policy.host_reads(lba, 1 + random.below(64));
    }
  }
  const PageFacts page = some_page(random);
  std::vector<ReadAttempt> attempts = {policy.first(page)};
  const std::uint64_t failures = random.below(4) == 0 ? random.below(60) : 0;
  for (std::uint32_t tried = 1; tried <= failures; ++tried) {
    const auto next = policy.next(page, attempts.back(), tried);
    if (!next) return attempts;
    attempts.push_back(*next);
  }
  policy.decoded(page, attempts.back(),
                 {static_cast<std::uint32_t>(random.below(70)), 60 * random.uniform()});
  return attempts;
}

bool same(const std::vector<ReadAttempt>& a, const std::vector<ReadAttempt>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReadAttempt& x, const ReadAttempt& y) {
    return x.code == y.code && x.retry_level == y.retry_level;
  });
}

Decoded corrected(double mean) {
  return {static_cast<std::uint32_t>(mean), mean};
}

/// `windows` whole windows of `reads` reads and then writes, of 8 blocks each: passes over the
/// first `span` blocks.
void drive(AoaEcc& policy, std::uint64_t window, std::uint64_t reads, std::uint64_t span,
           std::uint64_t windows = 1) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < windows * window; ++i, at = (at + 8) % span) {
    if (i % window < reads) {
      policy.host_reads(at, 8);
    } else {
      policy.host_writes(at, 8);
    }
  }
}

}  // namespace

TEST_CASE("the registered ECC policies") {
  std::vector<std::string> names;
  for (const PolicyInfo& info : ecc_policies()) names.push_back(info.name);
  CHECK(names == std::vector<std::string>{"none", "fixed", "conventional", "aoa-ecc", "retry-only"});
}

TEST_CASE("every ECC policy asks only for its codes and gives up some time") {
  for (const auto& [name, make] : makers()) {
    INFO(name);
    RandomStream random(1, "ecc policies");
    const auto policy = make();
    const EccCodes codes = policy->codes();
    CHECK_FALSE(codes.has(EccCode::none));
    for (int i = 0; i < 3000; ++i) {
      for (const ReadAttempt& attempt : use(*policy, random)) REQUIRE(codes.has(attempt.code));
    }
    const PageFacts page = some_page(random);
    ReadAttempt last = policy->first(page);
    std::uint32_t tried = 1;
    while (const auto next = policy->next(page, last, tried)) {
      REQUIRE(codes.has(next->code));
      last = *next;
      REQUIRE(++tried <= 300);
    }
  }
}

TEST_CASE("every ECC policy goes on from its archive as if nothing had been") {
  for (const auto& [name, make] : makers()) {
    for (const int before : {0, 1, 30, 2000}) {
      INFO(name << " after " << before << " reads");
      RandomStream random(2, "ecc policies");
      const auto policy = make();
      for (int i = 0; i < before; ++i) use(*policy, random);
      MemoryArchive saved;
      policy->archive(saved);
      MemoryArchive reader(saved.content());
      const auto restored = make();
      restored->archive(reader);
      RandomStream again = random;
      for (int i = 0; i < 2000; ++i) REQUIRE(same(use(*policy, random), use(*restored, again)));
      MemoryArchive one;
      MemoryArchive other;
      policy->archive(one);
      restored->archive(other);
      CHECK(one.content() == other.content());
    }
  }
}

TEST_CASE("fixed: one code, one attempt") {
  FixedEcc policy({"ep-ldpc"}, k_context);
  CHECK(policy.first({}).code == EccCode::ep_ldpc);
  CHECK_FALSE(policy.next({}, {EccCode::ep_ldpc, 0}, 1));
}

TEST_CASE("retry-only goes up the read-retry levels once") {
  RetryOnlyEcc policy({"bch", 5, false}, k_context);
  for (int read = 0; read < 2; ++read) {
    ReadAttempt last = policy.first({BlockNumber(3), 0, 0});
    CHECK(last.retry_level == 0);
    for (std::uint32_t tried = 1; tried <= 5; ++tried) {
      const auto next = policy.next({BlockNumber(3), 0, 0}, last, tried);
      REQUIRE(next);
      last = *next;
      CHECK(last.retry_level == tried);
      CHECK(last.code == EccCode::bch);
    }
    CHECK_FALSE(policy.next({BlockNumber(3), 0, 0}, last, 6));
    policy.decoded({BlockNumber(3), 0, 0}, last, {});
  }
}

TEST_CASE("retry-only that remembers begins where the block was last read, and still tries every step once") {
  RetryOnlyEcc policy({"bch", 5, true}, k_context);
  policy.decoded({BlockNumber(3), 0, 0}, {EccCode::bch, 4}, {});
  CHECK(policy.first({BlockNumber(2), 0, 0}).retry_level == 0);
  ReadAttempt last = policy.first({BlockNumber(3), 0, 0});
  std::vector<int> retry_level = {last.retry_level};
  for (std::uint32_t tried = 1;; ++tried) {
    const auto next = policy.next({BlockNumber(3), 0, 0}, last, tried);
    if (!next) break;
    last = *next;
    retry_level.push_back(last.retry_level);
  }
  CHECK(retry_level == std::vector<int>{4, 5, 0, 1, 2, 3});
  // What is in a block after it was erased needs no shifted voltages.
  CHECK(policy.looks_at_age());
  CHECK(policy.first({BlockNumber(3), 1, 0}).retry_level == 0);
  policy.decoded({BlockNumber(3), 1, 0}, {EccCode::bch, 2}, {});
  CHECK(policy.first({BlockNumber(3), 1, 0}).retry_level == 2);
  policy.decoded({BlockNumber(3), 1, 0}, {EccCode::bch, 0}, {});
  CHECK(policy.first({BlockNumber(3), 1, 0}).retry_level == 0);
}

TEST_CASE("what retry-only remembers is saved") {
  RetryOnlyEcc saved({"bch", 5, true}, k_context);
  saved.decoded({BlockNumber(3), 7, 0}, {EccCode::bch, 4}, {});
  MemoryArchive archive;
  saved.archive(archive);
  RetryOnlyEcc restored({"bch", 5, true}, k_context);
  MemoryArchive reader(archive.content());
  restored.archive(reader);
  CHECK(restored.first({BlockNumber(3), 7, 0}).retry_level == 4);
  CHECK(restored.first({BlockNumber(3), 0, 0}).retry_level == 0);
}

TEST_CASE("what retry-only remembers fits a snapshot of a drive that does not, and the reverse") {
  for (const bool remembers : {false, true}) {
    RetryOnlyEcc saved({"bch", 5, remembers}, k_context);
    saved.decoded({BlockNumber(3), 0, 0}, {EccCode::bch, 4}, {});
    MemoryArchive archive;
    saved.archive(archive);
    std::uint32_t after = 0xABCD;
    archive.bytes(&after, sizeof after);
    RetryOnlyEcc restored({"bch", 5, !remembers}, k_context);
    MemoryArchive reader(archive.content());
    restored.archive(reader);
    CHECK(restored.first({BlockNumber(3), 0, 0}).retry_level == 0);
    after = 0;
    reader.bytes(&after, sizeof after);
    CHECK(after == 0xABCD);
  }
}

TEST_CASE("conventional switches where the mean says, and back where that says") {
  ConventionalEcc policy({"bch", "soft-ldpc", 30, 0.8, 100}, k_context);
  const auto code = [&] { return policy.first({}).code; };
  for (int i = 0; i < 63; ++i) {
    policy.decoded({}, {EccCode::bch, 0}, corrected(50));
    CHECK(code() == EccCode::bch);  // too few pages to say
  }
  policy.decoded({}, {EccCode::bch, 0}, corrected(50));
  CHECK(code() == EccCode::soft_ldpc);
  // A mean over 100 pages goes from 50 towards 10 as 10 + 40 x 0.99^n, the first pages faster: 24
  // is passed at the latest at n = 105.
  int pages = 0;
  while (code() == EccCode::soft_ldpc && pages < 200) {
    policy.decoded({}, {EccCode::soft_ldpc, 0}, corrected(10));
    ++pages;
  }
  CHECK(pages > 80);
  CHECK(pages <= 105);
  // Between the two limits nothing changes, either way.
  for (int i = 0; i < 1000; ++i) policy.decoded({}, {EccCode::bch, 0}, corrected(29.9));
  CHECK(code() == EccCode::bch);
  for (int i = 0; i < 1000; ++i) policy.decoded({}, {EccCode::bch, 0}, corrected(30.5));
  CHECK(code() == EccCode::soft_ldpc);
  for (int i = 0; i < 1000; ++i) policy.decoded({}, {EccCode::soft_ldpc, 0}, corrected(24.1));
  CHECK(code() == EccCode::soft_ldpc);
}

TEST_CASE("conventional tries the strong code on what BCH cannot decode") {
  ConventionalEcc policy({}, k_context);
  const auto next = policy.next({}, policy.first({}), 1);
  REQUIRE(next);
  CHECK(next->code == EccCode::soft_ldpc);
  CHECK_FALSE(policy.next({}, *next, 2));
}

TEST_CASE("a workload is what was written over what differs, and the share of reads") {
  WorkloadClassifier classifier(1000);
  CHECK_FALSE(classifier.known());
  // 640 writes go four times over 160 x 64 blocks; 360 reads of 32.
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(classifier.windows() == 0);
    if (i < 640) {
      classifier.writes(5000 + i % 160 * 64, 64);
    } else {
      classifier.reads(i, 32);
    }
  }
  CHECK(classifier.windows() == 1);
  CHECK(classifier.traits().write_frequency == 4);
  CHECK(classifier.traits().read_share == Approx(360.0 * 32 / (360 * 32 + 640 * 64)));
  // A window forgets what was before it.
  for (std::uint64_t i = 0; i < 1000; ++i) classifier.writes(i * 64, 64);
  CHECK(classifier.traits().write_frequency == 1);
  CHECK(classifier.traits().read_share == 0);
  for (std::uint64_t i = 0; i < 1000; ++i) classifier.reads(i, 1);
  CHECK(classifier.traits().write_frequency == 0);
  CHECK(classifier.traits().read_share == 1);
}

TEST_CASE("the write frequency of a small set is counted, wherever it lies") {
  for (std::uint64_t first = 0; first < 4096; first += 8) {
    WorkloadClassifier classifier(100);
    for (int i = 0; i < 100; ++i) classifier.writes(first, 8);
    INFO("blocks from " << first << " on");
    CHECK(classifier.traits().write_frequency == 100);
  }
}

TEST_CASE("a sample that has been halved goes on in a snapshot as it was") {
  WorkloadClassifier classifier(10'000);
  const auto half = [](WorkloadClassifier& c) {
    for (std::uint64_t i = 0; i < 5'000; ++i) c.writes(i * 8, 8);
  };
  half(classifier);
  WorkloadClassifier restored(10'000);
  MemoryArchive saved;
  classifier.archive(saved);
  saved.rewind();
  restored.archive(saved);
  half(restored);
  REQUIRE(restored.known());
  CHECK(restored.traits().write_frequency == 2);
}

TEST_CASE("the sample of one block in 64 finds the write frequency within its error") {
  RandomStream random(3, "workload");
  for (const std::uint64_t span : {100'000ULL, 400'000ULL, 3'000'000ULL}) {
    for (const bool skewed : {false, true}) {
      INFO(span << " blocks" << (skewed ? ", half of the writes to a tenth" : ""));
      WorkloadClassifier classifier(100'000);
      std::unordered_set<std::uint64_t> distinct;
      for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t lba = random.below(skewed && random.below(2) == 0 ? span / 10 : span) / 8 * 8;
        classifier.writes(lba, 8);
        for (std::uint64_t b = lba; b < lba + 8; ++b) distinct.insert(b);
      }
      const double exact = 800'000.0 / static_cast<double>(distinct.size());
      // Of n blocks sampled the mean number of writes is known to its spread over sqrt(n); Poisson,
      // and wider where skewed.
      const double spread = std::sqrt(exact) + (skewed ? 2 * exact : 0);
      const double error = spread / std::sqrt(static_cast<double>(distinct.size()) / 64);
      CHECK(std::abs(classifier.traits().write_frequency - exact) < 4 * error);
    }
  }
}

TEST_CASE("AOA-ECC hands over late for hot, early for cold, at once for written data") {
  constexpr std::uint64_t k_window = 4000;
  AoaEccConfig config;
  config.window = k_window;
  const auto first = [](AoaEcc& p, std::uint32_t cycles) {
    return p.first({BlockNumber(0), cycles, 0}).code;
  };
  AoaEcc policy(config, k_context);
  CHECK(policy.handover() == 0);  // nothing is known yet
  CHECK(first(policy, 0) == EccCode::ep_ldpc);
  drive(policy, k_window - 1, 3000, 8);
  CHECK(policy.handover() == 0);
  policy.host_reads(0, 1);
  CHECK(policy.handover() > 0);

  AoaEcc hot(config, k_context);  // 1000 writes of 8 blocks, ten passes
  drive(hot, k_window, 3000, 800);
  CHECK(hot.hot());
  CHECK(hot.read_dominant());
  CHECK(hot.handover() == 2000);
  CHECK(first(hot, 1999) == EccCode::quick_ldpc);
  CHECK(first(hot, 2000) == EccCode::ep_ldpc);

  AoaEcc cold(config, k_context);  // five passes
  drive(cold, k_window, 3000, 1600);
  CHECK_FALSE(cold.hot());
  CHECK(cold.handover() == static_cast<std::uint32_t>(std::lround(2000 * std::pow(6, -0.465))));
  CHECK(cold.handover() == 869);
  CHECK(static_cast<double>(hot.handover()) / cold.handover() == Approx(2.3).epsilon(0.01));
  CHECK(first(cold, 868) == EccCode::quick_ldpc);
  CHECK(first(cold, 869) == EccCode::ep_ldpc);

  AoaEcc written(config, k_context);  // 59 % reads
  drive(written, k_window, 2360, 800);
  CHECK_FALSE(written.read_dominant());
  CHECK(written.handover() == 0);
  drive(written, k_window, 2400, 800);  // 60 %
  CHECK(written.handover() > 0);

  const auto next = hot.next({}, {EccCode::quick_ldpc, 0}, 1);
  REQUIRE(next);
  CHECK(next->code == EccCode::ep_ldpc);
  CHECK_FALSE(hot.next({}, *next, 2));
}
