// What is measured of a run: completed commands over exact simulated time, per load and operation.
//
// Latencies (histogram), where the time went (ledger sums by cause, kept per sixteenth of an octave
// of latency, and the whole ledgers of the slowest commands, so that any percentile can be
// explained by itself), commands outstanding over time, and commands and bytes over time. The time
// axis has a fixed number of steps whose width doubles as the run grows. Nothing is allocated per
// command. Not kept: other individual commands (command_log.h does).
//
// Rates (IOPS, bandwidth) are taken up to the last submission of any load: behind it the queues
// drain and fewer and fewer commands are outstanding, which a longer run would not have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/host_command.h"
#include "models/base/ledger.h"
#include "models/base/types.h"
#include "testbench/measure/busy_series.h"
#include "testbench/measure/drive_series.h"
#include "testbench/measure/histogram.h"
#include "testbench/measure/latency_steps.h"
#include "testbench/measure/slowest.h"

namespace tlmssd {

inline constexpr std::size_t k_statuses = 5;

/// A finished command as the host saw it.
struct Completed {
  HostOpcode opcode = HostOpcode::read;
  HostStatus status = HostStatus::success;
  std::uint16_t load = 0;  ///< which load, in the order given to Measurement
  std::uint16_t queue = 0;
  std::uint64_t lba = 0;
  Bytes bytes = 0;  ///< moved, or trimmed
  Picoseconds submitted = 0;
  Picoseconds completed = 0;
  const Ledger* ledger = nullptr;  ///< its causes must add up to completed - submitted
  bool piece = false;              ///< one of the commands that a longer request was split into
};

/// Ledger sums of the commands whose latency fell in one bin of the histogram.
struct LedgerBin {
  std::uint64_t count = 0;
  std::array<__int128, k_causes> spent{};
  std::array<__int128, k_blockers> behind{};
  void add(const LedgerBin& other);
};

/// Why commands at one percentile take as long as they do.
struct PercentileLedger {
  Picoseconds latency = 0;                  ///< at the percentile
  std::uint64_t commands = 0;               ///< whose ledgers tell: those nearest to it in latency
  bool exact = false;                       ///< they are the nearest by rank, not a sixteenth of an octave
  std::array<double, k_causes> spent{};     ///< picoseconds; adds up to `latency`
  std::array<double, k_blockers> behind{};  ///< the part of that in which a die was busy with these
};

/// Commands, and the bytes that they moved.
struct Amount {
  std::uint64_t commands = 0;
  Bytes bytes = 0;
  friend Amount operator+(Amount a, Amount b) { return {a.commands + b.commands, a.bytes + b.bytes}; }
};

/// Commands of one load and one operation.
class OperationMeasurement {
 public:
  [[nodiscard]] std::uint64_t count() const { return latency_.count(); }
  /// Moved, or trimmed, by those that succeeded.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] const Histogram& latency() const { return latency_; }
  [[nodiscard]] std::uint64_t with_status(HostStatus status) const {
    return by_status_[static_cast<std::size_t>(status)];
  }
  [[nodiscard]] std::uint64_t errors() const { return count() - with_status(HostStatus::success); }
  /// All that succeeded.
  [[nodiscard]] Amount succeeded() const { return {with_status(HostStatus::success), bytes_}; }
  /// Those of them that did while the queues drained, after the last submission of any load.
  [[nodiscard]] const Amount& drained() const { return drained_; }
  /// Time charged to `cause`, all commands together.
  [[nodiscard]] __int128 spent(Cause cause) const;
  /// The slowest commands: the whole top quarter octaves of latency that together hold at least
  /// `share` of all commands.
  struct Tail {
    std::uint64_t count = 0;
    Picoseconds above = 0;  ///< all commands of at least this latency
    std::array<__int128, k_causes> spent{};
  };
  [[nodiscard]] Tail tail(double share) const;
  /// Latency that `share` (0..1] of the commands do not exceed: exactly, as long as that command is
  /// among the slowest; else as the histogram has it.
  [[nodiscard]] Picoseconds percentile(double share) const;
  /// `share` (0..1]: 0.999 is p99.9, 1 the slowest command. At least one command must have been
  /// counted.
  [[nodiscard]] PercentileLedger explain(double share) const;
  [[nodiscard]] const SlowestCommands& slowest() const { return slowest_; }
  /// Calls use(lowest latency, LedgerBin) for every quarter octave of latency that holds commands,
  /// in rising order.
  template <class Use>
  void for_each_bin(Use&& use) const {
    for (unsigned i = 0; i < k_bins && count() != 0; i += k_bins_of_quarter) {
      const LedgerBin sum = quarter(i);
      if (sum.count != 0) use(bin_start(i), sum);
    }
  }
  void merge(const OperationMeasurement& other);

