// All that firmware sees of the hardware. No SystemC here: platform/ binds these ports to the
// models, tests bind them to fakes.
//
// Each port's operation comes in one form for both modes. Timed: it reserves or queues, and the
// awaiting coroutine is resumed when the hardware is done. Untimed (preconditioning): it is done
// when the call returns, `await_ready()` is true and the same firmware code runs straight through.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/die_watcher.h"
#include "models/base/event_queue.h"
#include "models/base/flash_transaction.h"
#include "models/base/host_command.h"
#include "models/base/ledger.h"
#include "models/base/stage.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

// ---- completion

/// Someone waiting for answers of the hardware: resumed by the last of those that are late.
struct Completion {
  std::coroutine_handle<> waiter{};
  std::uint32_t late = 0;  ///< answers that will come through fire()
  void fire() {
    if (--late == 0 && waiter) std::exchange(waiter, nullptr).resume();
  }
};

// ---- CPU

using tlmssd::k_stages;
using tlmssd::name_of;
using tlmssd::Stage;  ///< pieces of firmware work with a cost in cycles each (scenario: ssd.cpu.cycles)

class CpuPort {
 public:
  virtual ~CpuPort() = default;
  /// When a stage ran or will run.
  struct Run {
    Picoseconds start;
    Picoseconds end;
  };
  /// Reserves the core that runs `stage` for `times` executions. In untimed mode start == end ==
  /// now.
  virtual Run run(Stage stage, std::uint32_t times) = 0;
  /// Whether the same cores run both stages, so that a core can go on from one to the other.
  [[nodiscard]] virtual bool same_cores(Stage first, Stage second) const = 0;
  /// Reserves one core for `first` and straight afterwards for `times` executions of `second`.
  /// same_cores() must hold.
  virtual Run run(Stage first, Stage second, std::uint32_t times) = 0;
  /// Whether describe() is wanted.
  [[nodiscard]] bool by_work() const { return by_work_; }
  /// What the next run of `stage` has to do, for cores whose cycles depend on that
  /// (ssd.cpu.costs).
  virtual void describe(Stage /*stage*/, const StageWork& /*work*/) {}

 protected:
  bool by_work_ = false;
};

// ---- memory

/// `host`: the host memory buffer, over the link.
enum class MemoryKind : std::uint8_t { dram, scm, host };

class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  /// Accesses `bytes` at `address` (within the memory) through the system bus. Returns the instant
  /// the access ends (now when untimed), or k_never when the memory answers later: then `done` is
  /// fired at that instant.
  virtual Picoseconds access(MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                             Completion& done) = 0;
};

// ---- flash

class FlashPort {
 public:
  virtual ~FlashPort() = default;
  /// Starts `op`. True: it is already done (untimed mode). False: op.on_done will be called.
  virtual bool submit(FlashTransaction& op) = 0;
  /// `op` (its address is filled in) will be submitted soon: a chance to fetch what it will touch
  /// into the host's caches.
  virtual void prefetch(const FlashOp& /*op*/) const {}
  /// Operations queued or running on a die (for idle detection and load-aware allocation).
  [[nodiscard]] virtual std::uint32_t pending(DieId die) const = 0;
  /// Of these, those that are not reads.
  [[nodiscard]] virtual std::uint32_t writing(DieId die) const = 0;
  /// `watcher` is told when dies become busy and idle, in timed mode; it alone, and from now on.
  virtual void watch_dies(DieWatcher& /*watcher*/) {}
};

// ---- host

class HostPort {
 public:
  virtual ~HostPort() = default;
  /// Hands a finished command back: the host interface sends read data and the completion entry.
  /// `command` is gone afterwards.
  virtual void complete(HostCommand& command) = 0;
  /// Commands that the host has waiting in its queues or under way (for idle detection).
  [[nodiscard]] virtual std::uint32_t outstanding() const = 0;
  /// `callback(self)` is to be called whenever outstanding() has fallen to 0 other than within
  /// complete().
  virtual void on_quiet(EventQueue::Callback /*callback*/, void* /*self*/) {}
};

// ---- together

class DecisionObserver;

