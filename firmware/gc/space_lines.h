// Program units of the host, and of what features add to these, that wait for space in a parallel
// unit, first come first served: a line for blocks in SLC mode, and one for the native blocks of
// each placement handle, because each needs room in an open block of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firmware/base/program_job.h"
#include "models/base/archive.h"
#include "models/base/event_queue.h"
#include "models/base/intrusive_queue.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

/// What an operation of collection was charged with, for those who waited for it.
class DoneByCollection {
 public:
  /// `ledger`: of the operation, from `start` to its end. Must outlive this.
  DoneByCollection(const Ledger& ledger, Picoseconds start);
  /// Charges the time up to the operation's end: what the operation spent behind the host's own
  /// reads and programs on its die counts as these, the rest as a wait for space.
  void charge(Ledger& waiting) const;

 private:
  void charge_behind(Ledger& waiting) const;

  const Ledger& ledger_;
  Picoseconds start_;
  Picoseconds reads_;     ///< behind the host's, on its die
  Picoseconds programs_;  ///< likewise
};

class SpaceLines {
 public:
  explicit SpaceLines(std::size_t handles) : lines_(k_slc + handles) {}

  // ---- a program unit waits
  struct Waiter {
    explicit Waiter(ProgramJob& of) : job(of) {}
    ProgramJob& job;
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
  };
  /// Others wait for what `job` needs.
  [[nodiscard]] bool must_queue(const ProgramJob& job) const { return lines_[line_of(job)].waiting > 0; }
  void begin(Waiter& waiter) {
    begin(waiter.job);
    waiters_.push(waiter);
  }
  void end(Waiter& waiter) {
    end(waiter.job);
    waiters_.erase(waiter);
  }
  /// The same of a program for which no command waits: nothing is charged to it.
  void begin(const ProgramJob& job) { ++line(job).waiting; }
  void end(const ProgramJob& job) { --line(job).waiting; }
  /// Someone waits, to whom collection's operations are charged.
  [[nodiscard]] bool awaited() const { return !waiters_.empty(); }
  /// Collection has carried out what `operation` was charged with since `start`.
  void charge(const Ledger& operation, Picoseconds start) {
    if (!awaited() || operation.mark() == start) return;
    const DoneByCollection done(operation, start);
    for (Waiter* one = waiters_.front(); one != nullptr; one = Waiters::after(*one))
      done.charge(one->job.ledger);
  }
  [[nodiscard]] WaitQueue& space(const ProgramJob& job) { return line(job).space; }
  void resumed(const ProgramJob& job) { line(job).waking = false; }

  // ---- what waits
  [[nodiscard]] std::uint32_t waiting() const {
    std::uint32_t waiting = 0;
    for (const Line& line : lines_) waiting += line.waiting;
    return waiting;
  }
  [[nodiscard]] bool slc_waits() const { return lines_[k_slc].waiting > 0; }
  [[nodiscard]] bool native_waits() const {
    return native_waits([](WriteTarget /*target*/) { return true; });
  }
  /// Something waits for native blocks of a target of which `f(target)` holds.
  template <class F>
  [[nodiscard]] bool native_waits(F&& f) const {
    for (std::size_t n = 0; n < lines_.size(); ++n) {
      if (n != k_slc && lines_[n].waiting > 0 && f(target_of(n))) return true;
    }
    return false;
  }

  /// Resumes the oldest of each line that is ready, one at a time: `slc_ready()`,
  /// `native_ready(target)`. With several lines, the one that was woken last comes last.
  template <class Slc, class Native>
  void wake(EventQueue& event_queue, Slc&& slc_ready, Native&& native_ready) {
    const std::size_t first = first_;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::size_t n = (first + i) % lines_.size();
      Line& line = lines_[n];
      if (line.waking || line.space.empty() || !(n == k_slc ? slc_ready() : native_ready(target_of(n))))
        continue;
      line.waking = true;
      event_queue.soon(line.space.pop());
      if (lines_.size() > 2) first_ = static_cast<std::uint32_t>((n + 1) % lines_.size());
    }
  }

  /// Of a drained drive, where none waits: whose turn it is.
  void archive(Archive& a) {
    a(first_);
    if (first_ >= lines_.size()) throw ArchiveError("snapshot is damaged: a line that there is not");
  }

 private:
  struct Line {
    std::uint32_t waiting = 0;
    bool waking = false;  ///< the oldest of them is about to resume
    WaitQueue space;
  };
  static constexpr std::size_t k_slc = 1;
  [[nodiscard]] static std::size_t line_of(const ProgramJob& job) {
    const std::size_t handle = handle_of(job.target);
    return job.mode == BlockMode::slc ? k_slc : handle == 0 ? 0 : handle + k_slc;
  }
  [[nodiscard]] static WriteTarget target_of(std::size_t line) {
    return host_target(static_cast<std::uint8_t>(line == 0 ? 0 : line - k_slc));
  }
  [[nodiscard]] Line& line(const ProgramJob& job) { return lines_[line_of(job)]; }

  using Waiters = IntrusiveQueue<Waiter>;
  Waiters waiters_;          ///< of all lines
  std::vector<Line> lines_;  ///< native, SLC, native of placement handles 1, 2, ...
  std::uint32_t first_ = 0;  ///< to be woken when there is room
};

}  // namespace tlmssd::firmware
