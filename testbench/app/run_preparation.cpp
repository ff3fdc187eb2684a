// How the drive comes to be as the run finds it: preconditioning, age, or a snapshot; and the
// loads' own warm-up.
#include <algorithm>
#include <fmt/format.h>
#include <iostream>

#include "models/base/input_error.h"
#include "platform/plugins/loader.h"
#include "testbench/app/run.h"
#include "testbench/report/files/snapshot.h"

namespace tlmssd {

namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Parameters of the firmware that the scenario `saved` has otherwise, in words behind
/// "parameters".
std::string other_parameters(const Scenario& saved, const Scenario& here) {
  const Json there = Json::parse(saved.resolved_json()).at("firmware");
  const Json own = Json::parse(here.resolved_json()).at("firmware");
  std::string words;
  for (const auto& [key, value] : there.items()) {
    if (!own.contains(key) || own[key] == value) continue;
    words += fmt::format("{} firmware.{} is {} there, {} here", words.empty() ? ":" : ",", key,
                         value_text(value), value_text(own[key]));
  }
  return words;
}

Json steps_of(const Scenario& scenario) {
  return Json::parse(scenario.resolved_json()).value("precondition", Json::array());
}

/// What the steps `there` have otherwise than those `here`, in words; empty when they are the same.
std::string other_steps(const Json& there, const Json& here) {
  std::string words;
  const auto say = [&](const std::string& text) { words += (words.empty() ? "" : ", ") + text; };
  for (std::size_t i = 0; i < std::max(there.size(), here.size()); ++i) {
    if (i >= there.size() || i >= here.size()) {
      say(fmt::format("precondition.{} is absent {}", i, i >= there.size() ? "there" : "here"));
      continue;
    }
    for (const auto& [key, value] : here[i].items()) {
      if (!there[i].contains(key) || there[i][key] == value) continue;
      say(fmt::format("precondition.{}.{} is {} there, {} here", i, key, value_text(there[i][key]),
                      value_text(value)));
    }
  }
  return words;
}

}  // namespace

void Run::precondition() {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < scenario_.count("precondition"); ++i) {
    const PreconditionStep step = steps_->read_step(i);
    std::vector<Load> loads = steps_->make_step(i);
    if (step.to_steady_state()) loads = make_steady_state(i, step.sustained);
    const std::uint64_t before = simulation_->driver().requests_done();
    const auto units_lost = [&] { return simulation_->ssd().firmware_statistics().units_lost; };
    std::uint64_t counted = units_lost();
    Progress progress(fmt::format("precondition {}/{}", i + 1, scenario_.count("precondition")),
                      expected_requests(loads), shows_progress());
    simulation_->driver().set_progress_hook([&](std::uint64_t done) { progress.update(done - before, 0); });
    simulation_->run_untimed(loads, step.sustained);
    std::uint64_t lost = units_lost() - counted;
    counted = units_lost();
    if (write_until_steady(i)) counted = 0;  // statistics begin anew with its rounds
    if (step.idle) simulation_->idle();
    if (step.ages())
      tell_step({{"step", i},
                 {"met", true},
                 {"text", fmt::format("precondition.{}: behind it {}", i, rest(step.age()))}});
    lost += units_lost() - counted;
    tell_lost(i, lost);
    progress.finish();
  }
  simulation_->driver().set_progress_hook(nullptr);
  precondition_commands_ = simulation_->driver().completed();
  precondition_seconds_ = seconds_since(start);
  note_failures(preparation_, "preconditioning: ", 0);
}

/// Without writing, where the drive can; otherwise the loads that settle it.
std::vector<Load> Run::make_steady_state(std::size_t number, bool sustained) {
  std::string why_not;
  const auto how = simulation_->make_steady(scenario_.seed(), why_not, sustained);
  std::vector<Load> loads;
  if (!how) loads = steps_->make_settling(number);
  tell_step(
      {{"step", number},
       {"state", "steady"},
       {"written", !how},
       {"met", true},
       {"text", how ? "steady state without being written: " + *how
                    : fmt::format("steady state by a settling run, filled and overwritten {:g} times: {}",
                                  steps_->settling_overwrites(), why_not)}});
  return loads;
}

/// What became of a step, for the report.
void Run::tell_step(const Json& told) {
  Json all = Json::array();
  if (!steady_steps_.empty()) all = Json::parse(steady_steps_);
  all.push_back(told);
  steady_steps_ = all.dump();
}

SteadyRounds Run::rounds(const SteadyConfig& config) {
  const Bytes round = static_cast<Bytes>(config.round * static_cast<double>(simulation_->drive_size().bytes));
  return {config, round, [this] { return simulation_->flash_writes(); }};
}

