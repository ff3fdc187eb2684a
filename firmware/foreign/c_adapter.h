// One piece of firmware in C, seen as firmware/base/firmware.h: what it is told, what it asks for
// by tlmssd_api, and what is under way for it.
//
// No call-back runs from within a call of the firmware's, and no exception passes through its
// frames: what is to happen waits until the outermost call has returned, and so does what is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "firmware/base/firmware.h"
#include "firmware/base/layout.h"
#include "firmware/foreign/crash_watch.h"
#include "firmware/foreign/tlmssd_firmware.h"
#include "models/base/input_error.h"
#include "models/base/intrusive_queue.h"
#include "models/base/read_verdict.h"
#include "models/base/slab.h"

namespace tlmssd::firmware::foreign {
class CFirmware;
}  // namespace tlmssd::firmware::foreign

// NOLINTBEGIN(readability-identifier-naming): names as in C
struct tlmssd_archive {
  tlmssd::firmware::foreign::CFirmware* owner;
  bool saving;
  std::vector<unsigned char> bytes;  ///< that have been saved
  std::size_t at;                    ///< restored up to here
};
struct tlmssd_report {
  const tlmssd::firmware::foreign::CFirmware* owner;
  tlmssd::StatisticsSink* sink;
};
// NOLINTEND(readability-identifier-naming)

namespace tlmssd::firmware::foreign {

/// The number of an enumeration of C, which may be none of those that C++ takes it to have.
template <class Enumeration>
std::uint32_t number_in(const Enumeration& field) {
  static_assert(sizeof field == sizeof(std::uint32_t));
  std::uint32_t number = 0;
  std::memcpy(&number, &field, sizeof number);
  return number;
}

struct Command {
  tlmssd_command seen{};  ///< by the firmware; first
  HostCommand* command = nullptr;
  bool alive = false;
  bool done = false;            ///< completed by the firmware, not yet handed back
  std::uint64_t serial = 0;     ///< which command it is: places of earlier ones are used again
  std::uint32_t under_way = 0;  ///< memory accesses and flash operations that it waits for
  std::vector<tlmssd_range> ranges;
  std::vector<bool> delivered;  ///< reads: by logical block
  Command* next = nullptr;
};

struct Operation {
  FlashTransaction op;
  Ledger ledger;
  CFirmware* owner = nullptr;
  Command* command = nullptr;
  tlmssd_flash_done done = nullptr;
  void* self = nullptr;
  std::vector<Lpn> spare;
  std::vector<Stamp> stamps;
  ReadVerdict verdict;
  std::vector<std::uint32_t> buffers;
  Operation* next = nullptr;
};

/// A call-back that comes late, of work, an access or a timer.
struct Call {
  CFirmware* owner = nullptr;
  tlmssd_done done = nullptr;
  void* self = nullptr;
  Command* command = nullptr;
  std::uint64_t serial = 0;       ///< of the command, which may be gone when it ends
  bool awaited = false;           ///< it counts among what is under way for the command
  std::vector<tlmssd_work> work;  ///< still to be run
  Cause cause = Cause::count;
  Completion completion;
  CpuPort::Run run{};    ///< of the stage under way
  Picoseconds when = 0;  ///< timers: due
  bool armed = false;    ///< timers: the event queue has it
  Call* next = nullptr;
};

struct Handle {
  tlmssd_host host{};  ///< as the firmware knows it; first
  CFirmware* owner = nullptr;
};

class CFirmware final : public Firmware {
  /// A call into the firmware, from within enter() or question().
  template <class Function, class... Arguments>
  auto ask(Function function, Arguments... arguments) const {
    const Running own(firmware_.name);
    return function(arguments...);
  }

  /// The same outside of enter(): what the firmware does wrong in it is thrown when it returns.
  template <class Result, class... Parameters, class... Arguments>
  Result answer(Result (*function)(Parameters...), Arguments... arguments) const {
    if constexpr (std::is_void_v<Result>) {
      ask(function, arguments...);
      check_failure();
    } else {
      const Result result = ask(function, arguments...);
      check_failure();
      return result;
    }
  }
  void check_failure() const {
    if (failure_ && !entered_) fail(std::exchange(failure_, nullptr));
  }

