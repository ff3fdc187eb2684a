#include "testbench/report/metric.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

#include "models/base/input_error.h"
#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "testbench/measure/histogram.h"

namespace tlmssd {
namespace {

/// "p99.9" is 0.999; nothing for other words.
std::optional<double> percentile(std::string_view word) {
  if (!word.starts_with('p')) return {};
  constexpr double k_highest = 99.999;  ///< as the guide has it; beyond it is the maximum
  double percent = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 1, end, percent, std::chars_format::fixed);
  if (error != std::errc{} || stop != end || !(percent > 0 && percent <= 100)) return {};
  if (percent > k_highest && percent < 100) return {};
  return percent / 100;
}

/// Those that are told to users who have written another.
std::vector<std::string> usual_names() {
  return {"read.p99",          "read.p99.9",    "read.mean",  "read.iops",        "read.bandwidth",
          "write.p99",         "write.p99.9",   "write.mean", "write.iops",       "write.bandwidth",
          "read.p99.99",       "write.p99.99",  "read.max",   "write.max",        "iops",
          "read.p99.999",      "write.p99.999", "bandwidth",  "queue_depth.mean", "own_time.iops",
          "own_time.bandwidth"};
}

}  // namespace

const Metric::OfDrive Metric::k_of_drive[] = {
    {"write_amplification", "/write_amplification/total/value", Kind::real, 1},
    {"write_amplification.by_mode.slc", "/write_amplification/by_mode/slc/value", Kind::real, 1},
    {"write_amplification.by_mode.native", "/write_amplification/by_mode/native/value", Kind::real, 1},
    {"lifetime.written", "/lifetime/written/value", Kind::bytes, 1},
    {"lifetime.written_first_block", "/lifetime/written_first_block/value", Kind::bytes, 1},
    {"lifetime.drive_writes", "/lifetime/drive_writes/value", Kind::real, 1},
    {"lifetime.drive_writes_per_day", "/lifetime/drive_writes_per_day/value", Kind::real, 1},
    {"uber", "/statistics/firmware/error_correction/uber/value", Kind::real, 1},
    {"reads_lost", "/statistics/firmware/error_correction/reads_lost/value", Kind::real, 1},
    {"host_units_lost", "/statistics/firmware/error_correction/host_units_lost/value", Kind::real, 1},
    {"erases.min", "/statistics/firmware/blocks/erases_min/value", Kind::real, 1},
    {"erases.mean", "/statistics/firmware/blocks/erases_mean/value", Kind::real, 1},
    {"erases.max", "/statistics/firmware/blocks/erases_max/value", Kind::real, 1},
    {"erases.deviation", "/statistics/firmware/blocks/erases_deviation/value", Kind::real, 1},
    {"cliff.written", "/cliff/written/value", Kind::bytes, 1},
    {"cliff.time", "/cliff/time/value", Kind::time, 1e12},
    {"cliff.folding_written", "/cliff/folding_written/value", Kind::bytes, 1},
    {"cliff.folding_time", "/cliff/folding_time/value", Kind::time, 1e12},
};

const Metric::OfDrive* Metric::find_of_drive(std::string_view name) {
  const auto* const found = std::find_if(std::begin(k_of_drive), std::end(k_of_drive),
                                         [&](const OfDrive& one) { return one.name == name; });
  return found == std::end(k_of_drive) ? nullptr : found;
}

Metric::Metric(std::string_view name) : name_(name), of_drive_(find_of_drive(name)) {
  if (of_drive_ != nullptr) {
    figure_ = Figure::drive;
    return;
  }
  if (name == "queue_depth.mean") {
    figure_ = Figure::depth;
    return;
  }
  std::string_view figure = name;
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    for (std::size_t op = 0; op < k_opcodes; ++op) {
      const auto opcode = static_cast<HostOpcode>(op);
      if (name.substr(0, dot) != name_of(opcode)) continue;
      operation_ = opcode;
      figure = name.substr(dot + 1);
    }
  }
  if (read_figure(figure)) return;
  std::vector<std::string> usual = usual_names();
  for (const OfDrive& one : k_of_drive) usual.emplace_back(one.name);
  const std::string near = nearest(name, usual);
  const std::string what =
      in_quotes(name) +
      " is no figure of a load, expected iops or bandwidth, alone or of an operation "
      "(write.iops), in the load's own time (own_time.iops), an operation's latency "
      "(read.mean, read.p99.9, read.max), "
      "queue_depth.mean, write_amplification, or one of lifetime "
      "(lifetime.written) or cliff (cliff.written), uber, reads_lost, host_units_lost or "
      "one of erases (erases.max)";
  // Its limits are of what it means: where that is not known, none can be proposed.
  if (near.empty()) throw objection("metric", what);
  throw refusal("metric", what, near);
}

