// What the firmware sets going and is called back for: flash operations, processor time, memory
// accesses and timers.
#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <limits>

#include "firmware/foreign/c_adapter.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware::foreign {

namespace {

/// Of a number of tlmssd_wait.
Cause cause_of(std::uint32_t wait) {
  constexpr std::array k_causes = {Cause::map_fetch, Cause::memory, Cause::buffer_wait, Cause::space_wait,
                                   Cause::lba_hazard_wait};
  if (wait >= k_causes.size()) throw InputError(fmt::format("there is no wait {}", wait));
  return k_causes.at(wait);
}

/// Numbers of the firmware's, before any of them is cut to fewer bits.
void check_below(const char* what, std::uint64_t number, std::uint64_t end) {
  if (number >= end) {
    throw InputError(
        fmt::format("orders a flash operation with {} {}; valid: 0 to {}", what, number, end - 1));
  }
}

void check_within(const char* what, std::uint64_t first, std::uint64_t count, std::uint64_t end) {
  if (first >= end || count > end - first) {
    throw InputError(
        fmt::format("orders a flash operation outside the array: {} of {} from {} on; valid: 0 to {}", count,
                    what, first, end - 1));
  }
}

/// No command of the host waits longer.
constexpr Picoseconds k_longest_stage = 60'000'000'000'000;

[[noreturn]] void refuse_stage(const tlmssd_work& work, Picoseconds time) {
  throw InputError(fmt::format("runs stage {} {} times, which takes {:.0f} s; at most 60 s",
                               static_cast<unsigned>(work.stage), work.times,
                               static_cast<double>(time) * 1e-12));
}

}  // namespace

// ---- flash

void CFirmware::check_ranges(FlashCommand kind, const tlmssd_flash& request) const {
  // All fields of the first version of the header.
  constexpr std::size_t k_least = offsetof(tlmssd_flash, command) + sizeof(void*);
  if (request.size < k_least) {
    throw InputError(
        fmt::format("orders a flash operation by a struct that says a size of {} bytes, less than {}; write "
                    ".size = sizeof(struct tlmssd_flash)",
                    request.size, k_least));
  }
  const Geometry& g = shape_.geometry;
  const std::uint32_t planes = std::max(request.planes, 1U);
  check_below("purpose", number_in(request.purpose), static_cast<unsigned>(Purpose::count));
  check_within("dies", request.die, 1, g.dies());
  check_within("planes", request.plane, planes, g.planes);
  check_within("blocks", request.block, 1, g.blocks);
  const bool program = kind == FlashCommand::program;
  const std::uint32_t pages = program && request.pages == 0 ? shape_.program_unit : request.pages;
  check_within("pages", request.page, program ? pages : 1, g.pages);
  if (kind != FlashCommand::read) return;
  check_within("units", request.first_unit, std::max(request.units, 1U),
               std::uint64_t{planes} * units_per_page_);
  check_below("code", number_in(request.code), k_ecc_codes);
  check_below("retry level", request.retry_level, std::numeric_limits<std::uint8_t>::max() + 1U);
}

/// Pages of a map hold no units of the host's: their numbers are the firmware's own.
void CFirmware::check_units(const Operation& operation) const {
  if (operation.op.purpose == Purpose::map) return;
  for (const Lpn unit : operation.spare) {
    if (unit >= units_ && unit != k_no_unit) {
      throw InputError(
          fmt::format("programs unit {} of {}; only pages with TLMSSD_FOR_MAP may have numbers of their own",
                      unit, units_));
    }
  }
}

void CFirmware::flash(FlashCommand kind, const tlmssd_flash& request, tlmssd_flash_done done, void* self) {
  if (done == nullptr) throw InputError("orders a flash operation without a call-back");
  Command* const command = request.command == nullptr ? nullptr : &known(request.command);
  check_ranges(kind, request);
  Operation& operation = operations_.take();
  operation.owner = this;
  operation.command = command;
  operation.done = done;
  operation.self = self;
  FlashOp& op = operation.op;
  op = FlashOp{};
  op.command = kind;
  op.purpose = static_cast<Purpose>(request.purpose);
  op.die = static_cast<DieId>(request.die);
  op.plane = static_cast<PlaneId>(request.plane);
  op.planes = static_cast<std::uint16_t>(std::max(request.planes, 1U));
  op.block = static_cast<BlockId>(request.block);
  op.page = static_cast<PageId>(request.page);
  start(operation, request);
}

