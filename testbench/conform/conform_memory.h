// The conformance kit for TLM-2.0 memories: a loosely timed host, one that runs ahead of the kernel
// and an approximately timed one use it in turn, with a checker of the base protocol in between.
//
//   AcmeMemory memory("memory", ...);                    // in sc_main, or while it is elaborated
//   tlmssd::MemoryConformance kit("kit", memory.socket, {.base = 0, .capacity = memory.size()});
//   sc_core::sc_start();
//   const tlmssd::Conformance found = kit.found();
//
// `tlmssd conform memory dram` does that with the drive's own memories.
#pragma once

#include <systemc>
#include <tlm>

#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/base/random.h"
#include "models/memory/foreign_memory.h"
#include "models/memory/memory_model.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/protocol_checker.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

/// What is known of a memory beforehand.
struct MemoryShape {
  std::uint64_t base = 0;
  Bytes capacity = 0;
  bool keeps_bytes = true;    ///< it holds data, not only times
  Bytes burst = 0;            ///< longest transaction, a power of two whose multiples none crosses; 0: any
  bool blocking = true;       ///< b_transport is tried
  bool phases = true;         ///< nb_transport is tried
  bool debug = true;          ///< it must have debug transport
  std::uint32_t at_once = 0;  ///< accesses under way at once; 0: one of b_transport, any of nb_transport
  /// Of an access, those that are under way with it not counted: for so long a drive waits.
  sc_core::sc_time longest = to_sc_time(ForeignMemory::k_longest_silence);
};

class MemoryConformance final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  SC_HAS_PROCESS(MemoryConformance);
  MemoryConformance(const sc_core::sc_module_name& name, const MemorySocket& memory, const MemoryShape& shape,
                    std::uint64_t seed = 1);
  /// Goes on with the simulation until all has been tried, or nothing more is answered: of a memory
  /// that has a clock it never comes to an end by itself.
  void run();
  /// What was found; when the simulation has come to its end.
  [[nodiscard]] Conformance found() const;

 private:
  /// What a payload's data pointer points into: its bytes, and before and behind them what is none
  /// of its own.
  struct Data {
    std::vector<unsigned char> room;
    [[nodiscard]] std::span<unsigned char> bytes();
    void resize(std::size_t bytes);
  };
  /// A payload with its bytes, which comes back with its last reference.
  struct Access : tlm::tlm_generic_payload {
    using tlm::tlm_generic_payload::tlm_generic_payload;
    Data data;
    std::vector<unsigned char> written;  ///< what a write gave
    std::size_t offset = 0;              ///< within bytes_
    bool responded = false;
  };
  /// Data of an access that has been answered, and what they were then.
  struct Answered {
    Data data;
    std::vector<unsigned char> then;
  };
  struct Pool final : tlm::tlm_mm_interface {
    ~Pool() override;
    void free(tlm::tlm_generic_payload* payload) override;
    std::set<tlm::tlm_generic_payload*> used;
    sc_core::sc_event freed;
  };

  [[nodiscard]] bool ended() const { return done_ || !broken_.empty(); }
  void work();
  void guarded(const std::function<void()>& work);
  void fill(Access& access, tlm::tlm_command command);
  void fill_part(Access& access, std::uint32_t part, std::uint32_t parts);
  void forget(Access& access, std::uint64_t address);
  void blocking();
  void whole_bursts();
  void whole_capacity();
  [[nodiscard]] std::size_t far_words(tlm::tlm_command command) const;
  void fill_far(Access& access, std::size_t which, tlm::tlm_command command);
  void several_at_once();
  void run_ahead();
  void phases();
  void one_by_one(std::size_t bytes, tlm::tlm_command command);
  void alone(const std::function<void(Access&)>& fill);
  void wait_for_progress();
  void wait_for_releases(std::size_t most);
  void issue(Access& access);
  void request_ended(const sc_core::sc_time& delay);
  void collect();
  void beyond();
  void debug();
  void compare(Access& access, const char* where);
  void check_data(Access& access);
  void check_answered(const Answered& one);
  [[nodiscard]] std::uint32_t parts(std::uint32_t most) const;
  [[nodiscard]] std::size_t unit() const { return shape_.burst == 0 ? word_ : longest_; }
  void wrong(std::string& check, const std::string& what) const;
  void check_blocking(Access& access, sc_core::sc_time& delay);

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*first*/, sc_dt::uint64 /*last*/) override {}

  tlm::tlm_initiator_socket<> socket_;
  ProtocolChecker checker_;
  MemoryShape shape_;
  RandomStream random_;
  Pool pool_;
  std::size_t word_;                  ///< what addresses and lengths are multiples of
  std::size_t longest_;               ///< transaction of random length
  std::size_t whole_;                 ///< longest transaction
  std::size_t region_;                ///< bytes at the beginning that are all compared
  std::vector<Bytes> far_;            ///< where words behind them lie that are compared
  std::vector<unsigned char> bytes_;  ///< that these should hold

  // the approximately timed host
  struct Response {
    Access* access;
    sc_core::sc_time at;
    bool ends;  ///< END_RESP is to be sent
  };
  std::deque<Response> responses_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;  ///< a request without END_REQ
  sc_core::sc_time request_ends_;
  std::uint32_t outstanding_ = 0;
  sc_core::sc_event progress_;

  // what is wrong, check by check; empty: nothing
  std::string answers_, forwards_, bytes_wrong_, data_wrong_, phases_wrong_, beyond_wrong_, debug_wrong_,
      held_wrong_, broken_;
  std::deque<Answered> answered_;  ///< the latest
  std::uint32_t running_ = 0;      ///< threads of several_at_once()
  const char* at_ = "nothing";     ///< which part is under way
  bool done_ = false;
  bool pauses_ = false;         ///< the kernel, when all has been tried
  std::uint64_t accesses_ = 0;  ///< that have been begun
};

}  // namespace tlmssd
