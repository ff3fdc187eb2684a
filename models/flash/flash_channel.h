// A flash channel: one bus, and the queues of the dies on it.
//
// Models a queue per die, the policy that chooses from it, the bus with one user at a time,
// command, address, data and status phases, way interleaving, multi-plane operation, cached read
// and program, and program and erase suspend for reads. Every operation takes the same steps: wait
// in its die's queue; command (and data in) on the bus; array; data out or status on the bus; done.
// A copyback has command and array for every page it senses and once more to program them, then
// status; it holds its die throughout and the bus in these phases only. A program or copyback of a
// whole block repeats its steps for every word line, a read that its decoder wants several senses
// of for every sense; between two repetitions others may go first. Channels that share data or
// control lines form a gang (bus_gang.h).
//
// Closed forms that a saturated channel with D dies reaches (tests hold it to them). With, per operation, C the read command,
// O data out, W data in, S status, swaps tRCBSY and tCBSY, and B bytes:
//   read,    plain   B * min(D / (C + tR + O), 1 / (C + O))            write, plain   B * min(D / (W + tPROG + S), 1 / (W + S))
//   read,    cached  B * min(D / (C + tRCBSY + tR), 1 / (C + O))       write, cached  B * min(D / (tCBSY + tPROG), 1 / (W + S))
//   copyback of n pages, which the part programs at a time, with P the program command
//                    B * min(D / (n C + sum of tR + P + tPROG + S), 1 / (n C + P + S))
//
// The bus is granted to commands without data first: they are short and keep arrays busy; then to
// transfers; each kind in the order of becoming ready. Waits are charged to the ledger of who
// waits: to what the die was busy with meanwhile, else to the bus.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "models/base/prefetch.h"
#include "models/flash/bus_gang.h"
#include "models/flash/ecc/ecc_config.h"
#include "models/flash/flash_config.h"
#include "models/flash/flash_job.h"
#include "models/flash/flash_statistics.h"
#include "models/flash/scheduling/scheduler.h"
#include "models/nand/bus_timing.h"
#include "models/nand/flash_phases.h"
#include "models/tlm/kernel_time.h"

namespace tlmssd {

/// What all channels of a drive have in common; must outlive them.
struct FlashSetup {
  const NandPart& part;
  const Geometry& geometry;
  const FlashConfig& config;
  const BusTiming& bus;
  const Scheduler& scheduler;
  Bytes unit_bytes;                   ///< mapping page; divides the page
  const EccConfig& ecc;               ///< codes and decoders
  bool errors = false;                ///< reads have wrong bits
  std::uint64_t seed = 1;             ///< of the controller's random streams
  std::uint32_t stamps_per_unit = 1;  ///< logical blocks of a mapping page
};

class FlashChannel : public sc_core::sc_module {
 public:
  FlashChannel(const sc_core::sc_module_name& name, EventQueue& event_queue, const FlashSetup& setup,
               ChannelId channel);

  TargetSocket<FlashChannel> controller_tsock;
  std::deque<InitiatorSocket<FlashChannel>> die_isock;  ///< one per die, in the order of their ids

  void set_observer(FlashObserver* observer) { observer_ = observer; }
  /// Has the processor fetch what an operation on this die will touch.
  void prefetch(std::uint32_t way) const {
    prefetch_lines<sizeof(Die) - sizeof(Die::busy_at_reset)>(&dies_[way]);
    die_isock[way].prefetch();
  }
  /// Up to now: of a phase that is still on the bus, what has passed.
  [[nodiscard]] FlashCounts counts() const;
  /// Busy time of a die by cause (die_read ... die_map, suspend) since the last reset.
  [[nodiscard]] std::array<Picoseconds, k_busy_causes> busy(std::uint32_t way) const;
  /// Of the time measured, how long its bus was held.
  [[nodiscard]] Picoseconds bus_held() const { return counts_.bus_busy() - bus_ahead(); }
  void report(StatisticsSink& sink) const;
  void reset_statistics();

