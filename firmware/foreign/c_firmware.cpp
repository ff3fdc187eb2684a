#include "firmware/foreign/c_firmware.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unistd.h>
#include <utility>
#include <vector>

#include "firmware/base/decisions.h"
#include "firmware/base/firmware.h"
#include "firmware/base/flash_io.h"
#include "models/base/input_error.h"
#include "models/base/intrusive_queue.h"
#include "models/base/slab.h"

// NOLINTBEGIN(readability-identifier-naming): names as in C
struct tlmssd_archive {
  tlmssd::Archive* archive;
};
struct tlmssd_report {
  tlmssd::StatisticsSink* sink;
};
// NOLINTEND(readability-identifier-naming)

namespace tlmssd::firmware {

namespace {

// ---- crashes

/// Whose code runs; null: that of the emulator.
const volatile char* volatile running = nullptr;

/// Only what is safe in a signal handler.
void say(const char* text) {
  static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
}

void crashed(int signal) {
  if (running == nullptr) {
    std::signal(signal, SIG_DFL);
    return;  // and again, this time for good
  }
  say("tlmssd: firmware ");
  say(const_cast<const char*>(running));
  say(": crashed (");
  say(sigabbrev_np(signal));
  say(")\n");
  _exit(2);
}

/// A crash of the firmware's is told from one of the emulator's.
void watch_for_crashes() {
  static const bool once = [] {
    static std::array<char, 64U << 10U> stack;
    const stack_t place{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    sigaltstack(&place, nullptr);
    struct sigaction action {};
    action.sa_handler = &crashed;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
    return true;
  }();
  static_cast<void>(once);
}

/// `name` (null: the emulator) runs until this goes.
class Running {
 public:
  explicit Running(const char* name) : before_(running) { running = name; }
  ~Running() { running = before_; }
  Running(const Running&) = delete;

 private:
  const volatile char* before_;
};

// ---- the adapter

class CFirmware;

struct Command {
  tlmssd_command seen{};  ///< by the firmware; first
  HostCommand* command = nullptr;
  bool alive = false;
  bool done = false;  ///< completed by the firmware, not yet handed back
  std::vector<tlmssd_range> ranges;
  std::vector<bool> delivered;  ///< reads: by logical block
  Command* next = nullptr;
};

struct Operation {
  FlashOp op;
  Ledger ledger;
  CFirmware* owner = nullptr;
  Command* command = nullptr;
  tlmssd_flash_done done = nullptr;
  void* self = nullptr;
  std::vector<Lpn> spare;
  std::vector<Stamp> stamps;
  std::vector<std::uint32_t> buffers;
  Operation* next = nullptr;
};

/// A call-back that comes late, of work, an access or a timer.
struct Call {
  CFirmware* owner = nullptr;
  tlmssd_done done = nullptr;
  void* self = nullptr;
  Command* command = nullptr;
  std::vector<tlmssd_work> work;  ///< still to be run
  Cause cause = Cause::count;
  Completion completion;
  Call* next = nullptr;
};

struct Handle {
  tlmssd_host host{};  ///< as the firmware knows it; first
  CFirmware* owner = nullptr;
};

Cause cause_of(tlmssd_wait wait) {
  constexpr std::array k_causes = {Cause::map_fetch, Cause::memory, Cause::buffer_wait, Cause::space_wait,
                                   Cause::lba_hazard_wait};
  const auto n = static_cast<std::size_t>(wait);
  if (n >= k_causes.size()) throw InputError(fmt::format("there is no wait {}", n));
  return k_causes.at(n);
}

class CFirmware final : public Firmware {
  /// A call into the firmware.
  template <class Function, class... Arguments>
  auto ask(Function function, Arguments... arguments) const {
    const Running own(firmware_.name);
    return function(arguments...);
  }

 public:
  CFirmware(const tlmssd_firmware& firmware, const ParameterValues& values, const FirmwareContext& context,
            const std::vector<ParameterSpec>& parameters);
  ~CFirmware() override {
    if (self_ != nullptr) ask(firmware_.destroy, self_);
  }

  void submit(HostCommand& command) override;
  Task<> drain() override;
  [[nodiscard]] Bytes dram_bytes() const override {
    return Bytes{buffer_count_} * shape_.mapping_unit_bytes + dram_behind_;
  }
  [[nodiscard]] bool archives() const override { return firmware_.archive != nullptr; }
  void archive(Archive& archive) override;
  bool power_cycle() override;
  [[nodiscard]] EccCodes codes() const override;
  [[nodiscard]] bool read_only() const override {
    return firmware_.read_only != nullptr && ask(firmware_.read_only, self_) != 0;
  }
  void describe_stall(std::string& text) const override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override {
    if (firmware_.reset_statistics != nullptr) ask(firmware_.reset_statistics, self_);
  }
  void set_timed(bool timed) override;

  // ---- for the functions of tlmssd_api

  /// Does `work`; what it throws is kept until the firmware has returned.
  template <class Work>
  void called(Work work) {
    if (failure_) return;
    const Running emulator(nullptr);
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void complete(tlmssd_command* command, tlmssd_status status);
  void flash(FlashCommand kind, const tlmssd_flash& request, tlmssd_flash_done done, void* self);
  void take(const tlmssd_command* command, std::uint32_t lpn, std::uint32_t buffer);
  void deliver(tlmssd_command* command, std::uint32_t lpn, std::uint32_t buffer);
  void copy(std::uint32_t from, std::uint32_t to, std::uint32_t first, std::uint32_t blocks);
  void run_work(tlmssd_command* command, const tlmssd_work* work, std::size_t count, tlmssd_done done,
                void* self);
  void access(tlmssd_command* command, tlmssd_wait wait, tlmssd_memory memory, std::uint64_t address,
              std::uint64_t bytes, bool write, tlmssd_done done, void* self);
  void charge(tlmssd_command* command, tlmssd_wait wait);
  void timer(std::uint64_t picoseconds, tlmssd_done done, void* self);
  void drained();
  void refuse(const char* parameter, const char* what);
  [[nodiscard]] double number(std::string_view name);
  [[nodiscard]] const char* text(std::string_view name);
  [[nodiscard]] Hardware& hardware() const { return hw_; }

 private:
  using Action = std::function<void()>;
  template <class Work>
  void enter(Work work);
  void later(Action action) { ready_.push_back(std::move(action)); }
  void run_ready();
  [[noreturn]] void fail(const std::exception_ptr& failure) const;
  bool fire_timer();
  [[nodiscard]] Command& known(const tlmssd_command* command) const;
  [[nodiscard]] Stamp* buffer(std::uint32_t number);
  void start(Operation& operation, const tlmssd_flash& request);
  void finish(Operation& operation);
  void bring(const Operation& operation);
  void bring(HostCommand& command, std::vector<bool>& delivered, Lpn lpn, const Stamp* stamps) const;
  void advance(Call& call);
  Task<> reach(Call& call, MemoryKind memory, std::uint64_t address, Bytes bytes, bool write);
  void come_back(Call& call);
  [[nodiscard]] const Value& value_of(std::string_view name) const;
  Call& new_call(tlmssd_command* command, tlmssd_done done, void* self);
  void hand_back(Command& command);

  const tlmssd_firmware& firmware_;
  Hardware& hw_;
  const DriveShape& shape_;
  const ParameterValues* values_;  ///< while it is made
  const std::vector<ParameterSpec>& parameters_;
  std::uint32_t sectors_;
  std::uint32_t units_per_page_;
  Handle handle_;
  void* self_ = nullptr;
  std::uint32_t buffer_count_ = 0;
  Bytes dram_behind_ = 0;
  std::vector<Stamp> buffers_;
  Pool<Command> commands_;
  Pool<Operation> operations_;
  Pool<Call> calls_;
  std::vector<Action> ready_;                 ///< to be done when the firmware has returned
  std::multimap<Picoseconds, Call*> timers_;  ///< untimed
  bool entered_ = false;
  bool timed_ = true;
  std::uint32_t under_way_ = 0;  ///< commands
  bool draining_ = false;
  WaitQueue drains_;
  std::exception_ptr failure_;
};

CFirmware& of(const tlmssd_host* host) {
  return *reinterpret_cast<const Handle*>(host)->owner;
}

// NOLINTBEGIN(readability-identifier-naming): the names of the struct
constexpr tlmssd_api k_api = {
    .size = sizeof(tlmssd_api),
    .complete = [](tlmssd_host* host, tlmssd_command* command,
                   tlmssd_status status) { of(host).called([&] { of(host).complete(command, status); }); },
    .read =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::read, *request, done, self); });
        },
    .program =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::program, *request, done, self); });
        },
    .erase =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::erase, *request, done, self); });
        },
    .pending = [](const tlmssd_host* host, std::uint32_t die) -> std::uint32_t {
      return of(host).hardware().flash.pending(static_cast<DieId>(die));
    },
    .take = [](tlmssd_host* host, const tlmssd_command* command, std::uint32_t lpn,
               std::uint32_t buffer) { of(host).called([&] { of(host).take(command, lpn, buffer); }); },
    .deliver = [](tlmssd_host* host, tlmssd_command* command, std::uint32_t lpn,
                  std::uint32_t buffer) { of(host).called([&] { of(host).deliver(command, lpn, buffer); }); },
    .copy = [](tlmssd_host* host, std::uint32_t from, std::uint32_t to, std::uint32_t first,
               std::uint32_t blocks) { of(host).called([&] { of(host).copy(from, to, first, blocks); }); },
    .run = [](tlmssd_host* host, tlmssd_command* command, const tlmssd_work* work, std::size_t count,
              tlmssd_done done,
              void* self) { of(host).called([&] { of(host).run_work(command, work, count, done, self); }); },
    .access =
        [](tlmssd_host* host, tlmssd_command* command, tlmssd_wait wait, tlmssd_memory memory,
           std::uint64_t address, std::uint64_t bytes, int write, tlmssd_done done, void* self) {
          of(host).called(
              [&] { of(host).access(command, wait, memory, address, bytes, write != 0, done, self); });
        },
    .charge = [](tlmssd_host* host, tlmssd_command* command,
                 tlmssd_wait wait) { of(host).called([&] { of(host).charge(command, wait); }); },
    .timer = [](tlmssd_host* host, std::uint64_t picoseconds, tlmssd_done done,
                void* self) { of(host).called([&] { of(host).timer(picoseconds, done, self); }); },
    .now = [](const tlmssd_host* host) -> std::uint64_t {
      return static_cast<std::uint64_t>(of(host).hardware().event_queue.now());
    },
    .outstanding = [](const tlmssd_host* host) -> std::uint32_t {
      return of(host).hardware().host.outstanding();
    },
    .drained = [](tlmssd_host* host) { of(host).called([&] { of(host).drained(); }); },
    .fail = [](tlmssd_host* host, const char* what) { of(host).called([&] { throw InputError(what); }); },
    .refuse = [](tlmssd_host* host, const char* parameter,
                 const char* what) { of(host).called([&] { of(host).refuse(parameter, what); }); },
    .number = [](const tlmssd_host* host, const char* parameter) { return of(host).number(parameter); },
    .text = [](const tlmssd_host* host, const char* parameter) { return of(host).text(parameter); },
    .archive = [](tlmssd_archive* archive, void* data,
                  std::size_t bytes) { archive->archive->bytes(data, bytes); },
    .saving = [](const tlmssd_archive* archive) { return archive->archive->saving() ? 1 : 0; },
    .value = [](tlmssd_report* report, const char* name, double value, const char* unit,
                const char* doc) { report->sink->value(name, value, unit, doc); },
    .notes = [](const tlmssd_host* host) { return wanted(of(host).hardware(), DecisionKind::own) ? 1 : 0; },
    .note =
        [](tlmssd_host* host, const char* what, const char* why, std::uint32_t lpn) {
          of(host).called([&] {
            const std::span<const Lpn> about(&lpn, lpn == k_no_unit ? 0 : 1);
            note(of(host).hardware(), {.what = what, .why = why == nullptr ? "" : why, .lpns = about});
          });
        },
};
// NOLINTEND(readability-identifier-naming)

