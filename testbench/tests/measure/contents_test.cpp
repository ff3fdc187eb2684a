// Data that the host writes more than once: how often, and that the scoreboard takes them for what
// they are.
#include "testbench/scoreboard/contents.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "models/base/content.h"
#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {
namespace {

ContentsConfig config_of(double duplicates, std::uint32_t pool, double theta, std::uint64_t seed = 1) {
  ContentsConfig config;
  config.duplicates = duplicates;
  config.pool = pool;
  config.theta = theta;
  config.seed = seed;
  return config;
}

/// A board of units of `per_unit` blocks, and what single commands do.
struct Board {
  explicit Board(const ContentsConfig& config, std::uint32_t blocks = 8, std::uint64_t units = 1000)
      : per_unit(blocks),
        contents(std::make_shared<Contents>(config)),
        board(units * blocks, blocks, contents) {}
  std::vector<Stamp> write(std::uint64_t unit) {
    std::vector<Stamp> data(per_unit);
    Scoreboard::Ticket ticket;
    board.begin_write(ticket, unit * per_unit, per_unit, data);
    board.end_write(ticket, true);
    return data;
  }
  bool right(std::uint64_t unit, const std::vector<Stamp>& data) {
    Scoreboard::Ticket ticket;
    board.begin_read(ticket, unit * per_unit, per_unit);
    return board.end_read(ticket, data, true) == nullptr;
  }
  /// The next unit from `from` on whose first write brings content `content`.
  [[nodiscard]] std::uint64_t unit_with(std::uint32_t content, std::uint64_t from = 0) const {
    while (contents->draw(from, 1) != content) ++from;
    return from;
  }
  std::uint32_t per_unit;
  std::shared_ptr<const Contents> contents;
  Scoreboard board;
};

}  // namespace

TEST_CASE("contents come as often as Zipf's law says") {
  const double theta = GENERATE(0.0, 0.8, 1.0, 1.5);
  const ContentsConfig config = config_of(0.6, 50, theta);
  const Contents contents(config);
  double harmonic = 0;
  for (int n = 1; n <= 50; ++n) harmonic += std::pow(n, -theta);
  constexpr std::uint32_t k_draws = 200'000;
  std::array<double, 51> count{};
  for (std::uint32_t n = 0; n < k_draws; ++n)
    ++count.at(contents.draw(n / 3, static_cast<std::uint16_t>(n % 3 + 1)));
  double chi = std::pow(count[0] - 0.4 * k_draws, 2) / (0.4 * k_draws);
  for (std::uint32_t n = 1; n <= 50; ++n) {
    const double expected = 0.6 * k_draws * std::pow(n, -theta) / harmonic;
    CHECK(contents.probability(n) * k_draws == Approx(expected));
    chi += std::pow(count.at(n) - expected, 2) / expected;
  }
  CHECK(chi < 50 + 5 * std::sqrt(100.0));  // five standard deviations of chi squared with 50 degrees
}

TEST_CASE("which content a write brings depends on the unit, the write and the seed") {
  const Contents one(config_of(1, 1000, 0));
  const Contents same(config_of(1, 1000, 0));
  const Contents other(config_of(1, 1000, 0, 2));
  int units = 0;
  int writes = 0;
  int seeds = 0;
  for (std::uint64_t unit = 0; unit < 1000; ++unit) {
    CHECK(one.draw(unit, 1) == same.draw(unit, 1));
    units += one.draw(unit, 1) == one.draw(unit + 1, 1) ? 1 : 0;
    writes += one.draw(unit, 1) == one.draw(unit, 2) ? 1 : 0;
    seeds += one.draw(unit, 1) == other.draw(unit, 1) ? 1 : 0;
  }
  for (const int equal : {units, writes, seeds}) CHECK(equal < 8);
}

