// The letters by which Linux's block layer names operations (blk_fill_rwbs): R read, W write, D or
// DE discard or erase, a leading F a flush, an F after W force unit access, N neither.
#pragma once

#include <string_view>

#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

inline bool is_rwbs(std::string_view letters) {
  return !letters.empty() && letters.find_first_not_of("RWDFNSAMBEV") == std::string_view::npos;
}

/// False: a pass-through command.
inline bool read_rwbs(std::string_view letters, TraceRecord& record) {
  record.force_unit_access = false;
  const std::size_t kind = letters.find_first_of("RWD");
  if (kind == std::string_view::npos) {
    record.opcode = HostOpcode::flush;
    return letters.front() == 'F';
  }
  switch (letters[kind]) {
    case 'R':
      record.opcode = HostOpcode::read;
      break;
    case 'W':
      record.opcode = HostOpcode::write;
      record.force_unit_access = letters.find('F', kind) != std::string_view::npos;
      break;
    default:
      record.opcode = HostOpcode::trim;
      break;
  }
  return true;
}

}  // namespace tlmssd
