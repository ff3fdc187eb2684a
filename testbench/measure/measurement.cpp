#include "testbench/measure/measurement.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace tlmssd {

double per_second(std::uint64_t count, Picoseconds span) {
  return span <= 0 ? 0 : static_cast<double>(count) * 1e12 / static_cast<double>(span);
}

// ----------------------------------------------------------------------------------------------------------
// one operation

/// Quarter octaves: bins of the two bits below the leading one.
unsigned OperationMeasurement::bin(Picoseconds latency) {
  const auto v = static_cast<std::uint64_t>(latency);
  if (v < 4) return static_cast<unsigned>(v);
  const auto shift = static_cast<unsigned>(std::bit_width(v)) - 3;
  return shift * 4 + static_cast<unsigned>(v >> shift);
}

Picoseconds OperationMeasurement::bin_start(unsigned bin) {
  if (bin < 8) return bin;
  return static_cast<Picoseconds>((bin % 4 + 4)) << (bin / 4 - 1);
}

void OperationMeasurement::record(const Completed& command, Picoseconds latency) {
  static constexpr Picoseconds k_full = Picoseconds{1} << 61;
  if (partial_.empty()) partial_.resize(k_bins);
  latency_.record(latency);
  bytes_ += command.bytes;
  ++by_status_[static_cast<std::size_t>(command.status)];
  const unsigned where = bin(latency);
  Partial& sum = partial_[where];
  if (sum.total > k_full - std::min(latency, k_full)) {
    if (full_.empty()) full_.resize(k_bins);
    full_[where] = sums(where);
    sum = Partial{};
  }
  ++sum.count;
  sum.total += latency;
  for (std::size_t i = 0; i < k_causes; ++i) sum.spent[i] += command.ledger->spent(static_cast<Cause>(i));
}

LedgerBin OperationMeasurement::sums(unsigned bin) const {
  LedgerBin result;
  if (!full_.empty()) result = full_[bin];
  if (partial_.empty()) return result;
  result.count += partial_[bin].count;
  for (std::size_t i = 0; i < k_causes; ++i) result.spent[i] += partial_[bin].spent[i];
  return result;
}

__int128 OperationMeasurement::spent(Cause cause) const {
  __int128 result = 0;
  const auto i = static_cast<std::size_t>(cause);
  for (const Partial& sum : partial_) result += sum.spent[i];
  for (const LedgerBin& sum : full_) result += sum.spent[i];
  return result;
}

OperationMeasurement::Tail OperationMeasurement::tail(double share) const {
  Tail result;
  const double wanted = share * static_cast<double>(count());
  for (unsigned bin = k_bins; bin-- > 0 && count() != 0;) {
    const LedgerBin sum = sums(bin);
    if (sum.count == 0) continue;
    result.count += sum.count;
    result.above = std::max(bin_start(bin), latency_.minimum());
    for (std::size_t i = 0; i < k_causes; ++i) result.spent[i] += sum.spent[i];
    if (static_cast<double>(result.count) >= wanted) break;
  }
  return result;
}

void OperationMeasurement::merge(const OperationMeasurement& other) {
  if (other.count() == 0) return;
  latency_.merge(other.latency_);
  bytes_ += other.bytes_;
  for (std::size_t i = 0; i < k_statuses; ++i) by_status_[i] += other.by_status_[i];
  if (full_.empty()) full_.resize(k_bins);
  for (unsigned bin = 0; bin < k_bins; ++bin) {
    const LedgerBin sum = other.sums(bin);
    full_[bin].count += sum.count;
    for (std::size_t i = 0; i < k_causes; ++i) full_[bin].spent[i] += sum.spent[i];
  }
}

// ---------------------------------------------------------------------------------------------------------------
// one load

std::uint64_t LoadMeasurement::count() const {
  std::uint64_t sum = 0;
  for (const auto& operation : operations_) sum += operation.count();
  return sum;
}

Bytes LoadMeasurement::bytes() const {
  Bytes sum = 0;
  for (const auto& operation : operations_) sum += operation.bytes();
  return sum;
}

double LoadMeasurement::mean_depth() const {
  unsigned __int128 depth_time = 0;
  unsigned __int128 time = 0;
  for (std::size_t depth = 0; depth < time_at_depth_.size(); ++depth) {
    depth_time += static_cast<unsigned __int128>(time_at_depth_[depth]) * depth;
    time += static_cast<unsigned __int128>(time_at_depth_[depth]);
  }
  return time == 0 ? 0 : static_cast<double>(depth_time) / static_cast<double>(time);
}

void LoadMeasurement::start(Picoseconds now) {
  for (auto& operation : operations_) operation = OperationMeasurement();
  series_.clear();
  series_.reserve(k_steps);
  std::fill(time_at_depth_.begin(), time_at_depth_.end(), Picoseconds{0});
  width_ = k_first_width;
  start_ = now;
  settled_ = now;
  current_until_ = current_from_ = 0;
}

/// Brings depth statistics up to `now`.
void LoadMeasurement::settle(Picoseconds now) {
  if (now <= settled_) return;
  if (time_at_depth_.size() <= depth_) time_at_depth_.resize(depth_ + 1 + depth_ / 2);
  time_at_depth_[depth_] += now - settled_;
  if (depth_ != 0) spread(settled_, now);
  settled_ = now;
}

