// Memories from outside behind the system bus: loosely and approximately timed, with an address map
// and a clock of their own, and what they do wrong. A protocol checker sits on every socket.
#define SC_INCLUDE_DYNAMIC_PROCESSES  // NOLINT(cppcoreguidelines-macro-usage): for tlm_utils
#include "models/memory/foreign_memory.h"

#include <tlm_utils/simple_target_socket.h>

#include <catch2/catch.hpp>
#include <functional>

#include "models/base/input_error.h"
#include "testbench/tests/memory/memory_rig.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using sc_core::sc_time;

namespace {

constexpr Bytes k_capacity = Bytes{1} << 20U;

struct Seen {
  Picoseconds at;
  std::uint64_t address;
  Bytes bytes;
  bool write;
  bool operator==(const Seen&) const = default;
};

/// What a module of a third party might be: no header of the drive but for the test's own needs.
struct Behaviour {
  sc_time annotated = sc_core::SC_ZERO_TIME;
  sc_time waited = sc_core::SC_ZERO_TIME;
  enum class Answer {
    completed,
    begin_response,
    accepted,
    end_request,
    late_end_request,
    wrong_phase,    ///< comes back with `phase`
    wrong_return,   ///< with 9
    wrong_backward  ///< sends `phase`
  } answer = Answer::completed;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  bool silent = false;
  bool throws = false;
  bool twice = false;    ///< it answers each request twice
  bool strange = false;  ///< and what it has made up
  tlm::tlm_phase_enum phase = tlm::END_RESP;
  unsigned debug = 0;  ///< bytes that debug transport moves at most; 0: there is none
  bool clock = false;  ///< that never stops
};

class ThirdParty final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ThirdParty);
  ThirdParty(const sc_core::sc_module_name& name, const Behaviour& behaviour)
      : sc_core::sc_module(name), socket("socket"), behaviour_(behaviour) {
    socket.register_b_transport(this, &ThirdParty::b_transport);
    socket.register_nb_transport_fw(this, &ThirdParty::nb_transport);
    if (behaviour.debug != 0) socket.register_transport_dbg(this, &ThirdParty::debug);
    if (behaviour.clock) SC_THREAD(tick);
  }
  tlm_utils::simple_target_socket<ThirdParty, 64> socket;
  std::vector<Seen> seen;
  std::uint64_t ticks = 0;
  std::uint64_t untimed = 0;  ///< bytes

 private:
  void note(const tlm::tlm_generic_payload& payload, const sc_time& delay) {
    CHECK(delay == sc_core::SC_ZERO_TIME);
    seen.push_back({to_picoseconds(sc_core::sc_time_stamp()), payload.get_address(),
                    payload.get_data_length(), payload.is_write()});
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    note(payload, delay);
    if (behaviour_.throws) throw std::runtime_error("row not found");
    if (behaviour_.silent) wait();
    if (behaviour_.waited > sc_core::SC_ZERO_TIME) wait(behaviour_.waited);
    delay += behaviour_.annotated;
    payload.set_response_status(behaviour_.status);
  }
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    note(payload, delay);
    using Answer = Behaviour::Answer;
    if (behaviour_.answer == Answer::completed || behaviour_.answer == Answer::begin_response) {
      payload.set_response_status(behaviour_.status);
      delay += behaviour_.annotated;
      if (behaviour_.answer == Answer::completed) return tlm::TLM_COMPLETED;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    if (behaviour_.answer == Answer::wrong_return) return static_cast<tlm::tlm_sync_enum>(9);
    if (behaviour_.answer == Answer::wrong_phase) {
      phase = behaviour_.phase;
      return tlm::TLM_UPDATED;
    }
    payload.acquire();
    sc_core::sc_spawn([this, &payload] { answer(payload); });
    if (behaviour_.answer != Answer::end_request) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  /// On the backward path: half of the way is waited for, the rest annotated.
  void answer(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    if (behaviour_.answer == Behaviour::Answer::wrong_backward) {
      phase = behaviour_.phase;
      socket->nb_transport_bw(payload, phase, delay);
    }
    if (behaviour_.answer == Behaviour::Answer::late_end_request) {
      wait(sc_time(5, sc_core::SC_NS));
      socket->nb_transport_bw(payload, phase, delay);
    }
    if (behaviour_.silent) wait();
    wait(behaviour_.waited);
    payload.set_response_status(behaviour_.status);
    phase = tlm::BEGIN_RESP;
    delay = behaviour_.annotated;
    socket->nb_transport_bw(payload, phase, delay);
    tlm::tlm_generic_payload made_up;
    if (behaviour_.twice) socket->nb_transport_bw(payload, phase, delay);
    if (behaviour_.strange) socket->nb_transport_bw(made_up, phase, delay);
    payload.release();
  }
  unsigned debug(tlm::tlm_generic_payload& payload) {
    const unsigned moved = std::min(payload.get_data_length(), behaviour_.debug);
    untimed += moved;
    return moved;
  }
  void tick() {
    for (;;) {
      wait(sc_time(7, sc_core::SC_NS));
      ++ticks;
    }
  }
  Behaviour behaviour_;
};

