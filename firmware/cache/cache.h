// The cache in SCM or DRAM, between the host's commands and the write buffer.
//
// For every logical block the newest data are in the cache, else in the write buffer, else in
// flash. Writes that the policy admits lie in the cache until they are evicted; an evicted line is
// staged in the write buffer with every sector that is here and stays in the cache until the
// program has succeeded, so that in SCM it survives a loss of power at any moment. Lines that flash
// holds already are dropped. Sectors that a read found in flash are copied in if the policy admits
// them. What is missing of an evicted unit is read back by the write buffer (read-modify-write).
// Leaves out: loss of the controller's own tables (where lines lie is taken to be kept beside the
// data), wear-out of the SCM.
#pragma once

#include <deque>
#include <memory>

#include "firmware/buffer/flusher.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/cache/line_store.h"
#include "firmware/core/layer.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

struct CacheStatistics {
  // host reads, per mapping page touched
  std::uint64_t reads = 0;
  std::uint64_t read_hits = 0;       ///< every sector asked for was here
  std::uint64_t read_partial = 0;    ///< some were
  std::uint64_t copies_in = 0;       ///< units of which sectors were copied in after a read from flash
  std::uint64_t copies_skipped = 0;  ///< units that should have been, but there was no room
  // host writes, per mapping page touched
  std::uint64_t writes = 0;
  std::uint64_t write_hits = 0;  ///< the unit had a line
  std::uint64_t around = 0;      ///< went past the cache
  std::uint64_t full_waits = 0;  ///< waited for room
  // lines
  std::uint64_t evictions = 0;   ///< staged to be written out
  std::uint64_t incomplete = 0;  ///< of these, lines that lacked sectors
  std::uint64_t dropped = 0;     ///< clean lines given up
  std::uint64_t called_off =
      0;  ///< evictions that ended before staging, as a rule because the host wrote the line again
  // dirty sectors: made == now dirty + written out + discarded + lost - brought back
  std::uint64_t sectors_written = 0;    ///< by the host
  std::uint64_t sectors_dirtied = 0;    ///< of these, sectors that were not dirty before
  std::uint64_t sectors_out = 0;        ///< staged to be written out
  std::uint64_t sectors_discarded = 0;  ///< by trim
  std::uint64_t sectors_lost = 0;       ///< with the power
  std::uint64_t sectors_back = 0;       ///< dirty again, because they could not be written out
};

class Cache final : public Layer, public Evictions {
 public:
  /// Throws InputError when configuration and drive do not go together.
  Cache(Core& core, Flusher& flusher, const DriveShape& shape, const FirmwareConfig& config);
  Cache(const Cache&) = delete;

  [[nodiscard]] const char* name() const override { return "the cache"; }
  [[nodiscard]] MemoryKind medium() const override { return medium_; }
  [[nodiscard]] bool non_volatile() const override { return medium_ == MemoryKind::scm; }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  /// Bytes in which its memory is given out.
  [[nodiscard]] Bytes grain() const { return store_.grain(); }
  /// Whether lines go before others need their room.
  [[nodiscard]] bool keeps_room() const { return keep_free_ > 0; }
  /// DRAM that it takes behind the write buffer.
  [[nodiscard]] Bytes dram_bytes() const { return non_volatile() ? 0 : capacity_; }

  /// Waits for room, first come first served; what is not used is given back in the end.
  class Reservation final : public Hold {
   public:
    Reservation(Cache& cache, std::uint32_t grains) : cache_(cache), wanted_(grains) {}
    Reservation(const Reservation&) = delete;
    ~Reservation() override;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    /// False: the drive is read-only, nothing can be written out.
    [[nodiscard]] bool await_resume() const noexcept { return left_ > 0; }
    /// Of the programs that have ended since the wait began.
    [[nodiscard]] CollectionWait collection_wait() const {
      return cache_.flusher_.space().collection_wait().since(before_);
    }

    Reservation* next = nullptr;  ///< in the queue of those who wait
    Reservation* previous = nullptr;

   private:
    friend class Cache;
    void use(std::uint32_t grains) {
      left_ -= grains;
      cache_.reserved_ -= grains;
    }
    Cache& cache_;
    std::uint32_t wanted_;
    std::uint32_t left_ = 0;  ///< set aside and not used so far
    CollectionWait before_;
    std::coroutine_handle<> waiter_{};
  };

  void prefetch(Lpn unit) const override { store_.prefetch(unit); }
  void prefetch_data(Lpn unit) const override {
    const Index i = store_.find(unit);
    if (i == LineStore::k_none) return;
    store_.prefetch_line_of(i);
    policy_->prefetch(i);
  }

  // ---- reads
  [[nodiscard]] bool covers(std::uint64_t lba, std::uint64_t blocks) const override;
  std::uint64_t take(HostCommand& command, Lpn unit, std::uint64_t want, MemorySpans& where) override;
  Task<> prepare_read(HeldCommand& held, std::unique_ptr<Hold>& hold) override;
  /// What has been read is copied in if the policy likes and it is still what flash and cache agree
  /// on.
  void copy_in(Lpn unit, Ppn place, std::uint64_t need, const Stamp* stamps, Hold* hold) override;

