// Flush: all that has been accepted goes to flash.
#include "firmware/commands/commands.h"

namespace tlmssd::firmware {

Task<> Commands::flush(HostCommand& command) {
  Active self(*this, command);
  co_await RunStage(hw, Stage::command, &command.ledger);
  const bool lasts = front != nullptr && front->non_volatile();
  if (front != nullptr && !lasts) {
    self.waits_for = front->name();
    co_await front->stage_all();
    charge(command, Cause::buffer_wait);
  }
  self.waits_for = "the write buffer to be written out";
  Flushed flushed(flusher, lasts);
  co_await flushed;
  charge_branch(command.ledger, flushed.last(), Cause::buffer_wait);
  if (command.ledger.mark() < hw.event_queue.now()) charge(command, Cause::buffer_wait);
  // What a read-only drive could not stage is still in the layer in front, which may not last.
  const bool left_behind = core.read_only && front != nullptr && !lasts && front->dirty();
  if (flushed.failed() || left_behind) command.status = HostStatus::write_protected;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

}  // namespace tlmssd::firmware
