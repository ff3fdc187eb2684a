// How a bus master of the drive (host interface, controller cores, flash controller) uses its memory socket.
//
// One access is one generic payload. A memory that knows its timing answers TLM_COMPLETED with the end
// annotated: access() then returns that instant and nothing else happens. A memory that answers later
// (END_REQ, BEGIN_RESP) is served to the letter of the base protocol, requests queueing here meanwhile
// (request exclusion rule); then `done` is called from the agenda.
#pragma once

#include <deque>
#include <string>

#include "models/common/agenda.h"
#include "models/common/kernel_time.h"
#include "models/common/sparse_array.h"
#include "models/common/transport.h"

namespace tlmssd {

/// Who waits for a memory access. Ignorable: memories never look at it.
struct MemoryExtension : tlm::tlm_extension<MemoryExtension> {
  Agenda::Callback done = nullptr;
  void* self = nullptr;
  tlm::tlm_extension_base* clone() const override { return new MemoryExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const MemoryExtension&>(other);
  }
};

class MemoryClient {
 public:
  MemoryClient(const char* socket_name, Agenda& agenda) : socket(socket_name, *this), agenda_(agenda) {}

  InitiatorSocket<MemoryClient> socket;
  static constexpr Bytes k_longest = Bytes{64} << 20U;  ///< bytes that one access may have

  /// Reads or writes `bytes` at `address` of the system bus. Returns the instant the access ends, or k_never
  /// when the memory answers later: then `done(self)` is called at that instant. An error response throws
  /// std::logic_error: firmware or configuration addressed memory that is not there.
  Picoseconds access(std::uint64_t address, Bytes bytes, bool write, Agenda::Callback done, void* self);
  /// Debug transport: no time passes.
  void access_untimed(std::uint64_t address, Bytes bytes, bool write);
  /// Accesses that have not ended (late-answering memories only).
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

 private:
  using Pool = PayloadPool<MemoryExtension>;
  Pool::Payload& fill(std::uint64_t address, Bytes bytes, bool write);
  Picoseconds issue(Pool::Payload& payload);
  void issue_waiting();
  void finish(tlm::tlm_generic_payload& payload, Picoseconds end);
  static void check(const tlm::tlm_generic_payload& payload);

  Agenda& agenda_;
  Pool pool_;
  ZeroPages<unsigned char> scratch_{k_longest};  // what data pointers point at: bytes have no meaning here
  const tlm::tlm_generic_payload* requesting_ = nullptr;  // BEGIN_REQ sent, END_REQ outstanding
  bool issuing_ = false;                                  // issue_waiting() is on the agenda
  std::deque<Pool::Payload*> waiting_;
  std::uint32_t outstanding_ = 0;
};

}  // namespace tlmssd
