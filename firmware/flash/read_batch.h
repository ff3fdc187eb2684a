// Reads of flash that are made together, for a command or in the background.
//
//     ReadBatch reads(core, purpose, buffer_address, ledger);
//     reads.add(where, unit);                          // each unit that is wanted; pins its block
//     co_await reads;                                  // settles where they go, runs the flash stage, reads
//     reads.drain([&](const ReadOp& read, std::uint32_t at) { ... });  // looks at each; releases the blocks
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "firmware/core/core.h"
#include "firmware/flash/plane_joiner.h"

namespace tlmssd::firmware {

/// Gives a read back that has been dealt with.
inline void end_read(Core& core, ReadOp& read) {
  for (Feature* const feature : core.hooks.page_read) feature->on_page_read(read);
  core.unpin(read.block);
  if (read.redirector != nullptr) core.unpin(core.layout.block_of(read.original));
  core.reads.give(read);
}

class ReadBatch : public ReadList {
 public:
  /// The data go to `buffer_address` in DRAM. `ledger`: what the reads are charged to, or null: a
  /// single one directly, several each in a branch, of which the ledger takes over the one that
  /// ends last. `joiner`: makes multi-plane reads of those that a die can do together; null: none.
  ReadBatch(Core& core, Purpose purpose, std::uint64_t buffer_address, Ledger* ledger = nullptr,
            PlaneJoiner* joiner = nullptr)
      : core_(core), ledger_(ledger), joiner_(joiner), buffer_address_(buffer_address), purpose_(purpose) {}

  /// A read of `unit`, which lies at `where`: widens the read of the same multi-plane page that is
  /// near its end, if there is one. `need`: the user's own, by unit.
  ReadOp& add(Ppn where, Lpn unit, std::uint64_t need = 0);
  /// The same as a read of its own.
  ReadOp& add_apart(Ppn where, Lpn unit, std::uint64_t need = 0);
  /// Hands the reads out, and is empty.
  [[nodiscard]] ReadList take() { return std::move(static_cast<ReadList&>(*this)); }
  /// What redirected reads have brought is not there before `instant`.
  void hold_until(Picoseconds instant) { held_until_ = std::max(held_until_, instant); }
  [[nodiscard]] Picoseconds held_until() const { return held_until_; }
  /// Calls `f(read, at)` for each unit that was wanted, and gives the reads back.
  template <class F>
  void drain(F&& f) {
    while (!empty()) {
      ReadOp& read = pop();
      for (std::uint32_t at = read.low; at <= read.high; ++at) {
        if (read.wanted[at] != k_no_unit) f(std::as_const(read), at);
      }
      end_read(core_, read);
    }
  }

  // ---- co_await; nothing happens when there is nothing to read
  [[nodiscard]] bool await_ready();
  void await_suspend(std::coroutine_handle<> waiter);
  void await_resume() const {
    if (last_ != nullptr && last_ != ledger_ && last_->mark() > ledger_->mark()) ledger_->adopt(*last_);
  }
  /// One of the reads is over, error correction included.
  void arrive(const ReadOp& read) {
    last_ = read.op.ledger;
    if (--pending_ == 0) waiter_.resume();
  }

 private:
  /// Whole pages that follow one another in neighbouring planes are one read at once, where the
  /// joiner would make them one operation in any case: where nothing tells reads apart, and no
  /// other page of that number in the die is wanted.
  [[nodiscard]] bool goes_across_planes() const {
    return joiner_ != nullptr && core_.layout.units_per_page == 1 && core_.correction == nullptr &&
           core_.hooks.page_read.empty() && core_.hooks.pass_voltage.empty() &&
           core_.hooks.redirect_read.empty();
  }
  [[nodiscard]] bool takes_in(const ReadOp& near, std::uint32_t at) const;
  bool note_page(const ReadOp& read);
  void resolve();
  bool start();
  void start(ReadOp& read);
  void set_up(ReadOp& read);
  ReadOp* part_unlike(ReadOp& read);
  void submit(ReadOp& read, Ledger* ledger);
  static void ended(void* first);

  Core& core_;
  Ledger* ledger_;
  PlaneJoiner* joiner_;
  std::uint64_t buffer_address_;
  const Ledger* last_ = nullptr;  ///< of the read that ended last
  std::coroutine_handle<> waiter_{};
  Picoseconds stage_end_ = 0;
  Picoseconds held_until_ = 0;
  std::uint32_t pending_ = 0;  ///< reads under way, and one more while they are being started
  Purpose purpose_;
  bool alone_ = true;                   ///< no other read is of the same page number as the youngest
  std::array<std::uint64_t, 4> pages_;  ///< of two reads and more: page numbers, hashed to a bit each
};

/// Throws: the spare area does not name the unit that the map says is there.
[[noreturn]] void refuse_spare(const Layout& layout, const ReadOp& read, std::uint32_t at);

/// Whether unit `at` of the multi-plane page could be read; counted if not, and checked against its
/// spare area if it was.
inline bool check_read(Core& core, const ReadOp& read, std::uint32_t at) {
  const bool lost = read.lost(at);
  if (lost)
    ++(core.layout.is_map(read.wanted[at]) ? core.stats.map_pages_lost : core.stats.uncorrectable_units);
  if (!lost && read.spare[at] != read.wanted[at]) refuse_spare(core.layout, read, at);
  return !lost;
}
/// The same of a unit that is to be written elsewhere: if it is lost, it is so for good. Map pages
/// are rebuilt.
inline void check_moved(Core& core, const ReadOp& read, std::uint32_t at) {
  if (!check_read(core, read, at) && !core.layout.is_map(read.wanted[at])) core.lose(read.wanted[at]);
}

}  // namespace tlmssd::firmware
