#include "models/cpu/controller_cpu.h"

#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/common/kernel_time.h"
#include "models/common/stalled.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

[[noreturn]] void refuse(const FlashOp& op, const std::string& why) {
  throw std::logic_error(fmt::format("flash operation on die {} refused: {}", index(op.die), why));
}

}  // namespace

ControllerCpu::ControllerCpu(const sc_core::sc_module_name& name, const CpuConfig& config, Agenda& agenda,
                             std::uint32_t stamps_per_unit)
    : sc_core::sc_module(name),
      mailbox_tsock("mailbox_tsock", *this),
      flash_isock("flash_isock", *this),
      memory_("memory_isock", agenda),
      memory_isock(memory_.socket),
      agenda_(agenda),
      cores_(config),
      stamps_per_unit_(stamps_per_unit) {}

// --------------------------------------------------------------------------------------------------------------------- mailbox

ControllerCpu::Mail& ControllerCpu::take_mail(Payload& payload) {
  if (free_mail_ == nullptr) {
    mails_.push_back(std::make_unique<Mail>());
    free_mail_ = mails_.back().get();
  }
  Mail& mail = *free_mail_;
  free_mail_ = mail.next;
  const auto* extension = payload.get_extension<HostExtension>();
  mail = {};
  mail.cpu = this;
  mail.payload = &payload;
  mail.command = extension == nullptr ? nullptr : extension->command;
  ++commands_;
  return mail;
}

void ControllerCpu::free_mail(Mail& mail) {
  mail.next = std::exchange(free_mail_, &mail);
  --commands_;
}

void ControllerCpu::open(Mail& mail) {
  mail.owner = std::exchange(mail.command->owner, &mail);
  handler_(handler_self_, *mail.command);
}

