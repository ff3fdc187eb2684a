#include "testbench/report/targets.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "models/base/decimal.h"
#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "models/base/trimmed.h"

namespace tlmssd {
namespace {
using Json = nlohmann::ordered_json;
}  // namespace

const ParameterTable<TargetSection>& TargetSection::parameters() {
  static const auto table =
      ParameterTable<TargetSection>{}
          .text("load", &TargetSection::load,
                "name of the load, or of the job of several; all loads together when it is not given")
          .filled()
          .optional()
          .text("metric", &TargetSection::metric,
                "figure: read.p99.9, write.mean, read.iops, bandwidth, queue_depth.mean, "
                "write_amplification, lifetime.written, cliff.written, ...")
          .required()
          .filled()
          .text("at_most", &TargetSection::at_most, "it is not to be above this, e.g. 2 ms")
          .filled()
          .optional()
          .text("at_least", &TargetSection::at_least, "it is not to be below this, e.g. 500 MB/s")
          .filled()
          .optional();
  return table;
}

namespace {

/// The loads that `name` means.
std::vector<std::size_t> numbers_of(const std::string& name, const std::vector<TargetLoad>& loads) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (name.empty() || loads[i].name == name || loads[i].job == name) numbers.push_back(i);
  }
  if (!numbers.empty() || loads.empty()) return numbers;
  std::vector<std::string> names;
  for (const TargetLoad& load : loads) names.push_back(load.name);
  const std::string near = nearest(name, names);
  throw refusal("load", in_quotes(name) + " is the name of no load, expected " + any_of(names),
                near.empty() ? names.front() : near);
}

const char* example(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "2 ms";
    case Kind::bandwidth:
      return "500 MB/s";
    case Kind::bytes:
      return "100 TB";
    default:
      return "1000";
  }
}

/// What `text` may mean as a limit: its number with as much of its unit as the kind has, with the
/// example's unit where it has none. Empty: nothing.
std::string meant_by(const ParameterSpec& spec, const std::string& text) {
  const std::optional<Decimal> written = read_decimal(trimmed(text));
  if (!written) return {};
  const std::string number(written->number);
  const std::string unit(written->rest);
  std::vector<std::string> candidates;
  if (spec.kind == Kind::real) {
    const std::size_t power = std::string_view("kMG").find(unit.empty() ? ' ' : unit.front());
    if (unit.size() == 1 && power != std::string_view::npos)
      candidates.push_back(multiplied(number, std::array{1'000U, 1'000'000U, 1'000'000'000U}[power]));
    candidates.push_back(number);
  } else if (unit.empty()) {
    if (number.size() >= k_digits_of_bytes) candidates.push_back(acceptable(spec, text));
    const std::string_view usual = example(spec.kind);
    candidates.push_back(number + std::string(usual.substr(usual.find(' '))));
  }
  for (std::size_t length = unit.size(); length > 0 && spec.kind != Kind::real; --length) {
    for (const char* const per : {"", "/s"})
      candidates.push_back(number + " " + unit.substr(0, length) + per);
  }
  for (const std::string& candidate : candidates) {
    if (acceptable(spec, candidate) == candidate) return candidate;
  }
  return {};
}

/// In the units of report.json.
Json value_json(Kind kind, double value) {
  return kind == Kind::time ? value * 1e-3 : value;
}

const char* unit_of(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "ns";
    case Kind::bandwidth:
      return "B/s";
    case Kind::bytes:
      return "B";
    default:
      return "";
  }
}

}  // namespace

