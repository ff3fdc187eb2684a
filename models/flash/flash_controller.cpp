#include "models/flash/flash_controller.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tlmssd {

FlashController::FlashController(const sc_core::sc_module_name& name, EventQueue& event_queue,
                                 const FlashSetup& setup)
    : sc_core::sc_module(name),
      cpu_tsock("cpu_tsock", *this, event_queue),
      memory_("memory_isock", event_queue,
              Bytes{setup.geometry.planes} * setup.part.pages_per_step() * setup.geometry.page_bytes),
      memory_isock(memory_.socket),
      event_queue_(event_queue),
      setup_(setup),
      ecc_(setup.ecc, setup.seed),
      frames_per_unit_(static_cast<std::uint32_t>(setup.unit_bytes / setup.ecc.frame)) {
  for (std::uint32_t channel = 0; channel < setup.geometry.channels; ++channel) {
    channel_isock.emplace_back(("channel_isock_" + std::to_string(channel)).c_str(), *this, channel);
    for (std::uint32_t way = 0; way < setup.geometry.dies_per_channel(); ++way)
      routes_.push_back({&channel_isock.back(), 0, 0});
  }
}

// ----------------------------------------------------------------------------------------------------------------- sockets

Reply FlashController::request(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds when) {
  FlashJob* const found = job_of(payload);
  if (found == nullptr || index(found->op->die) >= routes_.size()) {
    payload.set_response_status(found == nullptr ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                                 : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return Reply::completed(when);
  }
  FlashJob& job = *found;
  FlashOp* const op = job.op;
  job.controller = this;
  job.data_ready = 0;
  job.memory_open = false;
  job.data_wanted = false;
  job.flash_done = false;
  plan_senses(*op);
  if (counts_errors(*op)) place_errors(*op, take_errors());
  Route& route = routes_[index(op->die)];
  if (++route.pending == 1 && watcher_ != nullptr) watcher_->die_busy(op->die);
  if (op->command != FlashCommand::read) ++route.writing;
  ++outstanding_;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(when - kernel_now(event_queue_));
  route.socket->peer().nb_transport_fw(payload, phase, delay);  // channels take all
  return Reply::accepted();
}

tlm::tlm_sync_enum FlashController::backward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  FlashJob& job = *flash_extension_of(payload);
  if (phase == tlm::BEGIN_RESP) {
    flash_done(job);
    return tlm::TLM_COMPLETED;
  }
  if (phase != data_phase) return tlm::TLM_ACCEPTED;
  move_data(job);
  if (job.memory_open) {
    job.data_wanted = job.op->command == FlashCommand::program;
    phase = data_wait;
  } else if (job.data_ready > event_queue_.now()) {
    delay += to_sc_time(job.data_ready - event_queue_.now());
  }
  return tlm::TLM_UPDATED;
}

