// How software of the host takes the host's commands in front of a drive: a target socket, the list of commands under way and the answers.
//
// Phases as HostInterface has them, except that END_REQ comes at once. Payloads need a HostExtension. Untimed, a command has ended when
// its owner's start() returns.
#pragma once

#include <systemc>
#include <tlm>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/agenda.h"
#include "models/common/transport.h"

namespace tlmssd {

class HostPort {
 public:
  /// A command of the host, in the list of those under way. Owners keep more of it in a class derived from this.
  struct Entry {
    virtual ~Entry() = default;
    HostPort* port = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    HostCommand* command = nullptr;
    const char* waits_for = "";  ///< for the report of a stall
    Entry* previous = nullptr;   ///< earlier, still under way
    Entry* next = nullptr;
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

  HostPort(const char* name, Agenda& agenda, Owner& owner);

  TargetSocket<HostPort> socket;

  /// The command is answered, with the status that it has now, and gone afterwards.
  void end(Entry& entry);
  [[nodiscard]] std::uint32_t active() const { return active_; }
  /// The oldest command under way; null: none is.
  [[nodiscard]] Entry* first() const { return first_; }
  /// Appends what commands wait for, a line each, of the oldest.
  void describe(std::string& text) const;

  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  Entry& take(tlm::tlm_generic_payload& payload, HostCommand& command);
  void respond_waiting();
  void respond(Entry& entry);
  void consumed(Entry& entry);

  Agenda& agenda_;
  Owner& owner_;
  bool timed_ = true;
  std::vector<std::unique_ptr<Entry>> entries_;
  Entry* free_ = nullptr;
  Entry* first_ = nullptr;  ///< under way, in the order in which they came
  Entry* last_ = nullptr;
  std::uint32_t active_ = 0;
  std::deque<Entry*> responses_;  ///< BEGIN_RESP to be sent
  Entry* responding_ = nullptr;   ///< BEGIN_RESP sent, END_RESP outstanding
};

}  // namespace tlmssd
