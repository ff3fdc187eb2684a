#include "testbench/app/scenarios_folder.h"

#include <cstdlib>
#include <system_error>

namespace tlmssd {

std::filesystem::path scenarios_folder() {
  namespace fs = std::filesystem;
  if (const char* chosen = std::getenv("TLMSSD_SCENARIOS"); chosen != nullptr && *chosen != '\0')
    return chosen;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = program.parent_path() / TLMSSD_INSTALLED_SCENARIOS;
    if (fs::is_directory(installed, error)) return fs::weakly_canonical(installed, error);
  }
  const fs::path source = TLMSSD_SOURCE_SCENARIOS;
  return fs::is_directory(source, error) ? source : fs::path{};
}

}  // namespace tlmssd
