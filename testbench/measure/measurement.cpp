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

void LedgerBin::add(const LedgerBin& other) {
  count += other.count;
  for (std::size_t i = 0; i < k_causes; ++i) spent[i] += other.spent[i];
  for (std::size_t i = 0; i < k_blockers; ++i) behind[i] += other.behind[i];
}

/// Sixteenths of an octave: bins of the four bits below the leading one.
unsigned OperationMeasurement::bin(Picoseconds latency) {
  const auto v = static_cast<std::uint64_t>(latency);
  if (v < (1U << k_bits)) return static_cast<unsigned>(v);
  const auto shift = static_cast<unsigned>(std::bit_width(v)) - 1 - k_bits;
  return (shift << k_bits) + static_cast<unsigned>(v >> shift);
}

Picoseconds OperationMeasurement::bin_start(unsigned bin) {
  constexpr unsigned k_steps = 1U << k_bits;
  if (bin < 2 * k_steps) return bin;
  return static_cast<Picoseconds>(bin % k_steps + k_steps) << (bin / k_steps - 1);
}

bool OperationMeasurement::record(const Completed& command, Picoseconds latency, std::uint64_t submissions) {
  static constexpr Picoseconds k_full = Picoseconds{1} << 61;
  if (partial_.size() == 0) partial_ = ZeroPages<Partial>(k_bins);
  latency_.record(latency);
  ++by_status_[static_cast<std::size_t>(command.status)];
  end_drain(submissions);
  drained_behind_ = submissions;
  ++drained_in_all_;
  if (command.status == HostStatus::success) {
    bytes_ += command.bytes;
    drained_ = drained_ + Amount{1, command.bytes};
  }
  const unsigned where = bin(latency);
  Partial& sum = partial_[where];
  if (sum.total > k_full - std::min(latency, k_full)) {
    if (full_.size() == 0) full_ = ZeroPages<LedgerBin>(k_bins);
    full_[where] = sums(where);
    sum = Partial{};
  }
  ++sum.count;
  sum.total += latency;
  const Picoseconds explained = command.ledger->add_to(sum.parts);
  if (slowest_.wants(latency)) keep(command, latency);
  return explained == latency;
}

void OperationMeasurement::end_drain(std::uint64_t submissions) {
  if (drained_behind_ == submissions) return;
  drained_ = {};
  drained_in_all_ = 0;
}

void OperationMeasurement::keep(const Completed& command, Picoseconds latency) {
  SlowCommand slow;
  slow.latency = latency;
  slow.submitted = command.submitted;
  slow.lba = command.lba;
  slow.bytes = command.bytes;
  slow.status = command.status;
  slow.load = command.load;
  slow.queue = command.queue;
  const Ledger::Parts parts = command.ledger->parts();
  std::copy_n(parts.begin(), k_causes, slow.spent.begin());
  std::copy_n(parts.begin() + k_causes, k_blockers, slow.behind.begin());
  slowest_.add(slow);
}

LedgerBin OperationMeasurement::sums(unsigned bin) const {
  LedgerBin result;
  if (full_.size() != 0) result = full_[bin];
  if (partial_.size() == 0) return result;
  const Partial& part = partial_[bin];
  result.count += part.count;
  for (std::size_t i = 0; i < k_causes; ++i) result.spent[i] += part.parts[i];
  for (std::size_t i = 0; i < k_blockers; ++i) result.behind[i] += part.parts[k_causes + i];
  return result;
}

/// The bins of a quarter octave together.
LedgerBin OperationMeasurement::quarter(unsigned first) const {
  LedgerBin result;
  for (unsigned i = 0; i < k_bins_of_quarter; ++i) result.add(sums(first + i));
  return result;
}

__int128 OperationMeasurement::spent(Cause cause) const {
  __int128 result = 0;
  const auto i = static_cast<std::size_t>(cause);
  for (std::size_t bin = 0; bin < partial_.size(); ++bin) result += partial_[bin].parts[i];
  for (std::size_t bin = 0; bin < full_.size(); ++bin) result += full_[bin].spent[i];
  return result;
}

