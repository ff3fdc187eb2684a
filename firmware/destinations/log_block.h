// Log blocks: a program goes to the parallel unit that the mapping scheme has its units in, and the
// scheme says which units may share one. Merges make room, under the parallel unit's lock
// (firmware/logblocks/log_blocks.h, with its part in why nothing can deadlock).
#pragma once

#include "firmware/buffer/destination.h"
#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

class LogBlockDestination final : public Destination {
 public:
  LogBlockDestination(Flusher& flusher, LogBlocks& logs) : Destination(flusher), logs_(logs) {}
  Place next_place(std::uint8_t line) override {
    const std::uint32_t home = logs_.home(buffer_.entry(buffer_.front(line)).unit);
    return turns_.busy(home) ? Place() : Place(home);
  }
  void fill(ProgramJob& job, std::uint8_t line) override {
    fill_units(job, line, [&](Lpn unit) { return logs_.together(job, unit); });
  }
  bool claim_now(ProgramJob& /*job*/) override { return false; }
  Task<bool> claim(ProgramJob& job) override { return logs_.place(job, address_of(job)); }
  void started(ProgramJob& job) override { logs_.started(job.pu); }
  void on_failure(ProgramJob& job) override { logs_.ended(job.pu); }
  void commit(ProgramJob& job) override {
    Destination::commit(job);
    logs_.ended(job.pu);
  }

 private:
  LogBlocks& logs_;
};

}  // namespace tlmssd::firmware
