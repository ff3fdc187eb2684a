// The host: issues the requests of all loads to a drive, checks every read, records every
// completion.
//
// One initiator socket. Each load has a host queue of its own (loads beyond the number of queues
// share) and is issued closed loop at a queue depth or open loop by its time stamps. Commands that
// find their queue full wait in the host, which counts as part of their latency in open loop only
// (closed loop issues when there is room); loads that wait for the same queue have turns. Untimed,
// requests of all loads are taken in turn and carried out by debug transport. Leaves out: the
// host's own processor time.
#pragma once

#include <systemc>
#include <tlm>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/base/event_queue.h"
#include "models/base/intrusive_queue.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/ports.h"
#include "testbench/host/stall_watch.h"
#include "testbench/host/transfer_limit.h"
#include "testbench/loads/load.h"
#include "testbench/measure/measurement.h"
#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {

struct HostDriverConfig {
  std::uint32_t lba_bytes = 512;
  std::uint32_t queues = 1;
  std::uint32_t queue_depth = 64;  ///< entries of each submission queue
  TransferLimit limit;             ///< longer reads and writes are split
  std::uint64_t seed = 1;          ///< of the turns of loads that are carried out untimed
  /// The run stops when commands are outstanding and none has completed for so long, nor was the
  /// first of them submitted since; 0: never.
  Picoseconds stall_after = 0;
  /// It goes on as long as something is left to happen, up to StallWatch::k_patience events: a slow
  /// network or slow cores may take their time.
  bool patient = false;
};

/// How a load came to its end.
struct StreamEnd {
  std::uint64_t issued = 0;    ///< requests, but for flushes
  Picoseconds lag = 0;         ///< by which the last was issued after its time; open loop only
  Picoseconds lasted = 0;      ///< from the load's start to its last request
  bool by_time = false;        ///< its runtime ended it
  std::uint64_t measured = 0;  ///< of those issued, behind the ramps of all loads; untimed only
  Picoseconds span = 0;        ///< from the load's start until all it asked for was done
  Picoseconds paused = 0;      ///< of that, its own pauses (thinktime)
  std::uint32_t queue = 0;     ///< of the host, which held its commands; timed only
};

/// A read returned wrong data: the emulator (not the scenario) is at fault.
struct DataMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class HostDriver : public sc_core::sc_module {
  struct Slot;
  using Slots = PayloadPool<HostExtension, Slot>;

 public:
  HostDriver(const sc_core::sc_module_name& name, EventQueue& event_queue, EventQueueProcess& process,
             const HostDriverConfig& config, Scoreboard& scoreboard);
  ~HostDriver() override;

  RequestPort<HostDriver, Slot> device_isock;

  /// Called for every completion, when the command is outstanding no more; measuring() says whether
  /// it is measured. Null when off.
  using CompletionHook = std::function<void(const Completed&)>;
  void set_completion_hook(CompletionHook hook) { on_completion_ = std::move(hook); }
  /// Called whenever one more command is outstanding; null when off.
  void set_submission_hook(std::function<void()> hook) { on_submission_ = std::move(hook); }
  /// Called once when the ramps of all loads are over and measurement starts; commands completed
  /// before are not recorded.
  void set_measurement_hook(std::function<void()> hook) { on_measurement_ = std::move(hook); }
  /// From here on requests that are longer than the drive takes are sent as they are.
  void send_long_whole() { config_.limit = {}; }
  /// Called with requests_done() every `k_progress_interval` completions of commands.
  void set_progress_hook(std::function<void(std::uint64_t)> hook) { on_progress_ = std::move(hook); }
  static constexpr std::uint64_t k_progress_interval = 4096;
  /// Called when so many commands have completed since the host was made; 0: never.
  void set_pause_hook(std::uint64_t completed, std::function<void()> hook) {
    pause_at_ = completed;
    on_pause_ = std::move(hook);
  }

  /// Starts `loads` at the event queue's present instant; sc_start() then runs them, and the event
  /// queue's process stops when they are done.
  void start(std::vector<Load>& loads, Measurement& measurement);
  /// Carries out `loads` by debug transport, without simulated time. `measurement`, if any, is told
  /// what became of the requests behind the ramps of all loads.
  void run_untimed(std::vector<Load>& loads, Measurement* measurement = nullptr);
  /// Commands in which a write of so many blocks from the beginning of a mapping page on is carried
  /// out; 0: not all of them are of whole units.
  [[nodiscard]] std::uint64_t whole_pieces(std::uint64_t blocks) const;
  /// So many requests have been carried out untimed, each in so many commands, without having been
  /// given to the drive.
  void pass(std::uint64_t requests, std::uint64_t pieces) {
    requests_done_ += requests;
    completed_ += requests * pieces;
  }
  /// The loads end here: nothing new is issued, and what is under way completes. May be called from
  /// the completion hook.
  void stop_loads();
  /// What has been measured so far is forgotten, as if a ramp had ended now.
  void measure_anew();

