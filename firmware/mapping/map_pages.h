// Map pages: how a mapping scheme that keeps its table in flash reads and writes it.
//
// A map page is a mapping page with a number behind the logical ones.
#pragma once

#include "firmware/base/hardware.h"
#include "firmware/base/layout.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

class MapPages {
 public:
  MapPages() = default;
  MapPages(const MapPages&) = delete;
  MapPages& operator=(const MapPages&) = delete;
  virtual ~MapPages() = default;

  /// Whether the newest version of `page` is in flash; if not, it waits in the write buffer or was
  /// never written.
  [[nodiscard]] virtual bool in_flash(Lpn page) const = 0;
  /// Whether it was ever written.
  [[nodiscard]] virtual bool stored(Lpn page) const = 0;
  /// Reads `page`, wherever it is; nothing happens when it was never written.
  virtual Task<> read(Lpn page) = 0;
  /// Inserts `page` into the write buffer, waiting for space. False: the drive is read-only. On
  /// success the caller records what it has written, then calls pump().
  virtual Task<bool> write(Lpn page) = 0;
  virtual void pump() = 0;
  /// `page` is void: nothing in it is mapped.
  virtual void drop(Lpn page) = 0;

  [[nodiscard]] virtual Hardware& hardware() const = 0;
  [[nodiscard]] EventQueue& event_queue() const { return hardware().event_queue; }
  [[nodiscard]] virtual bool read_only() const = 0;
};

}  // namespace tlmssd::firmware
