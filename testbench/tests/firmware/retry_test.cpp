// Reads that cannot be decoded: retries follow the policy, who waits is charged for them, and what
// is lost stays lost until it is written anew, wherever it is moved meanwhile.
#include <algorithm>
#include <bit>

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"
#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct RetryRig {
  explicit RetryRig(const std::string& policy, Given parameters = {}, bool timed = false,
                    bool multi_plane = false)
      : values(std::move(parameters)),
        hw(make(policy, timed, multi_plane), options),
        ftl(hw.ports, shape, config),
        host(hw, ftl, shape, 1) {
    host.media_errors_expected = true;
  }
  const DriveShape& make(const std::string& policy, bool timed, bool multi_plane) {
    shape.geometry = {2, 1, 1, 2, 12, 8, 8192, 0};
    shape.frames_per_unit = 4;
    config.allocation.multi_plane = multi_plane;
    config.buffer.capacity = 32 * 4096;
    config.ecc.policy = policy;
    config.ecc_policy = borrowed(values);
    options.timed = timed;
    shape.logical_blocks = Ftl::largest_logical_blocks(shape, config) * 7 / 10;
    return shape;
  }
  void fill() {
    for (std::uint64_t lba = 0; lba + 64 <= shape.logical_blocks; lba += 64) {
      host.write(lba, 64);
      host.wait_below(8);
    }
    host.drain();
  }
  HostStatus read(std::uint64_t lba, std::uint32_t blocks = k_unit) {
    host.read(lba, blocks);
    host.wait_below(1);
    return host.last_status;
  }
  [[nodiscard]] const FtlStatistics& stats() const { return ftl.statistics(); }

  Given values;
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
};

/// Always has one attempt more.
class NeverGivesUp final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "never-gives-up";
  static constexpr std::string_view k_summary = "always has one attempt more";
  using Config = NoParameters;
  NeverGivesUp(const Config& /*config*/, const EccContext& /*context*/) {}
  [[nodiscard]] EccCodes codes() const override { return codes_of({EccCode::bch}); }
  ReadAttempt first(const PageFacts& /*page*/) override { return {EccCode::bch, 0}; }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt last,
                                  std::uint32_t /*tried*/) override {
    return last;
  }
};

/// Asks for what it has not named, at once or after a failure.
class AsksForMore final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "asks-for-more";
  static constexpr std::string_view k_summary = "asks for a code that it has not named";
  using Config = NoParameters;
  AsksForMore(const Config& /*config*/, const EccContext& /*context*/) {}
  [[nodiscard]] EccCodes codes() const override { return codes_of({EccCode::bch, EccCode::hard_ldpc}); }
  ReadAttempt first(const PageFacts& /*page*/) override { return {at_first, 0}; }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt /*last*/,
                                  std::uint32_t /*tried*/) override {
    return ReadAttempt{then, 0};
  }
  static inline EccCode at_first = EccCode::bch;
  static inline EccCode then = EccCode::bch;
};

/// Tells what it was told.
class Recorder final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "recorder";
  static constexpr std::string_view k_summary = "tells what it was told";
  using Config = NoParameters;
  Recorder(const Config& /*config*/, const EccContext& /*context*/) {}
  [[nodiscard]] EccCodes codes() const override { return codes_of({EccCode::bch}); }
  ReadAttempt first(const PageFacts& page) override {
    told = page;
    return {EccCode::bch, 0};
  }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt /*last*/,
                                  std::uint32_t /*tried*/) override {
    return {};
  }
  void decoded(const PageFacts& /*page*/, ReadAttempt /*how*/, const Decoded& what) override {
    result = what;
    all.push_back(what);
  }
  static inline PageFacts told;
  static inline Decoded result;
  static inline std::vector<Decoded> all;
};

bool holds(const FlashOp& op, Lpn unit) {
  return std::find(op.spare, op.spare + op.slots, unit) != op.spare + op.slots;
}

constexpr Lpn k_lost = 33;

/// Overwrites other units until collection has moved k_lost.
void move_by_collection(RetryRig& rig) {
  bool moved = false;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    moved = moved || (op.command == FlashCommand::program && op.purpose == Purpose::gc && holds(op, k_lost));
  };
  for (int i = 0; i < 100'000 && !moved; ++i) {
    const std::uint64_t lba = rig.host.random.below(rig.shape.logical_blocks / k_unit) * k_unit;
    if (lba != k_lost * k_unit) rig.host.write(lba, k_unit);
    rig.host.wait_below(8);
  }
  REQUIRE(moved);
  rig.host.drain();
  rig.hw.flash.watch = nullptr;
}

}  // namespace

