// Hardware for firmware tests: NAND in plain arrays that refuses what silicon refuses, SLC mode
// included, and fixed latencies on an event queue.
//
// Untimed: everything is done when the call returns. Timed: operations take effect when they
// complete, which with `shuffle` happens in a seeded random order as far as silicon allows it
// (programs of a block stay in order). Leaves out buses and queues.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/base/drive_shape.h"
#include "firmware/base/hardware.h"
#include "models/base/archive.h"
#include "models/base/random.h"
#include "models/base/read_verdict.h"

namespace tlmssd::firmware::testing {

struct FakeOptions {
  bool timed = false;
  bool shuffle = false;  ///< random latencies
  std::uint64_t seed = 1;
  Picoseconds read_time = 50'000'000;
  Picoseconds program_time = 500'000'000;
  Picoseconds erase_time = 3'000'000'000;
  Picoseconds stage_time = 100'000;
  Picoseconds memory_time = 50'000;
  std::uint32_t endurance = 0;  ///< erases after which a block's erase fails; 0: never
  double slc_wear = 1;          ///< erases that one into SLC mode counts for
  std::uint32_t slc_erases =
      0;                    ///< into SLC mode after which one fails, more with the block's number; 0: never
  std::uint8_t senses = 1;  ///< that a read takes, whatever its code
  double program_failure = 0;                   ///< probability that a program fails
  std::uint64_t fail_from = ~std::uint64_t{0};  ///< from this program on
};

[[noreturn]] inline void illegal(const std::string& what, const FlashOp& op) {
  throw std::runtime_error("NAND: " + what + " at die " + std::to_string(index(op.die)) + " plane " +
                           std::to_string(index(op.plane)) + " block " + std::to_string(index(op.block)) +
                           " page " + std::to_string(index(op.page)));
}

class FakeFlash final : public FlashPort {
 public:
  FakeFlash(EventQueue& event_queue, const DriveShape& shape, const FakeOptions& how)
      : options(how),
        event_queue_(event_queue),
        shape_(shape),
        units_per_page_(shape.geometry.page_bytes / static_cast<std::uint32_t>(shape.mapping_page_bytes)),
        sectors_(static_cast<std::uint32_t>(shape.mapping_page_bytes) / shape.lba_bytes),
        random_(how.seed, "fake flash") {
    const Geometry& g = shape.geometry;
    const std::size_t blocks = std::size_t{g.dies()} * g.planes * g.blocks;
    blocks_.resize(blocks);
    spare_.resize(blocks * g.pages * units_per_page_, k_no_unit);
    stamps_.resize(spare_.size() * sectors_, 0xDEAD);
    pending_.resize(g.dies(), 0);
    writing_.resize(g.dies(), 0);
  }

  bool submit(FlashTransaction& op) override {
    check_shape(op);
    if (!options.timed) {
      perform(op);
      return true;
    }
    if (++pending_[index(op.die)] == 1 && watcher_ != nullptr) watcher_->die_busy(op.die);
    if (op.command != FlashCommand::read) ++writing_[index(op.die)];
    auto& flying = take(op);
    const Picoseconds time = op.command == FlashCommand::read    ? options.read_time
                             : op.command != FlashCommand::erase ? options.program_time
                                                                 : options.erase_time;
    flying.submitted = event_queue_.now();
    flying.end = event_queue_.now() +
                 (options.shuffle ? static_cast<Picoseconds>(time * (0.2 + 3 * random_.uniform())) : time);
    for (std::uint32_t p = 0; p < op.planes; ++p) {
      Block& block = block_of(op, p);
      if (op.command == FlashCommand::read) check_readable(op, p);
      if (op.command == FlashCommand::program ||
          op.command ==
              FlashCommand::copyback) {  // programs of one block end in the order in which they were given
        flying.end = std::max(flying.end, block.last_end + 1);
        block.last_end = flying.end;
        ++block.programs;
      }
      if (op.command == FlashCommand::erase && block.programs > 0)
        illegal("erase while a program is under way", op);
    }
    event_queue_.at(flying.end, &FakeFlash::end, &flying);
    return false;
  }
  [[nodiscard]] std::uint32_t pending(DieId die) const override { return pending_[index(die)]; }
  [[nodiscard]] std::uint32_t writing(DieId die) const override { return writing_[index(die)]; }
  void watch_dies(DieWatcher& watcher) override { watcher_ = &watcher; }