  // ---- writes
  Task<bool> write(HeldCommand& held, WriteAcceptor& below, std::uint64_t lba, std::uint64_t blocks,
                   const Stamp* data, Durable* durable) override;
  [[nodiscard]] bool holds(Lpn unit) const override { return store_.find(unit) != LineStore::k_none; }
  /// Whether a write to `unit` goes here (to be asked once per write).
  [[nodiscard]] bool takes(Lpn unit);
  /// Inserts sectors (`stamps` by sector of the unit) that a command of so many blocks writes, and
  /// appends their places to `where`. False: no room, nothing was done. `room`: what has been set
  /// aside for it; null: none.
  [[nodiscard]] bool put(Lpn unit, std::uint64_t sectors, const Stamp* stamps, std::uint32_t command,
                         MemorySpans& where, Reservation* room = nullptr);
  [[nodiscard]] std::uint32_t grains_of(std::uint64_t sectors) const { return store_.grains_of(sectors); }
  /// What has just been put for `unit` is to be in flash soon; `durable` waits for it.
  void write_out(Lpn unit, Durable& durable);
  std::uint64_t discard(std::uint64_t first, std::uint64_t end) override;
  void trim(Lpn unit, std::uint64_t sectors) override;

  // ---- all of it
  /// Starts whatever evictions are due. To be called when the write buffer has changed.
  void pump() override;
  [[nodiscard]] bool awaited() const override { return !waiting_.empty(); }
  /// Stages all dirty lines.
  Task<> stage_all() override;
  [[nodiscard]] bool dirty() const override { return store_.dirty_sectors() > 0; }
  /// Lines on their way out that have not reached the write buffer.
  [[nodiscard]] bool staging() const { return unstaged_ > 0; }
  /// No line on its way out.
  [[nodiscard]] bool idle() const { return leaving_grains_ == 0 && unstaged_ == 0; }
  void now_read_only();
  /// The power has failed: what lay in a volatile memory is gone.
  void power_lost();
  void committed(Lpn unit, std::uint64_t eviction, bool failed) override;

  void archive(Archive& archive);
  void report(StatisticsSink& sink) const;
  void describe_stall(std::string& text) const;
  [[nodiscard]] const CacheStatistics& statistics() const { return stats_; }
  [[nodiscard]] const LineStore& store() const { return store_; }
  void reset_statistics() { stats_ = {}; }

 private:
  using Index = LineStore::Index;
  using State = LineStore::State;
  enum class More : std::uint8_t {
    none,
    room,     ///< a command waits for it, or the policy wants it
    filling,  ///< what is on its way out does not fill a program unit
  };
  // ---- host commands (cache_commands.cpp)
  Task<bool> write_unit(HeldCommand& held, Lpn unit, std::uint64_t lba, std::uint64_t blocks,
                        const Stamp* data, MemorySpans& where);
  Task<bool> write_past(HeldCommand& held, WriteAcceptor& below, Lpn unit, std::uint64_t lba,
                        std::uint64_t blocks, const Stamp* data, Durable* durable);
  Task<bool> wait_for_room(HeldCommand& held, Reservation& room);
  /// Grains that a read has to wait for before it goes to flash, so that what it finds there can be
  /// copied in.
  [[nodiscard]] std::uint32_t grains_to_copy(std::uint64_t lba, std::uint64_t blocks) const;

  [[nodiscard]] std::uint64_t room() const { return store_.free() - reserved_; }
  [[nodiscard]] std::uint32_t grains(Index i) const { return store_.grains_of(store_.line(i).present); }
  [[nodiscard]] More wants_more() const;
  [[nodiscard]] Index next_victim();
  void grant();
  void forget(Reservation& room);
  void remove(Index i);
  void drop(Index i, std::string_view why);
  bool discard(Lpn unit);

  // ---- the way of a line out
  void tell(Lpn unit, std::string_view what, std::string_view why) const;
  void write_out(Index i, Durable* also);
  void leave(Index i);
  void stay(Index i);
  Task<> evict(Lpn unit, std::uint64_t eviction, Durable* also);
  Index still_due(Lpn unit, std::uint64_t eviction, const Durable* also);
  /// The line of the write buffer in which an evicted `unit` waits: as the pSLC's data path has it.
  [[nodiscard]] std::uint8_t line_below(Lpn unit) const;
  void stage(Index i, std::uint8_t below, std::uint64_t eviction, Durable* also);
  void call_off(Lpn unit, std::uint64_t eviction, Durable* also);
  void await_staged(Lpn unit, Durable& durable);
  void eviction_ended(std::uint64_t eviction);
  [[nodiscard]] bool leaving(Index i, std::uint64_t eviction) const {
    return i != LineStore::k_none && store_.line(i).state == State::leaving &&
           store_.line(i).eviction == eviction;
  }

  Core& core_;
  Flusher& flusher_;
  MemoryKind medium_;
  Bytes lba_bytes_;
  Bytes capacity_;
  bool copy_waits_;
  bool copy_units_;          ///< a read copies in its whole units, not just the sectors asked for
  bool write_all_;           ///< clean lines are written back, too
  bool programs_take_part_;  ///< a program takes only what belongs to its region or log block
  LineStore store_;
  std::unique_ptr<CachePolicy> policy_;
  std::uint64_t keep_free_ = 0;       ///< grains
  std::uint64_t reserved_ = 0;        ///< free grains set aside for someone about to resume
  std::uint64_t leaving_grains_ = 0;  ///< grains of lines on their way out
  std::uint64_t wanted_ = 0;          ///< grains that those who wait want
  bool pumping_ = false;
  IntrusiveQueue<Reservation> waiting_;
  // Evictions are numbered as they start; in the write buffer (or called off) are those up to
  // ended_ and those that order_ marks.
  std::uint64_t started_ = 0;
  std::uint64_t ended_ = 0;
  std::deque<bool> order_;
  std::uint32_t unstaged_ = 0;  ///< evictions that are not in the write buffer yet
  std::uint32_t flushes_ = 0;   ///< stage_all() under way: nothing is called off
  WaitQueue flush_queue_;
  CacheStatistics stats_;
  Completion posted_;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
