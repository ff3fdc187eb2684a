#include "testbench/drive_port.h"

#include <algorithm>

#include "models/common/kernel_time.h"

namespace tlmssd {

DrivePort::DrivePort(const char* name, Agenda& agenda, std::uint32_t lba_bytes, std::uint32_t queues,
                     std::uint32_t queue_depth)
    : socket(name, *this),
      agenda_(agenda),
      lba_bytes_(lba_bytes),
      queue_depth_(queue_depth),
      queues_(queues) {}

void DrivePort::fill(Command& command) {
  command.port = this;
  command.status = HostStatus::success;
  command.next = nullptr;
  command.payload = &payloads_.take();
  command.payload->extension.command = &command;
  tlm::tlm_generic_payload& payload = *command.payload;
  payload.set_command(command.opcode == HostOpcode::read    ? tlm::TLM_READ_COMMAND
                      : command.opcode == HostOpcode::write ? tlm::TLM_WRITE_COMMAND
                                                            : tlm::TLM_IGNORE_COMMAND);
  payload.set_address(command.lba * lba_bytes_);
  Stamp* const data = command.data.empty() ? &command.no_data : command.data.data();
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload.set_data_length(
      static_cast<unsigned>(std::max<std::size_t>(command.data.size(), 1) * sizeof(Stamp)));
  payload.set_streaming_width(payload.get_data_length());
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
}

void DrivePort::send(Command& command) {
  fill(command);
  if (!timed_) {
    socket->transport_dbg(*command.payload);
    command.payload->release();
    command.on_done(command);
    return;
  }
  Queue& queue = queues_[command.queue];
  (queue.first == nullptr ? queue.first : queue.last->next) = &command;
  queue.last = &command;
  pump(queue);
}

/// Passes on what may go now.
void DrivePort::pump(Queue& queue) {
  while (requesting_ == nullptr && queue.first != nullptr && queue.outstanding < queue_depth_) {
    Command& command = *queue.first;
    queue.first = command.next;
    ++queue.outstanding;
    pass(command);
  }
}

void DrivePort::pass(Command& command) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(agenda_);
  requesting_ = command.payload;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(*command.payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  requesting_ = nullptr;
  if (status == tlm::TLM_UPDATED && phase != tlm::BEGIN_RESP) return;
  phase = tlm::BEGIN_RESP;
  backward(0, *command.payload, phase, delay);
}

tlm::tlm_sync_enum DrivePort::backward(unsigned /*index*/, tlm::tlm_generic_payload& payload,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Picoseconds when = arrival(agenda_, delay);
  if (requesting_ == &payload) {  // END_REQ, or BEGIN_RESP that implies it
    requesting_ = nullptr;
    // The backward path must not call the forward path: from the agenda.
    agenda_.at(
        when,
        [](void* self) {
          auto& port = *static_cast<DrivePort*>(self);
          for (Queue& queue : port.queues_) port.pump(queue);
        },
        this);
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  auto& extension = static_cast<PayloadPool<HostExtension>::Payload&>(payload).extension;
  agenda_.at(
      when, [](void* self) { static_cast<Command*>(self)->port->complete(*static_cast<Command*>(self)); },
      static_cast<Command*>(extension.command));
  return tlm::TLM_COMPLETED;
}

void DrivePort::complete(Command& command) {
  Queue& queue = queues_[command.queue];
  --queue.outstanding;
  if (!command.payload->is_response_ok() && command.status == HostStatus::success)
    command.status = HostStatus::invalid_field;
  command.payload->release();
  pump(queue);
  command.on_done(command);
}

}  // namespace tlmssd
