#include "testbench/simulation.h"

#include <fmt/format.h>

#include "models/common/input_error.h"

namespace tlmssd {

Simulation::Simulation(const SsdConfig& config, const SimulationConfig& simulation) {
  ssd_ = std::make_unique<Ssd>("ssd", config);
  ssd_->process().set_quantum(config.check_protocol ? 0 : simulation.quantum);
  const firmware::DriveShape& shape = ssd_->shape();
  const auto stamps_per_unit = static_cast<std::uint32_t>(shape.mapping_unit_bytes / shape.lba_bytes);
  scoreboard_ = std::make_unique<Scoreboard>(shape.logical_blocks, stamps_per_unit);
  HostDriverConfig driver;
  driver.lba_bytes = shape.lba_bytes;
  driver.queues = config.host.effective_queues();
  driver.queue_depth = config.host.effective_depth();
  driver.stall_after = simulation.stall_after;
  driver_ =
      std::make_unique<HostDriver>("host_driver", ssd_->agenda(), ssd_->process(), driver, *scoreboard_);
  driver_->device_isock.bind(ssd_->host_socket());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // ends elaboration, so that debug transport can be used
}

Simulation::~Simulation() = default;

void Simulation::run_untimed(std::vector<Load>& loads) {
  ssd_->set_timed(false);
  for (Load& load : loads) {
    std::vector<Load> one;
    one.push_back(std::move(load));
    try {
      driver_->run_untimed(one);
    } catch (const std::logic_error& error) {
      throw std::logic_error(fmt::format("{}\n{}", error.what(), ssd_->describe_stall()));
    }
    load = std::move(one.front());
  }
  drain_untimed();
}

void Simulation::drain_untimed() {
  ssd_->start_drain();
  if (!ssd_->drained())
    throw std::logic_error("untimed drain did not end at once:\n" + ssd_->describe_stall());
}

void Simulation::wear(const AgeConfig& age) {
  ssd_->age(age.cycles, 0, age.temperature, false);
}

void Simulation::rest(const AgeConfig& age) {
  ssd_->set_timed(false);
  ssd_->age(0, age.retention, age.temperature, age.powered);
  ssd_->disturb(age.reads);
}

void Simulation::warm_up(Load& load) {
  ssd_->set_timed(false);
  std::vector<Load> first(1);
  first.front().source = std::move(load.source);
  first.front().requests = load.warm_up;
  const std::uint64_t before = driver_->completed();
  driver_->run_untimed(first);
  load.source = std::move(first.front().source);
  const std::uint64_t done = driver_->completed() - before;
  if (done < load.warm_up)
    throw InputError(
        fmt::format("warm_up: {} leaves none of the load's {} requests to measure", load.warm_up, done));
  drain_untimed();
}

void Simulation::run_untimed_together(std::vector<Load>& loads) {
  ssd_->set_timed(false);
  ssd_->reset_statistics();
  driver_->run_untimed(loads);
}

void Simulation::run_kernel() {
  ssd_->process().resume();
  sc_core::sc_start();
  ssd_->process().rethrow();
}

void Simulation::run(std::vector<Load>& loads, Measurement& measurement) {
  ssd_->set_timed(true);
  ssd_->reset_statistics();
  try {
    driver_->start(loads, measurement);
    run_kernel();
  } catch (const Stalled& stalled) {
    throw Stalled(fmt::format("{}\n{}", stalled.what(), ssd_->describe_stall()));
  }
  if (!driver_->finished()) {
    throw Stalled(fmt::format("nothing is left to happen; {}\n{}", driver_->describe_outstanding(),
                              ssd_->describe_stall()));
  }
}

void Simulation::drain() {
  ssd_->start_drain();
  while (!ssd_->drained()) {
    const std::uint64_t before = ssd_->agenda().executed();
    run_kernel();
    if (ssd_->agenda().executed() == before)
      throw Stalled("the drive does not come to rest:\n" + ssd_->describe_stall());
  }
}

void Simulation::archive(Archive& archive) {
  ssd_->archive(archive);
  scoreboard_->archive(archive);
}

}  // namespace tlmssd
