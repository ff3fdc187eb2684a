// The adviser's rules, and the evidence that they judge by: adviser.cpp says when each may speak.
//
// drive_rules.cpp: what the drive did, or was when the load came. load_rules.cpp: how the loads
// went and what was measured of them.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/suggest.h"
#include "models/base/types.h"
#include "testbench/report/advice/adviser.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd::advice {

using Json = nlohmann::ordered_json;

inline constexpr double k_share_of_writes = 0.1;  ///< from which on a run is also about writes
inline constexpr double k_share_unwritten = 0.01;
inline constexpr double k_share_of_waits = 0.01;
inline constexpr double k_turnovers = 1;
inline constexpr double k_share_not_copied = 0.5;
inline constexpr double k_share_of_reads = 0.1;  ///< from which on what the cache does not take in matters
inline constexpr double k_share_found_free = 0.2;
inline constexpr double k_blocks_of_spare = 8;
inline constexpr double k_share_of_pslc_lost = 0.5;
inline constexpr double k_saturated = 0.8;
inline constexpr double k_share_of_lag = 0.02;
inline constexpr double k_share_active = 0.5;
inline constexpr double k_commands_of_tail = 1000;  ///< with fewer p99.9 is that of the slowest one
inline constexpr Picoseconds k_least_lag = 10'000'000'000;

struct Evidence {
  const Json& report;
  const AdviserFacts& facts;
  std::vector<Advice>& advice;
  std::string_view rule;  ///< which speaks

  void say(const std::string& text, const std::string& look_at) const {
    advice.push_back({std::string(rule), text, look_at});
  }
  [[nodiscard]] bool measured() const { return facts.timed && report["results"]["total"]["commands"] != 0; }

  [[nodiscard]] double statistic(std::string_view name) const {
    return number_in(report["statistics"], name);
  }
  /// Bytes that the drive was given to write while it was measured: what the loads wrote, unless a
  /// layer of the host lies between.
  [[nodiscard]] double written() const {
    if (facts.unit > 0) return statistic("host units written net") * static_cast<double>(facts.unit);
    const Json& operations = report["results"]["total"]["operations"];
    return operations.contains("write") ? operations["write"]["bytes"].get<double>() : 0;
  }
  [[nodiscard]] bool about_writes() const {
    if (!facts.timed) {  // commands are not counted
      const double units = statistic("host units written");
      return units > 0 && units >= k_share_of_writes * (units + statistic("host units read"));
    }
    const Json& total = report["results"]["total"];
    if (!total["operations"].contains("write")) return false;
    return total["operations"]["write"]["commands"].get<double>() >=
           k_share_of_writes * total["commands"].get<double>();
  }
  /// What makes these loads longer, and other parameters before or behind it.
  [[nodiscard]] static std::string longer(const std::vector<const LoadEnd*>& loads,
                                          std::vector<std::string> before,
                                          const std::vector<std::string>& behind = {}) {
    for (const LoadEnd* const load : loads) add(before, load->longer_by);
    add(before, behind);
    return choice(before);
  }
  /// Those of `options` that go with one of `loads`.
  [[nodiscard]] static std::string keys_of(const std::vector<const LoadEnd*>& loads,
                                           const std::vector<std::string>& options,
                                           const std::vector<std::string>& behind = {}) {
    std::vector<std::string> keys;
    for (const LoadEnd* const load : loads) add(keys, load->keys(options));
    add(keys, behind);
    return choice(keys);
  }
  [[nodiscard]] std::vector<const LoadEnd*> all_loads() const {
    std::vector<const LoadEnd*> loads;
    for (const LoadEnd& load : facts.loads) loads.push_back(&load);
    return loads;
  }
  static void add(std::vector<std::string>& keys, const std::vector<std::string>& more) {
    for (const std::string& key : more)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  [[nodiscard]] static std::string choice(const std::vector<std::string>& keys) {
    return keys.empty() ? "load" : any_of(keys, keys.size());
  }
  [[nodiscard]] double spare() const { return static_cast<double>(facts.flash - facts.user); }
};

// Of the drive.
void unwritten_reads(const Evidence& e);
void short_for_amplification(const Evidence& e);
void buffer_holds_load(const Evidence& e);
void reads_not_cached(const Evidence& e);
void few_blocks(const Evidence& e);
void no_background(const Evidence& e);
void pslc_worn_out(const Evidence& e);
void steady_of_another_load(const Evidence& e);
void rested_drive(const Evidence& e);
void out_of_reach(const Evidence& e);
void default_matters(const Evidence& e);

// Of the loads.
void not_measured(const Evidence& e);
void ended_by_size(const Evidence& e);
void falls_behind(const Evidence& e);
void beyond_queue(const Evidence& e);
void turns_unused(const Evidence& e);
void part_of_the_time(const Evidence& e);
void few_for_tail(const Evidence& e);
void not_steady(const Evidence& e);
void warm_up_visible(const Evidence& e);

}  // namespace tlmssd::advice
