#include "firmware/destinations/native.h"

#include "firmware/flash/program.h"

namespace tlmssd::firmware {

Destination::Place NativeDestination::next_place(std::uint8_t /*line*/) {
  return Place(next_pu());
}

void NativeDestination::fill(ProgramJob& job, std::uint8_t line) {
  job.target = host_target(line);
  fill_units(job, line);
}

bool NativeDestination::claim_now(ProgramJob& job) {
  if (!at_hand(job)) return false;
  take_place(job);
  return true;
}

Task<bool> NativeDestination::claim(ProgramJob& job) {
  const bool placed = co_await wait_for_space(job);
  if (placed) take_place(job);
  co_return placed;
}

void NativeDestination::take_place(ProgramJob& job) {
  claim_place(core_, job, job.map_units < job.live ? Purpose::host : Purpose::map, address_of(job));
}

Task<bool> NativeDestination::wait_for_space(ProgramJob& job) {
  ++(job.mode == BlockMode::slc ? core_.stats.slc_waits : core_.stats.space_waits);
  bool my_turn = !gc_.lines(job.pu).must_queue(job);
  SpaceLines::Waiter waiter(job);
  gc_.lines(job.pu).begin(waiter);
  for (;;) {
    gc_.kick(job.pu);
    const bool over = core_.read_only;
    if (!over && my_turn && claimable(job)) break;
    if (over || stuck(job)) {
      gc_.lines(job.pu).end(waiter);
      gc_.claimed(job);
      if (over || !divert(job)) co_return false;
      my_turn = !gc_.lines(job.pu).must_queue(job);
      gc_.lines(job.pu).begin(waiter);
      continue;
    }
    co_await gc_.lines(job.pu).space(job).wait();
    gc_.lines(job.pu).resumed(job);
    my_turn = true;
  }
  job.ledger.charge(Cause::space_wait, core_.hw.event_queue.now());
  gc_.lines(job.pu).end(waiter);
  co_return true;
}

// Too many blocks of the parallel unit have failed for it to take what it was given.
bool NativeDestination::divert(ProgramJob& job) {
  turns_.vacate(job.pu);
  turns_.lift_placement();
  const std::uint32_t other = next_pu();
  const bool found = other != PuTurns::k_none;
  if (found) job.pu = other;
  turns_.occupy(job.pu);
  if (!found) core_.go_read_only();
  return found;
}

}  // namespace tlmssd::firmware