bool Metric::read_figure(std::string_view word) {
  constexpr std::string_view k_own_time = "own_time.";
  if (word.starts_with(k_own_time)) {
    word.remove_prefix(k_own_time.size());
    own_time_ = true;
  }
  if (word == "iops" || word == "bandwidth") {
    figure_ = word == "iops" ? Figure::iops : Figure::bandwidth;
    return true;
  }
  if (!operation_ || own_time_) return false;
  if (word == "mean" || word == "min") {
    figure_ = word == "mean" ? Figure::mean : Figure::minimum;
    return true;
  }
  const std::optional<double> share = word == "max" ? std::optional<double>(1) : percentile(word);
  if (!share) return false;
  figure_ = Figure::percentile;
  share_ = *share;
  return true;
}

bool Metric::of_writes() const {
  return of_drive() && (name_.starts_with("write_amplification") || name_.starts_with("lifetime."));
}

bool Metric::of_pslc() const {
  return of_drive() && (name_.starts_with("cliff.") || name_.find(".by_mode.") != std::string::npos);
}

std::string Metric::name_with(HostOpcode operation) const {
  return std::string(name_of(operation)) + name_.substr(name_.find('.'));
}

std::optional<double> Metric::percentile_share() const {
  if (figure_ != Figure::percentile || share_ >= 1) return {};
  return share_;
}

Kind Metric::kind() const {
  switch (figure_) {
    case Figure::mean:
    case Figure::minimum:
    case Figure::percentile:
      return Kind::time;
    case Figure::bandwidth:
      return Kind::bandwidth;
    case Figure::drive:
      return of_drive_->kind;
    default:
      return Kind::real;
  }
}

std::optional<double> Metric::latency(const std::vector<const LoadMeasurement*>& loads) const {
  OperationMeasurement all;
  for (const LoadMeasurement* load : loads) all.merge(load->operation(*operation_));
  if (all.count() == 0) return {};
  if (figure_ == Figure::mean) return all.latency().mean();
  return static_cast<double>(figure_ == Figure::minimum ? all.latency().minimum() : all.percentile(share_));
}

namespace {

/// From the first command of any of them to the end of the last one.
RateWindow own_time_of(const std::vector<const LoadMeasurement*>& loads) {
  Picoseconds from = std::numeric_limits<Picoseconds>::max();
  Picoseconds until = 0;
  for (const LoadMeasurement* load : loads) {
    if (load->active() == 0) continue;
    from = std::min(from, load->active_from());
    until = std::max(until, load->active_from() + load->active());
  }
  return {std::max<Picoseconds>(until - from, 0), true};
}

}  // namespace

double Metric::rate(const LoadMeasurement& load, const RateWindow& window) const {
  const auto of = [&](const auto& part) {
    return figure_ == Figure::iops ? window.iops(part) : window.bandwidth(part);
  };
  return operation_ ? of(load.operation(*operation_)) : of(load);
}

std::optional<double> Metric::value(const std::vector<const LoadMeasurement*>& loads, const RateWindow& rates,
                                    const nlohmann::ordered_json& report) const {
  if (of_drive_ != nullptr) {
    return drive_figure(report, std::string(of_drive_->path));
  }
  if (kind() == Kind::time) return latency(loads);
  double depth = 0;
  std::uint64_t commands = 0;
  double sum = 0;
  const RateWindow window = own_time_ ? own_time_of(loads) : rates;
  for (const LoadMeasurement* load : loads) {
    depth += load->mean_depth();
    commands += operation_ ? load->operation(*operation_).count() : load->count();
    sum += rate(*load, window);
  }
  if (figure_ == Figure::depth) return depth;
  if (commands == 0) return {};
  return sum;
}

std::optional<double> Metric::drive_figure(const nlohmann::ordered_json& report,
                                           const std::string& path) const {
  const nlohmann::ordered_json::json_pointer at{path};
  if (!report.contains(at) || !report[at].is_number()) return {};
  return report[at].get<double>() * of_drive_->unit;
}

std::optional<double> Metric::at_least(const nlohmann::ordered_json& report) const {
  if (of_drive_ == nullptr || !of_drive_->path.starts_with("/cliff/")) return {};
  return drive_figure(report, fmt::format("/cliff/{}_at_least/value", name_.substr(name_.find('.') + 1)));
}

std::string Metric::text(double value, int digits) const {
  if (kind() == Kind::time) return time_text(value, digits);
  if (kind() == Kind::bandwidth) return bandwidth_text(value, digits);
  if (kind() == Kind::bytes) return written_text(value, digits);
  if (name_ == "uber") return fmt::format("{:.{}e}", value, digits - 1);
  return figure_ == Figure::iops ? count_text(value, digits) : fmt::format("{:.{}f}", value, digits);
}

}  // namespace tlmssd
