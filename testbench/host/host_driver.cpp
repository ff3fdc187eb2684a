#include "testbench/host/host_driver.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "testbench/host/host_driver_parts.h"
#include "testbench/host/load_instants.h"
#include "testbench/host/untimed_turns.h"

namespace tlmssd {

namespace {

/// Whether a load has written something since its last flush, after a request and what was before.
bool unflushed_after(HostOpcode opcode, bool before) {
  return opcode == HostOpcode::write || (before && opcode != HostOpcode::flush);
}

}  // namespace

HostDriver::HostDriver(const sc_core::sc_module_name& name, EventQueue& event_queue,
                       EventQueueProcess& process, const HostDriverConfig& config, Scoreboard& scoreboard)
    : sc_core::sc_module(name),
      device_isock("device_isock", *this, event_queue),
      event_queue_(event_queue),
      process_(process),
      config_(config),
      scoreboard_(scoreboard),
      watch_(event_queue, *this, config.stall_after, config.patient),
      slots_(std::make_unique<Slots>()),
      waiting_(config.queues),
      queue_outstanding_(config.queues) {}

HostDriver::~HostDriver() = default;

HostDriver::SplitRequest& HostDriver::take_split() {
  SplitRequest& request = splits_.take();
  request = SplitRequest{};
  return request;
}

// ---- issuing

/// Makes the stream's next request ready; false when there is none.
bool HostDriver::fetch(Stream& stream) {
  if (stopping_ && stream.split == nullptr) {
    stream.by_time |= !stream.exhausted;
    stream.exhausted = true;
    stream.has_head = false;
    return false;
  }
  if (stream.has_head) return true;
  if (stream.exhausted) return false;
  const Load& load = *stream.load;
  if (!load.next(stream.head, stream.issued)) {
    stream.exhausted = true;
    return false;
  }
  if (load.warm_up > 0) {
    if (stream.issued == 0) stream.first_time = stream.head.time;
    stream.head.time -= stream.first_time;
  }
  stream.has_head = true;
  stream.head_since = event_queue_.now();
  stream.head_free = k_never;
  scoreboard_.announce(stream.head.lba);
  return true;
}

/// Issues all that the stream may issue now; arranges to come back when time alone holds it up, or
/// stands in line when its queue has no room. `in_turn`: those in line let one command of it pass.
void HostDriver::pump(Stream& stream, bool in_turn) {
  if (stream.ended || stream.sleeping || stream.load->phase != phase_) return;
  const Load& load = *stream.load;
  const bool open_loop = load.pacing == Pacing::open_loop;
  while (fetch(stream)) {
    if (stream.split == nullptr && stream.is_full()) return;
    if (!stream.owes_pause()) stream.head_free = std::min(stream.head_free, event_queue_.now());
    if (!may_issue(stream, in_turn)) return;
    if (stream.split == nullptr && stream.owes_pause()) return;
    if (stream.split != nullptr) {
      issue(stream);
      in_turn = false;
      continue;
    }
    Picoseconds due = std::max(stream.start, stream.think_until);
    if (open_loop) due = std::max(due, later(stream.start, stream.head.time));
    due = std::max(due, event_queue_.now());
    if (due >= stream.stop) {
      stream.exhausted = true;
      stream.by_time = true;
      stream.has_head = false;
      break;
    }
    if (due > k_last_request) check_clock(load, event_queue_.now());
    check_instant(load, due, due == stream.think_until ? "thinktime" : "");
    if (due > event_queue_.now()) {
      stream.sleeping = true;
      event_queue_.at(due, &Stream::wake, &stream);
      return;
    }
    issue(stream);
    in_turn = false;
  }
  if (!stream.exhausted || stream.outstanding > 0) return;
  if (load.end_fsync && stream.unflushed && !stopping_) {
    flush_at_end(stream, in_turn);
  } else {
    end_stream(stream);
  }
}

/// The stream's last request.
void HostDriver::flush_at_end(Stream& stream, bool in_turn) {
  if (!may_issue(stream, in_turn)) return;
  stream.head = PlacedRequest{};
  stream.head.opcode = HostOpcode::flush;
  stream.head.time = event_queue_.now() - stream.start;
  stream.head_free = event_queue_.now();
  const Picoseconds lag = stream.lag;  // its own time is now
  issue(stream);
  stream.lag = lag;
}

/// Whether its queue has room for a command of the stream, which stands in line for it otherwise.
bool HostDriver::may_issue(Stream& stream, bool in_turn) {
  auto& line = waiting_[stream.queue];
  if (has_room(stream.queue) && (in_turn || line.empty())) return true;
  if (stream.next == nullptr) line.push(stream);
  return false;
}

bool HostDriver::has_room(std::uint32_t queue) const {
  return queue_outstanding_[queue] < config_.queue_depth;
}

/// Room goes to those that wait for it, a command each in turn, so that none of them starves.
void HostDriver::pump_waiting(std::uint32_t queue) {
  while (has_room(queue) && !waiting_[queue].empty()) pump(waiting_[queue].pop(), true);
}

/// A slot with the command that the request is to be.
HostDriver::Slot& HostDriver::prepare(const PlacedRequest& request) {
  const bool has_data = request.opcode == HostOpcode::read || request.opcode == HostOpcode::write;
  const tlm::tlm_command command = request.opcode == HostOpcode::read    ? tlm::TLM_READ_COMMAND
                                   : request.opcode == HostOpcode::write ? tlm::TLM_WRITE_COMMAND
                                                                         : tlm::TLM_IGNORE_COMMAND;
  const std::size_t count = has_data ? request.blocks : 1;
  static_assert(sizeof(Slot) <= 512, "what thousands of commands under way take of the caches");
  Slot& slot = slots_->take();
  Stamp* const stamps = slot.stamps(count);
  slot.fill(command, request.lba * config_.lba_bytes, stamps, count * sizeof(Stamp));
  slot.busy = true;
  slot.opcode = request.opcode;
  slot.status = HostStatus::success;
  slot.force_unit_access = request.force_unit_access;
  slot.lba = request.lba;
  slot.blocks = request.blocks;
  slot.placement_handle = request.placement_handle;
  if (request.opcode == HostOpcode::trim) {
    slot.range = {request.lba, request.blocks};
    slot.set_ranges({&slot.range, 1});
  } else {
    slot.set_data({stamps, has_data ? count : 0});
  }
  return slot;
}

/// Tells the scoreboard that the command is on its way.
void HostDriver::begin(Slot& slot) {
  slot.write_protected = write_protected_;
  switch (slot.opcode) {
    case HostOpcode::read:
      scoreboard_.begin_read(slot.ticket, slot.lba, slot.blocks);
      break;
    case HostOpcode::write:
      scoreboard_.begin_write(slot.ticket, slot.lba, slot.blocks, slot.data());
      break;
    case HostOpcode::trim:
    case HostOpcode::write_zeroes:
      scoreboard_.begin_zeroes(slot.ticket, slot.lba, slot.blocks);
      break;
    case HostOpcode::flush:
      break;
  }
}

/// The stream's head is on its way, as one command or as the first of several.
void HostDriver::begin_request(Stream& stream, bool split) {
  ++stream.issued;
  ++stream.outstanding;
  stream.unflushed = unflushed_after(stream.head.opcode, stream.unflushed);
  if (stream.head.opcode == HostOpcode::flush) ++stream.flushes;
  const Load& load = *stream.load;
  stream.last_issue = event_queue_.now();
  if (load.pacing == Pacing::open_loop) stream.lag = event_queue_.now() - stream.start - stream.head.time;
  if (!split) return;
  stream.split = &take_split();
  Completed& whole = stream.split->whole;
  whole.opcode = stream.head.opcode;
  whole.load = stream.number;
  whole.queue = static_cast<std::uint16_t>(stream.queue);
  whole.lba = stream.head.lba;
  whole.bytes = Bytes{stream.head.blocks} * config_.lba_bytes;
  whole.submitted = load.pacing == Pacing::open_loop ? stream.start + stream.head.time : event_queue_.now();
  stream.split->held = stream.held;
}

/// Issues the stream's head, or the next piece of it.
void HostDriver::issue(Stream& stream) {
  PlacedRequest request = stream.head;
  request.blocks = config_.limit.first_piece(request);
  const bool first = stream.split == nullptr;
  const bool last = request.blocks == stream.head.blocks;
  const Picoseconds now = event_queue_.now();
  const bool at_its_time = first && stream.load->pacing == Pacing::open_loop;
  const Picoseconds due = at_its_time ? stream.start + request.time : now;
  if (first) {
    stream.note_wait(due, now);
    begin_request(stream, !last);
  }
  Slot& slot = prepare(request);
  slot.stream = &stream;
  slot.split = stream.split;
  slot.queue = static_cast<std::uint16_t>(stream.queue);
  slot.submitted = due;
  slot.ledger.restart(slot.submitted, stream.number, ++issued_);
  if (first) slot.ledger.charge(Cause::load_limit, due + stream.held);
  begin(slot);
  stream.head.lba += request.blocks;
  stream.head.blocks -= request.blocks;
  if (slot.split != nullptr) {
    ++slot.split->out;
    slot.split->issued = last;
  }
  if (last) {
    stream.has_head = false;
    stream.split = nullptr;
  }
  if (outstanding_++ == 0) watch_.begin();
  ++queue_outstanding_[stream.queue];
  measurement_->submitted(stream.number, event_queue_.now(), first);
  if (on_submission_) on_submission_();
  device_isock.send(slot);
}

// ---- completing

void HostDriver::responded(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds when) {
  auto& answered = static_cast<Slot&>(payload);
  scoreboard_.prefetch(answered.ticket);
  // As a rule the stream's next request is issued when this one completes.
  if (answered.stream->has_head) scoreboard_.prefetch(answered.stream->head.lba);
  event_queue_.at(
      when,
      [](void* self) {
        auto& slot = *static_cast<Slot*>(self);
        slot.stream->driver->complete(slot);
      },
      &answered);
}

/// Refused as a whole: the command has changed nothing. A command that was under way when the drive
/// became read-only may have been carried out in part.
bool HostDriver::refused(const Slot& slot) {
  switch (slot.status) {
    case HostStatus::lba_out_of_range:
    case HostStatus::invalid_field:
      return true;
    case HostStatus::write_protected:
      return slot.write_protected;
    case HostStatus::success:
    case HostStatus::media_error:
      break;
  }
  return false;
}

/// Ends the command on the scoreboard and notes a failure.
void HostDriver::check(Slot& slot) {
  const bool ok = slot.status == HostStatus::success;
  const Mismatch* mismatch = nullptr;
  switch (slot.opcode) {
    case HostOpcode::read:
      mismatch = scoreboard_.end_read(slot.ticket, slot.data(), ok);
      break;
    case HostOpcode::write:
      if (refused(slot)) {
        scoreboard_.cancel(slot.ticket);
      } else {
        scoreboard_.end_write(slot.ticket, ok);
      }
      break;
    case HostOpcode::trim:
    case HostOpcode::write_zeroes:
      if (refused(slot)) {
        scoreboard_.cancel(slot.ticket);
      } else {
        scoreboard_.end_zeroes(slot.ticket, ok);
      }
      break;
    case HostOpcode::flush:
      break;
  }
  write_protected_ = write_protected_ || slot.status == HostStatus::write_protected;
  if (mismatch != nullptr)
    throw DataMismatch(fmt::format("at {} ps: {}", event_queue_.now(), mismatch->text()));
  if (!ok && first_failure_.empty()) {
    first_failure_ =
        fmt::format("{} of LBA {} ({} blocks) at {:.6f} s: {}", name_of(slot.opcode), slot.lba, slot.blocks,
                    static_cast<double>(event_queue_.now()) * 1e-12, name_of(slot.status));
  }
}

void HostDriver::release(Slot& slot) {
  slot.busy = false;
  slot.split = nullptr;
  slot.release();
}

void HostDriver::end_request(Stream& stream) {
  ++requests_done_;
  --stream.outstanding;
  if (++stream.completed == stream.load->ramp_requests) end_ramp();
  if (stream.outstanding == 0 && stream.owes_pause()) {
    stream.paused_at = stream.completed;
    stream.think_until = later(event_queue_.now(), stream.load->think_time);
    stream.paused += stream.think_until - event_queue_.now();
  }
}

/// The request is complete with its last piece: what it waited for is what that piece did, after
/// the time in which there was no room for it.
void HostDriver::end_piece(const Completed& piece, SplitRequest& request) {
  Completed& whole = request.whole;
  if (whole.status == HostStatus::success) whole.status = piece.status;
  if (--request.out > 0 || !request.issued) return;
  if (whole.status != HostStatus::success) ++failed_;
  Ledger ledger(whole.submitted, whole.load);
  ledger.charge(Cause::load_limit, std::min(whole.submitted + request.held, piece.submitted));
  ledger.charge(Cause::submission, piece.submitted);
  ledger.adopt(*piece.ledger);
  whole.completed = piece.completed;
  whole.ledger = &ledger;
  measurement_->record_whole(whole);
  end_request(*streams_[whole.load]);
  splits_.give(request);
}

void HostDriver::complete(Slot& slot) {
  Stream& stream = *slot.stream;
  check(slot);
  Completed completed;
  completed.opcode = slot.opcode;
  completed.status = slot.status;
  completed.load = stream.number;
  completed.queue = slot.queue;
  completed.lba = slot.lba;
  completed.bytes = Bytes{slot.blocks} * config_.lba_bytes;
  completed.submitted = slot.submitted;
  completed.completed = event_queue_.now();
  completed.ledger = &slot.ledger;
  completed.piece = slot.split != nullptr;
  measurement_->record(completed);
  --outstanding_;
  --queue_outstanding_[stream.queue];
  if (on_completion_) on_completion_(completed);
  watch_.completed();
  if (++completed_ == pause_at_) pause();
  if (completed_ % k_progress_interval == 0) {
    watch_.check_time(*stream.load);
    if (on_progress_) on_progress_(requests_done_);
  }
  if (slot.split == nullptr) {
    if (slot.status != HostStatus::success) ++failed_;
    end_request(stream);
  } else {
    end_piece(completed, *slot.split);
  }
  release(slot);
  pump_waiting(stream.queue);
  pump(stream);
}

// ---- reporting

std::string HostDriver::describe_outstanding() const {
  std::vector<const Slot*> waiting;
  for (const auto& slot : slots_->all()) {
    if (slot->busy) waiting.push_back(slot.get());
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Slot* a, const Slot* b) { return a->submitted < b->submitted; });
  std::string text = fmt::format("{} commands outstanding", waiting.size());
  constexpr std::size_t k_named = 8;
  for (std::size_t i = 0; i < std::min(waiting.size(), k_named); ++i) {
    const Slot& slot = *waiting[i];
    text += fmt::format("\n  {} of LBA {} ({} blocks), queue {}, submitted at {} ps", name_of(slot.opcode),
                        slot.lba, slot.blocks, slot.queue, slot.submitted);
  }
  if (waiting.size() > k_named) text += fmt::format("\n  and {} more", waiting.size() - k_named);
  return text;
}

