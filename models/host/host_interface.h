// The drive's face to the host: submission queues, arbitration, command fetch, data transfer,
// completion. NVMe or SATA.
//
// Phases on host_tsock (payload with HostExtension; data pointer: the stamps):
//   BEGIN_REQ   the entry is in its submission queue and the doorbell rings
//   END_REQ     the queue has taken it: at once while it has a free slot, else when one frees. That stops the host's socket, as a
//               full queue stops a driver; commands under way always finish, so it is never for good.
//   BEGIN_RESP  completion entry and interrupt have arrived
//   END_RESP    the host has consumed it; until then it holds its slot and its share of `outstanding_limit`
//
// A command: [submission] until the arbiter picks it; [link] doorbell (if it has not arrived
// meanwhile), entry fetch, for writes payload fetch with the DRAM write alongside (cut-through from
// the first byte: [memory] is what exceeds the link); mailbox; for reads the DRAM read with the
// transfer alongside ([memory] likewise); [link] completion entry and interrupt. The ledger is
// charged with exactly that.
//
// SATA: flush, trim and write zeroes are non-queued ATA commands (FLUSH CACHE EXT, DATA SET
// MANAGEMENT). The host issues one when all that it has issued before has completed, and nothing
// until it has; the queue here stands for the host's, so both wait in it, in their order
// ([submission], behind the load that issued it). Reads and writes are NCQ, with force unit access,
// too.
//
// A failed command is answered TLM_GENERIC_ERROR_RESPONSE, one of addresses beyond the drive
// TLM_ADDRESS_ERROR_RESPONSE, with the reason in HostCommand::status;
// addresses beyond the drive and malformed commands are refused here and never reach firmware. A
// payload without HostExtension is a plain read or write on queue 0: address in bytes, data: one
// stamp (2 B) per logical block.
//
// Debug transport is the untimed path: the command is complete when the call returns. Blocking
// transport of timed commands would need wait() and is answered TLM_COMMAND_ERROR_RESPONSE. Left
// out: PRP/SGL fetches (assumed inside the read requests), fused and admin commands, metadata,
// shadow doorbells, waiting for a data buffer in DRAM: with more commands under way than buffers of
// max_transfer fit, several have the same address, which only a memory that looks at addresses
// notices.
#pragma once

#include <systemc>
#include <tlm>

#include <array>
#include <memory>
#include <vector>

#include "models/base/archive.h"
#include "models/base/event_queue.h"
#include "models/base/host_command.h"
#include "models/base/statistics.h"
#include "models/host/arbiter.h"
#include "models/host/host_config.h"
#include "models/host/link.h"
#include "models/memory/memory_client.h"
#include "models/tlm/ports.h"

namespace tlmssd {

/// What the host interface must know of the rest of the drive.
struct HostWiring {
  std::uint64_t capacity_blocks = 0;  ///< logical blocks the host may address
  std::uint64_t buffer_address = 0;   ///< system bus address of the DRAM region that holds data in flight
  Bytes buffer_bytes = 0;             ///< its size; at least one max_transfer
};

class HostInterface : public sc_core::sc_module {
  using Entry = HostExtension;  ///< one command from BEGIN_REQ to END_RESP

 public:
  /// `config` must have passed validate().
  HostInterface(const sc_core::sc_module_name& name, const HostConfig& config, const HostWiring& wiring,
                EventQueue& event_queue);

  ResponsePort<HostInterface, Entry> host_tsock;
  RequestPort<HostInterface, Entry> mailbox_isock;

 private:
  MemoryClient memory_;

 public:
  MemoryClient::Port& memory_isock;

  /// Commands in the queues or under way.
  [[nodiscard]] std::uint32_t outstanding() const { return queued_ + under_way_; }
  /// `callback(self)` is called whenever outstanding() has fallen to 0; null: it is not.
  void on_quiet(EventQueue::Callback callback, void* self) {
    quiet_ = callback;
    quiet_self_ = self;
  }
  /// Commands taken from the queues and not completed.
  [[nodiscard]] std::uint32_t under_way() const { return under_way_; }
  [[nodiscard]] Link& link() { return link_; }

