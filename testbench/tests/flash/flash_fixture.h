// A flash array with a memory and a small initiator that plays the processor's part; the event
// queue is run without the kernel.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/flash/flash_array.h"
#include "models/tlm/protocol_checker.h"
#include "testbench/tests/support/bind_checked.h"

namespace tlmssd::test {

/// A memory that answers at once with the end annotated (as Dram does), or later by BEGIN_RESP.
class TestMemory : public sc_core::sc_module {
 public:
  TestMemory(const sc_core::sc_module_name& name, EventQueue& event_queue, Picoseconds latency, bool late)
      : sc_core::sc_module(name),
        tsock("tsock", *this),
        event_queue_(event_queue),
        latency_(latency),
        late_(late) {}
  TargetSocket<TestMemory> tsock;
  std::uint64_t bytes = 0;
  std::uint64_t transfers = 0;

  tlm::tlm_sync_enum forward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    bytes += payload.get_data_length();
    ++transfers;
    const Picoseconds end = arrival(event_queue_, delay) + latency_;
    if (!late_) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      delay += to_sc_time(latency_);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    waiting_.push_back(&payload);
    event_queue_.at(
        end, [](void* self) { static_cast<TestMemory*>(self)->answer(); }, this);
    phase = tlm::END_REQ;
    return transfers % 2 == 0 ? tlm::TLM_UPDATED
                              : (phase = tlm::BEGIN_REQ, accept_later(), tlm::TLM_ACCEPTED);
  }
  void blocking(unsigned, tlm::tlm_generic_payload&, sc_core::sc_time&) {}
  unsigned debug(unsigned, tlm::tlm_generic_payload&) { return 0; }

 private:
  void accept_later() {
    accepting_.push_back(waiting_.back());
    event_queue_.soon([](void* self) { static_cast<TestMemory*>(self)->accept(); }, this);
  }
  void accept() {
    auto& payload = *accepting_.front();
    accepting_.pop_front();
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    tsock->nb_transport_bw(payload, phase, delay);
  }
  void answer() {
    auto& payload = *waiting_.front();
    waiting_.pop_front();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = annotation(event_queue_);
    REQUIRE(tsock->nb_transport_bw(payload, phase, delay) == tlm::TLM_COMPLETED);
    payload.release();
  }
  EventQueue& event_queue_;
  Picoseconds latency_;
  bool late_;
  std::deque<tlm::tlm_generic_payload*> waiting_;
  std::deque<tlm::tlm_generic_payload*> accepting_;
};

/// Sends flash operations and has on_done called through the event queue, as the controller's
/// processor does.
class TestCpu : public sc_core::sc_module {
 public:
  TestCpu(const sc_core::sc_module_name& name, EventQueue& event_queue)
      : sc_core::sc_module(name), flash_isock("flash_isock", *this), event_queue_(event_queue) {}
  InitiatorSocket<TestCpu> flash_isock;
  bool late_end = false;  ///< end answers by END_RESP a little later instead of at once

  void submit(FlashOp& op) {
    auto& payload = take(op);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    const auto answer = flash_isock->nb_transport_fw(payload, phase, delay);
    if (answer != tlm::TLM_UPDATED || phase != tlm::END_REQ)
      throw std::logic_error("flash controller did not accept");
  }
  void execute(FlashOp& op) {
    auto& payload = take(op);
    if (flash_isock->transport_dbg(payload) != payload.get_data_length())
      throw std::logic_error("debug transport failed");
    payload.release();
  }
  tlm::tlm_sync_enum backward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time&) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    FlashOp& op = *payload.get_extension<FlashExtension>()->op;
    if (op.on_done != nullptr) event_queue_.soon(op.on_done, op.on_done_self);
    if (late_end) {
      ending_ = &payload;
      event_queue_.at(
          event_queue_.now() + 1000, [](void* self) { static_cast<TestCpu*>(self)->end(); }, this);
      return tlm::TLM_ACCEPTED;
    }
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  PayloadPool<FlashExtension>::Payload& take(FlashOp& op) {
    auto& payload = pool_.take();
    payload.extension.op = &op;
    payload.set_command(op.command == FlashCommand::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
    payload.set_address(0);
    payload.set_data_ptr(buffer_);
    payload.set_data_length(sizeof buffer_);
    payload.set_streaming_width(sizeof buffer_);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    return payload;
  }

 private:
  void end() {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = annotation(event_queue_);
    flash_isock->nb_transport_fw(*ending_, phase, delay);
    ending_->release();
  }
  EventQueue& event_queue_;
  PayloadPool<FlashExtension> pool_;
  unsigned char buffer_[512] = {};
  tlm::tlm_generic_payload* ending_ = nullptr;
};

