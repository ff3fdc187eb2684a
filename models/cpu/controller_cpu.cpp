#include "models/cpu/controller_cpu.h"

#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/base/stalled.h"
#include "models/tlm/kernel_time.h"

namespace tlmssd {

using Payload = tlm::tlm_generic_payload;

namespace {

[[noreturn]] void refuse(const FlashOp& op, const std::string& why) {
  throw std::logic_error(fmt::format("flash operation on die {} refused: {}", index(op.die), why));
}

}  // namespace

ControllerCpu::ControllerCpu(const sc_core::sc_module_name& name, const CpuConfig& config,
                             EventQueue& event_queue, std::uint32_t stamps_per_unit)
    : sc_core::sc_module(name),
      mailbox_tsock("mailbox_tsock", *this, event_queue),
      flash_isock("flash_isock", *this, event_queue),
      memory_("memory_isock", event_queue),
      memory_isock(memory_.socket),
      event_queue_(event_queue),
      cores_(config),
      stamps_per_unit_(stamps_per_unit) {}

// --------------------------------------------------------------------------------------------------------------------- mailbox

/// Null: the mailbox takes commands, not memory accesses.
ControllerCpu::MailboxEntry* ControllerCpu::take(Payload& payload) {
  auto* const entry = payload.get_extension<HostExtension>();
  if (entry == nullptr || handler_ == nullptr) return nullptr;
  entry->cpu = this;
  entry->payload = &payload;
  entry->untimed = false;
  ++commands_;
  return entry;
}

Reply ControllerCpu::request(unsigned /*index*/, Payload& payload, Picoseconds when) {
  MailboxEntry* const taken = take(payload);
  if (taken == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return Reply::completed(when);
  }
  MailboxEntry& entry = *taken;
  if (when > event_queue_.now()) {
    event_queue_.at(
        when,
        [](void* self) {
          auto& late = *static_cast<MailboxEntry*>(self);
          late.cpu->handler_(late.cpu->handler_self_, late);
        },
        &entry);
  } else {
    handler_(handler_self_, entry);
  }
  return Reply::accepted();  // the mailbox is as deep as the host interface has commands
}

void ControllerCpu::complete(HostCommand& command) {
  auto& entry = static_cast<MailboxEntry&>(command);  // none came without
  --commands_;
  if (entry.untimed) {
    entry.untimed = false;
  } else {
    mailbox_tsock.respond(entry);
  }
}

Picoseconds ControllerCpu::responding(MailboxEntry& entry) const {
  const bool success = entry.status == HostStatus::success;
  entry.payload->set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  return event_queue_.now();
}

unsigned ControllerCpu::debug(unsigned /*index*/, Payload& payload) {
  MailboxEntry* const taken = mode_ == Mode::untimed ? take(payload) : nullptr;
  if (taken == nullptr) return 0;
  MailboxEntry& entry = *taken;
  entry.untimed = true;
  begin_untimed();
  handler_(handler_self_, entry);
  if (entry.untimed) throw Stalled("firmware did not complete a command at once in untimed mode");
  return entry.status == HostStatus::success ? payload.get_data_length() : 0;
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

FlashPayload& ControllerCpu::flash_payload(FlashTransaction& op) {
  static constexpr tlm::tlm_command k_commands[] = {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND,
                                                    tlm::TLM_IGNORE_COMMAND, tlm::TLM_READ_COMMAND};
  const bool data = op.command != FlashCommand::erase && op.stamps != nullptr && op.slots > 0;
  auto& payload = op.carrier<FlashPayload>(&flash_payloads_);
  if (payload.get_ref_count() != 0) refuse(op, "it is still under way");
  payload.acquire();
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  // Where in the die, the extension tells.
  payload.fill(k_commands[static_cast<std::size_t>(op.command)], index(op.die),
               data ? static_cast<void*>(op.stamps) : &nothing_,
               data ? op.slots * stamps_per_unit_ * sizeof(Stamp) : 1);
  payload.extension.op = &op;
  payload.extension.payload = &payload;
  return payload;
}

void ControllerCpu::submit(FlashTransaction& op) {
  FlashPayload& payload = flash_payload(op);
  ++flash_operations_;
  flash_isock.send(payload.extension);
}

void ControllerCpu::responded(unsigned /*index*/, Payload& payload, Picoseconds when) {
  FlashOp& op = *static_cast<FlashPayload&>(payload).extension.op;
  if (!payload.is_response_ok() && op.status == FlashStatus::ok) {
    refuse(op, payload.get_response_string());
  }
  payload.release();
  --flash_operations_;
  event_queue_.at(when, op.on_done, op.on_done_self);
}

void ControllerCpu::untimed_endless() {
  throw Stalled("untimed, where no time passes, the firmware has taken " + std::to_string(untimed_limit_) +
                " steps for one command and does not come to an end");
}

void ControllerCpu::execute(FlashTransaction& op) {
  spend_untimed();
  FlashPayload& payload = flash_payload(op);
  const unsigned moved = flash_isock->transport_dbg(payload);
  payload.release();
  if (moved == 0 && op.status == FlashStatus::ok) {
    refuse(op, "debug transport moved nothing");
  }
}

void ControllerCpu::report(StatisticsSink& sink) const {
  sink.open("cpu", "controller cores");
  cores_.report(sink, event_queue_.now());
  sink.close();
}

void ControllerCpu::reset_statistics() {
  cores_.reset_statistics(event_queue_.now());
}

}  // namespace tlmssd
