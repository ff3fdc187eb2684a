// The controller's cores and their way to everything else: mailbox from the host interface, flash
// controller, memories.
//
// Modelled: `cores` cores of one clock; a firmware stage costs a number of cycles and runs on the
// earliest free core among those its stage is assigned to (lowest number first), in the order asked
// for: end = max(core free, now) + cycles / clock. Left out: caches, pipelines, interrupts and
// context switches of the cores; their cost belongs into the cycles. The default cycles are
// assumptions of this project (a few hundred instructions per command on a 500 MHz core), not
// measurements.
//
// Firmware itself does not live here: platform/ registers a handler for new commands and calls the
// functions below.
#pragma once

#include <systemc>
#include <tlm>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/base/archive.h"
#include "models/base/busy_sink.h"
#include "models/base/event_queue.h"
#include "models/base/flash_transaction.h"
#include "models/base/host_command.h"
#include "models/base/parameters.h"
#include "models/base/stage.h"
#include "models/base/statistics.h"
#include "models/cpu/stage_costs.h"
#include "models/memory/memory_client.h"
#include "models/tlm/ports.h"

namespace tlmssd {

/// Scenario section ssd.cpu.cycles: cycles of one execution of each stage; 0: free.
struct CpuCyclesConfig {
  std::uint32_t command = 150;
  std::uint32_t translate = 50;
  std::uint32_t buffer = 40;
  std::uint32_t flash = 100;
  std::uint32_t complete = 100;
  std::uint32_t gc = 60;
  static const ParameterTable<CpuCyclesConfig>& parameters();
};

/// Scenario section ssd.cpu.assignment: the cores that may run each stage; an empty list: any.
struct CpuAssignmentConfig {
  std::vector<std::int64_t> command;
  std::vector<std::int64_t> translate;
  std::vector<std::int64_t> buffer;
  std::vector<std::int64_t> flash;
  std::vector<std::int64_t> complete;
  std::vector<std::int64_t> gc;
  /// Whether some stage may not run everywhere.
  [[nodiscard]] bool pins() const {
    return !(command.empty() && translate.empty() && buffer.empty() && flash.empty() && complete.empty() &&
             gc.empty());
  }
  static const ParameterTable<CpuAssignmentConfig>& parameters();
};

/// Scenario section ssd.cpu; its two sub-sections are tables of their own.
struct CpuConfig {
  std::uint32_t cores = 2;
  Hertz clock = 500'000'000;
  CpuCyclesConfig cycles;
  CpuAssignmentConfig assignment;
  std::vector<std::string> costs;  ///< lines of a table (stage_costs.h); none: cycles are constant
  StagePolicies policies;          ///< of the drive, for that table
  static const ParameterTable<CpuConfig>& parameters();  ///< cores, clock and costs
  /// Throws InputError when a stage is assigned to a core that does not exist; the message names
  /// key and value.
  void validate() const;
};

/// Who wants to see every stage executed.
class CpuObserver {
 public:
  virtual ~CpuObserver() = default;
  virtual void ran(std::uint32_t core, Stage stage, Picoseconds start, Picoseconds end) = 0;
};

/// Core reservations. Plain: no kernel needed.
class CoreSet {
 public:
  explicit CoreSet(const CpuConfig& config);
  struct Run {
    Picoseconds start;
    Picoseconds end;
  };
  /// Reserves a core for `times` executions of `stage`.
  Run run(Picoseconds now, Stage stage, std::uint32_t times);
  /// Reserves one core for `first` and, straight afterwards, for `times` executions of `second`;
  /// same_cores() must hold.
  Run run(Picoseconds now, Stage first, Stage second, std::uint32_t times);
  /// Whether the same cores run both stages.
  [[nodiscard]] bool same_cores(Stage first, Stage second) const {
    return stages_[static_cast<std::size_t>(first)].set == stages_[static_cast<std::size_t>(second)].set;
  }
  /// Whether cycles depend on what describe() says.
  [[nodiscard]] bool by_work() const { return costs_ != nullptr; }
  /// What the next run of `stage` has to do; only with by_work().
  void describe(Stage stage, const StageWork& work) { described_[static_cast<std::size_t>(stage)] = work; }
  void set_observer(CpuObserver* observer) { observer_ = observer; }
  void report(StatisticsSink& sink, Picoseconds now) const;
  void tell_busy(BusySink& sink, Picoseconds now) const;
  void reset_statistics(Picoseconds now);
  /// What is booked beyond an idle moment; another number of cores may take it up.
  void archive(Archive& a);
  [[nodiscard]] Picoseconds busy(std::uint32_t core) const { return cores_[core].busy; }

 private:
  struct Core {
    Picoseconds free = 0;
    Picoseconds busy = 0;
    std::uint64_t runs = 0;
  };
  struct StageState {
    std::uint64_t cycles = 0;
    Picoseconds once = 0;                 // time of one execution
    std::vector<std::uint32_t> eligible;  // cores, ascending
    std::size_t set = 0;                  // first stage with the same eligible cores
    std::uint64_t executions = 0;
    Picoseconds busy = 0;
    Picoseconds waiting = 0;
    Picoseconds longest_wait = 0;
  };
  [[nodiscard]] Picoseconds duration(const StageState& state, std::uint32_t times) const;
  [[nodiscard]] Picoseconds duration_by_work(Stage stage, std::uint32_t times);
  std::uint32_t earliest(const StageState& state, Picoseconds now) const;
  Run occupy(std::uint32_t core, Stage stage, std::uint32_t times, Picoseconds now);
  Hertz clock_;
  std::vector<Core> cores_;
  std::array<StageState, k_stages> stages_;
  std::unique_ptr<const StageCosts> costs_;  // null: cycles are constant
  std::array<StageWork, k_stages> described_;
  CpuObserver* observer_ = nullptr;
  Picoseconds since_ = 0;
};

class ControllerCpu : public sc_core::sc_module {
  using MailboxEntry = HostExtension;  ///< a command in the mailbox

