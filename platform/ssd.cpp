#include "platform/ssd.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

#include "firmware/blocks/block_pool.h"
#include "firmware/cache/cache.h"
#include "firmware/core/feature_info.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "models/memory/address_map.h"
#include "platform/drive_check.h"

namespace tlmssd {

namespace {

/// Masters of the system bus.
enum Master : unsigned { k_master_cpu, k_master_host, k_master_flash, k_masters };

constexpr std::string_view k_checker = "checker_";

/// Steps of firmware (stages and flash operations) that one command, or one request to go idle,
/// cannot need.
///
/// A round of the drive reads all of its units and writes them elsewhere: a stage and a flash
/// operation for each attempt to read, the same for the program, and as much again for erases and
/// the map. Moved data leave no invalid units behind, so collection has nothing left to find after
/// one round; wear levelling, folding and refresh may each add one, and so may the command itself.
/// Four times these rounds are allowed; a million steps are for drives of a few units.
std::uint64_t most_untimed_steps(const firmware::DriveShape& shape, std::uint32_t attempts) {
  constexpr std::uint64_t k_rounds = 4 * 5;
  constexpr std::uint64_t k_least = 1'000'000;
  constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max() - k_least;
  const std::uint64_t units = k_rounds * (shape.geometry.bytes() / shape.mapping_page_bytes);
  const std::uint64_t steps = 2 * std::uint64_t{attempts} + 4;
  return k_least + (units > k_most / steps ? k_most : units * steps);
}

firmware::DriveShape checked_shape(const SsdConfig& config) {
  check_values(config);
  config.check_memory();
  return config.shape();
}

}  // namespace

ProtocolChecker& Ssd::add_checker(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  checkers_.push_back(std::make_unique<ProtocolChecker>((std::string(k_checker) + name).c_str(),
                                                        ProtocolChecker::OnViolation::collect));
  return *checkers_.back();
}

/// A protocol checker in front of `target`, called after it.
ProtocolChecker& Ssd::add_checker(tlm::tlm_target_socket<>& target) {
  ProtocolChecker& checker = add_checker(std::string(target.name()));
  checker.isock.bind(target);
  return checker;
}

/// Binds two sockets, with a protocol checker in between when the configuration asks for one.
void Ssd::connect(tlm::tlm_initiator_socket<>& initiator, tlm::tlm_target_socket<>& target) {
  if (config_.check_protocol) {
    initiator.bind(add_checker(target).tsock);
  } else {
    initiator.bind(target);
  }
}

Ssd::Ssd(const sc_core::sc_module_name& name, const SsdConfig& config)
    : sc_core::sc_module(name), config_(config), shape_(checked_shape(config_)) {
  config_.part.blocks_per_plane = shape_.geometry.blocks;
  check_drive(config_);  // before anything of it is made: many dies take their time
  process_ = std::make_unique<EventQueueProcess>("event_queue", event_queue_);
  process_->on_foreign_pause([this] { blame_plug_in("has paused the simulation (sc_pause())"); });
  build_memories();
  build_flash();
  build_firmware();
  build_host();
}

Ssd::~Ssd() = default;

const firmware::Ftl& Ssd::ftl() const {
  if (own_ == nullptr) throw std::logic_error("the drive has firmware " + guard_->name());
  return *own_;
}

void Ssd::build_memories() {
  const MemoryChoice& dram = config_.dram_memory;
  bus_ = std::make_unique<SystemBus>("bus", config_.bus, event_queue_, k_masters);
  if (dram.foreign()) {
    foreign_dram_ = add_foreign("dram", k_dram_base, config_.dram.capacity, dram);
  } else {
    dram_ = std::make_unique<Dram>("dram", config_.dram, event_queue_);
    dram_->set_feed(config_.bus.bandwidth());
    connect(bus_->add_memory("dram_isock", k_dram_base, config_.dram.capacity), dram_->bus_tsock);
  }
  if (config_.scm && config_.scm_memory.foreign()) {
    foreign_scm_ = add_foreign("scm", k_scm_base, config_.scm->capacity, config_.scm_memory);
  } else if (config_.scm) {
    scm_ = std::make_unique<Scm>("scm", *config_.scm, event_queue_);
    scm_->set_feed(config_.bus.bandwidth());
    connect(bus_->add_memory("scm_isock", k_scm_base, config_.scm->capacity), scm_->bus_tsock);
  }
  if (!foreign_memories().empty()) process_->keep_in_step();
}

/// What the drive is refused for where the memory in `place` has another capacity.
std::string Ssd::lacking_with(const std::string& place, Bytes capacity) const {
  SsdConfig other = config_;
  (place == "dram" ? other.dram.capacity : other.scm->capacity) = capacity;
  try {
    check_values(other);
    check_drive(other);
  } catch (const InputError& error) {
    const std::vector<InputError> all = errors_of(error);
    const std::string key = "ssd." + place + ".capacity";
    const auto of_capacity = std::find_if(all.begin(), all.end(),
                                          [&](const InputError& one) { return one.complaint().key == key; });
    return (of_capacity == all.end() ? all.front() : *of_capacity).complaint().what;
  }
  return {};
}

/// A memory from outside behind its adapter.
std::unique_ptr<ForeignMemory> Ssd::add_foreign(const char* place, std::uint64_t base, Bytes capacity,
                                                const MemoryChoice& choice) {
  const auto lacking = [&](Bytes less) { return lacking_with(place, less); };
  auto memory = std::make_unique<ForeignMemory>(place, MemoryContext{place, capacity, config_.seed}, base,
                                                choice, event_queue_, lacking);
  connect(bus_->add_memory((std::string(place) + "_isock").c_str(), base, capacity), memory->bus_tsock);
  const MemorySocket socket = memory->memory();
  if (config_.check_protocol) {
    ProtocolChecker& checker = add_checker(std::string(socket.name()));
    foreign_sockets_.emplace_back(&checker, memory.get());
    memory->memory_isock.bind(checker.tsock);
    socket.bind_to(checker.isock);
  } else {
    socket.bind_to(memory->memory_isock);
  }
  return memory;
}

bool Ssd::awaits_memory() const {
  return (foreign_dram_ && foreign_dram_->busy()) || (foreign_scm_ && foreign_scm_->busy());
}

std::vector<const ForeignMemory*> Ssd::foreign_memories() const {
  std::vector<const ForeignMemory*> all;
  for (const auto* const memory : {&foreign_dram_, &foreign_scm_}) {
    if (*memory != nullptr) all.push_back(memory->get());
  }
  return all;
}

void Ssd::build_flash() {
  const auto stamps = static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes);
  const NoValues defaults;
  const ParameterValues& values = config_.scheduling_values ? *config_.scheduling_values : defaults;
  NandPart part = config_.part;
  if (config_.make_timing) part.timing = "of one's own";  // for messages
  flash_ = std::make_unique<FlashArray>(
      event_queue_, part, config_.flash, make_scheduler(config_.scheduling, values),
      make_timing(config_, config_.part), shape_.mapping_page_bytes, stamps, config_.seed,
      [this](auto& initiator, auto& target) { connect(initiator, target); },
      FlashErrors{config_.ecc, make_bit_errors(config_), config_.retention});
  connect(flash_->controller().memory_isock, bus_->master_tsock(k_master_flash));
}