TEST_CASE("retries go the way that the policy names") {
  RetryRig rig("retry-only", Given({{"steps", whole(6)}}));
  rig.fill();
  std::vector<int> retry_level;
  int good = 3;
  rig.hw.flash.fails = [&](const FlashOp& op) {
    CHECK(op.code == EccCode::bch);
    retry_level.push_back(op.retry_level);
    return op.retry_level < good;
  };
  CHECK(rig.read(80) == HostStatus::success);
  CHECK(retry_level == std::vector<int>{0, 1, 2, 3});
  CHECK(rig.stats().retried_reads == 1);
  CHECK(rig.stats().retries == 3);
  CHECK(rig.stats().lost_reads == 0);
  CHECK(rig.stats().uncorrectable_units == 0);
  retry_level.clear();
  good = 100;
  CHECK(rig.read(80) == HostStatus::media_error);
  CHECK(retry_level == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(rig.stats().retried_reads == 2);
  CHECK(rig.stats().retries == 3 + 6);
  CHECK(rig.stats().lost_reads == 1);
  CHECK(rig.stats().lost_frames == 1);
  good = 0;
  CHECK(rig.read(80) == HostStatus::success);
}

TEST_CASE("a failure is final where the policy has nothing else, and another code helps where it has") {
  for (const auto& [policy, lost] : {std::pair("fixed", true), std::pair("conventional", false)}) {
    INFO(policy);
    RetryRig rig(policy);
    rig.fill();
    rig.hw.flash.fails = [](const FlashOp& op) { return op.code == EccCode::bch; };
    CHECK(rig.read(80) == (lost ? HostStatus::media_error : HostStatus::success));
    CHECK(rig.stats().retries == (lost ? 0 : 1));
    CHECK(rig.stats().lost_reads == (lost ? 1 : 0));
  }
}

TEST_CASE("a policy that never gives a page up ends the run by its name") {
  ecc_family().add<NeverGivesUp>("acme 1.0");
  for (const bool timed : {false, true}) {
    RetryRig rig("never-gives-up", {}, timed);
    rig.fill();
    std::uint32_t left = k_most_attempts - 1;
    rig.hw.flash.fails = [&](const FlashOp& /*op*/) { return left-- > 0; };
    CHECK(rig.read(80) == HostStatus::success);  // the last attempt that there is
    CHECK(rig.stats().retries == k_most_attempts - 1);
    left = 2 * k_most_attempts;  // an end, should nothing end it before
    std::string said = "nothing";
    try {
      rig.read(80);
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK_THAT(said,
               Catch::StartsWith("firmware.ecc.policy: never-gives-up has not given up a page of block "));
    CHECK_THAT(said, Catch::EndsWith(" after 4096 attempts"));
  }
}

TEST_CASE("a policy that asks for a code that it has not named ends the run by its name") {
  ecc_family().add<AsksForMore>("acme 1.0");
  const std::string asks = "firmware.ecc.policy: asks-for-more asks for code ";
  for (const bool timed : {false, true}) {
    for (const bool first : {false, true}) {
      for (const auto& [code, name] :
           {std::pair(EccCode::soft_ldpc, "soft-ldpc"), std::pair(EccCode::none, "none"),
            std::pair(static_cast<EccCode>(9), "number 9"),
            std::pair(static_cast<EccCode>(77), "number 77")}) {
        AsksForMore::at_first = AsksForMore::then = EccCode::bch;
        RetryRig rig("asks-for-more", {}, timed);
        rig.fill();
        rig.hw.flash.fails = [](const FlashOp& op) { return op.code == EccCode::bch; };
        (first ? AsksForMore::at_first : AsksForMore::then) = code;
        CHECK_THROWS_WITH(rig.read(80), asks + name + ", but its codes() names bch, hard-ldpc");
      }
    }
  }
}

TEST_CASE("the reading command is charged for the retries, to the picosecond") {
  for (const std::uint32_t units : {1U, 6U}) {
    RetryRig rig("retry-only", Given({{"steps", whole(10)}}), true);
    rig.fill();
    int tries = 0;
    rig.hw.flash.fails = [&](const FlashOp& op) {
      ++tries;
      return op.retry_level < 4;
    };
    Picoseconds retry = 0;
    const auto before = rig.hw.host.on_complete;
    rig.hw.host.on_complete = [&](HostCommand& command) {
      retry = command.ledger.spent(Cause::retry);
      before(command);
    };
    CHECK(rig.read(80, units * k_unit) == HostStatus::success);
    const Picoseconds one = rig.options.read_time + rig.options.stage_time;
    const auto reads = static_cast<Picoseconds>(rig.stats().retried_reads);
    CHECK(tries == 5 * reads);
    if (units == 1) {
      CHECK(retry == 4 * one);
    } else {
      // They go on side by side, but the firmware's core has one at a time.
      CHECK(reads > 1);
      CHECK(retry >= 4 * one);
      CHECK(retry <= 4 * one + 4 * reads * rig.options.stage_time);
    }
  }
}

TEST_CASE("the host gets a media error exactly when the policy gave up") {
  for (const bool timed : {false, true}) {
    RetryRig rig("retry-only", Given({{"steps", whole(2)}}), timed);
    rig.fill();
    RandomStream random(5, "failures");
    rig.hw.flash.fails = [&](const FlashOp& /*op*/) { return random.below(3) == 0; };
    std::uint64_t errors = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t lost = rig.stats().lost_reads;
      const HostStatus status = rig.read(rig.host.random.below(rig.shape.logical_blocks / k_unit) * k_unit);
      REQUIRE(status == (rig.stats().lost_reads > lost ? HostStatus::media_error : HostStatus::success));
      errors += status == HostStatus::media_error ? 1 : 0;
    }
    CHECK(rig.stats().lost_reads == errors);
    CHECK(rig.host.media_errors == errors);
    // One read in 27 is lost, one in three retried.
    CHECK(errors == Approx(3000.0 / 27).margin(4 * std::sqrt(3000.0 / 27)));
    CHECK(static_cast<double>(rig.stats().retried_reads) == Approx(1000).margin(4 * std::sqrt(667)));
  }
}

TEST_CASE("slots that were decoded once stay so, whichever attempt it was") {
  for (const bool timed : {false, true}) {
    RetryRig rig("retry-only", Given({{"steps", whole(4)}}), timed);
    rig.fill();
    // Each slot can be decoded at one step alone; a read of two needs both attempts.
    const auto failing = [](const FlashOp& op) {
      std::uint64_t slots = 0;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        if (op.retry_level != 1 + 2 * ((op.first_slot + n) % 2)) slots |= std::uint64_t{1} << n;
      }
      return slots;
    };
    std::uint32_t together = 0;
    rig.hw.flash.failed_slots = failing;
    rig.hw.flash.fails = [&](const FlashOp& op) {
      if (op.slots == 2 && op.retry_level == 0) ++together;
      return failing(op) != 0;
    };
    for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64)
      CHECK(rig.read(lba, 64) == HostStatus::success);  // the model host compares the data
    CHECK(together > 0);
    CHECK(rig.stats().lost_reads == 0);
  }
}

