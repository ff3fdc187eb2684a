// Hardware that does nothing: firmware can be made on it, to see whether its configuration fits the
// drive before the drive is made.
#pragma once

#include <stdexcept>

#include "firmware/base/hardware.h"

namespace tlmssd {

class UnboundHardware final : public firmware::CpuPort,
                              public firmware::MemoryPort,
                              public firmware::FlashPort,
                              public firmware::HostPort {
 public:
  [[nodiscard]] firmware::Hardware hardware() { return {event_queue_, *this, *this, *this, *this}; }

  firmware::CpuPort::Run run(Stage, std::uint32_t) override { used(); }
  firmware::CpuPort::Run run(Stage, Stage, std::uint32_t) override { used(); }
  [[nodiscard]] bool same_cores(Stage, Stage) const override { used(); }
  Picoseconds access(firmware::MemoryKind, std::uint64_t, Bytes, bool, firmware::Completion&) override {
    used();
  }
  bool submit(FlashTransaction&) override { used(); }
  [[nodiscard]] std::uint32_t pending(DieId) const override { used(); }
  [[nodiscard]] std::uint32_t writing(DieId) const override { used(); }
  void complete(HostCommand&) override { used(); }
  [[nodiscard]] std::uint32_t outstanding() const override { used(); }

 private:
  [[noreturn]] static void used() { throw std::logic_error("firmware works before there is hardware"); }
  EventQueue event_queue_;
};

}  // namespace tlmssd
