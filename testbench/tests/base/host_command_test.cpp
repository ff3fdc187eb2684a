// What a host command carries: stamps, or the ranges of a trim.
#include "models/base/host_command.h"

#include <catch2/catch.hpp>
#include <vector>

namespace tlmssd {
namespace {

TEST_CASE("a command carries stamps or ranges, by its opcode") {
  std::vector<Stamp> stamps(3, Stamp{7});
  const std::vector<LbaRange> ranges = {{5, 2}, {100, 1}};
  HostCommand command;
  CHECK(command.data().empty());
  CHECK(command.ranges().empty());
  for (const HostOpcode opcode : {HostOpcode::read, HostOpcode::write}) {
    command.opcode = opcode;
    command.set_data(stamps);
    CHECK(command.data().data() == stamps.data());
    CHECK(command.data().size() == 3);
    CHECK(command.ranges().empty());
  }
  command.opcode = HostOpcode::trim;
  command.set_ranges(ranges);
  CHECK(command.ranges().data() == ranges.data());
  CHECK(command.ranges().size() == 2);
  CHECK(command.data().empty());
}

}  // namespace
}  // namespace tlmssd
