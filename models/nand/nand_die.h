// A NAND die on its channel: the SystemC shell around DieState and a timing model.
//
// The four phases are the die's hand-shake: BEGIN_REQ, command and address (and data in) start on
// the bus; END_REQ, R/B# falls, annotated in the answer to BEGIN_REQ because the length of the bus
// phase is known; BEGIN_RESP, R/B# rises: the array is done; END_RESP, data out or status are
// through. Models the data register and the cache register: the next read may be sensed while one
// is transferred out, the next program may be transferred in while one is programmed, where the
// part allows it; and program and erase suspend (phases array_suspend, array_resume). Array
// operations take effect in the die's state when their command starts. A program that covers a
// whole block goes word line by word line: one transaction each, all with the same payload. Debug
// transport executes at once; blocking transport also, and adds the unloaded latency. Whatever
// silicon would not do ends in a NandViolation. A read may take several senses, of the same page
// with other reference voltages or of the pages of a word line: one transaction each. A copyback is
// a transaction for every source page it senses and one to program them; in between the page
// register is taken, and the die refuses others. Leaves out reset, the feature commands that set
// reference voltages, and status details.
#pragma once

#include <array>
#include <vector>

#include "models/nand/bus_timing.h"
#include "models/nand/die_state.h"
#include "models/nand/flash_observer.h"
#include "models/nand/flash_phases.h"
#include "models/nand/power_budget.h"
#include "models/nand/timing/timing_model.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/transport.h"

namespace tlmssd {

/// What all dies of a drive have in common; must outlive them.
struct NandSetup {
  const NandPart& part;
  const Geometry& geometry;
  const BusTiming& bus;
  const TimingModel& timing;
  Bytes unit_bytes;               ///< mapping page; divides the page
  std::uint32_t stamps_per_unit;  ///< logical blocks per mapping page
  std::uint64_t seed;
  std::shared_ptr<ContentStore> contents = {};  ///< for the contents of all dies; null: each die has its own
  DieErrors errors = {};                        ///< none: every bit is read as it was programmed
  const NandVariation* variation = nullptr;     ///< null: all dies, blocks and layers are alike
  PowerBudget* budget = nullptr;                ///< of all dies together; null: there is no limit
};

class NandDie : public sc_core::sc_module {
 public:
  NandDie(const sc_core::sc_module_name& name, EventQueue& event_queue, const NandSetup& setup, DieId die);

  TargetSocket<NandDie> channel_tsock;

  [[nodiscard]] DieState& state() { return state_; }
  [[nodiscard]] const DieState& state() const { return state_; }
  void set_observer(FlashObserver* observer) { observer_ = observer; }
  /// Has the processor fetch what an operation will touch of the die itself.
  void prefetch() const {
    state_.prefetch();
    channel_tsock.prefetch();
    prefetch_lines<3 * sizeof(Active)>(&self_);
  }
  [[nodiscard]] double rber(PlaneId plane, BlockId block, PageId page, std::uint32_t retry_level = 0) const {
    return state_.rber(plane, block, page, retry_level, event_queue_.now());
  }
  /// No operation may be under way.
  void archive(Archive& a) { state_.archive(a); }
  void report(StatisticsSink& sink) const;
  /// Of the time measured, how long the array was sensing, programming or erasing.
  [[nodiscard]] Picoseconds array_busy() const;
  void reset_statistics();

