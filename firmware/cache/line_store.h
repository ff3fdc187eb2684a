// What lies in a cache: lines, one per mapping page, whose sectors come and go one by one.
//
// A line holds, for each logical block ("sector") of its unit, whether it is here, whether it is
// dirty (newer than flash), and its stamp. The memory is given out in grains, from one sector up to
// a whole unit: a line occupies only the grains in which it has sectors, so that a half-filled line
// of a sector-addressable memory takes half the room. Freed grains go to the end of a queue, which
// spreads wear over the memory; overwriting happens in place.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "firmware/base/hardware.h"
#include "firmware/base/layout.h"
#include "firmware/base/unit_hash.h"
#include "models/base/archive.h"
#include "models/base/content.h"

namespace tlmssd::firmware {

class LineStore {
 public:
  using Index = std::uint32_t;
  static constexpr Index k_none = UnitHash::k_none;
  enum class State : std::uint8_t {
    free,
    resident,
    leaving,  ///< being written out; still here until that has succeeded
  };
  struct Line {
    std::uint64_t present = 0;   ///< sectors that are here
    std::uint64_t dirty = 0;     ///< of these, sectors that flash has not, nor the write buffer
    std::uint64_t eviction = 0;  ///< number of the eviction under way (leaving)
    std::uint32_t command = 0;   ///< blocks of the host's command that wrote it last; 0: none has
    Lpn unit = k_no_unit;
    State state = State::free;
  };

  /// @param base           address of the first grain in its memory, bytes
  /// @param capacity       bytes
  /// @param grain          bytes; divides a unit into whole sectors
  LineStore(std::uint64_t base, Bytes capacity, Bytes grain, std::uint32_t sectors_per_unit,
            Bytes sector_bytes);

  [[nodiscard]] Index find(Lpn unit) const { return hash_.find(unit); }
  /// find() will be asked for `unit` soon.
  void prefetch(Lpn unit) const { hash_.prefetch(unit); }
  /// Sectors of line `i` will come, or be located, soon.
  void prefetch_line_of(Index i) const {
    prefetch_line(&lines_[i]);
    prefetch_lines(&stamps_[std::size_t{i} * sectors_], sectors_ * sizeof(Stamp));
    prefetch_lines(&grains_[std::size_t{i} * grains_per_line_], grains_per_line_ * sizeof(std::uint32_t));
  }
  [[nodiscard]] Line& line(Index i) { return lines_[i]; }
  [[nodiscard]] const Line& line(Index i) const { return lines_[i]; }
  /// Whether line `i` (k_none: no line) has all of these sectors.
  [[nodiscard]] bool has(Index i, std::uint64_t sectors) const {
    return i != k_none && (lines_[i].present & sectors) == sectors;
  }
  [[nodiscard]] Stamp* stamps(Index i) { return &stamps_[std::size_t{i} * sectors_]; }
  /// Lines from here on were never used.
  [[nodiscard]] Index used() const { return static_cast<Index>(lines_.size()); }
  [[nodiscard]] std::uint64_t all_sectors() const {
    return sectors_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sectors_) - 1;
  }

  // ---- room, in grains
  [[nodiscard]] Bytes grain() const { return grain_bytes_; }  ///< bytes
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t free() const { return free_; }
  [[nodiscard]] std::uint32_t grains_per_line() const { return grains_per_line_; }
  /// Grains that hold these sectors.
  [[nodiscard]] std::uint32_t grains_of(std::uint64_t sectors) const;
  /// Grains that these sectors would take beyond those that line `i` (k_none: no line) has.
  [[nodiscard]] std::uint32_t missing(Index i, std::uint64_t sectors) const {
    return i == k_none ? grains_of(sectors)
                       : grains_of(lines_[i].present | sectors) - grains_of(lines_[i].present);
  }

  // ---- coming and going
  /// A line for `unit`, which has none, without any sector yet.
  Index add(Lpn unit);
  /// Inserts sectors; `stamps` is indexed by sector of the unit. There must be room. The places are
  /// appended to `where`.
  void lay(Index i, std::uint64_t sectors, const Stamp* stamps, bool dirty, MemorySpans& where);
  /// Appends the places of sectors that are here.
  void locate(Index i, std::uint64_t sectors, MemorySpans& where) const;
  /// Sectors go, but not all that the line has; grains that hold no other are free again. Returns
  /// how many.
  std::uint32_t trim(Index i, std::uint64_t sectors);
  /// The line goes; its grains are free again.
  void remove(Index i);

  /// Dirty sectors of all lines, and lines in use (for reports and checks: counted as they change).
  [[nodiscard]] std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  [[nodiscard]] std::uint64_t lines() const { return line_count_; }
  /// The line's dirty sectors are on their way out (or, with `dirty` not empty, back again).
  void set_dirty(Index i, std::uint64_t dirty);

  void archive(Archive& archive);

 private:
  [[nodiscard]] std::uint64_t grain_mask(std::uint32_t grain) const {
    return sectors_per_grain_ == 64
               ? ~std::uint64_t{0}
               : ((std::uint64_t{1} << sectors_per_grain_) - 1) << (grain * sectors_per_grain_);
  }
  [[nodiscard]] std::uint32_t grain_of(std::uint32_t sector) const {
    return sectors_per_grain_ == 1 ? sector : sector / sectors_per_grain_;
  }
  std::uint32_t take_grain();
  /// The grains that hold sectors of the line `i`, but none of `kept`, are free again; returns how
  /// many.
  std::uint32_t free_grains(Index i, std::uint64_t kept);

  std::uint64_t base_;
  Bytes grain_bytes_;
  Bytes sector_bytes_;
  std::uint32_t sectors_;
  std::uint32_t sectors_per_grain_;
  std::uint32_t grains_per_line_;
  std::uint64_t capacity_;
  std::uint64_t free_;
  std::vector<Line> lines_;
  std::vector<Stamp> stamps_;
  std::vector<std::uint32_t> grains_;  ///< by line: where each grain lies
  std::vector<Index> free_lines_;
  UnitHash hash_;
  std::uint32_t fresh_ = 0;  ///< grains from here on were never used
  std::deque<std::uint32_t> freed_;
  std::uint64_t dirty_sectors_ = 0;
  std::uint64_t line_count_ = 0;
};

}  // namespace tlmssd::firmware
