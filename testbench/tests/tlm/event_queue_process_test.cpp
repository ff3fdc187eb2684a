// The event queue under the SystemC kernel.
#include <systemc>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "models/tlm/kernel_time.h"

using namespace tlmssd;

namespace {

/// Re-posts itself at growing distances and notes both clocks.
struct Walker {
  EventQueue& event_queue;
  int left;
  std::vector<Picoseconds> event_times;
  std::vector<Picoseconds> kernel_times;
  void step() {
    event_times.push_back(event_queue.now());
    kernel_times.push_back(to_picoseconds(sc_core::sc_time_stamp()));
    if (--left > 0) event_queue.at(event_queue.now() + left * 7, &Walker::call, this);
  }
  static void call(void* self) { static_cast<Walker*>(self)->step(); }
};

}  // namespace

TEST_CASE("with quantum 0 the kernel's clock and the event queue's agree at every item") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  Walker walker{event_queue, 100, {}, {}};
  event_queue.at(5, &Walker::call, &walker);
  sc_core::sc_start();
  REQUIRE(walker.event_times.size() == 100);
  REQUIRE(walker.event_times == walker.kernel_times);
}

TEST_CASE("a quantum lets items run ahead in the same order, and annotations carry the difference") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  process.set_quantum(1000);
  Walker walker{event_queue, 100, {}, {}};
  event_queue.at(5, &Walker::call, &walker);
  sc_core::sc_start();
  REQUIRE(walker.event_times.size() == 100);
  Picoseconds expected = 5;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(walker.event_times[static_cast<std::size_t>(i)] == expected);
    REQUIRE(expected - walker.kernel_times[static_cast<std::size_t>(i)] <= 1000);
    expected += (99 - i) * 7;
  }
}

TEST_CASE("an exception in an item keeps its type across the kernel") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  event_queue.at(
      5, [](void*) { throw std::out_of_range("item"); }, nullptr);
  REQUIRE_THROWS_AS(process.simulate(), std::out_of_range);
}

TEST_CASE("an exception in an item leaves a host's own sc_start as a report, and rethrow with its type") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  event_queue.at(
      5, [](void*) { throw std::out_of_range("no such item"); }, nullptr);
  REQUIRE_THROWS_WITH(sc_core::sc_start(), Catch::Contains("no such item"));
  REQUIRE_THROWS_AS(process.rethrow(), std::out_of_range);
}

TEST_CASE("between resume and rethrow an exception is kept, so that a host's own sc_start comes back") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  event_queue.at(
      5, [](void*) { throw std::out_of_range("item"); }, nullptr);
  process.resume();
  sc_core::sc_start();
  REQUIRE_THROWS_AS(process.rethrow(), std::out_of_range);
}

TEST_CASE("an item added from outside wakes the process earlier than armed") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  Walker late{event_queue, 1, {}, {}};
  Walker early{event_queue, 1, {}, {}};
  event_queue.at(1000, &Walker::call, &late);
  sc_core::sc_start(10, sc_core::SC_PS);
  event_queue.at(20, &Walker::call, &early);
  sc_core::sc_start();
  REQUIRE(early.kernel_times == std::vector<Picoseconds>{20});
  REQUIRE(late.kernel_times == std::vector<Picoseconds>{1000});
}