namespace {

/// What the loads may ask for, each once; empty where that is not known of all of them.
std::vector<HostOpcode> operations_of(const std::vector<std::size_t>& numbers,
                                      const std::vector<TargetLoad>& loads) {
  std::vector<HostOpcode> all;
  for (const std::size_t number : numbers) {
    if (!loads[number].operations) return {};
    for (const HostOpcode one : *loads[number].operations)
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  return all;
}

bool leaves_data(HostOpcode operation) {
  return operation == HostOpcode::read || operation == HostOpcode::flush;
}

std::string latency_of(const std::vector<HostOpcode>& operations) {
  return std::string(name_of(operations.empty() ? HostOpcode::read : operations.front())) + ".p99";
}

/// A figure that drives without a pSLC have, too, of the same kind.
std::string without_pslc(Kind kind, const std::vector<HostOpcode>& operations) {
  if (kind == Kind::bytes) return "lifetime.written";
  if (kind != Kind::time) return "write_amplification";
  return latency_of(operations);
}

}  // namespace

/// Refuses figures that this run cannot have, whatever comes of it.
void Target::check_measurable(const TargetRun& run) const {
  if (metric_.of_drive() && !load_.empty())
    throw objection("load", in_quotes(metric_.name()) + " is of the drive, not of a load: leave load out");
  const std::vector<HostOpcode> operations = operations_of(numbers_, run.loads);
  if (metric_.of_pslc() && !run.pslc)
    throw refusal("metric",
                  in_quotes(metric_.name()) +
                      " needs a pSLC, which the drive does not have (firmware.pslc.policy: none)",
                  without_pslc(metric_.kind(), operations));
  if (operations.empty()) return;
  if (metric_.of_writes() && !run.relayed && std::all_of(operations.begin(), operations.end(), leaves_data)) {
    const std::string what = in_quotes(metric_.name()) + " is of what the host writes, and no load writes";
    if (!run.timed) throw objection("metric", what);
    throw refusal("metric", what, latency_of(operations));
  }
  if (!metric_.operation()) return;
  if (std::find(operations.begin(), operations.end(), *metric_.operation()) != operations.end()) return;
  std::vector<std::string> names;
  for (const HostOpcode one : operations) names.emplace_back(name_of(one));
  throw refusal("metric",
                fmt::format("{} is of commands that {}, only {}", in_quotes(metric_.name()),
                            load_.empty() ? "no load has" : load_ + " does not have", any_of(names)),
                metric_.name_with(operations.front()));
}

Target::Target(const TargetSection& section, const TargetRun& run)
    : metric_(section.metric), load_(section.load), numbers_(numbers_of(section.load, run.loads)) {
  if (!run.timed && !metric_.without_time())
    throw refusal("metric",
                  "without simulated time (run.timed: false) there is no " + in_quotes(section.metric),
                  "write_amplification");
  check_measurable(run);
  at_most_ = limit("at_most", section.at_most);
  at_least_ = limit("at_least", section.at_least);
  if (!at_most_ && !at_least_)
    throw refusal("metric", "has no limit of the target: give it at_most or at_least",
                  Proposal{"at_most", example(metric_.kind())});
  if (at_most_ && at_least_ && *at_least_ > *at_most_)
    throw refusal("at_least", fmt::format("{} is more than at_most, {}", section.at_least, section.at_most),
                  section.at_most);
}

std::optional<double> Target::limit(const char* key, const std::string& text) const {
  if (text.empty()) return {};
  ParameterSpec spec;
  spec.name = key;
  spec.kind = metric_.kind();
  spec.maximum = 1e18;
  try {
    const Value value = parse_value(spec, text);
    if (const auto* const number = std::get_if<double>(&value)) return *number;
    return static_cast<double>(std::get<std::int64_t>(value));
  } catch (const InputError& error) {
    const std::string what = fmt::format("of {}: {}", metric_.name(), error.complaint().what);
    const std::string meant = meant_by(spec, text);
    throw meant.empty() ? objection(key, what) : refusal(key, what, meant);
  }
}

bool Target::meets(double value) const {
  return (!at_most_ || value <= *at_most_) && (!at_least_ || value >= *at_least_);
}

std::vector<const LoadMeasurement*> Target::loads_of(const Measurement& measurement) const {
  std::vector<const LoadMeasurement*> loads;
  for (const std::size_t number : numbers_) loads.push_back(&measurement.load(number));
  return loads;
}

std::string Target::with_too_few(const Measurement& measurement) const {
  constexpr double k_rounding = 1e-6;  // 10000 commands have one beyond p99.99
  const std::optional<double> share = metric_.percentile_share();
  if (!share) return "";
  std::uint64_t commands = 0;
  for (const LoadMeasurement* load : loads_of(measurement))
    commands += load->operation(*metric_.operation()).count();
  if (commands == 0 || static_cast<double>(commands) * (1 - *share) >= 1 - k_rounding) return "";
  return fmt::format("{} ({} commands)", full_name(), commands);
}

/// As many digits as tell the value from a limit.
int Target::digits_for(double value) const {
  constexpr int k_least = 3;
  constexpr int k_most = 15;
  int digits = k_least;
  for (const std::optional<double>& limit : {at_most_, at_least_}) {
    if (!limit || *limit == value) continue;
    while (digits < k_most && metric_.text(value, digits) == metric_.text(*limit, digits)) ++digits;
  }
  return digits;
}

Json Target::judged(const Measurement& measurement, const Json& report) const {
  const std::optional<double> value = metric_.value(loads_of(measurement), measurement.rates(), report);
  Json json = {{"load", load_}, {"metric", metric_.name()}};
  const int digits = value ? digits_for(*value) : 3;
  std::string limits;
  const auto add = [&](const char* key, const char* words, const std::optional<double>& limit) {
    if (!limit) return;
    json[key] = value_json(metric_.kind(), *limit);
    limits += fmt::format(", {} {}", words, metric_.text(*limit, digits));
  };
  add("at_most", "at most", at_most_);
  add("at_least", "at least", at_least_);
  json["value"] = value ? value_json(metric_.kind(), *value) : Json();
  json["unit"] = unit_of(metric_.kind());
  std::string found = "not measured";
  json["met"] = false;
  if (value) {
    found = metric_.text(*value, digits);
    json["met"] = meets(*value);
  } else if (const std::optional<double> beyond = metric_.at_least(report); beyond.has_value()) {
    found = "not reached in " + metric_.text(*beyond);
    json["met"] = !at_most_ && meets(*beyond);
  }
  json["text"] = fmt::format("{} {}{}", full_name(), found, limits);
  return json;
}

}  // namespace tlmssd
