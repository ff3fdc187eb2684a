// What becomes of entries of the write buffer: their data have reached flash, or will not; those
// who wait for them are told.
#pragma once

#include <cstdint>

#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

/// Wants to know when lines evicted from a cache have reached flash.
class Evictions {
 public:
  virtual ~Evictions() = default;
  virtual void committed(Lpn unit, std::uint64_t eviction, bool failed) = 0;
  /// A program has ended: what waits in the buffer may have changed.
  virtual void pump() = 0;
  /// Whether a command waits for evicted lines to reach flash.
  [[nodiscard]] virtual bool awaited() const = 0;
};

class Completions {
 public:
  Completions(Core& core, WriteBuffer& buffer) : core_(core), buffer_(buffer) {}
  void attach(Evictions& evictions) { evictions_ = &evictions; }
  /// Null: nothing is evicted into the buffer.
  [[nodiscard]] Evictions* evictions() const { return evictions_; }

  /// The entry's data are on flash (`program`: the ledger of what took them there), or void, or
  /// lost.
  void complete(WriteBuffer::Index i, const Ledger* program, bool failed) {
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (entry.waiters != 0 || entry.eviction != 0) tell(i, program, failed);
  }
  /// The entry will not reach flash.
  void abort(WriteBuffer::Index i);
  /// The entry's data have reached flash: what becomes of damage that it carried.
  void note_damage(const WriteBuffer::Entry& entry) {
    if (entry.damaged) {
      core_.lose(entry.unit);
    } else if (!core_.poisoned.empty()) {
      core_.poisoned.erase(entry.unit);
    }
  }

 private:
  void tell(WriteBuffer::Index i, const Ledger* program, bool failed);

  Core& core_;
  WriteBuffer& buffer_;
  Evictions* evictions_ = nullptr;
};

}  // namespace tlmssd::firmware
