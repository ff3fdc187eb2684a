// Random operations on a small flash array, of which every end is checked, and the same in a
// process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "models/base/random.h"
#include "testbench/tests/flash/flash_fixture.h"

namespace tlmssd::test {

using namespace tlmssd::literals;

inline Options small(const std::string& scheduling) {
  Options o;
  o.part.cell = "mlc";
  o.part.planes = 2;
  o.part.pages_per_block = 8;
  o.part.blocks_per_plane = 6;
  o.part.read_latency = {30_us, 50_us};
  o.part.program_latency = {300_us, 900_us};
  o.part.max_suspends = 3;
  o.config.channels = 2;
  o.config.ways = 3;
  o.scheduling = scheduling;
  o.starvation_bound = 5_ms;
  o.stamps_per_unit = 2;
  return o;
}

/// The same with errors that every code can bear or not, and decoders that are short of time.
inline Options with_errors(Options o) {
  o.ecc.engines = 1;
  for (CodeConfig& code : o.ecc.codes) code.throughput = 150'000'000;
  o.rber = [](const ArrayOperation& stress) { return 0.006 + 1e-4 * stress.reads_per_page; };
  return o;
}

/// The same with a mode in which blocks have half as many pages.
inline Options with_modes(Options o) {
  o.part.slc_read_latency = 10_us;
  o.part.slc_program_latency = 80_us;
  o.part.slc_erase_latency = 1_ms;
  o.part.slc_endurance = 100'000;
  return o;
}

/// Reads, programs, erases and copybacks at random, never what firmware would not do. `codes`:
/// reads ask for codes at random. Where the part has an SLC mode, erases choose a mode at random.
class RandomLoad {
 public:
  RandomLoad(Bench& bench, std::uint32_t pages_per_program, std::uint64_t seed, bool codes)
      : bench_(bench),
        step_(pages_per_program),
        random_(seed, "random flash load"),
        random_codes_(seed, "random codes"),
        random_copies_(seed, "random copies"),
        random_modes_(seed, "random modes"),
        modes_(bench.array.part().has_slc_mode()),
        codes_(codes),
        blocks_(6 * 6) {}

  /// Returns a digest of every completion.
  std::uint64_t run(std::uint32_t operations) {
    left_ = operations;
    for (int i = 0; i < 60; ++i) free_.push_back(std::make_unique<Operation>());
    bench_.event_queue.soon([](void* self) { static_cast<RandomLoad*>(self)->arrive(); }, this);
    bench_.run();
    CHECK(ended_ == started_);
    CHECK(started_ >= operations);
    CHECK(bench_.array.controller().outstanding() == 0);
    CHECK(decoded_ > 0);
    CHECK(copied_ > 0);
    CHECK((folded_ > 0) == modes_);
    CHECK((failed_ > 0) == codes_);
    return digest_;
  }

 private:
  /// Where a page's content was written first.
  struct Origin {
    std::uint32_t epoch;
    std::uint32_t block;
    std::uint32_t page;
  };
  struct Block {
    std::uint32_t submitted = 0;  // pages on their way or programmed
    std::uint32_t programmed = 0;
    std::uint32_t busy = 0;  // reads, an erase or copies of its pages under way
    std::uint32_t epoch = 0;
    BlockMode mode = BlockMode::native;
    Origin origin[8];  // of the pages
    [[nodiscard]] std::uint32_t pages() const { return mode == BlockMode::slc ? 4 : 8; }
  };
  [[nodiscard]] std::uint32_t step(const Block& block) const {
    return block.mode == BlockMode::slc ? 1 : step_;
  }
  Block& block(const FlashOp& op) { return blocks_[index(op.die) * 6 + index(op.block)]; }
  Block& source(const FlashOp& op) { return blocks_[index(op.die) * 6 + index(op.source_block)]; }
  static Stamp content(const Origin& from, std::uint32_t plane, std::uint32_t k) {
    return static_cast<Stamp>(from.epoch * 7 + plane * 1000 + from.page * 100 + from.block +
                              (from.page % 3 == 0 ? k : 0));
  }

