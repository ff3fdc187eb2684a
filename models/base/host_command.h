// A host command between host interface and firmware.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/base/content.h"
#include "models/base/ledger.h"

namespace tlmssd {

enum class HostOpcode : std::uint8_t { read, write, flush, trim, write_zeroes };
std::string_view name_of(HostOpcode opcode);

enum class HostStatus : std::uint8_t {
  success,
  lba_out_of_range,
  write_protected,  ///< drive has gone read-only: no spare blocks are left
  media_error,      ///< unrecovered read error
  invalid_field,
};
std::string_view name_of(HostStatus status);

struct LbaRange {
  std::uint64_t lba = 0;
  std::uint64_t blocks = 0;
};

/// A command as firmware takes it from the mailbox. For writes the payload is already in DRAM (the
/// host interface's DMA has put it there); for reads the host interface sends the payload after
/// complete().
struct HostCommand {
  HostOpcode opcode = HostOpcode::read;
  HostStatus status = HostStatus::success;
  bool force_unit_access = false;  ///< write: complete only when on non-volatile media
  std::uint16_t queue = 0;
  std::uint16_t placement_handle = 0;  ///< write: which of the drive's placement handles (NVMe: DSPEC)
  std::uint64_t lba = 0;               ///< first logical block
  std::uint32_t blocks = 0;            ///< number of logical blocks
  std::uint64_t buffer_address = 0;    ///< where in DRAM the payload lies
  std::span<Stamp> data;               ///< one stamp per logical block; write: in, read: out
  std::span<const LbaRange> ranges;    ///< trim only
  Ledger ledger;                       ///< adds up to the latency when the command completes
  void* owner = nullptr;               ///< the port's own
};

}  // namespace tlmssd
