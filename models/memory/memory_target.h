// What the drive's own memories have in common: a memory-mapped TLM-2.0 target of which every
// access ends at an instant that is known when it begins.
//
// nb_transport_fw(BEGIN_REQ) answers TLM_COMPLETED with the delay annotated up to the end;
// b_transport adds it to the delay and never waits. A payload outside the memory gets an address
// error, one with byte enables or a streaming width below its length the error that says so. What
// an access takes, and what it does to the memory, is the module's.
#pragma once

#include <systemc>
#include <tlm>

#include "models/base/booked.h"
#include "models/base/event_queue.h"
#include "models/memory/memory_counters.h"
#include "models/memory/memory_observer.h"
#include "models/tlm/transport.h"

namespace tlmssd {

class MemoryTarget : public sc_core::sc_module, public DirectAccess {
 public:
  TargetSocket<MemoryTarget> bus_tsock;

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  [[nodiscard]] const MemoryCounters& counters() const { return counters_; }
  void set_observer(MemoryObserver* observer) { observer_ = observer; }
  /// How fast the bus in front can bring and take data, if not faster than this memory: for what of
  /// its busy time lies within the time measured.
  void set_feed(BytesPerSecond feed) { feed_ = feed; }

  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);
  /// Itself, unless bytes are kept: those are in payloads.
  DirectAccess* direct(unsigned /*index*/) { return keeps_bytes() ? nullptr : this; }

 protected:
  MemoryTarget(const sc_core::sc_module_name& name, EventQueue& event_queue, std::uint64_t base,
               Bytes capacity);
  [[nodiscard]] bool holds(std::uint64_t address, Bytes bytes) const {
    return address >= base_ && bytes <= capacity_ && address - base_ <= capacity_ - bytes;
  }
  [[nodiscard]] Picoseconds now() const { return event_queue_.now(); }
  /// An access of so many bytes occupies the interface from `start` to `free`; it has waited for
  /// earlier ones.
  void count(Picoseconds waited, Picoseconds start, Picoseconds free, Bytes bytes, bool write) {
    counters_.count(bytes, write, free - start, waited);
    if (observer_ != nullptr) observer_->occupied(start, free, bytes, write);
  }
  [[nodiscard]] BytesPerSecond feed() const { return feed_; }
  void restart_counters(Picoseconds ahead) { counters_.restart(now(), ahead); }

 private:
  /// Whether there are real bytes; if so, move() moves those of a payload that lies within the
  /// memory.
  [[nodiscard]] virtual bool keeps_bytes() const { return false; }
  virtual void move(tlm::tlm_generic_payload& /*payload*/) {}
  /// Performs the access; returns its end and sets the response status.
  Picoseconds serve(tlm::tlm_generic_payload& payload, Picoseconds arrival);

  EventQueue& event_queue_;
  std::uint64_t base_;
  Bytes capacity_;
  MemoryCounters counters_;
  MemoryObserver* observer_ = nullptr;
  BytesPerSecond feed_ = k_no_limit;
};

}  // namespace tlmssd
