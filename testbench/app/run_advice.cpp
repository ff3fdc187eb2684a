// What the report advises: what is known of the scenario and the drive, for findings and adviser.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

#include "firmware/blocks/block_pool.h"
#include "firmware/cache/cache.h"
#include "firmware/core/feature_info.h"
#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "models/host/link.h"
#include "testbench/app/run.h"
#include "testbench/report/advice/findings.h"

namespace tlmssd {

namespace {

/// Says of a lifetime that is reckoned from too little by which advice it is.
void mark_lifetime(const std::vector<Advice>& advice, nlohmann::ordered_json& report) {
  std::string not_settled;
  for (const Advice& one : advice)
    if (leaves_lifetime_open(one.name)) not_settled += (not_settled.empty() ? "" : ", ") + one.name;
  if (not_settled.empty() || !report.contains("lifetime")) return;
  report["lifetime"]["not_settled"] = {
      {"value", not_settled},
      {"unit", ""},
      {"doc",
       "advice by which write amplification has not settled: what is reckoned from this run is no forecast"}};
}

constexpr double k_all_of_it = 0.99;  ///< shares of the drive rarely come out whole

/// Bytes that the loads of one job write, between them.
Bytes written_by_job(const std::vector<Load>& loads, const std::string& job) {
  std::vector<std::pair<Bytes, Bytes>> parts;
  for (const Load& load : loads)
    if (load.job == job && load.writes)
      parts.emplace_back(load.writes->offset, load.writes->offset + load.writes->size);
  std::sort(parts.begin(), parts.end());
  Bytes sum = 0;
  Bytes reached = 0;
  for (const auto& [begin, end] : parts) {
    sum += end > reached ? end - std::max(begin, reached) : 0;
    reached = std::max(reached, end);
  }
  return sum;
}

}  // namespace

/// The steps that were carried out, those of the snapshot if the drive comes from one.
std::vector<PreconditionStep> Run::steps_carried_out() const {
  const auto of = [](const Scenario& scenario) {
    std::vector<PreconditionStep> steps;
    for (std::size_t i = 0; i < scenario.count("precondition"); ++i) steps.push_back(read_step(scenario, i));
    return steps;
  };
  return other_steps_.empty() ? of(scenario_) : of(source_.read({"precondition=" + other_steps_}));
}

/// Whether the drive is as `state: steady` has left it.
bool Run::drawn_steady() const {
  if (steady_steps_.empty()) return false;
  auto told = nlohmann::ordered_json::parse(steady_steps_);
  std::erase_if(told.get_ref<nlohmann::ordered_json::array_t&>(), [](const nlohmann::ordered_json& step) {
    return !step.contains("state") && !step.contains("rounds");  // that data were lost is all that is told
  });
  if (told.empty() || !told.back().contains("state")) return false;
  const auto& last = told.back();
  const std::vector<PreconditionStep> steps = steps_carried_out();
  const std::size_t behind = std::min(last["step"].get<std::size_t>() + 1, steps.size());
  return std::none_of(steps.begin() + static_cast<std::ptrdiff_t>(behind), steps.end(),
                      [](const PreconditionStep& step) { return step.fill > 0 || step.overwrite > 0; });
}

/// What `sustained` would change: the drive was written all over, and then left to collection in
/// the background.
bool Run::came_to_rest() const {
  if (simulation_->ssd().config().firmware.gc.background_start <= 0) return false;
  const std::vector<PreconditionStep> steps = steps_carried_out();
  const bool overwritten = std::any_of(steps.begin(), steps.end(), [](const PreconditionStep& step) {
    return step.overwrite > 0 || step.to_steady_state() || step.steady.wanted();
  });
  if (!overwritten) return false;
  const bool paused = !steps.back().sustained && !steps.back().steady.wanted();
  return paused || age_.retention > 0;
}

/// In what a load's writes differ from uniform random ones of a mapping page all over the drive, as
/// far as that is known beforehand; empty: in nothing, or it does not write.
std::string Run::unlike_steady(const Load& load) const {
  if (!load.writes) return "";
  const WritePattern& writes = *load.writes;
  const Bytes unit = simulation_->ssd().shape().mapping_page_bytes;
  const Bytes drive = simulation_->drive_size().bytes;
  const double share = static_cast<double>(written_by_job(loads_, load.job)) / static_cast<double>(drive);
  if (!writes.random) return "writes in sequence";
  if (!writes.uniform) return "does not write all places alike (random_distribution, norandommap)";
  if (share < k_all_of_it) return "writes " + share_text(share) + " of the drive";
  if (writes.largest > unit)
    return "writes up to " + bytes_text(static_cast<double>(writes.largest)) + " at once";
  return "";
}

AdviserFacts Run::adviser_facts() const {
  const Ssd& ssd = simulation_->ssd();
  const Geometry& geometry = ssd.shape().geometry;
  AdviserFacts facts;
  facts.timed = run_section_.timed;
  facts.all_ramp = all_ramp_;
  facts.user = ssd.user_bytes();
  facts.flash = geometry.bytes();
  facts.own_firmware = ssd.own_ftl() != nullptr;
  if (facts.own_firmware) {
    facts.write_buffer = ssd.config().firmware.buffer.capacity;
    facts.unit = ssd.config().firmware.mapping.unit;
    const firmware::Layout& layout = ssd.own_ftl()->blocks().layout();
    facts.block = Bytes{layout.block_units} * layout.unit_bytes;
    facts.background_without_room = ssd.own_ftl()->background_without_room();
  }
  facts.copies_wait = ssd.config().firmware.cache.copy_waits;
  facts.blocks_of_spare =
      static_cast<double>(facts.flash - facts.user) /
      static_cast<double>(Bytes{geometry.dies()} * geometry.planes * geometry.block_bytes());
  facts.drawn_steady = drawn_steady();
  facts.came_to_rest = came_to_rest();
  facts.queue_depth = ssd.config().host.effective_depth();
  facts.key_of_queue_depth = key_of_queue_depth();
  const HostConfig& host = ssd.config().host;
  if (host.effective_queues() > 1 && host.is_weighted()) facts.turns = "weighted arbitration";
  if (host.effective_queues() > 1 && !host.is_weighted() && host.burst > 1) facts.turns = "burst";
  facts.changed = [this](std::string_view path) { return scenario_.changes(path); };
  const std::vector<StreamEnd> ends = simulation_->driver().stream_ends();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    LoadEnd end;
    end.name = loads_[i].name;
    end.made = loads_[i].made && loads_[i].pacing == Pacing::closed_loop;
    end.job = loads_[i].job_name();
    end.group = loads_[i].phase;
    if (i == 0 || loads_[i].job != loads_[i - 1].job) end.unlike_steady = unlike_steady(loads_[i]);
    if (loads_[i].pacing == Pacing::closed_loop) end.depth = loads_[i].queue_depth;
    end.active = measurement_->load(i).active();
    end.longer_by = loads_[i].keys_of(loads_[i].longer_by);
    end.keys = [&load = loads_[i]](const std::vector<std::string>& options) { return load.keys_of(options); };
    if (i < ends.size()) {
      end.wanted = loads_[i].wanted - std::min(loads_[i].wanted, loads_[i].warm_up);
      end.issued = ends[i].issued;
      end.measured = ends[i].measured;
      end.lag = ends[i].lag;
      end.lasted = ends[i].lasted;
      end.by_time = ends[i].by_time;
      end.queue = ends[i].queue;
    }
    facts.loads.push_back(std::move(end));
  }
  facts.simulated = static_cast<double>(simulation_->ssd().event_queue().now()) * 1e-12;
  facts.pass_voltage_interval = numbers_of_feature("firmware.pass_voltage")["interval"];
  facts.out_of_reach = refresh_out_of_reach();
  for (const Target& target : targets_)
    if (const std::string few = target.with_too_few(*measurement_); !few.empty())
      facts.targets_with_few.push_back(few);
  return facts;
}