  [[nodiscard]] std::uint32_t erases(std::uint32_t die, std::uint32_t plane, std::uint32_t block) const {
    return blocks_[(std::size_t{die} * shape_.geometry.planes + plane) * shape_.geometry.blocks + block]
        .erases;
  }
  /// Blocks in SLC mode, of one plane each.
  [[nodiscard]] std::uint64_t slc_blocks() const {
    return static_cast<std::uint64_t>(std::count_if(blocks_.begin(), blocks_.end(),
                                                    [](const Block& b) { return b.mode == BlockMode::slc; }));
  }
  void archive(Archive& a) {
    a(blocks_);
    a(spare_);
    a(stamps_);
    a(random_);
  }

  FakeOptions options;
  std::uint64_t reads = 0;
  std::uint64_t programs = 0;
  std::uint64_t slc_programs = 0;  ///< of these, in SLC mode
  std::uint64_t copybacks = 0;     ///< of these
  std::uint64_t erased = 0;
  /// What was done for each purpose.
  struct Work {
    std::uint64_t reads = 0;
    std::uint64_t programs = 0;
    // of programs that did not fail
    std::uint64_t units = 0;      ///< that hold a mapping page
    std::uint64_t slc_units = 0;  ///< of these, in SLC mode
    std::uint64_t map_units = 0;  ///< of these, map pages or what else lies behind the logical units
    std::uint64_t copied = 0;     ///< slots filled by copybacks
  };
  std::array<Work, k_purposes> work;
  std::array<std::uint64_t, 2> empty_erases{};  ///< of blocks with nothing in them, by the mode they got
  std::function<void(const FlashOp&)> watch;    ///< told of every operation as it is performed
  /// Whether a read cannot be decoded: its data come out spoilt, all but the spare area. Asked once
  /// that has been read.
  std::function<bool(const FlashOp&)> fails;
  std::function<std::uint64_t(const FlashOp&)> failed_slots;   ///< of a read that fails; none: all of them
  std::function<std::uint32_t(const FlashOp&)> failed_frames;  ///< of a read that fails; none: one
  std::function<std::uint32_t(const FlashOp&)> wrong_bits;     ///< in the worst frame of a read; null: none

