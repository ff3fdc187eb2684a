#include "testbench/host_driver.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "models/common/input_error.h"

namespace tlmssd {

/// A command under way: what the drive sees, and what the host keeps beside it.
struct HostDriver::Slot : HostCommand {
  PayloadPool<HostExtension>::Payload* payload = nullptr;
  std::vector<Stamp> stamps;
  Scoreboard::Ticket ticket;
  LbaRange range;
  HostDriver* driver = nullptr;
  Stream* stream = nullptr;
  Picoseconds submitted = 0;
  bool busy = false;
  bool write_protected = false;  ///< issued when the drive was already known to be read-only
  Slot* next_free = nullptr;
};

/// A load while it runs.
struct HostDriver::Stream {
  HostDriver* driver;
  Load* load;
  std::uint16_t number;
  std::uint32_t queue;
  Picoseconds start = 0;  ///< absolute
  Picoseconds stop = k_never;
  PlacedRequest head;  ///< the next request, when has_head
  bool has_head = false;
  bool exhausted = true;
  bool ended = false;
  bool sleeping = false;  ///< an agenda item will pump this stream
  std::uint32_t outstanding = 0;
  std::uint64_t issued = 0;
  std::uint64_t completed = 0;
  Picoseconds first_time =
      0;  ///< time stamp of the first request after a warm-up, from which the others count
  Picoseconds think_until = 0;

  static void wake(void* self) {
    auto* stream = static_cast<Stream*>(self);
    stream->sleeping = false;
    stream->driver->pump(*stream);
  }
};

HostDriver::HostDriver(const sc_core::sc_module_name& name, Agenda& agenda, AgendaProcess& process,
                       const HostDriverConfig& config, Scoreboard& scoreboard)
    : sc_core::sc_module(name),
      device_isock("device_isock", *this),
      agenda_(agenda),
      process_(process),
      config_(config),
      scoreboard_(scoreboard),
      streams_of_queue_(config.queues),
      queue_outstanding_(config.queues) {}

HostDriver::~HostDriver() = default;

HostDriver::Slot& HostDriver::take_slot() {
  if (free_slots_ == nullptr) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->driver = this;
    free_slots_ = slots_.back().get();
  }
  Slot& slot = *free_slots_;
  free_slots_ = slot.next_free;
  slot.next_free = nullptr;
  slot.busy = true;
  return slot;
}

// ---- starting

void HostDriver::start(std::vector<Load>& loads, Measurement& measurement) {
  measurement_ = &measurement;
  streams_.clear();
  for (auto& queue : streams_of_queue_) queue.clear();
  finished_ = false;
  ramping_ = 0;
  ramp_times_ = 0;
  for (Load& load : loads) {
    auto stream = std::make_unique<Stream>();
    stream->driver = this;
    stream->load = &load;
    stream->number = static_cast<std::uint16_t>(streams_.size());
    stream->queue =
        (load.queue >= 0 ? static_cast<std::uint32_t>(load.queue) : stream->number) % config_.queues;
    streams_of_queue_[stream->queue].push_back(stream.get());
    if (load.ramp_time > 0) ++ramp_times_;
    if (load.ramp_requests > 0) ++ramping_;
    streams_.push_back(std::move(stream));
  }
  ramp_end_ = -1;
  if (ramp_times_ > 0) ++ramping_;
  measuring_ = ramping_ == 0;
  phase_ = 0;
  running_in_phase_ = 0;
  next_phase();
}

/// One of those that measurement waits for is through with its ramp.
void HostDriver::end_ramp() {
  if (--ramping_ > 0) return;
  measuring_ = true;
  measurement_->reset(agenda_.now());
  if (on_measurement_) on_measurement_();
}

/// The ramp time of a load counts from its start in its phase.
void HostDriver::begin_ramp_time(const Stream& stream) {
  if (stream.load->ramp_time == 0) return;
  --ramp_times_;
  const Picoseconds end = stream.start + stream.load->ramp_time;
  if (end <= ramp_end_) return;
  ramp_end_ = end;
  agenda_.at(
      end, [](void* self) { static_cast<HostDriver*>(self)->end_ramp_time(); }, this);
}

