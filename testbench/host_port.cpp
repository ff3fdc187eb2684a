#include "testbench/host_port.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "models/common/kernel_time.h"

namespace tlmssd {

namespace {

HostCommand* command_of(const tlm::tlm_generic_payload& payload) {
  const auto* extension = payload.get_extension<HostExtension>();
  return extension == nullptr ? nullptr : extension->command;
}

}  // namespace

HostPort::HostPort(const char* name, Agenda& agenda, Owner& owner)
    : socket(name, *this), agenda_(agenda), owner_(owner) {}

// ---- coming

HostPort::Entry& HostPort::take(tlm::tlm_generic_payload& payload, HostCommand& command) {
  if (free_ == nullptr) {
    entries_.push_back(owner_.make_entry());
    free_ = entries_.back().get();
    free_->port = this;
  }
  Entry& entry = *free_;
  free_ = entry.next;
  entry.payload = &payload;
  entry.command = &command;
  entry.waits_for = "its turn";
  entry.next = nullptr;
  entry.previous = last_;
  (last_ == nullptr ? first_ : last_->next) = &entry;
  last_ = &entry;
  ++active_;
  owner_.taken(entry);
  return entry;
}

tlm::tlm_sync_enum HostPort::forward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Picoseconds when = arrival(agenda_, delay);
  if (phase == tlm::END_RESP) {
    // The next answer must not be given from within this call.
    agenda_.at(
        when,
        [](void* self) {
          auto& port = *static_cast<HostPort*>(self);
          port.consumed(*std::exchange(port.responding_, nullptr));
          port.respond_waiting();
        },
        this);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  HostCommand* const command = command_of(payload);
  if (command == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  agenda_.at(
      when,
      [](void* self) {
        auto& entry = *static_cast<Entry*>(self);
        entry.port->owner_.start(entry);
      },
      &take(payload, *command));
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
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
  (entry.previous == nullptr ? first_ : entry.previous->next) = entry.next;
  (entry.next == nullptr ? last_ : entry.next->previous) = entry.previous;
  --active_;
  if (timed_) {
    responses_.push_back(&entry);
    respond_waiting();
  } else {
    entry.next = std::exchange(free_, &entry);
  }
}

void HostPort::respond_waiting() {
  while (responding_ == nullptr && !responses_.empty()) {
    Entry& entry = *responses_.front();
    responses_.pop_front();
    respond(entry);
  }
}

void HostPort::respond(Entry& entry) {
  tlm::tlm_generic_payload& payload = *entry.payload;
  payload.set_response_status(entry.command->status == HostStatus::success ? tlm::TLM_OK_RESPONSE
                                                                           : tlm::TLM_GENERIC_ERROR_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = annotation(agenda_);
  responding_ = &entry;
  if (socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED) return;
  responding_ = nullptr;
  consumed(entry);
}

void HostPort::consumed(Entry& entry) {
  entry.payload->release();
  entry.next = std::exchange(free_, &entry);
}

void HostPort::describe(std::string& text) const {
  std::uint32_t named = 0;
  for (const Entry* e = first_; e != nullptr && named < 8; e = e->next, ++named) {
    text += fmt::format("\n  {} of LBA {} ({} blocks) waits for {}", name_of(e->command->opcode),
                        e->command->lba, e->command->blocks, e->waits_for);
  }
}

}  // namespace tlmssd