/// Numbers that the chosen policy of a feature goes by, given or by default; empty: there is none.
std::map<std::string, double> Run::numbers_of_feature(std::string_view section) const {
  std::map<std::string, double> numbers;
  const auto& features = firmware::features();
  const auto feature = std::find_if(features.begin(), features.end(),
                                    [&](const firmware::FeatureInfo& one) { return one.path == section; });
  if (simulation_->ssd().own_ftl() == nullptr || feature == features.end()) return numbers;
  const std::string chosen = scenario_.policy(section);
  const Glance values = scenario_.glance(section);
  for (const PolicyInfo& policy : feature->policies()) {
    if (policy.name != chosen) continue;
    for (const ParameterSpec& spec : policy.parameters) {
      const Value* const given = values.find(spec.name);
      const Value& value = given == nullptr ? spec.fallback : *given;
      if (const auto* const whole = std::get_if<std::int64_t>(&value))
        numbers[spec.name] = static_cast<double>(*whole);
      if (const auto* const real = std::get_if<double>(&value)) numbers[spec.name] = *real;
    }
  }
  return numbers;
}

/// Limits of refresh that nothing can come to.
std::vector<std::pair<std::string, std::string>> Run::refresh_out_of_reach() const {
  std::map<std::string, double> numbers = numbers_of_feature("firmware.refresh");
  numbers.erase("patrol");
  if (numbers.empty()) return {};
  if (std::all_of(numbers.begin(), numbers.end(), [](const auto& one) { return one.second == 0; }))
    return {{"refresh has no limit by which it would move a block: all of them are 0",
             "firmware.refresh.retention"}};
  const double bits = numbers["errors"];
  double most = 0;
  const EccConfig& ecc = simulation_->ssd().config().ecc;
  for (std::size_t i = 1; i < ecc_codes(); ++i) {
    const auto code = static_cast<EccCode>(i);
    if (!simulation_->ssd().own_ftl()->codes().has(code)) continue;
    constexpr double k_widths = 8;  // of the transition, beyond which no frame is decoded
    const CodeConfig& config = ecc.of(code);
    if (config.failure != nullptr || ecc.predicts(config)) return {};
    most = std::max(most, config.correctable * (1 + k_widths * config.waterfall));
  }
  most = std::floor(most);
  if (most == 0 || bits <= most) return {};
  return {{fmt::format(
               "refresh waits for {:.0f} bits that were corrected in a frame, and no code corrects more than "
               "{:.0f}: only attempts that cannot be decoded make a block due",
               bits, most),
           "firmware.refresh.errors"}};
}