CFirmware::CFirmware(const tlmssd_firmware& firmware, const ParameterValues& values,
                     const FirmwareContext& context, const std::vector<ParameterSpec>& parameters)
    : firmware_(firmware),
      hw_(context.hw),
      shape_(context.shape),
      values_(&values),
      parameters_(parameters),
      sectors_(static_cast<std::uint32_t>(shape_.mapping_unit_bytes / shape_.lba_bytes)),
      units_per_page_(static_cast<std::uint32_t>(shape_.geometry.page_bytes / shape_.mapping_unit_bytes)),
      handle_{{&k_api}, this} {
  watch_for_crashes();
  const Geometry& g = shape_.geometry;
  tlmssd_shape shape{};
  shape.size = sizeof shape;
  shape.logical_blocks = shape_.logical_blocks;
  shape.logical_units = static_cast<std::uint32_t>((shape_.logical_blocks + sectors_ - 1) / sectors_);
  shape.lba_bytes = shape_.lba_bytes;
  shape.unit_bytes = static_cast<std::uint32_t>(shape_.mapping_unit_bytes);
  shape.blocks_per_unit = sectors_;
  shape.channels = g.channels;
  shape.dies = g.dies();
  shape.planes = g.planes;
  shape.blocks = g.blocks;
  shape.pages = g.pages;
  shape.units_per_page = units_per_page_;
  shape.program_pages = shape_.program_unit;
  shape.multi_plane = shape_.multi_plane_allowed ? 1 : 0;
  shape.scm_bytes = shape_.scm_bytes;
  shape.seed = context.seed;
  enter([&] { self_ = ask(firmware_.create, &handle_.host, &shape); });
  values_ = nullptr;
  if (self_ == nullptr) throw InputError(fmt::format("firmware {} refuses this drive", firmware_.name));
  buffer_count_ = ask(firmware_.buffers, self_);
  dram_behind_ = ask(firmware_.dram_bytes, self_);
  buffers_.resize(std::size_t{buffer_count_} * sectors_);
  if (firmware_.quiet != nullptr) {
    hw_.host.on_quiet(
        [](void* owner) {
          auto& self = *static_cast<CFirmware*>(owner);
          self.enter([&self] { self.ask(self.firmware_.quiet, self.self_); });
        },
        this);
  }
}