  void arrive() {
    for (auto n = 1 + random_.below(4); n > 0 && !free_.empty(); --n) start();
    if (left_ > 0) {
      bench_.event_queue.at(
          bench_.event_queue.now() + static_cast<Picoseconds>(random_.below(200'000'000)),
          [](void* self) { static_cast<RandomLoad*>(self)->arrive(); }, this);
    }
  }
  void start() {
    const auto die = static_cast<std::uint32_t>(random_.below(6));
    const auto b = static_cast<std::uint32_t>(random_.below(6));
    Block& target = blocks_[die * 6 + b];
    const auto what = random_.below(10);
    const bool full = target.submitted == target.pages();
    FlashCommand command = FlashCommand::read;
    if (what < 4 && !full) command = FlashCommand::program;
    if (what >= 8 && full && target.programmed == target.pages() && target.busy == 0)
      command = FlashCommand::erase;
    std::uint32_t from = 6;  // block that is copied from, if any
    if (command == FlashCommand::program && random_copies_.below(3) == 0) {
      from = static_cast<std::uint32_t>(random_copies_.below(6));
      if (blocks_[die * 6 + from].programmed < step(target)) return;
      command = FlashCommand::copyback;
    }
    const bool programs = command == FlashCommand::program || command == FlashCommand::copyback;
    if (programs && target.busy != 0) return;  // being erased or read: any order would do, keep it simple
    if (command == FlashCommand::read && (target.programmed == 0 || target.submitted == 0)) return;
    std::unique_ptr<Operation> o = std::move(free_.back());
    free_.pop_back();
    std::uint32_t page = 0;
    if (programs) page = target.submitted;
    if (command == FlashCommand::read) page = static_cast<std::uint32_t>(random_.below(target.programmed));
    *o = make(bench_, command, die, b, page, 2, programs ? step(target) : 1);
    o->op.mode = target.mode;
    o->op.purpose = static_cast<Purpose>(random_.below(k_purposes));
    if (command == FlashCommand::program) fill(*o, target);
    if (command == FlashCommand::copyback) copy(*o, blocks_[die * 6 + from], from, target);
    if (command == FlashCommand::read) {
      ++target.busy;
      o->op.first_slot = static_cast<std::uint32_t>(random_.below(4));
      o->op.slots = static_cast<std::uint32_t>(1 + random_.below(4 - o->op.first_slot));
      if (codes_) {
        o->op.code = static_cast<EccCode>(random_codes_.below(k_ecc_codes));
        o->op.retry_level = static_cast<std::uint8_t>(random_codes_.below(3));
      }
    }
    if (command == FlashCommand::erase) {
      ++target.busy;
      target.submitted = target.programmed = 0;
      ++target.epoch;
      if (modes_) target.mode = static_cast<BlockMode>(random_modes_.below(2));
      o->op.mode = target.mode;
    }
    o->then = [this](Operation& self) { end(self); };
    ++started_;
    if (left_ > 0) --left_;
    Operation& operation = *o;
    running_.push_back(std::move(o));
    submit(operation);
  }
  void fill(Operation& o, Block& target) {
    for (std::uint32_t p = 0; p < o.op.pages; ++p) {
      const std::uint32_t page = target.submitted++;
      target.origin[page] = {target.epoch, index(o.op.block), page};
    }
    for (std::uint32_t plane = 0; plane < 2; ++plane) {
      for (std::uint32_t p = 0; p < o.op.pages; ++p) {
        for (std::uint32_t k = 0; k < 4; ++k) {  // two units of two stamps
          o.stamps[(plane * o.op.pages + p) * 4 + k] = content(target.origin[index(o.op.page) + p], plane, k);
        }
      }
    }
  }
  void copy(Operation& o, Block& from, std::uint32_t block, Block& target) {
    const auto first = static_cast<std::uint32_t>(random_copies_.below(from.programmed - o.op.pages + 1));
    ++from.busy;
    o.op.source_block = BlockId{block};
    o.op.source_page = PageId{first};
    o.op.source_mode = from.mode;
    for (std::uint32_t p = 0; p < o.op.pages; ++p) target.origin[target.submitted++] = from.origin[first + p];
  }
  void end(Operation& o) {
    ++ended_;
    REQUIRE(o.ledger.mark() == o.done);
    REQUIRE(o.ledger.total() == o.latency());
    for (std::size_t c = 0; c < k_causes; ++c) {
      REQUIRE(o.ledger.spent(static_cast<Cause>(c)) >= 0);
      digest_ =
          (digest_ ^ static_cast<std::uint64_t>(o.ledger.spent(static_cast<Cause>(c)))) * 0x100000001B3U;
    }
    digest_ = (digest_ ^ static_cast<std::uint64_t>(o.done)) * 0x100000001B3U;
    Block& target = block(o.op);
    if (o.op.command == FlashCommand::program) target.programmed += o.op.pages;
    if (o.op.command == FlashCommand::copyback) {
      target.programmed += o.op.pages;
      --source(o.op).busy;
      ++copied_;
      if (o.op.mode != o.op.source_mode) ++folded_;
      REQUIRE(o.ledger.spent(Cause::transfer) == 0);
      for (std::uint32_t i = 0; i < 2U * o.op.pages * 4; ++i) {
        const Origin& from = target.origin[index(o.op.page) + i / 4 % o.op.pages];
        REQUIRE(o.stamps[i] == content(from, i / 4 / o.op.pages, i % 4));
      }
    }
    if (o.op.command == FlashCommand::erase) --target.busy;
    if (o.op.command == FlashCommand::read) {
      --target.busy;
      REQUIRE((o.ledger.spent(Cause::decode) > 0) == (o.op.code != EccCode::none));
      ++(o.op.status == FlashStatus::uncorrectable ? failed_ : decoded_);
      for (std::uint32_t i = 0; i < o.op.slots * 2; ++i) {
        const std::uint32_t k = o.op.first_slot * 2 + i;
        // What could not be decoded is spoiled, the rest is as it was written.
        const bool lost = o.verdict.failed_slots.has(i / 2);
        REQUIRE((o.stamps[i] != content(target.origin[index(o.op.page)], k / 4, k % 4)) == lost);
      }
    }
    for (auto& held : running_) {
      if (held.get() != &o) continue;
      // Given back later: we are being called from it.
      std::swap(held, running_.back());
      break;
    }
    bench_.event_queue.soon([](void* self) { static_cast<RandomLoad*>(self)->collect(); }, this);
    ended_list_.push_back(std::move(running_.back()));
    running_.pop_back();
  }
  void collect() {
    for (auto& o : ended_list_) free_.push_back(std::move(o));
    ended_list_.clear();
  }

