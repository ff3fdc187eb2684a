// How a bus master of the drive (host interface, controller cores, flash controller) uses its
// memory socket.
//
// One access is one generic payload, unless what is bound grants accesses without (DirectAccess). A
// memory that knows its timing answers TLM_COMPLETED with the end annotated: access() then returns
// that instant and nothing else happens. Of a memory that answers later, `done` is called from the
// event queue.
#pragma once

#include "models/base/event_queue.h"
#include "models/base/sparse_array.h"
#include "models/tlm/ports.h"

namespace tlmssd {

/// Who waits for a memory access. Ignorable: memories never look at it.
struct MemoryExtension : tlm::tlm_extension<MemoryExtension> {
  EventQueue::Callback done = nullptr;
  void* self = nullptr;
  tlm::tlm_extension_base* clone() const override { return new MemoryExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const MemoryExtension&>(other);
  }
};

class MemoryClient {
  using Pool = PayloadPool<MemoryExtension>;

 public:
  using Port = RequestPort<MemoryClient, Pool::Payload>;
  static constexpr Bytes k_longest = Bytes{64} << 20U;
  /// `longest`: bytes that one access may have.
  MemoryClient(const char* socket_name, EventQueue& event_queue, Bytes longest = k_longest)
      : socket(socket_name, *this, event_queue), event_queue_(event_queue), scratch_(longest) {}

  Port socket;

  /// Reads or writes `bytes` at `address` of the system bus. Returns the instant the access ends,
  /// or k_never when the memory answers later: then `done(self)` is called at that instant. An
  /// error response throws std::logic_error: firmware or configuration addressed memory that is not
  /// there.
  Picoseconds access(std::uint64_t address, Bytes bytes, bool write, EventQueue::Callback done, void* self) {
    DirectAccess* const direct = socket.direct();
    if (direct != nullptr) {
      check(bytes);
      const Picoseconds end = direct->access(event_queue_.now(), address, bytes, write);
      if (end != k_never) return end;
    }
    return access_by_payload(address, bytes, write, done, self);
  }
  /// No time passes, nothing is counted; std::logic_error as above.
  void access_untimed(std::uint64_t address, Bytes bytes, bool write) {
    check(bytes);
    DirectAccess* const direct = socket.direct();
    if (direct == nullptr || !direct->access_untimed(address, bytes, write))
      access_by_debug(address, bytes, write);
  }
  /// Accesses that have not ended (late-answering memories only).
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }

  // For the port.
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds end);

 private:
  Picoseconds access_by_payload(std::uint64_t address, Bytes bytes, bool write, EventQueue::Callback done,
                                void* self);
  void access_by_debug(std::uint64_t address, Bytes bytes, bool write);
  void check(Bytes bytes) const {
    if (bytes - 1 >= scratch_.size()) refuse(bytes);
  }
  [[noreturn]] static void refuse(Bytes bytes);
  Pool::Payload& take(std::uint64_t address, Bytes bytes, bool write);
  void give(Pool::Payload& payload);
  static void check(const tlm::tlm_generic_payload& payload);

  EventQueue& event_queue_;
  Pool pool_;
  Pool::Payload* kept_ = nullptr;     // what a memory that answers at once has left here
  ZeroPages<unsigned char> scratch_;  // what data pointers point at: bytes have no meaning here
  std::uint32_t outstanding_ = 0;
};

}  // namespace tlmssd