/// An earlier run may have ended before its ramp did: then its item of the agenda is still there and says nothing.
void HostDriver::end_ramp_time() {
  if (agenda_.now() != ramp_end_ || ramp_times_ > 0) return;
  ramp_end_ = -1;
  if (!finished_) end_ramp();
}

void HostDriver::next_phase() {
  for (;;) {
    std::uint32_t next = ~std::uint32_t{0};
    for (const auto& stream : streams_) {
      if (!stream->ended) next = std::min(next, stream->load->phase);
    }
    if (next == ~std::uint32_t{0}) {
      finish();
      return;
    }
    phase_ = next;
    running_in_phase_ = 1;  // held until every stream of the phase has been started
    for (const auto& stream : streams_) {
      if (stream->ended || stream->load->phase != next) continue;
      ++running_in_phase_;
      stream->exhausted = false;
      stream->start = agenda_.now() + stream->load->start;
      if (stream->load->runtime != k_never)
        stream->stop = stream->start + stream->load->ramp_time + stream->load->runtime;
      begin_ramp_time(*stream);
      pump(*stream);
    }
    if (--running_in_phase_ > 0) return;
  }
}

void HostDriver::end_stream(Stream& stream) {
  if (stream.ended) return;
  stream.ended = true;
  if (stream.completed < stream.load->ramp_requests) end_ramp();
  if (--running_in_phase_ == 0) next_phase();
}

void HostDriver::finish() {
  if (finished_) return;
  finished_ = true;
  if (!measuring_) measurement_->reset(agenda_.now());  // all of it was ramp
  measurement_->finish(agenda_.now());
  process_.stop();
}

// ---- issuing

/// Makes the stream's next request ready; false when there is none.
bool HostDriver::fetch(Stream& stream) {
  if (stream.has_head) return true;
  if (stream.exhausted) return false;
  const Load& load = *stream.load;
  if ((load.requests != 0 && stream.issued >= load.requests) || !stream.load->source->next(stream.head)) {
    stream.exhausted = true;
    return false;
  }
  if (load.warm_up > 0) {
    if (stream.issued == 0) stream.first_time = stream.head.time;
    stream.head.time -= stream.first_time;
  }
  stream.has_head = true;
  scoreboard_.foresee(stream.head.lba);
  return true;
}

/// Issues all that the stream may issue now; arranges to come back when time alone holds it up.
void HostDriver::pump(Stream& stream) {
  if (stream.ended || stream.sleeping || stream.load->phase != phase_) return;
  const Load& load = *stream.load;
  const bool open_loop = load.pacing == Pacing::open_loop;
  while (fetch(stream)) {
    if (load.queue_depth != 0 && stream.outstanding >= load.queue_depth) return;
    if (queue_outstanding_[stream.queue] >= config_.queue_depth) return;
    Picoseconds due = std::max(stream.start, stream.think_until);
    if (open_loop) due = std::max(due, stream.start + stream.head.time);
    if (std::max(due, agenda_.now()) >= stream.stop) {
      stream.exhausted = true;
      stream.has_head = false;
      break;
    }
    if (due > agenda_.now()) {
      stream.sleeping = true;
      agenda_.at(due, &Stream::wake, &stream);
      return;
    }
    issue(stream);
  }
  if (stream.exhausted && stream.outstanding == 0) end_stream(stream);
}

void HostDriver::pump_queue(std::uint32_t queue) {
  for (Stream* stream : streams_of_queue_[queue]) pump(*stream);
}