struct Hardware {
  EventQueue& event_queue;
  CpuPort& cpu;
  MemoryPort& memory;
  FlashPort& flash;
  HostPort& host;
  DecisionObserver* decisions = nullptr;  ///< who sees what firmware decides (decisions.h); null: none
};

/// `co_await RunStage(hw, Stage::translate, ledger)`: executes a stage, or two in a multi-plane
/// page on one core, charging core wait and execution.
class RunStage {
 public:
  RunStage(Hardware& hw, Stage stage, Ledger* ledger, std::uint32_t times = 1)
      : RunStage(hw.event_queue, hw.cpu.run(stage, times), ledger) {}
  RunStage(Hardware& hw, Stage first, Stage second, Ledger* ledger, std::uint32_t times)
      : RunStage(hw.event_queue, hw.cpu.run(first, second, times), ledger) {}
  [[nodiscard]] bool await_ready() const noexcept { return end_ <= event_queue_.now(); }
  void await_suspend(std::coroutine_handle<> waiter) { event_queue_.at(end_, waiter); }
  void await_resume() const noexcept {}
  /// For who does something else than wait until then.
  [[nodiscard]] Picoseconds end() const { return end_; }

 private:
  RunStage(EventQueue& event_queue, CpuPort::Run run, Ledger* ledger)
      : event_queue_(event_queue), end_(run.end) {
    if (ledger == nullptr || run.end <= ledger->mark()) return;
    ledger->charge(Cause::core_wait, run.start);
    ledger->charge(Cause::firmware, run.end);
  }
  EventQueue& event_queue_;
  Picoseconds end_;
};

/// Pieces of a memory that belong together; neighbours grow into one.
class MemorySpans {
 public:
  struct Span {
    std::uint64_t address;
    Bytes bytes;
  };
  void add(std::uint64_t address, Bytes bytes) {
    bytes_ += bytes;
    if (!spans_.empty() && spans_.back().address + spans_.back().bytes == address) {
      spans_.back().bytes += bytes;
    } else {
      spans_.push_back({address, bytes});
    }
  }
  void clear() {
    spans_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] bool empty() const { return spans_.empty(); }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] auto begin() const { return spans_.begin(); }
  [[nodiscard]] auto end() const { return spans_.end(); }

 private:
  std::vector<Span> spans_;
  Bytes bytes_ = 0;
};

/// `MemoryAccess access(hw, ...); co_await access;`: accesses to memories that start together,
/// charged to `cause` until the last of them ends.
class MemoryAccess {
 public:
  MemoryAccess(Hardware& hw, Ledger* ledger, Cause cause) : hw_(hw), ledger_(ledger), cause_(cause) {}
  MemoryAccess(Hardware& hw, MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
               Ledger* ledger, Cause cause)
      : MemoryAccess(hw, ledger, cause) {
    add(memory, address, bytes, write);
  }
  MemoryAccess(const MemoryAccess&) = delete;
  void add(MemoryKind memory, std::uint64_t address, Bytes bytes, bool write) {
    ++done_.late;
    const Picoseconds end = hw_.memory.access(memory, address, bytes, write, done_);
    if (end == k_never) return;
    --done_.late;
    if (end > end_) end_ = end;
  }
  void add(MemoryKind memory, const MemorySpans& spans, bool write) {
    for (const MemorySpans::Span& span : spans) add(memory, span.address, span.bytes, write);
  }
  [[nodiscard]] bool await_ready() const noexcept { return done_.late == 0 && end_ <= hw_.event_queue.now(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    if (done_.late == 0) {
      hw_.event_queue.at(end_, waiter);
      return;
    }
    done_.waiter = waiter;
    if (end_ <= hw_.event_queue.now()) return;
    ++done_.late;
    hw_.event_queue.at(
        end_, [](void* done) { static_cast<Completion*>(done)->fire(); }, &done_);
  }
  void await_resume() const noexcept {
    if (ledger_ != nullptr) ledger_->charge(cause_, hw_.event_queue.now());
  }

 private:
  Hardware& hw_;
  Ledger* ledger_;
  Cause cause_;
  Picoseconds end_ = 0;
  Completion done_;
};

}  // namespace tlmssd::firmware