void Ssd::build_firmware() {
  const auto stamps = static_cast<std::uint32_t>(shape_.mapping_page_bytes / shape_.lba_bytes);
  cpu_ = std::make_unique<ControllerCpu>("cpu", config_.cpu, event_queue_, stamps);
  connect(cpu_->flash_isock, flash_->controller().cpu_tsock);
  connect(cpu_->memory_isock, bus_->master_tsock(k_master_cpu));
  port_ = std::make_unique<FirmwarePort>(event_queue_, *cpu_, *flash_);
  hardware_ = std::make_unique<firmware::Hardware>(port_->hardware());
  firmware_ = make_firmware(config_, *hardware_, shape_);
  if (config_.steady_after) check_steady(config_, *firmware_, *config_.steady_after);
  own_ = dynamic_cast<const firmware::Ftl*>(firmware_.get());
  guard_ = dynamic_cast<FirmwareGuard*>(firmware_.get());
  cpu_->limit_untimed(most_untimed_steps(shape_, firmware_->most_attempts()));
  config_.ecc.check(firmware_->codes());
  flash_->controller().ecc().provide(firmware_->codes());
  const auto submit = [](void* firmware, HostCommand& command) {
    static_cast<firmware::Firmware*>(firmware)->submit(command);
  };
  cpu_->set_handler(submit, firmware_.get());
}

