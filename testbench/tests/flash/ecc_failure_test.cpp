// Decoding succeeds or fails as the wrong bits that the dies drew say, and the decoders count all
// of it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "testbench/tests/flash/ecc_bench.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr std::uint32_t k_frames = 16;  // of a page

/// Every page type with a rate of its own, around what `t` wrong bits of a frame need; nothing
/// varies from page to page.
Options failing(std::uint32_t t) {
  Options o = ecc_options("tlc");
  o.errors.distribution = "binomial";
  o.errors.block_variation = 0;
  o.errors.page_variation = 0;
  const double limit = static_cast<double>(t) / o.ecc.frame_bits();
  o.rber = [limit](const ArrayOperation& stress) { return limit * (0.7 + 0.2 * stress.type); };
  return o;
}

/// Frames [first, first + count) of a page as the oracle has them.
std::vector<std::uint32_t> drawn(const BitErrors& oracle, const Options& o, std::uint32_t die,
                                 std::uint32_t plane, std::uint32_t block, std::uint32_t page,
                                 std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> result(count);
  const BitErrors::Place place{DieId{die}, PlaneId{plane}, BlockId{block}, PageId{page}, 0};
  oracle.draw(place, o.rber({.type = page % o.part.bits()}), first, count, result.data());
  return result;
}

double normal_distribution(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

void check_share(std::uint64_t found, std::uint64_t of, double expected) {
  const auto n = static_cast<double>(of);
  INFO(found << " of " << of << ", expected " << expected * n);
  CHECK(std::abs(static_cast<double>(found) - expected * n) <=
        4 * std::sqrt(n * expected * (1 - expected)) + 1e-9);
}

EccConfig with_waterfall(double waterfall) {
  EccConfig config;
  CodeConfig& code = config.codes[static_cast<std::size_t>(EccCode::hard_ldpc)];
  code.correctable = 80;
  code.waterfall = waterfall;
  return config;
}

void check_refused(double (*failure)(const CodeConfig& code, std::uint32_t wrong), const std::string& said) {
  Options o = failing(60);
  o.rber = [](const ArrayOperation&) { return 2e-3; };
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].failure = failure;
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.op.code = EccCode::bch;
  execute(program);
  const auto run = [&] {
    submit(read);
    b.run();
  };
  CHECK_THROWS_WITH(run(), Catch::Contains("ECC code bch answers a probability of failure of " + said +
                                           ", which is none of 0 to 1, to a frame with"));
}

}  // namespace

TEST_CASE("BCH fails when a frame has more wrong bits than it corrects, and never else") {
  const Options o = failing(60);
  const auto oracle = errors_of(o);
  Bench b(o);
  std::uint32_t failed = 0;
  std::uint32_t decoded = 0;
  std::uint64_t corrected = 0;
  std::uint64_t failed_frames = 0;
  std::uint64_t failed_pages = 0;
  for (std::uint32_t page = 0; page < 12; ++page) {
    Operation program = make(b, FlashCommand::program, 2, 3, page, 2);
    execute(program);
    for (int way = 0; way < 3; ++way) {
      Operation read = make(b, FlashCommand::read, 2, 3, page, 2);
      std::vector<std::uint32_t> expected = drawn(*oracle, o, 2, 0, 3, page, 0, k_frames);
      const auto second = drawn(*oracle, o, 2, 1, 3, page, 0, k_frames);
      expected.insert(expected.end(), second.begin(), second.end());
      if (way == 2) {  // from the last unit of the first plane into the second
        read.op.first_slot = 3;
        read.op.slots = 2;
        expected = {expected.begin() + 12, expected.begin() + 20};
      }
      read.op.code = EccCode::bch;
      if (way == 0) {
        execute(read);
      } else {
        submit(read);
        b.run();
        check_ledger(read);
      }
      const auto over = static_cast<std::uint32_t>(
          std::count_if(expected.begin(), expected.end(), [](std::uint32_t wrong) { return wrong > 60; }));
      CHECK(read.op.worst_errors == *std::max_element(expected.begin(), expected.end()));
      CHECK(read.op.wrong_bits == std::accumulate(expected.begin(), expected.end(), 0U));
      CHECK(read.op.failed_frames == over);
      CHECK(read.op.status == (over > 0 ? FlashStatus::uncorrectable : FlashStatus::ok));
      ++(over > 0 ? failed : decoded);
      failed_frames += over;
      const auto fails = [](std::uint32_t wrong) { return wrong > 60; };
      const auto middle = expected.begin() + static_cast<std::ptrdiff_t>(expected.size() / 2);
      failed_pages += std::any_of(expected.begin(), middle, fails) ? 1 : 0;
      failed_pages += std::any_of(middle, expected.end(), fails) ? 1 : 0;
      for (const std::uint32_t wrong : expected) corrected += wrong > 60 ? 0 : wrong;
    }
  }
  CHECK(failed > 5);
  CHECK(decoded > 5);
  const EccEngines::Counts& counts = b.array.controller().ecc().counts(EccCode::bch);
  CHECK(counts.pages == 2 * (failed + decoded));  // one of each plane
  CHECK(counts.failed_pages == failed_pages);
  CHECK(counts.failed_frames == failed_frames);
  CHECK(counts.corrected_bits == corrected);
}

