// Small drives for tests of what one does in its life.
#pragma once

#include "testbench/tests/firmware/model_host.h"

namespace tlmssd::firmware::testing {

struct LifeSetup {
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  explicit LifeSetup(Geometry geometry, double fill = 0.8) : fill_(fill) {
    shape.geometry = geometry;
    config.buffer.capacity = 64 * 4096;
  }
  void size() {
    shape.logical_blocks =
        static_cast<std::uint64_t>(fill_ * static_cast<double>(Ftl::largest_logical_blocks(shape, config)));
  }

 private:
  double fill_;
};

}  // namespace tlmssd::firmware::testing
