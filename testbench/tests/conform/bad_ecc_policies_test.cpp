// The conformance kit against ECC selection policies: the program's own pass, planted faults are
// found.
#include <catch2/catch.hpp>

#include "firmware/ecc/code_choice.h"
#include "testbench/conform/conform_ecc_policy.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

enum class EccFault {
  none,
  names_none,
  names_no_decoder,
  names_unknown,
  names_more_later,
  first_of_others,
  next_of_others,
  decodes_nothing,
  tries_too_often,
  by_chance,
  forgets_archive
};

/// BCH, then hard LDPC; LDPC at once in a block that has needed it.
class FaultyEcc final : public EccPolicy {
 public:
  FaultyEcc(EccFault fault, const EccContext& context) : fault_(fault), needs_(context.blocks) {}

  [[nodiscard]] EccCodes codes() const override {
    if (fault_ == EccFault::names_none) return {};
    if (fault_ == EccFault::names_no_decoder) return codes_of({EccCode::none, EccCode::hard_ldpc});
    if (fault_ == EccFault::names_unknown) return codes_of({EccCode::bch, static_cast<EccCode>(15)});
    if (fault_ == EccFault::names_more_later && reads_ > 500)
      return codes_of({EccCode::bch, EccCode::hard_ldpc, EccCode::soft_ldpc});
    return codes_of({EccCode::bch, EccCode::hard_ldpc});
  }
  ReadAttempt first(const PageFacts& page) override {
    ++reads_;
    if (fault_ == EccFault::first_of_others && reads_ == 5000) return {EccCode::soft_ldpc, 0};
    if (fault_ == EccFault::decodes_nothing && page.cycles < 5) return {EccCode::none, 0};
    const bool chance = fault_ == EccFault::by_chance && std::rand() % 100 == 0;
    return {needs_[page.block] != 0 || chance ? EccCode::hard_ldpc : EccCode::bch, 0};
  }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt /*last*/,
                                  std::uint32_t tried) override {
    if (tried >= (fault_ == EccFault::tries_too_often ? 3U : 2U)) return {};
    return ReadAttempt{fault_ == EccFault::next_of_others ? EccCode::ep_ldpc : EccCode::hard_ldpc, 0};
  }
  void decoded(const PageFacts& page, ReadAttempt how, const Decoded& /*result*/) override {
    needs_[page.block] = how.code == EccCode::hard_ldpc && reads_ % 3 != 0 ? 1 : 0;
  }
  void archive(Archive& archive) override {
    archive(reads_);
    if (fault_ != EccFault::forgets_archive) archive(needs_);
  }

 private:
  EccFault fault_;
  std::uint64_t reads_ = 0;
  std::vector<std::uint8_t> needs_;
};

Conformance of(EccFault fault) {
  return conform_ecc_policy(
      [fault](const EccContext& context) { return std::make_unique<FaultyEcc>(fault, context); });
}

}  // namespace

TEST_CASE("every ECC policy of the program conforms") {
  for (const PolicyInfo& info : ecc_family().infos()) {
    const Conformance found = conform_ecc_policy(
        [&](const EccContext& context) { return ecc_family().make(info.name, NoValues(), context); });
    INFO(info.name << "\n" << found.text());
    CHECK(found.passed());
  }
}

TEST_CASE("planted faults of ECC policies are found") {
  const char* const codes = "asks only for codes that codes() names, and gives up in time";
  const Conformance sound = of(EccFault::none);
  INFO(sound.text());
  CHECK(sound.passed());
  for (const EccFault fault :
       {EccFault::names_none, EccFault::names_no_decoder, EccFault::names_unknown, EccFault::names_more_later,
        EccFault::first_of_others, EccFault::next_of_others, EccFault::decodes_nothing,
        EccFault::tries_too_often}) {
    INFO(static_cast<int>(fault));
    CHECK(of(fault).failed(codes));
  }
  CHECK(of(EccFault::by_chance).failed("the same reads are tried the same way"));
  CHECK(of(EccFault::forgets_archive).failed("a snapshot in the middle changes no attempt"));
}