void CFirmware::start(Operation& operation, const tlmssd_flash& request) {
  FlashOp& op = operation.op;
  if (op.command == FlashCommand::program) {
    op.pages = static_cast<std::uint16_t>(request.pages == 0 ? shape_.program_unit : request.pages);
    op.slots = std::uint32_t{op.pages} * op.planes * units_per_page_;
    if (request.lpns == nullptr) throw InputError("programs a page without the logical numbers of its units");
  } else if (op.command == FlashCommand::read) {
    op.first_slot = request.first_unit;
    op.slots = std::max(request.units, 1U);
    op.code = static_cast<EccCode>(request.code);
    op.retry_level = static_cast<std::uint8_t>(request.retry_level);
  }
  operation.spare.assign(op.slots, k_no_unit);
  operation.stamps.assign(std::size_t{op.slots} * sectors_, k_zeros);
  operation.buffers.clear();
  if (request.buffers != nullptr) operation.buffers.assign(request.buffers, request.buffers + op.slots);
  for (const std::uint32_t number : operation.buffers) {
    if (number != TLMSSD_NO_BUFFER) static_cast<void>(buffer(number));
  }
  if (op.command == FlashCommand::program) {
    std::copy_n(request.lpns, op.slots, operation.spare.begin());
    check_units(operation);
    for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
      if (operation.buffers[i] != TLMSSD_NO_BUFFER)
        std::copy_n(buffer(operation.buffers[i]), sectors_, &operation.stamps[i * sectors_]);
    }
  }
  operation.verdict.failed_slots.clear();
  op.verdict = &operation.verdict;
  op.spare = operation.spare.data();
  op.stamps = operation.stamps.data();
  const bool own_place = !operation.buffers.empty() && operation.buffers.front() != TLMSSD_NO_BUFFER;
  if (own_place) {
    op.buffer_address = operation.buffers.front() * shape_.mapping_page_bytes;
  } else if (operation.command != nullptr) {
    op.buffer_address = operation.command->command->buffer_address;
  }
  if (operation.command != nullptr) {
    operation.ledger = operation.command->command->ledger.fork();
    op.ledger = &operation.ledger;
    ++operation.command->under_way;
  }
  op.on_done = [](void* late) {
    auto& ended = *static_cast<Operation*>(late);
    ended.owner->enter([&ended] { ended.owner->finish(ended); });
  };
  op.on_done_self = &operation;
  if (hw_.flash.submit(operation.op)) later([this, &operation] { finish(operation); });
}

void CFirmware::finish(Operation& operation) {
  const FlashOp& op = operation.op;
  Command* const command = operation.command;
  if (command != nullptr) {
    --command->under_way;
    charge_branch(command->command->ledger, operation.ledger, Cause::buffer_wait);
  }
  if (op.command == FlashCommand::read) bring(operation);
  tlmssd_result result{};
  result.size = sizeof result;
  result.status = static_cast<tlmssd_flash_status>(op.status);
  result.lpns = operation.spare.data();
  result.units = op.slots;
  result.wrong_bits = op.wrong_bits;
  result.failed_units = operation.verdict.failed_slots.folded();
  ask(operation.done, operation.self, &result);
  operations_.give(operation);
}

/// What a read has brought goes where it was asked for.
void CFirmware::bring(const Operation& operation) {
  const FlashOp& op = operation.op;
  const SlotSet& failed = operation.verdict.failed_slots;
  const auto lost = [&](std::uint32_t slot) {
    return op.status == FlashStatus::uncorrectable && (failed.empty() || failed.has(slot));
  };
  Command* const command = operation.command;
  const bool to_command =
      operation.buffers.empty() && command != nullptr && command->command->opcode == HostOpcode::read;
  for (std::uint32_t slot = 0; slot < op.slots; ++slot) {
    if (lost(slot)) continue;
    const Stamp* const stamps = &operation.stamps[std::size_t{slot} * sectors_];
    if (to_command && operation.spare[slot] != k_no_unit) {
      bring(*command->command, command->delivered, operation.spare[slot], stamps);
    } else if (!operation.buffers.empty() && operation.buffers[slot] != TLMSSD_NO_BUFFER) {
      std::copy_n(stamps, sectors_, buffer(operation.buffers[slot]));
    }
  }
}

std::uint32_t CFirmware::pending(std::uint32_t die) const {
  check_within("dies", die, 1, shape_.geometry.dies());
  return hw_.flash.pending(static_cast<DieId>(die));
}

// ---- time

Call& CFirmware::new_call(tlmssd_command* command, tlmssd_done done, void* self) {
  Call& call = calls_.take();
  call.owner = this;
  call.done = done;
  call.self = self;
  call.command = command == nullptr ? nullptr : &known(command);
  call.serial = call.command == nullptr ? 0 : call.command->serial;
  call.awaited = false;
  call.cause = Cause::count;
  call.completion = {};
  call.work.clear();
  return call;
}

/// Of the command that the call is charged to; null: there is none, or it has been completed.
Ledger* CFirmware::ledger_of(const Call& call) {
  const bool there = call.command != nullptr && call.command->alive && call.command->serial == call.serial;
  return there ? &call.command->command->ledger : nullptr;
}