  // For the sockets.
  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  friend class BusGang;  // grants the bus in place of arbitrate()
  enum class Action : std::uint8_t { none, begin, suspend, resume };
  /// A die's wish for the bus, in one of two queues.
  struct BusRequest {
    BusRequest* previous = nullptr;
    BusRequest* next = nullptr;
    std::int8_t queue = -1;  // 0: commands without data, 1: transfers, -1: none
    bool finish = false;     // data out or status, otherwise something new
    std::uint32_t way = 0;
    std::uint64_t ticket = 0;  // in a gang: order of asking over all members
  };
  /// What the channel knows of one die.
  struct Die {
    JobQueue queues[k_die_queues];
    FlashJob* array = nullptr;   // commanded, has not answered
    FlashJob* cached = nullptr;  // program whose data are in while `array` is still programming
    FlashJob* output = nullptr;  // has answered; data out or status outstanding
    FlashJob* suspended = nullptr;
    Picoseconds ready = 0;        // a suspended die takes reads from here on
    Picoseconds retry = k_never;  // an event queue item will look again at this instant
    FlashChannel* channel = nullptr;
    InitiatorSocket<FlashChannel>* socket = nullptr;
    InitiatorSocket<FlashChannel>::Peer* bound = nullptr;  // to the socket, once it has been asked for
    BusRequest start;
    BusRequest finish;
    // Busy time by cause; the current cause since `since`.
    Picoseconds since = 0;
    std::size_t cause = k_busy_causes;     // none
    std::size_t blocker = k_die_blockers;  // none
    std::uint32_t known = 0;               // of the times, those that may be above zero: a bit each
    DieTimes times{};
    std::array<Picoseconds, k_busy_causes> busy_at_reset{};
  };

  // Arrival and choice.
  static void admit_due(void* job) {
    static_cast<FlashJob*>(job)->channel->admit(*static_cast<FlashJob*>(job));
  }
  void admit(FlashJob& job);
  void enqueue(FlashJob& job);
  void release_in_order();
  [[nodiscard]] FlashJob* head(const Die& die) const;
  /// As a rule the head; looks at no job.
  [[nodiscard]] static const FlashJob* first_waiting(const Die& die) {
    const JobQueue& urgent = die.queues[static_cast<std::size_t>(DieQueue::urgent)];
    return (urgent.empty() ? die.queues[static_cast<std::size_t>(DieQueue::normal)] : urgent).front();
  }
  [[nodiscard]] Action next_action(Die& die, FlashJob* job);
  [[nodiscard]] bool can_begin(const Die& die, const FlashJob& job) const;
  bool may_suspend(Die& die, const FlashJob& job);
  bool not_suspended(FlashJob& running, SuspendLimit limit);
  /// It may begin while its die is busy with another of its kind.
  [[nodiscard]] bool may_be_cached(const FlashJob& job) const {
    return (cache_program_ && job.op->command == FlashCommand::program) ||
           (cache_read_ && job.op->command == FlashCommand::read);
  }
  [[nodiscard]] std::uint16_t pages_of_step(const FlashJob& job) const {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(step_pages_, job.op->pages - job.pages_done));
  }
  [[nodiscard]] bool several_steps(const FlashJob& job) const {
    if (job.op->command == FlashCommand::read) return job.op->senses > 1;
    return job.op->command == FlashCommand::program &&
           (job.op->pages > step_pages_ || setup_.part.passes(job.op->mode) > 1);
  }
  void consider(Die& die);
  static void retry_due(void* die) { static_cast<Die*>(die)->channel->retry(*static_cast<Die*>(die)); }
  void retry(Die& die);
  void retry_at(Die& die, Picoseconds when);

