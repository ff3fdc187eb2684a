// How software of the host sends commands of its own to a drive: an initiator socket with the
// queues behind it.
//
// Commands of one queue reach the drive in the order in which they were sent. A queue holds as many
// as the drive's submission queue; those beyond wait here, which the ledger has as submission.
// Untimed, a command is complete when send() returns.
#pragma once

#include <systemc>
#include <tlm>

#include <vector>

#include "models/base/event_queue.h"
#include "models/base/intrusive_queue.h"
#include "models/tlm/ports.h"

namespace tlmssd {

/// A drive as software of the host in front of it sees it.
struct AttachedDrive {
  std::uint64_t blocks = 0;  ///< logical blocks
  std::uint32_t lba_bytes = 512;
  Bytes max_transfer = 0;
  std::uint32_t queues = 1;
  std::uint32_t queue_depth = 64;
  Bytes mapping_page = 4096;
};

class DrivePort : tlm::tlm_mm_interface {
 public:
  /// A command with its payload. Belongs to the caller; stays where it is until `on_done`.
  struct Command : HostTransaction {
    void (*on_done)(Command&) = nullptr;  ///< timed: from the event queue; untimed: before send() returns
    DrivePort* port = nullptr;
    Stamp no_data = k_zeros;  ///< what the payload of a command without data points at
  };

  DrivePort(const char* name, EventQueue& event_queue, std::uint32_t lba_bytes, std::uint32_t queues,
            std::uint32_t queue_depth);

  RequestPort<DrivePort, Command> socket;

  void set_timed(bool timed) { timed_ = timed; }
  /// Sends a command whose opcode, address, data, queue and ledger have been filled in.
  void send(Command& command);

  // For the socket.
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);

 private:
  struct Queue {
    IntrusiveQueue<Command> waiting;
    std::uint32_t outstanding = 0;
  };
  void fill(Command& command);
  void pump(Queue& queue);
  void complete(Command& command);
  void end(Command& command);
  void free(tlm::tlm_generic_payload* /*command*/) override {}  // the caller's

  EventQueue& event_queue_;
  std::uint32_t lba_bytes_;
  std::uint32_t queue_depth_;
  bool timed_ = true;
  std::vector<Queue> queues_;
};

}  // namespace tlmssd
