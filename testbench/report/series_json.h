// What report.json has over time, and of each block: the stuff of curves and maps.
#pragma once

#include <nlohmann/json.hpp>

#include "testbench/measure/block_census.h"
#include "testbench/measure/measurement.h"

namespace tlmssd {

/// Rates, depth and latencies of a load; the last step may be shorter than the others.
nlohmann::ordered_json series_json(const LoadMeasurement& load, Picoseconds span);
/// How busy each kind of resource was, over the time measured.
nlohmann::ordered_json utilisation_json(const Measurement& measurement);
/// The drive at regular instants.
nlohmann::ordered_json drive_series_json(const Measurement& measurement);
nlohmann::ordered_json blocks_json(const BlockCensus& blocks);

}  // namespace tlmssd
