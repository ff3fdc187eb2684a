// The moment at which a command's reads go to flash, once it is known where they lie: a feature may
// have them wait for it.
//
//     ReadTurn turn(core, reads);
//     if (!turn.free()) co_await turn;   // until a feature lets it go
//     ...                                // the reads, to their end
//     turn.end();
#pragma once

#include <coroutine>

#include "firmware/core/core.h"
#include "firmware/flash/read_batch.h"

namespace tlmssd::firmware {

class ReadTurn {
 public:
  ReadTurn(Core& core, const ReadBatch& reads) : core_(core), reads_(reads) {}
  ReadTurn(const ReadTurn&) = delete;
  ReadTurn& operator=(const ReadTurn&) = delete;
  ~ReadTurn() = default;

  /// No feature is asked.
  [[nodiscard]] bool free() const { return core_.hooks.holds_read.empty() || reads_.empty(); }
  /// What is to be read, at least one.
  [[nodiscard]] const ReadBatch& reads() const { return reads_; }
  /// A feature has had it wait.
  [[nodiscard]] bool held() const { return waiter_ != nullptr; }
  /// For the feature that holds it: the reads go to flash.
  void go() { waiter_.resume(); }
  /// The reads are over.
  void end() {
    if (asked_) core_.hooks.holds_read.front()->on_read_turn_end(*this);
  }

  // ---- co_await
  [[nodiscard]] bool await_ready() {
    asked_ = true;
    since = core_.hw.event_queue.now();
    return !core_.hooks.holds_read.front()->holds_read(*this);
  }
  void await_suspend(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  void await_resume() const noexcept {}

  ReadTurn* next = nullptr;
  Picoseconds since = 0;  ///< when it was asked for
  std::uint32_t tag = 0;  ///< the feature's own

 private:
  Core& core_;
  const ReadBatch& reads_;
  std::coroutine_handle<> waiter_{};
  bool asked_ = false;
};

}  // namespace tlmssd::firmware
