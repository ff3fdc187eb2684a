// The commands that the Python package (scripts/tlmssd) carries out, and how the program hands over
// to it.
#pragma once

#include <array>
#include <string_view>

namespace tlmssd {

struct PythonCommand {
  const char* name;
  const char* description;  ///< for --help
};

inline constexpr std::array<PythonCommand, 9> k_python_commands = {{
    {"explore", "run a study: many scenarios, a table of their results and a page of pictures"},
    {"compare", "compare results side by side, and say why they differ"},
    {"calibrate", "fit a drive to what fio measured on a real one"},
    {"meet", "find the mildest changes by which a scenario meets its targets"},
    {"profile-firmware", "count the instructions of firmware stages in C, for ssd.cpu.costs"},
    {"pts", "run the tests of SNIA's Performance Test Specification on a drive: tables and figures"},
    {"probe", "find out what is inside a drive, by fio jobs and their results"},
    {"validate", "judge a calibrated drive by measurements it has not been fitted to"},
    {"whatif", "find the bottleneck by making every resource faster in turn"},
}};

bool is_python_command(std::string_view name);

/// Replaces this process by `python3 -m tlmssd argv[1] argv[2]...`, with TLMSSD_PROGRAM naming this
/// program unless it is set. The Python is the first of these that has the package: the one
/// installed beside this program (a wheel), that of scripts/explore in the checkout this program
/// was built in, `python3` of PATH. Throws InputError when none has it.
[[noreturn]] void hand_over_to_python(char* argv[]);

}  // namespace tlmssd
