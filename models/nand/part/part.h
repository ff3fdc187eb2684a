// A NAND flash part: what its data sheet says, and nothing else.
//
// Models shape, array latencies per page type, bus timings, cached and multi-plane operation,
// suspend limits, endurance and, where the part has one, a mode in which a block keeps one bit per
// cell (SLC mode). Bus timings default to those of MQSim's ONFI NV-DDR2 channel (Tavakkol et al.,
// FAST'18); suspend defaults to MQSim and Wu & He (FAST'12). Leaves out voltage, temperature and
// page-to-page variation: richer timing and reliability models take those from their own
// parameters. The YAML files in scenarios/parts/nand have these keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/flash_op.h"
#include "models/base/geometry.h"
#include "models/base/parameters.h"
#include "models/base/types.h"

namespace tlmssd {

/// What one program operation covers in each plane.
enum class ProgramUnit : std::uint8_t { page, word_line, block };

struct NandPart {
  std::string name = "generic-mlc";
  std::string source = "MQSim default MLC (Tavakkol et al., FAST'18)";
  std::string cell = "mlc";

  // Shape.
  std::uint32_t planes = 2;
  std::uint32_t blocks_per_plane = 1024;
  std::uint32_t pages_per_block = 256;
  Bytes page_size = 8192;
  Bytes spare_size = 0;
  std::uint32_t layers = 0;

  // Array. One entry for all page types, or one for each (page type = page number modulo bits per
  // cell).
  std::vector<std::int64_t> read_latency = {75'000'000};
  std::vector<std::int64_t> program_latency = {750'000'000};
  Picoseconds erase_latency = 3'800'000'000;
  std::string program_unit = "page";
  std::uint32_t program_passes = 1;
  std::string timing = "table";

  // Bus.
  Picoseconds cycle_time = 25'000;
  std::uint32_t column_cycles = 2;
  std::uint32_t row_cycles = 3;
  Picoseconds t_wb = 100'000;
  Picoseconds t_adl = 70'000;
  Picoseconds t_ccs = 300'000;
  Picoseconds t_rr = 20'000;
  Picoseconds t_whr = 80'000;
  Picoseconds t_dbsy = 500'000;

  // Cached and multi-plane operation.
  bool multi_plane = true;
  std::string multi_plane_blocks = "any";
  bool cache_read = true;
  bool cache_program = true;
  Picoseconds t_rcbsy = 3'000'000;
  Picoseconds t_cbsy = 3'000'000;

  // Suspend.
  bool suspend = true;
  std::string suspend_point = "anywhere";
  Picoseconds program_pulse = 0;
  Picoseconds program_suspend_latency = 100'000'000;
  Picoseconds erase_suspend_latency = 700'000'000;
  Picoseconds resume_overhead = 7'000'000;
  std::uint32_t max_suspends = 16;
  Picoseconds min_resume_time = 100'000'000;

  // Wear.
  std::uint32_t endurance = 10'000;
  double endurance_spread = 0;
  static constexpr double k_spread_cut_off = 4;  ///< standard deviations
  double grown_bad_blocks = 0;

  // SLC mode: a block of one bit per cell. Latencies of 0: the part has no such mode.
  Picoseconds slc_read_latency = 0;
  Picoseconds slc_program_latency = 0;
  Picoseconds slc_erase_latency = 0;
  std::uint32_t slc_endurance = 0;

  static const ParameterTable<NandPart>& parameters();

  /// Bits per cell, which is also the number of page types and of pages on a word line: 1 (slc) to
  /// 4 (qlc).
  [[nodiscard]] std::uint32_t bits() const;
  [[nodiscard]] std::uint32_t word_lines() const { return (pages_per_block + bits() - 1) / bits(); }
  [[nodiscard]] Picoseconds read_time(PageId page) const { return pick(read_latency, page); }
  [[nodiscard]] Picoseconds program_time(PageId page) const { return pick(program_latency, page); }
  [[nodiscard]] ProgramUnit unit_of_program() const;
  /// Pages that one program operation covers in each plane.
  [[nodiscard]] std::uint32_t pages_per_program() const;
  /// Pages that are loaded into the die's latches and programmed at a time. Less than
  /// pages_per_program() only where the unit is a block, whose word lines follow one another.
  [[nodiscard]] std::uint32_t pages_per_step() const;
  /// Passes of a program in this mode, each with its own data in.
  [[nodiscard]] std::uint32_t passes(BlockMode mode) const {
    return mode == BlockMode::native ? program_passes : 1;
  }
  /// A multi-plane read takes pages of blocks of the same number only.
  [[nodiscard]] bool reads_same_blocks() const { return multi_plane_blocks == "same"; }
  /// A program that is suspended first finishes its pulse.
  [[nodiscard]] bool finishes_pulse() const { return suspend_point == "next"; }
  /// A program that is suspended repeats its pulse when it is resumed.
  [[nodiscard]] bool repeats_pulse() const { return suspend_point == "last"; }
  /// Whether blocks can be erased into SLC mode.
  [[nodiscard]] bool has_slc_mode() const { return slc_read_latency != 0; }
  /// Pages of a block in SLC mode, of which each is programmed by itself: one for each word line; 0
  /// without such a mode.
  [[nodiscard]] std::uint32_t slc_pages_per_block() const {
    return has_slc_mode() ? pages_per_block / bits() : 0;
  }
  /// Program/erase cycles that a block bears when all of them are in SLC mode; 0: any number.
  [[nodiscard]] std::uint32_t endurance_in_slc_mode() const {
    return endurance == 0 || slc_endurance == 0 ? endurance : slc_endurance;
  }
  /// Program/erase cycles that every block bears, the weakest too; 0: any number.
  [[nodiscard]] std::uint32_t least_endurance() const;
  /// The part's shape in a drive; `channels`, `ways` and `dies_per_way` are the drive's to choose.
  [[nodiscard]] Geometry geometry(std::uint32_t channels, std::uint32_t ways,
                                  std::uint32_t dies_per_way) const;
  /// Throws InputError when the numbers contradict each other.
  void check() const;

 private:
  void check_slc_mode() const;
  [[nodiscard]] std::string whole_word_lines() const;
  static Picoseconds pick(const std::vector<std::int64_t>& latencies, PageId page) {
    return latencies.size() == 1 ? latencies.front() : latencies[index(page) % latencies.size()];
  }
};

}  // namespace tlmssd
