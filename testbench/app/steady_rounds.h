// "Until steady": a load goes on in rounds until one of its figures has become steady.
//
// The criterion is that of SNIA's Performance Test Specification (testbench/report/steadiness.h):
// over five rounds the range is at most 20 % of the average, and the line of least squares changes
// by at most 10 % of it. The specification's rounds take a minute each; here a round moves so many
// times the drive's capacity, so that it means the same for drives of any size and speed. Whole
// turns of the drive also keep five rounds at the speed of a drive that is not full yet from
// passing for steady.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters.h"
#include "testbench/measure/measurement.h"

namespace tlmssd {

/// Keys of `run` and of a step of `precondition`.
struct SteadyConfig {
  std::string until = "end";
  std::string metric = "bandwidth";
  double round = 1;  ///< bytes moved, as a multiple of the capacity
  std::uint32_t most_rounds = 25;
  [[nodiscard]] bool wanted() const { return until == "steady"; }
  /// Whether `metric` is a figure of reads alone.
  [[nodiscard]] bool looks_at_reads() const;
  /// What is said of rounds is read where there are rounds: elsewhere it is reported as unread.
  static SteadyConfig read(const ParameterValues& values);
  static const ParameterTable<SteadyConfig>& parameters();
  static const ParameterTable<SteadyConfig>& round_parameters();
};

/// Times over its region, at most, that a load goes on until it is steady: rounds end it before.
inline constexpr std::uint64_t k_endless_loops = 100'000;

/// What the drive has written so far, in mapping pages, as far as write amplification needs it.
struct FlashWrites {
  double programmed = 0;  ///< for whatever purpose, padding included
  double of_host = 0;     ///< logical blocks that the host wrote, as a number of mapping pages
};

class SteadyRounds {
 public:
  /// `round_bytes`: moved by commands of all loads. `writes` says what has been written so far.
  SteadyRounds(const SteadyConfig& config, Bytes round_bytes, std::function<FlashWrites()> writes);

  /// Measurement begins, or begins anew.
  void begin(Picoseconds now);
  /// A command has completed, one of several where a request is split. True: it has completed a
  /// round. Commands that fail, as all writes of a read-only drive do, count in its length and in
  /// no figure.
  bool count(const Completed& command);
  [[nodiscard]] std::size_t rounds() const { return values_.size(); }
  /// Whether the last five rounds meet the criterion.
  [[nodiscard]] bool steady() const;
  /// No more rounds are to be waited for.
  [[nodiscard]] bool exhausted() const { return values_.size() >= config_.most_rounds; }
  /// {"metric", "unit", "rounds": [...], "met", "range", "change", "text"}; range and change are
  /// those of the last five rounds, as shares of their average.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  struct Round {
    Picoseconds from = 0;
    /// Bytes asked to be read and written; where nothing but trims comes, trimmed.
    [[nodiscard]] Bytes length() const;
    std::array<Bytes, k_opcodes> asked{};
    std::array<std::uint64_t, k_opcodes> commands{};
    std::array<Bytes, k_opcodes> bytes{};
    std::array<double, k_opcodes> latency{};  ///< picoseconds, summed up
    FlashWrites writes;                       ///< at its start
  };
  [[nodiscard]] double value_of(const Round& round, Picoseconds until) const;

  SteadyConfig config_;
  Bytes round_bytes_;
  std::function<FlashWrites()> writes_;
  Round round_;
  std::vector<double> values_;
};

}  // namespace tlmssd