class ThirdPartyModel final : public MemoryModel {
 public:
  ThirdPartyModel(const Behaviour& behaviour, const MemoryTraits& traits)
      : module("third_party", behaviour), traits_(traits) {}
  MemorySocket socket() override { return module.socket; }
  [[nodiscard]] MemoryTraits traits() const override { return traits_; }
  ThirdParty module;

 private:
  MemoryTraits traits_;
};

SystemBusConfig fast_bus() {
  SystemBusConfig config;
  config.width = 4096;
  config.clock = 1'000'000'000;  // 512 B/ns
  config.latency = 0;
  return config;
}

struct ForeignRig {
  /// `checked`: a protocol checker sits before the memory.
  explicit ForeignRig(const Behaviour& behaviour, const MemoryTraits& traits = {}, bool checked = true)
      : process("process", event_queue),
        bus("bus", fast_bus(), event_queue, 1),
        memory("dram", {"dram", k_capacity, 1}, k_dram_base, choice(behaviour, traits), event_queue),
        master("master", event_queue) {
    bind(master.client.socket, bus.master_tsock(0));
    bind(bus.add_memory("dram_isock", k_dram_base, k_capacity), memory.bus_tsock);
    if (checked) {
      checkers.push_back(std::make_unique<ProtocolChecker>("checker_memory"));
      memory.memory_isock.bind(checkers.back()->tsock);
      memory.memory().bind_to(checkers.back()->isock);
    } else {
      memory.memory().bind_to(memory.memory_isock);
    }
    process.keep_in_step();
    process.pause_at_end([this] { return memory.busy(); });
  }
  MemoryChoice choice(const Behaviour& behaviour, const MemoryTraits& traits) {
    MemoryChoice choice;
    choice.make = [this, behaviour, traits](const MemoryContext&) {
      auto model = std::make_unique<ThirdPartyModel>(behaviour, traits);
      third_party = &model->module;
      return model;
    };
    return choice;
  }
  template <class Initiator, class Target>
  void bind(Initiator& initiator, Target& target) {
    checkers.push_back(
        std::make_unique<ProtocolChecker>(("checker_" + std::to_string(checkers.size())).c_str()));
    initiator.bind(checkers.back()->tsock);
    checkers.back()->isock.bind(target);
  }
  /// All at instant 0; the instants of their ends.
  struct Wanted {
    std::uint64_t address;
    Bytes bytes;
    bool write;
  };
  std::vector<Picoseconds> run(const std::vector<Wanted>& accesses) {
    for (const Wanted& wanted : accesses) {
      calls.push_back({this, wanted, k_never});
    }
    for (Call& call : calls) {
      event_queue.at(
          0,
          [](void* self) {
            Call& one = *static_cast<Call*>(self);
            const Picoseconds end = one.rig->master.client.access(
                one.wanted.address, one.wanted.bytes, one.wanted.write,
                [](void* of) {
                  static_cast<Call*>(of)->end = static_cast<Call*>(of)->rig->event_queue.now();
                },
                &one);
            CHECK(end == k_never);
          },
          &call);
    }
    process.resume();
    sc_core::sc_start();
    process.rethrow();
    for (auto& checker : checkers) checker->finish();
    std::vector<Picoseconds> ends;
    for (const Call& call : calls) ends.push_back(call.end);
    return ends;
  }

