// The scoreboard against a brute-force search for linearizations, and against devices that are
// wrong on purpose.
#include "testbench/scoreboard/scoreboard.h"

#include <array>
#include <catch2/catch.hpp>
#include <ctime>
#include <memory>
#include <set>
#include <vector>

#include "models/base/memory_archive.h"
#include "models/base/random.h"

namespace tlmssd {
namespace {

/// One operation on one block in a recorded history.
struct BlockOperation {
  bool read = false;
  Stamp value = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
  bool optional = false;  ///< failed: it has happened or it has not
};

/// Wing and Gong's search: is there an order of the operations, within their times, that explains
/// every read?
class Oracle {
 public:
  explicit Oracle(const std::vector<BlockOperation>& events) : events_(events) {}
  bool explains() { return search(0, 0); }

 private:
  bool search(std::uint32_t done, Stamp value) {
    if (!seen_.insert({done, value}).second) return false;
    std::uint64_t limit = ~std::uint64_t{0};
    bool left = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if ((done >> i & 1U) != 0) continue;
      const bool must = events_[i].end != ~std::uint64_t{0} && !events_[i].optional;
      left |= must;
      if (must) limit = std::min(limit, events_[i].end);
    }
    if (!left) return true;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const BlockOperation& event = events_[i];
      if ((done >> i & 1U) != 0 || event.begin > limit) continue;
      if (event.read && event.value != value) continue;
      if (event.optional && passed(done, event.end)) continue;
      if (search(done | 1U << i, event.read ? value : event.value)) return true;
    }
    return false;
  }
  /// Has anything been done that began after `end`?
  bool passed(std::uint32_t done, std::uint64_t end) const {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if ((done >> i & 1U) != 0 && events_[i].begin > end) return true;
    }
    return false;
  }
  const std::vector<BlockOperation>& events_;
  std::set<std::pair<std::uint32_t, Stamp>> seen_;
};

struct Flight {
  Scoreboard::Ticket ticket;
  enum { read, write, zeroes } kind = read;
  std::uint64_t lba = 0;
  std::vector<Stamp> data;
  std::vector<std::size_t> event;  ///< in the history of each of its blocks
};

struct Outcome {
  std::uint64_t reads = 0;
  std::uint64_t wrong = 0;
  std::uint64_t missed = 0;
  std::uint64_t false_alarms = 0;
};

/// Has a read returned what this write brought?
bool was_read(const Flight& write, const std::vector<std::vector<BlockOperation>>& history) {
  for (std::size_t i = 0; i < write.data.size(); ++i) {
    for (const BlockOperation& event : history[write.lba + i]) {
      if (event.read && !event.optional && event.value == write.data[i]) return true;
    }
  }
  return false;
}