void HostDriver::prepare(Slot& slot, const PlacedRequest& request) {
  slot.opcode = request.opcode;
  slot.status = HostStatus::success;
  slot.force_unit_access = request.force_unit_access;
  slot.lba = request.lba;
  slot.blocks = request.blocks;
  slot.range = {request.lba, request.blocks};
  slot.ranges = request.opcode == HostOpcode::trim ? std::span<const LbaRange>(&slot.range, 1)
                                                   : std::span<const LbaRange>();
  const bool has_data = request.opcode == HostOpcode::read || request.opcode == HostOpcode::write;
  const std::size_t stamps = has_data ? request.blocks : 1;
  if (slot.stamps.size() < stamps) slot.stamps.resize(stamps);
  slot.data = has_data ? std::span<Stamp>(slot.stamps.data(), stamps) : std::span<Stamp>();

  slot.payload = &payloads_.take();
  tlm::tlm_generic_payload& payload = *slot.payload;
  slot.payload->extension.command = &slot;
  payload.set_command(request.opcode == HostOpcode::read    ? tlm::TLM_READ_COMMAND
                      : request.opcode == HostOpcode::write ? tlm::TLM_WRITE_COMMAND
                                                            : tlm::TLM_IGNORE_COMMAND);
  payload.set_address(request.lba * config_.lba_bytes);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(slot.stamps.data()));
  payload.set_data_length(static_cast<unsigned>(stamps * sizeof(Stamp)));
  payload.set_streaming_width(payload.get_data_length());
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// Tells the scoreboard that the command is on its way.
void HostDriver::begin(Slot& slot) {
  slot.write_protected = write_protected_;
  switch (slot.opcode) {
    case HostOpcode::read:
      scoreboard_.begin_read(slot.ticket, slot.lba, slot.blocks);
      break;
    case HostOpcode::write:
      scoreboard_.begin_write(slot.ticket, slot.lba, slot.blocks, slot.data);
      break;
    case HostOpcode::trim:
    case HostOpcode::write_zeroes:
      scoreboard_.begin_zeroes(slot.ticket, slot.lba, slot.blocks);
      break;
    case HostOpcode::flush:
      break;
  }
}

void HostDriver::issue(Stream& stream) {
  Slot& slot = take_slot();
  const PlacedRequest& request = stream.head;
  prepare(slot, request);
  slot.stream = &stream;
  slot.queue = static_cast<std::uint16_t>(stream.queue);
  slot.submitted = agenda_.now();
  if (stream.load->pacing == Pacing::open_loop) slot.submitted = stream.start + request.time;
  slot.ledger = Ledger(slot.submitted);
  begin(slot);
  stream.has_head = false;
  ++stream.issued;
  ++stream.outstanding;
  if (outstanding_++ == 0) {
    waiting_since_ = agenda_.now();
    if (!watching_) watch_from(waiting_since_);
  }
  ++queue_outstanding_[stream.queue];
  const Load& load = *stream.load;
  if (load.think_time > 0 && stream.issued % std::max(load.think_blocks, 1U) == 0) {
    stream.think_until = agenda_.now() + load.think_time;
  }
  measurement_->submitted(stream.number, agenda_.now());
  if (request_pending_ || !held_.empty()) {
    held_.push_back(&slot);
  } else {
    send(slot);
  }
}

void HostDriver::send(Slot& slot) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(agenda_);
  switch (device_isock->nb_transport_fw(*slot.payload, phase, delay)) {
    case tlm::TLM_ACCEPTED:
      request_pending_ = true;
      break;
    case tlm::TLM_UPDATED:
      if (phase == tlm::BEGIN_RESP) backward(0, *slot.payload, phase, delay);
      break;
    case tlm::TLM_COMPLETED:
      phase = tlm::BEGIN_RESP;
      backward(0, *slot.payload, phase, delay);
      break;
  }
}

void HostDriver::send_held() {
  std::size_t sent = 0;
  while (sent < held_.size() && !request_pending_) send(*held_[sent++]);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(sent));
}

// ---- completing

tlm::tlm_sync_enum HostDriver::backward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                        tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Picoseconds when = arrival(agenda_, delay);
  if (request_pending_ && (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)) {
    request_pending_ = false;
    // The backward path must not call the forward path: from the agenda.
    if (!held_.empty()) {
      agenda_.at(
          when, [](void* self) { static_cast<HostDriver*>(self)->send_held(); }, this);
    }
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  auto& extension = static_cast<PayloadPool<HostExtension>::Payload&>(payload).extension;
  auto& slot = static_cast<Slot&>(*extension.command);
  agenda_.at(
      when, [](void* self) { static_cast<Slot*>(self)->driver->complete(*static_cast<Slot*>(self)); }, &slot);
  return tlm::TLM_COMPLETED;
}

