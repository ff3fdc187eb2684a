#include "testbench/app/simulation.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "models/base/input_error.h"
#include "models/memory/foreign_memory.h"
#include "models/nand/violation.h"
#include "testbench/app/load_space.h"
#include "testbench/process/interrupt.h"

namespace tlmssd {

namespace {

constexpr Picoseconds k_stall_after = 60'000'000'000'000;

}  // namespace

void SimulationConfig::check() const {
  if (log_structured && file_cache)
    throw refusal("file_cache", "cannot be given together with log_structured",
                  Proposal{"log_structured.policy", "none"});
}

Simulation::Simulation(const SsdConfig& config, const SimulationConfig& simulation)
    : fill_by_pages_(simulation.fill_by_pages || simulation.contents), contents_(simulation.contents) {
  ssd_ = std::make_unique<Ssd>("ssd", config);
  ssd_->process().set_quantum(config.check_protocol ? 0 : simulation.quantum);
  if (!ssd_->foreign_memories().empty())
    ssd_->process().pause_at_end([this] { return ssd_->awaits_memory(); });
  ssd_->event_queue().set_checkpoint(&check_interrupt);
  make_software(config, simulation);
  const DriveSize size = drive_size();
  const std::uint64_t files = software_ ? software_->file_blocks() : 0;
  scoreboard_ = std::make_unique<Scoreboard>(size.bytes / size.lba_bytes + files,
                                             static_cast<std::uint32_t>(unit_bytes() / size.lba_bytes),
                                             contents_ ? std::make_shared<Contents>(*contents_) : nullptr);
  connect(config, simulation);
  ssd_->process().keep_errors();
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // ends elaboration, so that debug transport can be used
  ssd_->process().rethrow();
}

Simulation::~Simulation() = default;

void Simulation::make_software(const SsdConfig& config, const SimulationConfig& simulation) {
  simulation.check();
  const AttachedDrive drive = attached_drive(config, ssd_->shape());
  if (simulation.log_structured) {
    auto log_structured = std::make_unique<LogStructuredLayer>("log_structured", *simulation.log_structured,
                                                               drive, ssd_->event_queue());
    log_structured_ = log_structured.get();
    software_ = std::move(log_structured);
  }
  if (simulation.file_cache) {
    auto cache = std::make_unique<FileCache>("file_cache", *simulation.file_cache, drive, ssd_->event_queue(),
                                             [this] { return pslc_room(); });
    file_cache_ = cache.get();
    software_ = std::move(cache);
  }
}

std::optional<PslcRoom> Simulation::pslc_room() const {
  const firmware::Ftl* const ftl = ssd_->own_ftl();
  return ftl == nullptr ? std::nullopt : ftl->pslc_room();
}

TransferLimit Simulation::transfer_limit(const SsdConfig& config) const {
  const std::uint32_t lba = ssd_->shape().lba_bytes;
  return {config.host.max_transfer / lba, std::max<Bytes>(unit_bytes() / lba, 1), drive_size().bytes / lba};
}

/// The host, and what it is bound to.
void Simulation::connect(const SsdConfig& config, const SimulationConfig& simulation) {
  HostDriverConfig driver;
  driver.lba_bytes = ssd_->shape().lba_bytes;
  driver.queues = config.host.effective_queues();
  driver.queue_depth = config.host.effective_depth();
  driver.stall_after = simulation.stall_after == 0 ? k_stall_after : simulation.stall_after;
  driver.patient = simulation.stall_after == 0;
  driver.limit = transfer_limit(config);
  driver.seed = config.seed;
  driver_ =
      std::make_unique<HostDriver>("host_driver", ssd_->event_queue(), ssd_->process(), driver, *scoreboard_);
  if (!software_) {
    driver_->device_isock.bind(ssd_->host_socket());
    return;
  }
  software_->drive_socket().bind(ssd_->host_socket());
  if (config.check_protocol) {
    checker_ = std::make_unique<ProtocolChecker>("checker_software", ProtocolChecker::OnViolation::collect);
    driver_->device_isock.bind(checker_->tsock);
    checker_->isock.bind(software_->host_socket());
  } else {
    driver_->device_isock.bind(software_->host_socket());
  }
}

DriveSize Simulation::drive_size() const {
  const std::uint32_t lba = ssd_->shape().lba_bytes;
  return {software_ ? software_->blocks() * lba : ssd_->user_bytes(), lba};
}

DriveSize Simulation::files_size() const {
  return file_cache_ == nullptr ? DriveSize{} : file_cache_->files();
}

Bytes Simulation::unit_bytes() const {
  return software_ ? software_->unit_bytes() : ssd_->shape().mapping_page_bytes;
}

std::string Simulation::describe_stall() const {
  std::string text = ssd_->describe_stall();
  if (!software_) return text;
  text += '\n';
  software_->describe_stall(text);
  return text;
}

/// A firmware of another's is named in the errors that it is at fault for.
template <class Work>
void Simulation::blaming_firmware(Work work) {
  if (ssd_->own_ftl() != nullptr) {
    work();
    return;
  }
  const std::string firmware = "firmware " + ssd_->config().firmware_model;
  const auto at_fault = [&](const std::exception& error) { return fault_of(firmware, error.what()); };
  try {
    work();
  } catch (const NandViolation& violation) {
    throw at_fault(violation);
  } catch (const Livelock& livelock) {
    throw at_fault(livelock);
  } catch (const DataMismatch& mismatch) {
    throw DataMismatch(firmware + ": " + mismatch.what());
  }
}

template <class Work>
void Simulation::untimed(Work work) {
  ssd_->set_timed(false);
  try {
    blaming_firmware(work);
  } catch (const Stalled& stalled) {
    const bool own = ssd_->own_ftl() != nullptr;
    throw Stalled(fmt::format("{}{}\n{}", own ? "" : "firmware " + ssd_->config().firmware_model + ": ",
                              stalled.what(), describe_stall()));
  } catch (const std::logic_error& error) {
    const std::string text = fmt::format("{}\n{}", error.what(), describe_stall());
    // What it does that the hardware does not know.
    if (ssd_->own_ftl() == nullptr)
      throw Stalled(fmt::format("firmware {}: {}", ssd_->config().firmware_model, text));
    throw std::logic_error(text);
  }
}

void Simulation::run_untimed(std::vector<Load>& loads, bool sustained) {
  untimed([&] {
    ssd_->put_off_background(sustained);
    for (Load& load : loads) {
      fill_ahead(load);
      std::vector<Load> one;
      one.push_back(std::move(load));
      driver_->run_untimed(one);
      load = std::move(one.front());
    }
    drain_untimed();
  });
}

firmware::FillOrder Simulation::fill_of(const Load& load) const {
  const SequentialRun run = load.source->sequential_writes();
  const firmware::DriveShape& shape = ssd_->shape();
  if (fill_by_pages_ || software_ || run.requests == 0 || run.offset != 0 || load.requests != 0 ||
      run.bytes % shape.mapping_page_bytes != 0 || !scoreboard_->untouched())
    return {};
  const std::uint64_t pieces = driver_->whole_pieces(run.bytes / shape.lba_bytes);
  if (pieces == 0) return {};
  // Whole requests, however many commands each is carried out in.
  return {run.requests, static_cast<std::uint32_t>(run.bytes / shape.mapping_page_bytes), pieces};
}

bool Simulation::knows_fill(const Load& load) const {
  const firmware::FillOrder order = fill_of(load);
  return order.requests > 0 && ssd_->knows_fill(order);
}

/// What the load writes in sequence to a drive that was never written needs not be written where
/// its outcome is known; the load goes on behind it.
void Simulation::fill_ahead(Load& load) {
  const firmware::FillOrder order = fill_of(load);
  if (order.requests == 0) return;
  const std::uint64_t done = ssd_->fill(order);
  scoreboard_->written_once(done * order.units);
  load.source->skip(done);
  driver_->pass(done, order.commands);
}

void Simulation::drain_untimed() {
  ssd_->start_drain();
  if (!ssd_->drained()) throw std::logic_error("untimed drain did not end at once");
}

void Simulation::wear(const AgeConfig& age) {
  ssd_->age(age.cycles, 0, age.temperature, false);
}

std::optional<std::string> Simulation::make_steady(std::uint64_t seed, std::string& why_not, bool sustained) {
  why_not = software_ ? "software of the host writes the drive" : ssd_->steady_only_by_writing();
  if (!why_not.empty()) return {};
  // Each unit has been written twice at least: what lies in invalid pages is older than what is
  // read.
  constexpr std::uint16_t k_writes = 2;
  firmware::SteadyOrder order;
  order.seed = seed;
  order.sustained = sustained;
  order.content = [this](Lpn unit, bool overwritten, std::span<Stamp> stamps) {
    scoreboard_->content(unit, overwritten ? k_writes - 1 : k_writes, stamps);
  };
  std::string how;
  untimed([&] {
    ssd_->put_off_background(sustained);
    how = ssd_->make_steady(order);
  });
  scoreboard_->all_written(k_writes);
  return how;
}

void Simulation::idle() {
  untimed([&] { ssd_->idle(); });
}

void Simulation::rest(const AgeConfig& age) {
  const auto pass = [&] { ssd_->age(0, age.retention, age.temperature, age.powered); };
  if (age.retention > 0) {
    untimed([&] {
      ssd_->put_off_background(false);
      pass();
    });
  } else {
    pass();  // in which nothing is done, what was put off neither
  }
  ssd_->disturb(age.reads);
}

void Simulation::warm_up(Load& load) {
  std::vector<Load> first(1);
  first.front().source = std::move(load.source);
  first.front().requests = load.warm_up;
  const std::uint64_t before = driver_->requests_done();
  untimed([&] { driver_->run_untimed(first); });
  load.source = std::move(first.front().source);
  const std::uint64_t done = driver_->requests_done() - before;
  if (done < load.warm_up) throw warm_up_takes_all(load.warm_up, done);
  untimed([&] { drain_untimed(); });
}

void Simulation::run_untimed_together(std::vector<Load>& loads, Measurement* measurement) {
  reset_statistics();
  untimed([&] {
    ssd_->put_off_background(false);
    driver_->run_untimed(loads, measurement);
  });
}

/// Nothing of the drive's own ends the simulation for good.
void Simulation::check_ended() const {
  if ((sc_core::sc_get_status() & (sc_core::SC_STOPPED | sc_core::SC_END_OF_SIMULATION)) == 0) return;
  ssd_->blame_plug_in("has ended the simulation (sc_stop())");
}

/// A process of a memory from outside is within that memory.
void Simulation::blame_process(const sc_core::sc_report& report) const {
  const std::string process = report.get_process_name() == nullptr ? "" : report.get_process_name();
  for (const ForeignMemory* const memory : ssd_->foreign_memories()) {
    if (process.starts_with(std::string(memory->name()) + "."))
      throw objection(memory->key(), memory->model() + ": " + report.what());
  }
}

void Simulation::run_kernel() {
  try {
    blaming_firmware([&] { ssd_->process().simulate(); });
  } catch (const sc_core::sc_report& report) {
    blame_process(report);
    throw;
  }
  check_ended();
}

void Simulation::run(std::vector<Load>& loads, Measurement& measurement) {
  ssd_->set_timed(true);
  ssd_->put_off_background(false);
  reset_statistics();
  try {
    driver_->start(loads, measurement);
    run_kernel();
  } catch (const Stalled& stalled) {
    throw Stalled(fmt::format("{}\n{}", stalled.what(), describe_stall()));
  } catch (const TimeStandsStill& still) {
    if (!software_) throw;
    throw InputError(
        fmt::format("{}: is 0 s, and {}; nearest valid: 1 us", software_->cost_key(), still.what()));
  }
  if (!driver_->finished()) {
    throw Stalled(
        fmt::format("nothing is left to happen; {}\n{}", driver_->describe_outstanding(), describe_stall()));
  }
}

/// Until `done`. A firmware of another's may set timers for ever: with it the kernel is stopped
/// after each instant.
void Simulation::run_until(const std::function<bool()>& done, const char* stuck) {
  constexpr std::uint64_t k_patience = 10'000'000;  // items without a program
  EventQueue& queue = ssd_->event_queue();
  std::uint64_t begin = queue.executed();
  for (double programmed = 0; !done();) {
    const std::uint64_t before = queue.executed();
    const bool stops = ssd_->own_ftl() == nullptr && !queue.empty();
    if (stops) stop_at(queue.next());
    run_kernel();
    if (const double now = flash_writes().programmed; std::exchange(programmed, now) != now) begin = before;
    if ((stops ? queue.executed() - begin > k_patience : queue.executed() == before) && !done())
      throw Stalled(fmt::format("{}:\n{}", stuck, describe_stall()));
  }
}

void Simulation::drain() {
  run_until([this] { return !software_ || software_->at_rest(); },
            "the host's software does not come to rest");
  ssd_->start_drain();
  const auto at_rest = [this] {
    return ssd_->event_queue().size() <= ssd_->firmware().timers() && !ssd_->awaits_memory();
  };
  run_until([&] { return ssd_->drained() && (ssd_->own_ftl() != nullptr || at_rest()); },
            "the drive does not come to rest");
}

FlashWrites Simulation::flash_writes() const {
  const firmware::FtlStatistics& s = ssd_->firmware_statistics();
  FlashWrites writes;
  writes.programmed = static_cast<double>(s.slots_programmed());
  const double blocks = static_cast<double>(ssd_->shape().mapping_page_bytes) / ssd_->shape().lba_bytes;
  writes.of_host = static_cast<double>(s.host_blocks_written) / blocks;
  return writes;
}

void Simulation::stop_at(Picoseconds instant) {
  ssd_->event_queue().at(
      instant, [](void* self) { static_cast<Simulation*>(self)->ssd_->process().stop(); }, this);
}

void Simulation::advance_to(Picoseconds instant) {
  if (instant <= ssd_->event_queue().now()) return;
  stop_at(instant);
  run_kernel();
}

void Simulation::archive(Archive& archive) {
  Picoseconds clock = ssd_->event_queue().now();
  archive(clock);
  advance_to(clock);
  ssd_->archive(archive);
  if (software_) software_->archive(archive);
  scoreboard_->archive(archive);
}

Identity Simulation::identity() const {
  Identity identity = ssd_->identity();
  if (contents_) identify(identity, "contents", *contents_);
  if (!software_) return identity;
  for (auto& entry : software_->identity()) identity.push_back(std::move(entry));
  return identity;
}

void Simulation::report(StatisticsSink& sink) const {
  ssd_->report(sink, software_ ? software_->written_by_loads() : std::nullopt);
  if (software_) software_->report(sink);
}

void Simulation::reset_statistics() {
  ssd_->reset_statistics();
  if (software_) software_->reset_statistics();
}

void Simulation::finish_checks() {
  ssd_->finish_checks();
  if (!checker_) return;
  checker_->finish();
  std::string found;
  for (const std::string& violation : checker_->violations()) found += "\n  " + violation;
  if (!found.empty())
    throw std::logic_error("TLM-2.0 base protocol violated between the host and its software:" + found);
}

}  // namespace tlmssd