/// Random overlapping commands on few blocks, random answers, and both judges. Of the writes that
/// fail, some have happened, some have not and it is unknown, and some are cancelled: those have
/// not.
void random_history(RandomStream& random, std::uint32_t per_unit, bool trims, bool failures,
                    Outcome& outcome) {
  const std::uint64_t blocks = 1 + random.below(3);
  Scoreboard board(blocks, per_unit);
  std::vector<std::vector<BlockOperation>> history(blocks);
  std::vector<std::set<Stamp>> written(blocks, {k_zeros});
  std::vector<std::unique_ptr<Flight>> flights;
  std::uint64_t now = 0;
  for (int started = 0; started < 10 || !flights.empty();) {
    ++now;
    if (started < 10 && flights.size() < 4 && random.below(2) == 0) {
      ++started;
      flights.push_back(std::make_unique<Flight>());
      Flight& f = *flights.back();
      f.lba = random.below(blocks);
      const std::uint64_t count = 1 + random.below(blocks - f.lba);
      const std::uint64_t pick = random.below(trims ? 5 : 4);
      f.kind = pick < 2 ? Flight::read : pick < 4 ? Flight::write : Flight::zeroes;
      f.data.assign(count, k_zeros);
      if (f.kind == Flight::read) board.begin_read(f.ticket, f.lba, count);
      if (f.kind == Flight::write) board.begin_write(f.ticket, f.lba, count, f.data);
      if (f.kind == Flight::zeroes) board.begin_zeroes(f.ticket, f.lba, count);
      for (std::uint64_t i = 0; i < count; ++i) {
        f.event.push_back(history[f.lba + i].size());
        history[f.lba + i].push_back({f.kind == Flight::read, f.data[i], now});
        written[f.lba + i].insert(f.data[i]);
      }
      // A pending read constrains nothing; it enters the history for good when it ends.
      if (f.kind == Flight::read) {
        for (std::uint64_t i = 0; i < count; ++i) history[f.lba + i].back().optional = true;
      }
      continue;
    }
    if (flights.empty()) continue;
    const std::size_t which = random.below(flights.size());
    Flight& f = *flights[which];
    const bool ok = !failures || random.below(4) != 0;
    if (!ok && f.kind == Flight::write && random.below(2) == 0 && !was_read(f, history)) {
      board.cancel(f.ticket);
      for (std::size_t i = 0; i < f.data.size(); ++i)
        history[f.lba + i][f.event[i]] = {true, 0, now, now, true};
      flights.erase(flights.begin() + static_cast<long>(which));
      continue;
    }
    if (f.kind == Flight::read) {
      bool possible = true;
      for (std::size_t i = 0; i < f.data.size(); ++i) {
        BlockOperation& event = history[f.lba + i][f.event[i]];
        event.end = now;
        if (!ok) continue;
        const auto& values = written[f.lba + i];
        event.value = *std::next(values.begin(), static_cast<long>(random.below(values.size())));
        event.optional = false;
        // Mostly right answers, so that histories live long: keep drawing.
        for (int tries = 0; tries < 4 && !Oracle(history[f.lba + i]).explains(); ++tries) {
          event.value = *std::next(values.begin(), static_cast<long>(random.below(values.size())));
        }
        f.data[i] = event.value;
        possible &= Oracle(history[f.lba + i]).explains();
      }
      const bool passed = board.end_read(f.ticket, f.data, ok) == nullptr;
      ++outcome.reads;
      outcome.wrong += possible ? 0 : 1;
      outcome.missed += passed && !possible ? 1 : 0;
      outcome.false_alarms += !passed && possible ? 1 : 0;
      if (!passed || !possible) return;
    } else {
      if (f.kind == Flight::write) board.end_write(f.ticket, ok);
      if (f.kind == Flight::zeroes) board.end_zeroes(f.ticket, ok);
      for (std::size_t i = 0; i < f.data.size(); ++i) {
        history[f.lba + i][f.event[i]].end = now;
        history[f.lba + i][f.event[i]].optional = !ok;
      }
    }
    flights.erase(flights.begin() + static_cast<long>(which));
  }
  // At rest each block can be read again, and again the judges must agree.
  CHECK(board.in_flight() == 0);
}

}  // namespace

TEST_CASE("scoreboard agrees with brute force on writes and reads", "[slow]") {
  RandomStream random(1, "scoreboard");
  const bool failures = GENERATE(false, true);
  for (const std::uint32_t per_unit : {1U, 2U, 3U}) {
    Outcome outcome;
    for (int i = 0; i < 8000; ++i) random_history(random, per_unit, false, failures, outcome);
    CHECK(outcome.false_alarms == 0);
    CHECK(outcome.missed == 0);
    CHECK(outcome.wrong > 300);
    CHECK(outcome.reads > 10000);
  }
}

TEST_CASE("scoreboard never blames a right read when trims overlap, and misses next to nothing", "[slow]") {
  RandomStream random(2, "scoreboard");
  const bool failures = GENERATE(false, true);
  for (const std::uint32_t per_unit : {1U, 2U, 3U}) {
    Outcome outcome;
    for (int i = 0; i < 8000; ++i) random_history(random, per_unit, true, failures, outcome);
    CHECK(outcome.false_alarms == 0);
    CHECK(outcome.missed * 50 < outcome.wrong);
    CHECK(outcome.wrong > 200);
  }
}