TEST_CASE("of several planes those that fail are read again, each by itself") {
  for (const bool timed : {false, true}) {
    RetryRig rig("conventional", {}, timed, true);
    rig.fill();
    // Only the other code can decode what the second plane has.
    const auto failing = [](const FlashOp& op) {
      std::uint64_t slots = 0;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        if ((op.first_slot + n) / 2 + index(op.plane) == 1) slots |= std::uint64_t{1} << n;
      }
      return op.code == EccCode::bch ? slots : 0;
    };
    std::uint32_t both = 0;
    std::uint32_t again = 0;
    rig.hw.flash.failed_slots = failing;
    rig.hw.flash.fails = [&](const FlashOp& op) {
      if (op.code == EccCode::bch) {
        if (op.planes == 2) ++both;
      } else {
        ++again;
        CHECK(op.planes == 1);
        CHECK(index(op.plane) == 1);
      }
      return failing(op) != 0;
    };
    const std::uint64_t bits = rig.stats().decoded_bits;
    std::uint64_t units = 0;
    for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64, units += 64 / k_unit)
      CHECK(rig.read(lba, 64) == HostStatus::success);  // the model host compares the data
    CHECK(both > 0);
    CHECK(again == both);
    CHECK(rig.stats().retries == again);
    CHECK(rig.stats().retried_reads == again);
    CHECK(rig.stats().lost_reads == 0);
    CHECK(rig.stats().decoded_bits - bits == units * 4096 * 8);
  }
}