struct Options {
  NandPart part;
  FlashConfig config;
  std::string scheduling = "out-of-order";
  Picoseconds starvation_bound = 20'000'000'000;
  Bytes unit_bytes = 4096;
  std::uint32_t stamps_per_unit = 1;
  Picoseconds memory_latency = 0;
  bool late_memory = false;
  bool check_protocol = true;
  EccConfig ecc;
  std::function<double(const ArrayOperation&)>
      rber;  ///< raw bit error rate of a page; null: no bit is ever wrong
  ErrorConfig errors;
  RetentionConfig retention;
  /// How long the array works; null: as the part's timing model says.
  std::function<ArrayAnswer(const NandPart& part, const ArrayOperation&)> timing;
};

/// Two channels of three dies of TLC, with two planes.
inline Options tlc() {
  using namespace literals;
  Options o;
  o.part.cell = "tlc";
  o.part.planes = 2;
  o.part.pages_per_block = 12;
  o.part.blocks_per_plane = 8;
  o.part.page_size = 16384;
  o.part.spare_size = 1000;
  o.part.read_latency = {50_us, 60_us, 70_us};
  o.part.program_latency = {500_us, 1000_us, 2000_us};
  o.config.channels = 2;
  o.config.ways = 3;
  return o;
}

/// A timing model that is a function.
class FunctionTiming final : public TimingModel {
 public:
  explicit FunctionTiming(const Options& options) : function_(options.timing), part_(options.part) {}
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override { return function_(part_, op); }

 private:
  std::function<ArrayAnswer(const NandPart& part, const ArrayOperation&)> function_;
  NandPart part_;
};

inline std::unique_ptr<TimingModel> timing_of(const Options& options) {
  if (options.timing) return std::make_unique<FunctionTiming>(options);
  return make_timing_model(options.part);
}

/// A reliability model that is a function.
class FunctionModel final : public ReliabilityModel {
 public:
  explicit FunctionModel(std::function<double(const ArrayOperation&)> function)
      : function_(std::move(function)) {}
  [[nodiscard]] double rber(const ArrayOperation& stress) const override { return function_(stress); }

 private:
  std::function<double(const ArrayOperation&)> function_;
};

inline constexpr std::uint64_t k_flash_seed = 1;

/// The wrong bits that the dies of `options` get; null when they get none. A test that makes them
/// anew knows every error.
inline std::unique_ptr<BitErrors> errors_of(const Options& options) {
  if (!options.rber) return nullptr;
  return std::make_unique<BitErrors>(std::make_unique<FunctionModel>(options.rber), options.part,
                                     options.errors, options.ecc.frame_bits(), k_flash_seed);
}

/// A read-first scheduler with a bound, or any other.
inline std::unique_ptr<Scheduler> scheduler_of(const Options& options) {
  struct Values final : ParameterValues {
    Value bound;
    const Value* find(std::string_view name) const override {
      return name == "starvation_bound" ? &bound : nullptr;
    }
  } values;
  values.bound = Value(std::int64_t{options.starvation_bound});
  return make_scheduler(options.scheduling, values);
}

