#include "firmware/flash/error_correction.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>

#include "firmware/core/decision_texts.h"
#include "firmware/flash/flash_await.h"
#include "firmware/flash/read_batch.h"
#include "models/base/ecc_code_text.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

/// What several attempts at a read have brought to light together: a slot that was decoded once
/// stays so. Frames are lost as in the attempt that came nearest to decoding the slots that are
/// left.
class Salvage {
 public:
  /// `read` has failed for the first time.
  explicit Salvage(ReadOp& read)
      : read_(read),
        stamps_(read.op.stamps, read.op.stamps + std::size_t{read.op.slots} * read.sectors),
        lost_(read.op.slots, true) {
    add();
  }
  /// Another attempt has ended.
  void add() {
    std::uint32_t failed = 0;
    for (std::uint32_t slot = 0; slot < read_.op.slots; ++slot) {
      if (read_.lost(read_.low + slot)) {
        ++failed;
        continue;
      }
      if (!lost_[slot]) continue;
      lost_[slot] = false;
      std::copy_n(read_.content(read_.low + slot), read_.sectors,
                  stamps_.begin() + std::ptrdiff_t{slot} * read_.sectors);
    }
    beyond_one_ = std::min(beyond_one_, read_.op.failed_frames - std::min(failed, read_.op.failed_frames));
  }
  [[nodiscard]] bool incomplete() const { return std::find(lost_.begin(), lost_.end(), true) != lost_.end(); }
  /// The operation now stands for all attempts.
  void finish() {
    std::copy(stamps_.begin(), stamps_.end(), read_.op.stamps);
    read_.op.failed_slots = 0;
    std::uint32_t lost = 0;
    for (std::uint32_t slot = 0; slot < read_.op.slots; ++slot) {
      if (!lost_[slot]) continue;
      ++lost;
      read_.op.failed_slots |= std::uint64_t{1} << (slot % 64);
    }
    if (lost != 0) read_.op.failed_frames = lost + beyond_one_;
    read_.op.status = read_.op.failed_slots != 0 ? FlashStatus::uncorrectable : FlashStatus::ok;
  }

