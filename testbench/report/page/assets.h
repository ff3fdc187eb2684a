// Files that go into report.html: style, scripts, colours. They are compiled into the program
// (testbench/CMakeLists.txt says which), so that a report needs nothing at run time.
#pragma once

#include <string_view>

namespace tlmssd {

/// The content of a file by its name ("vega.js"); empty when there is none of that name.
std::string_view asset(std::string_view name);

}  // namespace tlmssd