 private:
  struct Block {
    std::uint32_t next_page = 0;
    std::uint32_t erases = 0;
    std::uint32_t slc_erases = 0;  ///< of these, into SLC mode
    std::uint16_t programs = 0;    ///< under way
    BlockMode mode = BlockMode::native;
    std::uint8_t unused = 0;
    Picoseconds last_end = 0;
  };
  struct Flying {
    FakeFlash* flash = nullptr;
    FlashOp* op = nullptr;
    Picoseconds submitted = 0;
    Picoseconds end = 0;
    std::uint32_t generation = 0;
    std::uint32_t source_generation = 0;  ///< copybacks
  };
  Block& block_of(const FlashOp& op, std::uint32_t p) {
    return blocks_[(std::size_t{index(op.die)} * shape_.geometry.planes + index(op.plane) + p) *
                       shape_.geometry.blocks +
                   index(op.block)];
  }
  Block& source_of(const FlashOp& op) {
    FlashOp source = op;
    if (op.command == FlashCommand::copyback) source.block = op.source_block;
    return block_of(source, 0);
  }
  std::size_t first_unit(const FlashOp& op, std::uint32_t p, std::uint32_t page) {
    const auto block = static_cast<std::size_t>(&block_of(op, p) - blocks_.data());
    return (block * shape_.geometry.pages + page) * units_per_page_;
  }
  Flying& take(FlashOp& op) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Flying>());
      free_.push_back(all_.back().get());
    }
    Flying& flying = *free_.back();
    free_.pop_back();
    flying = {this, &op, 0, 0, block_of(op, 0).erases, source_of(op).erases};
    return flying;
  }
  static void end(void* self) {
    Flying flying = *static_cast<Flying*>(self);
    FakeFlash& flash = *flying.flash;
    flash.free_.push_back(static_cast<Flying*>(self));
    FlashOp& op = *flying.op;
    if (--flash.pending_[index(op.die)] == 0 && flash.watcher_ != nullptr) flash.watcher_->die_idle(op.die);
    if (op.command != FlashCommand::read) --flash.writing_[index(op.die)];
    if (op.command == FlashCommand::program || op.command == FlashCommand::copyback) {
      for (std::uint32_t p = 0; p < op.planes; ++p) --flash.block_of(op, p).programs;
    }
    if (op.command != FlashCommand::erase && flash.block_of(op, 0).erases != flying.generation) {
      illegal("erased under a read or program", op);
    }
    if (op.command == FlashCommand::copyback && flash.source_of(op).erases != flying.source_generation)
      illegal("erased under a copyback", op);
    flash.perform(op);
    if (op.ledger != nullptr) {
      op.ledger->charge(Cause::flash_command, flying.submitted);
      op.ledger->charge(op.command == FlashCommand::read ? Cause::sense : Cause::program, flying.end);
    }
    op.on_done(op.on_done_self);
  }
  void check_shape(const FlashOp& op) const {
    const Geometry& g = shape_.geometry;
    if (index(op.die) >= g.dies() || index(op.plane) + op.planes > g.planes || op.planes == 0 ||
        index(op.block) >= g.blocks) {
      illegal("address beyond the array", op);
    }
    if ((op.mode == BlockMode::slc || op.source_mode == BlockMode::slc) && shape_.slc_pages == 0)
      illegal("SLC mode on a part that has none", op);
    if (op.command == FlashCommand::read &&
        (op.pages != 1 || index(op.page) >= pages_in(op.mode) || op.slots == 0 ||
         op.first_slot >= units_per_page_ ||
         (op.first_slot + op.slots + units_per_page_ - 1) / units_per_page_ != op.planes)) {
      illegal("read of impossible slots", op);
    }
    if ((op.command == FlashCommand::program || op.command == FlashCommand::copyback) &&
        (op.pages != (op.mode == BlockMode::slc ? 1 : shape_.program_unit) ||
         index(op.page) % op.pages != 0 || index(op.page) + op.pages > pages_in(op.mode) ||
         op.first_slot != 0 || op.slots != op.planes * op.pages * units_per_page_)) {
      illegal("program of less or more than a program unit", op);
    }
    if (op.planes > 1 && !shape_.multi_plane_allowed) illegal("multi-plane operation", op);
  }
  [[nodiscard]] std::uint32_t pages_in(BlockMode mode) const {
    return mode == BlockMode::slc ? shape_.slc_pages : shape_.geometry.pages;
  }
  void check_mode(const FlashOp& op, BlockMode mode, std::uint32_t p) {
    if (block_of(op, p).mode != mode)
      illegal(std::string(name_of(mode)) + " asked of a block that is in the other", op);
  }
  void check_readable(const FlashOp& op, std::uint32_t p) {
    check_mode(op, op.mode, p);
    if (index(op.page) >= block_of(op, p).next_page) illegal("read of a page that is not programmed", op);
  }
  void perform(FlashOp& op) {
    op.status = FlashStatus::ok;
    if (watch) watch(op);
    switch (op.command) {
      case FlashCommand::read:
        read(op);
        break;
      case FlashCommand::program:
        program(op);
        break;
      case FlashCommand::erase:
        erase(op);
        break;
      case FlashCommand::copyback:
        copyback(op);
        break;
    }
  }
  void read(FlashOp& op) {
    ++reads;
    ++work_for(op).reads;
    op.senses = options.senses;
    for (FlashOp* plane = &op; plane != nullptr; plane = plane->next_plane) read_planes(*plane);
  }
  void read_planes(FlashOp& op) {
    for (std::uint32_t p = 0; p < op.planes; ++p) check_readable(op, p);
    for (std::uint32_t n = 0; n < op.slots; ++n) {
      const std::uint32_t slot = op.first_slot + n;
      const std::size_t unit =
          first_unit(op, slot / units_per_page_, index(op.page)) + slot % units_per_page_;
      op.spare[n] = spare_[unit];
      std::copy_n(&stamps_[unit * sectors_], sectors_, op.stamps + std::size_t{n} * sectors_);
    }
    if (op.code == EccCode::none) return;
    op.worst_errors = op.wrong_bits = wrong_bits ? wrong_bits(op) : 0;
    op.failed_frames = fails && fails(op) ? 1 : 0;
    if (op.failed_frames != 0) {
      if (failed_frames) op.failed_frames = failed_frames(op);
      op.status = FlashStatus::uncorrectable;
      if (op.verdict != nullptr) op.verdict->failed_slots.clear();
      const std::uint64_t failed = failed_slots ? failed_slots(op) : 0;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        const bool lost = failed != 0 && (failed >> n & 1U) != 0;
        if (lost && op.verdict != nullptr) op.verdict->failed_slots.add(n);
        if (failed == 0 || lost) std::fill_n(op.stamps + std::size_t{n} * sectors_, sectors_, Stamp{0xBAD});
      }
    }
    if (op.verdict != nullptr) judge_planes(op);
  }
  /// Planes have the frames that failed by the slots that failed, and one at least where some did;
  /// each has as many wrong bits as by itself.
  void judge_planes(FlashOp& op) {
    const SlotSet& failed = op.verdict->failed_slots;
    const auto lost = [&](std::uint32_t first, std::uint32_t end) {
      std::uint32_t sum = 0;
      for (std::uint32_t n = first; n < end; ++n)
        sum += op.status == FlashStatus::uncorrectable && (failed.empty() || failed.has(n)) ? 1 : 0;
      return sum;
    };
    std::uint32_t frames = op.failed_frames;
    op.wrong_bits = op.worst_errors = op.failed_frames = 0;
    op.verdict->planes.clear();
    for (std::uint32_t p = 0, first = 0; p < op.planes; ++p) {
      const std::uint32_t slots =
          std::min(op.slots - first, units_per_page_ - (op.first_slot + first) % units_per_page_);
      FlashOp alone = op;
      alone.plane = static_cast<PlaneId>(index(op.plane) + p);
      alone.planes = 1;
      alone.first_slot = (op.first_slot + first) % units_per_page_;
      alone.slots = slots;
      alone.spare = op.spare + first;
      PlaneVerdict& verdict = op.verdict->planes.emplace_back();
      verdict.worst = verdict.wrong = wrong_bits ? wrong_bits(alone) : 0;
      const std::uint32_t left = lost(first, op.slots);
      const std::uint32_t of_plane = lost(first, first + slots);
      if (of_plane > 0) verdict.failed = std::max(frames * of_plane / left, 1U);
      frames -= std::min(frames, verdict.failed);
      op.failed_frames += verdict.failed;
      op.wrong_bits += verdict.wrong;
      op.worst_errors = std::max(op.worst_errors, verdict.worst);
      first += slots;
    }
  }
  void program(FlashOp& op) {
    ++programs;
    if (op.mode == BlockMode::slc) ++slc_programs;
    std::uint32_t slot = 0;
    for (std::uint32_t p = 0; p < op.planes; ++p) {
      Block& block = block_of(op, p);
      check_mode(op, op.mode, p);
      if (block.next_page != index(op.page))
        illegal("program out of order, next page is " + std::to_string(block.next_page), op);
      block.next_page += op.pages;
      for (std::uint32_t page = 0; page < op.pages; ++page) {
        for (std::uint32_t u = 0; u < units_per_page_; ++u, ++slot) {
          const std::size_t unit = first_unit(op, p, index(op.page) + page) + u;
          spare_[unit] = op.spare[slot];
          std::copy_n(op.stamps + std::size_t{slot} * sectors_, sectors_, &stamps_[unit * sectors_]);
        }
      }
    }
    if (programs >= options.fail_from && random_.uniform() < options.program_failure)
      op.status = FlashStatus::program_failed;
    count(op);
  }
  Work& work_for(const FlashOp& op) { return work.at(static_cast<std::size_t>(op.purpose)); }
  void count(const FlashOp& op) {
    Work& of = work_for(op);
    ++of.programs;
    if (op.status != FlashStatus::ok) return;
    const std::uint64_t logical_units = (shape_.logical_blocks + sectors_ - 1) / sectors_;
    for (std::uint32_t slot = 0; slot < op.slots; ++slot) {
      if (op.spare[slot] == k_no_unit) continue;
      ++of.units;
      if (op.mode == BlockMode::slc) ++of.slc_units;
      if (op.spare[slot] >= logical_units) ++of.map_units;
    }
    if (op.command == FlashCommand::copyback) of.copied += op.slots;
  }
  /// What lies at the source goes out through spare and stamps, and from there to the destination.
  void copyback(FlashOp& op) {
    FlashOp source = op;
    source.block = op.source_block;
    if (index(op.source_page) + op.pages > pages_in(op.source_mode))
      illegal("copyback beyond its source", op);
    for (std::uint32_t p = 0; p < op.planes; ++p) {
      check_mode(source, op.source_mode, p);
      if (index(op.source_page) + op.pages > block_of(source, p).next_page)
        illegal("copyback of a page that is not programmed", op);
      for (std::uint32_t page = 0; page < op.pages; ++page) {
        for (std::uint32_t u = 0; u < units_per_page_; ++u) {
          const std::uint32_t slot = (p * op.pages + page) * units_per_page_ + u;
          const std::size_t unit = first_unit(source, p, index(op.source_page) + page) + u;
          op.spare[slot] = spare_[unit];
          std::copy_n(&stamps_[unit * sectors_], sectors_, op.stamps + std::size_t{slot} * sectors_);
        }
      }
    }
    ++copybacks;
    program(op);
  }
  void erase(FlashOp& op) {
    ++erased;
    if (block_of(op, 0).next_page == 0) ++empty_erases.at(static_cast<std::size_t>(op.mode));
    for (std::uint32_t p = 0; p < op.planes; ++p) {
      Block& block = block_of(op, p);
      const double worn = block.erases - block.slc_erases + block.slc_erases * options.slc_wear;
      if (options.endurance > 0 && worn > options.endurance - 0.5) op.status = FlashStatus::erase_failed;
      if (options.slc_erases > 0 && op.mode == BlockMode::slc &&
          block.slc_erases >= options.slc_erases * (1 + index(op.block)))
        op.status = FlashStatus::erase_failed;
      block.next_page = 0;
      block.mode = op.mode;
      ++block.erases;
      if (op.mode == BlockMode::slc) ++block.slc_erases;
    }
  }

  EventQueue& event_queue_;
  DriveShape shape_;
  std::uint32_t units_per_page_;
  std::uint32_t sectors_;
  RandomStream random_;
  std::vector<Block> blocks_;
  std::vector<Lpn> spare_;
  std::vector<Stamp> stamps_;
  DieWatcher* watcher_ = nullptr;
  std::vector<std::uint32_t> pending_;
  std::vector<std::uint32_t> writing_;
  std::vector<std::unique_ptr<Flying>> all_;
  std::vector<Flying*> free_;
};

