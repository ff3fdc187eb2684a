// The yardstick E: what one timed activation of the SystemC kernel costs, one SC_METHOD that
// notifies its own event again. Beside it, what an item of our own event queue costs when that same
// kernel drives it. Nothing of a drive is modelled here.
#include <systemc>

#include "models/base/event_queue.h"
#include "models/tlm/kernel_time.h"
#include "testbench/bench/bench.h"

namespace {

using namespace tlmssd;

constexpr std::int64_t k_batch = 100'000;  // activations per call of sc_start: its own cost vanishes

struct Ticker : sc_core::sc_module {
  SC_HAS_PROCESS(Ticker);
  explicit Ticker(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    SC_METHOD(tick);
    sensitive << again;
    dont_initialize();
  }
  void tick() {
    if (--left > 0) again.notify(sc_core::sc_time::from_value(1000));
  }
  sc_core::sc_event again{"again"};
  std::int64_t left = 0;
};

/// Chains of items on one event queue, each of which adds its successor a little later than its
/// neighbours.
struct Chain {
  static void step(void* self) {
    auto* chain = static_cast<Chain*>(self);
    if (--*chain->left <= 0) return;
    chain->event_queue->at(chain->event_queue->now() + chain->period, &Chain::step, self);
  }
  EventQueue* event_queue;
  std::int64_t* left;
  Picoseconds period;
};

constexpr std::uint64_t k_batches = 50;

bench::Result kernel_event() {
  Ticker ticker("ticker");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::uint64_t batches = bench::scaled(k_batches);
  const double cost = bench::timed([&] {
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      ticker.left = k_batch;
      ticker.again.notify(sc_core::sc_time::from_value(1000));
      sc_core::sc_start();
    }
  });
  return {cost, static_cast<double>(batches * k_batch), "activation"};
}

bench::Result queued_events(int chains) {
  EventQueue event_queue;
  EventQueueProcess process("event_queue", event_queue);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::int64_t left = 0;
  std::vector<Chain> all;
  for (int i = 0; i < chains; ++i) all.push_back({&event_queue, &left, 1'000 + 7 * i});
  const std::uint64_t batches = bench::scaled(k_batches);
  const double cost = bench::timed([&] {
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      left = k_batch;
      for (Chain& chain : all) event_queue.at(event_queue.now() + chain.period, &Chain::step, &chain);
      sc_core::sc_start();
    }
  });
  return {cost, static_cast<double>(batches * k_batch), "item"};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  return bench::run_cases(argc, argv,
                          {{"kernel_event", kernel_event},
                           {"event_queue_1", [] { return queued_events(1); }},
                           {"event_queue_64", [] { return queued_events(64); }}});
}
