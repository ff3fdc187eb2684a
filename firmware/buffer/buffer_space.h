// Room in the write buffer: how much of it is free, how much of that is set aside, and who waits
// for it.
//
// Where a line of the buffer may have a part of it to itself (firmware.pslc.bypass_buffer), the
// buffer is shared out between the first line and the second, so that neither waits for the other's
// programs. What fills the second is a program unit at least and can be sent out; the first, into
// which map pages go as well, holds two as the whole buffer must.
#pragma once

#include <coroutine>
#include <cstdint>

#include "firmware/buffer/collection_wait.h"
#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Flusher;

class BufferSpace {
  struct Part;

 public:
  /// The flusher makes the room that is waited for.
  BufferSpace(Core& core, const WriteBuffer& buffer, Flusher& flusher);
  BufferSpace(const BufferSpace&) = delete;

  /// Waits for room for new entries in a line of the buffer. granted() then says for how many:
  /// fewer than wanted where there are no more. Who has come in order and then wants the rest waits
  /// for it in front of the others, so that what one command writes is not taken apart by those
  /// behind it.
  class Reservation {
   public:
    enum class Turn : std::uint8_t {
      in_order,  ///< first come, first served
      at_once    ///< before all of those: programs may wait for what needs this room
    };
    Reservation(BufferSpace& space, std::uint32_t wanted, std::uint8_t line = 0, Turn turn = Turn::in_order)
        : space_(space), wanted_(wanted), line_(line), turn_(turn) {}
    Reservation(const Reservation&) = delete;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    void await_resume() noexcept { waits_ = false; }
    /// What is wanted now, and in which line: granted() has been used or given back, and may be
    /// waited for again.
    void want(std::uint32_t entries, std::uint8_t line);
    /// Nothing more is wanted: the turn is the next one's. To be said of a reservation that has
    /// been granted less than it wanted; of others it has no effect.
    void end_turn();
    /// Entries set aside for the caller, who must use each or give it back; 0: the drive is
    /// read-only.
    [[nodiscard]] std::uint32_t granted() const { return granted_; }
    /// Of the programs that have ended since the wait began.
    [[nodiscard]] CollectionWait collection_wait() const { return space_.collection_.since(before_); }

    Reservation* next = nullptr;  ///< in the queue of those who wait

   private:
    friend class BufferSpace;
    /// Sets aside what there is, as far as it is wanted, and keeps the turn if that is not all.
    void take(Part& part);
    BufferSpace& space_;
    std::uint32_t wanted_;
    std::uint8_t line_;
    Turn turn_;
    bool waits_ = false;  ///< or has been granted something and is about to resume
    std::uint32_t granted_ = 0;
    CollectionWait before_;
    std::coroutine_handle<> waiter_{};
  };
  /// Uses up entries that were set aside: the caller adds them at once.
  void unreserve(std::uint32_t entries, std::uint8_t line = 0) { part_of(line).reserved -= entries; }
  /// Gives back entries that were set aside and are not needed.
  void give_back(std::uint32_t entries, std::uint8_t line = 0) {
    if (entries == 0) return;
    unreserve(entries, line);
    grant();
  }
  /// Whether a new entry may be made without waiting.
  [[nodiscard]] bool room(std::uint8_t line = 0) const {
    const Part& part = part_of(line);
    return part.next() == nullptr && free_in(part) > 0;
  }
  /// More than half of what may hold writes into SLC mode, or of the buffer when it is not shared
  /// out, is free.
  [[nodiscard]] bool half_empty() const { return free_in(parts_[0]) > parts_[0].most / 2; }
  /// A command waits for room.
  [[nodiscard]] bool awaited() const { return parts_[0].next() != nullptr || parts_[1].next() != nullptr; }

  /// A program has ended.
  void note_program(const Ledger& program) { collection_.add(program); }
  /// Of all programs so far.
  [[nodiscard]] const CollectionWait& collection_wait() const { return collection_; }
  /// Entries have become free: they are set aside for those who wait.
  void grant();
  /// There will be no room any more: all who wait are told so.
  void now_read_only();

 private:
  /// Who waits for room, and how much of it is theirs; the first in order may have had a part of
  /// what it wants, and be at work with that. All are in the first where the buffer is not
  /// shared out between its lines.
  struct Part {
    IntrusiveQueue<Reservation> at_once;
    IntrusiveQueue<Reservation> in_order;
    [[nodiscard]] IntrusiveQueue<Reservation>& queue_of(const Reservation& room) {
      return room.turn_ == Reservation::Turn::at_once ? at_once : in_order;
    }
    /// Whose turn it is; null: none waits.
    [[nodiscard]] Reservation* next() const { return at_once.empty() ? in_order.front() : at_once.front(); }
    std::uint32_t reserved = 0;  ///< free entries that are set aside for a caller about to resume
    std::uint32_t most = 0;      ///< entries that it may hold
  };
  [[nodiscard]] const Part& part_of(std::uint8_t line) const { return parts_[shared_out_ ? line : 0]; }
  [[nodiscard]] Part& part_of(std::uint8_t line) { return parts_[shared_out_ ? line : 0]; }
  /// Entries that may be set aside in a part now.
  [[nodiscard]] std::uint32_t free_in(const Part& part) const {
    const std::uint32_t free = buffer_.free() - parts_[0].reserved - parts_[1].reserved;
    if (!shared_out_) return free;
    return std::min(free, part.most - buffer_.held(&part == &parts_[1] ? 1 : 0) - part.reserved);
  }

  Core& core_;
  const WriteBuffer& buffer_;
  Flusher& flusher_;
  bool shared_out_ = false;  ///< each of two lines has a part of the buffer to itself
  Part parts_[2];
  CollectionWait collection_;
};

}  // namespace tlmssd::firmware