namespace {

/// A drive that keeps stamps, with a fault that strikes once.
class FaultyDrive {
 public:
  enum class Fault { none, lose_write, stale_read, swap_units, swap_blocks, tear_partial, ignore_trim };
  FaultyDrive(std::uint64_t blocks, std::uint32_t per_unit, Fault fault, std::uint64_t when)
      : now_(blocks), before_(blocks), per_unit_(per_unit), fault_(fault), when_(when) {}

  void write(std::uint64_t lba, const std::vector<Stamp>& data) {
    const bool strike = due(Fault::lose_write);
    for (std::size_t i = 0; i < data.size(); ++i) {
      before_[lba + i] = now_[lba + i];
      if (!strike) now_[lba + i] = data[i];
    }
    if (data.size() % per_unit_ != 0 && due(Fault::tear_partial)) {
      now_[lba + data.size() - 1] = before_[lba + data.size() - 1];
    }
    if (data.size() == 2 * per_unit_ && lba % per_unit_ == 0 && due(Fault::swap_units)) {
      for (std::uint32_t i = 0; i < per_unit_; ++i) std::swap(now_[lba + i], now_[lba + per_unit_ + i]);
    }
    if (data.size() > 1 && due(Fault::swap_blocks)) std::swap(now_[lba], now_[lba + 1]);
  }
  void trim(std::uint64_t lba, std::uint64_t count) {
    bool holds = false;
    for (std::uint64_t i = 0; i < count; ++i) holds |= now_[lba + i] != k_zeros;
    if (holds && due(Fault::ignore_trim)) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      before_[lba + i] = now_[lba + i];
      now_[lba + i] = k_zeros;
    }
  }
  void read(std::uint64_t lba, std::vector<Stamp>& data) {
    bool differs = false;
    for (std::size_t i = 0; i < data.size(); ++i) differs |= now_[lba + i] != before_[lba + i];
    const bool strike = differs && due(Fault::stale_read);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = strike ? before_[lba + i] : now_[lba + i];
  }
  [[nodiscard]] bool struck() const { return struck_; }

 private:
  bool due(Fault fault) {
    if (struck_ || fault != fault_ || ++chances_ < when_) return false;
    struck_ = true;
    return true;
  }
  std::vector<Stamp> now_;
  std::vector<Stamp> before_;
  std::uint32_t per_unit_;
  Fault fault_;
  std::uint64_t when_;
  std::uint64_t chances_ = 0;
  bool struck_ = false;
};

/// Random sequential commands, then everything is read once; the kinds of mismatches found.
std::vector<Mismatch> run_faulty(FaultyDrive::Fault fault, std::uint32_t per_unit, std::uint64_t seed,
                                 bool& struck) {
  static constexpr std::uint64_t k_blocks = 400;
  RandomStream random(seed, "faulty");
  Scoreboard board(k_blocks, per_unit);
  FaultyDrive drive(k_blocks, per_unit, fault, 20);
  std::vector<Mismatch> found;
  Scoreboard::Ticket ticket;
  std::vector<Stamp> data;
  const auto read = [&](std::uint64_t lba, std::uint64_t count) {
    data.assign(count, 0);
    board.begin_read(ticket, lba, count);
    drive.read(lba, data);
    if (const Mismatch* mismatch = board.end_read(ticket, data, true)) found.push_back(*mismatch);
  };
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t lba = random.below(k_blocks - 40);
    const std::uint64_t count = random.below(3) == 0 ? 2 * per_unit : 1 + random.below(30);
    const std::uint64_t start = random.below(2) == 0 ? lba / per_unit * per_unit : lba;
    const std::uint64_t what = random.below(10);
    if (what < 5) {
      data.assign(count, 0);
      board.begin_write(ticket, start, count, data);
      drive.write(start, data);
      board.end_write(ticket, true);
    } else if (what < 6) {
      board.begin_zeroes(ticket, start, count);
      drive.trim(start, count);
      board.end_zeroes(ticket, true);
    } else {
      read(start, count);
    }
    if (drive.struck()) {
      for (std::uint64_t at = 0; at + 4 <= k_blocks; at += 4) read(at, 4);
      break;
    }
  }
  struck = drive.struck();
  return found;
}

}  // namespace