// ---- into the firmware and out of it

template <class Work>
void CFirmware::enter(Work work) {
  if (entered_) {
    later(work);
    return;
  }
  entered_ = true;
  ready_.emplace_back(work);
  try {
    run_ready();
    while (!timed_ && (under_way_ > 0 || draining_) && fire_timer()) run_ready();
  } catch (...) {
    entered_ = false;
    throw;
  }
  entered_ = false;
}

void CFirmware::run_ready() {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Action action = std::move(ready_[i]);
    action();
    if (failure_) {
      ready_.clear();
      fail(std::exchange(failure_, nullptr));
    }
  }
  ready_.clear();
}

/// With its name, unless it is about a key of the scenario.
void CFirmware::fail(const std::exception_ptr& failure) const {
  const std::string name = fmt::format("firmware {}: ", firmware_.name);
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (!error.complaint().key.empty() || what.starts_with(name)) throw;
    throw InputError(name + what);
  }
}

bool CFirmware::fire_timer() {
  if (timers_.empty()) return false;
  // Firmware that waits for what never comes by asking again and again is found out like any other.
  static_cast<void>(hw_.cpu.run(Stage::command, 1));
  Call& call = *timers_.begin()->second;
  timers_.erase(timers_.begin());
  later([this, &call] { come_back(call); });
  return true;
}

