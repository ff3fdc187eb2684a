#include "testbench/app/steady_rounds.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "models/base/quantity_text.h"
#include "testbench/report/steadiness.h"

namespace tlmssd {
namespace {

enum class RoundFigure : std::uint8_t { bandwidth, iops, latency, amplification };

struct RoundMetric {
  const char* name;
  RoundFigure figure;
  std::optional<HostOpcode> operation;  ///< nothing: all of them
};

const std::vector<RoundMetric>& round_metrics() {
  static const std::vector<RoundMetric> metrics = {
      {"bandwidth", RoundFigure::bandwidth, {}},
      {"iops", RoundFigure::iops, {}},
      {"latency", RoundFigure::latency, {}},
      {"write_bandwidth", RoundFigure::bandwidth, HostOpcode::write},
      {"write_iops", RoundFigure::iops, HostOpcode::write},
      {"write_latency", RoundFigure::latency, HostOpcode::write},
      {"read_bandwidth", RoundFigure::bandwidth, HostOpcode::read},
      {"read_iops", RoundFigure::iops, HostOpcode::read},
      {"read_latency", RoundFigure::latency, HostOpcode::read},
      {"write_amplification", RoundFigure::amplification, {}}};
  return metrics;
}

const RoundMetric& find_metric(const std::string& name) {
  return *std::find_if(round_metrics().begin(), round_metrics().end(),
                       [&](const RoundMetric& metric) { return metric.name == name; });
}

std::string value_text(RoundFigure figure, double value) {
  if (figure == RoundFigure::bandwidth) return bandwidth_text(value);
  if (figure == RoundFigure::latency) return time_text(value);
  return figure == RoundFigure::iops ? count_text(value) : fmt::format("{:.3f}", value);
}

const char* unit_of(RoundFigure figure) {
  return figure == RoundFigure::bandwidth ? "B/s" : figure == RoundFigure::latency ? "ns" : "";
}

}  // namespace

bool SteadyConfig::looks_at_reads() const {
  return find_metric(metric).operation == HostOpcode::read;
}

SteadyConfig SteadyConfig::read(const ParameterValues& values) {
  SteadyConfig config = parameters().read(values);
  if (!config.wanted()) return config;
  SteadyConfig with_rounds = round_parameters().read(values);
  with_rounds.until = config.until;
  return with_rounds;
}

const ParameterTable<SteadyConfig>& SteadyConfig::parameters() {
  static const auto table = ParameterTable<SteadyConfig>{}.choice(
      "until", &SteadyConfig::until, {"end", "steady"},
      "end: until the loads end; steady: in rounds, until metric is steady by SNIA PTS (over five "
      "rounds at most 20 % of range and 10 % of slope)");
  return table;
}

const ParameterTable<SteadyConfig>& SteadyConfig::round_parameters() {
  static const auto table = [] {
    std::vector<std::string> names;
    for (const RoundMetric& known : round_metrics()) names.emplace_back(known.name);
    return ParameterTable<SteadyConfig>{}
        .choice("metric", &SteadyConfig::metric, names,
                "which figure is to be steady; of commands as the drive gets them, where long requests are "
                "split")
        .share("round", &SteadyConfig::round, {1e-6, 1000},
               "bytes read and written in a round, as a multiple of the capacity; shorter ones than 1x may "
               "take a drive for steady that is not full yet")
        .integer("most_rounds", &SteadyConfig::most_rounds, {5, 1000},
                 "rounds after which it is given up, with a word of the adviser");
  }();
  return table;
}

SteadyRounds::SteadyRounds(const SteadyConfig& config, Bytes round_bytes, std::function<FlashWrites()> writes)
    : config_(config), round_bytes_(std::max<Bytes>(round_bytes, 1)), writes_(std::move(writes)) {}

Bytes SteadyRounds::Round::length() const {
  const auto of = [&](HostOpcode opcode) { return asked[static_cast<std::size_t>(opcode)]; };
  const Bytes data = of(HostOpcode::read) + of(HostOpcode::write);
  return data > 0 ? data : of(HostOpcode::trim) + of(HostOpcode::write_zeroes);
}

void SteadyRounds::begin(Picoseconds now) {
  round_ = Round{};
  round_.from = now;
  round_.writes = writes_();
}

double SteadyRounds::value_of(const Round& round, Picoseconds until) const {
  const RoundMetric& metric = find_metric(config_.metric);
  std::uint64_t commands = 0;
  Bytes bytes = 0;
  double latency = 0;
  for (std::size_t op = 0; op < k_opcodes; ++op) {
    if (metric.operation && *metric.operation != static_cast<HostOpcode>(op)) continue;
    commands += round.commands[op];
    bytes += round.bytes[op];
    latency += round.latency[op];
  }
  switch (metric.figure) {
    case RoundFigure::bandwidth:
      return per_second(bytes, until - round.from);
    case RoundFigure::iops:
      return per_second(commands, until - round.from);
    case RoundFigure::latency:
      return commands == 0 ? 0 : latency / static_cast<double>(commands);
    case RoundFigure::amplification:
      break;
  }
  const FlashWrites now = writes_();
  const double of_host = now.of_host - round.writes.of_host;
  return of_host > 0 ? (now.programmed - round.writes.programmed) / of_host : 0;
}

bool SteadyRounds::count(const Completed& command) {
  const auto op = static_cast<std::size_t>(command.opcode);
  round_.asked[op] += command.bytes;
  if (command.status == HostStatus::success) {
    ++round_.commands[op];
    round_.bytes[op] += command.bytes;
    round_.latency[op] += static_cast<double>(command.completed - command.submitted);
  }
  if (round_.length() < round_bytes_) return false;
  values_.push_back(value_of(round_, command.completed));
  begin(command.completed);
  return true;
}

bool SteadyRounds::steady() const {
  if (values_.size() < k_pts_rounds) return false;
  const Steadiness last = pts_steadiness(values_);
  return last.average > 0 && last.by_pts();
}

nlohmann::ordered_json SteadyRounds::json() const {
  const RoundFigure figure = find_metric(config_.metric).figure;
  const double scale = figure == RoundFigure::latency ? 1e-3 : 1;
  nlohmann::ordered_json json = {{"metric", config_.metric},
                                 {"unit", unit_of(figure)},
                                 {"rounds", nlohmann::ordered_json::array()},
                                 {"met", steady()}};
  for (const double value : values_) json["rounds"].push_back(value * scale);
  std::string text = fmt::format("{} over {} rounds", config_.metric, values_.size());
  const std::size_t shown = std::min(values_.size(), k_pts_rounds);
  for (std::size_t i = values_.size() - shown; i < values_.size(); ++i)
    text += (i + shown == values_.size() ? ": " : ", ") + value_text(figure, values_[i]);
  if (values_.size() >= k_pts_rounds) {
    const Steadiness last = pts_steadiness(values_);
    json["average"] = last.average * scale;
    json["range"] = last.range;
    json["change"] = last.change;
    text = fmt::format("{} after {} rounds of {}; the last five", steady() ? "steady" : "not steady",
                       values_.size(), config_.metric) +
           text.substr(text.find(": ")) +
           fmt::format("; range {:.1f} %, slope {:+.1f} %", last.range * 100, last.change * 100);
  }
  json["text"] = text;
  return json;
}

}  // namespace tlmssd
