// A host command between host interface and firmware.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/base/content.h"
#include "models/base/ledger.h"

namespace tlmssd {

enum class HostOpcode : std::uint8_t { read, write, flush, trim, write_zeroes };
inline constexpr std::size_t k_opcodes = 5;
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
/// complete(). What a command never has together shares its room: thousands are under way at once.
struct HostCommand {
  HostOpcode opcode = HostOpcode::read;
  HostStatus status = HostStatus::success;
  bool force_unit_access = false;  ///< write: complete only when on non-volatile media
  std::uint16_t queue = 0;
  std::uint16_t placement_handle = 0;  ///< write: which of the drive's placement handles (NVMe: DSPEC)
  std::uint64_t lba = 0;               ///< first logical block
  std::uint32_t blocks = 0;            ///< number of logical blocks

  /// Of a read or write: one stamp per logical block; write: in, read: out. A trim has none.
  [[nodiscard]] std::span<Stamp> data() const {
    if (opcode == HostOpcode::trim) return {};
    return {stamps_, carried_};
  }
  /// Of a trim; other commands have none.
  [[nodiscard]] std::span<const LbaRange> ranges() const {
    if (opcode != HostOpcode::trim) return {};
    return {ranges_, carried_};
  }
  void set_data(std::span<Stamp> data) {
    stamps_ = data.data();
    carried_ = static_cast<std::uint32_t>(data.size());
  }
  void set_ranges(std::span<const LbaRange> ranges) {
    ranges_ = ranges.data();
    carried_ = static_cast<std::uint32_t>(ranges.size());
  }

 private:
  std::uint32_t carried_ = 0;  ///< stamps, or ranges of a trim
  union {
    Stamp* stamps_ = nullptr;
    const LbaRange* ranges_;
  };

 public:
  std::uint64_t buffer_address = 0;  ///< where in DRAM the payload lies
  Ledger ledger;                     ///< adds up to the latency when the command completes
};

/// What commands are held against where they arrive.
struct CommandLimits {
  std::uint64_t blocks;  ///< logical blocks that there are
  Bytes lba_bytes;
  Bytes max_transfer;  ///< bytes that a read or write moves at most
};

/// Success, or why the command is refused before anything is done for it.
HostStatus validate(const HostCommand& command, const CommandLimits& limits);

}  // namespace tlmssd