tlm::tlm_sync_enum ControllerCpu::forward(unsigned /*index*/, Payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    responding_ = false;
    if (answers_first_ != nullptr) ask_responses();
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const Picoseconds arrived = arrival(agenda_, delay);
  Mail& mail = take_mail(payload);
  if (mail.command == nullptr || handler_ == nullptr) {
    free_mail(mail);
    payload.set_response_status(
        tlm::TLM_COMMAND_ERROR_RESPONSE);  // the mailbox takes commands, not memory accesses
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  if (arrived > agenda_.now()) {
    agenda_.at(
        arrived,
        [](void* self) {
          auto& late = *static_cast<Mail*>(self);
          late.cpu->open(late);
        },
        &mail);
  } else {
    ++in_forward_;
    open(mail);
    --in_forward_;
  }
  phase = tlm::END_REQ;  // the mailbox is as deep as the host interface has commands
  return tlm::TLM_UPDATED;
}

void ControllerCpu::complete(HostCommand& command) {
  auto& mail = *static_cast<Mail*>(command.owner);
  command.owner = mail.owner;
  if (mail.untimed) {
    mail.done = true;
    return;
  }
  if (in_forward_ == 0 && !responding_ && answers_first_ == nullptr) {
    respond(mail);
    return;
  }
  // Within a call of the forward path, or while the host interface has not ended a response: later.
  mail.next = nullptr;
  (answers_last_ == nullptr ? answers_first_ : answers_last_->next) = &mail;
  answers_last_ = &mail;
  if (!responding_) ask_responses();
}

void ControllerCpu::ask_responses() {
  if (answering_) return;
  answering_ = true;
  agenda_.soon([](void* self) { static_cast<ControllerCpu*>(self)->send_responses(); }, this);
}

void ControllerCpu::send_responses() {
  answering_ = false;
  while (!responding_ && answers_first_ != nullptr) {
    Mail& mail = *answers_first_;
    answers_first_ = mail.next;
    if (answers_first_ == nullptr) answers_last_ = nullptr;
    respond(mail);
  }
}

void ControllerCpu::respond(Mail& mail) {
  Payload& payload = *mail.payload;
  const bool success = mail.command->status == HostStatus::success;
  payload.set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  free_mail(mail);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = annotation(agenda_);
  responding_ = true;
  if (mailbox_tsock->nb_transport_bw(payload, phase, delay) != tlm::TLM_ACCEPTED) responding_ = false;
  payload.release();
}

unsigned ControllerCpu::debug(unsigned /*index*/, Payload& payload) {
  Mail& mail = take_mail(payload);
  if (mail.command == nullptr || handler_ == nullptr || mode_ != Mode::untimed) {
    free_mail(mail);
    return 0;
  }
  mail.untimed = true;
  begin_untimed();
  HostCommand& command = *mail.command;
  open(mail);
  if (!mail.done) throw std::logic_error("firmware did not complete a command at once in untimed mode");
  free_mail(mail);
  return command.status == HostStatus::success ? payload.get_data_length() : 0;
}

void ControllerCpu::blocking(unsigned index, Payload& payload, sc_core::sc_time& /*delay*/) {
  if (mode_ != Mode::untimed) {
    payload.set_response_status(
        tlm::TLM_COMMAND_ERROR_RESPONSE);  // would need wait(): use the non-blocking interface
    return;
  }
  const bool success = debug(index, payload) == payload.get_data_length();
  payload.set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

// ----------------------------------------------------------------------------------------------------------------------- flash

ControllerCpu::FlashPool::Payload& ControllerCpu::flash_payload(FlashOp& op) {
  FlashPool::Payload& payload = flash_pool_.take();
  static constexpr tlm::tlm_command k_commands[] = {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND,
                                                    tlm::TLM_IGNORE_COMMAND, tlm::TLM_READ_COMMAND};
  const bool data = op.command != FlashCommand::erase && op.stamps != nullptr && op.slots > 0;
  const unsigned length = data ? static_cast<unsigned>(op.slots * stamps_per_unit_ * sizeof(Stamp)) : 1;
  payload.set_command(k_commands[static_cast<std::size_t>(op.command)]);
  payload.set_address(index(op.die));  // where in the die the extension tells
  payload.set_data_ptr(data ? reinterpret_cast<unsigned char*>(op.stamps) : &nothing_);
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.extension.op = &op;
  return payload;
}

void ControllerCpu::submit(FlashOp& op) {
  ++flash_operations_;
  if (requesting_ == nullptr && waiting_first_ == nullptr) {
    issue(op);
    return;
  }
  op.next = nullptr;
  (waiting_last_ == nullptr ? waiting_first_ : waiting_last_->next) = &op;
  waiting_last_ = &op;
}

void ControllerCpu::issue(FlashOp& op) {
  FlashPool::Payload& payload = flash_payload(op);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(agenda_);
  requesting_ = &payload;
  const tlm::tlm_sync_enum status = flash_isock->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  requesting_ = nullptr;
  const Picoseconds when = kernel_now(agenda_) + to_picoseconds(delay);
  if (status == tlm::TLM_UPDATED) {
    if (phase == tlm::END_REQ) return;
    phase = tlm::END_RESP;  // BEGIN_RESP came with the return
    flash_isock->nb_transport_fw(payload, phase, delay);
  }
  flash_done(payload, when);
}

void ControllerCpu::issue_waiting() {
  issuing_ = false;
  while (requesting_ == nullptr && waiting_first_ != nullptr) {
    FlashOp& op = *waiting_first_;
    waiting_first_ = op.next;
    if (waiting_first_ == nullptr) waiting_last_ = nullptr;
    op.next = nullptr;
    issue(op);
  }
}

tlm::tlm_sync_enum ControllerCpu::backward(unsigned /*index*/, Payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  if (requesting_ == &payload) {  // END_REQ, or BEGIN_RESP that implies it
    requesting_ = nullptr;
    if (waiting_first_ != nullptr && !issuing_) {
      // A call of the backward path must not lead into one of the forward path.
      issuing_ = true;
      agenda_.soon([](void* self) { static_cast<ControllerCpu*>(self)->issue_waiting(); }, this);
    }
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  flash_done(payload, arrival(agenda_, delay));
  return tlm::TLM_COMPLETED;
}

void ControllerCpu::flash_done(Payload& payload, Picoseconds when) {
  FlashOp& op = *static_cast<FlashPool::Payload&>(payload).extension.op;
  if (!payload.is_response_ok() && op.status == FlashStatus::ok) {
    refuse(op, payload.get_response_string());
  }
  payload.release();
  --flash_operations_;
  agenda_.at(when, op.on_done, op.on_done_self);
}

void ControllerCpu::untimed_endless() {
  throw Stalled("untimed, where no time passes, the firmware has taken " + std::to_string(untimed_limit_) +
                " steps for one command and does not come to an end");
}

void ControllerCpu::execute(FlashOp& op) {
  spend_untimed();
  FlashPool::Payload& payload = flash_payload(op);
  const unsigned moved = flash_isock->transport_dbg(payload);
  payload.release();
  if (moved == 0 && op.status == FlashStatus::ok) {
    refuse(op, "debug transport moved nothing");
  }
}

void ControllerCpu::report(StatisticsSink& sink) const {
  sink.open("cpu", "controller cores");
  cores_.report(sink, agenda_.now());
  sink.close();
}

void ControllerCpu::reset_statistics() {
  cores_.reset_statistics(agenda_.now());
}

}  // namespace tlmssd
