// The ports against each other, against themselves and under the protocol checker: every way of
// accepting and answering a request in turn.
#include "models/tlm/ports.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "models/tlm/protocol_checker.h"

namespace tlmssd {
namespace {

struct NoExtension : tlm::tlm_extension<NoExtension> {
  std::uint64_t number = 0;
  tlm::tlm_extension_base* clone() const override { return new NoExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const NoExtension&>(other);
  }
};
using Pool = PayloadPool<NoExtension>;

/// Sends requests in bursts, some of them from within responded().
struct Requester : sc_core::sc_module {
  Requester(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_core::sc_module(name), isock("isock", *this, queue), event_queue(queue) {}
  RequestPort<Requester, Pool::Payload> isock;
  EventQueue& event_queue;
  Pool pool;
  unsigned char byte = 0;
  std::uint64_t sent = 0;
  std::uint64_t most = 0;
  std::vector<std::uint64_t> answered;
  Picoseconds last = 0;

  void send() {
    if (sent == most) return;
    Pool::Payload& payload = pool.take(tlm::TLM_READ_COMMAND, sent, &byte, 1);
    payload.extension.number = sent++;
    isock.send(payload);
  }
  void responded(unsigned, tlm::tlm_generic_payload& payload, Picoseconds when) {
    REQUIRE(payload.is_response_ok());
    REQUIRE(when >= event_queue.now());
    last = std::max(last, when);
    const std::uint64_t number = static_cast<Pool::Payload&>(payload).extension.number;
    answered.push_back(number);
    payload.release();
    if (number % 3 == 0) send();  // perhaps from within the target's call: the port puts it off
  }
};

/// Accepts and answers as a random number says.
struct Responder : sc_core::sc_module {
  struct Entry {
    Responder* responder = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    Entry* next = nullptr;
    bool held = false;
  };
  Responder(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_core::sc_module(name), tsock("tsock", *this, queue), event_queue(queue) {}
  ResponsePort<Responder, Entry> tsock;
  EventQueue& event_queue;
  tlmssd::Pool<Entry> entries;
  std::mt19937 random{11};
  std::vector<std::uint64_t> came;
  std::uint64_t consumptions = 0;
  std::uint64_t completed_at_once = 0;
  bool holding = false;

  Reply request(unsigned, tlm::tlm_generic_payload& payload, Picoseconds when) {
    REQUIRE_FALSE(holding);  // the request exclusion rule
    came.push_back(payload.get_address());
    const unsigned way = random() % 6;
    if (way == 0) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      ++completed_at_once;
      return Reply::completed(when + 700);
    }
    Entry& entry = entries.take();
    entry = {this, &payload, nullptr, way >= 4};
    holding = entry.held;
    if (way == 1) {
      tsock.respond(entry);  // within the initiator's call: the port puts it off
      return Reply::accepted();
    }
    event_queue.at(
        when + way * 1000,
        [](void* self) { static_cast<Entry*>(self)->responder->work(*static_cast<Entry*>(self)); }, &entry);
    return entry.held ? Reply::held() : Reply::accepted();
  }
  void work(Entry& entry) {
    if (std::exchange(entry.held, false)) {
      holding = false;
      if (random() % 2 == 0) {  // else the response implies END_REQ
        tsock.accept(entry);
        event_queue.at(
            event_queue.now() + random() % 3 * 500,
            [](void* self) { static_cast<Entry*>(self)->responder->work(*static_cast<Entry*>(self)); },
            &entry);
        return;
      }
    }
    tsock.respond(entry);
  }
  Picoseconds responding(Entry& entry) {
    entry.payload->set_response_status(tlm::TLM_OK_RESPONSE);
    return event_queue.now() + random() % 2 * 300;
  }
  void consumed(Entry& entry) {
    ++consumptions;
    entries.give(entry);
  }
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload&) { return 0; }
};

TEST_CASE("ports keep the base protocol whatever their owners do") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  Requester requester("requester", event_queue);
  Responder responder("responder", event_queue);
  ProtocolChecker checker("checker", ProtocolChecker::OnViolation::collect);
  requester.isock.bind(checker.tsock);
  checker.isock.bind(responder.tsock);
  requester.most = 3000;
  for (Picoseconds t = 0; t < 3000; ++t) {
    event_queue.at(
        t / 8 * 2500, [](void* self) { static_cast<Requester*>(self)->send(); }, &requester);
  }
  process.simulate();
  checker.finish();
  for (const std::string& violation : checker.violations()) FAIL_CHECK(violation);
  CHECK(responder.came.size() == 3000);
  CHECK(std::is_sorted(responder.came.begin(), responder.came.end()));  // in the order of sending
  CHECK(responder.completed_at_once > 100);
  CHECK(responder.consumptions + responder.completed_at_once == 3000);
  std::sort(requester.answered.begin(), requester.answered.end());
  REQUIRE(requester.answered.size() == 3000);
  for (std::uint64_t i = 0; i < 3000; ++i) REQUIRE(requester.answered[i] == i);
}

/// An initiator by hand that sends END_RESP late, or returns it.
struct SlowConsumer : sc_core::sc_module {
  SlowConsumer(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_core::sc_module(name), isock("isock", *this), event_queue(queue) {}
  InitiatorSocket<SlowConsumer> isock;
  EventQueue& event_queue;
  Pool pool;
  unsigned char byte = 0;
  tlm::tlm_generic_payload* ending = nullptr;
  const tlm::tlm_generic_payload* requesting = nullptr;
  std::uint64_t sent = 0;
  std::uint64_t ended = 0;
  std::uint64_t responses = 0;
  bool again = false;  ///< it sends END_RESP twice

  void send() {
    event_queue.at(
        event_queue.now() + 400, [](void* self) { static_cast<SlowConsumer*>(self)->send_now(); }, this);
  }
  void send_now() {
    if (sent == 500) return;
    if (requesting != nullptr) {
      send();
      return;
    }
    Pool::Payload& payload = pool.take(tlm::TLM_WRITE_COMMAND, sent++, &byte, 1);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = annotation(event_queue);
    const tlm::tlm_sync_enum status = isock->nb_transport_fw(payload, phase, delay);
    requesting = status == tlm::TLM_ACCEPTED ? &payload : nullptr;
    if (status == tlm::TLM_COMPLETED) ++ended;
    if (status == tlm::TLM_COMPLETED) payload.release();
    send();
  }
  tlm::tlm_sync_enum backward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    if (requesting == &payload) requesting = nullptr;
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    REQUIRE(ending == nullptr);  // the response exclusion rule
    const Picoseconds when = arrival(event_queue, delay);
    if (++responses % 3 == 0) {
      ++ended;
      payload.release();
      phase = tlm::END_RESP;
      return tlm::TLM_UPDATED;
    }
    ending = &payload;
    event_queue.at(
        when + 1700, [](void* self) { static_cast<SlowConsumer*>(self)->end(); }, this);
    return tlm::TLM_ACCEPTED;
  }
  void end() {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = annotation(event_queue);
    tlm::tlm_generic_payload& payload = *std::exchange(ending, nullptr);
    ++ended;
    isock->nb_transport_fw(payload, phase, delay);
    if (again) isock->nb_transport_fw(payload, phase, delay);
    payload.release();
  }
};

TEST_CASE("responses wait for an initiator that ends them late") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  SlowConsumer consumer("consumer", event_queue);
  Responder responder("responder", event_queue);
  ProtocolChecker checker("checker", ProtocolChecker::OnViolation::collect);
  consumer.isock.bind(checker.tsock);
  checker.isock.bind(responder.tsock);
  consumer.send();
  process.simulate();
  checker.finish();
  for (const std::string& violation : checker.violations()) FAIL_CHECK(violation);
  CHECK(consumer.ended == 500);
  CHECK(responder.consumptions + responder.completed_at_once == 500);
}

