// Programs: a program unit gets its place and goes to flash.
#pragma once

#include <coroutine>
#include <cstdint>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

/// `Program program(core, job, target, purpose, buffer_address); if (co_await program) ...`: claims
/// a program unit for the job in its parallel unit and starts it. Its operations are booked at
/// once, and the units of block-mapped regions. True: it has succeeded; when the map has followed,
/// end_program() books the rest. False: it has failed and has been booked; its block is to be
/// emptied and retired.
class Program {
 public:
  Program(Core& core, ProgramJob& job, WriteTarget target, Purpose purpose, std::uint64_t buffer_address);
  /// Starts a job that has its place (claim_place, prepare_program).
  Program(Core& core, ProgramJob& job);
  Program(const Program&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return pending_ == 0; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  [[nodiscard]] bool await_resume() const;

 private:
  static void part_done(void* part);

  Core& core_;
  ProgramJob& job_;
  std::uint32_t pending_;
  std::coroutine_handle<> waiter_{};
};

/// Claims a program unit for the job in its parallel unit, of its mode and target; it must be
/// started at once.
void claim_place(Core& core, ProgramJob& job, Purpose purpose, std::uint64_t buffer_address);
/// Completes the operations of a job whose place (`base`) has been taken; it must be started at
/// once.
void prepare_program(Core& core, ProgramJob& job, Purpose purpose, std::uint64_t buffer_address);

/// Books a program that has succeeded.
void end_program(Core& core, const ProgramJob& job);

}  // namespace tlmssd::firmware
