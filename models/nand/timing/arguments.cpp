#include "models/nand/timing/arguments.h"

#include <algorithm>
#include <array>

#include "models/nand/reliability/retention_clock.h"

namespace tlmssd {

namespace {

using Op = ArrayOperation;
using Part = NandPart;

constexpr double k_most_deviation = 3.7;  // see normal.h

// Which operations have an argument.
constexpr unsigned k_sense = 1U << static_cast<unsigned>(ArrayCommand::sense);
constexpr unsigned k_program = 1U << static_cast<unsigned>(ArrayCommand::program);
constexpr unsigned k_erase = 1U << static_cast<unsigned>(ArrayCommand::erase);
constexpr unsigned k_pages = k_sense | k_program;
constexpr unsigned k_changes = k_program | k_erase;
constexpr unsigned k_all = k_sense | k_program | k_erase;

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
     [](const Part& part) { return Range{0, part.bits() - 1}; }, k_pages, true, true, false},
    {"layer", "layer of the word line, 0 to layers - 1",
     [](const Op& op) -> double { return op.layer; },
     [](const Part& part) { return Range{0, (part.layers == 0 ? part.word_lines() : part.layers) - 1}; }, k_pages, true, false, false},
    {"word_line", "word line in the block, from 0",
     [](const Op& op) -> double { return op.word_line; },
     [](const Part& part) { return Range{0, part.word_lines() - 1}; }, k_pages, true, false, false},
    {"page", "page in the block, from 0",
     [](const Op& op) -> double { return index(op.page); },
     [](const Part& part) { return Range{0, part.pages_per_block - 1}; }, k_pages, true, false, false},
    {"pages", "pages programmed together",
     [](const Op& op) -> double { return op.pages; },
     [](const Part& part) { return Range{1, part.pages_per_step()}; }, k_program, true, false, false},
    {"cycles", "program/erase cycles of the block; an erase counts itself",
     [](const Op& op) { return op.cycles; }, cycles, k_all, true, false, false},
    {"age_days", "retention of the data in days at the reference temperature",
     [](const Op& op) { return op.age_days; }, [](const Part&) { return Range{0, RetentionClock::k_most_days}; }, k_sense, false, false, true},
    {"temperature", "operating temperature in degrees Celsius",
     [](const Op& op) { return op.temperature; }, [](const Part&) { return Range{RetentionClock::k_coldest, RetentionClock::k_hottest}; }, k_all, false, false, true},
    {"reads", "reads of the block since its erase; a read counts itself",
     [](const Op& op) { return op.reads; }, [](const Part&) { return Range{0, 1e7}; }, k_pages, true, false, true},
    {"retry", "read-retry level, 0: default voltages",
     [](const Op& op) -> double { return op.retry_level; }, [](const Part&) { return Range{0, 255}; }, k_sense, true, false, false},
    {"pass_voltage", "pass voltage as a share of the nominal one",
     [](const Op& op) { return op.pass_voltage; }, [](const Part&) { return Range{0.5, 1}; }, k_sense, false, false, false},
    {"resumed", "1: the program or erase goes on after a suspension",
     [](const Op& op) -> double { return op.resumed ? 1 : 0; }, flag, k_changes, true, true, true},
    {"slc", "1: the block is in SLC mode",
     [](const Op& op) -> double { return op.slc() ? 1 : 0; }, flag, k_all, true, true, false},
    {"planes", "planes operated together",
     [](const Op& op) -> double { return op.planes; },
     [](const Part& part) { return Range{1, part.planes}; }, k_all, true, false, false},
    {"plane", "number of the plane",
     [](const Op& op) -> double { return index(op.plane); },
     [](const Part& part) { return Range{0, part.planes - 1}; }, k_all, true, true, true},
    {"die", "number of the die in the drive",
     [](const Op& op) -> double { return index(op.die); }, [](const Part&) { return Range{0, 4095}; }, k_all, true, true, false},
    {"block", "number of the block in its plane",
     [](const Op& op) -> double { return index(op.block); },
     [](const Part& part) { return Range{0, part.blocks_per_plane - 1}; }, k_all, true, false, true},
    {"die_z", "standard normal deviate of the die",
     [](const Op& op) { return op.die_deviate; }, deviates, k_all, false, false, true},
    {"block_z", "standard normal deviate of the block",
     [](const Op& op) { return op.block_deviate; }, deviates, k_all, false, false, true},
    {"layer_z", "standard normal deviate of the layer",
     [](const Op& op) { return op.layer_deviate; }, deviates, k_pages, false, false, true},
}};
// clang-format on

std::string names_of(unsigned commands) {
  std::string names;
  for (const TimingArgument& argument : k_arguments)
    if ((argument.commands & commands) != 0)
      names += (names.empty() ? "" : ", ") + std::string(argument.name);
  return names;
}

}  // namespace

Range TimingArgument::occurring(const NandPart& part, ArrayCommand command, BlockMode mode) const {
  if (!belongs_to(command)) return {0, 0};
  const bool slc = mode == BlockMode::slc;
  if (name == "slc") return slc ? Range{1, 1} : Range{0, 0};
  // The first page of a step is the first of its word line.
  if (name == "type" && (slc || (command == ArrayCommand::program && part.pages_per_step() > 1)))
    return {0, 0};
  if (name == "resumed" && !part.suspend) return {0, 0};
  Range possible = range(part);
  if (name == "reads" && command == ArrayCommand::sense) possible.minimum = 1;
  // In SLC mode a cycle may be less than one of the native mode, and is rounded.
  if (name == "cycles" && command == ArrayCommand::erase && !slc) possible.minimum = 1;
  return possible;
}

std::span<const TimingArgument> timing_arguments() {
  return k_arguments;
}

const TimingArgument* find_timing_argument(std::string_view name) {
  const auto found = std::find_if(k_arguments.begin(), k_arguments.end(),
                                  [&](const TimingArgument& argument) { return argument.name == name; });
  return found == k_arguments.end() ? nullptr : &*found;
}

std::string timing_argument_names() {
  return names_of(k_all);
}

std::string no_argument_of(ArrayCommand command) {
  static constexpr std::array<const char*, 3> k_names = {"a read", "a program", "an erase"};
  const auto number = static_cast<unsigned>(command);
  return std::string("is no argument of ") + k_names.at(number) + ", which has " + names_of(1U << number);
}

}  // namespace tlmssd
