// Tells the pSLC's data path of the host's commands, asks it where their data go, and counts in
// which mode the blocks are that the host reads.
#pragma once

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class PslcWatcher final : public Feature {
 public:
  explicit PslcWatcher(Core& core) : core_(core), lba_bytes_(core.layout.unit_bytes / core.layout.sectors) {}
  void on_host_command(const HostCommand& command) override {
    if (command.opcode == HostOpcode::write) core_.pslc->path().command(bytes_of(command));
  }
  void on_host_read(Lpn /*unit*/, Ppn where, const Stamp* /*stamps*/) override {
    const bool slc = core_.pool.mode(core_.layout.block_of(where)) == BlockMode::slc;
    ++(slc ? core_.stats.host_units_slc : core_.stats.host_units_native);
  }
  [[nodiscard]] std::uint8_t write_line(Lpn unit, const HostCommand& command) override {
    return core_.pslc->path().bypasses(unit, bytes_of(command)) ? 1 : 0;
  }
  void archive(Archive& /*archive*/) override {}

 private:
  [[nodiscard]] Bytes bytes_of(const HostCommand& command) const {
    return Bytes{command.blocks} * lba_bytes_;
  }
  Core& core_;
  Bytes lba_bytes_;
};

}  // namespace tlmssd::firmware
