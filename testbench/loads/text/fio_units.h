// Quantities as fio writes them.
//
// Sizes: k, m, g, t, p are powers of 1024. With a B or iB behind, a scenario means what it means
// everywhere else in it (kB = 1000, KiB = 1024); in a job file fio's own rule holds, which depends
// on kb_base: with 1024 (its default) KB = 1024 and KiB = 1000, with 1000 the other way round; a
// lone i says nothing to fio, so Ki is k, in a scenario too.
// Times: d, h, m, s, ms, us; a bare number is in the option's own unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

enum class FioUnits : std::uint8_t { scenario, job_1024, job_1000 };

/// "4k", "4 KiB", "1.5g"; nothing when it is not a size.
std::optional<Bytes> fio_size(std::string_view text, FioUnits units);
/// What a share is of.
struct Whole {
  Bytes bytes = 0;
  const char* name;
};
/// Throws InputError: what the text of an option should have been.
[[noreturn]] void refuse_option(const std::string& option, const std::string& text,
                                const std::string& expected);
/// A size, or a share of `whole` ("10%", "10 %"), to a millionth of a per cent. Throws InputError
/// naming the option.
Bytes size_or_share(const std::string& option, const std::string& text, Whole whole, FioUnits units);
/// "10", "500ms"; nothing when it is not a time. `bare` is the unit of a bare number.
std::optional<Picoseconds> fio_time(std::string_view text, Picoseconds bare);
/// A whole number.
std::optional<std::uint64_t> fio_number(std::string_view text);
/// A number with or without fraction.
std::optional<double> fio_real(std::string_view text);
/// Parts between separators, blanks removed; an empty text gives no part.
std::vector<std::string> split_text(std::string_view text, char separator);

}  // namespace tlmssd