  /// The die that the job is for.
  [[nodiscard]] Die& die_of(const FlashJob& job) { return dies_[index(job.op->die) - first_die_]; }
  /// The die's own interface, beside all else that is looked at of it.
  InitiatorSocket<FlashChannel>::Peer& interface_of(const FlashJob& job) {
    Die& die = die_of(job);
    if (die.bound == nullptr) die.bound = &die.socket->peer();
    return *die.bound;
  }

  // Bus.
  void request(BusRequest& request, int queue);
  void withdraw(BusRequest& request) {
    if (request.queue >= 0) bus_queues_[std::exchange(request.queue, -1)].erase(request);
  }
  static void bus_due(void* self) { static_cast<FlashChannel*>(self)->bus_free(); }
  static void deferred_due(void* self) { static_cast<FlashChannel*>(self)->deferred(); }
  void bus_free();
  void deferred();
  [[nodiscard]] BusRequest* first_request() const {
    return bus_queues_[bus_queues_[0].empty() ? 1 : 0].front();
  }
  [[nodiscard]] BusRequest* gang_request() {
    return data_there_ != nullptr ? &late_program_ : first_request();
  }
  [[nodiscard]] bool bus_busy();
  /// Of the phase on the bus, what lies ahead.
  [[nodiscard]] Picoseconds bus_ahead() const {
    return bus_until_ == k_never ? 0 : std::max<Picoseconds>(bus_until_ - event_queue_.now(), 0);
  }
  void arbitrate();
  void grant(BusRequest& request);
  [[nodiscard]] bool must_wait(const BusRequest& request) const;
  void arm(Picoseconds when);
  void hold_bus(const FlashJob& job, Picoseconds control, Picoseconds until, BusUse use, Picoseconds data);

  // Steps of an operation.
  void start(Die& die);
  void begin(Die& die, FlashJob& job);
  void command(FlashJob& job, Picoseconds extra);
  void suspend(Die& die);
  void resume(Die& die);
  void finish(Die& die);
  void continue_copyback(Die& die);
  void finished(Die& die);
  void charge_wait(Die& die, FlashJob& job);
  void note_busy(Die& die, FlashJob& job);
  static void charge_busy(const Die& die, Ledger& ledger, BusyBefore& before);
  void occupy(Die& die);
  void settle(Die& die);
  Picoseconds announce_data(FlashJob& job);
  void count(const FlashJob& job);

  EventQueue& event_queue_;
  FlashSetup setup_;
  ChannelId channel_;
  std::uint32_t first_die_;
  std::uint32_t step_pages_;
  bool channel_order_;
  bool cache_read_;
  bool cache_program_;
  std::vector<Die> dies_;
  Pool<BusyBefore> busy_before_;
  JobQueue arrivals_;             // in-order only: not yet let to their dies
  FlashJob* released_ = nullptr;  // in-order only: let to its die, not yet started
  IntrusiveQueue<BusRequest> bus_queues_[2];
  Picoseconds bus_until_ = 0;
  Picoseconds phase_until_ = 0;       // end of the latest phase: none may begin before
  BusUse bus_use_ = BusUse::command;  // of the latest phase
  Picoseconds bus_data_ = 0;          // its last part, in which bytes move
  Picoseconds bus_memory_ = 0;        // the part before that, in which memory has yet to bring them
  bool armed_ = false;
  bool deferred_ = false;
  bool in_forward_ = false;            // within a call from the controller: no call back
  Die* in_backward_ = nullptr;         // within a call from this die: no call back
  Die* transferring_ = nullptr;        // data out or status on the bus
  FlashJob* awaiting_data_ = nullptr;  // program that holds the bus until memory has answered
  BusGang* gang_ = nullptr;            // null: the channel's lines are its own
  BusRequest late_program_;            // for the control lines of the gang
  FlashJob* data_there_ = nullptr;     // its job: memory has answered
  FlashObserver* observer_ = nullptr;
  FlashCounts counts_;
  Picoseconds measured_from_ = 0;
};

}  // namespace tlmssd
