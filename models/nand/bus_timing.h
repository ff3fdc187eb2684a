// How long the phases of an operation occupy the channel's bus (command sequences of the ONFI
// specification).
//
//   read command    per plane 00h, address, 30h or 32h; tWB to R/B# low; tWB + tDBSY between planes
//   data out        tRR, then per page 06h, address, E0h, tCCS and the bytes asked for
//   data in         per page 80h, address, tADL, the page with its spare area, and 10h, 11h or 15h; tWB + tDBSY between pages; tWB
//   copyback        the source as a read command (its last cycle is 35h); then per page 85h, address, and 10h, 11h or 15h as for
//                   data in, without tADL and bytes: as many cycles as a read command has
//   erase command   per plane 60h, row address, D0h or D1h; tWB + tDBSY between planes; tWB
//   status          70h, tWHR, one byte
//   suspend, resume one command cycle and tWB
//
// Command, address and status cycles take cycle_time each, whatever the data rate; the bus is 8
// bits wide. The short tDBSY between planes is held on the bus. Durations of transfers are looked
// up, not computed.
#pragma once

#include <vector>

#include "models/nand/part/part.h"

namespace tlmssd {

class BusTiming {
 public:
  /// `rate`: bytes per second. `unit_bytes` must divide the page.
  BusTiming(const NandPart& part, BytesPerSecond rate, Bytes unit_bytes);

  struct Phase {
    Picoseconds command;  ///< command, address and status cycles and the waits between them
    Picoseconds data;     ///< bytes moving
    [[nodiscard]] Picoseconds total() const { return command + data; }
  };
  [[nodiscard]] Picoseconds read_command(std::uint32_t planes) const {
    return planes * page_cycles_ + (planes - 1) * gap_ + t_wb_;
  }
  [[nodiscard]] Picoseconds erase_command(std::uint32_t planes) const {
    return planes * erase_cycles_ + (planes - 1) * gap_ + t_wb_;
  }
  /// What programs `pages` pages, over all planes, from the page register.
  [[nodiscard]] Picoseconds copyback_program(std::uint32_t pages) const {
    return pages * page_cycles_ + (pages - 1) * gap_ + t_wb_;
  }
  /// `pages`: over all planes.
  [[nodiscard]] Phase data_in(std::uint32_t pages) const {
    return {pages * (page_cycles_ + t_adl_) + (pages - 1) * gap_ + t_wb_, pages * page_time_};
  }
  /// Slots [first, first + count) of a read; count 0: the data stay in the die, only the status is
  /// read.
  [[nodiscard]] Phase data_out(std::uint32_t first, std::uint32_t count) const {
    if (count == 0) return {status_, 0};
    const std::uint32_t pages = (first + count - 1) / units_per_page_ - first / units_per_page_ + 1;
    return {t_rr_ + pages * (page_cycles_ + t_ccs_), units_time(count)};
  }
  /// Of all links of a read.
  [[nodiscard]] Phase data_out(const FlashOp& read) const {
    Phase phase = data_out(read.first_slot, read.slots);
    if (read.next_plane == nullptr) return phase;
    for (const FlashOp* link = read.next_plane; link != nullptr; link = link->next_plane)
      phase.command += data_out(link->first_slot, link->slots).command - t_rr_;
    phase.data = units_time(read.all_slots());
    return phase;
  }
  [[nodiscard]] Picoseconds status() const { return status_; }
  [[nodiscard]] Picoseconds control() const { return control_; }
  /// Bytes that `count` units bring onto the bus, with their share of the spare area.
  [[nodiscard]] Bytes units_bytes(std::uint32_t count) const {
    return count * unit_bytes_ + (count * spare_bytes_ + units_per_page_ - 1) / units_per_page_;
  }
  [[nodiscard]] Bytes page_bytes() const { return units_per_page_ * unit_bytes_ + spare_bytes_; }

 private:
  [[nodiscard]] Picoseconds units_time(std::uint32_t count) const {
    return count < units_time_.size() ? units_time_[count] : transfer_time(units_bytes(count), rate_);
  }
  BytesPerSecond rate_;
  Bytes unit_bytes_;
  Bytes spare_bytes_;
  std::uint32_t units_per_page_;
  Picoseconds page_cycles_;
  Picoseconds erase_cycles_;
  Picoseconds gap_;
  Picoseconds t_wb_;
  Picoseconds t_adl_;
  Picoseconds t_ccs_;
  Picoseconds t_rr_;
  Picoseconds status_;
  Picoseconds control_;
  Picoseconds page_time_;
  std::vector<Picoseconds> units_time_;  // by number of units
};

}  // namespace tlmssd