 private:
  friend class Measurement;
  friend class LoadMeasurement;
  /// False: the ledger does not add up to the latency.
  [[nodiscard]] bool record(const Completed& command, Picoseconds latency, std::uint64_t submissions);
  void keep(const Completed& command, Picoseconds latency);
  void end_drain(std::uint64_t submissions);
  static constexpr unsigned k_bits = 4;  ///< below the leading one of a latency: sixteenths of an octave
  static constexpr unsigned k_bins = (64 - k_bits) << k_bits;
  static constexpr unsigned k_bins_of_quarter = (1U << k_bits) / 4;
  static unsigned bin(Picoseconds latency);
  static Picoseconds bin_start(unsigned bin);
  /// 64-bit sums that are moved to the 128-bit ones before they can overflow.
  struct Partial {
    std::uint64_t count = 0;
    Picoseconds total = 0;
    Ledger::Parts parts{};
  };
  [[nodiscard]] LedgerBin sums(unsigned bin) const;
  [[nodiscard]] LedgerBin quarter(unsigned first) const;
  [[nodiscard]] LedgerBin around(std::uint64_t slower) const;
  [[nodiscard]] LedgerBin among_slowest(std::uint64_t at, std::uint64_t reach) const;

  Histogram latency_;
  Bytes bytes_ = 0;
  std::array<std::uint64_t, k_statuses> by_status_{};
  Amount drained_;                    ///< so far, since ...
  std::uint64_t drained_in_all_ = 0;  ///< with those that failed
  std::uint64_t drained_behind_ = 0;  ///< ... this many submissions of all loads
  ZeroPages<Partial> partial_;        ///< made at the first command
  ZeroPages<LedgerBin> full_;         ///< made when a partial sum first fills up or at a merge
  SlowestCommands slowest_;
};

/// What has become of requests that were carried out without simulated time: nothing else is known
/// of them.
struct Outcomes {
  std::array<std::uint64_t, k_statuses> by_status{};
  Bytes bytes = 0;  ///< moved, or trimmed, by those that succeeded
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t errors() const {
    return count() - by_status[static_cast<std::size_t>(HostStatus::success)];
  }
  void add(const Outcomes& other);
};

/// One step of the time axis.
struct SeriesStep {
  std::array<std::uint64_t, k_opcodes> commands{};  ///< that succeeded
  std::array<Bytes, k_opcodes> bytes{};
  unsigned __int128 depth_time = 0;  ///< commands outstanding, integrated over the step (picoseconds)
};

class RateWindow;

/// What is measured of one load.
class LoadMeasurement {
 public:
  [[nodiscard]] const OperationMeasurement& operation(HostOpcode opcode) const {
    return operations_[static_cast<std::size_t>(opcode)];
  }
  /// As the drive sees it, where requests were split into several commands; null: it is the same.
  [[nodiscard]] const OperationMeasurement* device(HostOpcode opcode) const {
    const auto i = static_cast<std::size_t>(opcode);
    return device_.empty() || pieces_[i] == 0 ? nullptr : &device_[i];
  }
  /// Requests that were split, and the commands that were made of them.
  [[nodiscard]] std::uint64_t split_requests(HostOpcode opcode) const {
    return wholes_[static_cast<std::size_t>(opcode)];
  }
  [[nodiscard]] std::uint64_t pieces(HostOpcode opcode) const {
    return pieces_[static_cast<std::size_t>(opcode)];
  }
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] Bytes bytes() const;
  /// Of a run without simulated time.
  [[nodiscard]] const Outcomes& untimed(HostOpcode opcode) const {
    return untimed_[static_cast<std::size_t>(opcode)];
  }
  /// All operations together.
  [[nodiscard]] Outcomes untimed() const;
  /// Steps of equal width (step_width()) from the start of measurement; the last one may be cut
  /// short by the end.
  [[nodiscard]] const std::vector<SeriesStep>& series() const { return series_; }
  [[nodiscard]] Picoseconds step_width() const { return width_; }
  /// Latencies of an operation in these steps.
  [[nodiscard]] const LatencySteps& latency_steps(HostOpcode opcode) const {
    return latency_steps_[static_cast<std::size_t>(opcode)];
  }
  /// Time during which exactly i commands were outstanding.
  [[nodiscard]] const std::vector<Picoseconds>& time_at_depth() const { return time_at_depth_; }
  [[nodiscard]] double mean_depth() const;
  /// When its first command was outstanding, after the start of measurement.
  [[nodiscard]] Picoseconds active_from() const { return active_from_ - start_; }
  /// From its first command to the end of its last one: what fio calls the runtime of a job.
  [[nodiscard]] Picoseconds active() const { return active_until_ - active_from_; }
  /// For its rates over that time, with all of its commands.
  [[nodiscard]] RateWindow own_time() const;

 private:
  friend class Measurement;
  static constexpr std::size_t k_steps = 512;
  static constexpr Picoseconds k_first_width = 1'000'000;
  void start(Picoseconds now);
  void settle(Picoseconds now);
  void count(const Completed& command);
  void end(const Completed& request);
  std::uint64_t end_drain(std::uint64_t submissions);
  void close(Picoseconds now);
  void spread(Picoseconds from, Picoseconds until);
  SeriesStep& step(Picoseconds now);
  void widen();
  void merge(const LoadMeasurement& other);
  void watch_device();