// ---- untimed

void HostDriver::run_untimed(std::vector<Load>& loads, Measurement* measurement) {
  for (const Load& load : loads) {
    if (load.endless())
      throw InputError("time_based: no time passes in an untimed run, which would never end");
  }
  measurement_ = nullptr;
  ramping_ = 0;
  untimed_ends_.assign(loads.size(), {});
  for (const Load& load : loads) {
    if (load.ramp_requests > 0) ++ramping_;
  }
  UntimedTurns turns(loads, scoreboard_, config_.seed);
  PlacedRequest request;
  const auto end_request = [&](const UntimedLoad& load, HostOpcode opcode, HostStatus status, Bytes bytes) {
    if (status != HostStatus::success) ++failed_;
    ++requests_done_;
    if (measurement != nullptr && ramping_ == 0)
      measurement->tally(static_cast<std::uint16_t>(load.number), opcode, status, bytes);
  };
  while (UntimedLoad* const load = turns.next()) {
    if (!load->requests.next(request)) {
      if (load->requests.given() < load->requests.load().ramp_requests) end_ramp();
      if (load->requests.load().end_fsync && load->unflushed) {
        request = PlacedRequest{};
        request.opcode = HostOpcode::flush;
        end_request(*load, HostOpcode::flush, carry_out_untimed(request), 0);
      }
      turns.end();
      continue;
    }
    load->unflushed = unflushed_after(request.opcode, load->unflushed);
    StreamEnd& end = untimed_ends_[load->number];
    if (request.opcode != HostOpcode::flush) {
      ++end.issued;
      if (ramping_ == 0) ++end.measured;
    }
    PlacedRequest piece = request;
    const Bytes bytes = Bytes{request.blocks} * config_.lba_bytes;
    HostStatus status = HostStatus::success;
    do {
      piece.blocks = config_.limit.first_piece(request);
      const HostStatus of_piece = carry_out_untimed(piece);
      if (status == HostStatus::success) status = of_piece;
      piece.lba = request.lba += piece.blocks;
      request.blocks -= piece.blocks;
    } while (request.blocks > 0);
    end_request(*load, request.opcode, status, bytes);
    if (load->requests.given() == load->requests.load().ramp_requests) end_ramp();
  }
}

std::uint64_t HostDriver::whole_pieces(std::uint64_t blocks) const {
  PlacedRequest request;
  request.opcode = HostOpcode::write;
  std::uint64_t pieces = 0;
  for (; blocks > 0; ++pieces) {
    request.blocks = static_cast<std::uint32_t>(blocks);
    const std::uint32_t piece = config_.limit.first_piece(request);
    if (piece % config_.limit.aligned != 0) return 0;
    blocks -= piece;
  }
  return pieces;
}

// The hook may be given another one from within.
void HostDriver::pause() {
  const std::function<void()> hook = on_pause_;
  if (hook) hook();
}

HostStatus HostDriver::carry_out_untimed(const PlacedRequest& request) {
  event_queue_.checkpoint();
  Slot& slot = prepare(request);
  slot.queue = 0;
  slot.submitted = event_queue_.now();
  slot.ledger.restart(slot.submitted, 0, 0);
  begin(slot);
  device_isock->transport_dbg(slot);
  check(slot);
  const HostStatus status = slot.status;
  release(slot);
  if (++completed_ == pause_at_) pause();
  if (completed_ % k_progress_interval == 0 && on_progress_) on_progress_(requests_done_);
  return status;
}

}  // namespace tlmssd