TEST_CASE("the policy is told of every plane that is decoded, whether others fail or not") {
  ecc_family().add<Recorder>("acme 1.0");
  constexpr std::uint32_t k_wrong[] = {8, 40};  // in each plane
  const bool fails = GENERATE(false, true);
  for (const bool timed : {false, true}) {
    RetryRig rig("recorder", {}, timed, true);
    rig.fill();
    rig.hw.flash.wrong_bits = [&](const FlashOp& op) { return k_wrong[index(op.plane)]; };
    // Of whole multi-plane pages the second plane.
    std::uint32_t both = 0;
    rig.hw.flash.failed_slots = [](const FlashOp& /*op*/) { return std::uint64_t{12}; };
    rig.hw.flash.fails = [&](const FlashOp& op) {
      both += op.slots == 4 ? 1 : 0;
      return fails && op.slots == 4;
    };
    const FtlStatistics before = rig.stats();
    Recorder::all.clear();
    for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64) rig.read(lba, 64);
    REQUIRE(both > 10);
    const auto pages = [](std::uint32_t wrong) {
      return static_cast<std::uint32_t>(
          std::count_if(Recorder::all.begin(), Recorder::all.end(),
                        [wrong](const Decoded& page) { return page.worst == wrong; }));
    };
    CHECK(pages(k_wrong[0]) + pages(k_wrong[1]) == Recorder::all.size());
    CHECK(pages(k_wrong[0]) >= both);
    CHECK(pages(k_wrong[1]) == (fails ? pages(k_wrong[0]) - both : pages(k_wrong[0])));
    for (const Decoded& page : Recorder::all)
      CHECK((page.mean == page.worst / 8.0 || page.mean == page.worst / 4.0));  // of two units or one
    CHECK(rig.stats().corrected_bits - before.corrected_bits ==
          k_wrong[0] * pages(k_wrong[0]) + k_wrong[1] * pages(k_wrong[1]));
    CHECK(rig.stats().decoded_frames - before.decoded_frames + 8 * (fails ? both : 0) ==
          (rig.shape.logical_blocks / 64 * 64 / k_unit) * 4);
    CHECK(rig.stats().lost_reads == (fails ? both : 0));
  }
}

TEST_CASE("planes that fail together are lost each for itself, with all frames that failed") {
  for (const bool timed : {false, true}) {
    RetryRig rig("fixed", {}, timed, true);
    rig.fill();
    // Of whole multi-plane pages the first unit of one plane, both of the other.
    rig.hw.flash.failed_slots = [](const FlashOp& /*op*/) { return std::uint64_t{13}; };
    rig.hw.flash.failed_frames = [](const FlashOp& /*op*/) { return 10U; };
    std::uint64_t failed = 0;
    rig.hw.flash.fails = [&](const FlashOp& op) {
      const bool whole = op.planes == 2 && op.slots == 4;
      failed += whole ? 1 : 0;
      return whole;
    };
    for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64) rig.read(lba, 64);
    CHECK(failed > 0);
    CHECK(rig.stats().lost_reads == 2 * failed);
    CHECK(rig.stats().uncorrectable_units == 3 * failed);
    CHECK(rig.stats().lost_frames == 10 * failed);
    CHECK(rig.stats().retries == 0);
  }
}

TEST_CASE("frames are lost as in the attempt that came nearest, however many follow it") {
  for (const int steps : {2, 4, 40}) {
    INFO(steps);
    RetryRig rig("retry-only", Given({{"steps", whole(steps)}}));
    rig.fill();
    // Slot 0 of a page is beyond repair: one frame at step 2, all four elsewhere; slot 1 fails only
    // at the steps after.
    const auto failing = [](const FlashOp& op) {
      std::uint64_t slots = 0;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        if ((op.first_slot + n) % 2 == 0 || op.retry_level > 2) slots |= std::uint64_t{1} << n;
      }
      return slots;
    };
    rig.hw.flash.failed_slots = failing;
    rig.hw.flash.fails = [&](const FlashOp& op) { return failing(op) != 0; };
    rig.hw.flash.failed_frames = [&](const FlashOp& op) {
      return static_cast<std::uint32_t>(std::popcount(failing(op))) * (op.retry_level == 2 ? 1U : 4U);
    };
    for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64) rig.read(lba, 64);
    REQUIRE(rig.stats().lost_reads > 0);
    CHECK(rig.stats().lost_frames == rig.stats().lost_reads);
  }
}

