// The steps of an operation on its channel: command (and data in), suspend and resume, data out or
// status, end; and who is charged for the time.
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "models/flash/flash_channel.h"

namespace tlmssd {

namespace {

void charge(const FlashJob& job, Cause cause, Picoseconds until) {
  if (job.op->ledger != nullptr) job.op->ledger->charge(cause, until);
}

bool steps_left(const FlashOp& op, std::uint32_t pages_done) {
  if (op.command == FlashCommand::read) return op.sense_count < op.senses;
  return op.command != FlashCommand::erase && pages_done < op.pages;
}

}  // namespace

void FlashChannel::start(Die& die) {
  // Chosen anew: what was first when the bus was asked for may have been overtaken.
  FlashJob* job = head(die);
  switch (next_action(die, job)) {
    case Action::none:
      break;
    case Action::begin: {
      FlashJob& chosen = die.queues[static_cast<std::size_t>(job->queue)].pop();
      begin(die, chosen);
      if (released_ == &chosen) {
        released_ = nullptr;
        release_in_order();
      }
      break;
    }
    case Action::suspend:
      suspend(die);
      break;
    case Action::resume:
      resume(die);
      break;
  }
  consider(die);
}

void FlashChannel::begin(Die& die, FlashJob& job) {
  charge_wait(die, job);
  counts_.wait_time[static_cast<std::size_t>(job.op->command)] += event_queue_.now() - job.arrived;
  (die.array == nullptr ? die.array : die.cached) = &job;
  occupy(die);
  // What waits longest is next, as a rule. Its job comes into the caches now, its operation and
  // ledger when those can be found from there.
  if (const FlashJob* const next = first_waiting(die); next != nullptr) prefetch_lines<sizeof *next>(next);
  if (job.op->command != FlashCommand::program) {
    if (job.op->command == FlashCommand::copyback) job.pages_now = pages_of_step(job);
    command(job, 0);
    return;
  }
  job.pages_now = pages_of_step(job);
  const Picoseconds data_there = announce_data(job);
  if (data_there == k_never) {
    awaiting_data_ = &job;  // the bus is held until memory answers
    bus_until_ = k_never;
    if (gang_ != nullptr) gang_->wait_for_memory(*this);
    return;
  }
  const Picoseconds nominal = event_queue_.now() + setup_.bus.data_in(job.op->planes * job.pages_now).total();
  command(job, std::max<Picoseconds>(data_there - nominal, 0));
}

/// Command, address and data in; `extra`: the data come that much later than the bus could take
/// them.
void FlashChannel::command(FlashJob& job, Picoseconds extra) {
  const Picoseconds now = event_queue_.now();
  job.payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = annotation(event_queue_);
  if (extra > 0) delay += to_sc_time(extra);
  const tlm::tlm_sync_enum answer = interface_of(job).nb_transport_fw(*job.payload, phase, delay);
  if (answer != tlm::TLM_UPDATED || phase != tlm::END_REQ) {
    throw std::logic_error(
        "a flash die must answer BEGIN_REQ with END_REQ, annotated with the length of the bus phase");
  }
  const Picoseconds until = arrival(event_queue_, delay);
  Picoseconds data = 0;
  BusUse use = BusUse::command;
  if (job.op->command == FlashCommand::program) {
    data = setup_.bus.data_in(job.op->planes * job.pages_now).data;
    use = BusUse::data_in;
  }
  if (extra > 0) charge(job, Cause::memory, now + extra);
  charge(job, Cause::flash_command, until - data);
  if (data > 0) charge(job, Cause::transfer, until);
  job.suspendable = until;
  hold_bus(job, until - data - extra, until, use, data);
  bus_memory_ = extra;
  counts_.memory_time += extra;
}

void FlashChannel::suspend(Die& die) {
  FlashJob& job = *die.array;
  tlm::tlm_phase phase = array_suspend;
  sc_core::sc_time delay = annotation(event_queue_);
  if (interface_of(job).nb_transport_fw(*job.payload, phase, delay) != tlm::TLM_UPDATED) {
    job.unsuspendable = true;  // too late: it ends sooner by itself
    return;
  }
  ++job.suspends;
  ++counts_.suspends;
  job.op->suspended_for_host = true;
  die.suspended = std::exchange(die.array, nullptr);
  die.ready = arrival(event_queue_, delay);
  occupy(die);
  const Picoseconds until = event_queue_.now() + setup_.bus.control();
  hold_bus(job, until, until, BusUse::suspend, 0);
}

void FlashChannel::resume(Die& die) {
  FlashJob& job = *die.suspended;
  tlm::tlm_phase phase = array_resume;
  sc_core::sc_time delay = annotation(event_queue_);
  interface_of(job).nb_transport_fw(*job.payload, phase, delay);
  die.array = std::exchange(die.suspended, nullptr);
  const Picoseconds until = event_queue_.now() + setup_.bus.control();
  job.suspendable = until + setup_.part.resume_overhead + setup_.part.min_resume_time;
  occupy(die);
  hold_bus(job, until, until, BusUse::resume, 0);
}

/// Data out or status; of a copyback that has sensed, the next command.
void FlashChannel::finish(Die& die) {
  FlashJob& job = *die.output;
  const FlashOp& op = *job.op;
  if (op.copying()) {
    continue_copyback(die);
    return;
  }
  if (const FlashJob* const next = first_waiting(die); next != nullptr && next->op->ledger != nullptr)
    prefetch_lines<sizeof(Ledger)>(next->op->ledger);
  const bool data_out = op.command == FlashCommand::read && op.slots != 0;
  const BusTiming::Phase phase =
      data_out ? setup_.bus.data_out(op) : BusTiming::Phase{setup_.bus.status(), 0};
  const Picoseconds until = event_queue_.now() + phase.total();
  if (op.ledger != nullptr) {
    if (op.waiting != nullptr) HostTransaction::prefetch_around(*op.ledger);  // for when the data are out
    op.ledger->charge(Cause::bus_wait, event_queue_.now());
    op.ledger->charge(Cause::flash_command, until - phase.data);
    op.ledger->charge(Cause::transfer, until);  // of status there are no data
  }
  if (data_out) {
    if (op.sense_count == op.senses) announce_data(job);  // what was sensed before stays with the decoder
  }
  hold_bus(job, until - phase.data, until, data_out ? BusUse::data_out : BusUse::status, phase.data);
  transferring_ = &die;
  arm(until);
}

/// The die keeps what it has sensed in its page register and goes on with the same operation:
/// nothing comes in between.
void FlashChannel::continue_copyback(Die& die) {
  FlashJob& job = *std::exchange(die.output, nullptr);
  charge(job, Cause::bus_wait, event_queue_.now());
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = annotation(event_queue_);
  interface_of(job).nb_transport_fw(*job.payload, phase, delay);
  die.array = &job;
  command(job, 0);
  consider(die);
}

void FlashChannel::finished(Die& die) {
  FlashJob& job = *std::exchange(die.output, nullptr);
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = annotation(event_queue_);
  interface_of(job).nb_transport_fw(*job.payload, phase, delay);
  if (job.op->program_pass == 0)
    job.pages_done =
        static_cast<std::uint16_t>(job.pages_done + job.pages_now);  // else the same pages once more
  const bool more = steps_left(*job.op, job.pages_done);
  occupy(die);
  if (more) {
    // Each step is a program of its own to the part. It may be overtaken anew, or a whole block
    // would keep reads out once it is overdue, and be suspended anew.
    job.arrived = event_queue_.now();
    job.suspends = 0;
    job.unsuspendable = false;
    job.not_suspended = 0;
    note_busy(die, job);
    die.queues[static_cast<std::size_t>(job.queue)].push_front(job);
  }
  consider(die);
  if (more) return;
  count(job);
  arbitrate();
  // Last, because the receiver of the answer may send new work at once.
  phase = tlm::BEGIN_RESP;
  delay = annotation(event_queue_);
  if (controller_tsock.peer().nb_transport_bw(*job.payload, phase, delay) != tlm::TLM_COMPLETED) {
    throw std::logic_error("the flash controller must answer a channel's BEGIN_RESP with TLM_COMPLETED");
  }
  job.payload->release();
}

/// `control`: end of the phase's cycles of control. `data`: the last part of the phase, in which
/// bytes move.
void FlashChannel::hold_bus(const FlashJob& job, Picoseconds control, Picoseconds until, BusUse use,
                            Picoseconds data) {
  if (event_queue_.now() < phase_until_)
    throw std::logic_error("two phases at once on flash channel " + std::to_string(index(channel_)));
  phase_until_ = until;
  bus_use_ = use;
  bus_data_ = data;
  bus_memory_ = 0;
  counts_.data_time += data;
  counts_.bus_time[static_cast<std::size_t>(use)] += until - event_queue_.now();
  bus_until_ = until;
  if (gang_ != nullptr) gang_->hold(*this, control, until);
  if (observer_ != nullptr) observer_->bus(channel_, job.op->die, *job.op, event_queue_.now(), until, use);
}

/// Tells the controller that the job's data begin to move. Returns when memory is done; k_never: it
/// will say so.
Picoseconds FlashChannel::announce_data(FlashJob& job) {
  tlm::tlm_phase phase = data_phase;
  sc_core::sc_time delay = annotation(event_queue_);
  if (controller_tsock.peer().nb_transport_bw(*job.payload, phase, delay) != tlm::TLM_UPDATED)
    return event_queue_.now();
  return phase == data_wait ? k_never : arrival(event_queue_, delay);
}

// ------------------------------------------------------------------------------------------------------------------- waits

void FlashChannel::settle(Die& die) {
  const Picoseconds passed = event_queue_.now() - die.since;
  if (passed == 0) return;
  die.since += passed;
  if (die.cause < k_busy_causes) die.times[die.cause] += passed;
  if (die.blocker < k_die_blockers) die.times[k_busy_causes + die.blocker] += passed;
}

/// Notes what keeps the die busy from now on.
void FlashChannel::occupy(Die& die) {
  settle(die);
  const FlashJob* job = die.array != nullptr ? die.array : die.output;
  if (event_queue_.now() < die.ready) {
    die.cause = static_cast<std::size_t>(Cause::suspend) - k_first_busy;
    die.blocker = k_die_blockers;
  } else {
    die.cause =
        job == nullptr ? k_busy_causes : static_cast<std::size_t>(busy_cause(*job->op)) - k_first_busy;
    die.blocker = job == nullptr ? k_die_blockers : blocker_of(*job->op);
  }
  if (die.cause < k_busy_causes) die.known |= std::uint32_t{1} << die.cause;
  if (die.blocker < k_die_blockers) die.known |= std::uint32_t{1} << (k_busy_causes + die.blocker);
}

/// What charge_wait() will look back at.
void FlashChannel::note_busy(Die& die, FlashJob& job) {
  if (job.op->ledger == nullptr) return;
  settle(die);
  BusyBefore& before = busy_before_.take();
  before.known = die.known;
  for (std::uint32_t left = die.known; left != 0; left &= left - 1) {
    const auto key = static_cast<std::size_t>(std::countr_zero(left));
    before.times[key] = die.times[key];
  }
  job.busy_before = &before;
}

/// What the die was busy with since the job began to wait goes to those causes; the rest was the
/// bus.
void FlashChannel::charge_wait(Die& die, FlashJob& job) {
  if (job.busy_before == nullptr) return;
  BusyBefore& before = *std::exchange(job.busy_before, nullptr);
  if (job.arrived != event_queue_.now()) {
    settle(die);
    charge_busy(die, *job.op->ledger, before);
    job.op->ledger->charge(Cause::bus_wait, event_queue_.now());
  }
  busy_before_.give(before);
}

/// Causes come before blockers.
void FlashChannel::charge_busy(const Die& die, Ledger& ledger, BusyBefore& before) {
  for (std::uint32_t left = die.known & ~before.known; left != 0; left &= left - 1)
    before.times[static_cast<std::size_t>(std::countr_zero(left))] = 0;
  for (std::uint32_t left = die.known; left != 0; left &= left - 1) {
    const auto key = static_cast<std::size_t>(std::countr_zero(left));
    const Picoseconds part = die.times[key] - before.times[key];
    if (part == 0) continue;
    if (key < k_busy_causes) {
      ledger.charge(static_cast<Cause>(k_first_busy + key), ledger.mark() + part);
    } else {
      ledger.stood_behind(key - k_busy_causes, part);
    }
  }
}

void FlashChannel::count(const FlashJob& job) {
  const FlashOp& op = *job.op;
  auto& kind = counts_.kinds[static_cast<std::size_t>(op.command)][static_cast<std::size_t>(op.purpose)];
  const std::uint32_t planes = op.all_planes();
  ++kind.operations;
  ++counts_.by_planes[static_cast<std::size_t>(op.command)][planes - 1];
  kind.pages += std::uint64_t{planes} * (op.command == FlashCommand::read ? op.senses : op.pages);
  if (op.command == FlashCommand::read) kind.bytes += op.senses * setup_.bus.units_bytes(op.all_slots());
  if (op.command == FlashCommand::program)
    kind.bytes += setup_.part.passes(op.mode) * setup_.bus.page_bytes() * op.planes * op.pages;
}

}  // namespace tlmssd