TEST_CASE("a page read again has the same errors, one written anew has others") {
  Options o = failing(60);
  o.rber = [](const ArrayOperation&) { return 2e-3; };
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  Operation erase = make(b, FlashCommand::erase, 0, 0, 0);
  read.op.code = EccCode::hard_ldpc;
  execute(program);
  execute(read);
  const std::uint32_t before = read.op.wrong_bits;
  CHECK(before > 0);
  for (int i = 0; i < 3; ++i) {
    execute(read);
    CHECK(read.op.wrong_bits == before);
  }
  execute(erase);
  execute(program);
  execute(read);
  CHECK(read.op.wrong_bits != before);
}

TEST_CASE("errors come with wear, age, reads and the retry step") {
  Options o = failing(60);
  o.rber = [](const ArrayOperation& s) {
    return 1e-3 + 1e-6 * s.cycles + 1e-4 * s.age_days + 1e-5 * s.reads_per_page;
  };
  Bench b(o);
  for (std::uint32_t page = 0; page < o.part.pages_per_block; ++page) {
    Operation program = make(b, FlashCommand::program, 0, 0, page);
    execute(program);
  }
  const auto rber = [&](std::uint32_t retry_level) {
    return b.array.die(DieId{0}).state().rber(PlaneId{0}, BlockId{0}, PageId{0}, retry_level,
                                              b.event_queue.now());
  };
  CHECK(rber(0) == Approx(1e-3));
  b.array.age(1000, 0, 40);
  CHECK(rber(0) == Approx(2e-3));
  b.array.age(0, 10 * 86'400.0, 40);
  CHECK(rber(0) == Approx(3e-3));
  b.array.disturb(50);
  CHECK(rber(0) == Approx(3.5e-3));
  // The best step lies at 0.00294 x 1000^0.927 x ln 11; there a tenth of what age added is left,
  // and what another half step adds.
  const double shift = 0.00294 * std::pow(1000, 0.927);
  const double best = shift * std::log(11);
  for (std::uint32_t l = 0; l < 12; ++l) {
    const double days = std::expm1(std::max(std::abs(best - l), 0.5) / shift);
    CHECK(rber(l) == Approx(l == 0 ? 3.5e-3 : 2.5e-3 + 0.1 * 1e-3 + 0.9 * 1e-4 * days));
  }
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.op.code = EccCode::hard_ldpc;
  execute(read);
  const std::uint32_t by_default = read.op.wrong_bits;
  read.op.retry_level = 4;
  execute(read);
  CHECK(read.op.wrong_bits < by_default * 0.85);  // 2.6 of 3.5
  CHECK(by_default == Approx(3.5e-3 * o.ecc.frame_bits() * k_frames).epsilon(0.2));
}

TEST_CASE("of a read of two planes only what could not be decoded is lost") {
  Options o = failing(60);
  o.rber = [](const ArrayOperation& stress) { return stress.plane == PlaneId{1} ? 0.2 : 0; };
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 0, 2);
  execute(program);
  Operation read = make(b, FlashCommand::read, 0, 0, 0, 2);
  read.op.code = EccCode::bch;
  read.op.first_slot = 1;
  read.op.slots -= 2;  // all but the first of plane 0 and the last of plane 1
  execute(read);
  const std::uint32_t good = b.units_per_page - 1;
  REQUIRE(read.op.slots == 2 * good);
  CHECK(read.op.status == FlashStatus::uncorrectable);
  for (std::uint32_t slot = 0; slot < read.op.slots; ++slot) {
    CHECK(read.verdict.failed_slots.has(slot) == (slot >= good));
    CHECK((read.stamps[slot * b.stamps_per_unit] == program.stamps[0]) == (slot < good));
  }
}