TEST_CASE("wrong bits of frames that an attempt failed at are not corrected ones") {
  constexpr std::uint32_t k_beyond_repair = 1000;
  RetryRig rig("retry-only", Given({{"steps", whole(4)}}));
  rig.fill();
  const auto failing = [](const FlashOp& op) {
    std::uint64_t slots = 0;
    for (std::uint32_t n = 0; n < op.slots; ++n) {
      if (op.retry_level != 1 + 2 * ((op.first_slot + n) % 2)) slots |= std::uint64_t{1} << n;
    }
    return slots;
  };
  rig.hw.flash.failed_slots = failing;
  rig.hw.flash.fails = [&](const FlashOp& op) { return failing(op) != 0; };
  rig.hw.flash.wrong_bits = [&](const FlashOp& op) { return failing(op) != 0 ? k_beyond_repair : 3U; };
  const std::uint64_t frames = rig.stats().decoded_frames;
  const std::uint64_t bits = rig.stats().corrected_bits;
  // Single units are decoded by one attempt, two of a page by two, of which each fails at the other
  // one.
  for (std::uint64_t unit = 0; unit < 100; ++unit) CHECK(rig.read(unit * k_unit) == HostStatus::success);
  for (std::uint64_t lba = 0; lba + 64 <= rig.shape.logical_blocks; lba += 64)
    CHECK(rig.read(lba, 64) == HostStatus::success);
  CHECK(rig.stats().lost_reads == 0);
  CHECK(rig.stats().decoded_frames - frames >= 400);
  CHECK((rig.stats().corrected_bits - bits) * 4 == 3 * (rig.stats().decoded_frames - frames));
}

TEST_CASE("of a page that is moved only the slots that failed are lost") {
  RetryRig rig("fixed");
  rig.fill();
  rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::gc && holds(op, k_lost); };
  rig.hw.flash.failed_slots = [](const FlashOp& op) {
    return std::uint64_t{1} << (std::find(op.spare, op.spare + op.slots, k_lost) - op.spare);
  };
  move_by_collection(rig);
  rig.hw.flash.fails = nullptr;
  for (Lpn unit = 0; (unit + 1) * k_unit <= rig.shape.logical_blocks; ++unit)
    CHECK(rig.read(unit * k_unit) == (unit == k_lost ? HostStatus::media_error : HostStatus::success));
}

TEST_CASE("what collection could not read is lost until it is written anew") {
  for (const bool timed : {false, true}) {
    RetryRig rig("fixed", {}, timed);
    rig.fill();
    rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::gc && holds(op, k_lost); };
    rig.hw.flash.failed_slots = [](const FlashOp& op) {
      return std::uint64_t{1} << (std::find(op.spare, op.spare + op.slots, k_lost) - op.spare);
    };
    CHECK(rig.read(k_lost * k_unit) == HostStatus::success);
    move_by_collection(rig);
    CHECK(rig.stats().lost_reads > 0);
    CHECK(rig.stats().uncorrectable_units > 0);
    rig.hw.flash.fails = nullptr;
    const std::uint64_t lost = rig.stats().lost_reads;
    CHECK(rig.stats().units_lost == 1);
    CHECK(rig.stats().host_units_lost == 0);
    rig.ftl.reset_statistics();
    CHECK(rig.read(k_lost * k_unit) == HostStatus::media_error);  // though flash returns it without a fault
    CHECK(rig.stats().lost_reads == 0);
    // A data error that the host sees, whenever it came about (JESD218).
    CHECK(rig.stats().host_units_lost == 1);
    CHECK(rig.stats().host_units_lost_before == 1);
    CHECK(test::statistics_of(rig.ftl).at("firmware/error correction/uber") == Approx(1.0 / (4096 * 8)));
    // Moved again and not read again, it is not lost again.
    rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::gc && holds(op, k_lost); };
    move_by_collection(rig);
    rig.hw.flash.fails = nullptr;
    CHECK(rig.stats().units_lost == 0);
    CHECK(lost > 0);
    CHECK(rig.read(k_lost * k_unit) == HostStatus::media_error);
    // A part of it does not save the rest, all of it does.
    rig.host.write(k_lost * k_unit + 3, 2);
    rig.host.drain();
    CHECK(rig.read(k_lost * k_unit) == HostStatus::media_error);
    rig.host.write(k_lost * k_unit, k_unit);
    rig.host.drain();
    CHECK(rig.read(k_lost * k_unit) == HostStatus::success);
  }
}

