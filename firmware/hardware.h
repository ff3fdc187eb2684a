// All that firmware sees of the hardware. No SystemC here: platform/ binds these ports to the models, tests
// bind them to fakes.
//
// Each port's operation comes in one form for both modes. Timed: it reserves or queues, and the awaiting
// coroutine is resumed when the hardware is done. Untimed (preconditioning): it is done when the call
// returns, `await_ready()` is true and the same firmware code runs straight through.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <string_view>
#include <utility>

#include "models/common/agenda.h"
#include "models/common/flash_op.h"
#include "models/common/host_command.h"
#include "models/common/ledger.h"
#include "models/common/stage.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

// ---- completion

/// Someone waiting for hardware to answer: fired once, resumes the waiter from the agenda at the present
/// instant.
struct Completion {
  std::coroutine_handle<> waiter{};
  void fire(Agenda& agenda) {
    if (waiter) agenda.soon(std::exchange(waiter, nullptr));
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
  /// Reserves the core that runs `stage` for `times` executions. In untimed mode start == end == now.
  virtual Run run(Stage stage, std::uint32_t times) = 0;
  /// Whether the same cores run both stages, so that a core can go on from one to the other.
  [[nodiscard]] virtual bool same_cores(Stage first, Stage second) const = 0;
  /// Reserves one core for `first` and straight afterwards for `times` executions of `second`. same_cores() must hold.
  virtual Run run(Stage first, Stage second, std::uint32_t times) = 0;
};

// ---- memory

enum class MemoryKind : std::uint8_t { dram, scm };

class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  /// Accesses `bytes` at `address` (within the memory) through the system bus. Returns the instant the access
  /// ends (now when untimed), or k_never when the memory answers later: then `done` is fired.
  virtual Picoseconds access(MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                             Completion& done) = 0;
};

// ---- flash

class FlashPort {
 public:
  virtual ~FlashPort() = default;
  /// Starts `op`. True: it is already done (untimed mode). False: op.on_done will be called.
  virtual bool submit(FlashOp& op) = 0;
  /// `op` (its address is filled in) will be submitted soon: a chance to fetch what it will touch into the host's caches.
  virtual void foresee(const FlashOp& op) const { static_cast<void>(op); }
  /// Operations queued or running on a die (for idle detection and load-aware allocation).
  [[nodiscard]] virtual std::uint32_t pending(DieId die) const = 0;
};

// ---- host

class HostPort {
 public:
  virtual ~HostPort() = default;
  /// Hands a finished command back: the host interface sends read data and the completion entry. `command` is
  /// gone afterwards.
  virtual void complete(HostCommand& command) = 0;
  /// Commands that the host has waiting in its queues or under way (for idle detection).
  [[nodiscard]] virtual std::uint32_t outstanding() const = 0;
};

// ---- together

struct Hardware {
  Agenda& agenda;
  CpuPort& cpu;
  MemoryPort& memory;
  FlashPort& flash;
  HostPort& host;
};

/// `co_await RunStage(hw, Stage::translate, ledger)`: executes a stage, or two in a row on one core, charging core wait and
/// execution.
class RunStage {
 public:
  RunStage(Hardware& hw, Stage stage, Ledger* ledger, std::uint32_t times = 1)
      : RunStage(hw.agenda, hw.cpu.run(stage, times), ledger) {}
  RunStage(Hardware& hw, Stage first, Stage second, Ledger* ledger, std::uint32_t times)
      : RunStage(hw.agenda, hw.cpu.run(first, second, times), ledger) {}
  [[nodiscard]] bool await_ready() const noexcept { return end_ <= agenda_.now(); }
  void await_suspend(std::coroutine_handle<> waiter) { agenda_.at(end_, waiter); }
  void await_resume() const noexcept {}

 private:
  RunStage(Agenda& agenda, CpuPort::Run run, Ledger* ledger) : agenda_(agenda), end_(run.end) {
    if (ledger == nullptr || run.end <= ledger->mark()) return;
    ledger->charge(Cause::core_wait, run.start);
    ledger->charge(Cause::firmware, run.end);
  }
  Agenda& agenda_;
  Picoseconds end_;
};

/// `co_await MemoryAccess{hw, ...}`: one access to DRAM or SCM, charged to `cause`.
class MemoryAccess {
 public:
  MemoryAccess(Hardware& hw, MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
               Ledger* ledger, Cause cause)
      : agenda_(hw.agenda), ledger_(ledger), cause_(cause) {
    end_ = hw.memory.access(memory, address, bytes, write, done_);
  }
  MemoryAccess(const MemoryAccess&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return end_ <= agenda_.now(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    if (end_ == k_never) {
      done_.waiter = waiter;
    } else {
      agenda_.at(end_, waiter);
    }
  }
  void await_resume() const noexcept {
    if (ledger_ != nullptr) ledger_->charge(cause_, agenda_.now());
  }

 private:
  Agenda& agenda_;
  Ledger* ledger_;
  Cause cause_;
  Picoseconds end_ = 0;
  Completion done_;
};

}  // namespace tlmssd::firmware
