// Flash operations as coroutines await them: pooled reads of a multi-plane page of units, pooled
// program units, single operations.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "firmware/base/hardware.h"
#include "firmware/base/layout.h"
#include "firmware/base/write_target.h"
#include "models/base/intrusive_queue.h"
#include "models/base/slab.h"

namespace tlmssd::firmware {

/// Waits for a number of operations started together. Remembers the ledger of the one that ended
/// last.
struct Latch {
  std::uint32_t pending = 0;
  std::coroutine_handle<> waiter{};
  const Ledger* last = nullptr;
  [[nodiscard]] bool await_ready() const noexcept { return pending == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
  /// Takes over the ledger of the operation that ended last, unless that was charged to `parent`
  /// itself.
  void settle(Ledger& parent) const {
    if (last != &parent && last->mark() > parent.mark()) parent.adopt(*last);
  }
  void arrive(const Ledger* ledger) {
    last = ledger;
    if (--pending == 0 && waiter) waiter.resume();
  }
};

class Core;

/// A read of consecutive units of one multi-plane page (a page, or the same page in neighbouring
/// planes), with room for a whole multi-plane page.
struct ReadOp {
  FlashOp op;
  Ledger ledger;
  Latch* latch = nullptr;
  Core* core = nullptr;            ///< who looks after decoding failures
  BlockNumber block = k_no_block;  ///< pinned until the read has been dealt with
  std::uint32_t mp_page = 0;
  std::uint32_t low = 0;     ///< first unit of the multi-plane page that is read
  std::uint32_t high = 0;    ///< last
  std::uint32_t tag = 0;     ///< the user's own
  Lpn copy_of = k_no_unit;   ///< what is read is the second copy of this unit, and nothing else
  Ppn original = k_nowhere;  ///< of a copy: where the unit itself lies, pinned like the copy
  ReadOp* next = nullptr;
  ReadOp* joined = nullptr;  ///< the next one of the multi-plane read that this one begins or follows in
  bool follows = false;      ///< it is done together with the read that it was joined to
  // By unit of the multi-plane page, all in one piece of memory because most reads are of one unit:
  std::uint64_t* need = nullptr;  ///< sectors that are asked for
  Lpn* wanted = nullptr;          ///< logical unit expected there; k_no_unit: not asked for
  Lpn* spare = nullptr;
  Stamp* stamps = nullptr;
  std::unique_ptr<std::byte[]> memory;

  /// What lies in unit `at` of the multi-plane page could not be read.
  [[nodiscard]] bool lost(std::uint32_t at) const {
    if (op.status != FlashStatus::uncorrectable) return false;
    return op.failed_slots == 0 || (op.failed_slots >> ((at - low) % 64) & 1U) != 0;
  }
};

/// What several attempts at a read have brought to light together: a slot that was decoded once
/// stays so.
class Salvage {
 public:
  /// `read` has failed for the first time.
  Salvage(ReadOp& read, std::uint32_t sectors)
      : read_(read),
        sectors_(sectors),
        stamps_(read.op.stamps, read.op.stamps + std::size_t{read.op.slots} * sectors),
        lost_(read.op.slots) {
    for (std::uint32_t slot = 0; slot < read.op.slots; ++slot) lost_[slot] = read.lost(read.low + slot);
  }
  /// Another attempt has ended.
  void add() {
    for (std::uint32_t slot = 0; slot < read_.op.slots; ++slot) {
      if (!lost_[slot] || read_.lost(read_.low + slot)) continue;
      lost_[slot] = false;
      std::copy_n(read_.op.stamps + std::size_t{slot} * sectors_, sectors_,
                  stamps_.begin() + std::ptrdiff_t{slot} * sectors_);
    }
  }
  [[nodiscard]] bool incomplete() const { return std::find(lost_.begin(), lost_.end(), true) != lost_.end(); }
  /// The operation now stands for all attempts.
  void finish() {
    std::copy(stamps_.begin(), stamps_.end(), read_.op.stamps);
    read_.op.failed_slots = 0;
    for (std::uint32_t slot = 0; slot < read_.op.slots; ++slot) {
      if (lost_[slot]) read_.op.failed_slots |= std::uint64_t{1} << (slot % 64);
    }
    read_.op.status = read_.op.failed_slots != 0 ? FlashStatus::uncorrectable : FlashStatus::ok;
  }

