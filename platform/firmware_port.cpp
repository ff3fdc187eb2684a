#include "platform/firmware_port.h"

#include <array>

#include "models/memory/address_map.h"

namespace tlmssd {

namespace {

/// Of each memory, by its kind.
constexpr std::array k_bases = {k_dram_base, k_scm_base, k_host_memory_base};

/// A memory that answered late has reached the end that access() could not tell.
void answered(void* completion) {
  static_cast<firmware::Completion*>(completion)->fire();
}

}  // namespace

Picoseconds FirmwarePort::access(firmware::MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                                 firmware::Completion& done) {
  return cpu_.access(k_bases[static_cast<std::size_t>(memory)] + address, bytes, write, &answered, &done);
}

}  // namespace tlmssd
