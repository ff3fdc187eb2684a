#include "models/nand/part/part.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/input_error.h"
#include "models/base/quantity.h"

namespace tlmssd {

namespace {

using namespace literals;
using PartTable = ParameterTable<NandPart>;

PartTable&& shape(PartTable&& table) {
  return std::move(table)
      .text("name", &NandPart::name, "name of the part in reports")
      .filled()
      .text("source", &NandPart::source, "where the numbers come from; empty: not said")
      .choice("cell", &NandPart::cell, {"slc", "mlc", "tlc", "qlc"},
              "bits per cell: slc 1, mlc 2, tlc 3, qlc 4; also the number of page types, page type = page "
              "number modulo bits")
      .integer("planes", &NandPart::planes, {1, 64}, "planes per die")
      .shapes_state()
      .integer("blocks_per_plane", &NandPart::blocks_per_plane, {1, 1 << 24}, "blocks in each plane")
      .shapes_state()
      .integer("pages_per_block", &NandPart::pages_per_block, {1, 65535}, "pages in each block")
      .shapes_state()
      .bytes("page_size", &NandPart::page_size, {512, 1_MiB}, "data bytes of a page, without its spare area")
      .shapes_state()
      .bytes("spare_size", &NandPart::spare_size, {0, 1_MiB},
             "bytes of a page's spare area (ECC parity, tags) that travel on the bus with its data")
      .integer("layers", &NandPart::layers, {1, 65535},
               "layers of word lines in a block (3D NAND), for timing models: word lines are numbered in the "
               "order of programming and spread evenly over the layers; absent: a layer for each word line")
      .optional();
}

PartTable&& array(PartTable&& table) {
  return std::move(table)
      .times("read_latency", &NandPart::read_latency, {1, 1_s},
             "array to page register (tR): one value for all pages or one for each page type")
      .times("program_latency", &NandPart::program_latency, {1, 10_s},
             "page register to array (tPROG) per page: one value for all pages or one for each page type; a "
             "word line or block "
             "takes the sum of its pages")
      .time("erase_latency", &NandPart::erase_latency, {1, 10_s}, "block erase (tBERS)")
      .choice("program_unit", &NandPart::program_unit, {"page", "word-line", "block"},
              "pages that must be programmed by one operation: one, those that share a word line, or a whole "
              "block")
      .shapes_state()
      .integer("program_passes", &NandPart::program_passes, {1, 8},
               "passes in which a word line is programmed, as coarse and fine: each gets the data of all its "
               "pages anew "
               "and takes an equal part of tPROG; more than one needs program_unit: word-line");
}

PartTable&& bus(PartTable&& table) {
  return std::move(table)
      .time("cycle_time", &NandPart::cycle_time, {0, 1_us},
            "one command, address or status cycle on the bus (tWC)")
      .integer("column_cycles", &NandPart::column_cycles, {0, 8}, "address cycles that give the column")
      .integer("row_cycles", &NandPart::row_cycles, {1, 8}, "address cycles that give page, block and plane")
      .time("t_wb", &NandPart::t_wb, {0, 1_ms}, "last command cycle to R/B# low (tWB)")
      .time("t_adl", &NandPart::t_adl, {0, 1_ms}, "last address cycle to first data byte in (tADL)")
      .time("t_ccs", &NandPart::t_ccs, {0, 1_ms}, "column change to first data byte out (tCCS)")
      .time("t_rr", &NandPart::t_rr, {0, 1_ms}, "R/B# high to the first cycle of data out (tRR)")
      .time("t_whr", &NandPart::t_whr, {0, 1_ms}, "status command to status byte (tWHR)")
      .time("t_dbsy", &NandPart::t_dbsy, {0, 1_ms},
            "busy time between the planes or latched pages of one operation (tDBSY); held on the bus");
}

PartTable&& features(PartTable&& table) {
  return std::move(table)
      .flag("multi_plane", &NandPart::multi_plane, "planes may work together at the same page number")
      .choice(
          "multi_plane_blocks", &NandPart::multi_plane_blocks, {"any", "same"},
          "blocks that a multi-plane read may take its pages from: of any numbers (ONFI: no block address "
          "restrictions) or of the same number in every plane; multi-plane programs and erases always "
          "take the same")
      .flag("cache_read", &NandPart::cache_read, "the next page may be sensed while one is transferred")
      .flag("cache_program", &NandPart::cache_program,
            "the next page may be transferred while one is programmed")
      .time("t_rcbsy", &NandPart::t_rcbsy, {0, 10_ms}, "register swap of a cached read (tRCBSY)")
      .time("t_cbsy", &NandPart::t_cbsy, {0, 10_ms}, "register swap of a cached program (tCBSY)")
      .flag("suspend", &NandPart::suspend, "programs and erases can be suspended for reads")
      .choice(
          "suspend_point", &NandPart::suspend_point, {"anywhere", "next", "last"},
          "where a program stops when it is suspended: where it is; at the end of the pulse that it is in, "
          "for which the read waits (inter-phase suspension, Wu & He, FAST'12); or at once, and the pulse "
          "is "
          "repeated when it is resumed (intra-phase cancelation, ibid.)")
      .time("program_pulse", &NandPart::program_pulse, {0, 1_s},
            "length of a pulse of a program, with its verification, for suspend_point next and last; 0: the "
            "whole program is one")
      .time("program_suspend_latency", &NandPart::program_suspend_latency, {0, 1_s},
            "suspend command until the die takes a read, while programming")
      .time("erase_suspend_latency", &NandPart::erase_suspend_latency, {0, 1_s},
            "suspend command until the die takes a read, while erasing")
      .time("resume_overhead", &NandPart::resume_overhead, {0, 1_s},
            "resume command until the array makes progress again (voltages set up, buffer reloaded)")
      .integer("max_suspends", &NandPart::max_suspends, {0, 65'535}, "suspends allowed per program or erase")
      .time("min_resume_time", &NandPart::min_resume_time, {0, 1_s},
            "least time between a resume and the next suspend, so that the operation gets forward")
      .integer("endurance", &NandPart::endurance, {0, 1'000'000'000},
               "program/erase cycles after which a block's erase fails; 0: never")
      .shapes_state()
      .share("endurance_spread", &NandPart::endurance_spread, {0, 0.2},
             "standard deviation of the endurance from block to block, as a share of it (normal, cut off at "
             "4 sigma)")
      .share(
          "grown_bad_blocks", &NandPart::grown_bad_blocks, {0, 1},
          "share of the blocks that go bad before their endurance is used up: half of them fail at a "
          "program, half at an erase, at a cycle that is drawn; data sheets say how many blocks stay valid");
}

PartTable&& slc_mode(PartTable&& table) {
  return std::move(table)
      .time(
          "slc_read_latency", &NandPart::slc_read_latency, {1, 1_s},
          "tR of a block in SLC mode (one bit per cell); given with the other two slc latencies where blocks "
          "can be erased into that mode, else the part has none")
      .optional()
      .time("slc_program_latency", &NandPart::slc_program_latency, {1, 10_s},
            "tPROG in SLC mode, whose pages are programmed one by one")
      .optional()
      .time("slc_erase_latency", &NandPart::slc_erase_latency, {1, 10_s}, "tBERS of an erase into SLC mode")
      .optional()
      .integer("slc_endurance", &NandPart::slc_endurance, {0, 1'000'000'000},
               "endurance of a block that is only used in SLC mode: a cycle there wears it as endurance / "
               "slc_endurance of a cycle in its native mode; 0: as one")
      .settles_state();
}

}  // namespace

const ParameterTable<NandPart>& NandPart::parameters() {
  static const PartTable table = slc_mode(features(bus(array(shape(PartTable{})))));
  return table;
}

std::uint32_t NandPart::bits() const {
  if (cell == "slc") return 1;
  if (cell == "mlc") return 2;
  return cell == "tlc" ? 3 : 4;
}

ProgramUnit NandPart::unit_of_program() const {
  if (program_unit == "page") return ProgramUnit::page;
  return program_unit == "word-line" ? ProgramUnit::word_line : ProgramUnit::block;
}

std::uint32_t NandPart::pages_per_program() const {
  switch (unit_of_program()) {
    case ProgramUnit::page:
      return 1;
    case ProgramUnit::word_line:
      return bits();
    case ProgramUnit::block:
      break;
  }
  return pages_per_block;
}

std::uint32_t NandPart::pages_per_step() const {
  return unit_of_program() == ProgramUnit::page ? 1 : std::min(bits(), pages_per_block);
}

std::uint32_t NandPart::least_endurance() const {
  if (endurance == 0) return 0;
  const double share = 1 - k_spread_cut_off * endurance_spread;
  return std::max(1U, static_cast<std::uint32_t>(std::lround(endurance * share)));
}

Geometry NandPart::geometry(std::uint32_t channels, std::uint32_t ways, std::uint32_t dies_per_way) const {
  return Geometry{.channels = channels,
                  .ways = ways,
                  .dies_per_way = dies_per_way,
                  .planes = planes,
                  .blocks = blocks_per_plane,
                  .pages = pages_per_block,
                  .page_bytes = static_cast<std::uint32_t>(page_size),
                  .spare_bytes = static_cast<std::uint32_t>(spare_size)};
}

void NandPart::check() const {
  ErrorList errors;
  const auto lengths = [&](const char* key, const std::vector<std::int64_t>& values) {
    if (values.size() == 1 || values.size() == bits()) return;
    const std::string one = values.empty() ? "50 us" : format_value(Kind::time, Value(values.front()));
    errors.add(refusal(key,
                       "NAND part " + name + " has " + std::to_string(values.size()) +
                           " values; give one, or one for each of the " + std::to_string(bits()) +
                           " page types of " + cell,
                       "[" + one + "]"));
  };
  lengths("read_latency", read_latency);
  lengths("program_latency", program_latency);
  if (unit_of_program() == ProgramUnit::word_line && pages_per_block % bits() != 0) {
    errors.add(refusal("pages_per_block",
                       "NAND part " + name + ": " + std::to_string(pages_per_block) +
                           " is not a whole number of word lines of " + std::to_string(bits()) + " pages",
                       whole_word_lines()));
  }
  if (program_passes > 1 && unit_of_program() != ProgramUnit::word_line) {
    errors.add(refusal("program_passes",
                       "NAND part " + name + " has " + std::to_string(program_passes) +
                           " with program_unit " + program_unit + ", not word-line",
                       "1"));
  }
  if (layers > word_lines()) {
    errors.add(refusal("layers",
                       "NAND part " + name + " has " + std::to_string(layers) +
                           ", but with pages_per_block " + std::to_string(pages_per_block) + " only " +
                           std::to_string(word_lines()) + " word lines",
                       std::to_string(word_lines())));
  }
  errors.attempt([this] { check_slc_mode(); });
  errors.throw_if_any();
}

/// The number of pages nearest to the block's that is made of whole word lines.
std::string NandPart::whole_word_lines() const {
  return std::to_string(std::max((pages_per_block + bits() / 2) / bits(), 1U) * bits());
}

void NandPart::check_slc_mode() const {
  struct Latency {
    const char* key;
    bool given;
    const char* example;
  };
  const std::array<Latency, 3> latencies{{{"slc_read_latency", slc_read_latency != 0, "30 us"},
                                          {"slc_program_latency", slc_program_latency != 0, "200 us"},
                                          {"slc_erase_latency", slc_erase_latency != 0, "3 ms"}}};
  const auto is_given = [](const Latency& latency) { return latency.given; };
  const auto given = std::find_if(latencies.begin(), latencies.end(), is_given);
  const std::string part = "NAND part " + name + ": ";
  if (given == latencies.end()) {
    if (slc_endurance == 0) return;
    throw refusal("slc_endurance", part + "there is no SLC mode (no slc_read_latency)", "0");
  }
  if (bits() == 1) throw objection(given->key, part + "a part whose native mode is slc has none");
  ErrorList errors;
  for (const Latency& latency : latencies) {
    if (latency.given) continue;
    errors.add(
        refusal(latency.key,
                part + "is missing beside " + given->key +
                    "; give all of slc_read_latency, slc_program_latency and slc_erase_latency, or none",
                latency.example));
  }
  errors.throw_if_any();
  if (pages_per_block % bits() != 0) {
    throw refusal("pages_per_block",
                  part + std::to_string(pages_per_block) + " is not a multiple of the " +
                      std::to_string(bits()) + " bits per cell, as SLC mode needs",
                  whole_word_lines());
  }
}

}  // namespace tlmssd
