// Map pages: how a mapping scheme that keeps its table in flash reads and writes it.
//
// A map page is a mapping unit with a number behind the logical ones. It is written through the write buffer, so it shares program
// units and blocks with the host's data (blocks of their own for map pages are left out), and is read back from there or from flash.
// What it holds is not stored: the map in the emulator's memory is the truth, so a page that cannot be read back is counted and
// taken to be rebuilt from the spare areas, whose reading costs nothing here.
#pragma once

#include "firmware/buffer/destager.h"
#include "firmware/core.h"

namespace tlmssd::firmware {

class MapPages {
 public:
  MapPages(Core& core, Destager& destager) : core_(core), destager_(destager) {}
  MapPages(const MapPages&) = delete;

  /// Whether the newest version of `page` is in flash; if not, it waits in the write buffer or was never written.
  [[nodiscard]] bool in_flash(LogicalUnit page) const;
  /// Whether it was ever written.
  [[nodiscard]] bool stored(LogicalUnit page) const;
  /// Reads `page`, wherever it is; nothing happens when it was never written.
  Task<> read(LogicalUnit page);
  /// Lays `page` into the write buffer, waiting for room. False: the drive is read-only. On success the caller settles what it has
  /// written, then calls pump().
  Task<bool> write(LogicalUnit page);
  void pump() { destager_.pump_if_due(); }
  /// `page` is void: nothing in it is mapped.
  void drop(LogicalUnit page);

  [[nodiscard]] Agenda& agenda() const { return core_.hw.agenda; }
  [[nodiscard]] bool read_only() const { return core_.read_only; }

 private:
  Core& core_;
  Destager& destager_;
  Completion posted_;
  std::array<Stamp, 64> nothing_{};
};

}  // namespace tlmssd::firmware