void CFirmware::come_back(Call& call) {
  const tlmssd_done done = call.done;
  void* const self = call.self;
  if (call.awaited) --call.command->under_way;
  if (call.cause != Cause::count) {
    if (Ledger* const ledger = ledger_of(call); ledger != nullptr)
      ledger->charge(call.cause, hw_.event_queue.now());
  }
  calls_.give(call);
  if (done != nullptr) ask(done, self);
}

void CFirmware::run_work(tlmssd_command* command, const tlmssd_work* work, std::size_t count,
                         tlmssd_done done, void* self) {
  if (work == nullptr && count > 0) throw InputError("runs stages, but names none (null)");
  Call& call = new_call(command, done, self);
  for (std::size_t i = 0; i < count; ++i) {
    if (number_in(work[i].stage) >= k_stages) throw InputError("runs a stage that there is not");
    if (work[i].times > 0) call.work.push_back(work[i]);
  }
  std::reverse(call.work.begin(), call.work.end());
  advance(call);
}

/// The next stage, or two that a core runs in one go.
void CFirmware::advance(Call& call) {
  if (call.work.empty()) {
    later([this, &call] { come_back(call); });
    return;
  }
  const tlmssd_work first = call.work.back();
  call.work.pop_back();
  const auto stage = static_cast<Stage>(first.stage);
  CpuPort::Run& run = call.run;
  if (first.times == 1 && !call.work.empty() &&
      hw_.cpu.same_cores(stage, static_cast<Stage>(call.work.back().stage))) {
    run = hw_.cpu.run(stage, static_cast<Stage>(call.work.back().stage), call.work.back().times);
    call.work.pop_back();
  } else {
    run = hw_.cpu.run(stage, first.times);
  }
  if (run.end - run.start > k_longest_stage) refuse_stage(first, run.end - run.start);
  if (run.end <= hw_.event_queue.now()) {
    charge_stage(call);
    later([this, &call] { advance(call); });
    return;
  }
  hw_.event_queue.at(
      run.end,
      [](void* late) {
        Call& self = *static_cast<Call*>(late);
        self.owner->charge_stage(self);
        self.owner->enter([&self] { self.owner->advance(self); });
      },
      &call);
}

/// When it is done and not before: meanwhile the firmware may have other things done for the
/// command, or complete it.
void CFirmware::charge_stage(const Call& call) {
  Ledger* const ledger = ledger_of(call);
  if (ledger == nullptr || call.run.end <= ledger->mark()) return;
  ledger->charge(Cause::core_wait, std::max(call.run.start, ledger->mark()));
  ledger->charge(Cause::firmware, call.run.end);
}

void CFirmware::access(tlmssd_command* command, std::uint32_t wait, std::uint32_t memory,
                       std::uint64_t address, std::uint64_t bytes, bool write, tlmssd_done done, void* self) {
  if (memory != TLMSSD_SCM && memory != TLMSSD_DRAM)
    throw InputError(fmt::format("accesses memory {}; valid: 0 (DRAM) and 1 (SCM)", memory));
  const Bytes size = memory == TLMSSD_SCM ? shape_.scm_bytes : dram_bytes();
  if (bytes == 0 || address > size || bytes > size - address)
    throw InputError(
        fmt::format("accesses {} bytes at {} of a memory of {} that is its own", bytes, address, size));
  Call& call = new_call(command, done, self);
  call.cause = cause_of(wait);
  if (call.command != nullptr && done != nullptr) {
    call.awaited = true;
    ++call.command->under_way;
  }
  reach(call, memory == TLMSSD_SCM ? MemoryKind::scm : MemoryKind::dram, address, bytes, write).start();
}

Task<> CFirmware::reach(Call& call, MemoryKind memory, std::uint64_t address, Bytes bytes, bool write) {
  MemoryAccess access(hw_, memory, address, bytes, write, nullptr, Cause::memory);
  co_await access;
  enter([this, &call] { come_back(call); });
}

void CFirmware::charge(tlmssd_command* command, std::uint32_t wait) {
  known(command).command->ledger.charge(cause_of(wait), hw_.event_queue.now());
}

void CFirmware::timer(std::uint64_t picoseconds, tlmssd_done done, void* self) {
  if (done == nullptr) throw InputError("sets a timer without a call-back");
  const Picoseconds now = hw_.event_queue.now();
  if (picoseconds >= static_cast<std::uint64_t>(k_never - now))
    throw InputError(fmt::format("sets a timer of {} ps, which ends beyond all time", picoseconds));
  const Picoseconds when = now + static_cast<Picoseconds>(picoseconds);
  Call& call = new_call(nullptr, done, self);
  call.when = when;
  call.armed = false;
  timers_.emplace(when, &call);
  if (timed_) arm(call);
}
}  // namespace tlmssd::firmware::foreign
