// A drive's whole flash back end, put together and bound: controller, channels and dies.
//
// Owns what they share (geometry, bus timing, timing model, scheduling policy, gangs). Left to bind
// are controller.cpu_tsock and controller.memory_isock. A tap (a protocol checker, say) can be put
// between any two sockets by Between.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/busy_sink.h"
#include "models/flash/bus_gang.h"
#include "models/flash/flash_controller.h"
#include "models/nand/nand_die.h"

namespace tlmssd {

/// What goes wrong with data in flash and what is done about it.
struct FlashErrors {
  EccConfig ecc;
  std::unique_ptr<BitErrors> bits;  ///< null: every bit is read as it was programmed
  RetentionConfig retention;
};

class FlashArray {
 public:
  /// Binds an initiator socket to a target socket, with something in between or not.
  using Between = std::function<void(tlm::tlm_initiator_socket<>&, tlm::tlm_target_socket<>&)>;

  /// `part` and `config` are copied. The blocks of `part` may have been overridden by the scenario
  /// before.
  FlashArray(EventQueue& event_queue, const NandPart& part, const FlashConfig& config,
             std::unique_ptr<Scheduler> scheduler, std::unique_ptr<TimingModel> timing, Bytes unit_bytes,
             std::uint32_t stamps_per_unit, std::uint64_t seed, const Between& between = {},
             FlashErrors errors = {});

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const NandPart& part() const { return part_; }
  [[nodiscard]] const Scheduler& scheduler() const { return *scheduler_; }
  [[nodiscard]] const BusTiming& bus() const { return bus_; }
  [[nodiscard]] FlashController& controller() { return *controller_; }
  [[nodiscard]] FlashChannel& channel(ChannelId channel) { return *channels_[index(channel)]; }
  /// None when every channel has lines of its own.
  [[nodiscard]] const std::vector<std::unique_ptr<BusGang>>& gangs() const { return gangs_; }
  [[nodiscard]] NandDie& die(DieId die) { return *dies_[index(die)]; }
  [[nodiscard]] const NandDie& die(DieId die) const { return *dies_[index(die)]; }
  /// Has the processor fetch what an operation will touch. The state of a few dies stays in the
  /// caches without that.
  void prefetch(const FlashOp& op) const {
    const NandDie& die = *dies_[index(op.die)];
    die.state().prefetch(op);
    if (dies_.size() < k_many_dies) return;
    die.prefetch();
    const std::uint32_t dies = geometry_.dies_per_channel();
    channels_[index(op.die) / dies]->prefetch(index(op.die) % dies);
  }
  void set_observer(FlashObserver* observer);
  /// All blocks go through `cycles` program/erase cycles more, and `seconds` pass at `celsius`,
  /// without the simulation seeing it.
  void age(std::uint32_t cycles, double seconds, double celsius);
  /// Every page that holds data is read so many times, without the simulation seeing it.
  void disturb(std::uint32_t reads);
  [[nodiscard]] const RetentionClock& retention_clock() const { return clock_; }
  /// A model looks at the age of data, and the clock of retention has come to its end.
  [[nodiscard]] bool retention_ended() const {
    return (bit_errors_ != nullptr || timing_->looks_at_history()) && clock_.has_ended(event_queue_.now());
  }
  /// Contents and wear of all dies; no operation may be under way.
  void archive(Archive& a);
  /// Totals, then a group per gang, a group per channel with its dies, and a group per die with its
  /// array.
  void report(StatisticsSink& sink) const;
  void tell_busy(BusySink& sink) const;
  void reset_statistics();

 private:
  static constexpr std::size_t k_many_dies = 128;
  void build_gangs();

  EventQueue& event_queue_;
  NandPart part_;
  FlashConfig config_;
  Geometry geometry_;
  BusTiming bus_;
  EccConfig ecc_;
  std::unique_ptr<BitErrors> bit_errors_;
  RetentionClock clock_;
  std::unique_ptr<TimingModel> timing_;
  NandVariation variation_;
  std::optional<PowerBudget> budget_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<FlashController> controller_;
  std::vector<std::unique_ptr<FlashChannel>> channels_;
  std::vector<std::unique_ptr<BusGang>> gangs_;
  std::vector<std::unique_ptr<NandDie>> dies_;
  Picoseconds measured_from_ = 0;
};

}  // namespace tlmssd
