#include "firmware/flash/error_correction.h"

#include <algorithm>
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
    SlotSet& failed = read_.verdict->failed_slots;
    failed.clear();
    std::uint32_t lost = 0;
    for (std::uint32_t slot = 0; slot < read_.op.slots; ++slot) {
      if (!lost_[slot]) continue;
      ++lost;
      failed.add(slot);
    }
    if (lost != 0) read_.op.failed_frames = lost + beyond_one_;
    read_.op.status = lost != 0 ? FlashStatus::uncorrectable : FlashStatus::ok;
  }

 private:
  ReadOp& read_;
  std::vector<Stamp> stamps_;
  std::vector<bool> lost_;
  /// Frames that failed beside the first of each slot, in the attempt with the fewest.
  std::uint32_t beyond_one_ = std::numeric_limits<std::uint32_t>::max();
};

void ask_for_verdict(ReadOp& read) {
  if (read.verdict == nullptr) read.verdict = std::make_unique<ReadVerdict>();
  read.op.verdict = read.verdict.get();
}

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
  ask_for_verdict(read);
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

/// Calls `f(low, high, verdict)` for what a read of several planes has of each: its units, and what
/// the decoder said of them.
template <class F>
void ErrorCorrection::each_plane(const ReadOp& read, F&& f) const {
  const std::uint32_t per_plane = core_.layout.units_per_page;
  const PlaneVerdict* verdict = read.verdict->planes.data();
  for (std::uint32_t low = read.low; low <= read.high;) {
    const std::uint32_t high = std::min(read.high, (low / per_plane + 1) * per_plane - 1);
    f(low, high, *verdict++);
    low = high + 1;
  }
}

// Planes that could be decoded are done with: what each other one holds is read again by itself, as
// if it had been an operation of its own from the start.
void ErrorCorrection::read_planes_again(ReadOp& read) {
  auto whole = std::make_shared<Whole>(Whole{read, std::exchange(read.op.ledger, nullptr), {}, 0});
  each_plane(read, [&](std::uint32_t low, std::uint32_t high, const PlaneVerdict& verdict) {
    if (verdict.failed > 0) {
      whole->planes.push_back(&plane_of(read, low, high, verdict));
    } else {
      count_bits(read, high - low + 1);
      count_decoded(read, high - low + 1, verdict);
    }
  });
  read.op.status = FlashStatus::ok;
  read.verdict->failed_slots.clear();
  whole->left = static_cast<std::uint32_t>(whole->planes.size());
  for (ReadOp* const plane : whole->planes) rereads_.start(read_plane(*plane, whole));
}

/// A read of units `low` to `high`, which are in one plane, that stands where `read` does after its
/// first attempt.
ReadOp& ErrorCorrection::plane_of(ReadOp& read, std::uint32_t low, std::uint32_t high,
                                  const PlaneVerdict& verdict) {
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
  op.failed_frames = verdict.failed;
  op.worst_errors = verdict.worst;
  op.wrong_bits = verdict.wrong;
  ask_for_verdict(plane);
  plane.verdict->failed_slots.clear();
  for (std::uint32_t at = low; at <= high; ++at) {
    plane.wanted[at] = read.wanted[at];
    plane.spare[at] = read.spare[at];
    if (read.lost(at)) plane.verdict->failed_slots.add(at - low);
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
    for (std::uint32_t at = plane.low; at <= plane.high; ++at)
      if (plane.lost(at)) read.verdict->failed_slots.add(at - read.low);
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
  count_bits(read, op.slots);
  if (op.status == FlashStatus::uncorrectable) {
    ++core_.stats.lost_reads;
    core_.stats.lost_frames += op.failed_frames;
    if (is_for_host(read)) core_.stats.host_lost_frames += op.failed_frames;
  } else {
    each_plane(read, [&](std::uint32_t low, std::uint32_t high, const PlaneVerdict& verdict) {
      count_decoded(read, high - low + 1, verdict);
    });
  }
}

void ErrorCorrection::count_bits(const ReadOp& read, std::uint32_t slots) {
  const std::uint64_t bits = std::uint64_t{slots} * core_.layout.unit_bytes * 8;
  core_.stats.decoded_bits += bits;
  if (is_for_host(read)) core_.stats.host_decoded_bits += bits;
}

/// What was read of a page, in so many slots, has been decoded.
void ErrorCorrection::count_decoded(const ReadOp& read, std::uint32_t slots, const PlaneVerdict& verdict) {
  const std::uint32_t frames = slots * frames_per_unit_;
  // Where several attempts brought the slots to light together, the last one failed at some of
  // them, and what was wrong there has not been corrected by it.
  if (verdict.failed == 0) {
    core_.stats.decoded_frames += frames;
    core_.stats.corrected_bits += verdict.wrong;
  }
  policy_.decoded(facts(read), {read.op.code, read.op.retry_level},
                  {verdict.worst, static_cast<double>(verdict.wrong) / frames});
}

}  // namespace tlmssd::firmware