  void set_observer(LinkObserver* observer) { link_.set_observer(observer); }
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const { link_.tell_busy(sink, event_queue_.now()); }
  void reset_statistics();
  void archive(Archive& a) {
    arbiter_.archive(a);
    link_.archive(a);
  }

  // For the ports: the host's, then the mailbox's.
  Reply request(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  Picoseconds responding(Entry& entry);
  void consumed(Entry& entry);
  void responded(unsigned index, tlm::tlm_generic_payload& payload, Picoseconds when);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  using List = IntrusiveQueue<Entry>;
  struct Queue {
    List waiting;
    std::uint32_t taken = 0;  // slots in use, from END_REQ to completion
    List coalescing;          // completed, interrupt held back
    std::uint64_t fetched = 0;
    Picoseconds waited = 0;
    HostInterface* host = nullptr;
    std::uint32_t index = 0;
    Picoseconds deadline = 0;  // of the oldest interrupt held back
  };

  Entry* adopt(tlm::tlm_generic_payload& payload);
  Entry* adopt_plain(tlm::tlm_generic_payload& payload);
  static void abandon(Entry& entry);
  void forget(Entry& entry);
  [[nodiscard]] CommandLimits limits() const {
    return {wiring_.capacity_blocks, config_.lba_size, config_.max_transfer};
  }
  [[nodiscard]] Bytes data_bytes(const HostCommand& command) const {
    return Bytes{command.blocks} * config_.lba_size;
  }
  [[nodiscard]] Bytes fetched_bytes(const HostCommand& command) const;
  void count(const HostCommand& command);
  void enqueue(Entry& entry);
  void admit_stalled();
  void pump();
  [[nodiscard]] bool may_issue() const;
  void hold_up();
  void go_on();
  void fetch(Entry& entry);
  void begin_payload(Entry& entry);
  void fetched(Entry& entry, Picoseconds memory_end);
  void answer(Entry& entry);
  void answered(Entry& entry, Picoseconds memory_end);
  void completed(Entry& entry);
  void flush(Queue& queue);

  HostConfig config_;
  HostWiring wiring_;
  EventQueue& event_queue_;
  Link link_;
  Arbiter arbiter_;
  std::uint32_t depth_;
  std::uint32_t limit_;
  std::uint64_t buffers_;
  bool sata_;
  std::vector<Queue> queues_;
  Pool<Entry> plain_;                        ///< stand in for extensions that payloads came without
  std::vector<std::uint32_t> free_indices_;  ///< the one given back last at the end
  std::uint32_t indices_ = 0;                ///< given out so far
  Entry* stalled_ = nullptr;                 // BEGIN_REQ without END_REQ: its queue is full
  bool arriving_ = false;                    // stalled_ has not arrived yet (annotated into the future)
  EventQueue::Callback quiet_ = nullptr;
  void* quiet_self_ = nullptr;
  std::uint32_t queued_ = 0;
  std::uint32_t under_way_ = 0;
  bool alone_ = false;                ///< what is under way is a non-queued command of SATA
  std::uint8_t alone_owner_ = 0;      ///< of that command
  std::uint8_t holds_up_ = 0;         ///< owner of the command that the queue stands for
  Picoseconds held_since_ = k_never;  ///< from when on it does; k_never: it does not
  Picoseconds counted_from_ = 0;      ///< statistics count from then on

  struct Counters {
    std::array<std::uint64_t, k_opcodes> commands{};
    std::array<Bytes, k_opcodes> bytes{};
    std::uint64_t failed = 0;
    std::uint64_t interrupts = 0;
    std::uint64_t stalls = 0;
    Picoseconds unexplained = 0;
    Picoseconds held_up = 0;
  } counters_;
};

}  // namespace tlmssd