/// The bin in which lies the command that `slower` others are slower than.
LedgerBin OperationMeasurement::around(std::uint64_t slower) const {
  std::uint64_t seen = 0;
  for (unsigned bin = k_bins; bin-- > 0;) {
    LedgerBin sum = sums(bin);
    seen += sum.count;
    if (seen > slower) return sum;
  }
  return {};
}

/// Of the slowest commands (the slowest is 0) those that differ from number `at` by `reach` places
/// at most, and by a tenth of its latency: beyond a jump of the distribution begins another story.
LedgerBin OperationMeasurement::among_slowest(std::uint64_t at, std::uint64_t reach) const {
  LedgerBin sum;
  const Picoseconds latency = slowest_.latency(at);
  for (const SlowCommand* one : slowest_.between(at - reach, at + reach)) {
    const SlowCommand& command = *one;
    if (std::abs(command.latency - latency) > latency / 10) continue;
    ++sum.count;
    for (std::size_t i = 0; i < k_causes; ++i) sum.spent[i] += command.spent[i];
    for (std::size_t i = 0; i < k_blockers; ++i) sum.behind[i] += command.behind[i];
  }
  return sum;
}

Picoseconds OperationMeasurement::percentile(double share) const {
  if (count() == 0 || slowest_.size() == 0) return latency_.percentile(share);
  const std::uint64_t slower = count() - Histogram::rank(share, count());
  if (slower < slowest_.size()) return slowest_.latency(slower);
  return std::min(latency_.percentile(share), slowest_.least());
}

/// By the commands whose ranks differ from the percentile's by a tenth of the commands beyond it at
/// most, and that took about as long: of 100,000, p99.9 is told by up to 21 and the maximum by one.
PercentileLedger OperationMeasurement::explain(double share) const {
  const std::uint64_t rank = Histogram::rank(share, count());
  const std::uint64_t slower = count() - rank;
  const std::uint64_t reach = slower / 10;
  PercentileLedger result;
  result.latency = percentile(share);
  result.exact = slower + reach < slowest_.size();
  const LedgerBin group = result.exact ? among_slowest(slower, reach) : around(slower);
  result.commands = group.count;
  double total = 0;
  for (const __int128 part : group.spent) total += static_cast<double>(part);
  const double scale = total > 0 ? static_cast<double>(result.latency) / total : 0;
  for (std::size_t i = 0; i < k_causes; ++i) result.spent[i] = static_cast<double>(group.spent[i]) * scale;
  for (std::size_t i = 0; i < k_blockers; ++i)
    result.behind[i] = static_cast<double>(group.behind[i]) * scale;
  return result;
}

OperationMeasurement::Tail OperationMeasurement::tail(double share) const {
  Tail result;
  const double wanted = share * static_cast<double>(count());
  for (unsigned bin = k_bins; bin != 0 && count() != 0;) {
    bin -= k_bins_of_quarter;
    const LedgerBin sum = quarter(bin);
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
  drained_ = drained_ + other.drained_;
  drained_in_all_ += other.drained_in_all_;
  for (std::size_t i = 0; i < k_statuses; ++i) by_status_[i] += other.by_status_[i];
  if (full_.size() == 0) full_ = ZeroPages<LedgerBin>(k_bins);
  for (unsigned bin = 0; bin < k_bins; ++bin) {
    const LedgerBin sum = other.sums(bin);
    if (sum.count != 0) full_[bin].add(sum);
  }
  slowest_.merge(other.slowest_);
}

// ---------------------------------------------------------------------------------------------------------------
// one load

std::uint64_t Outcomes::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t number : by_status) sum += number;
  return sum;
}

void Outcomes::add(const Outcomes& other) {
  for (std::size_t i = 0; i < k_statuses; ++i) by_status[i] += other.by_status[i];
  bytes += other.bytes;
}

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