 private:
  ReadOp& read_;
  std::uint32_t sectors_;
  std::vector<Stamp> stamps_;
  std::vector<bool> lost_;
};

/// Reads in the order in which they were made; all of them are given back together.
struct ReadList : IntrusiveQueue<ReadOp> {
  std::uint32_t operations = 0;  ///< of the dies, once it is settled which reads are done together
};

class ReadPool {
 public:
  explicit ReadPool(const Layout& layout) : mp_page_(layout.mp_page_units), sectors_(layout.sectors) {}
  /// A read of unit `at` of `mp_page`, nothing asked for yet.
  ReadOp& take(std::uint32_t mp_page, BlockNumber block, std::uint32_t at) {
    ReadOp& read = pool_.take([this] { return make(); });
    read.mp_page = mp_page;
    read.block = block;
    read.low = read.high = at;
    read.copy_of = k_no_unit;
    read.joined = nullptr;
    read.follows = false;
    read.wanted[at] = k_no_unit;
    return read;
  }
  /// Widens the read so that it takes in unit `at` of its multi-plane page.
  static void widen(ReadOp& read, std::uint32_t at) {
    while (read.high < at) read.wanted[++read.high] = k_no_unit;
    while (read.low > at) read.wanted[--read.low] = k_no_unit;
  }
  void give(ReadOp& read) { pool_.give(read); }

 private:
  [[nodiscard]] std::unique_ptr<ReadOp> make() const {
    auto made = std::make_unique<ReadOp>();
    ReadOp& read = *made;
    constexpr std::size_t k_per_unit = sizeof *read.need + sizeof *read.wanted + sizeof *read.spare;
    read.memory = std::make_unique<std::byte[]>(mp_page_ * (k_per_unit + sectors_ * sizeof(Stamp)));
    read.need = reinterpret_cast<std::uint64_t*>(read.memory.get());
    read.wanted = reinterpret_cast<Lpn*>(read.need + mp_page_);
    read.spare = read.wanted + mp_page_;
    read.stamps = reinterpret_cast<Stamp*>(read.spare + mp_page_);
    return made;
  }
  std::uint32_t mp_page_;
  std::uint32_t sectors_;
  Pool<ReadOp> pool_;
};

class ProgramAwait;

/// What one die does of a program unit.
struct ProgramPart {
  FlashOp op;
  Ledger ledger;              ///< of the operation, where several run at once
  Ppn copy_from = k_nowhere;  ///< copied on the die from there (copyback) instead of being sent
  ProgramAwait* await = nullptr;
};

/// One program unit on its way to flash.
struct ProgramJob {
  // Values of `source` in programs of the write buffer that rewrite a block-mapped region.
  static constexpr std::uint32_t k_copied = 0xFFFFFFFEU;  ///< the unit comes from the block's old place
  static constexpr std::uint32_t k_hole = 0xFFFFFFFFU;    ///< no unit
  Ledger ledger;
  Purpose purpose = Purpose::host;
  bool charged = false;                ///< the ledger is a command's
  BlockMode mode = BlockMode::native;  ///< of the block that it goes to
  WriteTarget target = WriteTarget::host;
  std::uint32_t pu = 0;
  std::uint32_t live = 0;       ///< slots that have been filled; the rest is padding
  std::uint32_t partial = 0;    ///< units that still lack sectors
  std::uint32_t map_units = 0;  ///< units of the map among the live ones (programs of the write buffer)
  std::uint32_t copies = 0;     ///< units of a block-mapped region that come from its old place
  std::uint32_t holes = 0;      ///< slots of a block-mapped region that hold no unit
  std::uint32_t folded = 0;     ///< units of garbage collection that come from a block in SLC mode
  bool reserved = false;        ///< has been promised a multi-plane page in SLC mode
  bool from_fixed = false;      ///< some come from a block that never leaves that mode
  std::uint32_t entry = 0;      ///< first entry of the write buffer that goes into it
  Lpn unit = 0;                 ///< first unit of the block-mapped region that it rewrites
  BlockNumber block = k_no_block;
  Ppn base = k_nowhere;             ///< first physical unit, once claimed
  BlockNumber pinned = k_no_block;  ///< block that is copied from on the die
  std::uint64_t number = 0;         ///< in the order of dispatch
  ProgramJob* previous = nullptr;
  ProgramJob* next = nullptr;
  bool on_die = false;  ///< units of a block-mapped region were left to be copied on their dies
  std::uint32_t operations = 1;
  std::unique_ptr<ProgramPart[]> parts;
  // In the order of physical units: where each unit comes from (write buffer entry, or physical
  // unit).
  std::unique_ptr<std::uint32_t[]> source;
  /// Where the n-th unit comes from, if that is a place on flash.
  [[nodiscard]] Ppn source_unit(std::uint32_t n) const { return Ppn(source[n]); }
  // In the order of FlashOp slots, operation by operation:
  std::unique_ptr<Lpn[]> spare;
  std::unique_ptr<Stamp[]> stamps;

