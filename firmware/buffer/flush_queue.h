// Programs of the write buffer that are under way, in the order of dispatch, and who waits until
// what has been accepted so far is on flash.
#pragma once

#include <coroutine>
#include <cstdint>

#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Flusher;

/// Waits until everything accepted so far is on flash, or only what the host wrote past the cache.
class Flushed {
 public:
  explicit Flushed(Flusher& flusher, bool from_host_only = false);
  Flushed(const Flushed&) = delete;
  [[nodiscard]] bool await_ready();
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
  void await_resume() const noexcept {}
  [[nodiscard]] bool failed() const { return failed_; }
  /// What the program that ended last was waiting for (for the ledger); empty when nothing had to
  /// be waited for.
  [[nodiscard]] const Ledger& last() const { return last_; }

  Flushed* next = nullptr;  ///< in the queue of those who wait

 private:
  friend class FlushQueue;
  Flusher& flusher_;
  bool from_host_only_;
  std::uint64_t target_;  ///< sequence number of the last entry that is waited for
  std::uint64_t job_ = 0;
  bool dispatched_ = false;
  bool ready_ = false;
  bool failed_ = false;
  Ledger last_;
  std::coroutine_handle<> waiter_{};
};

class FlushQueue {
 public:
  FlushQueue(Core& core, const WriteBuffer& buffer) : core_(core), buffer_(buffer) {}

  /// The job says whether nothing of it came from the host past a cache.
  void dispatched(ProgramJob& job) {
    job.number = ++dispatched_;
    line_of(job).push(job);
  }
  void ended(ProgramJob& job) { line_of(job).erase(job); }
  /// No program is under way.
  [[nodiscard]] bool empty() const { return jobs_.empty() && evictions_.empty(); }
  [[nodiscard]] std::uint64_t jobs() const { return jobs_.size() + evictions_.size(); }
  /// So many programs have come and gone.
  void pass(std::uint64_t jobs) { dispatched_ += jobs; }

  void wait(Flushed& flush) { flushes_.push(flush); }
  /// Resumes those for whom everything has been written. `last`: what the program that has just
  /// ended was waiting for; null: none has.
  void check(const Ledger* last) {
    if (!flushes_.empty()) check_all(last);
  }

  void archive(Archive& a) { a(dispatched_); }

 private:
  using Jobs = IntrusiveQueue<ProgramJob>;
  void check_all(const Ledger* last);
  [[nodiscard]] Jobs& line_of(const ProgramJob& job) { return job.evicted ? evictions_ : jobs_; }
  /// Some of these that were dispatched up to number `last`.
  [[nodiscard]] static bool under_way(const Jobs& jobs, std::uint64_t last) {
    return !jobs.empty() && jobs.front()->number <= last;
  }

  Core& core_;
  const WriteBuffer& buffer_;
  IntrusiveQueue<Flushed> flushes_;
  Jobs jobs_;
  Jobs evictions_;  ///< those of which nothing came from the host past a cache
  std::uint64_t dispatched_ = 0;
};

}  // namespace tlmssd::firmware