/// Statistics begin anew, of which the rounds take what flash has written.
void Run::begin_rounds(SteadyRounds& rounds) {
  simulation_->reset_statistics();
  rounds.begin(simulation_->ssd().event_queue().now());
}

/// Mapping pages whose data were lost during a step, each counted once.
void Run::tell_lost(std::size_t number, std::uint64_t lost) {
  if (lost == 0) return;
  Json all = steady_steps_.empty() ? Json::array() : Json::parse(steady_steps_);
  const std::string what = fmt::format("{} mapping pages lost", lost);
  const auto own =
      std::find_if(all.begin(), all.end(), [&](const Json& one) { return one["step"] == number; });
  if (own == all.end()) {
    all.push_back(
        {{"step", number}, {"met", true}, {"text", fmt::format("precondition.{}: {}", number, what)}});
    all.back()["units_lost"] = lost;
  } else {
    (*own)["text"] = (*own)["text"].get<std::string>() + "; " + what;
    (*own)["units_lost"] = lost;
  }
  steady_steps_ = all.dump();
}

/// Where data were lost before the run; empty: nowhere.
std::string Run::lost_before() const {
  std::string where;
  if (!steady_steps_.empty()) {
    for (const Json& step : Json::parse(steady_steps_)) {
      if (!step.contains("units_lost")) continue;
      where += fmt::format("{}precondition.{} ({} mapping pages lost)", where.empty() ? "" : ", ",
                           step["step"].get<std::size_t>(), step["units_lost"].get<std::uint64_t>());
    }
  }
  if (const std::size_t at = age_text_.rfind(", "); age_text_.ends_with(" mapping pages lost"))
    where += fmt::format("{}age ({})", where.empty() ? "" : ", ", age_text_.substr(at + 2));
  return where;
}

/// In simulated time, which a step takes with `until: steady` alone.
bool Run::write_until_steady(std::size_t number) {
  const PreconditionStep step = steps_->read_step(number);
  std::vector<Load> loads = step.steady.wanted() ? steps_->make_steady(number) : std::vector<Load>();
  if (loads.empty()) return false;
  HostDriver& driver = simulation_->driver();
  SteadyRounds steady = rounds(step.steady);
  begin_rounds(steady);
  driver.set_completion_hook([&](const Completed& command) {
    if (!steady.count(command) || !(steady.steady() || steady.exhausted())) return;
    driver.stop_loads();
    simulation_->put_off_background();
  });
  Measurement measurement({loads.front().name});
  simulation_->run(loads, measurement);
  driver.set_completion_hook(nullptr);
  simulation_->drain();
  Json told{{"step", number}};
  told.update(steady.json());
  tell_step(told);
  return true;
}

/// Empty: the drive takes writes.
std::string Run::why_read_only() const {
  const firmware::Firmware& drive = simulation_->ssd().firmware();
  return drive.read_only() ? "the drive has gone read-only: " + drive.why_read_only() : "";
}

void Run::note_failures(std::vector<std::string>& notes, const char* when, std::uint64_t failed_before) {
  HostDriver& driver = simulation_->driver();
  if (driver.failed() == failed_before) return;
  failures_ = true;
  std::string note = fmt::format("{}{} commands failed, the first: {}", when, driver.failed() - failed_before,
                                 driver.take_first_failure());
  if (const std::string where = lost_before();
      !where.empty() && note.ends_with(name_of(HostStatus::media_error)))
    note += "; data were lost before, in " + where;
  if (const std::string why = why_read_only();
      !why.empty() && note.ends_with(name_of(HostStatus::write_protected)))
    note += "; " + why;
  notes.push_back(std::move(note));
  if (first_failure_.empty()) first_failure_ = notes.back();
}

/// The drive rests, and is read. Returns what became of it meanwhile, but for what was lost.
std::string Run::rest(const AgeConfig& age) {
  const firmware::FtlStatistics& s = simulation_->ssd().firmware_statistics();
  constexpr auto k_refresh = static_cast<std::size_t>(Purpose::refresh);
  const std::uint64_t blocks = s.moves[k_refresh];
  const std::uint64_t units = s.units_programmed[k_refresh];
  simulation_->rest(age);
  std::string text = age_text(age);
  if (s.moves[k_refresh] > blocks) {
    text += fmt::format("; meanwhile {} blocks refreshed, {:.2f}x the user capacity written",
                        s.moves[k_refresh] - blocks,
                        static_cast<double>(s.units_programmed[k_refresh] - units) *
                            static_cast<double>(simulation_->ssd().shape().mapping_page_bytes) /
                            static_cast<double>(simulation_->ssd().user_bytes()));
  }
  return text;
}

