// The drive: all models made from one configuration, bound together, with the firmware running on
// its controller.
//
//   HostInterface = mailbox = ControllerCpu = flash = FlashController = FlashChannel[c] = NandDie[c][w]
//        |                        |                      |
//        +------------------- SystemBus ----------------+--- Dram, Scm
//
// Every "=" and "-" is a TLM-2.0 socket; with `check_protocol` a protocol checker sits in each of
// them. The outside binds to host_socket() alone. Timed operation is the kernel's; untimed
// operation (preconditioning, inspection) goes through debug transport of the same sockets and runs
// the same firmware.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firmware/ftl.h"
#include "models/base/event_queue.h"
#include "models/base/identity.h"
#include "models/flash/flash_array.h"
#include "models/host/host_memory.h"
#include "models/memory/foreign_memory.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/protocol_checker.h"
#include "platform/firmware_guard.h"
#include "platform/firmware_port.h"
#include "platform/lifetime.h"
#include "platform/ssd_config.h"

namespace tlmssd {

/// Who wants to see what the drive's resources do (timeline). Null: no observer.
struct SsdObservers {
  FlashObserver* flash = nullptr;
  CpuObserver* cpu = nullptr;
  LinkObserver* link = nullptr;
};

class Ssd : public sc_core::sc_module {
 public:
  /// Throws InputError when a value of the configuration is out of its range or its parts do not
  /// fit each other; the message names the scenario's key.
  Ssd(const sc_core::sc_module_name& name, const SsdConfig& config);
  ~Ssd() override;

  /// Where the host binds.
  [[nodiscard]] tlm::tlm_target_socket<>& host_socket() { return *host_socket_; }
  [[nodiscard]] EventQueue& event_queue() { return event_queue_; }
  [[nodiscard]] EventQueueProcess& process() { return *process_; }
  [[nodiscard]] const SsdConfig& config() const { return config_; }
  [[nodiscard]] const firmware::DriveShape& shape() const { return shape_; }
  [[nodiscard]] Bytes user_bytes() const { return shape_.logical_blocks * shape_.lba_bytes; }
  [[nodiscard]] const firmware::Firmware& firmware() const { return *firmware_; }
  /// Our own FTL. Throws std::logic_error when the drive has another firmware.
  [[nodiscard]] const firmware::Ftl& ftl() const;
  /// Null: the drive has another firmware than our own.
  [[nodiscard]] const firmware::Ftl* own_ftl() const { return own_; }
  /// Of any firmware, in its own counts or those of the guard in front of it.
  [[nodiscard]] const firmware::FtlStatistics& firmware_statistics() const {
    return own_ != nullptr ? own_->statistics() : guard_->statistics();
  }
  [[nodiscard]] FlashArray& flash() { return *flash_; }
  [[nodiscard]] const FlashArray& flash() const { return *flash_; }
  [[nodiscard]] ControllerCpu& cpu() { return *cpu_; }
  /// The drive's own memories. Null: there is none, or another stands there.
  [[nodiscard]] const Dram* dram() const { return dram_.get(); }
  [[nodiscard]] const Scm* scm() const { return scm_.get(); }
  /// Those from outside.
  [[nodiscard]] std::vector<const ForeignMemory*> foreign_memories() const;
  /// Throws the InputError of what nothing of the drive's own does, such as pausing the kernel:
  /// a memory from outside, if there is one, `what` ("has paused ...").
  [[noreturn]] void blame_plug_in(const std::string& what) const;
  /// One of them has something to answer.
  [[nodiscard]] bool awaits_memory() const;

  /// Switches between timed and untimed operation; nothing may be under way.
  void set_timed(bool timed);
  /// Writes everything out and ends background work. Untimed: done when it returns. Timed: done
  /// when `drained()` says so.
  void start_drain();
  [[nodiscard]] bool drained() const { return drained_; }
  /// See Firmware.
  void put_off_background(bool put_off) { firmware_->put_off_background(put_off); }

