// From the write buffer to flash: which entries go out when, and in which program units.
//
// Each program unit is a coroutine: units that lack sectors are completed from flash, a place in
// the parallel unit is claimed (waiting for garbage collection if it must), the program runs, the
// map is updated. Where that is, is its destination's business (destination.h). A program unit
// takes entries of one line of the buffer only: where blocks differ in mode, of the first or the
// second; with placement handles, of the handle's. The lines take turns. A line with less than a
// program unit waits for more, unless a command waits for what it holds, or the whole buffer waits
// and no line has enough; then it takes padding.
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/buffer/buffer_space.h"
#include "firmware/buffer/completions.h"
#include "firmware/buffer/destination.h"
#include "firmware/buffer/flush_queue.h"
#include "firmware/buffer/pu_turns.h"
#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Flusher {
 public:
  explicit Flusher(Core& core);
  /// Before anything is written.
  void send_to(std::unique_ptr<Destination> destination) { destination_ = std::move(destination); }

  // ---- its parts
  [[nodiscard]] Core& core() { return core_; }
  [[nodiscard]] WriteBuffer& buffer() { return buffer_; }
  [[nodiscard]] const WriteBuffer& buffer() const { return buffer_; }
  [[nodiscard]] BufferSpace& space() { return space_; }
  [[nodiscard]] Completions& completions() { return completions_; }
  [[nodiscard]] PuTurns& turns() { return turns_; }
  [[nodiscard]] const PuTurns& turns() const { return turns_; }
  [[nodiscard]] std::uint64_t jobs_in_flight() const { return queue_.jobs(); }
  /// Units of the smallest program it sends without padding.
  [[nodiscard]] std::uint32_t least() const { return least_; }

  /// Sends out whatever is due. Called after entries were added or made urgent.
  void pump();
  /// Pump, if there may be anything to do: cheap enough to be called after every write.
  void pump_if_due() {
    if (buffer_.waiting() >= least_ || buffer_.any_urgent()) pump();
  }
  /// Pumps although that is being done: untimed, in the midst of it, a program has ended and
  /// resumed a caller that waits anew, which nothing would serve later.
  void pump_within() {
    if (!pumping_) return;
    pumping_ = false;
    pump();
    pumping_ = true;
  }
  /// Sends out everything that waits now, even if it takes padding.
  void force() {
    force_ = buffer_.accepted();
    pump();
  }
  /// The caller waits until everything up to sequence number `target` is on flash.
  void wait(Flushed& flush, std::uint64_t target) {
    queue_.wait(flush);
    force_ = std::max(force_, target);
    pump();
  }

  /// Nothing has ever come in.
  [[nodiscard]] bool untouched() const { return buffer_.accepted() == 0; }
  /// So many units have come in and gone to flash as whole program units, those of a fill that was
  /// not written page by page: what counts them goes on.
  void pass(std::uint64_t units) {
    buffer_.pass(units);
    queue_.pass(units / core_.layout.program_units);
  }
  /// What flash holds at `where` is what `unit` holds, and nothing newer waits here.
  [[nodiscard]] bool current(Lpn unit, Ppn where) const {
    return core_.lookup(unit) == where && buffer_.find(unit) == WriteBuffer::k_none &&
           (core_.poisoned.empty() || !core_.poisoned.contains(unit));
  }
  /// Sectors of a unit are void (trim).
  void trim(Lpn unit, std::uint64_t sectors);
  /// Data of the units from `first` up to `end` are void (trim). Returns how many were here that
  /// the map does not know.
  std::uint64_t discard(std::uint64_t first, std::uint64_t end);

  [[nodiscard]] bool idle() const { return queue_.empty() && (buffer_.waiting() == 0 || core_.read_only); }
  [[nodiscard]] Picoseconds now() const { return core_.hw.event_queue.now(); }
  /// What waits in the buffer is gone, and what a read-only drive could not write out. No program
  /// may be under way.
  void power_lost();
  /// Nothing will be written any more: everyone who waits is told so.
  void now_read_only();
  void archive(Archive& archive);

 private:
  /// A command waits for what is in the buffer to reach flash.
  [[nodiscard]] bool awaited() const {
    return space_.awaited() || (completions_.evictions() != nullptr && completions_.evictions()->awaited());
  }
  [[nodiscard]] bool pressing(std::uint8_t line) const {
    return buffer_.any_urgent(line) || buffer_.oldest(line) <= force_;
  }
  /// A feature wants the next program to wait.
  bool held();
  /// Nothing in it came from the host past the cache.
  [[nodiscard]] bool all_evicted(const ProgramJob& job);
  bool send(std::uint8_t line, bool short_too);
  bool send_in_turn();
  [[nodiscard]] bool all_lines_short() const;
  [[nodiscard]] std::uint8_t longest_line() const;
  Task<> flush(ProgramJob& job);
  void fail(ProgramJob& job);
  void end(ProgramJob& job);
  bool discard(Lpn unit);

  Core& core_;
  WriteBuffer buffer_;
  BufferSpace space_;
  Completions completions_;
  PuTurns turns_;
  FlushQueue queue_;  ///< what is under way
  std::unique_ptr<Destination> destination_;
  TaskSet tasks_;
  std::uint32_t least_;      ///< entries that make the smallest program: in SLC mode, if there is one
  std::uint32_t threshold_;  ///< entries that may wait before anything is sent out
  std::uint64_t force_ = 0;  ///< entries up to this sequence number go out even if it takes padding
  bool pumping_ = false;
  std::uint8_t next_line_ = 0;  ///< whose turn it is to send out a program
};

}  // namespace tlmssd::firmware
