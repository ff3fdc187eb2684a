// Coroutines: one request, one coroutine. Of the firmware, and of host software in front of a
// drive.
//
// A Task starts when it is awaited and resumes its awaiter when it ends (symmetric transfer, no
// recursion). A task that is not awaited is started with start(): it runs on its own and frees
// itself. Frames come from free lists by size, because a general allocator costs more than the work
// of a short request. Everything runs on one thread.
//
// GCC 12 miscompiles some non-trivial temporaries inside a co_await expression: name them.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory_resource>
#include <new>
#include <utility>

#include "models/base/intrusive_queue.h"

namespace tlmssd {

/// Free lists of coroutine frames in steps of 64 bytes up to 4 KiB.
class FramePool {
 public:
  static void* allocate(std::size_t size) {
    const std::size_t step = (size + k_step - 1) / k_step;
    if (step >= k_classes) return ::operator new(size);
    Lists& all = lists();
    Free*& head = all.heads[step];
    if (head == nullptr) return all.memory.allocate(step * k_step, k_step);
    Free* frame = head;
    head = frame->next;
    return frame;
  }
  static void release(void* frame, std::size_t size) noexcept {
    const std::size_t step = (size + k_step - 1) / k_step;
    if (step >= k_classes) {
      ::operator delete(frame);
      return;
    }
    Free*& head = lists().heads[step];
    head = new (frame) Free{head};
  }

 private:
  static constexpr std::size_t k_step = 64;
  static constexpr std::size_t k_classes = 65;
  struct Free {
    Free* next;
  };
  /// Frames, each in cache lines of its own, are kept until the thread ends.
  struct Lists {
    std::array<Free*, k_classes> heads{};
    std::pmr::monotonic_buffer_resource memory{std::size_t{64} << 10U};
  };
  static Lists& lists() {
    thread_local Lists lists;
    return lists;
  }
};

template <class T>
class Task;
class TaskSet;

namespace detail {

class PromiseBase {
 public:
  static void* operator new(std::size_t size) { return FramePool::allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { FramePool::release(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      PromiseBase& promise = ended.promise();
      if (promise.awaiter_) return promise.awaiter_;
      if (promise.detached_) {
        const std::exception_ptr error = promise.error_;
        promise.leave_set();
        ended.destroy();
        if (error) std::terminate();
      }
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() {
    // A detached task has no awaiter to tell: the exception leaves through the caller of resume().
    if (detached_ && !awaiter_) throw;
    error_ = std::current_exception();
  }

  std::coroutine_handle<> awaiter_;
  /// Takes the task out of the list of its TaskSet, if it is in one.
  void leave_set() noexcept {
    if (before_ == nullptr) return;
    *before_ = after_;
    if (after_ != nullptr) after_->before_ = before_;
    before_ = nullptr;
  }

  std::exception_ptr error_;
  PromiseBase** before_ = nullptr;  ///< what points at this one in the TaskSet's list
  PromiseBase* after_ = nullptr;
  bool detached_ = false;
};

template <class T>
class Promise : public PromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  void return_value(T value) { value_ = std::move(value); }
  T take() {
    if (error_) std::rethrow_exception(error_);
    return std::move(value_);
  }

 private:
  T value_{};
};

template <>
class Promise<void> : public PromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() const {
    if (error_) std::rethrow_exception(error_);
  }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().awaiter_ = awaiter;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

  /// Runs the task on its own; it frees itself at its end. An exception in it leaves through the
  /// caller that resumed it.
  void start() && {
    Handle handle = std::exchange(handle_, nullptr);
    handle.promise().detached_ = true;
    handle.resume();
  }

 private:
  friend class TaskSet;
  Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

/// Tasks that run on their own but do not outlive their owner: whatever is still waiting when the
/// set goes is thrown away.
class TaskSet {
 public:
  TaskSet() = default;
  TaskSet(const TaskSet&) = delete;
  ~TaskSet() {
    while (first_ != nullptr) {
      auto& promise = static_cast<Task<>::promise_type&>(*first_);
      promise.leave_set();
      Task<>::Handle::from_promise(promise).destroy();
    }
  }
  /// Runs `task` until it waits or ends. An exception in it leaves through the caller that resumed
  /// it.
  void start(Task<>&& task) {
    Task<>::Handle handle = std::exchange(task.handle_, nullptr);
    detail::PromiseBase& promise = handle.promise();
    promise.detached_ = true;
    promise.before_ = &first_;
    promise.after_ = first_;
    if (first_ != nullptr) first_->before_ = &promise.after_;
    first_ = &promise;
    handle.resume();
  }

 private:
  detail::PromiseBase* first_ = nullptr;
};

/// Many waiters for one condition, resumed in the order they came.
class WaitQueue {
 public:
  struct Waiter {
    WaitQueue& queue;
    std::coroutine_handle<> handle{};
    Waiter* next = nullptr;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept {
      handle = waiting;
      queue.waiters_.push(*this);
    }
    void await_resume() const noexcept {}
  };
  /// `co_await queue.wait()`: sleeps until it is this waiter's turn. The condition must be tested
  /// again afterwards.
  Waiter wait() { return Waiter{*this}; }
  [[nodiscard]] bool empty() const { return waiters_.empty(); }
  /// Takes the oldest waiter off the queue; the caller resumes it (or puts it on the event queue).
  std::coroutine_handle<> pop() { return waiters_.empty() ? nullptr : waiters_.pop().handle; }

 private:
  IntrusiveQueue<Waiter> waiters_;
};

}  // namespace tlmssd