  [[nodiscard]] bool finished() const { return finished_; }
  /// Whether the ramps are over.
  [[nodiscard]] bool measuring() const { return measuring_; }
  /// Of the loads of the last start() or run_untimed(), in their order; untimed, only what was
  /// issued.
  [[nodiscard]] std::vector<StreamEnd> stream_ends() const;
  [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }
  /// Commands that have completed since the host was made.
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  /// Requests that have: each ends with the last of its commands.
  [[nodiscard]] std::uint64_t requests_done() const { return requests_done_; }
  /// Requests that ended with an error status.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }
  /// First command that was refused or failed since the last call, in words; empty when none did.
  [[nodiscard]] std::string take_first_failure() { return std::exchange(first_failure_, {}); }
  /// Names the oldest outstanding commands, for the stall report.
  [[nodiscard]] std::string describe_outstanding() const;

  // For the port.
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);

 private:
  struct Stream;
  struct SplitRequest;

  SplitRequest& take_split();
  void pump(Stream& stream, bool in_turn = false);
  [[nodiscard]] bool has_room(std::uint32_t queue) const;
  bool may_issue(Stream& stream, bool in_turn);
  void pump_waiting(std::uint32_t queue);
  bool fetch(Stream& stream);
  void issue(Stream& stream);
  void flush_at_end(Stream& stream, bool in_turn);
  void begin_request(Stream& stream, bool split);
  void end_request(Stream& stream);
  Slot& prepare(const PlacedRequest& request);
  void begin(Slot& slot);
  void complete(Slot& slot);
  void check(Slot& slot);
  HostStatus carry_out_untimed(const PlacedRequest& request);
  void pause();
  void release(Slot& slot);
  void end_piece(const Completed& piece, SplitRequest& request);
  [[nodiscard]] static bool refused(const Slot& slot);
  void end_stream(Stream& stream);
  void next_phase();
  void finish();
  void end_ramp();
  void wind_up();
  void begin_ramp_time(const Stream& stream);
  void end_ramp_time();

  EventQueue& event_queue_;
  EventQueueProcess& process_;
  HostDriverConfig config_;
  Scoreboard& scoreboard_;
  StallWatch watch_;
  Measurement* measurement_ = nullptr;  ///< null: untimed
  std::unique_ptr<Slots> slots_;
  Pool<SplitRequest> splits_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<StreamEnd> untimed_ends_;           ///< of the last run, if that was untimed
  std::vector<std::unique_ptr<Stream>> earlier_;  ///< of earlier runs; the event queue may still wake them
  std::vector<IntrusiveQueue<Stream>> waiting_;   ///< for room in a queue
  std::vector<std::uint32_t> queue_outstanding_;
  std::uint64_t outstanding_ = 0;
  std::uint32_t issued_ = 0;  ///< number of the last command issued
  std::uint64_t completed_ = 0;
  std::uint64_t requests_done_ = 0;
  std::uint64_t pause_at_ = 0;  ///< of completed_; 0: never
  std::uint64_t failed_ = 0;
  std::uint32_t phase_ = 0;
  std::vector<Picoseconds> phase_begins_;  ///< of this one and all before it
  std::size_t running_in_phase_ = 0;
  bool measuring_ = false;
  std::uint32_t ramping_ = 0;     ///< streams that have not completed their ramp_requests, and the ramp time
  std::uint32_t ramp_times_ = 0;  ///< streams with a ramp time that have not started yet
  Picoseconds ramp_end_ = -1;     ///< when the last ramp time that has begun ends; -1: none is going on
  bool finished_ = false;
  bool stopping_ = false;
  bool write_protected_ = false;  ///< the drive has said so: from here on writes are refused
  std::string first_failure_;
  CompletionHook on_completion_;
  std::function<void()> on_submission_;
  std::function<void()> on_measurement_;
  std::function<void(std::uint64_t)> on_progress_;
  std::function<void()> on_pause_;
};

}  // namespace tlmssd