/// The parameter by which the host's queues would hold more.
std::string Run::key_of_queue_depth() const {
  const HostConfig& host = simulation_->ssd().config().host;
  const bool as_deep_as_can_be = host.is_sata() && host.queue_depth > host.effective_depth();
  return as_deep_as_can_be ? "ssd.host.protocol" : "ssd.host.queue_depth";
}

/// Of the loads that do not ask for all that they can get.
std::vector<DemandOfLoad> Run::demands() const {
  std::vector<DemandOfLoad> all;
  const std::vector<StreamEnd> ends = simulation_->driver().stream_ends();
  for (std::size_t i = 0; i < std::min(loads_.size(), ends.size()); ++i) {
    const Load& load = loads_[i];
    const StreamEnd& end = ends[i];
    if ((load.pacing != Pacing::open_loop && end.paused == 0) || end.span <= 0) continue;
    DemandOfLoad demand;
    demand.load = load.name;
    const auto span = static_cast<double>(end.span);
    constexpr Picoseconds k_at_once = 1'000'000;  // requests that are all due by then have no rate
    if (load.pacing == Pacing::open_loop && end.lasted - end.lag > k_at_once)
      demand.times = span / static_cast<double>(end.lasted - end.lag);
    demand.paused = std::min(static_cast<double>(end.paused) / span, 0.999);
    const std::vector<std::string> keys = load.keys_of({"rate_iops", "rate", "time_scale"});
    demand.keys = keys.empty() ? "" : any_of(keys, keys.size());
    all.push_back(std::move(demand));
  }
  return all;
}

/// What the link's latency takes of each command of a load, by the mean size of its commands.
LinkLatency Run::link_latency_of(std::size_t load) const {
  const Link link(simulation_->ssd().config().host);
  LinkLatency latency{.load = loads_[load].name};
  std::array<double, 2> time{};  // of others and of reads
  std::array<double, 2> commands{};
  for (std::size_t i = 0; i < k_opcodes; ++i) {
    const auto opcode = static_cast<HostOpcode>(i);
    const OperationMeasurement& operation = measurement_->load(load).operation(opcode);
    if (operation.count() == 0) continue;
    constexpr Bytes k_ranges = 16;  // of a trim
    const Bytes mean = operation.bytes() / operation.count();
    const bool reads = opcode == HostOpcode::read;
    const Bytes in = opcode == HostOpcode::write ? mean : opcode == HostOpcode::trim ? k_ranges : 0;
    const auto count = static_cast<double>(operation.count());
    time[reads ? 1 : 0] += count * static_cast<double>(link.latency_of(in, reads ? mean : 0));
    commands[reads ? 1 : 0] += count;
  }
  if (commands[0] > 0) latency.of_others = time[0] / commands[0] * 1e-12;
  if (commands[1] > 0) latency.of_reads = time[1] / commands[1] * 1e-12;
  return latency;
}