void CFirmware::set_timed(bool timed) {
  timed_ = timed;
  if (!timed) return;
  for (const auto& [when, call] : std::exchange(timers_, {})) {
    hw_.event_queue.at(
        when,
        [](void* late) {
          Call& self = *static_cast<Call*>(late);
          self.owner->enter([&] { self.owner->come_back(self); });
        },
        call);
  }
}

// ---- commands

Command& CFirmware::known(const tlmssd_command* command) const {
  auto* const own = const_cast<Command*>(reinterpret_cast<const Command*>(command));
  if (command == nullptr || !own->alive || own->done)
    throw InputError("names a command that is not outstanding (completed twice?)");
  return *own;
}

void CFirmware::submit(HostCommand& command) {
  Command& own = commands_.take();
  own.command = &command;
  own.alive = true;
  own.done = false;
  own.ranges.clear();
  for (const LbaRange& range : command.ranges) own.ranges.push_back({range.lba, range.blocks});
  own.delivered.assign(command.opcode == HostOpcode::read ? command.blocks : 0, false);
  own.seen = {};
  own.seen.size = sizeof own.seen;
  own.seen.opcode = static_cast<tlmssd_opcode>(command.opcode);
  own.seen.force_unit_access = command.force_unit_access ? 1 : 0;
  own.seen.lba = command.lba;
  own.seen.blocks = command.blocks;
  own.seen.placement_handle = command.placement_handle;
  own.seen.ranges = own.ranges.data();
  own.seen.range_count = own.ranges.size();
  ++under_way_;
  enter([this, &own] { ask(firmware_.submit, self_, &own.seen); });
}

