#include "platform/firmware_port.h"

#include "models/memory/address_map.h"

namespace tlmssd {

namespace {

std::uint64_t base_of(firmware::MemoryKind memory) {
  switch (memory) {
    case firmware::MemoryKind::dram:
      return k_dram_base;
    case firmware::MemoryKind::scm:
      return k_scm_base;
    case firmware::MemoryKind::host:
      break;
  }
  return k_host_memory_base;
}

/// A memory that answered late has reached the end that access() could not tell.
void answered(void* completion) {
  static_cast<firmware::Completion*>(completion)->fire();
}

}  // namespace

Picoseconds FirmwarePort::access(firmware::MemoryKind memory, std::uint64_t address, Bytes bytes, bool write,
                                 firmware::Completion& done) {
  return cpu_.access(base_of(memory) + address, bytes, write, &answered, &done);
}

}  // namespace tlmssd
