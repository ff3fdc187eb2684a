// Quantities as people read them: three significant digits and a fitting unit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tlmssd {

/// Picoseconds: "83.2 us".
std::string time_text(double picoseconds, int significant = 3);
/// Bytes, binary: "1.50 GiB".
std::string bytes_text(double bytes);
/// Bytes as makers of drives count what is written, decimal: "1.50 TB".
std::string written_text(double bytes, int significant = 3);
/// Bytes per second, decimal: "3.20 GB/s".
std::string bandwidth_text(double bytes_per_second, int significant = 3);
/// A count: "950", "12.3 k", "4.56 M".
std::string count_text(double count, int significant = 3);
/// A fraction: 0.123 gives "12.3 %".
std::string share_text(double share);

/// "one, two, three".
std::string list_text(const std::vector<std::string>& items);

}  // namespace tlmssd