void Ssd::build_host() {
  const Bytes firmware_bytes = firmware_->dram_bytes();
  HostWiring wiring;
  wiring.capacity_blocks = shape_.logical_blocks;
  wiring.buffer_address = k_dram_base + firmware_bytes;
  wiring.buffer_bytes = config_.dram.capacity - firmware_bytes;
  host_ = std::make_unique<HostInterface>("host", config_.host, wiring, event_queue_);
  connect(host_->mailbox_isock, cpu_->mailbox_tsock);
  connect(host_->memory_isock, bus_->master_tsock(k_master_host));
  port_->set_host(*host_);
  if (config_.host.memory_buffer > 0) {
    const Bytes size = config_.host.memory_buffer;
    host_memory_ = std::make_unique<HostMemory>("host_memory", size, host_->link(), event_queue_);
    connect(bus_->add_memory("host_memory_isock", k_host_memory_base, size), host_memory_->bus_tsock);
  }
  host_socket_ = config_.check_protocol ? &add_checker(host_->host_tsock).tsock : &host_->host_tsock;
}

// ---- operation

void Ssd::set_timed(bool timed) {
  cpu_->set_mode(timed ? ControllerCpu::Mode::timed : ControllerCpu::Mode::untimed);
  firmware_->set_timed(timed);
}

Task<> Ssd::drain() {
  co_await firmware_->drain();
  drained_ = true;
}

void Ssd::start_drain() {
  cpu_->begin_untimed();
  drained_ = false;
  drain().start();
}

void Ssd::age(std::uint32_t cycles, double seconds, double celsius, bool powered) {
  const auto pass = [&](std::uint32_t more_cycles, double time) {
    flash_->age(more_cycles, time, celsius);
    firmware_->rest(more_cycles, std::llround(time * 1e9));
  };
  pass(cycles, 0);
  cycles_ += cycles;
  const double interval = powered ? firmware_->patrol_interval() : 0;
  double step = 1;  // patrols up to the next one that may find something
  while (interval > 0 && seconds > interval) {
    event_queue_.checkpoint();
    const double left = std::ceil(seconds / interval) - 1;
    step = std::clamp(step, 1.0, left);
    pass(0, step * interval);
    seconds -= step * interval;
    const std::uint64_t moved = firmware_statistics().feature_moves();
    cpu_->begin_untimed();
    firmware_->patrol();
    start_drain();
    if (!drained_) throw std::logic_error("a patrol of the resting drive did not end at once");
    // What was moved may have made other blocks due: the next patrol is not passed over.
    step = firmware_statistics().feature_moves() > moved ? 1 : std::ceil(firmware_->next_due() / interval);
  }
  pass(0, std::max(seconds, 0.0));
}

void Ssd::idle() {
  cpu_->begin_untimed();
  firmware_->idle_time();
  start_drain();
  if (!drained_) throw std::logic_error("work in idle time did not end at once");
}

std::string Ssd::steady_only_by_writing() const {
  return tlmssd::steady_only_by_writing(config_, *firmware_);
}

std::string Ssd::make_steady(const firmware::SteadyOrder& order) {
  check_steady(config_, *firmware_, cycles_);
  firmware::SteadyOrder bearable = order;
  if (const std::uint32_t bears = config_.part.least_endurance(); bears > 0)
    bearable.most_erases = bears - cycles_;
  cpu_->begin_untimed();
  std::string how = firmware_->make_steady(bearable);
  start_drain();
  if (!drained_) throw std::logic_error("a drive in steady state is not at rest");
  return how;
}

bool Ssd::fills_without_pages() const {
  // Models of others' may look at addresses in the write buffer, which a fill of pages goes
  // through.
  if (!foreign_memories().empty()) return false;
  return config_.part.grown_bad_blocks == 0;  // else some of its programs fail
}

bool Ssd::knows_fill(const firmware::FillOrder& order) const {
  return fills_without_pages() && own_ != nullptr && own_->knows_fill(order);
}