TEST_CASE("of a read of more than 64 slots only what could not be decoded is lost, in each plane") {
  Options o = failing(60);
  o.part.page_size = 64_KiB;
  o.part.spare_size = 8_KiB;
  o.unit_bytes = 512;
  o.ecc.frame = 512;
  o.ecc.parity = 64;
  o.ecc.codes[static_cast<std::size_t>(EccCode::bch)].correctable = 20;
  o.rber = [](const ArrayOperation&) {
    return 15.0 / (8 * (512 + 64));
  };  // of each frame one in twelve fails
  const auto oracle = errors_of(o);
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 1, 2, 0, 2);
  execute(program);
  Operation read = make(b, FlashCommand::read, 1, 2, 0, 2);
  read.op.code = EccCode::bch;
  execute(read);
  REQUIRE(read.op.slots == 256);
  std::uint32_t failed = 0;
  for (std::uint32_t plane = 0; plane < 2; ++plane) {
    const std::vector<std::uint32_t> wrong = drawn(*oracle, o, 1, plane, 2, 0, 0, 128);
    std::uint32_t of_plane = 0;
    for (std::uint32_t n = 0; n < 128; ++n) {
      const std::uint32_t slot = 128 * plane + n;
      of_plane += wrong[n] > 20 ? 1 : 0;
      CHECK(read.verdict.failed_slots.has(slot) == (wrong[n] > 20));
      CHECK((read.stamps[slot] != program.stamps[0]) == (wrong[n] > 20));
    }
    const PlaneVerdict& verdict = read.verdict.planes.at(plane);
    CHECK(verdict.failed == of_plane);
    CHECK(verdict.worst == *std::max_element(wrong.begin(), wrong.end()));
    CHECK(verdict.wrong == std::accumulate(wrong.begin(), wrong.end(), 0U));
    failed += of_plane;
  }
  CHECK(failed > 5);
  CHECK(read.op.failed_frames == failed);
}

