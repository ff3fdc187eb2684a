// How software of the host takes the host's commands in front of a drive: a target socket, the list
// of commands under way and the answers.
//
// Phases as HostInterface has them, except that END_REQ comes at once. Payloads need a
// HostExtension. Untimed, a command has ended when its owner's start() returns.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <string>

#include "models/base/event_queue.h"
#include "models/base/intrusive_queue.h"
#include "models/base/slab.h"
#include "models/tlm/ports.h"

namespace tlmssd {

class HostPort {
 public:
  /// A command of the host, in the list of those under way. Owners keep more of it in a class
  /// derived from this.
  struct Entry {
    virtual ~Entry() = default;
    HostPort* port = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    HostCommand* command = nullptr;
    const char* waits_for = "";  ///< for the report of a stall
    Entry* next = nullptr;       ///< of those under way, or of those to be answered
    Entry* previous = nullptr;
  };
  /// The software behind the port.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual std::unique_ptr<Entry> make_entry() = 0;
    /// The command has come; it starts later, at the same instant or after it.
    virtual void taken(Entry& /*entry*/) {}
    /// Begins to carry the command out, which ends with end().
    virtual void start(Entry& entry) = 0;
    virtual void set_timed(bool timed) = 0;
    /// No command is under way, nor work that no command waits for.
    [[nodiscard]] virtual bool at_rest() const = 0;
  };

  HostPort(const char* name, EventQueue& event_queue, Owner& owner);

  ResponsePort<HostPort, Entry> socket;

  /// The command is answered, with the status that it has now, and gone afterwards.
  void end(Entry& entry);
  /// Commands that have come and not ended, oldest first.
  [[nodiscard]] const IntrusiveQueue<Entry>& under_way() const { return under_way_; }
  /// Appends what commands wait for, a line each, of the oldest.
  void describe(std::string& text) const;

  // For the socket.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  [[nodiscard]] Picoseconds responding(Entry& entry) const;
  void consumed(Entry& entry) { entries_.give(entry); }
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  Entry& take(tlm::tlm_generic_payload& payload, HostCommand& command);

  EventQueue& event_queue_;
  Owner& owner_;
  bool timed_ = true;
  Pool<Entry> entries_;
  IntrusiveQueue<Entry> under_way_;
};

}  // namespace tlmssd
