// What the log-structured host layer keeps of a command while it is under way, and what its
// coroutines wait for.
#pragma once

#include "testbench/host/log_structured/log_structured_layer.h"

namespace tlmssd {

inline bool is_place(SegmentLog::Place place) {
  return place < SegmentLog::k_lost;
}

/// A command of the host, in the list of those under way.
struct LogStructuredLayer::Request : HostPort::Entry {
  LogStructuredLayer* log_structured = nullptr;
  OrderTable::Ticket ticket;
  bool unsent = false;              ///< changes something, and not all of that is on its way to the drive
  std::coroutine_handle<> flush{};  ///< of a flush that waits for those before
};

/// A command to the drive.
struct LogStructuredLayer::Piece : DrivePort::Command {
  LogStructuredLayer* log_structured = nullptr;
  Batch* batch = nullptr;
  std::optional<Segment> pinned;  ///< read: the segment
  SegmentLog::Run run;            ///< write: the places
  Grain grain = 0;                ///< write for the host: the first grain
  const Move* moves = nullptr;    ///< write of cleaning: the grains
};

/// Commands to the drive that are awaited together. Each goes on with the ledger of `parent` as it
/// is when the command is sent; at the join the one that ended last counts.
struct LogStructuredLayer::Batch {
  explicit Batch(const Ledger& of) : parent(of) {}
  const Ledger& parent;
  Ledger last;
  HostStatus status = HostStatus::success;  ///< of the first that failed
  std::uint32_t pending = 0;
  bool any = false;
  std::coroutine_handle<> waiter{};
  [[nodiscard]] bool await_ready() const noexcept { return pending == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
  /// All have ended: what became of `command`. It may have gone on waiting for something else after
  /// the last had ended.
  void settle(HostCommand& command) const {
    if (!any) return;
    if (last.mark() >= command.ledger.mark()) command.ledger = last;
    if (command.status == HostStatus::success) command.status = status;
  }
};

/// `co_await room` sleeps until there are places at the head of the log for at most so many grains,
/// in the order of asking. `run` is empty when the drive takes no writes any more.
struct LogStructuredLayer::Reservation {
  Reservation(LogStructuredLayer& owner, std::uint32_t most) : log_structured(owner), grains(most) {}
  LogStructuredLayer& log_structured;
  std::uint32_t grains;
  SegmentLog::Run run;
  std::coroutine_handle<> waiter{};
  Reservation* next = nullptr;
  [[nodiscard]] bool await_ready() { return log_structured.waiting_.empty() && log_structured.give(*this); }
  void await_suspend(std::coroutine_handle<> handle) noexcept {
    waiter = handle;
    log_structured.waiting_.push(*this);
    ++log_structured.stats_.waits_for_segment;
  }
  void await_resume() const noexcept {}
};

/// `co_await change` (cleaning only) sleeps until a command of the drive has ended or grains have
/// been unmapped.
struct LogStructuredLayer::Change {
  LogStructuredLayer& log_structured;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const noexcept { log_structured.cleaner_ = handle; }
  void await_resume() const noexcept {}
};

/// `co_await earlier` (flush only) sleeps until all that commands before `request` change is on its
/// way to the drive.
struct LogStructuredLayer::EarlierSent {
  Request& request;
  [[nodiscard]] bool await_ready() const noexcept {
    for (const HostPort::Entry& e : request.log_structured->host_.under_way()) {
      if (&e == &request) break;
      if (static_cast<const Request&>(e).unsent) return false;
    }
    return true;
  }
  void await_suspend(std::coroutine_handle<> handle) const noexcept {
    request.flush = handle;
    ++request.log_structured->flushes_waiting_;
  }
  void await_resume() const noexcept {}
};

}  // namespace tlmssd