struct Bench {
  explicit Bench(const Options& options)
      : memory("memory", event_queue, options.memory_latency, options.late_memory),
        cpu("cpu", event_queue),
        array(
            event_queue, options.part, options.config, scheduler_of(options), timing_of(options),
            options.unit_bytes, options.stamps_per_unit, k_flash_seed,
            [this, &options](tlm::tlm_initiator_socket<>& from, tlm::tlm_target_socket<>& to) {
              bind(options, from, to);
            },
            FlashErrors{options.ecc, errors_of(options), options.retention}),
        units_per_page(static_cast<std::uint32_t>(options.part.page_size / options.unit_bytes)),
        stamps_per_unit(options.stamps_per_unit) {
    bind(options, cpu.flash_isock, array.controller().cpu_tsock);
    bind(options, array.controller().memory_isock, memory.tsock);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates
  }
  ~Bench() {
    for (auto& checker : checkers) CHECK(checker->violations().empty());
  }
  void bind(const Options& options, tlm::tlm_initiator_socket<>& from, tlm::tlm_target_socket<>& to) {
    if (!options.check_protocol) {
      from.bind(to);
    } else {
      bind_checked(checkers, from, to);
    }
  }
  void run() { event_queue.run_until(k_never); }

  EventQueue event_queue;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers;
  TestMemory memory;
  TestCpu cpu;
  FlashArray array;
  std::uint32_t units_per_page;
  std::uint32_t stamps_per_unit;
};

/// An operation with its buffers, ledger and completion time.
struct Operation {
  FlashOp op;
  std::vector<Lpn> spare;
  std::vector<Stamp> stamps;
  ReadVerdict verdict;
  Ledger ledger;
  Picoseconds submitted = 0;
  Picoseconds done = -1;
  Bench* bench = nullptr;
  std::function<void(Operation&)> then;

  [[nodiscard]] Picoseconds latency() const { return done - submitted; }
};

inline void completed(void* self) {
  auto& operation = *static_cast<Operation*>(self);
  operation.done = operation.bench->event_queue.now();
  if (operation.then) operation.then(operation);
}

inline Operation make(Bench& bench, FlashCommand command, std::uint32_t die, std::uint32_t block,
                      std::uint32_t page, std::uint32_t planes = 1, std::uint32_t pages = 1) {
  Operation o;
  o.bench = &bench;
  o.op.command = command;
  o.op.die = DieId{die};
  o.op.block = BlockId{block};
  o.op.page = PageId{page};
  o.op.planes = static_cast<std::uint16_t>(planes);
  const bool programs = command == FlashCommand::program || command == FlashCommand::copyback;
  o.op.pages = static_cast<std::uint16_t>(programs ? pages : 1);
  if (command != FlashCommand::erase) {
    o.op.slots = planes * o.op.pages * bench.units_per_page;
    o.spare.resize(o.op.slots, 7);
    o.stamps.resize(std::size_t{o.op.slots} * bench.stamps_per_unit, 9);
  }
  return o;
}

/// Copies `pages` pages from `source_page` of `source_block`.
inline Operation make_copy(Bench& bench, std::uint32_t die, std::uint32_t source_block,
                           std::uint32_t source_page, std::uint32_t block, std::uint32_t page,
                           std::uint32_t planes = 1, std::uint32_t pages = 1) {
  Operation o = make(bench, FlashCommand::copyback, die, block, page, planes, pages);
  o.op.source_block = BlockId{source_block};
  o.op.source_page = PageId{source_page};
  return o;
}

/// `operation` must stay where it is until it is done.
inline void submit(Operation& o) {
  o.op.spare = o.spare.data();
  o.op.stamps = o.stamps.data();
  o.op.verdict = &o.verdict;
  o.op.on_done = &completed;
  o.op.on_done_self = &o;
  o.submitted = o.bench->event_queue.now();
  o.done = -1;
  o.ledger = Ledger(o.submitted);
  o.op.ledger = &o.ledger;
  o.bench->cpu.submit(o.op);
}

inline void execute(Operation& o) {
  o.op.spare = o.spare.data();
  o.op.stamps = o.stamps.data();
  o.op.verdict = &o.verdict;
  o.bench->cpu.execute(o.op);
}

/// Every picosecond of a completed operation is charged to a cause.
inline void check_ledger(const Operation& o) {
  REQUIRE(o.done >= 0);
  CHECK(o.ledger.mark() == o.done);
  CHECK(o.ledger.total() == o.latency());
}

/// Runs an operation with nothing else under way.
inline void run_alone(Operation& o) {
  submit(o);
  o.bench->run();
  check_ledger(o);
}

}  // namespace tlmssd::test