void CFirmware::complete(tlmssd_command* command, tlmssd_status status) {
  Command& own = known(command);
  if (static_cast<unsigned>(status) > TLMSSD_INVALID_FIELD)
    throw InputError(
        fmt::format("completes a command with status {}, which there is not", static_cast<unsigned>(status)));
  const auto missing = std::find(own.delivered.begin(), own.delivered.end(), false);
  if (status == TLMSSD_SUCCESS && missing != own.delivered.end()) {
    throw InputError(fmt::format(
        "completes a read of {} blocks at {} without data for block {}", own.command->blocks,
        own.command->lba, own.command->lba + static_cast<std::uint64_t>(missing - own.delivered.begin())));
  }
  own.command->status = static_cast<HostStatus>(status);
  own.done = true;
  later([this, &own] { hand_back(own); });
}

void CFirmware::hand_back(Command& command) {
  command.alive = false;
  --under_way_;
  HostCommand& host = *std::exchange(command.command, nullptr);
  commands_.give(command);
  hw_.host.complete(host);
  if (firmware_.quiet != nullptr && hw_.host.outstanding() == 0) ask(firmware_.quiet, self_);
}

// ---- content

Stamp* CFirmware::buffer(std::uint32_t number) {
  if (number >= buffer_count_) throw InputError(fmt::format("names buffer {} of {}", number, buffer_count_));
  return &buffers_[std::size_t{number} * sectors_];
}

void CFirmware::take(const tlmssd_command* command, std::uint32_t lpn, std::uint32_t number) {
  const HostCommand& host = *known(command).command;
  Stamp* const to = buffer(number);
  const auto copy = [&](std::uint64_t lba, std::uint64_t blocks, bool data) {
    const std::uint64_t start = std::uint64_t{lpn} * sectors_;
    const std::uint64_t first = std::max(lba, start);
    const std::uint64_t end = std::min(lba + blocks, start + sectors_);
    for (std::uint64_t block = first; block < end; ++block)
      to[block - start] = data ? host.data[block - host.lba] : k_zeros;
  };
  if (host.opcode == HostOpcode::write) {
    copy(host.lba, host.blocks, true);
  } else if (host.ranges.empty()) {
    copy(host.lba, host.blocks, false);
  } else {
    for (const LbaRange& range : host.ranges) copy(range.lba, range.blocks, false);
  }
}

void CFirmware::bring(HostCommand& command, std::vector<bool>& delivered, Lpn lpn,
                      const Stamp* stamps) const {
  const std::uint64_t start = std::uint64_t{lpn} * sectors_;
  const std::uint64_t first = std::max(command.lba, start);
  const std::uint64_t end = std::min(command.lba + command.blocks, start + sectors_);
  for (std::uint64_t block = first; block < end; ++block) {
    command.data[block - command.lba] = stamps == nullptr ? k_zeros : stamps[block - start];
    delivered[block - command.lba] = true;
  }
}

void CFirmware::deliver(tlmssd_command* command, std::uint32_t lpn, std::uint32_t number) {
  Command& own = known(command);
  if (own.command->opcode != HostOpcode::read) throw InputError("delivers data to a command that is no read");
  bring(*own.command, own.delivered, lpn, number == TLMSSD_NO_BUFFER ? nullptr : buffer(number));
}

void CFirmware::copy(std::uint32_t from, std::uint32_t to, std::uint32_t first, std::uint32_t blocks) {
  if (first + std::uint64_t{blocks} > sectors_)
    throw InputError(fmt::format("copies blocks {} to {} of a buffer of {}", first,
                                 first + std::uint64_t{blocks}, sectors_));
  Stamp* const target = buffer(to) + first;
  if (from == TLMSSD_NO_BUFFER) {
    std::fill_n(target, blocks, k_zeros);
  } else {
    std::copy_n(buffer(from) + first, blocks, target);
  }
}

// ---- flash

