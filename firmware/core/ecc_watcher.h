// Tells an ECC policy that watches the host of its commands.
#pragma once

#include "firmware/core/feature.h"
#include "firmware/ecc/ecc_policy.h"

namespace tlmssd::firmware {

class EccWatcher final : public Feature {
 public:
  explicit EccWatcher(EccPolicy& policy) : policy_(policy) {}
  void on_host_command(const HostCommand& command) override {
    if (command.opcode == HostOpcode::read) {
      policy_.host_reads(command.lba, command.blocks);
    } else {
      policy_.host_writes(command.lba, command.blocks);
    }
  }
  void archive(Archive& /*archive*/) override {}

 private:
  EccPolicy& policy_;
};

}  // namespace tlmssd::firmware