std::uint64_t Ssd::fill(const firmware::FillOrder& order) {
  if (!fills_without_pages()) return 0;
  cpu_->begin_untimed();
  return firmware_->fill(order);
}

void Ssd::disturb(std::uint32_t reads) {
  if (reads == 0) return;
  flash_->disturb(reads);
  firmware_->disturb(reads);
}

bool Ssd::check_durability() {
  if (guard_ == nullptr || shape_.scm_bytes > 0) return false;
  guard_->check_durability();
  return true;
}

void Ssd::observe(const SsdObservers& observers) {
  flash_->set_observer(observers.flash);
  cpu_->set_observer(observers.cpu);
  host_->set_observer(observers.link);
}

void Ssd::check_archives() const {
  for (const ForeignMemory* const memory : foreign_memories()) memory->check_archives();
}

void Ssd::archive(Archive& archive) {
  check_archives();
  flash_->archive(archive);
  cpu_->archive(archive);
  bus_->archive(archive);
  if (dram_) dram_->archive(archive);
  if (foreign_dram_) foreign_dram_->archive(archive);
  if (scm_) scm_->archive(archive);
  if (foreign_scm_) foreign_scm_->archive(archive);
  firmware_->archive(archive);
  host_->archive(archive);
}

Identity Ssd::identity() const {
  Identity identity{{"seed", std::to_string(config_.seed)}, {"user capacity", std::to_string(user_bytes())}};
  identify(identity, "ssd.host", config_.host);
  identify(identity, "ssd.flash", config_.flash);
  identify(identity, "ssd.flash.part", config_.part);
  identity.emplace_back(
      "ssd.flash.part.slc_endurance",
      config_.part.has_slc_mode() ? std::to_string(config_.part.endurance_in_slc_mode()) : "no SLC mode");
  if (config_.scm) identify(identity, "ssd.scm", *config_.scm);
  if (foreign_dram_) identity.emplace_back("ssd.dram.model", foreign_dram_->model());
  if (foreign_scm_) identity.emplace_back("ssd.scm.model", foreign_scm_->model());
  if (own_ == nullptr) {
    identity.emplace_back("firmware.model", guard_->name());
    identity.emplace_back("firmware.mapping.unit", std::to_string(shape_.mapping_page_bytes));
    return identity;
  }
  for (auto& entry : firmware::Ftl::identity(config_.firmware)) identity.push_back(std::move(entry));
  if (const firmware::Cache* const cache = own_->cache()) {
    identity.emplace_back("firmware.cache.capacity", std::to_string(cache->capacity()));
    identity.emplace_back("firmware.cache.grain", std::to_string(cache->grain()));
  }
  return identity;
}

// ---- reporting

void Ssd::tell_busy(BusySink& sink) const {
  host_->tell_busy(sink);
  cpu_->tell_busy(sink);
  bus_->tell_busy(sink);
  if (dram_) dram_->tell_busy(sink);
  if (foreign_dram_) foreign_dram_->tell_busy(sink);
  if (scm_) scm_->tell_busy(sink);
  if (foreign_scm_) foreign_scm_->tell_busy(sink);
  flash_->tell_busy(sink);
}

void Ssd::report(StatisticsSink& sink, std::optional<Bytes> written_by_loads) const {
  host_->report(sink);
  if (host_memory_) host_memory_->report(sink);
  cpu_->report(sink);
  bus_->report(sink);
  if (dram_) dram_->report(sink);
  if (foreign_dram_) foreign_dram_->report(sink);
  if (scm_) scm_->report(sink);
  if (foreign_scm_) foreign_scm_->report(sink);
  sink.open("flash", "flash controller, channels and dies");
  flash_->report(sink);
  sink.close();
  firmware_->report(sink);
  WearOfLoad wear = wear_of_load();
  wear.written = written_by_loads.value_or(wear.written);
  report_lifetime(sink, wear);
}

