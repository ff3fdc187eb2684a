#include "platform/firmware_port.h"

#include "models/memory/address_map.h"

namespace tlmssd {

namespace {

/// A memory that answered late has reached the end that access() could not tell.
void answered(void* completion) {
  static_cast<firmware::Completion*>(completion)->fire();
}

}  // namespace

Picoseconds FirmwarePort::access(firmware::MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                                 firmware::Completion& done) {
  const std::uint64_t base = memory == firmware::MemoryKind::dram ? k_dram_base : k_scm_base;
  return cpu_.access(base + address, bytes, write, &answered, &done);
}

}  // namespace tlmssd
