// The conformance kit against TLM-2.0 memories: the drive's own pass, planted faults are found. All
// of them are used in one simulation.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "models/memory/dram.h"
#include "models/memory/foreign_memory.h"
#include "models/memory/scm.h"
#include "models/tlm/kernel_time.h"
#include "testbench/conform/conform_memory.h"

using namespace tlmssd;
using sc_core::sc_time;

namespace {

constexpr Bytes k_capacity = Bytes{1} << 20U;

enum class MemoryFault {
  none,
  drops_writes,
  short_bursts,
  address_mixed_up,
  never_answers,
  answers_twice,
  late_error,
  nothing_beyond,
  turns_back,
  forgets_offset,
  endless,
  no_status,
  no_debug,
  changes_address,
  keeps_payload,
  hasty_responses,
  throws,
  changes_written,
  overruns,
  underruns,
  writes_late,
  holds_many,
  short_long_bursts,
  few_places,
  one_at_a_time,
  slow,
  slow_to_accept,
  slow_to_release,
  half_refused,
  half_mirrored
};

/// A memory of 50 ns that answers nb_transport by all four phases. No faults are: 99 ms; END_REQ
/// some time after the request, while earlier ones are answered; a payload released some time
/// after END_RESP.
class FaultyMemory final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(FaultyMemory);
  FaultyMemory(const sc_core::sc_module_name& name, MemoryFault fault)
      : sc_core::sc_module(name), socket("socket", *this), fault_(fault), bytes_(k_capacity) {
    SC_METHOD(respond);
    sensitive << due_;
    dont_initialize();
    SC_METHOD(end_request);
    sensitive << request_end_;
    dont_initialize();
    SC_METHOD(release_late);
    sensitive << late_release_;
    dont_initialize();
  }
  TargetSocket<FaultyMemory> socket;