TEST_CASE("a right drive passes") {
  for (const std::uint32_t per_unit : {1U, 3U, 8U}) {
    bool struck = false;
    CHECK(run_faulty(FaultyDrive::Fault::none, per_unit, 7, struck).empty());
  }
}

TEST_CASE("every fault is caught") {
  using Fault = FaultyDrive::Fault;
  const Fault fault = GENERATE(Fault::lose_write, Fault::stale_read, Fault::swap_units, Fault::swap_blocks,
                               Fault::tear_partial, Fault::ignore_trim);
  for (const std::uint32_t per_unit : {1U, 3U, 8U}) {
    if (fault == Fault::tear_partial && per_unit == 1) continue;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      bool struck = false;
      const auto found = run_faulty(fault, per_unit, seed, struck);
      INFO("fault " << static_cast<int>(fault) << " per unit " << per_unit << " seed " << seed);
      REQUIRE(struck);
      REQUIRE_FALSE(found.empty());
      if (fault == Fault::swap_units || fault == Fault::swap_blocks) {
        CHECK(found.front().kind == Mismatch::Kind::other_address);
      }
      if (fault == Fault::ignore_trim) CHECK(found.front().kind == Mismatch::Kind::not_trimmed);
    }
  }
}

TEST_CASE("units that were filled without being written are checked as others are") {
  Scoreboard board(1024, 8);
  CHECK(board.untouched());
  board.written_once(100);
  CHECK_FALSE(board.untouched());
  std::vector<Stamp> data(8);
  const auto reads = [&](std::uint64_t unit) {
    Scoreboard::Ticket ticket;
    board.begin_read(ticket, unit * 8, 8);
    return board.end_read(ticket, data, true) == nullptr;
  };
  board.content(99, 1, data);
  CHECK(reads(99));
  CHECK_FALSE(reads(98));
  CHECK_FALSE(reads(100));
  Scoreboard::Ticket write;
  board.begin_write(write, 64 * 8, 8, data);  // in the middle of its leaf
  board.end_write(write, true);
  CHECK(reads(64));
  board.content(64, 2, data);
  CHECK(reads(64));
  board.content(65, 1, data);
  CHECK(reads(65));
  std::fill(data.begin(), data.end(), k_zeros);
  CHECK_FALSE(reads(99));
  CHECK(reads(100));
}

TEST_CASE("mismatches say what was read instead") {
  Scoreboard board(64, 8);
  Scoreboard::Ticket ticket;
  std::vector<Stamp> first(8);
  std::vector<Stamp> second(8);
  std::vector<Stamp> third(8);
  for (auto* data : {&first, &second, &third}) {
    board.begin_write(ticket, 8, 8, *data);
    board.end_write(ticket, true);
  }
  const auto read = [&](const std::vector<Stamp>& data) {
    board.begin_read(ticket, 8, 8);
    const Mismatch* mismatch = board.end_read(ticket, data, true);
    REQUIRE(mismatch != nullptr);
    return *mismatch;
  };
  CHECK(read(second).kind == Mismatch::Kind::lost_write);
  CHECK(read(first).kind == Mismatch::Kind::stale);
  CHECK(read(first).writes_old == 2);
  CHECK(read(std::vector<Stamp>(8, k_zeros)).kind == Mismatch::Kind::zeros);
  CHECK(read(first).text() ==
        "read of 8 blocks at LBA 8 is wrong at LBA 8: stale content, 2 writes old (stamp " +
            std::to_string(first[0]) + ", expected " + std::to_string(third[0]) + ")");
  CHECK(board.mismatches() == 5);
  // Content from before a trim is told from content after it: the sequence goes on.
  board.begin_zeroes(ticket, 8, 8);
  board.end_zeroes(ticket, true);
  CHECK(read(third).kind == Mismatch::Kind::not_trimmed);
  std::vector<Stamp> fourth(8);
  board.begin_write(ticket, 8, 8, fourth);
  board.end_write(ticket, true);
  CHECK(fourth != first);
  CHECK(read(first).writes_old == 3);
}

