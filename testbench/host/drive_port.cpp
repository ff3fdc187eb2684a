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
  Stamp* const data = command.data.empty() ? &command.no_data : command.data.data();
  command.payload = &payloads_.take(kind, command.lba * lba_bytes_, data,
                                    std::max<std::size_t>(command.data.size(), 1) * sizeof(Stamp));
  command.payload->extension.command = &command;
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
  queue.waiting.push(command);
  pump(queue);
}

/// Passes on what the drive's queue has room for.
void DrivePort::pump(Queue& queue) {
  while (!queue.waiting.empty() && queue.outstanding < queue_depth_) {
    ++queue.outstanding;
    socket.send(*queue.waiting.pop().payload);
  }
}

void DrivePort::responded(unsigned /*index*/, tlm::tlm_generic_payload& payload, Picoseconds when) {
  event_queue_.at(
      when, [](void* self) { static_cast<Command*>(self)->port->complete(*static_cast<Command*>(self)); },
      static_cast<Command*>(static_cast<Payloads::Payload&>(payload).extension.command));
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