TEST_CASE("stamps of contents collide neither with each other nor with data that there are once") {
  static_assert(shared_content(std::array{make_stamp(7, 3)}.data(), 1) == 0);
  std::set<Stamp> own;
  for (std::uint32_t sequence = 0; sequence < 61440; ++sequence) {
    const Stamp stamp = make_stamp(12345, static_cast<std::uint16_t>(sequence));
    REQUIRE(stamp > k_shared_contents);
    if (sequence < 32768) REQUIRE(own.insert(stamp).second);
  }
  for (std::uint32_t content = 1; content <= k_shared_contents; content += 13) {
    std::array<Stamp, 8> stamps{};
    for (std::uint32_t block = 0; block < 8; ++block) {
      stamps.at(block) = stamp_from(static_cast<Stamp>(content), block);
      REQUIRE(stamps.at(block) != k_zeros);
      if (block > 0) REQUIRE(stamps.at(block) == following_stamp(stamps.at(block - 1)));
    }
    REQUIRE(shared_content(stamps.data(), 8) == content);
    stamps.at(5) = following_stamp(stamps.at(5));
    REQUIRE(shared_content(stamps.data(), 8) == 0);  // part of it is other data
  }
}

TEST_CASE("a read answered with the same content of another unit is right, with any other it is wrong") {
  const std::uint32_t per_unit = GENERATE(1U, 8U);
  Board board(config_of(0.5, 20, 1), per_unit);
  const std::uint64_t unit = board.unit_with(1);
  const std::uint64_t same = board.unit_with(1, unit + 1);
  const std::uint64_t differs = board.unit_with(2);
  const std::uint64_t once = board.unit_with(0);
  board.write(unit);
  CHECK(board.right(unit, board.write(same)));
  CHECK_FALSE(board.right(unit, board.write(differs)));
  CHECK_FALSE(board.right(unit, board.write(once)));
  CHECK_FALSE(board.right(once, board.write(board.unit_with(0, once + 1))));
  CHECK_FALSE(board.right(unit, std::vector<Stamp>(per_unit, k_zeros)));
  CHECK(board.board.mismatches() == 4);
}

TEST_CASE("older content is wrong unless it is the same") {
  Board board(config_of(0.7, 3, 0), 4, 400);
  int same = 0;
  int stale = 0;
  for (std::uint64_t unit = 0; unit < 400; ++unit) {
    const std::vector<Stamp> before = board.write(unit);
    const std::vector<Stamp> after = board.write(unit);
    (before == after ? same : stale) += 1;
    CHECK(board.right(unit, before) == (before == after));
    CHECK(board.right(unit, after));
  }
  CHECK(same > 20);
  CHECK(stale > 200);
}

TEST_CASE("overlapping writes may bring the same, and a read of it tells neither apart") {
  // Unit by unit, two writes and a read at once; what the read returns is one of the three contents
  // or another.
  Board board(config_of(0.8, 2, 0), 2, 600);
  int ambiguous = 0;
  for (std::uint64_t unit = 0; unit < 600; ++unit) {
    const std::uint64_t lba = unit * 2;
    const std::vector<Stamp> before = board.write(unit);
    std::array<Scoreboard::Ticket, 3> tickets;
    std::vector<Stamp> one(2);
    std::vector<Stamp> two(2);
    board.board.begin_write(tickets[0], lba, 2, one);
    board.board.begin_write(tickets[1], lba, 2, two);
    board.board.begin_read(tickets[2], lba, 2);
    ambiguous += one == two || one == before || two == before ? 1 : 0;
    const std::vector<Stamp>& got = unit % 4 == 0 ? before : unit % 4 == 1 ? one : two;
    const bool possible = unit % 4 != 3;
    const std::vector<Stamp> wrong = {stamp_from(3, 0), stamp_from(3, 1)};  // no content of the pool
    CHECK((board.board.end_read(tickets[2], possible ? got : wrong, true) == nullptr) == possible);
    board.board.end_write(tickets[0], true);
    board.board.end_write(tickets[1], true);
    // Either may have won; what no write brought may not be there.
    CHECK(board.right(unit, unit % 2 == 0 ? one : two));
    CHECK_FALSE(board.right(unit, wrong));
    // Settled again by the next write.
    CHECK(board.right(unit, board.write(unit)));
  }
  CHECK(ambiguous > 300);
}

}  // namespace tlmssd
