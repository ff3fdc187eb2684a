#include "testbench/app/scenarios_folder.h"

#include <cstdlib>
#include <sys/auxv.h>
#include <system_error>

namespace tlmssd {
namespace {

/// Where the program lies; without /proc, as in a bare root, by the name it was started with.
std::filesystem::path program_path() {
  std::error_code error;
  std::filesystem::path link = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return link;
  const auto name = getauxval(AT_EXECFN);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel hands it over
  return name == 0 ? "" : std::filesystem::canonical(reinterpret_cast<const char*>(name), error);
}

}  // namespace

std::filesystem::path scenarios_folder() {
  namespace fs = std::filesystem;
  if (const char* chosen = std::getenv("TLMSSD_SCENARIOS"); chosen != nullptr && *chosen != '\0')
    return chosen;
  std::error_code error;
  const fs::path program = program_path();
  if (!program.empty()) {
    const fs::path installed = program.parent_path() / TLMSSD_INSTALLED_SCENARIOS;
    if (fs::is_directory(installed, error)) return fs::weakly_canonical(installed, error);
  }
  const fs::path source = TLMSSD_SOURCE_SCENARIOS;
  return fs::is_directory(source, error) ? source : fs::path{};
}

}  // namespace tlmssd