/// The end: the series covers everything up to `now`.
void LoadMeasurement::close(Picoseconds now) {
  settle(now);
  if (now > start_) step(now - 1);
}

/// Adds the present depth over a stretch of time to the steps it covers.
void LoadMeasurement::spread(Picoseconds from, Picoseconds until) {
  if (from >= current_from_ && until <= current_until_) {
    series_[current_].depth_time += static_cast<unsigned __int128>(until - from) * depth_;
    return;
  }
  step(until - 1);  // widens as needed, so that the whole stretch has steps
  while (from < until) {
    const Picoseconds end = std::min(until, start_ + ((from - start_) / width_ + 1) * width_);
    series_[static_cast<std::size_t>((from - start_) / width_)].depth_time +=
        static_cast<unsigned __int128>(end - from) * depth_;
    from = end;
  }
}

SeriesStep& LoadMeasurement::step(Picoseconds now) {
  if (now >= current_from_ && now < current_until_) return series_[current_];
  while (now - start_ >= width_ * static_cast<Picoseconds>(k_steps)) widen();
  current_ = static_cast<std::size_t>((now - start_) / width_);
  current_from_ = start_ + static_cast<Picoseconds>(current_) * width_;
  current_until_ = current_from_ + width_;
  if (current_ >= series_.size()) series_.resize(current_ + 1);
  return series_[current_];
}

/// A command has completed.
void LoadMeasurement::count(const Completed& command) {
  settle(command.completed);
  --depth_;
  SeriesStep& now = step(std::max(command.completed, start_));
  ++now.commands[static_cast<std::size_t>(command.opcode)];
  now.bytes[static_cast<std::size_t>(command.opcode)] += command.bytes;
}

/// Doubles the width: pairs of steps become one.
void LoadMeasurement::widen() {
  width_ *= 2;
  current_until_ = current_from_ = 0;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const SeriesStep step = series_[i];
    SeriesStep& into = series_[i / 2];
    if (i % 2 == 0) {
      into = step;
      continue;
    }
    for (std::size_t op = 0; op < k_opcodes; ++op) {
      into.commands[op] += step.commands[op];
      into.bytes[op] += step.bytes[op];
    }
    into.depth_time += step.depth_time;
  }
  series_.resize((series_.size() + 1) / 2);
}

// --------------------------------------------------------------------------------------------------------------
// all of them

Measurement::Measurement(std::vector<std::string> loads) : names_(std::move(loads)), loads_(names_.size()) {
  all_.series_.reserve(LoadMeasurement::k_steps);
  for (auto& load : loads_) load.series_.reserve(LoadMeasurement::k_steps);
}

void Measurement::submitted(std::uint16_t load, Picoseconds now) {
  LoadMeasurement& into = loads_[load];
  into.settle(now);
  ++into.depth_;
  if (loads_.size() == 1) return;
  all_.settle(now);
  ++all_.depth_;
}

void Measurement::record(const Completed& command) {
  const Picoseconds latency = command.completed - command.submitted;
  Picoseconds sum = 0;
  Picoseconds signs = latency;
  for (std::size_t i = 0; i < k_causes; ++i) {
    const Picoseconds part = command.ledger->spent(static_cast<Cause>(i));
    sum += part;
    signs |= part;
  }
  LoadMeasurement& load = loads_[command.load];
  if (sum != latency || signs < 0 || load.depth_ == 0) fail(command, load.depth_ == 0);
  load.operations_[static_cast<std::size_t>(command.opcode)].record(command, latency);
  ++completed_;
  load.count(command);
  if (loads_.size() > 1) all_.count(command);
}

void Measurement::fail(const Completed& command, bool not_submitted) {
  const std::string what = std::string(name_of(command.opcode)) + " at LBA " + std::to_string(command.lba);
  if (not_submitted) throw std::logic_error("measurement: " + what + " completes but was not submitted");
  std::string message = "measurement: the ledger of a " + what + " does not explain its latency of " +
                        std::to_string(command.completed - command.submitted) + " ps; it holds";
  for (std::size_t i = 0; i < k_causes; ++i) {
    const Picoseconds part = command.ledger->spent(static_cast<Cause>(i));
    if (part != 0)
      message += " " + std::string(name_of(static_cast<Cause>(i))) + " " + std::to_string(part) + " ps,";
  }
  throw std::logic_error(message + " in all " + std::to_string(command.ledger->total()) + " ps");
}

void Measurement::reset(Picoseconds now) {
  for (auto& load : loads_) load.start(now);
  all_.start(now);
  start_ = now;
  end_ = now;
  completed_ = 0;
}

void Measurement::finish(Picoseconds now) {
  for (auto& load : loads_) load.close(now);
  all_.close(now);
  end_ = now;
}

LoadMeasurement Measurement::total() const {
  const LoadMeasurement& depths = loads_.size() == 1 ? loads_.front() : all_;
  LoadMeasurement result;
  result.series_ = depths.series_;
  result.time_at_depth_ = depths.time_at_depth_;
  result.width_ = depths.width_;
  result.start_ = depths.start_;
  result.settled_ = depths.settled_;
  result.depth_ = depths.depth_;
  for (const auto& load : loads_) {
    for (std::size_t op = 0; op < k_opcodes; ++op) result.operations_[op].merge(load.operations_[op]);
  }
  return result;
}

}  // namespace tlmssd
