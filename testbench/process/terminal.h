// What standard output is to its reader: how wide, and whether it shows colours.
#pragma once

#include <cstddef>

namespace tlmssd {

/// Columns of the terminal behind this descriptor; 0 when it is none.
std::size_t terminal_columns(int descriptor);
/// Whether what goes there may be coloured: a terminal that is not dumb, and no NO_COLOR
/// (no-color.org).
bool shows_colour(int descriptor);

}  // namespace tlmssd