void FlashController::blocking(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                               sc_core::sc_time& delay) {
  FlashOp* op = op_of(payload);
  if (op == nullptr || index(op->die) >= routes_.size()) {
    payload.set_response_status(op == nullptr ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                              : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  plan_senses(*op);
  if (counts_errors(*op)) place_errors(*op, take_errors());
  (*routes_[index(op->die)].socket)->b_transport(payload, delay);
  if (op->code == EccCode::none || op->command != FlashCommand::read) return;
  const EccEngines::Slot slot = pass_decoders(*op, arrival(event_queue_, delay));
  give_errors(*op);
  delay = annotation(event_queue_) + to_sc_time(slot.end - event_queue_.now());
}

unsigned FlashController::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  FlashOp* op = op_of(payload);
  if (op == nullptr || index(op->die) >= routes_.size()) return 0;
  plan_senses(*op);
  if (counts_errors(*op)) place_errors(*op, take_errors());
  const unsigned done = (*routes_[index(op->die)].socket)->transport_dbg(payload);
  if (op->command == FlashCommand::read && op->code != EccCode::none) {
    for (FlashOp* link = op; link != nullptr; link = link->next_plane) decode(*link);
  }
  give_errors(*op);
  return done;
}

// --------------------------------------------------------------------------------------------------------- error correction

/// What the array must do so that the code asked for can be decoded.
void FlashController::plan_senses(FlashOp& op) const {
  op.sense_count = 0;
  if (op.command != FlashCommand::read) return;
  op.senses = 1;
  op.word_line = false;
  for (FlashOp* link = &op; link != nullptr; link = link->next_plane) link->errors = nullptr;
  if (op.code == EccCode::none) return;
  const CodeConfig& code = setup_.ecc.of(op.code);
  op.word_line = code.word_line;
  std::uint32_t pages = 1;
  if (code.word_line) {
    // In SLC mode a page is a word line.
    const std::uint32_t bits = op.mode == BlockMode::slc ? 1 : setup_.part.bits();
    const std::uint32_t first = index(op.page) / bits * bits;
    pages = std::min(bits, setup_.geometry.pages - first);
  }
  op.senses = static_cast<std::uint8_t>(pages + code.extra_senses);
}

/// Where the die says how many bits of each frame were wrong.
void FlashController::place_errors(FlashOp& op, std::uint32_t* errors) const {
  for (FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    link->errors = errors;
    errors += std::size_t{link->slots} * frames_per_unit_;
  }
}

std::uint32_t* FlashController::take_errors() {
  if (free_errors_.empty()) {
    const std::size_t frames = std::size_t{setup_.geometry.planes} * setup_.geometry.page_bytes /
                               static_cast<std::size_t>(setup_.unit_bytes) * frames_per_unit_;
    errors_.push_back(std::make_unique<std::uint32_t[]>(frames));
    free_errors_.push_back(errors_.back().get());
  }
  std::uint32_t* const errors = free_errors_.back();
  free_errors_.pop_back();
  return errors;
}

void FlashController::give_errors(FlashOp& op) {
  if (op.command != FlashCommand::read || op.errors == nullptr) return;
  free_errors_.push_back(op.errors);
  for (FlashOp* link = &op; link != nullptr; link = link->next_plane) link->errors = nullptr;
}

/// Slots of a read that are in the same plane as `slot`, from that one on.
std::uint32_t FlashController::slots_of_plane(const FlashOp& op, std::uint32_t slot) const {
  const auto per_plane = static_cast<std::uint32_t>(setup_.geometry.page_bytes / setup_.unit_bytes);
  return std::min(op.slots - slot, per_plane - (op.first_slot + slot) % per_plane);
}

void FlashController::decode(FlashOp& op) {
  const std::uint32_t bits = op.mode == BlockMode::slc ? 1 : setup_.part.bits();
  const PageRead page{bits, index(op.page) % bits, op.error_rate, op.mode == BlockMode::slc};
  const bool by_default = !op.again && op.retry_level == 0;
  op.worst_errors = op.wrong_bits = op.failed_frames = 0;
  ReadVerdict unasked;
  ReadVerdict& told = op.verdict == nullptr ? unasked : *op.verdict;
  told.failed_slots.clear();
  told.planes.clear();
  for (std::uint32_t slot = 0; slot < op.slots;) {
    const std::uint32_t slots = slots_of_plane(op, slot);
    const std::uint32_t frames = slots * frames_per_unit_;
    const auto errors = op.errors == nullptr ? std::span<std::uint32_t>()
                                             : std::span(op.errors + slot * frames_per_unit_, frames);
    const EccEngines::FailedSlots failed{told.failed_slots, slot, frames_per_unit_};
    const PlaneVerdict verdict = ecc_.decode(op.code, page, frames, errors, by_default, &failed);
    told.planes.push_back(verdict);
    op.worst_errors = std::max(op.worst_errors, verdict.worst);
    op.wrong_bits += verdict.wrong;
    op.failed_frames += verdict.failed;
    slot += slots;
  }
  if (op.failed_frames == 0) return;
  op.status = FlashStatus::uncorrectable;
  // What could not be decoded is not what was written: any use of it will be found out.
  for (std::uint32_t slot = 0; slot < op.slots; ++slot) {
    if (!told.failed_slots.has(slot)) continue;
    Stamp* const stamps = op.stamps + std::size_t{slot} * setup_.stamps_per_unit;
    for (std::uint32_t i = 0; i < setup_.stamps_per_unit; ++i) stamps[i] = static_cast<Stamp>(~stamps[i]);
  }
}

// ------------------------------------------------------------------------------------------------------------------ memory

void FlashController::move_data(FlashJob& job) {
  const FlashOp& op = *job.op;
  const bool to_memory = op.command == FlashCommand::read;
  const Bytes page_row = Bytes{op.planes} * setup_.geometry.page_bytes;
  const Bytes bytes = to_memory ? op.all_slots() * setup_.unit_bytes : page_row * job.pages_now;
  ++memory_transfers_;
  memory_bytes_ += bytes;
  const Picoseconds end = memory_.access(op.buffer_address + (to_memory ? 0 : page_row * job.pages_done),
                                         bytes, to_memory, &FlashController::moved_late, &job);
  job.memory_open = end == k_never;
  if (!job.memory_open) job.data_ready = std::max(job.data_ready, end);
}

/// A memory that answers late has come to the end of a transfer.
void FlashController::data_there(FlashJob& job) {
  job.memory_open = false;
  job.data_ready = std::max(job.data_ready, event_queue_.now());
  if (job.data_wanted) {
    job.data_wanted = false;
    tlm::tlm_phase phase = data_phase;
    sc_core::sc_time delay = annotation(event_queue_);
    routes_[index(job.op->die)].socket->peer().nb_transport_fw(*job.payload, phase, delay);
  } else if (job.flash_done) {
    flash_done(job);
  }
}

// -------------------------------------------------------------------------------------------------------------- completion

/// Takes what was read to decoders, what each plane delivered to one of its own; returns the time
/// of the last to be done.
EccEngines::Slot FlashController::pass_decoders(FlashOp& op, Picoseconds arrived) {
  if (op.senses > 1) ecc_.note_further_senses(std::uint64_t{op.senses - 1U} * op.all_planes(), op.again);
  EccEngines::Slot last{-1, -1};
  for (FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    decode(*link);
    for (std::uint32_t slot = 0; slot < link->slots;) {
      const std::uint32_t slots = slots_of_plane(*link, slot);
      const EccEngines::Slot taken = ecc_.reserve(op.code, slots * frames_per_unit_, arrived);
      if (taken.end > last.end) last = taken;
      slot += slots;
    }
  }
  return last;
}

/// Returns when all of what was read has been decoded.
Picoseconds FlashController::decoded(FlashOp& op) {
  const EccEngines::Slot slot = pass_decoders(op, event_queue_.now());
  if (op.ledger != nullptr) {
    if (slot.start > op.ledger->mark()) op.ledger->charge(Cause::decoder_wait, slot.start);
    op.ledger->charge(Cause::decode, slot.end);
  }
  return slot.end;
}

/// The channel is done with the operation; memory and decoder may not be.
void FlashController::flash_done(FlashJob& job) {
  if (!job.flash_done) {
    job.flash_end = job.op->code == EccCode::none ? event_queue_.now() : decoded(*job.op);
    job.data_ready = std::max(job.data_ready, job.flash_end);
  }
  job.flash_done = true;
  if (job.memory_open) return;
  const Picoseconds now = event_queue_.now();
  const Picoseconds end = std::max(job.data_ready, now);
  memory_late_ += end - job.flash_end;
  if (job.op->ledger != nullptr && end > job.op->ledger->mark()) job.op->ledger->charge(Cause::memory, end);
  if (end > now) {
    event_queue_.at(end, &FlashController::respond_due, &job);
  } else {
    cpu_tsock.respond(job);
  }
}

Picoseconds FlashController::responding(FlashJob& job) {
  Route& route = routes_[index(job.op->die)];
  if (--route.pending == 0 && watcher_ != nullptr) watcher_->die_idle(job.op->die);
  if (job.op->command != FlashCommand::read) --route.writing;
  --outstanding_;
  give_errors(*job.op);
  return event_queue_.now();
}

// -------------------------------------------------------------------------------------------------------------- statistics

void FlashController::report(StatisticsSink& sink) const {
  sink.value("outstanding", outstanding_, "", "operations queued or running at the end");
  sink.value("memory_transfers", memory_transfers_, "", "DMA transfers between channels and DRAM");
  sink.value("memory_bytes", memory_bytes_, "B", "moved by these");
  sink.value("memory_late", static_cast<double>(memory_late_) * 1e-6, "us",
             "time for which operations waited for DRAM after channel and decoder were done");
  sink.open("decoders", "what was read with a code");
  ecc_.report(sink, event_queue_.now());
  sink.close();
}

void FlashController::reset_statistics() {
  memory_transfers_ = 0;
  memory_bytes_ = 0;
  memory_late_ = 0;
  ecc_.reset_statistics(event_queue_.now());
}

}  // namespace tlmssd
