// One drive and its host in one SystemC elaboration: what the program, the tests and the benchmarks
// run. Between the two may be software of the host: a log-structured host layer, which turns random
// writes into sequential ones, or a cache of network files.
//
//   Simulation simulation(config);
//   simulation.run_untimed(filling);
//   simulation.run(loads, measurement);
//
// SystemC elaborates once per process, so a process holds one Simulation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/ssd.h"
#include "testbench/app/age.h"
#include "testbench/app/steady_rounds.h"
#include "testbench/host/file_cache/file_cache.h"
#include "testbench/host/host_driver.h"
#include "testbench/host/log_structured/log_structured_layer.h"
#include "testbench/loads/load.h"
#include "testbench/measure/measurement.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {

struct SimulationConfig {
  Picoseconds quantum = 1'000'000'000;  ///< see EventQueueProcess::set_quantum
  bool fill_by_pages = false;           ///< sequential fills are written page by page
  Picoseconds stall_after =
      0;  ///< see HostDriverConfig; 0: a minute, and as long as something is left to happen
  std::optional<LogStructuredConfig>
      log_structured;                         ///< at most one of these two; neither: commands go to the
  std::optional<FileCacheConfig> file_cache;  ///< drive as they are
  std::optional<ContentsConfig> contents;     ///< nothing: no data are written twice
  /// Throws InputError when they do not go together.
  void check() const;
};

class Simulation {
 public:
  /// Throws InputError when the drive's configuration is contradictory.
  explicit Simulation(const SsdConfig& config, const SimulationConfig& simulation = {});
  ~Simulation();

  [[nodiscard]] Ssd& ssd() { return *ssd_; }
  [[nodiscard]] HostDriver& driver() { return *driver_; }
  [[nodiscard]] Scoreboard& scoreboard() { return *scoreboard_; }
  /// Null: there is none.
  [[nodiscard]] const LogStructuredLayer* log_structured() const { return log_structured_; }
  /// Null: there is none.
  [[nodiscard]] const FileCache* file_cache() const { return file_cache_; }
  /// What loads see: the drive, or the software in front of it.
  [[nodiscard]] DriveSize drive_size() const;
  /// The network's files, for loads; empty without a file cache.
  [[nodiscard]] DriveSize files_size() const;
  /// What is written as a whole there: the mapping page, or a log-structured host layer's grain.
  [[nodiscard]] Bytes unit_bytes() const;
  /// Time of the host's processor that software before the drive takes for each command.
  [[nodiscard]] Picoseconds host_cost() const { return software_ ? software_->cost() : 0; }

  /// Carries out `loads` one after another without simulated time, then drains the drive.
  /// `sustained`: as if the host had never paused, so that background work is put off, up to the
  /// next run. Throws DataMismatch.
  void run_untimed(std::vector<Load>& loads, bool sustained = false);
  /// Whether the load, run untimed now, is a sequential fill whose pages need not be written but
  /// for the last of them, because its outcome is known.
  [[nodiscard]] bool knows_fill(const Load& load) const;
  /// The drive is made with worn blocks. To be called before anything is written.
  void wear(const AgeConfig& age);
  /// Brings the drive, which has never been written, into the steady state of uniform random
  /// overwriting without writing it, if it has no software in front of it and its firmware can.
  /// Returns how; nothing: it cannot, for the reason that `why_not` then says. `sustained`: see
  /// run_untimed().
  std::optional<std::string> make_steady(std::uint64_t seed, std::string& why_not, bool sustained = false);
  /// The drained drive is left alone until its firmware has nothing more to do in idle time.
  void idle();
  /// The drained drive rests, and its pages are read, as `age` says.
  void rest(const AgeConfig& age);
  /// Carries out the load's first `warm_up` requests without simulated time, then drains the drive;
  /// what is left of the load is for run(). Throws DataMismatch, and InputError when the load ends
  /// before.
  void warm_up(Load& load);
  /// Carries out all loads at once, in turn, without simulated time; not drained afterwards.
  void run_untimed_together(std::vector<Load>& loads, Measurement* measurement = nullptr);
  /// Runs `loads` in simulated time until all are done. Statistics of the drive start with the
  /// measurement. Throws DataMismatch, NandViolation, or Stalled with what the drive knows about
  /// it.
  void run(std::vector<Load>& loads, Measurement& measurement);
  /// Simulated time goes on until everything is written out and background work has ended.
  void drain();
  /// The drive goes on from here with the next run(), as if the host had never stopped: background
  /// work is put off until then.
  void put_off_background() { ssd_->put_off_background(true); }
  /// Simulated time of a drive that is left alone passes, up to `instant`.
  void advance_to(Picoseconds instant);
  /// What has been written to flash, and what of that the host asked for.
  [[nodiscard]] FlashWrites flash_writes() const;
  /// Drive, host software and scoreboard, and what the clock shows, at a drained moment.
  void archive(Archive& archive);
  /// What a snapshot must have been made with to fit.
  [[nodiscard]] Identity identity() const;
  void report(StatisticsSink& sink) const;
  void reset_statistics();
  /// As Ssd::finish_checks, with the checker between the host and its software.
  void finish_checks();

 private:
  void run_kernel();
  void check_ended() const;
  void blame_process(const sc_core::sc_report& report) const;
  void run_until(const std::function<bool()>& done, const char* stuck);
  /// After what happens then.
  void stop_at(Picoseconds instant);
  void drain_untimed();
  /// The sequential fill that the load begins with; no requests: it begins otherwise.
  [[nodiscard]] firmware::FillOrder fill_of(const Load& load) const;
  void fill_ahead(Load& load);
  /// Carries `work` out untimed; adds to what it throws what the drive knows about it.
  template <class Work>
  void blaming_firmware(Work work);
  template <class Work>
  void untimed(Work work);
  [[nodiscard]] std::optional<PslcRoom> pslc_room() const;
  void make_software(const SsdConfig& config, const SimulationConfig& simulation);
  void connect(const SsdConfig& config, const SimulationConfig& simulation);
  [[nodiscard]] std::string describe_stall() const;
  [[nodiscard]] TransferLimit transfer_limit(const SsdConfig& config) const;
  bool fill_by_pages_;
  std::optional<ContentsConfig> contents_;
  std::unique_ptr<Ssd> ssd_;
  std::unique_ptr<Scoreboard> scoreboard_;
  std::unique_ptr<HostSoftware> software_;        ///< null: there is none
  LogStructuredLayer* log_structured_ = nullptr;  ///< the software, if that is what it is
  FileCache* file_cache_ = nullptr;
  std::unique_ptr<ProtocolChecker> checker_;  ///< between the host and its software
  std::unique_ptr<HostDriver> driver_;
};

}  // namespace tlmssd
