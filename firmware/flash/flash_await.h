// Single flash operations: as coroutines await them, and outside of time.
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "firmware/base/hardware.h"

namespace tlmssd::firmware {

/// `FlashAwait done(hw, op); co_await done;`: one operation, or several at once, started by the
/// constructor.
class FlashAwait {
 public:
  FlashAwait(Hardware& hw, FlashTransaction& op) : FlashAwait(hw, std::span(&op, 1)) {}
  FlashAwait(Hardware& hw, std::span<FlashTransaction> ops) : pending_(ops.size()) {
    for (FlashTransaction& op : ops) {
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

/// Carries `op` out at once: what preconditioning puts on flash by itself.
inline void submit_untimed(Hardware& hw, FlashTransaction& op) {
  op.status = FlashStatus::ok;
  if (!hw.flash.submit(op)) throw std::logic_error("firmware: flash takes time outside of time");
  if (op.status != FlashStatus::ok) throw std::logic_error("firmware: a block is worn out outside of time");
}
/// The die is writing or erasing, or has that in its queue.
inline bool die_writes(const Hardware& hw, DieId die) {
  return hw.flash.writing(die) > 0;
}

}  // namespace tlmssd::firmware