ChosenLimits Run::chosen_limits() const {
  const SsdConfig& config = simulation_->ssd().config();
  const Scheduler& scheduler = simulation_->ssd().flash().scheduler();
  ChosenLimits limits{
      .suspends_programs = config.flash.suspends_programs(),
      .suspends_erases = config.flash.suspends_erases(),
      .finishes_pulse = config.part.finishes_pulse(),
      .prefers_reads = scheduler.overtakes() && !scheduler.overdue(0, 0),
      .writes_through = config.firmware.buffer.is_write_through(),
      .own_firmware = simulation_->ssd().own_ftl() != nullptr,
      .pins_stages = config.cpu.assignment.pins(),
      .erase_seconds = static_cast<double>(config.part.erase_latency) * 1e-12,
      .host_seconds = static_cast<double>(simulation_->host_cost()) * 1e-12,
      .interrupt_seconds = static_cast<double>(config.host.interrupt_latency) * 1e-12,
      .bus_seconds = static_cast<double>(config.bus.latency) * 1e-12,
      .dram_seconds = static_cast<double>(config.dram.latency) * 1e-12,
      .memory_in_order = !config.dram_memory.foreign() && config.dram.arbitration == k_in_order,
      .queue_depth = key_of_queue_depth()};
  for (const Picoseconds latency : config.part.program_latency)
    limits.program_seconds +=
        static_cast<double>(latency) * 1e-12 / static_cast<double>(config.part.program_latency.size());
  limits.demands = demands();
  for (std::size_t i = 0; i < loads_.size(); ++i) limits.link.push_back(link_latency_of(i));
  const firmware::Ftl* const ftl = simulation_->ssd().own_ftl();
  limits.cache_keeps_room = ftl != nullptr && ftl->cache() != nullptr && ftl->cache()->keeps_room();
  if (ftl != nullptr) {
    const firmware::Layout& layout = ftl->blocks().layout();
    const double programs = static_cast<double>(layout.program_units) * layout.unit_bytes *
                            simulation_->ssd().shape().geometry.dies();
    limits.dies_of_buffer = static_cast<double>(config.firmware.buffer.capacity) / programs;
  }
  std::uint64_t wanted = 0;  // by all loads
  for (const Load& load : loads_) {
    const bool unlimited = load.queue_depth == 0;
    if (load.pacing == Pacing::open_loop && (!unlimited || load.think_time > 0)) {
      limits.loads.push_back({load.name,
                              unlimited ? std::numeric_limits<std::uint32_t>::max() : load.queue_depth,
                              load.key_of(load.made ? "iodepth" : "max_outstanding"),
                              load.think_time > 0 ? load.key_of("thinktime") : ""});
    }
    if (config.host.is_sata()) {
      const std::vector<std::string> keys = load.keys_of(load.alone_by);
      limits.alone.push_back({load.name, keys.empty() ? "" : any_of(keys, keys.size())});
    }
    wanted += unlimited ? std::numeric_limits<std::uint32_t>::max() : load.queue_depth;
  }
  const std::uint64_t at_once = config.host.outstanding_limit;
  const std::uint64_t queued = std::uint64_t{config.host.effective_depth()} * config.host.effective_queues();
  if (at_once > 0 && at_once < std::min(wanted, queued)) {
    limits.commands_under_way = "ssd.host.outstanding_limit";
    if (config.host.effective_queues() > 1)
      limits.turns = config.host.is_weighted() ? "ssd.host.weights" : "ssd.host.arbitration";
  } else if (queued < wanted) {
    limits.commands_under_way = key_of_queue_depth();
  }
  return limits;
}

/// A shortened run means nothing, and is not advised on; nor is one that was cut off, whose
/// lifetime may be reckoned from too little all the same. Other firmware has none of our own's
/// keys.
void Run::advise_on(nlohmann::ordered_json& report) {
  const bool own_firmware = simulation_->ssd().own_ftl() != nullptr;
  report["findings"] = nlohmann::ordered_json::array();
  for (const Finding& one : findings(report, chosen_limits()))
    report["findings"].push_back({{"cause", one.cause},
                                  {"text", one.text},
                                  {"look_at", own_firmware ? one.look_at_all() : one.look_at}});
  report["advice"] = nlohmann::ordered_json::array();
  if (interrupted_) report["partial"] = interrupted_->what();
  const bool silent = options_.short_form || interrupted_;
  if (silent && !report.contains("lifetime")) return;
  const std::vector<Advice> advice = advise(report, adviser_facts(), silenced_);
  mark_lifetime(advice, report);
  if (silent) return;
  for (const Advice& one : advice)
    report["advice"].push_back({{"name", one.name}, {"text", one.text}, {"look_at", one.look_at}});
  advised_ = advised_ || !advice.empty();
}

}  // namespace tlmssd