  tlm::tlm_sync_enum forward(unsigned /*index*/, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_ = nullptr;
      if (fault_ == MemoryFault::slow_to_release) {
        held_.push_back(&payload);
        late_release_.notify(7, sc_core::SC_NS);
      }
      if (!waiting_.empty()) due_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    if (fault_ == MemoryFault::few_places && waiting_.size() >= 8) return tlm::TLM_ACCEPTED;  // lost
    ++accesses_;
    if (fault_ == MemoryFault::changes_address && accesses_ == 4500) payload.set_address(0);
    if (fault_ == MemoryFault::slow_to_accept) {
      requesting_ = &payload;
      request_end_.notify(delay + sc_time(7, sc_core::SC_NS));
      return tlm::TLM_ACCEPTED;
    }
    waiting_.emplace(sc_core::sc_time_stamp() + delay + latency_, &payload);
    due_.notify(delay + latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void blocking(unsigned /*index*/, tlm::tlm_generic_payload& payload, sc_time& delay) {
    ++accesses_;
    if (fault_ == MemoryFault::one_at_a_time) {
      address_ = payload.get_address();
      wait(delay + latency_);
      delay = sc_core::SC_ZERO_TIME;
      payload.set_address(address_);
    }
    if (fault_ == MemoryFault::throws && accesses_ == 700) throw std::runtime_error("row not found");
    access(payload);
    if (fault_ == MemoryFault::forgets_offset) delay = sc_core::SC_ZERO_TIME;
    delay += latency_;
    if (fault_ == MemoryFault::turns_back && accesses_ == 3000) delay = sc_core::SC_ZERO_TIME;
    if (fault_ == MemoryFault::endless && accesses_ == 50) delay += sc_time(2, sc_core::SC_SEC);
  }

  unsigned debug(unsigned /*index*/, tlm::tlm_generic_payload& payload) {
    if (fault_ == MemoryFault::no_debug) return 0;
    access(payload);
    return payload.get_data_length();
  }

 private:
  void access(tlm::tlm_generic_payload& payload) {
    std::uint64_t address = payload.get_address();
    if (fault_ == MemoryFault::half_mirrored && address < bytes_.size()) address %= bytes_.size() / 2;
    std::size_t length = payload.get_data_length();
    if (fault_ == MemoryFault::no_status && accesses_ % 40 == 0) return;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (address + length > bytes_.size() ||
        (fault_ == MemoryFault::half_refused && address + length > bytes_.size() / 2)) {
      if (fault_ != MemoryFault::nothing_beyond) payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (fault_ == MemoryFault::short_bursts && length > 2048) --length;
    if (fault_ == MemoryFault::short_long_bursts) length = std::min<std::size_t>(length, 4096);
    if (fault_ == MemoryFault::drops_writes && payload.is_write() && accesses_ % 97 == 0) return;
    unsigned char* const place =
        bytes_.data() +
        (fault_ == MemoryFault::address_mixed_up ? address & ~std::uint64_t{0x8000} : address);
    if (payload.is_write()) std::memcpy(place, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), place, length);
    spoil(payload);
  }

  /// What is none of its business.
  void spoil(tlm::tlm_generic_payload& payload) {
    unsigned char* const data = payload.get_data_ptr();
    if (fault_ == MemoryFault::changes_written && payload.is_write() && accesses_ % 50 == 0) ++data[7];
    if (fault_ == MemoryFault::overruns && payload.is_read()) data[payload.get_data_length()] = 0;
    if (fault_ == MemoryFault::underruns && accesses_ == 90) data[-1] = 0;
    // As long as what it writes to is still there: later hosts give up what they had.
    if (fault_ == MemoryFault::writes_late && accesses_ % 2 == 0 && accesses_ < 200)
      ++*std::exchange(earlier_, data);
  }

  void end_request() {
    tlm::tlm_generic_payload& payload = *requesting_;
    waiting_.emplace(sc_core::sc_time_stamp() + latency_, &payload);
    due_.notify(latency_);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }
  void release_late() {
    for (tlm::tlm_generic_payload* const one : std::exchange(held_, {})) one->release();
  }

  /// One response at a time.
  void respond() {
    while (!waiting_.empty() && (responding_ == nullptr || fault_ == MemoryFault::hasty_responses)) {
      const auto first = waiting_.begin();
      if (first->first > sc_core::sc_time_stamp()) {
        due_.notify(first->first - sc_core::sc_time_stamp());
        return;
      }
      tlm::tlm_generic_payload& payload = *first->second;
      waiting_.erase(first);
      if (fault_ == MemoryFault::never_answers && ++answers_ == 500) continue;
      answer(payload);
      if (fault_ == MemoryFault::answers_twice && ++answers_ == 500) answer(payload);
      if (fault_ == MemoryFault::holds_many) {
        held_.push_back(&payload);
        if (held_.size() < 7) continue;  // all have gone in the end
        for (tlm::tlm_generic_payload* const one : held_) one->release();
        held_.clear();
      } else if (fault_ != MemoryFault::slow_to_release &&
                 (fault_ != MemoryFault::keeps_payload || ++answers_ != 500)) {
        payload.release();
      }
    }
  }

  void answer(tlm::tlm_generic_payload& payload) {
    responding_ = &payload;
    access(payload);
    if (fault_ == MemoryFault::late_error && ++errors_ == 300)
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }

  MemoryFault fault_;
  const sc_time latency_ =
      fault_ == MemoryFault::slow ? sc_time(99, sc_core::SC_MS) : sc_time(50, sc_core::SC_NS);
  std::vector<unsigned char> bytes_;
  std::multimap<sc_time, tlm::tlm_generic_payload*> waiting_;
  tlm::tlm_generic_payload* responding_ = nullptr;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  sc_core::sc_event due_;
  sc_core::sc_event request_end_;
  sc_core::sc_event late_release_;
  std::uint64_t accesses_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t address_ = 0;
  unsigned char nothing_ = 0;
  unsigned char* earlier_ = &nothing_;  // data of an access before
  std::vector<tlm::tlm_generic_payload*> held_;
};

struct PlantedFault {
  const char* name;
  MemoryFault fault;
  const char* found_by;
  std::uint32_t at_once = 0;
  bool blocking = true;
};

}  // namespace

TEST_CASE("planted faults of TLM-2.0 memories are found, and sound memories pass") {
  const char* const times = "no time annotated is before that of the call, or endless";
  const char* const bytes = "what was written is read, however it was written";
  const char* const phases = "nb_transport answers every request once";
  const char* const protocol = "the base protocol of TLM-2.0 is kept";
  const char* const data = "of a payload's data only what is read changes, and before the answer";
  const PlantedFault rows[] = {
      {"sound", MemoryFault::none, nullptr},
      {"drops_writes", MemoryFault::drops_writes, bytes},
      {"short_bursts", MemoryFault::short_bursts, bytes},
      {"address_mixed_up", MemoryFault::address_mixed_up, bytes},
      {"never_answers", MemoryFault::never_answers, phases},
      {"answers_twice", MemoryFault::answers_twice, protocol},
      {"late_error", MemoryFault::late_error, phases},
      {"nothing_beyond", MemoryFault::nothing_beyond, "an access beyond the end is refused"},
      {"turns_back", MemoryFault::turns_back, times},
      {"forgets_offset", MemoryFault::forgets_offset, times},
      {"endless", MemoryFault::endless, times},
      {"no_status", MemoryFault::no_status, "b_transport answers every access"},
      {"no_debug", MemoryFault::no_debug, "debug transport moves every byte and takes no time"},
      {"changes_address", MemoryFault::changes_address, protocol},
      {"keeps_payload", MemoryFault::keeps_payload, "no payload is held on to"},
      {"hasty_responses", MemoryFault::hasty_responses, protocol},
      {"throws", MemoryFault::throws, "every call comes back, without an exception"},
      {"changes_written", MemoryFault::changes_written, data},
      {"overruns", MemoryFault::overruns, data},
      {"underruns", MemoryFault::underruns, data},
      {"writes_late", MemoryFault::writes_late, data},
      {"holds_many", MemoryFault::holds_many, "no payload is held on to"},
      {"short_long_bursts", MemoryFault::short_long_bursts, bytes},
      {"few_places", MemoryFault::few_places, phases},
      {"one_at_a_time", MemoryFault::one_at_a_time, bytes, 8},
      {"sound_at_once", MemoryFault::none, nullptr, 8},
      {"slow", MemoryFault::slow, nullptr},
      {"slow_to_accept", MemoryFault::slow_to_accept, nullptr},
      {"slow_to_release", MemoryFault::slow_to_release, nullptr},
      {"half_refused", MemoryFault::half_refused, "b_transport answers every access"},
      {"half_mirrored", MemoryFault::half_mirrored, bytes},
      {"sound_phases", MemoryFault::none, nullptr, 0, false},
      {"half_refused_phases", MemoryFault::half_refused, phases, 0, false},
      {"half_mirrored_phases", MemoryFault::half_mirrored, bytes, 0, false},
  };
  std::vector<std::unique_ptr<FaultyMemory>> memories;
  std::vector<std::unique_ptr<MemoryConformance>> kits;
  for (const PlantedFault& row : rows) {
    memories.push_back(std::make_unique<FaultyMemory>(row.name, row.fault));
    kits.push_back(std::make_unique<MemoryConformance>(
        (std::string("kit_") + row.name).c_str(), memories.back()->socket,
        MemoryShape{.capacity = k_capacity, .blocking = row.blocking, .at_once = row.at_once}));
  }
  EventQueue event_queue;
  EventQueueProcess process("event_queue", event_queue);
  Dram dram("dram", DramConfig{.capacity = k_capacity, .storage = true}, event_queue);
  MemoryConformance dram_kit("kit_dram", dram.bus_tsock, {.base = dram.base(), .capacity = k_capacity});
  Scm scm("scm", ScmConfig{.capacity = k_capacity}, event_queue);
  MemoryConformance scm_kit("kit_scm", scm.bus_tsock,
                            {.base = scm.base(), .capacity = k_capacity, .keeps_bytes = false});
  sc_core::sc_start();
  for (std::size_t i = 0; i < kits.size(); ++i) {
    const Conformance found = kits[i]->found();
    INFO(rows[i].name << "\n" << found.text());
    if (rows[i].found_by == nullptr) {
      CHECK(found.passed());
    } else {
      CHECK(found.failed(rows[i].found_by));
    }
  }
  for (const MemoryConformance* const kit : {&dram_kit, &scm_kit}) {
    const Conformance found = kit->found();
    INFO(kit->name() << "\n" << found.text());
    CHECK(found.passed());
  }
}

TEST_CASE("what a memory cannot say of itself is found") {
  const auto wrong = [](const MemoryTraits& traits) { return ForeignMemory::contradiction(traits, 4096); };
  CHECK(wrong({}).empty());
  CHECK(wrong({.burst = 64, .at_once = 8}).empty());
  CHECK(!wrong({.burst = 48}).empty());
  CHECK(!wrong({.at_once = ForeignMemory::k_most_threads + 1}).empty());
  constexpr std::uint64_t k_last = ~std::uint64_t{0};
  CHECK(wrong({.base = k_last - 4095}).empty());
  CHECK(wrong({.base = k_last - 4094}) ==
        "says that its first byte has the address 18446744073709547521, and that of the last of 4 KiB is "
        "beyond all numbers");
  CHECK(!wrong({.base = 4096, .capacity = k_last}).empty());
}
