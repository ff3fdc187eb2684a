// Stands between the drive and a firmware that is not our own: counts what it does, so that reports
// are true whatever it tells of itself, and holds it to the contract of firmware/base/firmware.h.
//
// Counted: commands, and the flash operations ordered, by purpose. Caught, in one line with the
// firmware's name: flash operations outside the array, without a place for their data, for a code
// that it has not named, or still under way when all is said to be written out; commands completed
// twice, never taken or with a status that there is not; purposes and stages that there are not.
// What the NAND refuses (pages out of order, ...) the dies say, and what was read wrong the
// scoreboard. On request (it takes time) flushes, force unit access and what drains leave in DRAM,
// too (durable_writes.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "firmware/base/firmware.h"
#include "firmware/base/ftl_statistics.h"
#include "platform/durable_writes.h"

namespace tlmssd {

class FirmwareGuard final : public firmware::Firmware {
 public:
  using Make = std::function<std::unique_ptr<firmware::Firmware>(const firmware::FirmwareContext& context)>;

  /// `shape` and `hardware` outlive it.
  FirmwareGuard(std::string name, const firmware::Hardware& hardware, const firmware::DriveShape& shape,
                std::uint64_t seed, const Make& make);
  ~FirmwareGuard() override;

  void submit(HostCommand& command) override;
  /// InputError when flash operations are under way when its firmware says that it is drained.
  Task<> drain() override;
  [[nodiscard]] Bytes dram_bytes() const override { return firmware_->dram_bytes(); }
  [[nodiscard]] Bytes host_memory_bytes() const override { return firmware_->host_memory_bytes(); }
  void set_timed(bool timed) override { firmware_->set_timed(timed); }
  [[nodiscard]] bool archives() const override { return firmware_->archives(); }
  /// InputError when its firmware takes no snapshots.
  void archive(Archive& archive) override;
  bool power_cycle() override { return firmware_->power_cycle(); }
  void rest(std::uint32_t cycles, std::int64_t nanoseconds) override { firmware_->rest(cycles, nanoseconds); }
  void put_off_background(bool put_off) override { firmware_->put_off_background(put_off); }
  void idle_time() override { firmware_->idle_time(); }
  void disturb(std::uint32_t reads) override { firmware_->disturb(reads); }
  void patrol() override { firmware_->patrol(); }
  [[nodiscard]] double next_due() override { return firmware_->next_due(); }
  [[nodiscard]] double patrol_interval() const override { return firmware_->patrol_interval(); }
  [[nodiscard]] EccCodes codes() const override { return firmware_->codes(); }
  [[nodiscard]] std::uint32_t most_attempts() const override { return firmware_->most_attempts(); }
  [[nodiscard]] bool read_only() const override { return firmware_->read_only(); }
  [[nodiscard]] std::string why_read_only() const override { return firmware_->why_read_only(); }
  [[nodiscard]] std::size_t timers() const override { return firmware_->timers(); }
  void describe_stall(std::string& text) const override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override;

  /// From now on its firmware must have on flash what a flush or force unit access completes for,
  /// and all when it says that it is drained.
  /// Nothing may be under way.
  void check_durability();
  /// Who sees what the firmware decides; null: none.
  void observe_decisions(firmware::DecisionObserver* observer) { hw_.decisions = observer; }
  /// Counted here, those of the firmware's own inside left at 0.
  [[nodiscard]] const firmware::FtlStatistics& statistics() const { return statistics_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Reads may ask for a code.
  [[nodiscard]] bool decodes() const;

 private:
  class Cpu;
  class Flash;
  class Host;
  [[noreturn]] void refuse(const std::string& what) const;
  void check_below(std::string_view what, std::size_t number, std::size_t end) const;
  void check(const FlashOp& op) const;
  void count(const FlashOp& op);
  void complete(HostCommand& command);
  bool submit_program(firmware::FlashPort& flash, FlashTransaction& op);

  /// A program under way while durability is checked.
  struct Program;
  void programmed(const Program& program, FlashStatus status);

  std::string name_;
  const firmware::DriveShape& shape_;
  std::unique_ptr<Cpu> cpu_;
  std::unique_ptr<Flash> flash_;
  std::unique_ptr<Host> host_;
  firmware::Hardware hw_;  ///< as the firmware sees it
  EccCodes codes_;         ///< that its firmware says its reads ask for
  firmware::FtlStatistics statistics_;
  std::unordered_map<const HostCommand*, std::uint64_t> outstanding_;  ///< numbers in order of arrival
  std::uint64_t arrived_ = 0;
  std::unique_ptr<DurableWrites> durable_;  ///< null: not checked
  std::unordered_map<const FlashTransaction*, std::unique_ptr<Program>> programs_;
  std::unique_ptr<firmware::Firmware> firmware_;
};

}  // namespace tlmssd