WearOfLoad Ssd::wear_of_load() const {
  WearOfLoad wear;
  wear.user = user_bytes();
  wear.written = firmware_statistics().host_blocks_written * shape_.lba_bytes;
  const Geometry& geometry = flash_->geometry();
  wear.blocks = std::uint64_t{geometry.dies()} * geometry.planes * geometry.blocks;
  DieState::Counts all;
  for (std::uint32_t die = 0; die < geometry.dies(); ++die) {
    const DieState::Counts& counts = flash_->die(DieId{die}).state().counts();
    all.erases += counts.erases;
    all.slc_erases += counts.slc_erases;
    all.programs += counts.programs;
    all.slc_programs += counts.slc_programs;
  }
  const auto cycles_of = [](std::uint64_t erases, std::uint64_t programs, std::uint32_t pages) {
    return std::max(static_cast<double>(erases), ratio(static_cast<double>(programs), pages));
  };
  wear.native_cycles =
      cycles_of(all.erases - all.slc_erases, all.programs - all.slc_programs, config_.part.pages_per_block);
  wear.slc_cycles = cycles_of(all.slc_erases, all.slc_programs, config_.part.slc_pages_per_block());
  wear.endurance = config_.part.endurance;
  wear.cycles_before = flash_->die(DieId{0}).state().cycles_before();
  wear.slc_endurance = config_.part.endurance_in_slc_mode();
  if (own_ != nullptr) {
    const auto block =
        static_cast<double>(config_.part.pages_per_block) * static_cast<double>(config_.part.page_size);
    wear.native_cycles += (bytes_to_come() - to_come_at_reset_) / block;
    const firmware::BlockPool::Cycles cycles = own_->blocks().cycles();
    if (cycles.most >= k_cycles_to_tell) wear.evenness = quotient(cycles.mean, cycles.most);
  }
  return wear;
}

double Ssd::bytes_to_come() const {
  if (own_ == nullptr) return 0;
  const std::uint64_t units = own_->buffered_units() + own_->blocks().slc_counts().valid;
  return static_cast<double>(units) * static_cast<double>(shape_.mapping_page_bytes);
}

void Ssd::reset_statistics() {
  to_come_at_reset_ = bytes_to_come();
  host_->reset_statistics();
  if (host_memory_) host_memory_->reset_statistics();
  cpu_->reset_statistics();
  bus_->reset_statistics();
  if (dram_) dram_->reset_statistics();
  if (foreign_dram_) foreign_dram_->reset_statistics();
  if (scm_) scm_->reset_statistics();
  if (foreign_scm_) foreign_scm_->reset_statistics();
  flash_->reset_statistics();
  firmware_->reset_statistics();
}

std::string Ssd::describe_stall() const {
  std::string text;
  firmware_->describe_stall(text);
  return text;
}

void Ssd::blame_plug_in(const std::string& what) const {
  const std::vector<const ForeignMemory*> memories = foreign_memories();
  if (memories.empty()) throw InputError("a plug-in " + what);
  std::vector<std::string> names;
  for (const ForeignMemory* const memory : memories) names.push_back(memory->model());
  throw objection(memories.front()->key(), any_of(names) + " " + what);
}

/// What is wrong at the socket of a memory from outside is that memory's fault.
void Ssd::check_foreign(const ProtocolChecker& checker) const {
  const auto found = std::find_if(foreign_sockets_.begin(), foreign_sockets_.end(),
                                  [&](const auto& socket) { return socket.first == &checker; });
  const std::vector<std::string>& violations = checker.violations();
  if (found == foreign_sockets_.end() || violations.empty()) return;
  const std::string more = violations.size() == 1 ? "" : fmt::format("; and {} more", violations.size() - 1);
  throw objection(found->second->key(),
                  found->second->model() + " breaks the TLM-2.0 base protocol: " + violations.front() + more);
}

void Ssd::finish_checks() {
  std::string found;
  for (auto& checker : checkers_) {
    checker->finish();
    check_foreign(*checker);
    for (const std::string& violation : checker->violations())
      found += fmt::format("\n  {}: {}", checker->name(), violation);
  }
  if (!found.empty()) throw std::logic_error("TLM-2.0 base protocol violated:" + found);
}

std::uint64_t Ssd::checked_transactions() const {
  std::uint64_t sum = 0;
  for (const auto& checker : checkers_) sum += checker->transactions();
  return sum;
}

std::vector<std::string> Ssd::silent_sockets() const {
  std::vector<std::string> silent;
  for (const auto& checker : checkers_) {
    if (checker->transactions() == 0) silent.emplace_back(checker->basename() + k_checker.size());
  }
  return silent;
}

}  // namespace tlmssd