void CFirmware::flash(FlashCommand kind, const tlmssd_flash& request, tlmssd_flash_done done, void* self) {
  if (done == nullptr) throw InputError("orders a flash operation without a call-back");
  Command* const command = request.command == nullptr ? nullptr : &known(request.command);
  Operation& operation = operations_.take();
  operation.owner = this;
  operation.command = command;
  operation.done = done;
  operation.self = self;
  FlashOp& op = operation.op;
  op = {};
  op.command = kind;
  op.purpose = static_cast<Purpose>(request.purpose);
  if (op.purpose >= Purpose::count)
    throw InputError("orders a flash operation for a purpose that there is not");
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
    for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
      if (operation.buffers[i] != TLMSSD_NO_BUFFER)
        std::copy_n(buffer(operation.buffers[i]), sectors_, &operation.stamps[i * sectors_]);
    }
  }
  op.spare = operation.spare.data();
  op.stamps = operation.stamps.data();
  const bool own_place = !operation.buffers.empty() && operation.buffers.front() != TLMSSD_NO_BUFFER;
  if (own_place) {
    op.buffer_address = operation.buffers.front() * shape_.mapping_unit_bytes;
  } else if (operation.command != nullptr) {
    op.buffer_address = operation.command->command->buffer_address;
  }
  if (operation.command != nullptr) {
    operation.ledger = operation.command->command->ledger.fork();
    op.ledger = &operation.ledger;
  }
  op.on_done = [](void* late) {
    auto& ended = *static_cast<Operation*>(late);
    ended.owner->enter([&ended] { ended.owner->finish(ended); });
  };
  op.on_done_self = &operation;
  if (hw_.flash.submit(op)) later([this, &operation] { finish(operation); });
}

void CFirmware::finish(Operation& operation) {
  const FlashOp& op = operation.op;
  Command* const command = operation.command;
  if (command != nullptr && command->alive) {
    charge_branch(command->command->ledger, operation.ledger, Cause::buffer_wait);
  }
  if (op.command == FlashCommand::read) bring(operation);
  tlmssd_result result{};
  result.size = sizeof result;
  result.status = static_cast<tlmssd_flash_status>(op.status);
  result.lpns = operation.spare.data();
  result.units = op.slots;
  result.wrong_bits = op.wrong_bits;
  result.failed_units = op.failed_slots;
  ask(operation.done, operation.self, &result);
  operations_.give(operation);
}

/// What a read has brought goes where it was asked for.
void CFirmware::bring(const Operation& operation) {
  const FlashOp& op = operation.op;
  const auto lost = [&](std::uint32_t slot) {
    return op.status == FlashStatus::uncorrectable &&
           (op.failed_slots == 0 || ((op.failed_slots >> (slot % 64)) & 1U) != 0);
  };
  Command* const command = operation.command;
  const bool to_command = operation.buffers.empty() && command != nullptr && command->alive &&
                          command->command->opcode == HostOpcode::read;
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

// ---- time

Call& CFirmware::new_call(tlmssd_command* command, tlmssd_done done, void* self) {
  Call& call = calls_.take();
  call.owner = this;
  call.done = done;
  call.self = self;
  call.command = command == nullptr ? nullptr : &known(command);
  call.cause = Cause::count;
  call.completion = {};
  call.work.clear();
  return call;
}

void CFirmware::come_back(Call& call) {
  const tlmssd_done done = call.done;
  void* const self = call.self;
  if (call.cause != Cause::count && call.command != nullptr && call.command->alive)
    call.command->command->ledger.charge(call.cause, hw_.event_queue.now());
  calls_.give(call);
  if (done != nullptr) ask(done, self);
}

void CFirmware::run_work(tlmssd_command* command, const tlmssd_work* work, std::size_t count,
                         tlmssd_done done, void* self) {
  Call& call = new_call(command, done, self);
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<unsigned>(work[i].stage) >= k_stages) throw InputError("runs a stage that there is not");
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
  CpuPort::Run run{};
  if (first.times == 1 && !call.work.empty() &&
      hw_.cpu.same_cores(stage, static_cast<Stage>(call.work.back().stage))) {
    run = hw_.cpu.run(stage, static_cast<Stage>(call.work.back().stage), call.work.back().times);
    call.work.pop_back();
  } else {
    run = hw_.cpu.run(stage, first.times);
  }
  if (call.command != nullptr && call.command->alive) {
    Ledger& ledger = call.command->command->ledger;
    if (run.end > ledger.mark()) {
      ledger.charge(Cause::core_wait, std::max(run.start, ledger.mark()));
      ledger.charge(Cause::firmware, run.end);
    }
  }
  if (run.end <= hw_.event_queue.now()) {
    later([this, &call] { advance(call); });
    return;
  }
  hw_.event_queue.at(
      run.end,
      [](void* late) {
        Call& self = *static_cast<Call*>(late);
        self.owner->enter([&self] { self.owner->advance(self); });
      },
      &call);
}