/// Rest after preconditioning: the measured run's statistics do not contain what firmware did in
/// it.
void Run::age() {
  const firmware::FtlStatistics& s = simulation_->ssd().firmware_statistics();
  const std::uint64_t lost = s.units_lost;
  age_text_ = rest(age_);
  if (s.units_lost > lost) age_text_ += fmt::format(", {} mapping pages lost", s.units_lost - lost);
}

/// The scenario that a snapshot of the drive holds: with the steps that were carried out.
std::string Run::prepared_by() const {
  if (other_steps_.empty()) return scenario_.resolved_yaml();
  return source_.read({"precondition=" + other_steps_}).resolved_yaml();
}

/// Warns where the snapshot's drive went through other steps than the scenario says. One that says
/// none asks for nothing.
void Run::compare_steps(const std::string& scenario_there) {
  Json there;
  try {
    there = steps_of(parse_scenario(scenario_there, "snapshot", scenario_catalogue()));
  } catch (const InputError&) {  // of a program that knew other parameters
    return;
  }
  const Json here = steps_of(scenario_);
  if (there == here) return;
  other_steps_ = there.dump();
  if (const std::string other = other_steps(there, here); !here.empty() && !other.empty())
    warnings_.push_back("the drive was not prepared as the scenario says, but as the snapshot's: " + other);
}

/// The prepared drive, and what the report says of it.
void Run::archive(Archive& archive) {
  std::string scenario = archive.saving() ? prepared_by() : std::string();
  archive(scenario);  // for tlmssd inspect, which looks for it here
  try {
    simulation_->archive(archive);
  } catch (const InputError& error) {  // of a firmware that restores otherwise than it saved
    if (archive.saving()) throw;
    Complaint complaint = error.complaint();
    complaint.what += other_parameters(parse_scenario(scenario, "snapshot", scenario_catalogue()), scenario_);
    throw InputError(complaint);
  }
  if (!archive.saving()) compare_steps(scenario);
  archive(age_text_);
  archive(preparation_);
  archive(steady_steps_);
}

/// What a snapshot must have in common with this run, of a drive that has been through `age`.
Identity Run::identity(const AgeConfig& age) const {
  Identity identity = simulation_->identity();
  identify(identity, "age", age);
  for (const LoadedPlugin& plugin : loaded_plugins())
    identity.emplace_back("plug-in " + plugin.name, plugin.version);
  return identity;
}

/// The drive as it was saved, at its age or before it.
void Run::restore() {
  const AgeConfig not_rested{.cycles = age_.cycles};
  const std::size_t which = load_snapshot(options_.from_snapshot, {identity(age_), identity(not_rested)},
                                          [&](Archive& archive) { this->archive(archive); });
  if (which == 1) age();
}

/// The loads once without simulated time, so that policies have something to remember.
void Run::use() {
  ScenarioLoads::Made made = steps_->make_all();
  at_entries([&] { simulation_->run_untimed(made.loads); });
}

void Run::prepare() {
  if (options_.from_snapshot.empty()) {
    simulation_->wear(age_);
    precondition();
    age();
  } else {
    // The steps had their say when the snapshot was made; asking for them keeps them from being
    // reported as unused.
    for (std::size_t i = 0; i < scenario_.count("precondition"); ++i) static_cast<void>(steps_->read_step(i));
    const auto start = std::chrono::steady_clock::now();
    restore();
    precondition_seconds_ = seconds_since(start);
  }
  warnings_.insert(warnings_.end(), preparation_.begin(), preparation_.end());
  failures_ = !preparation_.empty();
  if (failures_) first_failure_ = preparation_.front();
  if (options_.use_first) use();
  if (!options_.save_snapshot.empty()) {
    save_snapshot(
        options_.save_snapshot, identity(age_), [&](Archive& archive) { this->archive(archive); },
        replaces());
    if (!options_.quiet && !options_.json)
      std::cout << "snapshot of the preconditioned drive: " << options_.save_snapshot << std::endl;
  }
}

// ---- warming up

/// The first requests of the loads, untimed: part of every run, also of one from a snapshot.
void Run::warm_up() {
  std::uint64_t requests = 0;
  for (const Load& load : loads_) requests += load.warm_up;
  if (requests == 0) return;
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t before = simulation_->driver().requests_done();
  const std::uint64_t failed_before = simulation_->driver().failed();
  Progress progress("warm-up", requests, shows_progress());
  simulation_->driver().set_progress_hook([&](std::uint64_t done) { progress.update(done - before, 0); });
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i].warm_up == 0) continue;
    located(scenario_, fmt::format("load.{}", entries_[i]), [&] { simulation_->warm_up(loads_[i]); });
  }
  simulation_->driver().set_progress_hook(nullptr);
  progress.finish();
  precondition_seconds_ += seconds_since(start);
  note_failures(warnings_, "warm-up: ", failed_before);
}

}  // namespace tlmssd