Outcomes LoadMeasurement::untimed() const {
  Outcomes sum;
  for (const Outcomes& outcomes : untimed_) sum.add(outcomes);
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
  device_.clear();
  untimed_ = {};
  wholes_ = {};
  pieces_ = {};
  series_.clear();
  for (LatencySteps& steps : latency_steps_) steps.clear();
  series_.reserve(k_steps);
  std::fill(time_at_depth_.begin(), time_at_depth_.end(), Picoseconds{0});
  width_ = k_first_width;
  start_ = now;
  settled_ = now;
  active_from_ = active_until_ = now;
  current_until_ = current_from_ = 0;
}

/// Brings depth statistics up to `now`.
void LoadMeasurement::settle(Picoseconds now) {
  if (now <= settled_) return;
  if (time_at_depth_.size() <= depth_) time_at_depth_.resize(depth_ + 1 + depth_ / 2);
  time_at_depth_[depth_] += now - settled_;
  if (depth_ != 0) {
    if (active_until_ == active_from_) active_from_ = settled_;
    active_until_ = now;
    spread(settled_, now);
  }
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
  if (command.status == HostStatus::success)
    step(std::max(command.completed, start_)).bytes[static_cast<std::size_t>(command.opcode)] +=
        command.bytes;
  if (!command.piece) end(command);
}

/// A request has completed: a command, or one whose pieces have been counted.
void LoadMeasurement::end(const Completed& request) {
  --depth_;
  const auto op = static_cast<std::size_t>(request.opcode);
  SeriesStep& now = step(std::max(request.completed, start_));
  if (request.status == HostStatus::success) ++now.commands[op];
  latency_steps_[op].record(current_, request.completed - request.submitted);
}

/// Nothing will be submitted any more. Returns how many requests have completed since the last
/// one of all loads was.
std::uint64_t LoadMeasurement::end_drain(std::uint64_t submissions) {
  for (OperationMeasurement& device : device_) device.end_drain(submissions);
  std::uint64_t requests = 0;
  for (OperationMeasurement& operation : operations_) {
    operation.end_drain(submissions);
    requests += operation.drained_in_all_;
  }
  return requests;
}

/// From here on the drive sees something else than the host.
void LoadMeasurement::watch_device() {
  if (!device_.empty()) return;
  device_.resize(k_opcodes);
  for (std::size_t op = 0; op < k_opcodes; ++op) device_[op].merge(operations_[op]);
}

/// Operations only.
void LoadMeasurement::merge(const LoadMeasurement& other) {
  if (!other.device_.empty()) watch_device();
  for (std::size_t op = 0; op < k_opcodes; ++op) {
    operations_[op].merge(other.operations_[op]);
    if (!device_.empty())
      device_[op].merge(other.device_.empty() ? other.operations_[op] : other.device_[op]);
    wholes_[op] += other.wholes_[op];
    untimed_[op].add(other.untimed_[op]);
    pieces_[op] += other.pieces_[op];
  }
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
  for (LatencySteps& steps : latency_steps_) steps.widen();
}

// --------------------------------------------------------------------------------------------------------------
// rates

RateWindow LoadMeasurement::own_time() const {
  return {active(), true};
}

Amount RateWindow::amount(const OperationMeasurement& operation) const {
  const Amount all = operation.succeeded();
  if (with_drain_) return all;
  return {all.commands - operation.drained().commands, all.bytes - operation.drained().bytes};
}

Amount RateWindow::amount(const LoadMeasurement& load) const {
  Amount sum;
  for (std::size_t op = 0; op < k_opcodes; ++op)
    sum = sum + amount(load.operation(static_cast<HostOpcode>(op)));
  return sum;
}

double RateWindow::iops(const OperationMeasurement& operation) const {
  return per_second(amount(operation).commands, span_);
}

double RateWindow::iops(const LoadMeasurement& load) const {
  return per_second(amount(load).commands, span_);
}

double RateWindow::bandwidth(const OperationMeasurement& operation) const {
  return per_second(amount(operation).bytes, span_);
}