  // For the socket.
  tlm::tlm_sync_enum forward(unsigned index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(unsigned index, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(unsigned index, tlm::tlm_generic_payload& payload);

 private:
  /// An operation in the array, in the cache register or waiting to answer.
  struct Active {
    tlm::tlm_generic_payload* payload = nullptr;
    FlashOp* op = nullptr;
    Picoseconds ready = 0;     ///< R/B# falls: command and data are in
    Picoseconds start = 0;     ///< the array began (or went on after a suspension)
    Picoseconds end = 0;       ///< the array will be done
    Picoseconds duration = 0;  ///< of the array, without register swap; what is left of it after a suspension
    Picoseconds total = 0;     ///< of the array, from the first start
    PageId first{};            ///< program, copyback: first page of the step under way
    std::uint32_t pages = 0;
    std::vector<Picoseconds> suspend_points;
    std::uint32_t suspends = 0;
    Picoseconds slowed = 0;       ///< read: of `duration`, what the power budget has added
    Picoseconds suspendable = 0;  ///< next suspend not before this instant
    explicit operator bool() const { return payload != nullptr; }
    /// Begins anew with an operation on which the array will work as `answer` says.
    void take(tlm::tlm_generic_payload& transaction, FlashOp& operation, ArrayAnswer& answer) {
      payload = &transaction;
      op = &operation;
      duration = total = answer.duration;
      first = {};
      pages = 0;
      suspend_points.swap(answer.suspend_points);
      suspends = 0;
      slowed = 0;
      suspendable = 0;
    }
  };

  tlm::tlm_sync_enum begin(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum suspend(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void resume(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  void check_free(const FlashOp& op) const;
  [[nodiscard]] bool steps_left(const FlashOp& op) const;
  /// Executes (the next part of) `op` on the state; returns how long the array works on it, and its
  /// bus time in `bus`.
  ArrayAnswer perform(FlashOp& op, Picoseconds now, std::uint32_t limit, Picoseconds& bus);
  void slow_down(ArrayAnswer& answer);
  ArrayAnswer perform_on_state(FlashOp& op, Picoseconds now, std::uint32_t limit, Picoseconds& bus);
  [[nodiscard]] ArrayAnswer ask_all(ArrayOperation& asked, const FlashOp& op, BlockId number,
                                    Picoseconds now) const;
  [[nodiscard]] ArrayAnswer ask(ArrayOperation& asked, PlaneId plane, BlockId number, Picoseconds now) const;
  void check_suspend_points(const ArrayOperation& asked, const ArrayAnswer& answer) const;
  [[noreturn]] void refuse_answer(const ArrayOperation& asked, const std::string& answer) const;
  [[nodiscard]] ArrayAnswer ask_sense(const FlashOp& op, BlockId number, PageId page, BlockMode mode,
                                      Picoseconds now) const;
  [[nodiscard]] ArrayAnswer ask_program(const FlashOp& op, PageId first, std::uint32_t pages, bool resumed,
                                        Picoseconds now) const;
  [[nodiscard]] ArrayAnswer ask_erase(const FlashOp& op, bool resumed, Picoseconds now) const;
  static void take_pass(ArrayAnswer& answer, std::uint32_t passes, bool last);
  [[nodiscard]] Picoseconds since_pulse(const Active& active, Picoseconds instant) const;
  [[nodiscard]] Picoseconds next_stop(const Active& active, Picoseconds instant) const;
  void stretch_rest(Active& active, Picoseconds now) const;
  void start_array(Picoseconds start, Picoseconds swap);
  void stop_array(const FlashOp& op, Picoseconds start, Picoseconds until);
  [[nodiscard]] Picoseconds under_way() const;
  static void array_due(void* self) { (*static_cast<NandDie**>(self))->array_done(); }
  void array_done();
  void respond(tlm::tlm_generic_payload& payload, const FlashOp& op);
  void end_response(tlm::tlm_generic_payload& payload);
  static void respond_due(void* self) { static_cast<NandDie*>(self)->respond_held(); }
  void respond_held();

  EventQueue& event_queue_;
  NandSetup setup_;
  DieState state_;
  FlashObserver* observer_ = nullptr;

  // What every operation touches lies together and begins with what the event queue is given for
  // the array's end, so that it is fetched ahead.
  NandDie* self_ = this;
  Active array_;
  tlm::tlm_generic_payload* responding_ = nullptr;  // between BEGIN_RESP and END_RESP
  const FlashOp* copying_ = nullptr;                // copyback whose pages are in the page register
  FlashCommand responding_command_ = FlashCommand::read;
  std::uint32_t held_count_ = 0;
  Active cached_;  // program whose data are in the cache register
  Active suspended_;
  std::array<tlm::tlm_generic_payload*, 2> held_{};  // array done, waiting for END_RESP of the one before

  bool history_;                // whether the timing model looks at more than page and cycles
  double energy_ = 0;           // joules since the last reset; 0: the timing model says nothing of it
  Picoseconds array_busy_ = 0;  // by what has ended
  std::uint64_t suspends_ = 0;
  std::uint64_t slow_reads_ = 0;
  Picoseconds slowed_by_ = 0;  ///< the sense that was asked for last
  Picoseconds measured_from_ = 0;
};

}  // namespace tlmssd
