#include "models/nand/timing/arguments.h"

#include <algorithm>
#include <array>

namespace tlmssd {

namespace {

using Op = ArrayOperation;
using Part = NandPart;

constexpr double k_most_deviation = 3.7;  // see normal.h

Range deviates(const Part& /*part*/) {
  return {-k_most_deviation, k_most_deviation};
}
Range flag(const Part& /*part*/) {
  return {0, 1};
}
/// Twice the endurance: erases begin to fail at it, but not of every block at once.
Range cycles(const Part& part) {
  return {0, part.endurance == 0 ? 100'000U : 2 * part.endurance};
}

// clang-format off
constexpr std::array<TimingArgument, 20> k_arguments{{
    {"type", "page type, 0 to bits per cell - 1; of a program: of its first page",
     [](const Op& op) -> double { return op.type; },
     [](const Part& part) { return Range{0, part.bits() - 1}; }, true, true, false},
    {"layer", "layer of the word line, 0 to layers - 1",
     [](const Op& op) -> double { return op.layer; },
     [](const Part& part) { return Range{0, (part.layers == 0 ? part.word_lines() : part.layers) - 1}; }, true, false, false},
    {"word_line", "word line in the block, from 0",
     [](const Op& op) -> double { return op.word_line; },
     [](const Part& part) { return Range{0, part.word_lines() - 1}; }, true, false, false},
    {"page", "page in the block, from 0",
     [](const Op& op) -> double { return index(op.page); },
     [](const Part& part) { return Range{0, part.pages_per_block - 1}; }, true, false, false},
    {"pages", "pages programmed together",
     [](const Op& op) -> double { return op.pages; },
     [](const Part& part) { return Range{1, part.pages_per_step()}; }, true, false, false},
    {"cycles", "program/erase cycles of the block; an erase counts itself",
     [](const Op& op) { return op.cycles; }, cycles, true, false, false},
    {"age_days", "retention of the data in days at the reference temperature",
     [](const Op& op) { return op.age_days; }, [](const Part&) { return Range{0, 3650}; }, false, false, true},
    {"temperature", "operating temperature in degrees Celsius",
     [](const Op& op) { return op.temperature; }, [](const Part&) { return Range{-40, 125}; }, false, false, true},
    {"reads", "reads of the block since its erase",
     [](const Op& op) { return op.reads; }, [](const Part&) { return Range{0, 1e7}; }, true, false, true},
    {"retry", "read-retry level, 0: default voltages",
     [](const Op& op) -> double { return op.retry_level; }, [](const Part&) { return Range{0, 255}; }, true, false, false},
    {"pass_voltage", "pass voltage as a share of the nominal one",
     [](const Op& op) { return op.pass_voltage; }, [](const Part&) { return Range{0.5, 1}; }, false, false, false},
    {"resumed", "1: the program or erase goes on after a suspension",
     [](const Op& op) -> double { return op.resumed ? 1 : 0; }, flag, true, true, true},
    {"slc", "1: the block is in SLC mode",
     [](const Op& op) -> double { return op.slc() ? 1 : 0; }, flag, true, true, false},
    {"planes", "planes operated together",
     [](const Op& op) -> double { return op.planes; },
     [](const Part& part) { return Range{1, part.planes}; }, true, false, false},
    {"plane", "number of the plane",
     [](const Op& op) -> double { return index(op.plane); },
     [](const Part& part) { return Range{0, part.planes - 1}; }, true, true, true},
    {"die", "number of the die in the drive",
     [](const Op& op) -> double { return index(op.die); }, [](const Part&) { return Range{0, 4095}; }, true, true, false},
    {"block", "number of the block in its plane",
     [](const Op& op) -> double { return index(op.block); },
     [](const Part& part) { return Range{0, part.blocks_per_plane - 1}; }, true, false, true},
    {"die_z", "standard normal deviate of the die",
     [](const Op& op) { return op.die_deviate; }, deviates, false, false, true},
    {"block_z", "standard normal deviate of the block",
     [](const Op& op) { return op.block_deviate; }, deviates, false, false, true},
    {"layer_z", "standard normal deviate of the layer",
     [](const Op& op) { return op.layer_deviate; }, deviates, false, false, true},
}};
// clang-format on

}  // namespace

std::span<const TimingArgument> timing_arguments() {
  return k_arguments;
}

const TimingArgument* find_timing_argument(std::string_view name) {
  const auto found = std::find_if(k_arguments.begin(), k_arguments.end(),
                                  [&](const TimingArgument& argument) { return argument.name == name; });
  return found == k_arguments.end() ? nullptr : &*found;
}

std::string timing_argument_names() {
  std::string names;
  for (const TimingArgument& argument : k_arguments)
    names += (names.empty() ? "" : ", ") + std::string(argument.name);
  return names;
}

}  // namespace tlmssd
