// How logical blocks lie in the units that the scoreboard tracks, and which stamps their writes
// leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "models/base/content.h"
#include "models/base/types.h"
#include "testbench/scoreboard/contents.h"

namespace tlmssd {

class TrackingUnits {
 public:
  static constexpr std::uint16_t k_last_sequence = 0x7FFF;  ///< the sequence numbers of writes wrap behind it

  /// The part of a command that lies in one unit.
  struct Piece {
    std::uint64_t unit;
    std::uint32_t first;  ///< block in unit
    std::uint32_t count;
    bool whole;
  };

  /// `blocks` logical blocks; `per_unit` of them are tracked together (at least 1; for 512-byte
  /// blocks usually 8). `contents`: of which units may hold the same; null: all data differ. Throws
  /// std::invalid_argument.
  TrackingUnits(std::uint64_t blocks, std::uint32_t per_unit, std::shared_ptr<const Contents> contents = {});

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t per_unit() const { return per_unit_; }
  [[nodiscard]] std::uint64_t count() const { return (blocks_ + per_unit_ - 1) / per_unit_; }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t lba) const {
    return per_unit_ == 1 ? lba : lba / per_unit_;
  }
  [[nodiscard]] std::uint64_t first_block(std::uint64_t unit) const { return unit * per_unit_; }
  /// Blocks of the unit: the last one may be short.
  [[nodiscard]] std::uint32_t width(std::uint64_t unit) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(per_unit_, blocks_ - unit * per_unit_));
  }
  /// What of the blocks from `lba` on lies in the unit; some of them do.
  [[nodiscard]] Piece piece(std::uint64_t lba, std::uint64_t blocks, std::uint64_t unit) const {
    if (per_unit_ == 1) return {unit, 0, 1, true};
    const std::uint64_t start = first_block(unit);
    const std::uint64_t from = std::max(start, lba);
    const std::uint64_t until = std::min(start + per_unit_, lba + blocks);
    const auto count = static_cast<std::uint32_t>(until - from);
    return {unit, static_cast<std::uint32_t>(from - start), count, count == width(unit)};
  }

  [[nodiscard]] static std::uint16_t after(std::uint16_t sequence) {
    return sequence == k_last_sequence ? std::uint16_t{1} : static_cast<std::uint16_t>(sequence + 1);
  }
  /// What the write with this sequence number leaves at `lba`; 0: zeros.
  [[nodiscard]] Stamp stamp(std::uint64_t lba, std::uint16_t sequence) const {
    return sequence == 0 ? k_zeros : stamp_of_write(lba, sequence);
  }
  /// The sequence number of what was read at `lba`, if it was written there by one of the writes up
  /// to `latest`; 0 when none gives such a stamp. Of several that wrote the same, the youngest of
  /// the last 64.
  [[nodiscard]] std::uint16_t sequence_of(std::uint64_t lba, Stamp stamp, std::uint16_t latest) const;

 private:
  [[nodiscard]] Stamp stamp_of_write(std::uint64_t lba, std::uint16_t sequence) const {
    const std::uint64_t unit = unit_of(lba);
    const auto block = static_cast<std::uint32_t>(lba - unit * per_unit_);
    const std::uint32_t shared = contents_ ? contents_->draw(unit, sequence) : 0;
    if (shared != 0) return stamp_from(static_cast<Stamp>(shared), block);
    return make_stamp(static_cast<Lpn>(unit), sequence, block);
  }

  std::uint64_t blocks_;
  std::uint32_t per_unit_;
  std::shared_ptr<const Contents> contents_;
};

}  // namespace tlmssd
