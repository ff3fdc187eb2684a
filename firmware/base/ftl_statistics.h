// What the flash translation layer counts. Units are mapping pages; a page operation may carry
// several.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "models/base/flash_op.h"

namespace tlmssd::firmware {

struct FtlStatistics {
  // host commands
  std::uint64_t commands = 0;
  std::uint64_t host_blocks_read = 0;        ///< logical blocks
  std::uint64_t host_blocks_written = 0;     ///< logical blocks
  std::uint64_t host_units_read = 0;         ///< unit look-ups by reads
  std::uint64_t host_units_written = 0;      ///< units touched by writes
  std::uint64_t units_trimmed = 0;           ///< mapped or buffered units dropped by trim and write zeroes
  std::uint64_t units_emptied_in_parts = 0;  ///< of these, units that lost the last part of what they held
  std::uint64_t partial_trims = 0;           ///< times that units lost a part of what they held to these
  std::uint64_t unmapped_reads = 0;          ///< units read as zeros without touching flash
  // write buffer
  std::uint64_t buffer_read_hits = 0;   ///< units served wholly or in part from the buffer
  std::uint64_t buffer_overwrites = 0;  ///< units merged into one that was still waiting in the buffer
  std::uint64_t full_waits = 0;         ///< times a write waited for room in the buffer
  std::uint64_t rmw_reads = 0;          ///< units read back because they were partly written at flush
  // flash
  std::array<std::uint64_t, k_purposes> units_programmed{};  ///< live units, by purpose
  std::array<std::uint64_t, k_purposes> units_padded{};      ///< slots programmed with nothing, by purpose
  std::array<std::uint64_t, k_purposes> programs{};          ///< program operations
  std::array<std::uint64_t, k_purposes> reads{};             ///< read operations
  std::uint64_t erases = 0;                                  ///< parallel units of blocks erased
  // garbage collection and wear levelling
  std::uint64_t gc_victims = 0;
  std::uint64_t gc_victim_valid = 0;    ///< sum of the victims' valid units when chosen
  std::uint64_t gc_invalid_copies = 0;  ///< units overwritten or trimmed by the host while being moved
  std::uint64_t wear_moves = 0;         ///< blocks moved by static wear levelling
  std::uint64_t space_waits = 0;        ///< program units that waited for garbage collection (foreground)
  std::uint64_t rerouted = 0;           ///< program units that skipped a full parallel unit
  std::array<std::uint64_t, k_purposes> moves{};       ///< blocks that features had moved, by purpose
  std::array<std::uint64_t, k_purposes> part_moves{};  ///< the same of parts of blocks
  // failures
  std::uint64_t program_failures = 0;
  std::uint64_t erase_failures = 0;
  std::uint64_t uncorrectable_units = 0;
  std::uint64_t retried_reads = 0;           ///< flash reads that were not decoded at the first attempt
  std::uint64_t retries = 0;                 ///< further attempts
  std::uint64_t lost_reads = 0;              ///< flash reads given up
  std::uint64_t lost_frames = 0;             ///< frames that could not be decoded in these
  std::uint64_t units_lost = 0;              ///< whose data were lost for good as they were moved or merged
  std::uint64_t host_units_lost = 0;         ///< that commands of the host read, and could not get
  std::uint64_t host_units_lost_before = 0;  ///< of these, those that had been lost before
  std::uint64_t host_lost_frames = 0;        ///< of lost_frames, those of reads for the host
  /// Of decoded_bits, those of reads for the host: of redirected ones, what it got by them.
  std::uint64_t host_decoded_bits = 0;
  std::uint64_t decoded_bits = 0;    ///< data bits of all flash reads that went through a decoder
  std::uint64_t decoded_frames = 0;  ///< ECC frames of those whose last attempt decoded all of them
  std::uint64_t corrected_bits = 0;  ///< wrong bits of these
  // block-mapped regions
  std::uint64_t units_rewritten = 0;  ///< copied because some other unit of their block was written
  std::uint64_t copybacks = 0;        ///< programs of pages that were copied on their die
  // blocks in SLC mode
  std::uint64_t units_in_slc = 0;         ///< slots programmed in SLC mode, with data or without
  std::uint64_t slc_units = 0;            ///< units that the write buffer programmed in SLC mode
  std::uint64_t slc_waits = 0;            ///< program units that waited for a free block in SLC mode
  std::uint64_t folds = 0;                ///< blocks in SLC mode chosen to be emptied
  std::uint64_t idle_folds = 0;           ///< of these, while the host was idle
  std::uint64_t fold_valid = 0;           ///< sum of their valid units when chosen
  std::uint64_t units_folded = 0;         ///< moved through the controller
  std::uint64_t units_folded_on_die = 0;  ///< moved by copyback
  std::uint64_t slc_prepared = 0;         ///< free blocks erased into SLC mode
  std::uint64_t slc_returned = 0;         ///< free blocks erased from SLC into native mode
  std::uint64_t host_units_slc = 0;       ///< that commands of the host read from blocks in SLC mode
  std::uint64_t host_units_native = 0;    ///< the same from native blocks, on a drive that has both
  std::uint64_t units_relocated = 0;      ///< that a feature had the write buffer program at a better place
  // map pages in flash
  std::uint64_t map_units_moved = 0;  ///< by garbage collection, wear levelling and features
  std::uint64_t map_pages_lost = 0;   ///< could not be read back; rebuilt from the spare areas

  /// For whatever purpose, with a unit or with nothing.
  [[nodiscard]] std::uint64_t slots_programmed() const {
    return std::reduce(units_programmed.begin(), units_programmed.end()) +
           std::reduce(units_padded.begin(), units_padded.end());
  }
  [[nodiscard]] std::uint64_t feature_moves() const { return std::reduce(moves.begin(), moves.end()); }
  [[nodiscard]] std::uint64_t feature_part_moves() const {
    return std::reduce(part_moves.begin(), part_moves.end());
  }
};

}  // namespace tlmssd::firmware