 public:
  CFirmware(const tlmssd_firmware& firmware, const ParameterValues& values, const FirmwareContext& context,
            const std::vector<ParameterSpec>& parameters);
  ~CFirmware() override;

  void submit(HostCommand& command) override;
  Task<> drain() override;
  [[nodiscard]] Bytes dram_bytes() const override {
    const Bytes buffers = Bytes{buffer_count_} * shape_.mapping_page_bytes;
    return buffers + std::min(dram_behind_, ~Bytes{0} - buffers);  // it may say any number
  }
  [[nodiscard]] bool archives() const override { return firmware_.archive != nullptr; }
  void archive(Archive& archive) override;
  bool power_cycle() override;
  [[nodiscard]] EccCodes codes() const override;
  [[nodiscard]] bool read_only() const override {
    return firmware_.read_only != nullptr && answer(firmware_.read_only, self_) != 0;
  }
  void describe_stall(std::string& text) const override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override {
    if (firmware_.reset_statistics != nullptr) answer(firmware_.reset_statistics, self_);
  }
  void set_timed(bool timed) override;
  [[nodiscard]] std::size_t timers() const override { return armed_; }

  // ---- for the functions of tlmssd_api

  /// Does `work`; what it throws is kept until the firmware has returned.
  template <class Work>
  void called(Work work) const {
    if (failure_) return;
    const Running emulator(nullptr);
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void complete(tlmssd_command* command, tlmssd_status status);
  void flash(FlashCommand kind, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
    if (request == nullptr) throw InputError("orders a flash operation, but names none (null)");
    flash(kind, *request, done, self);
  }
  void flash(FlashCommand kind, const tlmssd_flash& request, tlmssd_flash_done done, void* self);
  [[nodiscard]] std::uint32_t pending(std::uint32_t die) const;
  void take(const tlmssd_command* command, std::uint32_t lpn, std::uint32_t buffer);
  void deliver(tlmssd_command* command, std::uint32_t lpn, std::uint32_t buffer);
  void copy(std::uint32_t from, std::uint32_t to, std::uint32_t first, std::uint32_t blocks);
  void run_work(tlmssd_command* command, const tlmssd_work* work, std::size_t count, tlmssd_done done,
                void* self);
  /// `wait`, `memory`: numbers of tlmssd_wait and tlmssd_memory, perhaps of none.
  void access(tlmssd_command* command, std::uint32_t wait, std::uint32_t memory, std::uint64_t address,
              std::uint64_t bytes, bool write, tlmssd_done done, void* self);
  void charge(tlmssd_command* command, std::uint32_t wait);
  void timer(std::uint64_t picoseconds, tlmssd_done done, void* self);
  void drained();
  void save_or_restore(tlmssd_archive& archive, void* data, std::size_t bytes);
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
  void arm(Call& timer);
  static void timer_due(void* timer);
  [[nodiscard]] Command& known(const tlmssd_command* command) const;
  [[nodiscard]] Stamp* buffer(std::uint32_t number);
  void check_ranges(FlashCommand kind, const tlmssd_flash& request) const;
  void check_units(const Operation& operation) const;
  void start(Operation& operation, const tlmssd_flash& request);
  void finish(Operation& operation);
  void bring(const Operation& operation);
  /// False: the command has no block of the unit.
  bool bring(HostCommand& command, std::vector<bool>& delivered, Lpn lpn, const Stamp* stamps) const;
  void advance(Call& call);
  static Ledger* ledger_of(const Call& call);
  static void charge_stage(const Call& call);
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
  std::uint32_t units_;  ///< logical ones
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
  std::multimap<Picoseconds, Call*> timers_;  ///< all of them
  std::size_t armed_ = 0;                     ///< those that the event queue has
  bool entered_ = false;
  bool timed_ = true;
  std::uint32_t under_way_ = 0;  ///< commands
  std::uint64_t commands_seen_ = 0;
  bool draining_ = false;
  WaitQueue drains_;
  mutable std::exception_ptr failure_;  ///< what it has done wrong in the call under way
};

/// The functions that firmware may call, which find their adapter by the handle it was given.
const tlmssd_api& adapter_api();

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

}  // namespace tlmssd::firmware::foreign
