// firmware/base/hardware.h bound to the models: the four ports through which firmware reaches
// cores, memories, flash and host.
#pragma once

#include "firmware/base/hardware.h"
#include "models/cpu/controller_cpu.h"
#include "models/flash/flash_array.h"
#include "models/host/host_interface.h"

namespace tlmssd {

class FirmwarePort final : public firmware::CpuPort,
                           public firmware::MemoryPort,
                           public firmware::FlashPort,
                           public firmware::HostPort {
 public:
  FirmwarePort(EventQueue& event_queue, ControllerCpu& cpu, FlashArray& flash)
      : event_queue_(event_queue), cpu_(cpu), flash_(flash) {
    by_work_ = cpu.by_work();
  }
  /// The host interface is made after the firmware, because its buffers lie behind the firmware's
  /// memory.
  void set_host(HostInterface& host) {
    host_ = &host;
    host.on_quiet(quiet_, quiet_self_);
  }

  [[nodiscard]] firmware::Hardware hardware() { return {event_queue_, *this, *this, *this, *this}; }

  firmware::CpuPort::Run run(Stage stage, std::uint32_t times) override {
    const ControllerCpu::Run run = cpu_.run(stage, times);
    return {run.start, run.end};
  }
  [[nodiscard]] bool same_cores(Stage first, Stage second) const override {
    return cpu_.same_cores(first, second);
  }
  firmware::CpuPort::Run run(Stage first, Stage second, std::uint32_t times) override {
    const ControllerCpu::Run run = cpu_.run(first, second, times);
    return {run.start, run.end};
  }
  void describe(Stage stage, const StageWork& work) override { cpu_.describe(stage, work); }
  Picoseconds access(firmware::MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                     firmware::Completion& done) override;
  bool submit(FlashTransaction& op) override {
    if (cpu_.mode() == ControllerCpu::Mode::untimed) {
      event_queue_.checkpoint();
      cpu_.execute(op);
      return true;
    }
    cpu_.submit(op);
    return false;
  }
  void prefetch(const FlashOp& op) const override { flash_.prefetch(op); }
  [[nodiscard]] std::uint32_t pending(DieId die) const override { return flash_.controller().pending(die); }
  [[nodiscard]] std::uint32_t writing(DieId die) const override { return flash_.controller().writing(die); }
  void watch_dies(DieWatcher& watcher) override { flash_.controller().watch(watcher); }
  void complete(HostCommand& command) override { cpu_.complete(command); }
  [[nodiscard]] std::uint32_t outstanding() const override { return host_->outstanding(); }
  void on_quiet(EventQueue::Callback callback, void* self) override {
    quiet_ = callback;
    quiet_self_ = self;
  }

 private:
  EventQueue& event_queue_;
  ControllerCpu& cpu_;
  FlashArray& flash_;
  HostInterface* host_ = nullptr;
  EventQueue::Callback quiet_ = nullptr;
  void* quiet_self_ = nullptr;
};

}  // namespace tlmssd