  struct Call {
    ForeignRig* rig;
    Wanted wanted;
    Picoseconds end;
  };
  ThirdParty* third_party = nullptr;
  EventQueue event_queue;
  EventQueueProcess process;
  SystemBus bus;
  ForeignMemory memory;
  MasterModule master;
  std::deque<Call> calls;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers;
};

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}

/// What the run of `rig` is refused with; empty: nothing.
std::string refused(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

void check_cut(ForeignRig& rig) {
  CHECK(rig.run({{100, 160, true}}) == std::vector<Picoseconds>{40_ns});
  CHECK(rig.third_party->seen == std::vector<Seen>{{0, 0x8000'0064, 28, true},
                                                   {10_ns, 0x8000'0080, 64, true},
                                                   {20_ns, 0x8000'00C0, 64, true},
                                                   {30_ns, 0x8000'0100, 4, true}});
  CHECK(rig.memory.counters().writes == 1);
}

/// Three accesses at once of a memory that annotates 20 ns, behind 50 ns that it waits if it
/// answers late.
void check_ends(Behaviour::Answer answer, const std::vector<Picoseconds>& expected) {
  using Answer = Behaviour::Answer;
  const bool late = answer != Answer::completed && answer != Answer::begin_response;
  ForeignRig rig({.annotated = ns(20), .waited = ns(late ? 50 : 0), .answer = answer}, {.blocking = false});
  CHECK(rig.run({{0, 512, false}, {512, 512, true}, {1024, 512, false}}) == expected);
  CHECK(rig.memory.counters().read_bytes == 1024);
  CHECK_FALSE(rig.memory.busy());
}

#ifndef __SANITIZE_ADDRESS__  // it takes exceptions on the stacks of SystemC's threads for errors
void check_error(bool blocking) {
  ForeignRig rig({.annotated = ns(20),
                  .answer = Behaviour::Answer::end_request,
                  .status = tlm::TLM_ADDRESS_ERROR_RESPONSE},
                 {.blocking = blocking, .base = 4096});
  CHECK(refused([&] {
          rig.run({{128, 64, true}});
        }) ==
        "ssd.dram.model: of one's own answered TLM_ADDRESS_ERROR_RESPONSE to a write of 64 B at its address "
        "4224");
}

/// Not even with the other answers that are right.
void check_wrong_answer(const Behaviour& behaviour, const std::string& said) {
  ForeignRig rig(behaviour, {.blocking = false}, false);
  CHECK(refused([&] { rig.run({{128, 64, true}}); }) == "ssd.dram.model: of one's own " + said);
}

void check_silence(bool blocking) {
  ForeignRig rig({.annotated = ns(20), .answer = Behaviour::Answer::end_request, .silent = true},
                 {.blocking = blocking});
  CHECK(refused([&] {
          rig.run({{128, 64, true}});
        }) == "ssd.dram.model: of one's own has not answered for 100 ms; 1 transactions are under way");
}

void check_endless(bool blocking, const sc_time& annotated) {
  // A checker would speak first: a sum of times that is too large has gone back in time.
  ForeignRig rig({.annotated = annotated}, {.blocking = blocking}, false);
  CHECK(refused([&] {
          rig.run({{128, 64, true}});
        }) == "ssd.dram.model: of one's own has not answered for 100 ms; 1 transactions are under way");
}
#endif

}  // namespace

TEST_CASE("a memory with b_transport alone serves one access after another") {
  ForeignRig rig({.annotated = ns(100)});
  CHECK(rig.run({{0, 64, true}, {4096, 128, false}, {64, 64, false}}) ==
        std::vector<Picoseconds>{100_ns, 200_ns, 300_ns});
  CHECK(rig.third_party->seen ==
        std::vector<Seen>{{0, 0, 64, true}, {100_ns, 4096, 128, false}, {200_ns, 64, 64, false}});
  const MemoryCounters& counters = rig.memory.counters();
  CHECK(counters.reads == 2);
  CHECK(counters.writes == 1);
  CHECK(counters.read_bytes == 192);
  CHECK(counters.written_bytes == 64);
  CHECK(counters.busy == 300_ns);
  // The bus lets them through at 0, 1/8 and 3/8 ns.
  CHECK(static_cast<Picoseconds>(counters.waiting) == 300_ns - 125 - 375);
}

TEST_CASE("a memory that queues by itself is called while it waits") {
  ForeignRig rig({.annotated = ns(30), .waited = ns(70)}, {.at_once = 2});
  const auto ends = rig.run({{0, 512, true}, {4096, 512, true}, {8192, 512, true}});
  CHECK(ends == std::vector<Picoseconds>{100_ns, 101_ns, 200_ns});
  CHECK(rig.memory.counters().busy == 200_ns);
}

TEST_CASE("accesses are cut at multiples of the burst, in the memory's own address map") {
  ForeignRig rig({.annotated = ns(10)}, {.base = 0x8000'0000, .burst = 64});
  check_cut(rig);
}

TEST_CASE("so they are for nb_transport") {
  ForeignRig rig({.annotated = ns(10)}, {.blocking = false, .base = 0x8000'0000, .burst = 64, .at_once = 1});
  check_cut(rig);
}

TEST_CASE("an answer that comes with the request counts from its annotated end") {
  check_ends(Behaviour::Answer::completed, {20_ns, 21_ns, 22_ns});
}

TEST_CASE("so does BEGIN_RESP that comes with the request") {
  check_ends(Behaviour::Answer::begin_response, {20_ns, 21_ns, 22_ns});
}

TEST_CASE("a late answer counts from its annotated end") {
  check_ends(Behaviour::Answer::end_request, {70_ns, 71_ns, 72_ns});
}

TEST_CASE("a late answer that implies END_REQ lets the next request go") {
  check_ends(Behaviour::Answer::accepted, {70_ns, 140_ns, 210_ns});
}

TEST_CASE("a request waits for the late END_REQ of the one before") {
  check_ends(Behaviour::Answer::late_end_request, {75_ns, 80_ns, 85_ns});
}

TEST_CASE("the quantum stays 0, and a clock of the memory's own keeps nothing from ending") {
  ForeignRig rig({.annotated = ns(20), .waited = ns(50), .clock = true});
  rig.process.set_quantum(1_ms);
  CHECK(rig.process.quantum() == 0);
  CHECK(rig.run({{0, 64, false}}) == std::vector<Picoseconds>{70_ns});
  CHECK(sc_core::sc_time_stamp() == ns(70));
  CHECK(rig.third_party->ticks >= 9);
  CHECK(rig.third_party->ticks <= 10);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("an error response to b_transport ends the run with one line") {
  check_error(true);
}

TEST_CASE("an error response to nb_transport ends the run with one line") {
  check_error(false);
}

TEST_CASE("an answer with a phase that no target may give ends the run with one line") {
  check_wrong_answer({.answer = Behaviour::Answer::wrong_phase},
                     "answered BEGIN_REQ at its address 128 with END_RESP, which no target may");
}

TEST_CASE("an answer that leaves the phase as it was ends the run with one line") {
  check_wrong_answer({.answer = Behaviour::Answer::wrong_phase, .phase = tlm::BEGIN_REQ},
                     "answered BEGIN_REQ at its address 128 with BEGIN_REQ, which no target may");
}

TEST_CASE("a return value that there is not ends the run with one line") {
  check_wrong_answer({.answer = Behaviour::Answer::wrong_return},
                     "answered BEGIN_REQ at its address 128 with return value 9, which there is not");
}

TEST_CASE("a phase that no target may send ends the run with one line") {
  check_wrong_answer({.answer = Behaviour::Answer::wrong_backward},
                     "sent END_RESP at its address 128, which no target may");
}

TEST_CASE("a response status that there is not ends the run with one line") {
  check_wrong_answer(
      {.status = static_cast<tlm::tlm_response_status>(99)},
      "answered response status 99, which there is not, to a write of 64 B at its address 128");
}

TEST_CASE("a memory that stays in b_transport ends the run with one line") {
  check_silence(true);
}

TEST_CASE("a memory that does not answer nb_transport ends the run with one line") {
  check_silence(false);
}

TEST_CASE("an endless delay annotated by b_transport counts as no answer") {
  check_endless(true, sc_core::sc_max_time());
}

TEST_CASE("so does half of that") {
  check_endless(true, sc_core::sc_max_time() / 2);
}

TEST_CASE("an endless delay annotated by nb_transport counts as no answer") {
  check_endless(false, sc_core::sc_max_time());
}

TEST_CASE("an answer that comes twice ends the run with one line") {
  ForeignRig rig({.answer = Behaviour::Answer::end_request, .twice = true}, {.blocking = false}, false);
  CHECK(refused([&] {
          rig.run({{128, 64, true}});
        }) == "ssd.dram.model: of one's own answered a transaction that is not under way any more");
}

TEST_CASE("an answer to nothing ends the run with one line") {
  ForeignRig rig({.answer = Behaviour::Answer::end_request, .strange = true}, {.blocking = false}, false);
  CHECK(refused([&] {
          rig.run({{128, 64, true}});
        }) == "ssd.dram.model: of one's own answered a transaction that it has not been given");
}

TEST_CASE("an exception in b_transport comes out of the run") {
  ForeignRig rig({.throws = true});
  CHECK(refused([&] { rig.run({{128, 64, true}}); }) == "row not found");
}
#endif

TEST_CASE("a memory that is too small is refused") {
  CHECK(refused([] { ForeignRig({}, {.capacity = k_capacity / 2}); }) ==
        "ssd.dram.capacity: 1 MiB is more than model of one's own holds; nearest valid: 512 KiB");
}

TEST_CASE("a burst that is no power of two is refused") {
  CHECK(refused([] { ForeignRig({}, {.burst = 48}); }) ==
        "ssd.dram.model: of one's own says that its burst is 48 B, which is no power of two");
}

TEST_CASE("untimed accesses go to a memory with debug transport") {
  ForeignRig rig({.debug = 4096});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.master.client.access_untimed(64, 4096, true);
  CHECK(rig.third_party->untimed == 4096);
}

TEST_CASE("untimed accesses go past a memory without debug transport") {
  ForeignRig rig({});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.master.client.access_untimed(64, 4096, true);
  rig.master.client.access_untimed(0, 64, false);
  CHECK_THROWS_AS(rig.master.client.access_untimed(k_capacity - 1, 2, false), std::logic_error);
}

TEST_CASE("debug transport that moves a part of the bytes is refused") {
  ForeignRig rig({.debug = 100});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.master.client.access_untimed(0, 64, true);
  CHECK(refused([&] { rig.master.client.access_untimed(64, 128, true); }) ==
        "ssd.dram.model: of one's own moved 100 of 128 B by debug transport at its address 64");
}
