// Bad input: one clear line, exit code 2.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tlmssd {

/// "file:line: what is wrong, and the nearest valid choice". `line` 0: the file as a whole.
struct InputError : std::runtime_error {
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
  InputError(const std::string& file, std::uint64_t line, const std::string& message)
      : std::runtime_error(line == 0 ? file + ": " + message
                                     : file + ":" + std::to_string(line) + ": " + message) {}
};

}  // namespace tlmssd
