// Where the time went, as report.json has it: by cause on average, by quarter octave of latency, at
// percentiles, and of the slowest commands one by one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/measure/measurement.h"

namespace tlmssd {

/// The percentiles that are explained, by their names in reports.
inline constexpr std::pair<const char*, double> k_explained[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}, {"max", 1}};
inline constexpr std::size_t k_slowest_told = 10;

// Beginnings of names in `behind`, before that of a load.
inline constexpr const char* k_reads_of = "reads of ";              ///< that a die was busy with
inline constexpr const char* k_alone_of = "flushes and trims of ";  ///< that SATA ran alone
inline constexpr const char* k_other_loads = "other loads";  ///< in place of a load: all from the eighth on

nlohmann::ordered_json causes_json(const std::array<__int128, k_causes>& spent, std::uint64_t commands);
nlohmann::ordered_json mean_ledger_json(const OperationMeasurement& operation);
nlohmann::ordered_json ledger_by_latency_json(const OperationMeasurement& operation);
/// `loads`: their names, by which reads that stood in the way are told apart.
nlohmann::ordered_json percentiles_json(const OperationMeasurement& operation,
                                        const std::vector<std::string>& loads);
/// The k_slowest_told slowest, each with its way through the drive: causes in the order of that
/// way.
nlohmann::ordered_json slowest_json(const OperationMeasurement& operation,
                                    const std::vector<std::string>& loads);

}  // namespace tlmssd
