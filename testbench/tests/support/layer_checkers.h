// What the rigs of a layer between host and drive have in common.
#pragma once

#include <string>

#include "models/tlm/protocol_checker.h"
#include "testbench/host/host_driver.h"

namespace tlmssd::drive_tests {

using namespace literals;

/// `Options` with lba_bytes, queues and queue_depth.
template <class Options>
HostDriverConfig driver_config(const Options& options) {
  HostDriverConfig config;
  config.lba_bytes = options.lba_bytes;
  config.queues = options.queues;
  config.queue_depth = options.queue_depth;
  config.stall_after = 10_s;
  return config;
}

/// A protocol checker on each side of the layer.
class LayerCheckers {
 public:
  template <class Layer, class Drive>
  void bind(HostDriver& driver, Layer& layer, Drive& drive) {
    driver.device_isock.bind(front_.tsock);
    front_.isock.bind(layer.host_socket());
    layer.drive_socket().bind(back_.tsock);
    back_.isock.bind(drive.tsock);
  }
  /// Empty: no rule of the protocol was broken, and everything has ended.
  [[nodiscard]] std::string violations() {
    std::string text;
    for (ProtocolChecker* checker : {&front_, &back_}) {
      checker->finish();
      for (const std::string& violation : checker->violations()) text += violation + "\n";
    }
    return text;
  }

 private:
  ProtocolChecker front_{"front", ProtocolChecker::OnViolation::collect};
  ProtocolChecker back_{"back", ProtocolChecker::OnViolation::collect};
};

}  // namespace tlmssd::drive_tests