  Bench& bench_;
  std::uint32_t step_;
  RandomStream random_;
  RandomStream random_codes_;
  RandomStream random_copies_;
  RandomStream random_modes_;
  bool modes_;
  bool codes_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<Operation>> free_;
  std::vector<std::unique_ptr<Operation>> running_;
  std::vector<std::unique_ptr<Operation>> ended_list_;
  std::uint32_t left_ = 0;
  std::uint32_t started_ = 0;
  std::uint32_t ended_ = 0;
  std::uint64_t decoded_ = 0;  // reads
  std::uint64_t failed_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t folded_ = 0;  // or the reverse
  std::uint64_t digest_ = 0xCBF29CE484222325U;
};

/// Runs the load in this process; returns a digest of every completion.
inline std::uint64_t load(const Options& o, std::uint64_t seed = 1, bool codes = false) {
  Bench b(o);
  const std::uint32_t step = o.part.program_unit == "page" ? 1 : o.part.program_unit == "block" ? 8 : 2;
  const std::uint64_t digest = RandomLoad(b, step, seed, codes).run(20'000);
  for (auto& checker : b.checkers) checker->finish();
  return digest;
}

/// What `work` returns, from a process of its own, because SystemC elaborates once per process.
template <class Work>
auto in_child(const Work& work) {
  decltype(work()) result{};
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    result = work();
    const bool written = write(ends[1], &result, sizeof result) == sizeof result;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  REQUIRE(read(ends[0], &result, sizeof result) == sizeof result);
  int status = 0;
  waitpid(child, &status, 0);
  close(ends[0]);
  return result;
}

inline std::uint64_t load_in_child(const Options& o, std::uint64_t seed, bool codes = false) {
  return in_child([&] { return load(o, seed, codes); });
}

}  // namespace tlmssd::test
