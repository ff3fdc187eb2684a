#include "testbench/host/host_port.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "models/tlm/kernel_time.h"

namespace tlmssd {

namespace {

HostCommand* command_of(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<HostExtension>();
}

}  // namespace

HostPort::HostPort(const char* name, EventQueue& event_queue, Owner& owner)
    : socket(name, *this, event_queue), event_queue_(event_queue), owner_(owner) {}

// ---- coming

HostPort::Entry& HostPort::take(tlm::tlm_generic_payload& payload, HostCommand& command) {
  Entry& entry = entries_.take([this] {
    std::unique_ptr<Entry> made = owner_.make_entry();
    made->port = this;
    return made;
  });
  entry.payload = &payload;
  entry.command = &command;
  entry.waits_for = "its turn";
  under_way_.push(entry);
  owner_.taken(entry);
  return entry;
}

Reply HostPort::request(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds when) {
  HostCommand* const command = command_of(payload);
  if (command == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return Reply::completed(when);
  }
  event_queue_.at(
      when,
      [](void* self) {
        auto& entry = *static_cast<Entry*>(self);
        entry.port->owner_.start(entry);
      },
      &take(payload, *command));
  return Reply::accepted();
}

unsigned HostPort::debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
  HostCommand* const command = command_of(payload);
  if (command == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return 0;
  }
  const auto wrong = [&](const char* what) {
    return std::logic_error(fmt::format("{}: {}", socket.name(), what));
  };
  if (!owner_.at_rest()) throw wrong("untimed command while timed ones are under way");
  timed_ = false;
  owner_.set_timed(false);
  owner_.start(take(payload, *command));
  timed_ = true;
  owner_.set_timed(true);
  if (!owner_.at_rest()) throw wrong("an untimed command did not end at once");
  const bool moves = command->opcode == HostOpcode::read || command->opcode == HostOpcode::write;
  return moves && command->status == HostStatus::success ? payload.get_data_length() : 0;
}

void HostPort::blocking(unsigned /*index*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

// ---- going

void HostPort::end(Entry& entry) {
  under_way_.erase(entry);
  if (timed_) {
    socket.respond(entry);
  } else {
    entries_.give(entry);
  }
}

Picoseconds HostPort::responding(Entry& entry) const {
  entry.payload->set_response_status(
      entry.command->status == HostStatus::success ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  return event_queue_.now();
}

void HostPort::describe(std::string& text) const {
  std::uint32_t named = 0;
  for (const Entry& e : under_way_) {
    if (named++ == 8) break;
    text += fmt::format("\n  {} of LBA {} ({} blocks) waits for {}", name_of(e.command->opcode),
                        e.command->lba, e.command->blocks, e.waits_for);
  }
}

}  // namespace tlmssd
