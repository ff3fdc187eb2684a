// The flash controller: takes operations from the processor, hands them to their channels and moves
// their data between DRAM and the channels.
//
// Models one DMA transfer per data phase through memory_isock: it starts when the channel's data
// phase starts and streams along with it, so a phase is over when both the channel and memory are
// done. Memory may tell the end at once or later (memory_client.h). A program whose memory answers
// late is loaded into the die only after that answer. What is read with a code goes through a
// decoder on its way to memory and is done when both are. Leaves out a limit on buffers. The same
// payload goes cpu -> controller -> channel -> die; operations without a FlashExtension get an
// error response.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/base/die_watcher.h"
#include "models/flash/ecc/ecc_engines.h"
#include "models/flash/flash_channel.h"
#include "models/memory/memory_client.h"
#include "models/tlm/ports.h"

namespace tlmssd {

class FlashController : public sc_core::sc_module {
 public:
  FlashController(const sc_core::sc_module_name& name, EventQueue& event_queue, const FlashSetup& setup);

  ResponsePort<FlashController, FlashJob> cpu_tsock;
  std::deque<InitiatorSocket<FlashController>> channel_isock;  ///< one per channel

 private:
  MemoryClient memory_;

 public:
  MemoryClient::Port& memory_isock;

  /// Operations queued or running on a die.
  [[nodiscard]] std::uint32_t pending(DieId die) const { return routes_[index(die)].pending; }
  /// Of these, those that are not reads.
  [[nodiscard]] std::uint32_t writing(DieId die) const { return routes_[index(die)].writing; }
  void watch(DieWatcher& watcher) { watcher_ = &watcher; }
  /// All of them.
  [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }

  [[nodiscard]] EccEngines& ecc() { return ecc_; }
  [[nodiscard]] const EccEngines& ecc() const { return ecc_; }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const { ecc_.tell_busy(sink, event_queue_.now()); }
  void reset_statistics();

  // For the ports: the processor's, then the channels' sockets.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  Picoseconds responding(FlashJob& job);
  void consumed(FlashJob& /*job*/) {}
  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  void plan_senses(FlashOp& op) const;
  [[nodiscard]] bool counts_errors(const FlashOp& op) const {
    return setup_.errors && op.command == FlashCommand::read && op.code != EccCode::none;
  }
  void place_errors(FlashOp& op, std::uint32_t* errors) const;
  std::uint32_t* take_errors();
  void give_errors(FlashOp& op);
  [[nodiscard]] std::uint32_t slots_of_plane(const FlashOp& op, std::uint32_t slot) const;
  void decode(FlashOp& op);
  EccEngines::Slot pass_decoders(FlashOp& op, Picoseconds arrived);
  Picoseconds decoded(FlashOp& op);
  void move_data(FlashJob& job);
  void flash_done(FlashJob& job);
  static void respond_due(void* job) {
    static_cast<FlashJob*>(job)->controller->cpu_tsock.respond(*static_cast<FlashJob*>(job));
  }
  static void moved_late(void* job) {
    static_cast<FlashJob*>(job)->controller->data_there(*static_cast<FlashJob*>(job));
  }
  void data_there(FlashJob& job);

  EventQueue& event_queue_;
  FlashSetup setup_;
  /// A die as the controller sees it.
  struct Route {
    InitiatorSocket<FlashController>* socket;  // of its channel
    std::uint32_t pending;
    std::uint32_t writing;
  };
  std::vector<Route> routes_;  // by die
  DieWatcher* watcher_ = nullptr;
  std::uint64_t outstanding_ = 0;

  EccEngines ecc_;
  std::uint32_t frames_per_unit_;
  // Room for the wrong bits of every frame that one read can bring.
  std::vector<std::unique_ptr<std::uint32_t[]>> errors_;
  std::vector<std::uint32_t*> free_errors_;
  std::uint64_t memory_transfers_ = 0;
  Bytes memory_bytes_ = 0;
  Picoseconds memory_late_ = 0;
};

}  // namespace tlmssd