  /// Some operation of it has failed.
  [[nodiscard]] bool failed() const {
    return std::any_of(parts.get(), parts.get() + operations,
                       [](const ProgramPart& part) { return part.op.status != FlashStatus::ok; });
  }
};

class JobPool {
 public:
  explicit JobPool(const Layout& layout)
      : units_(layout.program_units), operations_(layout.operations), sectors_(layout.sectors) {}
  ProgramJob& take() {
    ProgramJob& job = pool_.take([this] { return make(); });
    job.live = 0;
    job.partial = 0;
    job.map_units = 0;
    job.copies = 0;
    job.holes = 0;
    job.folded = 0;
    job.from_fixed = false;
    job.reserved = false;
    job.mode = BlockMode::native;
    job.target = WriteTarget::host;
    job.base = k_nowhere;
    job.pinned = k_no_block;
    job.on_die = false;
    for (std::uint32_t n = 0; n < operations_; ++n) job.parts[n].copy_from = k_nowhere;
    return job;
  }
  void give(ProgramJob& job) { pool_.give(job); }

 private:
  [[nodiscard]] std::unique_ptr<ProgramJob> make() const {
    auto made = std::make_unique<ProgramJob>();
    ProgramJob& job = *made;
    job.operations = operations_;
    job.parts = std::make_unique<ProgramPart[]>(operations_);
    job.source = std::make_unique<std::uint32_t[]>(units_);
    job.spare = std::make_unique<Lpn[]>(units_);
    job.stamps = std::make_unique<Stamp[]>(std::size_t{units_} * sectors_);
    return made;
  }
  std::uint32_t units_;
  std::uint32_t operations_;
  std::uint32_t sectors_;
  Pool<ProgramJob> pool_;
};

/// `FlashAwait done(hw, op); co_await done;`: one operation, or several at once, started by the
/// constructor.
class FlashAwait {
 public:
  FlashAwait(Hardware& hw, FlashOp& op) : FlashAwait(hw, std::span(&op, 1)) {}
  FlashAwait(Hardware& hw, std::span<FlashOp> ops) : pending_(ops.size()) {
    for (FlashOp& op : ops) {
      op.on_done = [](void* self) {
        auto& await = *static_cast<FlashAwait*>(self);
        if (--await.pending_ == 0 && await.waiter_) await.waiter_.resume();
      };
      op.on_done_self = this;
      op.status = FlashStatus::ok;
      if (hw.flash.submit(op)) --pending_;
    }
  }
  FlashAwait(const FlashAwait&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return pending_ == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
  void await_resume() const noexcept {}

 private:
  std::coroutine_handle<> waiter_{};
  std::size_t pending_;
};

/// `ProgramAwait done(hw, job); co_await done;`: all operations of a program unit that has been
/// claimed, started by the constructor. The job's ledger, if it is a command's, takes over that of
/// the operation that ends last.
class ProgramAwait {
 public:
  ProgramAwait(Hardware& hw, ProgramJob& job) : job_(job), pending_(job.operations) {
    for (std::uint32_t n = 0; n < job.operations; ++n) {
      ProgramPart& part = job.parts[n];
      FlashOp& op = part.op;
      if (job.charged && job.operations > 1) {
        part.ledger = job.ledger.fork();
        op.ledger = &part.ledger;
      }
      part.await = this;
      op.on_done = &ProgramAwait::done;
      op.on_done_self = &part;
      op.status = FlashStatus::ok;
      if (hw.flash.submit(op)) --pending_;
    }
  }
  ProgramAwait(const ProgramAwait&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return pending_ == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
  void await_resume() const noexcept {}

 private:
  static void done(void* self) {
    ProgramPart& part = *static_cast<ProgramPart*>(self);
    ProgramAwait& await = *part.await;
    if (--await.pending_ > 0) return;
    if (part.op.ledger == &part.ledger) await.job_.ledger.adopt(part.ledger);
    if (await.waiter_) await.waiter_.resume();
  }
  ProgramJob& job_;
  std::uint32_t pending_;
  std::coroutine_handle<> waiter_{};
};

}  // namespace tlmssd::firmware
