// Between the system bus and a TLM-2.0 memory from elsewhere (MemoryModel) in the place of the DRAM
// or SCM.
//
// Every access is cut into transactions of the memory's own addresses, no longer than it takes.
// They go out in the order of the accesses, at their own instant of the kernel's time and without
// annotation, so that the memory need not know of temporal decoupling; what it annotates in its
// answer counts. The access ends with the last of them. To a memory with nb_transport they go as
// fast as the base protocol allows; one with b_transport alone is called from threads, no more at
// once than it says, and what waits meanwhile waits here. Debug transport is passed on; a memory
// that has none is left out of untimed work. get_direct_mem_ptr is never called: it would go past
// the memory's timing. An error response, an answer that no target may give, an exception and
// silence end the run with one line.
#pragma once

#include <systemc>
#include <tlm>

#include <deque>
#include <exception>
#include <memory>
#include <string>

#include "models/base/event_queue.h"
#include "models/base/input_error.h"
#include "models/base/intrusive_queue.h"
#include "models/base/slab.h"
#include "models/memory/memory_counters.h"
#include "models/memory/memory_model.h"
#include "models/tlm/ports.h"

namespace tlmssd {

class ForeignMemory final : public sc_core::sc_module {
  struct Access;
  /// Whose a transaction is. Ignorable.
  struct PartExtension : tlm::tlm_extension<PartExtension> {
    Access* access = nullptr;
    Bytes length = 0;        ///< as it was sent
    bool under_way = false;  ///< sent and not answered
    tlm::tlm_extension_base* clone() const override { return new PartExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
      *this = static_cast<const PartExtension&>(other);
    }
  };
  using Parts = PayloadPool<PartExtension>;
  using Part = Parts::Payload;

 public:
  SC_HAS_PROCESS(ForeignMemory);
  /// Without an answer for so long the run ends.
  static constexpr Picoseconds k_longest_silence = 100'000'000'000;
  /// Accesses that b_transport may be in at once.
  static constexpr std::uint32_t k_most_threads = 1024;

  /// What a drive lacks whose memory has this capacity; empty: nothing.
  using Lacking = std::function<std::string(Bytes capacity)>;
  /// `context.capacity` bytes at `base` of the system bus, by the memory that `choice` names.
  /// InputError when there is none, it holds less, or it says of itself what cannot be. `lacking`
  /// decides whether what it holds is proposed instead; none: it always is.
  ForeignMemory(const sc_core::sc_module_name& name, const MemoryContext& context, std::uint64_t base,
                const MemoryChoice& choice, EventQueue& event_queue, const Lacking& lacking = {});
  ~ForeignMemory() override;

  ResponsePort<ForeignMemory, Access> bus_tsock;
  RequestPort<ForeignMemory, Part> memory_isock;  ///< for memory() to be bound to
  [[nodiscard]] MemorySocket memory() { return model_->socket(); }
  /// What no memory of which `capacity` is asked can say of itself; empty: nothing.
  [[nodiscard]] static std::string contradiction(const MemoryTraits& traits, Bytes capacity);

  [[nodiscard]] const MemoryCounters& counters() const { return counters_; }
  [[nodiscard]] const std::string& model() const { return name_; }
  [[nodiscard]] std::string key() const { return "ssd." + place_ + ".model"; }
  /// The memory has something to answer: the kernel's time must go on.
  [[nodiscard]] bool busy() const { return outstanding_ > 0; }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const;
  void reset_statistics();
  /// Throws InputError when it cannot.
  void check_archives() const;
  void archive(Archive& archive);

  // For the ports: the bus's, then the memory's.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  [[nodiscard]] Picoseconds responding(Access& access) const;
  void consumed(Access& access);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);
  [[nodiscard]] Picoseconds departure(Part& part);
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  void answered_wrongly(const tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status, unsigned phase);

 private:
  /// A transaction of the bus.
  struct Access {
    ForeignMemory* owner = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    Picoseconds arrived = 0;
    Bytes sent = 0;
    Bytes answered = 0;
    Access* next = nullptr;
  };
  enum class Debug : std::uint8_t { unknown, answered, missing };

  void check_traits(const Lacking& lacking) const;
  /// With what is under way.
  [[nodiscard]] MemoryCounters counted() const;
  /// The response status of what the memory is not asked for; OK: it is.
  [[nodiscard]] tlm::tlm_response_status status(const tlm::tlm_generic_payload& payload) const;
  void arrive(Access& access);
  void pump();
  Part& next_part(Access& access);
  void finish(Part& part);
  void check(const Part& part) const;
  [[nodiscard]] InputError error(const std::string& what) const;
  [[nodiscard]] InputError silent() const;
  /// To be thrown by the process of the event queue, wherever it was found.
  void fail(std::exception_ptr thrown);
  void work();
  void call(Part& part);
  void look_for_silence();

  EventQueue& event_queue_;
  std::string name_;
  std::string place_;
  std::uint64_t base_;
  Bytes capacity_;
  std::unique_ptr<MemoryModel> model_;
  MemoryTraits traits_;
  std::uint32_t at_once_ = 1;

  Pool<Access> accesses_;
  Parts parts_;
  IntrusiveQueue<Access> waiting_;  // not wholly sent
  std::uint32_t outstanding_ = 0;   // transactions given to the memory's port
  std::uint32_t under_way_ = 0;     // that have gone
  // b_transport
  IntrusiveQueue<Part> ready_;
  sc_core::sc_event ready_event_;
  std::uint32_t threads_ = 0;
  std::uint32_t idle_threads_ = 0;

  sc_core::sc_event silence_;
  Picoseconds last_answer_ = 0;
  std::exception_ptr error_;
  Debug debug_ = Debug::unknown;

  MemoryCounters counters_;
  std::uint64_t transactions_ = 0;
  Picoseconds busy_since_ = 0;
};

}  // namespace tlmssd