TEST_CASE("sequence numbers wrap") {
  Scoreboard board(8, 8);
  Scoreboard::Ticket ticket;
  std::vector<Stamp> data(8);
  std::vector<Stamp> old(8);
  for (int i = 0; i < 70000; ++i) {
    old = data;
    board.begin_write(ticket, 0, 8, data);
    board.end_write(ticket, true);
    REQUIRE(data[0] != k_zeros);
    REQUIRE(data != old);
    board.begin_read(ticket, 0, 8);
    REQUIRE(board.end_read(ticket, data, true) == nullptr);
  }
  board.begin_read(ticket, 0, 8);
  CHECK(board.end_read(ticket, old, true) != nullptr);
  CHECK(board.side_units() == 0);
}

TEST_CASE("whole-unit content costs two bytes a unit, and partial writes that heal cost nothing") {
  Scoreboard board(std::uint64_t{1} << 20U, 8);
  Scoreboard::Ticket ticket;
  std::vector<Stamp> data(256);
  for (std::uint64_t lba = 0; lba < board.blocks(); lba += 256) {
    board.begin_write(ticket, lba, 256, data);
    board.end_write(ticket, true);
  }
  const double units = static_cast<double>(board.blocks()) / 8;
  CHECK(static_cast<double>(board.memory_bytes()) / units < 2.1);
  std::vector<Stamp> one(1);
  board.begin_write(ticket, 77, 1, one);
  board.end_write(ticket, true);
  CHECK(board.side_units() == 1);
  std::vector<Stamp> unit(8);
  board.begin_write(ticket, 72, 8, unit);
  board.end_write(ticket, true);
  CHECK(board.side_units() == 0);
}

TEST_CASE("a trim of a whole huge drive is quick and exact, also with commands in flight") {
  Scoreboard board(std::uint64_t{1} << 30U, 1);
  Scoreboard::Ticket trim;
  Scoreboard::Ticket write;
  Scoreboard::Ticket read;
  std::vector<Stamp> old(4);
  board.begin_write(write, 1000, 4, old);
  board.end_write(write, true);
  std::vector<Stamp> data(4);
  board.begin_write(write, 1002, 4, data);
  board.begin_zeroes(trim, 0, board.blocks());
  board.begin_read(read, 1000, 4);
  CHECK(board.end_read(read, std::vector<Stamp>{old[0], k_zeros, old[2], data[1]}, true) == nullptr);
  board.end_zeroes(trim, true);
  board.end_write(write, true);
  board.begin_read(read, 1000, 4);
  CHECK(board.end_read(read, std::vector<Stamp>{k_zeros, k_zeros, data[0], k_zeros}, true) == nullptr);
  board.begin_read(read, 1000, 4);
  CHECK(board.end_read(read, std::vector<Stamp>{k_zeros, k_zeros, k_zeros, k_zeros}, true) != nullptr);
}