 public:
  using Run = CoreSet::Run;
  using Handler = void (*)(void* self, HostCommand& command);
  enum class Mode : std::uint8_t { timed, untimed };

  /// `stamps_per_unit`: logical blocks per mapping page, for the data length of flash payloads.
  ControllerCpu(const sc_core::sc_module_name& name, const CpuConfig& config, EventQueue& event_queue,
                std::uint32_t stamps_per_unit = 1);

  ResponsePort<ControllerCpu, MailboxEntry> mailbox_tsock;
  RequestPort<ControllerCpu, FlashExtension> flash_isock;

 private:
  MemoryClient memory_;

 public:
  MemoryClient::Port& memory_isock;

  /// Untimed: run() and access() end now. Switch only when nothing is under way.
  void set_mode(Mode mode) { mode_ = mode; }
  [[nodiscard]] Mode mode() const { return mode_; }
  /// Called for every new command in the mailbox. In untimed mode it must complete() the command
  /// before it returns.
  void set_handler(Handler handler, void* self) {
    handler_ = handler;
    handler_self_ = self;
  }
  /// Reserves a core for `times` executions of `stage`. A stage of 0 cycles takes no time and waits
  /// for none.
  Run run(Stage stage, std::uint32_t times = 1) {
    if (mode_ == Mode::untimed) return run_untimed();
    return cores_.run(event_queue_.now(), stage, times);
  }
  /// Reserves one core for `first` and, straight afterwards, for `times` executions of `second`;
  /// same_cores() must hold.
  Run run(Stage first, Stage second, std::uint32_t times) {
    if (mode_ == Mode::untimed) return run_untimed();
    return cores_.run(event_queue_.now(), first, second, times);
  }
  [[nodiscard]] bool same_cores(Stage first, Stage second) const { return cores_.same_cores(first, second); }
  /// Whether cycles depend on what describe() says.
  [[nodiscard]] bool by_work() const { return cores_.by_work(); }
  /// What the next run of `stage` has to do; only with by_work().
  void describe(Stage stage, const StageWork& work) {
    if (mode_ == Mode::timed) cores_.describe(stage, work);
  }
  /// One memory access at a system bus address (see address_map.h). Returns its end, or k_never:
  /// then done(self) is called when it ends.
  Picoseconds access(std::uint64_t address, Bytes bytes, bool write, EventQueue::Callback done, void* self) {
    if (mode_ == Mode::timed) return memory_.access(address, bytes, write, done, self);
    memory_.access_untimed(address, bytes, write);
    return event_queue_.now();
  }
  /// Timed: sends `op` to the flash controller; op.on_done is called through the event queue.
  /// Throws std::logic_error when it is still under way.
  void submit(FlashTransaction& op);
  /// Untimed: `op` is done when this returns.
  void execute(FlashTransaction& op);
  /// Untimed work that takes more than so many stages and flash operations, from begin_untimed() or
  /// its command on, is taken for one that never ends: Stalled is thrown.
  void limit_untimed(std::uint64_t steps) { untimed_limit_ = untimed_left_ = steps; }
  void begin_untimed() {
    most_untimed_ = most_untimed();
    untimed_left_ = untimed_limit_;
  }
  [[nodiscard]] std::uint64_t untimed_limit() const { return untimed_limit_; }
  /// The most steps that have been taken without a new beginning.
  [[nodiscard]] std::uint64_t most_untimed() const {
    return std::max(most_untimed_, untimed_limit_ - untimed_left_);
  }
  /// Hands a finished command back to the host interface.
  void complete(HostCommand& command);
  /// Commands in the mailbox that have not been completed.
  [[nodiscard]] std::uint32_t commands() const { return commands_; }
  /// Flash operations submitted that are not done.
  [[nodiscard]] std::uint64_t flash_operations() const { return flash_operations_; }

  void set_observer(CpuObserver* observer) { cores_.set_observer(observer); }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const { cores_.tell_busy(sink, event_queue_.now()); }
  void reset_statistics();
  void archive(Archive& a) { cores_.archive(a); }

  // For the ports: the mailbox's, then the flash controller's.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  [[nodiscard]] Picoseconds responding(MailboxEntry& entry) const;
  void consumed(MailboxEntry& /*entry*/) {}
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  Run run_untimed() {
    spend_untimed();
    return {event_queue_.now(), event_queue_.now()};
  }
  void spend_untimed() {
    if (--untimed_left_ == 0) untimed_endless();
  }
  [[noreturn]] void untimed_endless();
  MailboxEntry* take(tlm::tlm_generic_payload& payload);
  FlashPayload& flash_payload(FlashTransaction& op);

  EventQueue& event_queue_;
  Mode mode_ = Mode::timed;
  std::uint64_t untimed_limit_ = 0;  // steps; 0: none
  std::uint64_t untimed_left_ = 0;
  std::uint64_t most_untimed_ = 0;
  CoreSet cores_;
  std::uint32_t stamps_per_unit_;
  Handler handler_ = nullptr;
  void* handler_self_ = nullptr;

  std::uint32_t commands_ = 0;

  OwnersPayloads flash_payloads_;
  std::uint64_t flash_operations_ = 0;
  unsigned char nothing_ = 0;  // what the data pointer of an erase points at
};

}  // namespace tlmssd
