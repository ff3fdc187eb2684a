// Names of enumerations as they appear in reports and messages.
#include <array>

#include "models/base/flash_op.h"
#include "models/base/host_command.h"
#include "models/base/stage.h"

namespace tlmssd {

std::string_view name_of(FlashCommand command) {
  static constexpr std::array<std::string_view, 4> k_names = {"read", "program", "erase", "copyback"};
  return k_names[static_cast<std::size_t>(command)];
}

std::string_view name_of(BlockMode mode) {
  return mode == BlockMode::slc ? "SLC mode" : "native mode";
}

std::string_view name_of(Purpose purpose) {
  static constexpr std::array<std::string_view, k_purposes> k_names = {"host",    "gc",        "wear",
                                                                       "refresh", "migration", "map"};
  return k_names[static_cast<std::size_t>(purpose)];
}

std::string_view name_of(HostOpcode opcode) {
  static constexpr std::array<std::string_view, k_opcodes> k_names = {"read", "write", "flush", "trim",
                                                                      "write zeroes"};
  return k_names[static_cast<std::size_t>(opcode)];
}

std::string_view name_of(HostStatus status) {
  static constexpr std::array<std::string_view, 5> k_names = {
      "success", "LBA out of range", "write protected", "unrecovered read error", "invalid field"};
  return k_names[static_cast<std::size_t>(status)];
}

std::string_view name_of(Stage stage) {
  static constexpr std::array<std::string_view, k_stages> k_names = {"command", "translate", "buffer",
                                                                     "flash",   "complete",  "gc"};
  return k_names[static_cast<std::size_t>(stage)];
}

}  // namespace tlmssd
