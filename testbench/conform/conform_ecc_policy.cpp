#include "testbench/conform/conform_ecc_policy.h"

#include <fmt/format.h>
#include <stdexcept>

#include "models/base/ecc_code_text.h"
#include "models/base/memory_archive.h"
#include "models/base/random.h"

namespace tlmssd {

namespace {

using firmware::EccContext;
using firmware::EccPolicy;
using firmware::PageFacts;
using firmware::ReadAttempt;

constexpr EccContext k_drive{.blocks = 16, .lba_bytes = 4096, .logical_blocks = 1'000'000};
constexpr int k_reads = 20'000;
constexpr std::uint32_t k_most_wrong = 200;  // bits of a frame

/// All of `codes` that there are; throws when there is none, or one that there is not.
std::string named(EccCodes codes) {
  bool any = false;
  for (std::size_t i = 0; i < 8 * sizeof(unsigned); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (!codes.has(code)) continue;
    if (code == EccCode::none || i >= ecc_codes())
      throw std::runtime_error(fmt::format("codes() names {}, which does not decode", ecc_code_text(code)));
    any = true;
  }
  if (!any) throw std::runtime_error("codes() names none");
  return ecc_code_text(codes);
}

/// A policy under a random load.
class EccUse {
 public:
  EccUse(const MakeEccPolicy& make, std::uint64_t seed)
      : random_(seed, "conformance of ECC policies"),
        policy_(make(k_drive)),
        names_(named(policy_->codes())) {}

  /// One read and what the host does beside it: what was asked for.
  std::vector<ReadAttempt> read() {
    watch();
    const PageFacts page{static_cast<firmware::BlockNumber>(random_.below(k_drive.blocks)),
                         static_cast<std::uint32_t>(random_.below(6000)), 400 * random_.uniform()};
    std::vector<ReadAttempt> attempts = {asked(policy_->first(page))};
    const std::uint64_t fails = random_.below(4);  // not at all, once, or for good
    while (fails == 1 || (fails == 2 && attempts.size() == 1)) {
      const auto tried = static_cast<std::uint32_t>(attempts.size());
      const auto next = policy_->next(page, attempts.back(), tried);
      if (!next) return attempts;
      if (tried >= policy_->most_attempts())
        throw std::runtime_error(fmt::format("has not given up after {} attempts, but most_attempts() is {}",
                                             tried, policy_->most_attempts()));
      attempts.push_back(asked(*next));
    }
    const auto worst = static_cast<std::uint32_t>(random_.below(k_most_wrong));
    policy_->decoded(page, attempts.back(), {worst, worst * random_.uniform()});
    return attempts;
  }

  EccPolicy& policy() { return *policy_; }
  void replace(std::unique_ptr<EccPolicy> policy) { policy_ = std::move(policy); }

 private:
  ReadAttempt asked(const ReadAttempt& attempt) const {
    const std::string now = named(policy_->codes());
    if (now != names_) throw std::runtime_error(fmt::format("codes() was {}, then {}", names_, now));
    if (!policy_->codes().has(attempt.code))
      throw std::runtime_error(
          fmt::format("asks for code {}, but codes() names {}", ecc_code_text(attempt.code), names_));
    return attempt;
  }

  void watch() {
    if (!policy_->watches_host()) return;
    const std::uint64_t lba = random_.below(k_drive.logical_blocks - 64);
    if (random_.below(3) == 0) {
      policy_->host_writes(lba, 1 + random_.below(64));
    } else {
      policy_->host_reads(lba, 1 + random_.below(64));
    }
    if (random_.below(1000) == 0) policy_->rested();
  }

  RandomStream random_;
  std::unique_ptr<EccPolicy> policy_;
  std::string names_;
};

bool same(const std::vector<ReadAttempt>& a, const std::vector<ReadAttempt>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReadAttempt& x, const ReadAttempt& y) {
    return x.code == y.code && x.retry_level == y.retry_level;
  });
}

std::string keeps_to_codes(const MakeEccPolicy& make, std::uint64_t seed) {
  EccUse use(make, seed);
  for (int i = 0; i < k_reads; ++i) static_cast<void>(use.read());
  return {};
}

std::string repeatable(const MakeEccPolicy& make, std::uint64_t seed) {
  EccUse first(make, seed);
  EccUse second(make, seed);
  for (int i = 0; i < k_reads; ++i)
    if (!same(first.read(), second.read())) return fmt::format("other attempts at read {}", i + 1);
  return {};
}

std::string across_snapshot(const MakeEccPolicy& make, std::uint64_t seed) {
  EccUse straight(make, seed);
  EccUse restored(make, seed);
  for (int i = 0; i < k_reads; ++i) {
    if (i % (k_reads / 4) == k_reads / 8) {
      MemoryArchive archive;
      restored.policy().archive(archive);
      archive.rewind();
      auto other = make(k_drive);
      other->archive(archive);
      if (!archive.at_end()) return "archive() restores less than it saves";
      restored.replace(std::move(other));
    }
    if (!same(straight.read(), restored.read()))
      return fmt::format("other attempts after a snapshot, at read {}", i + 1);
  }
  return {};
}

}  // namespace

Conformance conform_ecc_policy(const MakeEccPolicy& make, std::uint64_t seed) {
  Conformance found;
  found.check("asks only for codes that codes() names, and gives up in time",
              [&] { return keeps_to_codes(make, seed); });
  if (!found.passed()) return found;
  found.note(named(make(k_drive)->codes()));
  found.check("the same reads are tried the same way", [&] { return repeatable(make, seed); });
  found.check("a snapshot in the middle changes no attempt", [&] { return across_snapshot(make, seed); });
  return found;
}

}  // namespace tlmssd
