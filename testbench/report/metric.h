// Figures of a load by name, as targets ask for them: the names that the Python package has for
// them, too.
//
//   iops, bandwidth, queue_depth.mean        of all operations together
//   read.iops, write.bandwidth               of one
//   own_time.iops, write.own_time.bandwidth  from the first command to the end of the last one
//   read.mean, read.p99.9, write.max         latency; any percentile, p50 as well as p99.95
//   write_amplification                      of the drive
//   write_amplification.by_mode.slc          the part of it in SLC mode; .native
//   lifetime.written, .drive_writes, ...     see platform/lifetime.h
//   uber, reads_lost, host_units_lost        of error correction, see firmware/ftl_report.cpp
//   erases.max, .mean, .min, .deviation      erase counts of blocks
//   cliff.written, cliff.time                where writes first found no room in the pSLC
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters.h"
#include "testbench/measure/measurement.h"

namespace tlmssd {

class Metric {
 public:
  /// Throws InputError about the key `metric` for a name that means nothing.
  explicit Metric(std::string_view name);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// What its values are: times (picoseconds), bytes, bandwidths (B/s) or plain numbers.
  [[nodiscard]] Kind kind() const;
  /// Whether it is of the drive instead of a load.
  [[nodiscard]] bool of_drive() const { return figure_ == Figure::drive; }
  /// Whether it is of what the host writes: there is none where it writes nothing.
  [[nodiscard]] bool of_writes() const;
  /// Whether only drives with a pSLC have it.
  [[nodiscard]] bool of_pslc() const;
  /// The operation that it is of; nothing: all of them, or none.
  [[nodiscard]] std::optional<HostOpcode> operation() const { return operation_; }
  /// The same figure of another operation.
  [[nodiscard]] std::string name_with(HostOpcode operation) const;
  /// The share of the commands that lie at or below it, of a percentile that is not the maximum.
  [[nodiscard]] std::optional<double> percentile_share() const;
  /// Whether untimed runs have it.
  [[nodiscard]] bool without_time() const { return of_drive() && kind() != Kind::time; }
  /// Of `loads` together over the time of `rates`, in the units of kind(). Nothing where no such
  /// command was measured. `report`: as build_report makes it.
  [[nodiscard]] std::optional<double> value(const std::vector<const LoadMeasurement*>& loads,
                                            const RateWindow& rates,
                                            const nlohmann::ordered_json& report) const;
  /// Where value() is nothing because what it is of has not happened yet: a bound that it lies
  /// beyond.
  [[nodiscard]] std::optional<double> at_least(const nlohmann::ordered_json& report) const;
  /// "1.64 ms", "3.20 GB/s", "12.3 k".
  [[nodiscard]] std::string text(double value, int digits = 3) const;

 private:
  enum class Figure : std::uint8_t { iops, bandwidth, depth, mean, minimum, percentile, drive };
  /// A figure of the drive.
  struct OfDrive {
    std::string_view name;
    std::string_view path;  ///< of its value in the report
    Kind kind;
    double unit;  ///< of the report, in those of kind()
  };
  static const OfDrive k_of_drive[];
  static const OfDrive* find_of_drive(std::string_view name);

  bool read_figure(std::string_view word);
  [[nodiscard]] std::optional<double> drive_figure(const nlohmann::ordered_json& report,
                                                   const std::string& path) const;
  [[nodiscard]] double rate(const LoadMeasurement& load, const RateWindow& window) const;
  [[nodiscard]] std::optional<double> latency(const std::vector<const LoadMeasurement*>& loads) const;

  std::string name_;
  Figure figure_ = Figure::iops;
  const OfDrive* of_drive_ = nullptr;    ///< null: of a load
  std::optional<HostOpcode> operation_;  ///< nothing: all of them
  bool own_time_ = false;                ///< rates over the time of the loads, not of the measurement
  double share_ = 0;                     ///< of a percentile, 1 is the maximum
};

}  // namespace tlmssd
