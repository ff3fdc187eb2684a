// Map pages through the write buffer: they share program units and blocks with the host's data
// (blocks of their own for map pages are left out) and are read back from there or from flash.
//
// What a map page holds is not stored: the map in the emulator's memory is the truth, so a page
// that cannot be read back is counted and taken to be rebuilt from the spare areas, whose reading
// costs nothing here.
#pragma once

#include "firmware/buffer/flusher.h"
#include "firmware/core/core.h"
#include "firmware/mapping/map_pages.h"

namespace tlmssd::firmware {

class BufferedMapPages final : public MapPages {
 public:
  BufferedMapPages(Core& core, Flusher& flusher) : core_(core), flusher_(flusher) {}

  [[nodiscard]] bool in_flash(Lpn page) const override;
  [[nodiscard]] bool stored(Lpn page) const override;
  Task<> read(Lpn page) override;
  Task<bool> write(Lpn page) override;
  void pump() override { flusher_.pump_if_due(); }
  void drop(Lpn page) override;
  [[nodiscard]] Hardware& hardware() const override { return core_.hw; }
  [[nodiscard]] bool read_only() const override { return core_.read_only; }

 private:
  Core& core_;
  Flusher& flusher_;
  Completion posted_;
  std::array<Stamp, 64> nothing_{};
};

}  // namespace tlmssd::firmware
