// The requests of one synthetic job.
#include "testbench/loads/generator/generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tlmssd {

namespace {

constexpr Picoseconds k_latest = Picoseconds{1} << 62U;  // a rate so low that it never comes round again
constexpr HostOpcode k_direction_opcodes[] = {HostOpcode::read, HostOpcode::write, HostOpcode::trim};

/// How many aligned positions a direction has, as fio counts them: the smallest request fits at
/// each.
std::uint64_t positions_of(const GeneratorPlan& plan, std::size_t direction) {
  if (plan.smallest[direction] == 0 || plan.align[direction] == 0 || plan.smallest[direction] > plan.size)
    return 1;
  return (plan.size - plan.smallest[direction]) / plan.align[direction] + 1;
}

}  // namespace

Generator::Generator(const GeneratorPlan& plan, std::uint64_t seed)
    : plan_(plan),
      mix_random_(seed, "mix"),
      size_random_(seed, "size"),
      order_random_(seed, "order"),
      pace_random_(seed, "pace"),
      positions_{Positions(plan.distribution, positions_of(plan, 0), plan.repeats, seed),
                 Positions(plan.distribution, positions_of(plan, 1), plan.repeats, seed),
                 Positions(plan.distribution, positions_of(plan, 2), plan.repeats, seed)},
      shared_map_(plan.align[0] == plan.align[1] && plan.smallest[0] == plan.smallest[1] &&
                  plan.align[1] == plan.align[2] && plan.smallest[1] == plan.smallest[2]) {
  if (plan_.apps) lives_.emplace(*plan_.apps, seed);
}

/// Deletions come with the read before.
bool Generator::next_of_life(Request& request) {
  const FileLives::Event event = lives_->next();
  request = Request{};
  request.opcode = event.deletes ? HostOpcode::trim : HostOpcode::read;
  request.offset = event.file * plan_.apps->file_size();
  request.bytes = plan_.apps->bytes(event.file);
  if (!event.deletes) {
    last_time_ = std::max(last_time_, pace(0, request.bytes));
    done_ += request.bytes;
    ++issued_;
  }
  request.time = last_time_;
  return true;
}

bool Generator::next(Request& request) {
  if (flush_next_) {
    flush_next_ = false;
    request = Request{};
    request.opcode = HostOpcode::flush;
    request.time = last_time_;
    return true;
  }
  if (plan_.number_ios != 0 && issued_ >= plan_.number_ios) return false;
  if (plan_.io_bytes != 0 && done_ >= plan_.io_bytes) return false;
  if (lives_) return next_of_life(request);
  const unsigned direction = choose_direction();
  request.force_unit_access = false;
  request.device = 0;
  if (write_back_ && direction == 1) {
    request = trimmed_;
    write_back_ = false;
  } else {
    choose_place(direction, request);
    if (plan_.mix == GeneratorPlan::Mix::trim_write) {
      trimmed_ = request;
      write_back_ = true;
    }
  }
  request.opcode = k_direction_opcodes[direction];
  request.force_unit_access = plan_.force_unit_access && request.opcode == HostOpcode::write;
  last_time_ = std::max(last_time_, pace(direction, request.bytes));
  request.time = last_time_;
  if (!write_back_) {  // a trim whose write is to come is not done yet
    done_ += request.bytes;
    ++issued_;
  }
  if (direction == 1) flush_next_ = plan_.flushes_after(++written_);
  return true;
}

unsigned Generator::choose_direction() {
  if (plan_.mix == GeneratorPlan::Mix::one) return plan_.direction;
  if (plan_.mix == GeneratorPlan::Mix::trim_write) return write_back_ ? 1 : 2;
  // With rates for both directions the rates decide, as in fio: the one that is due first goes.
  if (plan_.paced() && due(0) != due(1)) return due(0) < due(1) ? 0 : 1;
  return mix_random_.below(100) < plan_.read_percent ? 0 : 1;
}

/// A size that fits into `room` bytes; the smallest always does.
Bytes Generator::choose_size(unsigned direction, Bytes room) {
  const auto& shares = plan_.sizes[direction];
  if (shares.size() == 1) return std::min(shares[0].bytes, room);
  static constexpr int k_tries = 32;
  for (int attempt = 0; attempt < k_tries; ++attempt) {
    Bytes bytes = 0;
    if (shares.empty()) {
      const Bytes low = plan_.range_low[direction];
      bytes = low * (1 + size_random_.below(plan_.range_high[direction] / low));
    } else {
      std::uint64_t ticket = size_random_.below(100);
      for (const auto& share : shares) {
        bytes = share.bytes;
        if (ticket < share.percent) break;
        ticket -= share.percent;
      }
    }
    if (bytes <= room) return bytes;
  }
  return std::min(plan_.smallest[direction], room);
}