/// END_RESP of a payload that has had no response, whatever other response is under way.
void end_wrongly(void* self) {
  auto& initiator = *static_cast<SlowConsumer*>(self);
  Pool::Payload& payload = initiator.pool.take(tlm::TLM_WRITE_COMMAND, 0, &initiator.byte, 1);
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = annotation(initiator.event_queue);
  initiator.isock->nb_transport_fw(payload, phase, delay);
  payload.release();
}

TEST_CASE("END_RESP of what has had no response is passed over") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  SlowConsumer consumer("consumer", event_queue);
  Responder responder("responder", event_queue);
  consumer.isock.bind(responder.tsock);
  consumer.send();
  for (Picoseconds t = 0; t < 100'000; t += 500) event_queue.at(t, &end_wrongly, &consumer);
  process.simulate();
  CHECK(consumer.ended == 500);
}

TEST_CASE("END_RESP that comes twice ends one response") {
  EventQueue event_queue;
  EventQueueProcess process("process", event_queue);
  SlowConsumer consumer("consumer", event_queue);
  consumer.again = true;
  Responder responder("responder", event_queue);
  consumer.isock.bind(responder.tsock);
  consumer.send();
  process.simulate();
  CHECK(consumer.ended == 500);
  CHECK(responder.consumptions + responder.completed_at_once == 500);
}

}  // namespace
}  // namespace tlmssd