TEST_CASE("a trim forgets what was lost") {
  RetryRig rig("fixed");
  rig.fill();
  rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::gc && holds(op, k_lost); };
  move_by_collection(rig);
  rig.hw.flash.fails = nullptr;
  CHECK(rig.read(k_lost * k_unit) == HostStatus::media_error);
  rig.host.trim({{k_lost * k_unit, k_unit}});
  CHECK(rig.read(k_lost * k_unit) == HostStatus::success);
  rig.host.write(k_lost * k_unit + 2, 1);
  rig.host.drain();
  CHECK(rig.read(k_lost * k_unit) == HostStatus::success);
}

TEST_CASE("a unit written in part over what cannot be read is lost") {
  for (const bool timed : {false, true}) {
    RetryRig rig("fixed", {}, timed);
    rig.fill();
    rig.hw.flash.fails = [](const FlashOp& op) { return holds(op, k_lost); };
    rig.host.write(k_lost * k_unit, 1);
    rig.host.drain();
    rig.hw.flash.fails = nullptr;
    CHECK(rig.stats().uncorrectable_units == 1);
    CHECK(rig.read(k_lost * k_unit) == HostStatus::media_error);
    rig.host.zeroes(k_lost * k_unit, k_unit);
    rig.host.drain();
    CHECK(rig.read(k_lost * k_unit) == HostStatus::success);
  }
}

TEST_CASE("what is lost is known after a snapshot") {
  RetryRig rig("fixed");
  rig.fill();
  rig.hw.flash.fails = [](const FlashOp& op) { return op.purpose == Purpose::gc && holds(op, k_lost); };
  move_by_collection(rig);
  RetryRig other("fixed");
  restore(rig, other);
  CHECK(other.read(k_lost * k_unit) == HostStatus::media_error);
  CHECK(other.read((k_lost + 5) * k_unit) == HostStatus::success);
}

TEST_CASE("policies are told the age of data in days, all cycles of a block, and wrong bits by frame") {
  ecc_family().add<Recorder>("acme 1.0");
  RetryRig rig("recorder");
  rig.fill();
  for (int n = 0; n < 4000; ++n) rig.host.write(rig.host.random.below(rig.shape.logical_blocks / 8) * 8, 8);
  rig.host.drain();
  rig.hw.flash.wrong_bits = [](const FlashOp& /*op*/) { return 60U; };
  constexpr std::int64_t k_day = 86'400'000'000'000;  // nanoseconds
  std::uint32_t rested = 0;
  double days = 0;
  for (const std::uint32_t cycles : {0U, 700U, 11U}) {
    for (const double more : {0.0, 0.25, 30.0}) {
      rig.ftl.rest(cycles, static_cast<std::int64_t>(more * static_cast<double>(k_day)));
      rested += cycles;
      days += more;
      for (const std::uint32_t units : {1U, 2U}) {  // the two of a page
        const std::uint64_t lba = rig.host.random.below(rig.shape.logical_blocks / 16 - 1) * 16;
        const BlockNumber block =
            rig.ftl.blocks().layout().block_of(rig.ftl.map().lookup(static_cast<Lpn>(lba / 8)));
        INFO(rested << " cycles, " << days << " days, " << units << " units");
        const std::uint64_t reads = rig.hw.flash.reads;
        CHECK(rig.read(lba, 8) == HostStatus::success);
        REQUIRE(rig.hw.flash.reads == reads + 1);
        CHECK(Recorder::told.block == block);
        CHECK(Recorder::told.cycles == rested + rig.ftl.blocks().info(block).erases);
        CHECK(Recorder::told.days == Approx(days).margin(0.01));  // and what has been simulated
        CHECK(Recorder::result.worst == 60);
        CHECK(Recorder::result.mean == 60.0 / rig.shape.frames_per_unit);
      }
    }
  }
}

TEST_CASE("the uncorrectable bit error rate is frames lost by bits read") {
  RetryRig rig("fixed");
  rig.fill();
  rig.ftl.reset_statistics();
  rig.hw.flash.fails = [](const FlashOp& op) { return holds(op, 10); };
  rig.hw.flash.failed_frames = [](const FlashOp& /*op*/) { return 3U; };
  for (std::uint64_t unit = 0; unit < 40; ++unit) rig.read(unit * k_unit);
  const auto numbers = test::statistics_of(rig.ftl);
  CHECK(rig.stats().lost_reads == 1);
  CHECK(numbers.at("firmware/error correction/frames lost") == 3);
  CHECK(numbers.at("firmware/error correction/host units lost") == 1);
  CHECK(numbers.at("firmware/error correction/host units lost before") == 0);
  CHECK(numbers.at("firmware/error correction/uber") == Approx(3.0 / (40 * 4096 * 8)));
}
