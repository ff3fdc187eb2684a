// The yardstick E: what one timed activation of the SystemC kernel costs, one SC_METHOD that
// notifies its own event again. Beside it, what an item of our own event queue costs when that same
// kernel drives it. Nothing of a drive is modelled here.
#include <systemc>

#include <benchmark/benchmark.h>

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

/// Runs one Google Benchmark body and takes the time of one item from it.
class ItemReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      ns_per_item = run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations) / k_batch;
    }
  }
  double ns_per_item = 0;
};

double measure(const std::function<void(benchmark::State&)>& body) {
  benchmark::RegisterBenchmark("case", body)->MinTime(0.2);
  ItemReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.ns_per_item;
}

bench::Result kernel_event() {
  Ticker ticker("ticker");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const double cost = measure([&](benchmark::State& state) {
    for ([[maybe_unused]] auto batch : state) {
      ticker.left = k_batch;
      ticker.again.notify(sc_core::sc_time::from_value(1000));
      sc_core::sc_start();
    }
  });
  return {cost, "activation"};
}

bench::Result queued_events(int chains) {
  EventQueue event_queue;
  EventQueueProcess process("event_queue", event_queue);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::int64_t left = 0;
  std::vector<Chain> all;
  for (int i = 0; i < chains; ++i) all.push_back({&event_queue, &left, 1'000 + 7 * i});
  const double cost = measure([&](benchmark::State& state) {
    for ([[maybe_unused]] auto batch : state) {
      left = k_batch;
      for (Chain& chain : all) event_queue.at(event_queue.now() + chain.period, &Chain::step, &chain);
      sc_core::sc_start();
    }
  });
  return {cost, "item"};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  return bench::run_cases(argc, argv,
                          {{"kernel_event", kernel_event},
                           {"event_queue_1", [] { return queued_events(1); }},
                           {"event_queue_64", [] { return queued_events(64); }}});
}
