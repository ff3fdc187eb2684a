// Fuzz target of the scenario reader. The input is a scenario; what follows a zero byte is a --set.
// Whatever it holds, reading ends in a scenario whose resolved form reads back to itself, or in
// InputErrors with a message of one line each.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "testbench/tests/scenario/test_catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlmssd;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  std::vector<std::string> overrides;
  if (zero != std::string_view::npos) overrides.emplace_back(input.substr(zero + 1));
  const std::string text(input.substr(0, zero));
  std::string yaml;
  std::string json;
  try {
    const Scenario scenario = test::read(text, overrides);
    yaml = scenario.resolved_yaml();
    json = scenario.resolved_json();
    static_cast<void>(scenario.unread());
  } catch (const InputError& error) {
    for (const InputError& one : errors_of(error)) {
      const std::string_view message = one.what();
      if (message.empty() || message.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
  }
  if (test::read(yaml).resolved_yaml() != yaml) std::abort();  // an InputError here ends the program too
  if (test::read(json).resolved_json() != json) std::abort();
  return 0;
}
