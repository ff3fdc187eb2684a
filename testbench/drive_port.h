// How software of the host sends commands of its own to a drive: an initiator socket with the queues behind it.
//
// Commands of one queue reach the drive in the order in which they were sent. A queue holds as many as the drive's
// submission queue; those beyond wait here, which the ledger has as submission. Untimed, a command is complete when send() returns.
#pragma once

#include <systemc>
#include <tlm>

#include <vector>

#include "models/common/agenda.h"
#include "models/common/transport.h"

namespace tlmssd {

/// A drive as software of the host in front of it sees it.
struct AttachedDrive {
  std::uint64_t blocks = 0;  ///< logical blocks
  std::uint32_t lba_bytes = 512;
  Bytes max_transfer = 0;
  std::uint32_t queues = 1;
  std::uint32_t queue_depth = 64;
  Bytes mapping_unit = 4096;
};

class DrivePort {
 public:
  /// A command and its payload. Belongs to the caller; stays where it is until `on_done`.
  struct Command : HostCommand {
    void (*on_done)(Command&) = nullptr;  ///< timed: from the agenda; untimed: before send() returns
    DrivePort* port = nullptr;
    PayloadPool<HostExtension>::Payload* payload = nullptr;
    Command* next = nullptr;
    Stamp no_data = k_zeros;  ///< what the payload of a command without data points at
  };

  DrivePort(const char* name, Agenda& agenda, std::uint32_t lba_bytes, std::uint32_t queues,
            std::uint32_t queue_depth);

  InitiatorSocket<DrivePort> socket;

  void set_timed(bool timed) { timed_ = timed; }
  /// Sends a command whose opcode, address, data, queue and ledger have been filled in.
  void send(Command& command);

  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

 private:
  struct Queue {
    Command* first = nullptr;  ///< waiting
    Command* last = nullptr;
    std::uint32_t outstanding = 0;
  };
  void fill(Command& command);
  void pump(Queue& queue);
  void pass(Command& command);
  void complete(Command& command);

  Agenda& agenda_;
  std::uint32_t lba_bytes_;
  std::uint32_t queue_depth_;
  bool timed_ = true;
  PayloadPool<HostExtension> payloads_;
  std::vector<Queue> queues_;
  const tlm::tlm_generic_payload* requesting_ =
      nullptr;  ///< BEGIN_REQ sent, END_REQ not yet received: no other may start
};

}  // namespace tlmssd