void Generator::choose_place(unsigned direction, Request& request) {
  const std::uint32_t percent = plan_.random_percent[direction];
  const bool random = plan_.random && (percent == 100 || order_random_.below(100) < percent);
  Bytes at = cursor_[direction];
  if (random) {
    Positions& positions = positions_[shared_map_ ? 0 : direction];
    at = positions.draw(direction) * plan_.align[direction];
  } else if (at + plan_.smallest[direction] > plan_.size) {
    at = 0;
  }
  request.offset = plan_.offset + at;
  request.bytes = choose_size(direction, plan_.size - at);
  cursor_[direction] = at + request.bytes;
}

/// When the request is due, and when the next of its direction will be: the n-th at n / rate to the
/// picosecond, without drift.
Picoseconds Generator::pace(unsigned direction, Bytes bytes) {
  const std::uint64_t iops = plan_.rate_iops[direction];
  const std::uint64_t rate = iops != 0 ? iops : plan_.rate_bytes[direction];
  if (rate == 0) return 0;
  const Picoseconds now = due_[direction];
  const std::uint64_t amount = iops != 0 ? 1 : bytes;
  static constexpr std::uint64_t k_second = 1'000'000'000'000;
  if (plan_.poisson) {
    const double gap =
        -std::log(1 - pace_random_.uniform()) * static_cast<double>(amount) / static_cast<double>(rate);
    const double due = static_cast<double>(now) + std::floor(gap * static_cast<double>(k_second));
    due_[direction] = due > static_cast<double>(k_latest) ? k_latest : static_cast<Picoseconds>(due);
  } else {
    paced_amount_[direction] += amount;
    const unsigned __int128 due = paced_amount_[direction] * k_second / rate;
    due_[direction] = due > k_latest ? k_latest : static_cast<Picoseconds>(due);
  }
  return now;
}

SequentialRun Generator::sequential_writes() const {
  const auto& sizes = plan_.sizes[1];
  if (plan_.mix != GeneratorPlan::Mix::one || plan_.direction != 1 || plan_.random || sizes.size() != 1 ||
      sizes[0].bytes == 0 || plan_.paced() || plan_.flushes() || plan_.force_unit_access)
    return {};
  const Bytes bytes = sizes[0].bytes;
  std::uint64_t requests = (plan_.size - std::min(plan_.size, cursor_[1])) / bytes;
  if (plan_.number_ios != 0)
    requests = std::min(requests, plan_.number_ios - std::min(plan_.number_ios, issued_));
  if (plan_.io_bytes != 0)
    requests = std::min(requests, (plan_.io_bytes - std::min(plan_.io_bytes, done_)) / bytes);
  return {plan_.offset + cursor_[1], bytes, requests};
}

void Generator::skip(std::uint64_t requests) {
  const Bytes bytes = requests * plan_.sizes[1][0].bytes;
  cursor_[1] += bytes;
  done_ += bytes;
  issued_ += requests;
  written_ += requests;
}

/// On average.
double GeneratorPlan::request_bytes(unsigned of) const {
  if (sizes[of].empty()) return static_cast<double>(range_low[of] + range_high[of]) / 2;
  double sum = 0;
  for (const SizeShare& share : sizes[of]) sum += static_cast<double>(share.bytes) * share.percent;
  return sum / 100;
}

bool GeneratorPlan::flushes_after(std::uint64_t written) const {
  return (fsync != 0 && written % fsync == 0) || (fdatasync != 0 && written % fdatasync == 0);
}

/// An estimate where sizes are drawn.
std::uint64_t Generator::expected() const {
  using Mix = GeneratorPlan::Mix;
  double reads = plan_.direction == 0 ? 1 : 0;
  double writes = plan_.direction == 1 ? 1 : 0;
  if (plan_.mix == Mix::read_write) {
    reads = plan_.read_percent / 100.0;
    writes = 1 - reads;
  }
  const double bytes =
      reads * plan_.request_bytes(0) + (1 - reads) * plan_.request_bytes(std::max(plan_.direction, 1U));
  std::uint64_t requests = plan_.number_ios;
  if (requests == 0 && plan_.io_bytes != 0 && bytes > 0)
    requests = static_cast<std::uint64_t>(std::ceil(static_cast<double>(plan_.io_bytes) / bytes));
  const bool pairs = plan_.mix == Mix::trim_write;
  const auto written = pairs ? requests : static_cast<std::uint64_t>(writes * static_cast<double>(requests));
  if (pairs) requests *= 2;
  if (plan_.fsync != 0) requests += written / plan_.fsync;
  if (plan_.fdatasync != 0) requests += written / plan_.fdatasync;
  if (plan_.fsync != 0 && plan_.fdatasync != 0)
    requests -= written / plan_.fsync / (plan_.fdatasync / std::gcd(plan_.fsync, plan_.fdatasync));
  return requests;
}

}  // namespace tlmssd