/// Refused as a whole: the command has changed nothing. A command that was under way when the drive became read-only may have been
/// carried out in part.
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
      mismatch = scoreboard_.end_read(slot.ticket, slot.data, ok);
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
  if (mismatch != nullptr) throw DataMismatch(fmt::format("at {} ps: {}", agenda_.now(), mismatch->text()));
  if (!ok && failed_++ == 0) {
    first_failure_ =
        fmt::format("{} of LBA {} ({} blocks) at {:.6f} s: {}", name_of(slot.opcode), slot.lba, slot.blocks,
                    static_cast<double>(agenda_.now()) * 1e-12, name_of(slot.status));
  }
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
  completed.completed = agenda_.now();
  completed.ledger = &slot.ledger;
  measurement_->record(completed);
  if (hook_ && measuring_) hook_(completed);

  slot.payload->release();
  slot.busy = false;
  slot.next_free = free_slots_;
  free_slots_ = &slot;
  --stream.outstanding;
  --outstanding_;
  --queue_outstanding_[stream.queue];
  waiting_since_ = agenda_.now();
  if (++completed_ % k_progress_interval == 0) {
    check_time(stream);
    if (on_progress_) on_progress_(completed_);
  }
  if (++stream.completed == stream.load->ramp_requests) end_ramp();
  if (streams_of_queue_[stream.queue].size() == 1) {
    pump(stream);
  } else {
    pump_queue(stream.queue);
  }
}

// ---- watching

/// Commands that take no time are all right, even many; but time alone ends some loads.
void HostDriver::check_time(const Stream& stream) {
  constexpr std::uint64_t k_most_checks = 1024;
  agenda_.progress();
  if (std::exchange(checked_instant_, agenda_.now()) != agenda_.now()) checks_at_instant_ = 0;
  if (++checks_at_instant_ < k_most_checks || !stream.load->endless()) return;
  throw TimeStandsStill(fmt::format("{} requests in a row took no time at all, so that time_based never ends",
                                    k_most_checks * k_progress_interval));
}

void HostDriver::watch_from(Picoseconds when) {
  if (config_.stall_after == 0) return;
  watching_ = true;
  agenda_.at(
      when + config_.stall_after, [](void* self) { static_cast<HostDriver*>(self)->watch(); }, this);
}

void HostDriver::watch() {
  watching_ = false;
  if (finished_ || outstanding_ == 0) return;  // the next command that is issued begins anew
  const Picoseconds waited = agenda_.now() - waiting_since_;
  if (waited < config_.stall_after) {
    watch_from(waiting_since_);
    return;
  }
  if (config_.patient && !agenda_.empty()) {
    if (std::exchange(completed_at_watch_, completed_) != completed_) executed_at_watch_ = agenda_.executed();
    if (agenda_.executed() - executed_at_watch_ < k_patience) {
      watch_from(agenda_.now());
      return;
    }
  }
  throw Stalled(fmt::format("no command has completed for {:.3f} s of simulated time; {}",
                            static_cast<double>(waited) * 1e-12, describe_outstanding()));
}

std::string HostDriver::describe_outstanding() const {
  std::vector<const Slot*> waiting;
  for (const auto& slot : slots_) {
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

void HostDriver::run_untimed(std::vector<Load>& loads) {
  for (const Load& load : loads) {
    if (load.endless()) throw InputError("time_based: no time passes in an untimed run, which would never end");
  }
  std::vector<Load*> live;
  std::vector<std::uint64_t> issued(loads.size());
  for (Load& load : loads) live.push_back(&load);
  PlacedRequest request;
  while (!live.empty()) {
    for (std::size_t i = 0; i < live.size();) {
      Load& load = *live[i];
      std::uint64_t& count = issued[static_cast<std::size_t>(&load - loads.data())];
      if ((load.requests != 0 && count >= load.requests) || !load.source->next(request)) {
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      ++count;
      agenda_.checkpoint();
      Slot& slot = take_slot();
      prepare(slot, request);
      slot.queue = 0;
      slot.submitted = agenda_.now();
      slot.ledger = Ledger(slot.submitted);
      begin(slot);
      device_isock->transport_dbg(*slot.payload);
      check(slot);
      slot.payload->release();
      slot.busy = false;
      slot.next_free = free_slots_;
      free_slots_ = &slot;
      if (++completed_ % k_progress_interval == 0 && on_progress_) on_progress_(completed_);
      ++i;
    }
  }
}

}  // namespace tlmssd