double RateWindow::bandwidth(const LoadMeasurement& load) const {
  return per_second(amount(load).bytes, span_);
}

// --------------------------------------------------------------------------------------------------------------
// all of them

Measurement::Measurement(std::vector<std::string> loads) : names_(std::move(loads)), loads_(names_.size()) {
  all_.series_.reserve(LoadMeasurement::k_steps);
  for (auto& load : loads_) load.series_.reserve(LoadMeasurement::k_steps);
}

void Measurement::submitted(std::uint16_t load, Picoseconds now, bool begins) {
  if (!begins) return;
  LoadMeasurement& into = loads_[load];
  last_submission_ = now;
  ++submissions_;
  into.settle(now);
  ++into.depth_;
  if (into.depth_ == 1) busy_.load_begins(load, now);
  if (loads_.size() == 1) return;
  all_.settle(now);
  ++all_.depth_;
}

void Measurement::record(const Completed& command) {
  LoadMeasurement& load = loads_[command.load];
  const Picoseconds latency = command.completed - command.submitted;
  if (load.depth_ == 0 || latency < 0) fail(command, load.depth_ == 0);
  bool explained = true;
  const auto op = static_cast<std::size_t>(command.opcode);
  if (command.piece) {
    load.watch_device();
    ++load.pieces_[op];
  } else {
    explained = load.operations_[op].record(command, latency, submissions_);
    ++completed_;
  }
  if (!load.device_.empty()) explained = load.device_[op].record(command, latency, submissions_);
  if (!explained) fail(command, false);
  drive_.look(command.completed);
  busy_.look(command.completed);
  load.count(command);
  if (load.depth_ == 0) busy_.load_rests(command.load, command.completed);
  if (loads_.size() > 1) all_.count(command);
}

void Measurement::record_whole(const Completed& request) {
  const Picoseconds latency = request.completed - request.submitted;
  if (latency < 0) fail(request, false);
  LoadMeasurement& load = loads_[request.load];
  const auto op = static_cast<std::size_t>(request.opcode);
  if (!load.operations_[op].record(request, latency, submissions_)) fail(request, false);
  ++load.wholes_[op];
  ++completed_;
  load.end(request);
  if (load.depth_ == 0) busy_.load_rests(request.load, request.completed);
  if (loads_.size() > 1) all_.end(request);
}

void Measurement::tally(std::uint16_t load, HostOpcode opcode, HostStatus status, Bytes bytes) {
  Outcomes& outcomes = loads_[load].untimed_[static_cast<std::size_t>(opcode)];
  ++outcomes.by_status[static_cast<std::size_t>(status)];
  if (status == HostStatus::success) outcomes.bytes += bytes;
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
  drive_.start(now);
  busy_.start(now);
  start_ = now;
  end_ = now;
  last_submission_ = now;
  completed_ = 0;
}

void Measurement::finish(Picoseconds now) {
  for (auto& load : loads_) load.close(now);
  all_.close(now);
  drive_.finish(now);
  end_ = now;
  busy_.finish(now, loads_.size() != 1 || part_of_the_time(loads_.front()));
  std::uint64_t drained = 0;
  for (auto& load : loads_) drained += load.end_drain(submissions_);
  const bool with_drain = 2 * drained > completed_;
  rates_ = RateWindow((with_drain ? end_ : last_submission_) - start_, with_drain);
}

LoadMeasurement Measurement::total() const {
  const LoadMeasurement& depths = loads_.size() == 1 ? loads_.front() : all_;
  LoadMeasurement result;
  result.series_ = depths.series_;
  result.latency_steps_ = depths.latency_steps_;
  result.time_at_depth_ = depths.time_at_depth_;
  result.width_ = depths.width_;
  result.active_from_ = depths.active_from_;
  result.active_until_ = depths.active_until_;
  result.start_ = depths.start_;
  result.settled_ = depths.settled_;
  result.depth_ = depths.depth_;
  for (const auto& load : loads_) result.merge(load);
  return result;
}

}  // namespace tlmssd