TEST_CASE("a scoreboard survives a snapshot, contended units included") {
  RandomStream random(3, "snapshot");
  Scoreboard board(1000, 8);
  std::vector<Stamp> content(1000, k_zeros);
  Scoreboard::Ticket ticket;
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t lba = random.below(900);
    std::vector<Stamp> data(1 + random.below(40));
    board.begin_write(ticket, lba, data.size(), data);
    board.end_write(ticket, true);
    std::copy(data.begin(), data.end(), content.begin() + static_cast<long>(lba));
  }
  std::vector<Stamp> failed(4);
  board.begin_write(ticket, 950, 4, failed);
  board.end_write(ticket, false);
  MemoryArchive saved;
  board.archive(saved);
  MemoryArchive load(saved.content());
  Scoreboard other(1000, 8);
  other.archive(load);
  MemoryArchive again;
  other.archive(again);
  CHECK(again.content() == saved.content());
  other.begin_read(ticket, 0, 950);
  CHECK(other.end_read(ticket, std::span(content).first(950), true) == nullptr);
  other.begin_read(ticket, 950, 4);
  CHECK(other.end_read(ticket, std::vector<Stamp>{failed[0], failed[1], content[952], content[953]}, true) ==
        nullptr);
  other.begin_read(ticket, 950, 4);
  CHECK(other.end_read(ticket, failed, true) !=
        nullptr);  // blocks 952 and 953 have been seen to hold the old content
  Scoreboard wrong_size(1001, 8);
  MemoryArchive reload(saved.content());
  CHECK_THROWS_AS(wrong_size.archive(reload), ArchiveError);
}

TEST_CASE("misuse is refused") {
  Scoreboard board(10, 1);
  Scoreboard::Ticket ticket;
  CHECK_THROWS_AS(board.begin_read(ticket, 8, 3), std::out_of_range);
  CHECK_THROWS_AS(board.begin_read(ticket, ~std::uint64_t{0}, 2), std::out_of_range);
  CHECK_THROWS_AS(board.end_write(ticket, true), std::logic_error);
  board.begin_read(ticket, 0, 1);
  CHECK_THROWS_AS(board.begin_read(ticket, 0, 1), std::logic_error);
  CHECK_THROWS_AS(board.end_write(ticket, true), std::logic_error);
  CHECK(board.end_read(ticket, std::vector<Stamp>{0}, true) == nullptr);
  board.begin_zeroes(ticket, 3, 0);
  board.end_zeroes(ticket, true);
}

TEST_CASE("scoreboard speed", "[.speed]") {
  Scoreboard board(std::uint64_t{1} << 16U, 1);
  static constexpr int k_depth = 256;
  std::vector<std::unique_ptr<Scoreboard::Ticket>> tickets;
  for (int i = 0; i < k_depth; ++i) tickets.push_back(std::make_unique<Scoreboard::Ticket>());
  std::vector<std::array<Stamp, 1>> data(k_depth);
  RandomStream random(1, "speed");
  static constexpr int k_rounds = 20000;
  double spent[2]{};
  bool right = true;
  for (int round = 0; round < k_rounds; ++round) {
    const auto lba = [&](int i) { return static_cast<std::uint64_t>(round * 7919 + i * 1021) & 0xFFFFU; };
    const auto start = std::clock();
    for (int i = 0; i < k_depth; ++i) board.begin_write(*tickets[i], lba(i), 1, data[i]);
    for (int i = 0; i < k_depth; ++i) board.end_write(*tickets[i], true);
    const auto middle = std::clock();
    for (int i = 0; i < k_depth; ++i) board.begin_read(*tickets[i], lba(i), 1);
    for (int i = 0; i < k_depth; ++i) right &= board.end_read(*tickets[i], data[i], true) == nullptr;
    spent[0] += static_cast<double>(middle - start) * 1e9 / CLOCKS_PER_SEC;
    spent[1] += static_cast<double>(std::clock() - middle) * 1e9 / CLOCKS_PER_SEC;
  }
  CHECK(right);
  for (const int reads : {0, 1}) {
    WARN((reads != 0 ? "read " : "write ") << spent[reads] / k_rounds / k_depth << " ns per 4 KiB command");
  }
}

}  // namespace tlmssd