  std::array<OperationMeasurement, k_opcodes> operations_;  ///< as the host's block layer sees it
  /// As the drive sees it; kept from the first request on that is split, up to which the two are
  /// the same.
  std::vector<OperationMeasurement> device_;
  std::array<std::uint64_t, k_opcodes> wholes_{};
  std::array<std::uint64_t, k_opcodes> pieces_{};
  std::array<Outcomes, k_opcodes> untimed_{};
  std::vector<SeriesStep> series_;
  std::array<LatencySteps, k_opcodes> latency_steps_;
  std::vector<Picoseconds> time_at_depth_;
  Picoseconds width_ = k_first_width;
  Picoseconds start_ = 0;
  Picoseconds settled_ = 0;
  Picoseconds active_from_ = 0;
  Picoseconds active_until_ = 0;  ///< equal to active_from_ as long as nothing has been outstanding
  std::uint64_t depth_ = 0;
  std::size_t current_ = 0;  ///< the step that covers [current_from_, current_until_)
  Picoseconds current_from_ = 0;
  Picoseconds current_until_ = 0;
};

/// The time that rates are taken over, and what of an amount falls into it.
class RateWindow {
 public:
  RateWindow() = default;
  RateWindow(Picoseconds span, bool with_drain) : span_(span), with_drain_(with_drain) {}
  [[nodiscard]] Picoseconds span() const { return span_; }
  [[nodiscard]] double iops(const OperationMeasurement& operation) const;
  [[nodiscard]] double iops(const LoadMeasurement& load) const;
  /// Bytes per second.
  [[nodiscard]] double bandwidth(const OperationMeasurement& operation) const;
  [[nodiscard]] double bandwidth(const LoadMeasurement& load) const;

 private:
  [[nodiscard]] Amount amount(const OperationMeasurement& operation) const;
  [[nodiscard]] Amount amount(const LoadMeasurement& load) const;
  Picoseconds span_ = 0;
  bool with_drain_ = true;  ///< the whole run, because most of it is drain
};

/// Of the time measured, up to which what went on in the own time of loads tells more.
constexpr double k_nearly_all = 0.9;

class Measurement {
 public:
  /// Names of the loads, in the order of Completed::load.
  explicit Measurement(std::vector<std::string> loads);

  /// A command of `load` is submitted at `now`; `begins`: not a further piece of a request that was
  /// split.
  void submitted(std::uint16_t load, Picoseconds now, bool begins = true);
  /// A command has completed at command.completed, which never goes back. Throws std::logic_error
  /// when the ledger does not add up.
  void record(const Completed& command);
  /// A request that was split has completed with the last of its pieces, which have been recorded.
  void record_whole(const Completed& request);
  /// A request of `load` has been carried out without simulated time.
  void tally(std::uint16_t load, HostOpcode opcode, HostStatus status, Bytes bytes);
  /// Measurement starts here: forgets everything but the commands outstanding (end of warm-up).
  void reset(Picoseconds now);
  /// The run ends at `now`.
  void finish(Picoseconds now);
  /// Where the drive's counts come from; to be set before measurement starts.
  void set_drive(DriveSeries::Source source) { drive_.set_source(std::move(source)); }
  [[nodiscard]] const DriveSeries& drive() const { return drive_; }
  /// Who says how busy the drive's resources have been; to be set before measurement starts.
  void set_busy(const std::function<void(BusySink&)>& tell) { busy_.set_source(tell); }
  [[nodiscard]] const BusySeries& busy() const { return busy_; }

  [[nodiscard]] std::size_t loads() const { return loads_.size(); }
  [[nodiscard]] const std::string& name(std::size_t load) const { return names_[load]; }
  [[nodiscard]] const LoadMeasurement& load(std::size_t load) const { return loads_[load]; }
  /// All loads together; made on request (finish() first).
  [[nodiscard]] LoadMeasurement total() const;
  [[nodiscard]] Picoseconds started() const { return start_; }
  /// From start (or the last reset) to finish.
  [[nodiscard]] Picoseconds span() const { return end_ - start_; }
  /// What rates are taken over (finish() first).
  [[nodiscard]] const RateWindow& rates() const { return rates_; }
  /// Whether one of the loads, or all of them together, was at work for a part of the time measured
  /// that is worth a look of its own.
  [[nodiscard]] bool part_of_the_time(const LoadMeasurement& loads) const {
    return static_cast<double>(loads.active()) <= k_nearly_all * static_cast<double>(span());
  }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }

 private:
  [[noreturn]] static void fail(const Completed& command, bool not_submitted);
  std::vector<std::string> names_;
  std::vector<LoadMeasurement> loads_;
  LoadMeasurement all_;  ///< series and depth of all loads together; not kept when there is only one
  DriveSeries drive_;
  BusySeries busy_;
  Picoseconds start_ = 0;
  Picoseconds end_ = 0;
  Picoseconds last_submission_ = 0;
  std::uint64_t submissions_ = 0;  ///< of all loads
  std::uint64_t completed_ = 0;
  RateWindow rates_;
};

/// `count` per second of simulated time.
double per_second(std::uint64_t count, Picoseconds span);

}  // namespace tlmssd
