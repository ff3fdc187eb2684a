#include "models/base/host_command.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_most_ranges = 256;  // of a trim; NVM Express 1.4, section 6.7

HostStatus within(std::uint64_t lba, std::uint64_t blocks, const CommandLimits& limits) {
  return blocks <= limits.blocks && lba <= limits.blocks - blocks ? HostStatus::success
                                                                  : HostStatus::lba_out_of_range;
}

}  // namespace

HostStatus validate(const HostCommand& command, const CommandLimits& limits) {
  switch (command.opcode) {
    case HostOpcode::read:
    case HostOpcode::write:
      if (command.blocks == 0 || command.blocks * limits.lba_bytes > limits.max_transfer ||
          command.data().size() != command.blocks)
        return HostStatus::invalid_field;
      return within(command.lba, command.blocks, limits);
    case HostOpcode::write_zeroes:
      if (command.blocks == 0) return HostStatus::invalid_field;
      return within(command.lba, command.blocks, limits);
    case HostOpcode::trim:
      if (command.ranges().empty() || command.ranges().size() > k_most_ranges)
        return HostStatus::invalid_field;
      for (const LbaRange& range : command.ranges()) {
        const HostStatus status = within(range.lba, range.blocks, limits);
        if (status != HostStatus::success) return status;
      }
      return HostStatus::success;
    case HostOpcode::flush:
      return HostStatus::success;
  }
  return HostStatus::invalid_field;
}

}  // namespace tlmssd