  /// All blocks go through `cycles` program/erase cycles and `seconds` pass at `celsius`, which no
  /// simulation could live through. With `powered` the firmware goes on patrol meanwhile. The drive
  /// must be drained, and untimed for `powered`.
  void age(std::uint32_t cycles, double seconds, double celsius, bool powered);
  /// Nothing is asked of the drive until its firmware has nothing more to do in idle time. It must
  /// be drained and untimed.
  void idle();
  /// Why the drive cannot be brought into steady state but by writing it; empty: make_steady() can.
  [[nodiscard]] std::string steady_only_by_writing() const;
  /// Brings the drive, which must be untimed and never written, into steady state
  /// (firmware::Firmware::make_steady).
  std::string make_steady(const firmware::SteadyOrder& order);
  /// The drive, which must be untimed, takes the first requests of a fill without their pages,
  /// where its firmware can (firmware::Firmware::fill). Returns how many.
  std::uint64_t fill(const firmware::FillOrder& order);
  /// Whether fill() carries out requests of `order`, if they are enough of them.
  [[nodiscard]] bool knows_fill(const firmware::FillOrder& order) const;
  /// The power fails and comes back; the drive must be drained. False: its firmware does not model
  /// that.
  bool power_cycle() { return firmware_->power_cycle(); }
  /// From now on another firmware than our own must have on flash what a flush or force unit access
  /// completes for; nothing may be under way. False: that cannot be seen from outside (our own
  /// firmware, or storage-class memory, which data may be in).
  bool check_durability();
  /// Every page that holds data is read so many times.
  void disturb(std::uint32_t reads);
  void observe(const SsdObservers& observers);
  /// Throws InputError when a part from outside cannot be saved and restored.
  void check_archives() const;
  /// Who sees what firmware decides; null: none.
  void observe_decisions(firmware::DecisionObserver* observer) {
    hardware_->decisions = observer;
    if (guard_ != nullptr) guard_->observe_decisions(observer);
  }
  /// Saves or restores the drive's state at a drained moment.
  void archive(Archive& archive);
  /// What a snapshot must have been made with to fit this drive: scenario keys and values.
  [[nodiscard]] Identity identity() const;
  /// `written_by_loads`: bytes, where software of the host writes more to the drive than its loads
  /// do.
  void report(StatisticsSink& sink, std::optional<Bytes> written_by_loads = {}) const;
  /// How long each kind of resource has been at work since measurement started.
  void tell_busy(BusySink& sink) const;
  /// What the flash has been worn since measurement started.
  [[nodiscard]] WearOfLoad wear_of_load() const;
  /// Measurement starts now.
  void reset_statistics();
  /// For a run that cannot go on: what the firmware's commands wait for and the state of the free
  /// blocks.
  [[nodiscard]] std::string describe_stall() const;
  /// Protocol checkers: nothing may be left open. Throws std::logic_error with the violations
  /// found.
  void finish_checks();
  [[nodiscard]] std::uint64_t checked_transactions() const;
  /// Target sockets whose protocol checker has seen nothing.
  [[nodiscard]] std::vector<std::string> silent_sockets() const;

 private:
  /// Data in the write buffer and in SLC mode, which are yet to be programmed in native mode.
  [[nodiscard]] double bytes_to_come() const;
  /// Whether nothing but firmware looks at the pages of a fill.
  [[nodiscard]] bool fills_without_pages() const;
  void build_flash();
  void build_memories();
  void build_firmware();
  void build_host();
  void connect(tlm::tlm_initiator_socket<>& initiator, tlm::tlm_target_socket<>& target);
  [[nodiscard]] std::string lacking_with(const std::string& place, Bytes capacity) const;
  std::unique_ptr<ForeignMemory> add_foreign(const char* place, std::uint64_t base, Bytes capacity,
                                             const MemoryChoice& choice);
  ProtocolChecker& add_checker(std::string name);
  void check_foreign(const ProtocolChecker& checker) const;
  ProtocolChecker& add_checker(tlm::tlm_target_socket<>& target);
  Task<> drain();

  SsdConfig config_;
  firmware::DriveShape shape_;
  EventQueue event_queue_;
  std::unique_ptr<EventQueueProcess> process_;

  std::unique_ptr<FlashArray> flash_;
  std::unique_ptr<Dram> dram_;
  std::unique_ptr<Scm> scm_;
  std::unique_ptr<ForeignMemory> foreign_dram_;
  std::unique_ptr<ForeignMemory> foreign_scm_;
  std::unique_ptr<SystemBus> bus_;
  std::unique_ptr<ControllerCpu> cpu_;
  std::unique_ptr<FirmwarePort> port_;
  std::unique_ptr<firmware::Hardware> hardware_;
  std::unique_ptr<firmware::Firmware> firmware_;
  double to_come_at_reset_ = 0;         ///< bytes_to_come() when measurement started
  const firmware::Ftl* own_ = nullptr;  ///< null: it is another
  FirmwareGuard* guard_ = nullptr;      ///< null: it is our own
  std::unique_ptr<HostInterface> host_;
  std::unique_ptr<HostMemory> host_memory_;  ///< null: there is no host memory buffer
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
  std::vector<std::pair<const ProtocolChecker*, const ForeignMemory*>> foreign_sockets_;  ///< of these
  tlm::tlm_target_socket<>* host_socket_ = nullptr;
  bool drained_ = true;
  std::uint32_t cycles_ = 0;  ///< of each block, by age()
};

}  // namespace tlmssd