void CFirmware::access(tlmssd_command* command, tlmssd_wait wait, tlmssd_memory memory, std::uint64_t address,
                       std::uint64_t bytes, bool write, tlmssd_done done, void* self) {
  const Bytes size = memory == TLMSSD_SCM ? shape_.scm_bytes : dram_bytes();
  if (bytes == 0 || address > size || bytes > size - address)
    throw InputError(
        fmt::format("accesses {} bytes at {} of a memory of {} that is its own", bytes, address, size));
  Call& call = new_call(command, done, self);
  call.cause = cause_of(wait);
  reach(call, memory == TLMSSD_SCM ? MemoryKind::scm : MemoryKind::dram, address, bytes, write).start();
}

Task<> CFirmware::reach(Call& call, MemoryKind memory, std::uint64_t address, Bytes bytes, bool write) {
  MemoryAccess access(hw_, memory, address, bytes, write, nullptr, Cause::memory);
  co_await access;
  enter([this, &call] { come_back(call); });
}

void CFirmware::charge(tlmssd_command* command, tlmssd_wait wait) {
  known(command).command->ledger.charge(cause_of(wait), hw_.event_queue.now());
}

void CFirmware::timer(std::uint64_t picoseconds, tlmssd_done done, void* self) {
  if (done == nullptr) throw InputError("sets a timer without a call-back");
  const Picoseconds when = hw_.event_queue.now() + static_cast<Picoseconds>(picoseconds);
  Call& call = new_call(nullptr, done, self);
  timers_.emplace(when, &call);
  if (timed_) set_timed(true);
}

// ---- the rest

Task<> CFirmware::drain() {
  draining_ = true;
  enter([this] { ask(firmware_.drain, self_); });
  while (draining_) {
    auto wait = drains_.wait();
    co_await wait;
  }
}

void CFirmware::drained() {
  if (!draining_) throw InputError("says that it is drained, but was not asked to");
  draining_ = false;
  while (const auto waiter = drains_.pop()) hw_.event_queue.soon(waiter);
}

void CFirmware::archive(Archive& archive) {
  std::string version = firmware_.version;
  archive(version);
  if (version != firmware_.version)
    throw ArchiveError(
        fmt::format("the snapshot is of {} {}, this is {}", firmware_.name, version, firmware_.version));
  archive(buffers_);
  buffers_.resize(std::size_t{buffer_count_} * sectors_);
  tlmssd_archive own{&archive};
  enter([&] { ask(firmware_.archive, self_, &own); });
}

bool CFirmware::power_cycle() {
  if (firmware_.power_cycle == nullptr) return false;
  enter([this] { ask(firmware_.power_cycle, self_); });
  return true;
}

EccCodes CFirmware::codes() const {
  EccCodes codes;
  for (std::size_t code = 1; code < k_ecc_codes; ++code) {
    if (((firmware_.codes >> code) & 1U) != 0) codes.add(static_cast<EccCode>(code));
  }
  return codes;
}

void CFirmware::describe_stall(std::string& text) const {
  if (firmware_.describe_stall == nullptr) return;
  std::array<char, 4096> lines{};
  const std::size_t length = ask(firmware_.describe_stall, self_, lines.data(), lines.size());
  text.append(lines.data(), std::min(length, lines.size()));
  if (!text.ends_with('\n')) text += '\n';
}

void CFirmware::report(StatisticsSink& sink) const {
  if (firmware_.report == nullptr) return;
  tlmssd_report own{&sink};
  ask(firmware_.report, self_, &own);
}

// ---- parameters

void CFirmware::refuse(const char* parameter, const char* what) {
  throw InputError(Complaint{{}, 0, parameter, what, {}});
}

