#include "testbench/process/terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tlmssd {

std::size_t terminal_columns(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  constexpr std::size_t k_usual = 80;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return k_usual;
}

bool shows_colour(int descriptor) {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return isatty(descriptor) != 0 && value("NO_COLOR").empty() && value("TERM") != "dumb";
}

}  // namespace tlmssd