 private:
  ReadOp& read_;
  std::vector<Stamp> stamps_;
  std::vector<bool> lost_;
  /// Frames that failed beside the first of each slot, in the attempt with the fewest.
  std::uint32_t beyond_one_ = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace

ErrorCorrection::ErrorCorrection(Core& core, std::uint32_t frames_per_unit)
    : core_(core),
      policy_(*core.ecc),
      frames_per_unit_(frames_per_unit),
      looks_at_age_(policy_.looks_at_age()),
      codes_(policy_.codes()) {}

PageFacts ErrorCorrection::facts(const ReadOp& read) const {
  if (!looks_at_age_) return {.block = read.block};
  const BlockInfo& info = core_.pool.info(read.block);
  constexpr double k_day = 86'400e9;
  return {read.block, core_.cycles_before + core_.pool.worn(read.block),
          static_cast<double>(core_.clock() - info.written) / k_day};
}

void ErrorCorrection::set(ReadOp& read, const ReadAttempt& attempt) const {
  if (!is_among(codes_, attempt.code)) refuse_code(attempt.code);
  read.op.code = attempt.code;
  read.op.retry_level = attempt.retry_level;
}

void ErrorCorrection::choose(ReadOp& read) {
  set(read, policy_.first(facts(read)));
  tell_code(core_, read, "first attempt", core_.config.ecc.policy);
}

void ErrorCorrection::decoded(ReadOp& read) {
  for (Feature* const feature : core_.hooks.first_attempt) feature->on_first_attempt(read);
  if (read.op.status != FlashStatus::uncorrectable) {
    count(read);
    read.batch->arrive(read);
    return;
  }
  if (read.op.pass_voltage == 1) read.undecoded = true;
  if (read.op.planes == 1) {
    rereads_.start(read_alone(read));
  } else {
    read_planes_again(read);
  }
}

Task<> ErrorCorrection::read_alone(ReadOp& read) {
  Ledger* const ledger = std::exchange(read.op.ledger, nullptr);
  co_await read_again(read);
  count(read);
  end_retries(read, ledger);
}

/// What the read waited for since its first attempt is charged to its ledger.
void ErrorCorrection::end_retries(ReadOp& read, Ledger* ledger) {
  read.op.ledger = ledger;
  if (ledger != nullptr) ledger->charge(Cause::retry, core_.hw.event_queue.now());
  read.batch->arrive(read);
}

// Planes that could be decoded are done with: what each other one holds is read again by itself, as
// if it had been an operation of its own from the start.
void ErrorCorrection::read_planes_again(ReadOp& read) {
  const std::uint32_t per_plane = core_.layout.units_per_page;
  auto whole = std::make_shared<Whole>(Whole{read, std::exchange(read.op.ledger, nullptr), {}, 0});
  std::uint32_t slots = 0;  // that are lost so far
  for (std::uint32_t low = read.low; low <= read.high;) {
    const std::uint32_t high = std::min(read.high, (low / per_plane + 1) * per_plane - 1);
    std::uint32_t lost = 0;
    for (std::uint32_t at = low; at <= high; ++at) lost += read.lost(at) ? 1 : 0;
    if (lost > 0) whole->planes.push_back(&plane_of(read, low, high));
    slots += lost;
    low = high + 1;
  }
  share_failed_frames(*whole, slots);
  const auto bits_of = [&](const ReadOp& one) -> std::uint64_t {
    return std::uint64_t{one.op.slots} * core_.layout.unit_bytes * 8;
  };
  const bool for_host = read.op.purpose == Purpose::host && read.redirector == nullptr;
  core_.stats.decoded_bits += bits_of(read);
  if (for_host) core_.stats.host_decoded_bits += bits_of(read);
  read.op.status = FlashStatus::ok;
  read.op.failed_slots = 0;
  whole->left = static_cast<std::uint32_t>(whole->planes.size());
  for (ReadOp* const plane : whole->planes) {
    core_.stats.decoded_bits -= bits_of(*plane);
    if (for_host) core_.stats.host_decoded_bits -= bits_of(*plane);
    rereads_.start(read_plane(*plane, whole));
  }
}

/// How many frames failed is known of all planes together: of each it is taken to be in proportion
/// to its slots that failed.
void ErrorCorrection::share_failed_frames(const Whole& whole, std::uint32_t lost_slots) {
  std::uint32_t frames = whole.read.op.failed_frames;
  std::uint32_t slots = lost_slots;
  for (ReadOp* const plane : whole.planes) {
    const auto lost = static_cast<std::uint32_t>(std::popcount(plane->op.failed_slots));
    plane->op.failed_frames = slots == 0 ? 0 : frames * lost / slots;
    frames -= plane->op.failed_frames;
    slots -= std::min(slots, lost);
  }
}

/// A read of units `low` to `high`, which are in one plane, that stands where `read` does after its
/// first attempt.
ReadOp& ErrorCorrection::plane_of(ReadOp& read, std::uint32_t low, std::uint32_t high) {
  const std::uint32_t per_plane = core_.layout.units_per_page;
  ReadOp& plane = core_.reads.take(read.mp_page, read.block, low);
  plane.high = high;
  plane.senses = read.senses;
  plane.undecoded = read.undecoded;
  FlashOp& op = plane.op;
  op = static_cast<const FlashOp&>(read.op);
  op.plane = static_cast<PlaneId>(index(op.plane) + low / per_plane - read.low / per_plane);
  op.planes = 1;
  op.first_slot = low % per_plane;
  op.slots = high - low + 1;
  op.spare = &plane.spare[low];
  op.stamps = plane.content(low);
  op.ledger = nullptr;
  op.failed_slots = 0;
  for (std::uint32_t at = low; at <= high; ++at) {
    plane.wanted[at] = read.wanted[at];
    plane.spare[at] = read.spare[at];
    if (read.lost(at)) op.failed_slots |= std::uint64_t{1} << ((at - low) % 64);
  }
  std::copy_n(read.content(low), std::size_t{op.slots} * read.sectors, op.stamps);
  return plane;
}

Task<> ErrorCorrection::read_plane(ReadOp& plane, std::shared_ptr<Whole> whole) {
  co_await read_again(plane);
  count(plane);
  ReadOp& read = whole->read;
  std::copy_n(plane.op.spare, plane.op.slots, &read.spare[plane.low]);
  std::copy_n(plane.op.stamps, std::size_t{plane.op.slots} * read.sectors, read.content(plane.low));
  if (plane.op.status == FlashStatus::uncorrectable) {
    read.op.status = FlashStatus::uncorrectable;
    read.op.failed_slots |= std::rotl(plane.op.failed_slots, static_cast<int>((plane.low - read.low) % 64));
  }
  read.undecoded = read.undecoded || plane.undecoded;
  read.senses = std::max(read.senses, plane.senses);  // blocks in several planes are one: the worst counts
  core_.reads.give(plane);
  if (--whole->left == 0) end_retries(read, whole->ledger);
}

// Where the pass voltage was lowered, tries the same with the nominal one; then what the policy
// names until every slot has been decoded once or the policy gives up. All of it is charged to
// retrying.
Task<> ErrorCorrection::read_again(ReadOp& read) {
  FlashTransaction& op = read.op;
  const PageFacts page = facts(read);
  op.again = true;
  ++core_.stats.retried_reads;
  bool lowered = std::exchange(op.pass_voltage, 1.0F) < 1;
  Salvage salvage(read);
  for (std::uint32_t tried = 1; salvage.incomplete();) {
    if (lowered) {
      lowered = false;
      tell_code(core_, read, "another attempt", "the last one had a low pass voltage");
    } else {
      const auto next = policy_.next(page, {op.code, op.retry_level}, tried);
      if (!next) {
        tell_code(core_, read, "given up", "the policy names no further attempt");
        break;
      }
      if (tried >= k_most_attempts) refuse_policy(read);
      ++tried;
      set(read, *next);
      tell_code(core_, read, "another attempt", "the last one was not decoded");
    }
    ++core_.stats.retries;
    co_await RunStage(core_.hw, Stage::flash, nullptr);
    FlashAwait again(core_.hw, op);
    co_await again;
    read.senses = static_cast<std::uint16_t>(read.senses + op.senses);
    salvage.add();
    if (salvage.incomplete()) read.undecoded = true;
  }
  salvage.finish();
}

void ErrorCorrection::refuse_code(EccCode code) const {
  throw objection("firmware.ecc.policy",
                  fmt::format("{} asks for code {}, but its codes() names {}", core_.config.ecc.policy,
                              ecc_code_text(code), ecc_code_text(codes_)));
}

void ErrorCorrection::refuse_policy(const ReadOp& read) const {
  throw objection("firmware.ecc.policy",
                  fmt::format("{} has not given up a page of block {} after {} attempts",
                              core_.config.ecc.policy, read.block, k_most_attempts));
}

/// Decoded or given up.
void ErrorCorrection::count(const ReadOp& read) {
  const FlashOp& op = read.op;
  FtlStatistics& stats = core_.stats;
  const std::uint64_t bits = std::uint64_t{op.slots} * core_.layout.unit_bytes * 8;
  // What a redirected read does not bring is read where it was redirected from.
  const bool for_host = op.purpose == Purpose::host && read.redirector == nullptr;
  stats.decoded_bits += bits;
  if (for_host) stats.host_decoded_bits += bits;
  if (op.status == FlashStatus::uncorrectable) {
    ++stats.lost_reads;
    stats.lost_frames += op.failed_frames;
    if (for_host) stats.host_lost_frames += op.failed_frames;
  } else {
    const std::uint32_t frames = op.slots * frames_per_unit_;
    // Where several attempts brought the slots to light together, the last one failed at some of
    // them, and what was wrong there has not been corrected by it.
    if (op.failed_frames == 0) {
      stats.decoded_frames += frames;
      stats.corrected_bits += op.wrong_bits;
    }
    policy_.decoded(facts(read), {op.code, op.retry_level},
                    {op.worst_errors, static_cast<double>(op.wrong_bits) / frames});
  }
}

}  // namespace tlmssd::firmware
