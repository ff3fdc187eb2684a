#include "models/flash/flash_controller.h"

#include <algorithm>
#include <string>

namespace tlmssd {

FlashController::FlashController(const sc_core::sc_module_name& name, Agenda& agenda, const FlashSetup& setup)
    : sc_core::sc_module(name),
      cpu_tsock("cpu_tsock", *this),
      memory_isock("memory_isock", *this, setup.geometry.channels),
      agenda_(agenda),
      setup_(setup),
      scratch_(std::size_t{setup.geometry.planes} * setup.part.pages_per_step() * setup.geometry.page_bytes),
      ecc_(setup.ecc, setup.seed),
      frames_per_unit_(static_cast<std::uint32_t>(setup.unit_bytes / setup.ecc.frame)) {
  for (std::uint32_t channel = 0; channel < setup.geometry.channels; ++channel) {
    channel_isock.emplace_back(("channel_isock_" + std::to_string(channel)).c_str(), *this, channel);
    for (std::uint32_t way = 0; way < setup.geometry.dies_per_channel(); ++way)
      routes_.push_back({&channel_isock.back(), 0, 0});
  }
}

// ----------------------------------------------------------------------------------------------------------------- sockets

tlm::tlm_sync_enum FlashController::forward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    response_ended();
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  FlashOp* op = op_of(payload);
  if (op == nullptr || index(op->die) >= routes_.size()) {
    payload.set_response_status(op == nullptr ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                              : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  FlashJob& job = FlashJob::of(payload);
  job.op = op;
  job.controller = this;
  job.memory_done = 0;
  job.memory_open = false;
  job.data_wanted = false;
  job.flash_done = false;
  job.decoded = 0;
  plan_senses(*op, job.errors);
  Route& route = routes_[index(op->die)];
  ++route.pending;
  if (op->command != FlashCommand::read) ++route.writing;
  ++outstanding_;
  return (*route.socket)->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum FlashController::backward(unsigned index, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (index == channel_isock.size()) return memory_backward(payload, phase, delay);
  FlashJob& job = *payload.get_extension<FlashJob>();
  if (phase == tlm::BEGIN_RESP) {
    flash_done(job);
    return tlm::TLM_COMPLETED;
  }
  if (phase != data_phase) return tlm::TLM_ACCEPTED;
  move_data(job);
  if (job.memory_open) {
    job.data_wanted = job.op->command == FlashCommand::program;
    phase = data_wait;
  } else {
    if (job.memory_done > agenda_.now()) delay += to_sc_time(job.memory_done - agenda_.now());
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
  plan_senses(*op, untimed_errors_);
  (*routes_[index(op->die)].socket)->b_transport(payload, delay);
  if (op->code == EccCode::none || op->command != FlashCommand::read) return;
  decode(*op);
  const EccEngines::Slot slot = ecc_.reserve(op->code, op->slots * frames_per_unit_, arrival(agenda_, delay));
  delay = annotation(agenda_) + to_sc_time(slot.end - agenda_.now());
}

unsigned FlashController::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  FlashOp* op = op_of(payload);
  if (op == nullptr || index(op->die) >= routes_.size()) return 0;
  plan_senses(*op, untimed_errors_);
  const unsigned done = (*routes_[index(op->die)].socket)->transport_dbg(payload);
  if (op->command == FlashCommand::read && op->code != EccCode::none) decode(*op);
  return done;
}

// --------------------------------------------------------------------------------------------------------- error correction

/// What the array must do so that the code asked for can be decoded.
void FlashController::plan_senses(FlashOp& op, std::vector<std::uint16_t>& errors) const {
  op.sensed = 0;
  if (op.command != FlashCommand::read) return;
  op.senses = 1;
  op.word_line = false;
  op.errors = nullptr;
  if (op.code == EccCode::none) return;
  const CodeConfig& code = setup_.ecc.of(op.code);
  op.word_line = code.word_line;
  op.senses = static_cast<std::uint8_t>(1 + code.extra_senses);
  if (code.word_line) {
    // In SLC mode a page is a word line.
    const std::uint32_t bits = op.mode == BlockMode::slc ? 1 : setup_.part.bits();
    const std::uint32_t first = index(op.page) / bits * bits;
    op.senses = static_cast<std::uint8_t>(std::min(bits, setup_.geometry.pages - first));
  }
  if (!setup_.errors) return;
  errors.resize(std::size_t{op.slots} * frames_per_unit_);
  op.errors = errors.data();
}

void FlashController::decode(FlashOp& op) {
  const std::uint32_t frames = op.slots * frames_per_unit_;
  const EccEngines::Verdict verdict = ecc_.decode(
      op.code, frames, op.errors != nullptr ? std::span(op.errors, frames) : std::span<std::uint16_t>(),
      frames_per_unit_);
  op.worst_errors = verdict.worst;
  op.wrong_bits = verdict.wrong;
  op.failed_frames = verdict.failed;
  op.failed_slots = verdict.failed_slots;
  if (verdict.failed == 0) return;
  op.status = FlashStatus::uncorrectable;
  // What could not be decoded is not what was written: whoever uses it all the same will be found out.
  for (std::uint32_t slot = 0; slot < op.slots; ++slot) {
    if ((op.failed_slots >> (slot % 64) & 1U) == 0) continue;
    Stamp* const stamps = op.stamps + std::size_t{slot} * setup_.stamps_per_unit;
    for (std::uint32_t i = 0; i < setup_.stamps_per_unit; ++i) stamps[i] = static_cast<Stamp>(~stamps[i]);
  }
}

// ------------------------------------------------------------------------------------------------------------------ memory

void FlashController::move_data(FlashJob& job) {
  const FlashOp& op = *job.op;
  const bool to_memory = op.command == FlashCommand::read;
  const Bytes page_row = Bytes{op.planes} * setup_.geometry.page_bytes;
  const Bytes bytes = to_memory ? op.slots * setup_.unit_bytes : page_row * job.pages_now;
  auto& payload = transfers_.take();
  payload.set_command(to_memory ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(op.buffer_address + (to_memory ? 0 : page_row * job.pages_done));
  payload.set_data_ptr(scratch_.data());
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.extension.job = &job;
  payload.extension.payload = &payload;
  payload.extension.next = nullptr;
  job.memory_open = true;
  ++memory_transfers_;
  memory_bytes_ += bytes;
  if (request_open_ == nullptr && first_waiting_ == nullptr) {
    send(payload.extension);
  } else {
    (first_waiting_ == nullptr ? first_waiting_ : last_waiting_->next) = &payload.extension;
    last_waiting_ = &payload.extension;
  }
}

void FlashController::send(DmaExtension& transfer) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(agenda_);
  request_open_ = &transfer;
  const tlm::tlm_sync_enum answer = memory_isock->nb_transport_fw(*transfer.payload, phase, delay);
  if (answer == tlm::TLM_ACCEPTED) return;
  if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    request_accepted();
    return;
  }
  request_accepted();
  const Picoseconds when = arrival(agenda_, delay);
  if (answer == tlm::TLM_UPDATED) {
    phase = tlm::END_RESP;
    memory_isock->nb_transport_fw(*transfer.payload, phase, delay);
  }
  memory_answered(transfer, when);
}

void FlashController::request_accepted() {
  request_open_ = nullptr;
  if (first_waiting_ != nullptr) agenda_.soon(&FlashController::send_due, this);
}

void FlashController::send_next() {
  if (request_open_ != nullptr || first_waiting_ == nullptr) return;
  DmaExtension& transfer = *first_waiting_;
  first_waiting_ = transfer.next;
  send(transfer);
}

tlm::tlm_sync_enum FlashController::memory_backward(tlm::tlm_generic_payload& payload,
                                                    const tlm::tlm_phase& phase,
                                                    const sc_core::sc_time& delay) {
  DmaExtension& transfer = *payload.get_extension<DmaExtension>();
  if (phase == tlm::END_REQ) request_accepted();
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (request_open_ == &transfer) request_accepted();
  memory_answered(transfer, arrival(agenda_, delay));
  return tlm::TLM_COMPLETED;
}

void FlashController::memory_answered(DmaExtension& transfer, Picoseconds when) {
  FlashJob& job = *transfer.job;
  if (transfer.payload->get_response_status() < tlm::TLM_INCOMPLETE_RESPONSE) {
    throw std::runtime_error("memory refused a transfer of the flash controller at address " +
                             std::to_string(transfer.payload->get_address()) + ": " +
                             transfer.payload->get_response_string());
  }
  transfer.payload->release();
  job.memory_open = false;
  job.memory_done = when;
  if (job.data_wanted) {
    job.data_wanted = false;
    agenda_.at(when, &FlashController::data_due, &job);
  } else if (job.flash_done) {
    flash_done(job);
  }
}

void FlashController::data_there(FlashJob& job) {
  tlm::tlm_phase phase = data_phase;
  sc_core::sc_time delay = annotation(agenda_);
  (*routes_[index(job.op->die)].socket)->nb_transport_fw(*job.payload, phase, delay);
}

// -------------------------------------------------------------------------------------------------------------- completion

/// Takes what was read to a decoder; returns when it is done.
Picoseconds FlashController::pass_decoder(FlashOp& op) {
  decode(op);
  const EccEngines::Slot slot = ecc_.reserve(op.code, op.slots * frames_per_unit_, agenda_.now());
  if (op.ledger != nullptr) {
    if (slot.start > op.ledger->mark()) op.ledger->charge(Cause::decoder_wait, slot.start);
    op.ledger->charge(Cause::decode, slot.end);
  }
  return slot.end;
}

/// The channel is done with the operation; memory and decoder may not be.
void FlashController::flash_done(FlashJob& job) {
  job.flash_done = true;
  if (job.decoded == 0) job.decoded = job.op->code == EccCode::none ? agenda_.now() : pass_decoder(*job.op);
  if (job.memory_open) return;
  const Picoseconds now = agenda_.now();
  const Picoseconds end = std::max({job.memory_done, job.decoded, now});
  if (job.op->ledger != nullptr && end > job.op->ledger->mark()) {
    memory_late_ += end - job.op->ledger->mark();
    job.op->ledger->charge(Cause::memory, end);
  }
  if (end > now) {
    agenda_.at(end, &FlashController::respond_due, &job);
  } else {
    respond(job);
  }
}

void FlashController::respond(FlashJob& job) {
  if (responding_ != nullptr || !responses_.empty()) {
    responses_.push(job);  // the processor has not ended the answer before this one
  } else {
    answer(job);
  }
}

void FlashController::answer(FlashJob& job) {
  Route& route = routes_[index(job.op->die)];
  --route.pending;
  if (job.op->command != FlashCommand::read) --route.writing;
  --outstanding_;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = annotation(agenda_);
  responding_ = &job;
  const tlm::tlm_sync_enum reply = cpu_tsock->nb_transport_bw(*job.payload, phase, delay);
  if (reply == tlm::TLM_COMPLETED || (reply == tlm::TLM_UPDATED && phase == tlm::END_RESP)) response_ended();
}

void FlashController::response_ended() {
  if (responding_ == nullptr) throw std::logic_error("END_RESP for a flash operation that has not answered");
  std::exchange(responding_, nullptr)->payload->release();
  if (!responses_.empty()) agenda_.soon(&FlashController::answer_next_due, this);
}

void FlashController::answer_next() {
  if (responding_ == nullptr && !responses_.empty()) answer(responses_.pop());
}

// -------------------------------------------------------------------------------------------------------------- statistics

void FlashController::report(StatisticsSink& sink) const {
  sink.value("outstanding", outstanding_, "", "operations queued or running at the end");
  sink.value("memory_transfers", memory_transfers_, "", "DMA transfers between channels and DRAM");
  sink.value("memory_bytes", memory_bytes_, "B", "moved by these");
  sink.value(
      "memory_late", static_cast<double>(memory_late_) * 1e-6, "us",
      "time for which operations waited for DRAM after the channel was done, of operations with a ledger");
  sink.open("decoders", "what was read with a code");
  ecc_.report(sink, agenda_.now() - measured_from_);
  sink.close();
}

void FlashController::reset_statistics() {
  memory_transfers_ = 0;
  memory_bytes_ = 0;
  memory_late_ = 0;
  measured_from_ = agenda_.now();
  ecc_.reset_statistics();
}

}  // namespace tlmssd