TEST_CASE("a frame without a wrong bit is decoded, however wide the waterfall") {
  EccEngines engines(with_waterfall(0.5), 7);
  const std::vector<std::uint32_t> none(20'000, 0);
  CHECK(engines.decode(EccCode::hard_ldpc, {}, 20'000, none).failed == 0);
  // With one, a limit that is drawn below it is none.
  const std::vector<std::uint32_t> one(20'000, 1);
  check_share(engines.decode(EccCode::hard_ldpc, {}, 20'000, one).failed, 20'000,
              normal_distribution((1 - 80.0) / 40));
}

TEST_CASE("a waterfall fails as the integral over its transition says") {
  EccEngines engines(with_waterfall(0.05), 7);
  for (std::uint32_t wrong = 44; wrong <= 96; wrong += 2) {
    INFO(wrong << " wrong bits");
    const std::vector<std::uint32_t> errors(20'000, static_cast<std::uint32_t>(wrong));
    const auto verdict = engines.decode(EccCode::hard_ldpc, {}, 20'000, errors);
    check_share(verdict.failed, 20'000, normal_distribution((wrong - 80.0) / 4));
    CHECK(verdict.worst == wrong);
  }
  // Sharp: neither one below nor one above.
  EccEngines sharp(with_waterfall(0), 7);
  const std::uint32_t edge[] = {80, 81, 79, 65535, 0};
  CHECK(sharp.decode(EccCode::hard_ldpc, {}, 5, edge).failed == 2);
}

namespace {

struct CodeOfPlugin {
  static constexpr std::string_view k_name = "code-of-plugin";
  static constexpr std::string_view k_summary = "fails the more often the more bits are wrong";
  static CodeConfig defaults() { return {.correctable = 200, .throughput = 800'000'000, .gates = 1000}; }
  static double failure(const CodeConfig& config, std::uint32_t wrong) {
    return std::min(static_cast<double>(wrong) / config.correctable, 1.0);
  }
};

}  // namespace

TEST_CASE("a code of a plug-in fails as often as it says, and has engines and gates of its own") {
  ecc_code_family().add<CodeOfPlugin>("test 1");
  const EccCode code = ecc_code_called("code-of-plugin");
  REQUIRE(code != EccCode::none);
  CHECK(ecc_code_names().back() == "code-of-plugin");
  CHECK(ecc_code_family().find("code-of-plugin")->origin == "test 1");
  const EccConfig config;
  CHECK(config.of(code).correctable == 200);
  EccEngines engines(config, 7);
  for (const std::uint32_t wrong : {0U, 20U, 100U, 190U, 200U, 300U}) {
    INFO(wrong << " wrong bits");
    const std::vector<std::uint32_t> errors(20'000, static_cast<std::uint32_t>(wrong));
    const auto verdict = engines.decode(code, {}, 20'000, errors);
    if (wrong == 0 || wrong >= 200) {
      CHECK(verdict.failed == (wrong == 0 ? 0 : 20'000));
    } else {
      check_share(verdict.failed, 20'000, wrong / 200.0);
    }
  }
  EccCodes codes;
  codes.add(code);
  engines.provide(codes);
  CHECK(engines.gates() == std::uint64_t{1000} * config.engines);
  // All engines of one code busy: another's are free.
  for (std::uint32_t i = 0; i < config.engines; ++i) static_cast<void>(engines.reserve(code, 100, 0));
  CHECK(engines.reserve(EccCode::bch, 1, 0).start == 0);
  CHECK(engines.reserve(EccCode::hard_ldpc, 1, 0).start == 0);
  CHECK(engines.reserve(code, 1, 0).start > 0);
}

TEST_CASE("frames of pages fail as often as distribution and waterfall together say") {
  Options o = failing(60);
  o.errors.distribution = "beta-binomial";
  o.part.blocks_per_plane = 60;
  o.rber = [](const ArrayOperation&) { return 0.0062; };
  o.ecc.codes[static_cast<std::size_t>(EccCode::quick_ldpc)].correctable = 64;
  o.ecc.codes[static_cast<std::size_t>(EccCode::quick_ldpc)].waterfall = 0.06;
  const auto oracle = errors_of(o);
  double expected = 0;
  for (std::uint32_t k = 1; k < 300; ++k) {
    const double share = oracle->tail(0.0062, k - 1) - oracle->tail(0.0062, k);
    expected += share * normal_distribution((k - 64.0) / (0.06 * 64));
  }
  Bench b(o);
  std::uint64_t failed = 0;
  std::uint64_t frames = 0;
  for (std::uint32_t die = 0; die < 6; ++die) {
    for (std::uint32_t block = 0; block < 60; ++block) {
      for (std::uint32_t page = 0; page < 12; ++page) {
        Operation program = make(b, FlashCommand::program, die, block, page, 2);
        execute(program);
        Operation read = make(b, FlashCommand::read, die, block, page, 2);
        read.op.code = EccCode::quick_ldpc;
        execute(read);
        failed += read.op.failed_frames;
        frames += 2 * k_frames;
      }
    }
  }
  CHECK(expected > 0.1);
  CHECK(expected < 0.9);
  check_share(failed, frames, expected);
}

TEST_CASE("without a reliability model nothing fails") {
  Options o = ecc_options("tlc");
  Bench b(o);
  Operation program = make(b, FlashCommand::program, 0, 0, 0);
  execute(program);
  b.array.age(1'000'000, 1e9, 100);
  Operation read = make(b, FlashCommand::read, 0, 0, 0);
  read.op.code = EccCode::bch;
  read.op.wrong_bits = read.op.worst_errors = read.op.failed_frames = 99;
  execute(read);
  CHECK(read.op.status == FlashStatus::ok);
  CHECK(read.op.wrong_bits + read.op.worst_errors + read.op.failed_frames == 0);
  CHECK(b.array.controller().ecc().counts(EccCode::bch).frames == k_frames);
}

TEST_CASE("of what decoders have to do a window has what is decoded in it") {
  EccConfig config;
  config.engines = 2;
  EccEngines engines(config, 1);
  EccCodes codes;
  codes.add(EccCode::bch);
  engines.provide(codes);
  const auto utilisation = [&engines](Picoseconds now) {
    return test::statistics_of(engines, now).at("bch_utilisation");
  };
  const Picoseconds work =
      engines.reserve(EccCode::bch, 100, 0).end - config.of(EccCode::bch).latency;  // the other rests
  CHECK(utilisation(work / 2) == Approx(0.5));
  engines.reset_statistics(work / 2);
  CHECK(utilisation(work) == Approx(0.5));
  CHECK(utilisation(work / 2 + 5 * work) == Approx(0.05));
}

TEST_CASE(
    "a page is decoded for as long as its frames and the pipeline take, and waits for those before it") {
  EccConfig config;
  config.engines = 1;
  for (CodeConfig& code : config.codes) code.latency = 7_us;
  EccEngines engines(config, 1);
  for (const std::uint32_t frames : {4, 8, 12}) {  // all at once
    engines.decode(EccCode::bch, {}, frames, {});
    engines.reserve(EccCode::bch, frames, 0);
  }
  const double frame =
      1e-6 * static_cast<double>(transfer_time(config.frame, config.of(EccCode::bch).throughput));
  const auto told = test::statistics_of(engines, Picoseconds{0});
  const std::string group = std::string(ecc_code_name(EccCode::bch)) + "/";
  CHECK(told.at(group + "pages") == 3);
  CHECK(told.at(group + "frames") == 24);
  CHECK(told.at(group + "mean_decode") == Approx(8 * frame + 7));
  CHECK(told.at(group + "mean_wait") == Approx((0 + 4 + 12) * frame / 3));
}

TEST_CASE("decoders cost the gates of the published designs") {
  EccConfig config;
  config.engines = 1;
  EccEngines one(config, 1);
  CHECK(one.gates() == 0);
  EccCodes codes;
  codes.add(EccCode::bch);
  one.provide(codes);
  CHECK(one.gates() == 159'000);
  codes.add(EccCode::soft_ldpc);
  one.provide(codes);
  CHECK(one.gates() == 159'000 + 470'000);
  EccCodes ldpc;
  ldpc.add(EccCode::quick_ldpc);
  ldpc.add(EccCode::ep_ldpc);
  one.provide(ldpc);
  CHECK(one.gates() == 470'000);
  config.engines = 3;
  EccEngines three(config, 1);
  three.provide(codes);
  CHECK(three.gates() == 3 * (159'000 + 470'000));
}

TEST_CASE("a probability of failure that is no number ends the run with the code's name") {
  check_refused([](const CodeConfig&, std::uint32_t) { return std::nan(""); }, "nan");
}

TEST_CASE("so does one below 0") {
  check_refused([](const CodeConfig&, std::uint32_t) { return -0.5; }, "-0.5");
}

TEST_CASE("so does one above 1") {
  check_refused([](const CodeConfig&, std::uint32_t) { return 1.5; }, "1.5");
}
