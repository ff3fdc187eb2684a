// Names of keys and choices that are called otherwise now (platform/scenario/renamed.h).
#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {

TEST_CASE("a name that is no longer used is refused with the one of today", "[program]") {
  refuse_all({
      {"  buffer: {", "  buffer: {destage_at: 50 %, ",
       "@:11: key 'destage_at' is not known in firmware.buffer: it is called 'flush_at' now"},
      {"  buffer:", "  allocation: {programs_per_group: 2}\n  buffer:",
       "@:11: key 'programs_per_group' is not known in firmware.allocation: it is called 'programs_per_pu' "
       "now"},
      {"  buffer:", "  partition: {policy: read-write, steer_from: 5 %}\n  buffer:",
       "@:11: key 'steer_from' is not known in firmware.partition: it is called 'placement_from' now"},
      {"  buffer:", "  mapping: {scheme: management-block}\n  buffer:",
       "@:11: firmware.mapping.scheme: 'management-block' is called 'block-mapped' now"},
      {"  buffer:", "  pslc: {policy: all, direct_buffer: 20 %}\n  buffer:",
       "@:11: key 'direct_buffer' is not known in firmware.pslc: it is called 'bypass_buffer' now"},
      {"  buffer:", "  pslc: {policy: hyflex, direct: 20 %}\n  buffer:",
       "@:11: key 'direct' is not known in firmware.pslc: it is called 'bypass' now"},
      {"  buffer:", "  pslc: {policy: cold-direct}\n  buffer:",
       "@:11: firmware.pslc.policy: 'cold-direct' is called 'cold-bypass' now"},
      {"  buffer:", "  pslc: {policy: all, when_full: direct}\n  buffer:",
       "@:11: firmware.pslc.when_full: 'direct' is called 'bypass' now"},
      {"firmware:", "converter: {segment: 64 KiB}\nfirmware:",
       "@:10: key 'converter' is not known at the top level: it is called 'log_structured' now"},
  });
}

}  // namespace tlmssd::program_tests