/// One core and one memory that serve in order; the memory now and then answers late, as a queueing
/// one would.
class FakeCpu final : public CpuPort {
 public:
  FakeCpu(EventQueue& event_queue, const FakeOptions& options)
      : event_queue_(event_queue), options_(options) {}
  Run run(Stage /*stage*/, std::uint32_t times) override {
    const Picoseconds now = event_queue_.now();
    if (!options_.timed) return {now, now};
    const Picoseconds start = std::max(now, free_);
    free_ = start + options_.stage_time * times;
    return {start, free_};
  }
  [[nodiscard]] bool same_cores(Stage /*first*/, Stage /*second*/) const override { return true; }
  Run run(Stage first, Stage second, std::uint32_t times) override {
    const Run begun = run(first, 1);
    return {begun.start, run(second, times).end};
  }

  void archive(Archive& a) { a(free_); }

 private:
  EventQueue& event_queue_;
  const FakeOptions& options_;
  Picoseconds free_ = 0;
};

class FakeMemory final : public MemoryPort {
 public:
  FakeMemory(EventQueue& event_queue, const FakeOptions& options)
      : event_queue_(event_queue), options_(options), random_(options.seed, "fake memory") {}
  Picoseconds access(MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                     Completion& done) override {
    std::uint64_t& top = memory == MemoryKind::dram  ? highest
                         : memory == MemoryKind::scm ? scm_highest
                                                     : host_highest;
    top = std::max(top, address + bytes);
    if (memory == MemoryKind::host) {
      ++(write ? host_writes : host_reads);
      (write ? host_bytes_written : host_bytes_read) += bytes;
    }
    if (memory == MemoryKind::scm && write) scm_written += bytes;
    if (!options_.timed) return event_queue_.now();
    free_ = std::max(event_queue_.now(), free_) + options_.memory_time;
    if (write || random_.below(4) != 0) return free_;
    event_queue_.at(
        free_, [](void* late) { static_cast<Completion*>(late)->fire(); }, &done);
    return k_never;
  }
  void archive(Archive& a) {
    a(free_);
    a(random_);
  }
  std::uint64_t highest = 0;  ///< end of the DRAM used
  std::uint64_t scm_highest = 0;
  Bytes scm_written = 0;
  std::uint64_t host_highest = 0;
  std::uint64_t host_reads = 0;
  std::uint64_t host_writes = 0;
  Bytes host_bytes_read = 0;
  Bytes host_bytes_written = 0;

 private:
  EventQueue& event_queue_;
  const FakeOptions& options_;
  RandomStream random_;
  Picoseconds free_ = 0;
};

class FakeHost final : public HostPort {
 public:
  void complete(HostCommand& command) override {
    if (on_complete) on_complete(command);
  }
  [[nodiscard]] std::uint32_t outstanding() const override { return waiting; }
  std::function<void(HostCommand&)> on_complete;
  std::uint32_t waiting = 0;
};

struct FakeHardware {
  FakeHardware(const DriveShape& shape, const FakeOptions& options)
      : flash(event_queue, shape, options),
        cpu(event_queue, flash.options),
        memory(event_queue, flash.options) {}
  /// State at an idle moment, the clock included.
  void archive(Archive& a) {
    Picoseconds now = event_queue.now();
    a(now);
    event_queue.advance(now);
    a(flash);
    a(cpu);
    a(memory);
  }
  EventQueue event_queue;
  FakeFlash flash;
  FakeCpu cpu;
  FakeMemory memory;
  FakeHost host;
  Hardware ports{event_queue, cpu, memory, flash, host};
};

}  // namespace tlmssd::firmware::testing
