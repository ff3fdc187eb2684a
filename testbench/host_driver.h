// The host: issues the requests of all loads to a drive, checks every read, records every completion.
//
// One initiator socket. Each load has a host queue of its own (loads beyond the number of queues share) and
// is issued closed loop at a queue depth or open loop by its time stamps. Commands that find their queue full
// wait in the host, which counts as part of their latency in open loop only (closed loop issues when there is
// room). Untimed, requests of all loads are taken in turn and carried out by debug transport. Leaves out: the
// host's own processor time.
#pragma once

#include <systemc>
#include <tlm>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/common/agenda.h"
#include "models/common/kernel_time.h"
#include "models/common/stalled.h"
#include "models/common/transport.h"
#include "testbench/loads/load.h"
#include "testbench/measure/measurement.h"
#include "testbench/measure/scoreboard.h"

namespace tlmssd {

struct HostDriverConfig {
  std::uint32_t lba_bytes = 512;
  std::uint32_t queues = 1;
  std::uint32_t queue_depth = 64;  ///< entries of each submission queue
  /// The run stops when commands are outstanding and none has completed for so long, nor was the first of them submitted since; 0: never.
  Picoseconds stall_after = 0;
  /// It goes on as long as something is left to happen, up to k_patience events: a slow network or slow cores may take their time.
  bool patient = false;
};

/// A read returned wrong data: the emulator (not the scenario) is at fault.
struct DataMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The requests of a load that only time ends take no time.
struct TimeStandsStill : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class HostDriver : public sc_core::sc_module {
 public:
  HostDriver(const sc_core::sc_module_name& name, Agenda& agenda, AgendaProcess& process,
             const HostDriverConfig& config, Scoreboard& scoreboard);
  ~HostDriver() override;

  InitiatorSocket<HostDriver> device_isock;

  /// Called for every measured completion, for the command log; null when off.
  using CompletionHook = std::function<void(const Completed&)>;
  void set_completion_hook(CompletionHook hook) { hook_ = std::move(hook); }
  /// Called once when the ramps of all loads are over and measurement starts; commands completed before are not recorded.
  void set_measurement_hook(std::function<void()> hook) { on_measurement_ = std::move(hook); }
  /// Called every `k_progress_interval` completions.
  void set_progress_hook(std::function<void(std::uint64_t)> hook) { on_progress_ = std::move(hook); }
  static constexpr std::uint64_t k_progress_interval = 4096;
  /// Events without a completion after which a patient driver calls it a stall: seconds of the host's time, and far more than
  /// emptying a block in every group takes.
  static constexpr std::uint64_t k_patience = 100'000'000;

  /// Starts `loads` at the agenda's present instant; sc_start() then runs them, and the agenda's process
  /// stops when they are done.
  void start(std::vector<Load>& loads, Measurement& measurement);
  /// Carries out `loads` by debug transport, without simulated time.
  void run_untimed(std::vector<Load>& loads);

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  /// Commands that ended with an error status.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }
  /// First command that was refused or failed, in words; empty when none did.
  [[nodiscard]] const std::string& first_failure() const { return first_failure_; }
  /// Names the oldest outstanding commands, for the stall report.
  [[nodiscard]] std::string describe_outstanding() const;

  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

 private:
  struct Stream;
  struct Slot;

  Slot& take_slot();
  void pump(Stream& stream);
  void pump_queue(std::uint32_t queue);
  bool fetch(Stream& stream);
  void issue(Stream& stream);
  void prepare(Slot& slot, const PlacedRequest& request);
  void begin(Slot& slot);
  void send(Slot& slot);
  void send_held();
  void complete(Slot& slot);
  void check(Slot& slot);
  [[nodiscard]] static bool refused(const Slot& slot);
  void end_stream(Stream& stream);
  void next_phase();
  void finish();
  void watch();
  void watch_from(Picoseconds when);
  void check_time(const Stream& stream);
  void end_ramp();
  void begin_ramp_time(const Stream& stream);
  void end_ramp_time();

  Agenda& agenda_;
  AgendaProcess& process_;
  HostDriverConfig config_;
  Scoreboard& scoreboard_;
  Measurement* measurement_ = nullptr;
  PayloadPool<HostExtension> payloads_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Slot* free_slots_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::vector<Stream*>> streams_of_queue_;
  std::vector<std::uint32_t> queue_outstanding_;
  bool request_pending_ = false;  ///< BEGIN_REQ sent, END_REQ not yet received: no other request may start
  std::vector<Slot*> held_;       ///< commands waiting for that END_REQ, oldest first
  std::uint64_t outstanding_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t failed_ = 0;
  Picoseconds waiting_since_ = 0;  ///< last completion, or submission of the oldest command when that is later
  std::uint64_t completed_at_watch_ = 0;
  std::uint64_t executed_at_watch_ = 0;  ///< events, when `completed_at_watch_` was first found to be overdue
  Picoseconds checked_instant_ = -1;     ///< of check_time()
  std::uint64_t checks_at_instant_ = 0;
  std::uint32_t phase_ = 0;
  std::size_t running_in_phase_ = 0;
  bool measuring_ = false;
  std::uint32_t ramping_ = 0;     ///< streams that have not completed their ramp_requests, and the ramp time
  std::uint32_t ramp_times_ = 0;  ///< streams with a ramp time that have not started yet
  Picoseconds ramp_end_ = -1;     ///< when the last ramp time that has begun ends; -1: none is going on
  bool finished_ = false;
  bool watching_ = false;
  bool write_protected_ = false;  ///< the drive has said so: from here on writes are refused
  std::string first_failure_;
  CompletionHook hook_;
  std::function<void()> on_measurement_;
  std::function<void(std::uint64_t)> on_progress_;
};

}  // namespace tlmssd
