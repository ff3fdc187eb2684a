// What a host driver keeps of commands under way, split requests and running loads. Internal to
// HostDriver.
#pragma once

#include <algorithm>
#include <array>

#include "testbench/host/host_driver.h"

namespace tlmssd {

/// A command under way, all that host and drive keep of it but for firmware's part: the transaction
/// and what the host keeps beside it. One object of whole cache lines, so that thousands under way
/// leave as much as possible in the caches; its memory is the payload's and free with the last
/// reference to that.
struct alignas(64) HostDriver::Slot : HostTransaction {
  explicit Slot(tlm::tlm_mm_interface* slots) : HostTransaction(slots) {}

  /// Room for `count` stamps.
  [[nodiscard]] Stamp* stamps(std::size_t count) {
    if (count <= few_stamps.size()) return few_stamps.data();
    if (room < count) {
      many_stamps = std::make_unique<Stamp[]>(count);
      room = static_cast<std::uint32_t>(count);
    }
    return many_stamps.get();
  }

  Stream* stream = nullptr;       ///< null: untimed
  SplitRequest* split = nullptr;  ///< the request that this command is a piece of, if any
  Picoseconds submitted = 0;
  Scoreboard::Ticket ticket;
  union {
    std::array<Stamp, 8> few_stamps{};  ///< of a command of one unit, usually
    LbaRange range;                     ///< of a trim
  };
  std::unique_ptr<Stamp[]> many_stamps;
  std::uint32_t room = 0;  ///< in many_stamps
  bool busy = false;
  bool write_protected = false;  ///< issued when the drive was already known to be read-only
};

/// A request that is longer than the drive takes, carried out as several commands.
struct HostDriver::SplitRequest {
  Completed whole;               ///< as the block layer will see it completed
  Picoseconds held = 0;          ///< back by its load
  std::uint32_t out = 0;         ///< pieces outstanding
  bool issued = false;           ///< all of its pieces have been
  SplitRequest* next = nullptr;  ///< of those that are free
};

/// A load while it runs.
struct HostDriver::Stream {
  HostDriver* driver;
  Load* load;
  std::uint16_t number;
  std::uint32_t queue;
  Picoseconds start = 0;  ///< absolute
  Picoseconds stop = k_never;
  PlacedRequest head;             ///< the next request, or what is left of it, when has_head
  SplitRequest* split = nullptr;  ///< not null: pieces of the head have been issued
  bool has_head = false;
  Picoseconds head_since = 0;       ///< when it became that
  Picoseconds head_free = k_never;  ///< when the load's own limits let the head go; k_never: not yet
  bool exhausted = true;
  bool ended = false;
  bool sleeping = false;          ///< an event queue item will pump this stream
  std::uint32_t outstanding = 0;  ///< requests; so are the next two
  std::uint64_t issued = 0;
  std::uint64_t completed = 0;
  Picoseconds lag = 0;  ///< of the last request, behind its time
  Picoseconds last_issue = 0;
  Picoseconds waited = 0;     ///< the last request, from when it was due
  Picoseconds held = 0;       ///< of that, by the load's own limits
  bool by_time = false;       ///< `stop` has ended it
  bool unflushed = false;     ///< it has written since its last flush
  std::uint64_t flushes = 0;  ///< of `issued`
  Picoseconds first_time =
      0;  ///< time stamp of the first request after a warm-up, from which the others count
  std::uint64_t paused_at = 0;  ///< `completed` when the last pause began
  Picoseconds think_until = 0;  ///< its end
  Picoseconds paused = 0;       ///< by all its pauses
  Picoseconds ended_at = 0;     ///< when all was done; 0: not yet
  Stream* next = nullptr;       ///< of those that wait for room in the queue

  /// Nothing more is issued until all that is outstanding has completed: then the load pauses.
  [[nodiscard]] bool owes_pause() const {
    return load->think_time > 0 && completed - paused_at >= std::max(load->think_blocks, 1U);
  }
  /// Whether the load has as many requests outstanding as it may.
  [[nodiscard]] bool is_full() const { return load->queue_depth != 0 && outstanding >= load->queue_depth; }
  /// The head, due at `due`, is issued now. How long the load's own limits have held it back:
  /// behind the request before it in that one's shares, and then until they let it go.
  void note_wait(Picoseconds due, Picoseconds now) {
    const Picoseconds behind = std::max<Picoseconds>(head_since - due, 0);
    const Picoseconds begin = due + behind;
    held = waited > 0 ? static_cast<Picoseconds>(static_cast<__int128>(behind) * held / waited) : 0;
    held += std::clamp(std::max(head_free, think_until), begin, now) - begin;
    waited = now - due;
  }
  static void wake(void* self) {
    auto* stream = static_cast<Stream*>(self);
    stream->sleeping = false;
    stream->driver->pump(*stream);
  }
};

}  // namespace tlmssd
