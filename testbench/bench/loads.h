// Loads of the benchmarks, and what carries them out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/app/simulation.h"
#include "testbench/bench/bench.h"
#include "testbench/loads/config/load_config.h"
#include "testbench/measure/measurement.h"

namespace tlmssd::bench {

inline std::vector<Load> make_load(Simulation& simulation, const std::string& rw, Bytes bs,
                                   std::uint32_t depth, std::uint64_t requests, Bytes size) {
  LoadConfig config;
  config.kind.name = rw;
  config.generator.rw = rw;
  config.generator.bs = std::to_string(bs);
  config.generator.iodepth = depth;
  config.generator.size = std::to_string(size);
  config.generator.number_ios = requests;
  if (requests > size / bs) config.generator.io_size = std::to_string(requests * bs);
  return make_loads(config, simulation.drive_size(), 1);
}

/// Sequentially, from the beginning; the drive takes all but the last of it without its pages,
/// unless it is to write them.
inline void fill(Simulation& simulation, Bytes size) {
  constexpr Bytes k_write = 131'072;
  std::vector<Load> loads = make_load(simulation, "write", k_write, 1, size / k_write, size);
  simulation.run_untimed(loads);
}

/// What a timed run costs.
inline double time_run(Simulation& simulation, std::vector<Load> loads) {
  Measurement measurement({"load"});
  return timed([&] { simulation.run(loads, measurement); });
}
inline void warm_up(Simulation& simulation, std::vector<Load> loads) {
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
}

}  // namespace tlmssd::bench
