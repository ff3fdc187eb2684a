#include "testbench/host/drive_port.h"

#include <algorithm>

#include "models/tlm/kernel_time.h"

namespace tlmssd {

DrivePort::DrivePort(const char* name, EventQueue& event_queue, std::uint32_t lba_bytes, std::uint32_t queues,
                     std::uint32_t queue_depth)
    : socket(name, *this, event_queue),
      event_queue_(event_queue),
      lba_bytes_(lba_bytes),
      queue_depth_(queue_depth),
      queues_(queues) {}

void DrivePort::fill(Command& command) {
  command.port = this;
  command.status = HostStatus::success;
  const tlm::tlm_command kind = command.opcode == HostOpcode::read    ? tlm::TLM_READ_COMMAND
                                : command.opcode == HostOpcode::write ? tlm::TLM_WRITE_COMMAND
                                                                      : tlm::TLM_IGNORE_COMMAND;
  const std::span<Stamp> data = command.data().empty() ? std::span(&command.no_data, 1) : command.data();
  command.fill(kind, command.lba * lba_bytes_, data.data(), data.size_bytes());
  command.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  command.set_mm(this);
  command.acquire();
}

void DrivePort::send(Command& command) {
  fill(command);
  if (!timed_) {
    command.set_response_status(tlm::TLM_OK_RESPONSE);  // debug transport need not say so
    socket->transport_dbg(command);
    end(command);
    return;
  }
  Queue& queue = queues_[command.queue];
  queue.waiting.push(command);
  pump(queue);
}

/// Passes on what the drive's queue has room for.
void DrivePort::pump(Queue& queue) {
  while (!queue.waiting.empty() && queue.outstanding < queue_depth_) {
    ++queue.outstanding;
    socket.send(queue.waiting.pop());
  }
}

void DrivePort::responded(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds when) {
  event_queue_.at(
      when, [](void* self) { static_cast<Command*>(self)->port->complete(*static_cast<Command*>(self)); },
      &static_cast<Command&>(payload));
}

void DrivePort::complete(Command& command) {
  Queue& queue = queues_[command.queue];
  --queue.outstanding;
  pump(queue);
  end(command);
}

void DrivePort::end(Command& command) {
  if (!command.is_response_ok() && command.status == HostStatus::success)
    command.status = HostStatus::invalid_field;
  command.release();
  command.on_done(command);
}

}  // namespace tlmssd
