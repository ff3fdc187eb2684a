// A load that mixes everything a host can ask for, over few addresses, so that commands overlap all
// the time.
#pragma once

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {

struct Mix {
  std::uint64_t requests = 1000;
  std::uint32_t depth = 8;
  std::uint32_t reads = 40;  ///< per cent; of the rest: writes, and a little of everything else
  Bytes longest = 64_KiB;
  std::uint64_t hot_blocks = 256;  ///< nine requests of ten start here
  std::uint32_t trims = 0;         ///< per cent that are trims in place of writes, beside those few
};

/// Requests are drawn one by one; sizes are mostly short, starts are mostly hot, ends never beyond
/// the drive.
inline Load mixed_load(const Mix& mix, const DriveSize& drive, std::uint64_t seed) {
  auto random = std::make_shared<RandomStream>(seed, "mixed load");
  auto left = std::make_shared<std::uint64_t>(mix.requests);
  return make_load(
      [=](Request& request) {
        if (*left == 0) return false;
        --*left;
        RandomStream& r = *random;
        const std::uint64_t drive_blocks = drive.bytes / drive.lba_bytes;
        const std::uint64_t hot = std::min<std::uint64_t>(mix.hot_blocks, drive_blocks);
        const std::uint64_t longest = std::max<std::uint64_t>(mix.longest / drive.lba_bytes, 1);
        const std::uint64_t place = r.below(20);
        std::uint64_t first = r.below(place < 17 ? hot : drive_blocks);
        if (place == 19) first = drive_blocks - 1 - r.below(hot);  // the last unit may be a part of one
        std::uint64_t blocks = 1 + r.below(r.below(4) == 0 ? longest : std::min<std::uint64_t>(longest, 16));
        blocks = std::min(blocks, drive_blocks - first);
        request = {};
        request.offset = first * drive.lba_bytes;
        request.bytes = blocks * drive.lba_bytes;
        const std::uint64_t kind = r.below(100);
        if (kind < mix.reads) {
          request.opcode = HostOpcode::read;
        } else if (kind < 94 - mix.trims) {
          request.opcode = HostOpcode::write;
          request.force_unit_access = r.below(16) == 0;
        } else if (kind < 96) {
          request.opcode = HostOpcode::trim;
        } else if (kind < 98) {
          request.opcode = HostOpcode::write_zeroes;
        } else if (kind < 99) {
          request.opcode = HostOpcode::flush;
          request.offset = request.bytes = 0;
        } else {  // a long trim, whole blocks of flash at once
          request.opcode = HostOpcode::trim;
          request.bytes = std::min(blocks * 8, drive_blocks - first) * drive.lba_bytes;
        }
        return true;
      },
      drive, mix.depth);
}

/// Reads the drive from end to end; the scoreboard compares every block.
inline Load read_all(const DriveSize& drive, std::uint32_t depth) {
  auto at = std::make_shared<Bytes>(0);
  return make_load(
      [=](Request& request) {
        if (*at >= drive.bytes) return false;
        request = {};
        request.offset = *at;
        request.bytes = std::min<Bytes>(32_KiB, drive.bytes - *at);
        *at += request.bytes;
        return true;
      },
      drive, depth);
}

}  // namespace tlmssd::drive_tests