/// What is given, else the default.
const Value& CFirmware::value_of(std::string_view name) const {
  if (values_ == nullptr) throw InputError("asks for a parameter other than in create()");
  for (const ParameterSpec& parameter : parameters_) {
    if (parameter.name != name) continue;
    const Value* const given = values_->find(name);
    return given != nullptr ? *given : parameter.fallback;
  }
  throw InputError(fmt::format("asks for parameter '{}', which it has not declared", name));
}

double CFirmware::number(std::string_view name) {
  double number = 0;
  called([&] {
    const Value& value = value_of(name);
    if (const auto* const flag = std::get_if<bool>(&value)) {
      number = *flag ? 1 : 0;
    } else if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
      number = static_cast<double>(*whole);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      number = *real;
    } else {
      throw InputError(fmt::format("asks for parameter '{}' as a number", name));
    }
  });
  return number;
}

const char* CFirmware::text(std::string_view name) {
  const char* text = "";
  called([&] {
    const auto* const words = std::get_if<std::string>(&value_of(name));
    if (words == nullptr) throw InputError(fmt::format("asks for parameter '{}' as a text", name));
    text = words->c_str();
  });
  return text;
}

ParameterSpec spec_of(const tlmssd_parameter& parameter) {
  constexpr std::array k_kinds = {Kind::integer, Kind::real, Kind::share, Kind::time,
                                  Kind::bytes,   Kind::flag, Kind::text};
  ParameterSpec spec;
  spec.name = parameter.name;
  spec.kind = k_kinds.at(static_cast<std::size_t>(parameter.kind));
  spec.minimum = parameter.minimum;
  spec.maximum = parameter.maximum;
  spec.doc = parameter.doc == nullptr ? "" : parameter.doc;
  switch (spec.kind) {
    case Kind::flag:
      spec.fallback = parameter.fallback != 0;
      break;
    case Kind::real:
    case Kind::share:
      spec.fallback = parameter.fallback;
      break;
    case Kind::text:
      spec.fallback = std::string();
      break;
    default:
      spec.fallback = static_cast<std::int64_t>(parameter.fallback);
  }
  return spec;
}

/// The struct as this version knows it: what an older header had not is null.
tlmssd_firmware whole(const tlmssd_firmware& given, const std::string& origin) {
  if (given.api != TLMSSD_FIRMWARE_API)
    throw InputError(
        fmt::format("{}: its firmware is written for version {} of tlmssd_firmware.h, but this is {}", origin,
                    given.api, TLMSSD_FIRMWARE_API));
  tlmssd_firmware firmware{};
  std::memcpy(&firmware, &given, std::min(given.size, sizeof firmware));
  const bool complete = firmware.name != nullptr && firmware.version != nullptr &&
                        firmware.create != nullptr && firmware.destroy != nullptr &&
                        firmware.buffers != nullptr && firmware.dram_bytes != nullptr &&
                        firmware.submit != nullptr && firmware.drain != nullptr;
  if (!complete)
    throw InputError(origin +
                     ": its firmware lacks a name, a version or one of create, destroy, buffers, "
                     "dram_bytes, submit and drain");
  return firmware;
}

}  // namespace

void add_c_firmware(const tlmssd_firmware& firmware, const std::string& origin) {
  struct Known {
    tlmssd_firmware firmware;
    std::vector<ParameterSpec> parameters;
  };
  const auto known = std::make_shared<Known>(Known{whole(firmware, origin), {}});
  for (std::size_t i = 0; i < known->firmware.parameter_count; ++i)
    known->parameters.push_back(spec_of(known->firmware.parameters[i]));
  const char* const summary = known->firmware.summary;
  PolicyInfo info{known->firmware.name, summary == nullptr ? "" : summary, known->parameters, origin};
  if (firmware_family().find(info.name) != nullptr)
    throw InputError("plug-in " + origin + ": there is a firmware " + info.name + " already");
  firmware_family().add(
      std::move(info), [known](const ParameterValues& values, const FirmwareContext& context) {
        return std::make_unique<CFirmware>(known->firmware, values, context, known->parameters);
      });
}

}  // namespace tlmssd::firmware

void tlmssd_add_firmware(const tlmssd_firmware* firmware) {
  using tlmssd::firmware::add_c_firmware;
  const bool named = firmware->name != nullptr && firmware->version != nullptr;
  add_c_firmware(*firmware, named ? std::string(firmware->name) + " " + firmware->version : "firmware");
}
